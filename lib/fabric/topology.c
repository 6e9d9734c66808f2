// SPDX-License-Identifier: LGPL-2.1
/*
 * Reads topology files: JSON, described in Documentation/topology.rst. A file
 * is accepted as a whole or not at all. Error messages tell the line and the
 * key.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "reader.h"
#include "srpol_lib.h"

#define VERSION		1

static int get_locator(struct reader *r, json_t *object,
		       struct srpol_node *node)
{
	const char *text;
	int rc;

	rc = reader_string(r, object, "locator", true, &text);
	if (rc)
		return rc;
	if (strchr(text, ':') && strchr(text, '/') &&
	    srpol_prefix_parse(text, &node->locator, &node->locator_len))
		return 0;
	reader_push(r, "locator");
	return reader_bad(r, -EINVAL, "\"%s\" is no IPv6 prefix", text);
}

static int read_node(struct reader *r, json_t *object, enum srpol_tier tier)
{
	struct srpol_node node = { .tier = tier, .colors = UINT32_MAX };
	struct srpol_error why;
	const char *name;
	int rc;

	rc = reader_string(r, object, "name", true, &name);
	if (!rc)
		rc = get_locator(r, object, &node);
	if (!rc)
		rc = reader_csid(r, object, &node.csid);
	if (!rc)
		rc = reader_uint(r, object, "pod", UINT32_MAX - 1, &node.pod);
	if (!rc)
		rc = reader_uint(r, object, "plane", SRPOL_PLANES_MAX - 1,
			      &node.plane);
	if (!rc)
		rc = reader_uint(r, object, "colors", UINT32_MAX, &node.colors);
	if (rc)
		return rc;
	if (strlen(name) >= sizeof(node.name) ||
	    strlen(name) != json_string_length(json_object_get(object,
							       "name"))) {
		reader_push(r, "name");
		return reader_bad(r, -EINVAL, "a name of 1 to %d characters is wanted",
				  SRPOL_NAME_LEN - 1);
	}
	memcpy(node.name, name, strlen(name) + 1);
	rc = srpol_fabric_add_node(r->f, &node, &why);
	return rc < 0 ? reader_bad_as(r, rc, &why) : rc;
}

static int read_switch(struct reader *r, json_t *object)
{
	static const char *const keys[] = { "name", "role", "locator", "usid",
					    "pod", "plane", "colors",
					    "functions", NULL };
	static const char *const roles[] = { "leaf", "spine", "super-spine" };
	const char *role;
	unsigned int i;
	int rc;

	rc = reader_check_keys(r, object, keys);
	if (!rc)
		rc = reader_string(r, object, "role", true, &role);
	if (rc)
		return rc;
	for (i = 0; i < 3 && strcmp(role, roles[i]); i++)
		;
	if (i < 3) {
		rc = read_node(r, object, SRPOL_TIER_LEAF + i);
		return rc < 0 ? rc : reader_functions(r, object, rc);
	}
	reader_push(r, "role");
	return reader_bad(r, -EINVAL, "leaf, spine or super-spine is wanted");
}

static int read_cables(struct reader *r, json_t *object,
		       struct srpol_link *link)
{
	int rc;

	link->cables = 1;
	rc = reader_rate(r, object, &link->rate);
	if (!rc)
		rc = reader_uint(r, object, "cables", SRPOL_CABLES_MAX,
			      &link->cables);
	if (!rc)
		rc = reader_uint(r, object, "delay-ns", UINT32_MAX, &link->delay);
	return rc;
}

static int read_link(struct reader *r, json_t *object)
{
	static const char *const keys[] = { "from", "to", "rate", "cables",
					    "delay-ns", NULL };
	struct srpol_link link = {};
	struct srpol_error why;
	uint32_t swap;
	int rc;

	rc = reader_check_keys(r, object, keys);
	if (!rc)
		rc = reader_node(r, object, "from", &link.from);
	if (!rc)
		rc = reader_node(r, object, "to", &link.to);
	if (!rc)
		rc = read_cables(r, object, &link);
	if (rc)
		return rc;
	if (r->f->nodes[link.from].tier > r->f->nodes[link.to].tier) {
		swap = link.from;
		link.from = link.to;
		link.to = swap;
	}
	rc = srpol_fabric_add_link(r->f, &link, &why);
	return rc < 0 ? reader_bad_as(r, rc, &why) : 0;
}

static int read_nic_addr(struct reader *r, json_t *object, const char *key,
			 struct in6_addr *addr)
{
	int rc = reader_addr(r, object, key, addr);

	if (rc || !IN6_IS_ADDR_MULTICAST(addr))
		return rc;
	reader_push(r, key);
	return reader_bad(r, -EINVAL, "no unicast address");
}

static int read_nic(struct reader *r, json_t *object, uint32_t host)
{
	static const char *const keys[] = { "name", "leaf", "rate", "cables",
					    "delay-ns", "rail", "plane",
					    "address", "gateway", NULL };
	struct srpol_link link = { .from = host };
	struct srpol_nic nic = {};
	struct srpol_error why;
	const char *name;
	int rc;

	rc = reader_check_keys(r, object, keys);
	if (!rc)
		rc = reader_string(r, object, "name", true, &name);
	if (!rc)
		rc = reader_node(r, object, "leaf", &link.to);
	if (!rc)
		rc = read_cables(r, object, &link);
	if (!rc)
		rc = reader_uint(r, object, "rail", SRPOL_RAILS_MAX - 1,
			      &nic.rail);
	if (!rc)
		rc = reader_uint(r, object, "plane", SRPOL_PLANES_MAX - 1,
			      &nic.plane);
	if (!rc)
		rc = read_nic_addr(r, object, "address", &nic.addr);
	if (!rc)
		rc = read_nic_addr(r, object, "gateway", &nic.gateway);
	if (rc)
		return rc;
	if (strlen(name) >= sizeof(nic.name)) {
		reader_push(r, "name");
		return reader_bad(r, -EINVAL, "a name of 1 to %d characters is wanted",
				  SRPOL_NAME_LEN - 1);
	}
	memcpy(nic.name, name, strlen(name) + 1);
	rc = srpol_fabric_add_nic(r->f, &nic, &link, &why);
	return rc < 0 ? reader_bad_as(r, rc, &why) : 0;
}

static int read_host(struct reader *r, json_t *object)
{
	static const char *const keys[] = { "name", "locator", "usid", "pod",
					    "nics", NULL };
	json_t *nics, *nic;
	int host, rc;
	size_t i;

	host = reader_check_keys(r, object, keys);
	if (!host)
		host = read_node(r, object, SRPOL_TIER_HOST);
	if (host < 0)
		return host;
	nics = json_object_get(object, "nics");
	if (!json_is_array(nics))
		return reader_bad(r, -EINVAL, "no array \"nics\"");
	reader_push(r, "nics");
	json_array_foreach(nics, i, nic) {
		reader_push_index(r, i);
		rc = read_nic(r, nic, host);
		if (rc)
			return rc;
		reader_pop(r);
	}
	reader_pop(r);
	return 0;
}

static int read_functions(struct reader *r, json_t *object)
{
	static const char *const keys[] = { "end", "decap", "probe",
					    "reflect", NULL };
	int rc;

	rc = reader_check_keys(r, object, keys);
	if (!rc)
		rc = reader_addr(r, object, "end", &r->f->sids.end);
	if (!rc)
		rc = reader_addr(r, object, "decap", &r->f->sids.decap);
	if (!rc)
		rc = reader_addr(r, object, "probe", &r->f->sids.probe);
	return rc ? rc : reader_addr(r, object, "reflect", &r->f->sids.reflect);
}

static int read_block(struct reader *r, json_t *object)
{
	static const char *const keys[] = { "block", "csid-len", NULL };
	struct srpol_sid_plan *sids = &r->f->sids;
	const char *text;
	int rc;

	sids->csid_len = SRPOL_CSID_LEN_DEFAULT;
	rc = reader_check_keys(r, object, keys);
	if (!rc)
		rc = reader_string(r, object, "block", true, &text);
	if (!rc)
		rc = reader_uint(r, object, "csid-len", 64, &sids->csid_len);
	if (rc)
		return rc;
	if (!strchr(text, ':') || !strchr(text, '/') ||
	    !srpol_prefix_parse(text, &sids->block, &sids->block_len) ||
	    !sids->block_len || IN6_IS_ADDR_MULTICAST(&sids->block)) {
		reader_push(r, "block");
		return reader_bad(r, -EINVAL,
				  "\"%s\" is no IPv6 prefix of unicast addresses",
				  text);
	}
	if (srpol_fabric_bits_behind(&sids->block, sids->block_len)) {
		reader_push(r, "block");
		return reader_bad(r, -EINVAL,
				  "\"%s\" has bits behind its length", text);
	}
	if (sids->block_len % 8 || sids->csid_len % 8 || sids->csid_len < 8 ||
	    sids->block_len + sids->csid_len > 128)
		return reader_bad(r, -EINVAL,
				  "block and CSID of whole bytes, together up to 128 bits, are wanted");
	return 0;
}

/* Reads an array, which must exist, element by element. */
static int read_array(struct reader *r, json_t *root, const char *key,
		      int (*read)(struct reader *r, json_t *object))
{
	json_t *array = json_object_get(root, key), *element;
	size_t i;
	int rc;

	if (!array)
		return reader_bad(r, -EINVAL, "no \"%s\"", key);
	reader_push(r, key);
	if (!json_is_array(array))
		return reader_bad(r, -EINVAL, "an array is wanted");
	json_array_foreach(array, i, element) {
		reader_push_index(r, i);
		rc = read(r, element);
		if (rc)
			return rc;
		reader_pop(r);
	}
	reader_pop(r);
	return 0;
}

static int read_member(struct reader *r, json_t *root, const char *key,
		       int (*read)(struct reader *r, json_t *object))
{
	json_t *object = json_object_get(root, key);
	int rc;

	if (!object)
		return 0;
	reader_push(r, key);
	rc = read(r, object);
	if (!rc)
		reader_pop(r);
	return rc;
}

static int read_root(struct reader *r, json_t *root)
{
	static const char *const keys[] = { "srpol-topology", "functions",
					    "usid", "switches", "hosts",
					    "links", NULL };
	struct srpol_error why;
	uint32_t version = 0;
	int rc;

	rc = reader_check_keys(r, root, keys);
	if (!rc)
		rc = reader_uint(r, root, "srpol-topology", UINT32_MAX, &version);
	if (!rc && version != VERSION)
		rc = reader_bad(r, -EINVAL, "\"srpol-topology\": %d is wanted",
			 VERSION);
	if (!rc)
		rc = read_member(r, root, "functions", read_functions);
	if (!rc)
		rc = read_member(r, root, "usid", read_block);
	if (!rc)
		rc = read_array(r, root, "switches", read_switch);
	if (!rc)
		rc = read_array(r, root, "hosts", read_host);
	if (!rc)
		rc = read_array(r, root, "links", read_link);
	if (rc)
		return rc;
	rc = srpol_fabric_finish(r->f, &why);
	return rc ? srpol_error_set(r->err, rc, "%s", why.text) : 0;
}

/**
 * srpol_topology_parse() - make a fabric from the text of a topology file
 * @text: JSON
 * @len: length of @text in bytes
 * @err: reason of a failure, with line and key
 *
 * O(n log n) in nodes and links.
 *
 * Return: finished fabric, to be freed; NULL after an error.
 */
struct srpol_fabric *srpol_topology_parse(const char *text, size_t len,
					  struct srpol_error *err)
{
	struct reader r = { .text = text, .len = len, .err = err };
	json_error_t why;
	json_t *root;
	int rc;

	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!root) {
		srpol_error_set(err, -EINVAL, "line %d: %s", why.line,
				why.text);
		return NULL;
	}
	r.f = srpol_fabric_new();
	rc = r.f ? read_root(&r, root) :
		   srpol_error_set(err, -ENOMEM, "no memory");
	if (rc) {
		srpol_fabric_free(r.f);
		r.f = NULL;
	}
	json_decref(root);
	return r.f;
}
