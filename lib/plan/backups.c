// SPDX-License-Identifier: LGPL-2.1
/*
 * Backup colors of an epoch: "backups":[{"backup":B,"color":C,"paths":[NODE,...]},
 * ...] in the first line of the index, sorted by color. Nodes are numbers of
 * switches in the topology, in order, those that policies of that color are limited
 * to; without "paths" they are not limited.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backups.h"

#define BACKUPS_MAX	UINT16_MAX

/**
 * srpol_backup_tiers() - tiers in which paths are limited to some switches
 * @f: finished fabric
 * @b: backup color, and the switches that paths are limited to
 *
 * Return: a bit for each of these tiers.
 */
uint32_t srpol_backup_tiers(const struct srpol_fabric *f,
			    const struct srpol_backup *b)
{
	uint32_t tiers = 0, i;

	for (i = 0; i < b->n; i++)
		if (b->nodes[i] < f->n_nodes)
			tiers |= 1u << f->nodes[b->nodes[i]].tier;
	return tiers;
}

static int by_number(const void *key, const void *node)
{
	const uint32_t *x = key, *y = node;

	return (*x > *y) - (*x < *y);
}

/**
 * srpol_backup_allows() - whether a path may be used by policies with a backup
 * @f: finished fabric
 * @b: backup color, and the switches that paths are limited to
 * @tiers: what srpol_backup_tiers() says of it
 * @route: the path
 *
 * If switches of a tier are named, no others of that tier may be used.
 */
bool srpol_backup_allows(const struct srpol_fabric *f,
			 const struct srpol_backup *b, uint32_t tiers,
			 const struct srpol_route *route)
{
	uint32_t i, node;

	for (i = 0; i < route->n; i++) {
		node = f->links[route->link[i]].to;
		if (tiers & 1u << f->nodes[node].tier &&
		    !bsearch(&node, b->nodes, b->n, sizeof(*b->nodes),
			     by_number))
			return false;
	}
	return true;
}

static int by_color(const void *key, const void *backup)
{
	const uint32_t *color = key;
	const struct srpol_backup *b = backup;

	return (*color > b->color) - (*color < b->color);
}

/**
 * srpol_backup_find() - the backup of a color
 * @index: index of an epoch, NULL: none
 * @color: the color
 *
 * Return: NULL if it has none.
 */
const struct srpol_backup *srpol_backup_find(const struct srpol_index *index,
					     uint32_t color)
{
	return index && index->n_backups ?
	       bsearch(&color, index->backups, index->n_backups,
		       sizeof(*index->backups), by_color) : NULL;
}

/**
 * srpol_backup_equal() - whether a color has the same backup in two epochs
 * @a: its backup in one, NULL: none
 * @b: its backup in the other, likewise
 */
bool srpol_backup_equal(const struct srpol_backup *a,
			const struct srpol_backup *b)
{
	if (!a || !b)
		return a == b;
	return a->color == b->color && a->backup == b->backup && a->n == b->n &&
	       (!a->n || !memcmp(a->nodes, b->nodes, a->n * sizeof(*a->nodes)));
}

/**
 * srpol_backups_equal() - whether two epochs have the same backup colors
 * @a: index of one, NULL: it has none
 * @b: index of the other, likewise
 */
bool srpol_backups_equal(const struct srpol_index *a,
			 const struct srpol_index *b)
{
	uint32_t n = a ? a->n_backups : 0, i;

	if (n != (b ? b->n_backups : 0))
		return false;
	for (i = 0; i < n; i++)
		if (!srpol_backup_equal(&a->backups[i], &b->backups[i]))
			return false;
	return true;
}

static json_t *nodes_to_json(const struct srpol_backup *b)
{
	json_t *list = b->n ? json_array() : NULL;
	uint32_t i;

	for (i = 0; i < b->n; i++)
		json_array_append_new(list, json_integer(b->nodes[i]));
	return list;
}

/**
 * srpol_backups_to_json() - backup colors as JSON
 * @index: index
 *
 * Return: NULL if there are none.
 */
json_t *srpol_backups_to_json(const struct srpol_index *index)
{
	json_t *list = index->n_backups ? json_array() : NULL;
	const struct srpol_backup *b;
	uint32_t i;

	for (i = 0; i < index->n_backups; i++) {
		b = &index->backups[i];
		json_array_append_new(list, json_pack("{s:I, s:I, s:o*}",
			"color", (json_int_t)b->color,
			"backup", (json_int_t)b->backup,
			"paths", nodes_to_json(b)));
	}
	return list;
}

static bool is_color(json_int_t v)
{
	return v > 0 && v <= UINT32_MAX;
}

static int read_nodes(const json_t *list, struct srpol_backup *b)
{
	const json_t *v;
	json_int_t node;
	size_t i;

	if (!json_is_array(list) || !json_array_size(list))
		return -EINVAL;
	b->nodes = calloc(json_array_size(list), sizeof(*b->nodes));
	if (!b->nodes)
		return -ENOMEM;
	json_array_foreach(list, i, v) {
		node = json_integer_value(v);
		if (!json_is_integer(v) || node < 0 || node >= SRPOL_NONE ||
		    (i && b->nodes[i - 1] >= node))
			return -EINVAL;
		b->nodes[b->n++] = node;
	}
	return 0;
}

/**
 * srpol_backups_read() - read backup colors from JSON
 * @list: the list
 * @index: index that they are added to, freed by srpol_index_free() even after an
 *	error
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int srpol_backups_read(const json_t *list, struct srpol_index *index)
{
	json_int_t color, backup;
	struct srpol_backup *b;
	json_t *v, *nodes;
	int ret = 0;
	size_t i;

	if (!json_array_size(list) || json_array_size(list) > BACKUPS_MAX)
		return -EINVAL;
	index->backups = calloc(json_array_size(list), sizeof(*b));
	if (!index->backups)
		return -ENOMEM;
	json_array_foreach(list, i, v) {
		b = &index->backups[i];
		nodes = NULL;
		if (json_unpack(v, "{s:I, s:I, s?o !}", "color", &color,
				"backup", &backup, "paths", &nodes) ||
		    !is_color(color) || !is_color(backup) || color == backup ||
		    (i && b[-1].color >= color))
			return -EINVAL;
		b->color = color;
		b->backup = backup;
		index->n_backups++;
		ret = nodes ? read_nodes(nodes, b) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * srpol_backups_free() - free the backup colors of an index
 * @index: index
 */
void srpol_backups_free(struct srpol_index *index)
{
	uint32_t i;

	for (i = 0; i < index->n_backups; i++)
		free(index->backups[i].nodes);
	free(index->backups);
}
