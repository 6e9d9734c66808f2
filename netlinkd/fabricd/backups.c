// SPDX-License-Identifier: GPL-2.0
/*
 * Backup colors of tenants. Like limits they are part of each epoch's index, so the
 * digest in the head covers them, and they arrive with the plan.
 */
#include <stdlib.h>

#include "backups.h"
#include "srpol_lib.h"
#include "tenants.h"

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A list may name a switch more than once. */
static void set_nodes(struct srpol_backup *b, const json_t *paths)
{
	const json_t *v;
	uint32_t n = 0;
	size_t i;

	if (!paths)
		return;
	b->nodes = store_alloc(json_array_size(paths) * sizeof(*b->nodes));
	json_array_foreach(paths, i, v)
		b->nodes[b->n++] = srpol_fabric_node(fabricd.fabric,
						     json_string_value(v));
	qsort(b->nodes, b->n, sizeof(*b->nodes), by_number);
	for (i = 0; i < b->n; i++)
		if (!n || b->nodes[n - 1] != b->nodes[i])
			b->nodes[n++] = b->nodes[i];
	b->n = n;
}

/**
 * backups_make() - set the backup colors of all tenants that have one
 * @index: index of the epoch being prepared
 */
void backups_make(struct srpol_index *index)
{
	const struct tenant **tenants, *t;
	struct srpol_backup *b;
	size_t n, i;

	tenants = tenants_by_color(&n);
	index->backups = store_alloc((n + 1) * sizeof(*index->backups));
	for (i = 0; i < n; i++) {
		t = tenants[i];
		if (!t->backup)
			continue;
		b = &index->backups[index->n_backups++];
		*b = (struct srpol_backup){
			.color = t->color, .backup = t->backup,
		};
		set_nodes(b, t->paths);
	}
	free(tenants);
}
