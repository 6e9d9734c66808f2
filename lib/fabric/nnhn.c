// SPDX-License-Identifier: LGPL-2.1
/*
 * Next-next-hop nodes (draft-ietf-idr-next-next-hop-nodes): the nodes that a
 * spine or super-spine announces as directly reachable, as JSON:
 *
 *	{ "spine1": ["leaf1", "leaf2"], "spine2": ["leaf1"] }
 *
 * It is checked against the fabric: a next-next hop must be a neighbor of the
 * next hop.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "fabric.h"
#include "json_line.h"
#include "srpol_lib.h"

/**
 * struct srpol_nnhn - links that have been announced
 * @f: the fabric
 * @announced: by link / 2: not 0 if one of the link's ends announces the other
 *	one
 */
struct srpol_nnhn {
	const struct srpol_fabric *f;
	uint8_t announced[];
};

static int parse_node(struct srpol_nnhn *map, const char *text,
		      size_t len, const char *key, json_t *behind,
		      struct srpol_error *err)
{
	struct srpol_json_step at[2] = { { .key = key } };
	uint32_t next = srpol_fabric_node(map->f, key), node, link;
	const char *name;
	json_t *v;
	size_t i;

	if (next == SRPOL_NONE || !json_is_array(behind))
		return srpol_error_set(err, -EINVAL, "line %u: %s: %s",
				       srpol_json_line(text, len, at, 1), key,
				       next == SRPOL_NONE ? "no such node" :
				       "an array is wanted");
	json_array_foreach(behind, i, v) {
		at[1].index = i;
		name = json_string_value(v);
		node = name ? srpol_fabric_node(map->f, name) : SRPOL_NONE;
		link = node == SRPOL_NONE ? SRPOL_NONE :
		       srpol_fabric_link(map->f, next, node);
		if (link == SRPOL_NONE)
			return srpol_error_set(err, -EINVAL,
					       "line %u: %s[%zu]: not a neighbor of it",
					       srpol_json_line(text, len, at,
							       2), key, i);
		map->announced[link / 2] = 1;
	}
	return 0;
}

/**
 * srpol_nnhn_parse() - parse announcements
 * @f: finished fabric, which must outlive the result
 * @text: JSON
 * @len: length of @text in bytes
 * @err: reason of a failure, with line and key
 *
 * Return: the announcements, to be freed; NULL after an error.
 */
struct srpol_nnhn *srpol_nnhn_parse(const struct srpol_fabric *f,
				    const char *text, size_t len,
					   struct srpol_error *err)
{
	struct srpol_nnhn *map;
	json_error_t why;
	json_t *root, *v;
	const char *key;
	int rc = 0;

	map = calloc(1, sizeof(*map) + f->n_links / 2 + 1);
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!root)
		srpol_error_set(err, -EINVAL, "line %d: %s", why.line,
				why.text);
	if (!map || !root) {
		if (!map)
			srpol_error_set(err, -ENOMEM, "out of memory");
		goto fail;
	}
	map->f = f;
	if (!json_is_object(root)) {
		srpol_error_set(err, -EINVAL, "line 1: an object is wanted");
		goto fail;
	}
	json_object_foreach(root, key, v) {
		rc = parse_node(map, text, len, key, v, err);
		if (rc)
			goto fail;
	}
	json_decref(root);
	return map;
fail:
	json_decref(root);
	free(map);
	return NULL;
}

/**
 * srpol_nnhn_has() - has the link between a next hop and a node been announced?
 * @map: announcements
 * @next_hop: number of the next hop
 * @node: number of the node
 */
bool srpol_nnhn_has(const struct srpol_nnhn *map, uint32_t next_hop,
		    uint32_t node)
{
	uint32_t link = srpol_fabric_link(map->f, next_hop, node);

	return link != SRPOL_NONE && map->announced[link / 2];
}

/**
 * srpol_nnhn_free() - free announcements
 * @map: may be NULL
 */
void srpol_nnhn_free(struct srpol_nnhn *map)
{
	free(map);
}
