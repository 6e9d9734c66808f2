// SPDX-License-Identifier: GPL-2.0
/*
 * Backup colors of tenants. Like limits they are part of each epoch's index, so the
 * digest in the head covers them, and they arrive with the plan.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backups.h"
#include "srpol_lib.h"
#include "tenants.h"

static const struct tenant *find_color(uint32_t color)
{
	const struct tenant *t;

	vec_for_each(t, tenants_all())
		if (t->color == color)
			return t;
	return NULL;
}

/**
 * backups_check() - whether a tenant's backup color leads back to it
 * @new: the tenant as it is to be
 * @err: message, with the tenant that closes the circle
 *
 * Two engines that are asked at the same time may miss one. The data plane does not
 * ask the backup of a backup, so nothing goes round in any case.
 *
 * Return: 0 or -ELOOP.
 */
int backups_check(const struct tenant *new, struct srpol_error *err)
{
	uint32_t color = new->backup, steps;
	const struct tenant *t;

	for (steps = tenants_all()->n; color && steps; steps--) {
		t = find_color(color);
		/* what that one was is replaced */
		if (!t || !strcmp(t->name, new->name))
			break;
		if (t->backup == new->color)
			return srpol_error_set(err, -ELOOP,
					       "\"backup\": color %u is the backup of tenant \"%s\", which color %u leads to",
					       new->color, t->name, new->backup);
		color = t->backup;
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void set_nodes(struct srpol_backup *b, const json_t *paths)
{
	const json_t *v;
	size_t i;

	if (!paths)
		return;
	b->nodes = store_alloc(json_array_size(paths) * sizeof(*b->nodes));
	json_array_foreach(paths, i, v)
		b->nodes[b->n++] = srpol_fabric_node(fabricd.fabric,
						     json_string_value(v));
	qsort(b->nodes, b->n, sizeof(*b->nodes), by_number);
}

static int by_color(const void *a, const void *b)
{
	const struct srpol_backup *x = a, *y = b;

	return (x->color > y->color) - (x->color < y->color);
}

/**
 * backups_make() - set the backup colors of all tenants that have one
 * @index: index of the epoch being prepared
 */
void backups_make(struct srpol_index *index)
{
	const struct vec *tenants = tenants_all();
	const struct tenant *t;
	struct srpol_backup *b;

	index->backups = store_alloc((tenants->n + 1) *
				     sizeof(*index->backups));
	vec_for_each(t, tenants) {
		if (!t->backup)
			continue;
		b = &index->backups[index->n_backups++];
		*b = (struct srpol_backup){
			.color = t->color, .backup = t->backup,
		};
		set_nodes(b, t->paths);
	}
	qsort(index->backups, index->n_backups, sizeof(*index->backups),
	      by_color);
}
