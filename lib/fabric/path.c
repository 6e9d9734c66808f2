// SPDX-License-Identifier: LGPL-2.1
/*
 * All paths between two GPUs: up to the lowest tier at which both leaves have
 * nodes in common, and down again. In a fabric with tiers these are all
 * shortest paths (selftests/unit compares them with igraph's). If two leaves
 * have the same upper nodes, the links of path i follow from i, and no paths
 * are stored.
 *
 * Link states do not matter here: a path over a link that is down remains a
 * path with the same number, and its capacity is 0.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

static uint32_t up_node(const struct srpol_fabric *f, uint32_t node, uint32_t i)
{
	return f->links[srpol_node_up(f, node, i)].to;
}

/*
 * A walk over all paths. The first walk counts them, the second one stores
 * them.
 */
struct walk {
	struct srpol_fan *fan;
	uint32_t n;
};

static void walk_add(struct walk *w, const uint32_t *links)
{
	uint32_t len = w->fan->len;

	if (w->fan->list)
		memcpy(w->fan->list + w->n * len, links, len * sizeof(*links));
	w->n++;
}

/*
 * Visits every node directly above both @a and @b. Uplinks are sorted by the
 * upper node, so one pass over both lists finds them.
 */
static void walk_common(const struct srpol_fabric *f, struct walk *w,
			uint32_t a, uint32_t b, uint32_t *links, uint32_t at)
{
	const struct srpol_node *p = &f->nodes[a], *q = &f->nodes[b];
	uint32_t i = 0, j = 0, x, y;

	while (i < p->up_n && j < q->up_n) {
		x = up_node(f, a, i);
		y = up_node(f, b, j);
		if (x == y) {
			links[at] = srpol_node_up(f, a, i);
			links[at + 1] = srpol_node_up(f, b, j) ^ 1;
			walk_add(w, links);
		}
		i += x <= y;
		j += y <= x;
	}
}

static void walk_fan(const struct srpol_fabric *f, struct walk *w)
{
	uint32_t a = w->fan->from, b = w->fan->to, links[4], i, j;

	w->n = 0;
	if (w->fan->len == 2) {
		walk_common(f, w, a, b, links, 0);
		return;
	}
	for (i = 0; i < f->nodes[a].up_n; i++) {
		for (j = 0; j < f->nodes[b].up_n; j++) {
			links[0] = srpol_node_up(f, a, i);
			links[3] = srpol_node_up(f, b, j) ^ 1;
			walk_common(f, w, up_node(f, a, i), up_node(f, b, j),
				    links, 1);
		}
	}
}

static bool any_common(const struct srpol_fabric *f, uint32_t a, uint32_t b)
{
	struct srpol_fan none = { .len = 2 };
	struct walk w = { .fan = &none };
	uint32_t links[2];

	walk_common(f, &w, a, b, links, 0);
	return w.n;
}

static int fan_list(const struct srpol_fabric *f, struct srpol_fan *fan)
{
	struct walk w = { .fan = fan };

	fan->turn = SRPOL_TURN_LIST;
	walk_fan(f, &w);
	fan->n = w.n;
	fan->list = calloc((size_t)fan->n * fan->len + 1, sizeof(*fan->list));
	if (!fan->list)
		return -ENOMEM;
	walk_fan(f, &w);
	return 0;
}

/**
 * srpol_fan_init() - find all paths between two leaves
 * @f: finished fabric
 * @from: source leaf
 * @to: destination leaf
 * @fan: result, to be freed
 *
 * O(uplinks of a leaf) in a regular fabric, else O(paths).
 *
 * Return: 0, also if there are no paths; -ENOMEM.
 */
int srpol_fan_init(const struct srpol_fabric *f, uint32_t from, uint32_t to,
		   struct srpol_fan *fan)
{
	const struct srpol_node *p = &f->nodes[from], *q = &f->nodes[to];

	*fan = (struct srpol_fan){ .from = from, .to = to };
	if (from == to) {
		fan->turn = SRPOL_TURN_LEAF;
		fan->n = 1;
		return 0;
	}
	fan->len = 2;
	if (p->shape == q->shape) {
		fan->turn = SRPOL_TURN_SPINE;
		fan->n = p->up_n;
		return 0;
	}
	if (any_common(f, from, to))
		return fan_list(f, fan);
	fan->len = 4;
	if (!p->apart || p->shape2 != q->shape2)
		return fan_list(f, fan);
	fan->turn = SRPOL_TURN_SUPER;
	fan->per = p->apart;
	fan->n = p->up_n * fan->per;
	return 0;
}

/**
 * srpol_fan_free() - free the paths between two leaves
 * @fan: the paths
 */
void srpol_fan_free(struct srpol_fan *fan)
{
	free(fan->list);
	fan->list = NULL;
}

/**
 * srpol_fan_links() - links of one path between two leaves
 * @f: finished fabric
 * @fan: the paths
 * @i: number of the path, less than srpol_fan.n
 * @links: result; there must be room for 4
 *
 * O(1).
 *
 * Return: number of links: srpol_fan.len.
 */
uint32_t srpol_fan_links(const struct srpol_fabric *f,
			 const struct srpol_fan *fan, uint32_t i,
			 uint32_t *links)
{
	uint32_t s, t;

	switch (fan->turn) {
	case SRPOL_TURN_LEAF:
		break;
	case SRPOL_TURN_SPINE:
		links[0] = srpol_node_up(f, fan->from, i);
		links[1] = srpol_node_up(f, fan->to, i) ^ 1;
		break;
	case SRPOL_TURN_SUPER:
		s = i / fan->per;
		t = i % fan->per;
		links[0] = srpol_node_up(f, fan->from, s);
		links[1] = srpol_node_up(f, up_node(f, fan->from, s), t);
		links[2] = srpol_node_up(f, up_node(f, fan->to, s), t) ^ 1;
		links[3] = srpol_node_up(f, fan->to, s) ^ 1;
		break;
	case SRPOL_TURN_LIST:
		memcpy(links, fan->list + (size_t)i * fan->len,
		       fan->len * sizeof(*links));
		break;
	}
	return fan->len;
}

/**
 * srpol_path_set_init() - find all paths between two GPUs
 * @f: finished fabric
 * @src: source GPU
 * @dst: destination GPU
 * @set: result, to be freed
 *
 * NICs are paired by plane. There are no paths between GPUs of one host,
 * because their traffic does not enter the fabric.
 *
 * Return: 0, also if there are no paths; -EINVAL for a GPU that does not exist,
 * -ENOMEM.
 */
int srpol_path_set_init(const struct srpol_fabric *f, uint32_t src,
			uint32_t dst, struct srpol_path_set *set)
{
	const struct srpol_gpu *a, *b;
	uint32_t i = 0, j = 0, x, y;
	int rc;

	set->n = 0;
	set->pairs = 0;
	if (src >= f->n_gpus || dst >= f->n_gpus)
		return -EINVAL;
	a = &f->gpus[src];
	b = &f->gpus[dst];
	if (a->host == b->host)
		return 0;
	while (i < a->n && j < b->n) {
		x = f->nics[a->nic + i].plane;
		y = f->nics[b->nic + j].plane;
		if (x == y) {
			set->pair[set->pairs].src = a->nic + i;
			set->pair[set->pairs].dst = b->nic + j;
			set->pair[set->pairs].first = set->n;
			rc = srpol_fan_init(f, f->nics[a->nic + i].leaf,
					    f->nics[b->nic + j].leaf,
					    &set->pair[set->pairs].fan);
			set->n += set->pair[set->pairs].fan.n;
			set->pairs++;
			if (rc) {
				srpol_path_set_free(set);
				return rc;
			}
		}
		i += x <= y;
		j += y <= x;
	}
	return 0;
}

/**
 * srpol_path_set_free() - free the paths between two GPUs
 * @set: the paths
 */
void srpol_path_set_free(struct srpol_path_set *set)
{
	while (set->pairs)
		srpol_fan_free(&set->pair[--set->pairs].fan);
	set->n = 0;
}

/**
 * srpol_path_get() - links of one path between two GPUs
 * @f: finished fabric
 * @set: the paths
 * @i: number of the path, less than srpol_path_set.n
 * @path: result: the links
 *
 * O(planes).
 */
void srpol_path_get(const struct srpol_fabric *f,
		    const struct srpol_path_set *set, uint32_t i,
		    struct srpol_route *path)
{
	uint32_t p = set->pairs - 1;

	while (set->pair[p].first > i)
		p--;
	path->link[0] = f->nics[set->pair[p].src].link;
	path->n = 1 + srpol_fan_links(f, &set->pair[p].fan,
				      i - set->pair[p].first, path->link + 1);
	path->link[path->n++] = f->nics[set->pair[p].dst].link ^ 1;
}

/**
 * srpol_route_reverse() - the same path in the opposite direction
 * @path: path
 * @back: result
 */
void srpol_route_reverse(const struct srpol_route *path, struct srpol_route *back)
{
	uint32_t i;

	back->n = path->n;
	for (i = 0; i < path->n; i++)
		back->link[i] = path->link[path->n - 1 - i] ^ 1;
}

/**
 * srpol_route_top() - the switch at which a path turns from up to down
 * @f: finished fabric
 * @path: path
 */
uint32_t srpol_route_top(const struct srpol_fabric *f,
			 const struct srpol_route *path)
{
	return f->links[path->link[path->n / 2 - 1]].to;
}

/**
 * srpol_path_set_turning() - number of paths that turn down at a switch
 * @f: finished fabric
 * @set: the paths
 * @top: the switch
 *
 * One: that switch determines the path up to it and down to the GPUs' leaf, but not
 * which leaf, if the peer's host is at several. O(paths).
 */
uint32_t srpol_path_set_turning(const struct srpol_fabric *f,
				const struct srpol_path_set *set, uint32_t top)
{
	struct srpol_route path;
	uint32_t i, n = 0;

	for (i = 0; i < set->n; i++) {
		srpol_path_get(f, set, i, &path);
		n += srpol_route_top(f, &path) == top;
	}
	return n;
}

/**
 * srpol_route_capacity() - lowest capacity of a path's links
 * @s: link states
 * @path: path
 *
 * Return: bit/s, 0 if a link is down.
 */
uint64_t srpol_route_capacity(const struct srpol_links *s,
			      const struct srpol_route *path)
{
	uint64_t least = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < path->n; i++)
		if (s->links[path->link[i]].capacity < least)
			least = s->links[path->link[i]].capacity;
	return least;
}
