// SPDX-License-Identifier: LGPL-2.1
/*
 * Completes a fabric: lists the neighbors of each node, makes GPUs, assigns
 * shapes, and checks conditions that concern the fabric as a whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"
#include "srpol_lib.h"

/* The upper node at the other end of a node's i-th uplink. */
static uint32_t upper(const struct srpol_fabric *f, uint32_t node, uint32_t i)
{
	return f->links[srpol_node_up(f, node, i)].to;
}

static int by_to(const void *a, const void *b, void *data)
{
	const struct srpol_link *links = data;
	uint32_t x = links[*(const uint32_t *)a].to;
	uint32_t y = links[*(const uint32_t *)b].to;

	return x < y ? -1 : x > y;
}

/*
 * Groups links by the node they leave, with a counting sort, and sorts each
 * group by the node they lead to.
 */
static int index_links(struct srpol_fabric *f, struct srpol_error *err)
{
	uint32_t i, ups = 0, downs = 0;
	struct srpol_node *node;

	f->up = calloc(f->n_links / 2 + 1, sizeof(*f->up));
	f->down = calloc(f->n_links / 2 + 1, sizeof(*f->down));
	if (!f->up || !f->down)
		return srpol_error_set(err, -ENOMEM, "no memory");
	for (i = 0; i < f->n_links; i += 2) {
		f->nodes[f->links[i].from].up_n++;
		f->nodes[f->links[i].to].down_n++;
	}
	for (node = f->nodes; node < f->nodes + f->n_nodes; node++) {
		node->up_first = ups;
		node->down_first = downs;
		ups += node->up_n;
		downs += node->down_n;
		node->up_n = 0;
		node->down_n = 0;
	}
	for (i = 0; i < f->n_links; i += 2) {
		node = &f->nodes[f->links[i].from];
		f->up[node->up_first + node->up_n++] = i;
		node = &f->nodes[f->links[i].to];
		f->down[node->down_first + node->down_n++] = i + 1;
	}
	for (node = f->nodes; node < f->nodes + f->n_nodes; node++) {
		qsort_r(f->up + node->up_first, node->up_n, sizeof(*f->up),
			by_to, f->links);
		qsort_r(f->down + node->down_first, node->down_n,
			sizeof(*f->down), by_to, f->links);
	}
	return 0;
}

/*
 * Checks that two switches have no more than one link between them. A host may
 * have several NICs on one leaf.
 */
static int check_parallel(const struct srpol_fabric *f, struct srpol_error *err)
{
	uint32_t node, i;

	for (node = 0; node < f->n_nodes; node++) {
		if (f->nodes[node].tier == SRPOL_TIER_HOST)
			continue;
		for (i = 1; i < f->nodes[node].up_n; i++)
			if (upper(f, node, i) == upper(f, node, i - 1))
				return srpol_error_set(err, -EINVAL,
						       "two links between %s and %s: one with more cables wanted",
						       f->nodes[node].name,
						       f->nodes[upper(f, node, i)].name);
	}
	return 0;
}

/*
 * Context of by_shape(): with @deep, shapes of upper nodes are compared instead
 * of upper nodes.
 */
struct order {
	const struct srpol_fabric *f;
	bool deep;
};

static int by_shape(const void *a, const void *b, void *data)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b, i, v, w;
	const struct order *o = data;
	const struct srpol_node *p = &o->f->nodes[x], *q = &o->f->nodes[y];

	if (p->tier != q->tier)
		return p->tier < q->tier ? -1 : 1;
	if (p->up_n != q->up_n)
		return p->up_n < q->up_n ? -1 : 1;
	for (i = 0; i < p->up_n; i++) {
		v = upper(o->f, x, i);
		w = upper(o->f, y, i);
		if (o->deep) {
			v = o->f->nodes[v].shape;
			w = o->f->nodes[w].shape;
		}
		if (v != w)
			return v < w ? -1 : 1;
	}
	return 0;
}

/*
 * Numbers the different lists of upper nodes in @shape or, with @deep, the
 * different lists of their shapes in @shape2.
 */
static void index_shapes(struct srpol_fabric *f, uint32_t *nodes, bool deep)
{
	struct order o = { .f = f, .deep = deep };
	uint32_t i, shape = 0;

	for (i = 0; i < f->n_nodes; i++)
		nodes[i] = i;
	qsort_r(nodes, f->n_nodes, sizeof(*nodes), by_shape, &o);
	for (i = 0; i < f->n_nodes; i++) {
		if (i && by_shape(&nodes[i - 1], &nodes[i], &o))
			shape++;
		if (deep)
			f->nodes[nodes[i]].shape2 = shape;
		else
			f->nodes[nodes[i]].shape = shape;
	}
}

/* Sets srpol_node.apart of every leaf. @seen has an entry for every node. */
static void index_apart(struct srpol_fabric *f, uint32_t *seen)
{
	uint32_t node, spine, per, i, j, top;

	for (i = 0; i < f->n_nodes; i++)
		seen[i] = SRPOL_NONE;
	for (node = 0; node < f->n_nodes; node++) {
		if (f->nodes[node].tier != SRPOL_TIER_LEAF)
			continue;
		per = f->nodes[node].up_n ?
			f->nodes[upper(f, node, 0)].up_n : 0;
		for (i = 0; per && i < f->nodes[node].up_n; i++) {
			spine = upper(f, node, i);
			if (f->nodes[spine].up_n != per)
				per = 0;
			for (j = 0; j < f->nodes[spine].up_n; j++) {
				top = upper(f, spine, j);
				if (seen[top] == node)
					per = 0;
				seen[top] = node;
			}
		}
		f->nodes[node].apart = per;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct srpol_nic *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->rail != y->rail)
		return x->rail < y->rail ? -1 : 1;
	return x->plane < y->plane ? -1 : x->plane > y->plane;
}

static int index_nics(struct srpol_fabric *f, struct srpol_error *err)
{
	struct srpol_nic *nic, *before;
	struct srpol_gpu *ep;
	uint32_t i, j;

	if (f->n_nics)
		qsort(f->nics, f->n_nics, sizeof(*f->nics), by_place);
	f->gpus = calloc(f->n_nics + 1, sizeof(*f->gpus));
	if (!f->gpus)
		return srpol_error_set(err, -ENOMEM, "no memory");
	for (i = 0; i < f->n_nics; i++) {
		nic = &f->nics[i];
		before = i ? nic - 1 : NULL;
		for (j = i; j && f->nics[j - 1].host == nic->host; j--)
			if (!strcmp(f->nics[j - 1].name, nic->name))
				return srpol_error_set(err, -EEXIST,
						       "%s has two NICs \"%s\"",
						       f->nodes[nic->host].name,
						       nic->name);
		if (!before || before->host != nic->host ||
		    before->rail != nic->rail) {
			ep = &f->gpus[f->n_gpus++];
			ep->host = nic->host;
			ep->rail = nic->rail;
			ep->nic = i;
		} else if (before->plane == nic->plane) {
			return srpol_error_set(err, -EEXIST,
					       "%s has two NICs on rail %u, plane %u",
					       f->nodes[nic->host].name,
					       nic->rail, nic->plane);
		}
		f->gpus[f->n_gpus - 1].n++;
		nic->gpu = f->n_gpus - 1;
	}
	return 0;
}

static int by_locator(const void *a, const void *b, void *data)
{
	const struct srpol_node *nodes = data;
	const struct srpol_node *x = &nodes[*(const uint32_t *)a];
	const struct srpol_node *y = &nodes[*(const uint32_t *)b];
	int diff = memcmp(&x->locator, &y->locator, sizeof(x->locator));

	return diff ? diff : (int)x->locator_len - (int)y->locator_len;
}

static bool prefix_covers(const struct srpol_node *p, const struct srpol_node *q)
{
	uint32_t i;

	if (p->locator_len > q->locator_len)
		return false;
	for (i = 0; i < p->locator_len; i++)
		if ((p->locator.s6_addr[i / 8] ^ q->locator.s6_addr[i / 8]) &
		    0x80 >> i % 8)
			return false;
	return true;
}

static int by_csid(const void *a, const void *b, void *data)
{
	const struct srpol_node *nodes = data;
	uint64_t x = nodes[*(const uint32_t *)a].csid;
	uint64_t y = nodes[*(const uint32_t *)b].csid;

	return x < y ? -1 : x > y;
}

static int check_csids(const struct srpol_fabric *f, uint32_t *nodes,
		       struct srpol_error *err)
{
	const struct srpol_node *p, *q;
	uint32_t i;

	qsort_r(nodes, f->n_nodes, sizeof(*nodes), by_csid, f->nodes);
	for (i = 0; i < f->n_nodes; i++) {
		p = &f->nodes[nodes[i]];
		if (!p->csid)
			continue;
		if (!f->sids.block_len || (f->sids.csid_len < 64 &&
					   p->csid >> f->sids.csid_len))
			return srpol_error_set(err, -EINVAL,
					       "%s: CSID does not fit in %u bits",
					       p->name, f->sids.block_len ?
					       f->sids.csid_len : 0);
		if (!i)
			continue;
		q = &f->nodes[nodes[i - 1]];
		if (q->csid == p->csid)
			return srpol_error_set(err, -EEXIST,
					       "%s and %s have the same CSID",
					       q->name, p->name);
	}
	return 0;
}

/*
 * Checks that locators do not overlap. If any do, two that are adjacent in
 * sorted order overlap as well.
 */
static int check_locators(const struct srpol_fabric *f, uint32_t *nodes,
			  struct srpol_error *err)
{
	const struct srpol_node *p, *q;
	uint32_t i;

	qsort_r(nodes, f->n_nodes, sizeof(*nodes), by_locator, f->nodes);
	for (i = 1; i < f->n_nodes; i++) {
		p = &f->nodes[nodes[i - 1]];
		q = &f->nodes[nodes[i]];
		if (prefix_covers(p, q))
			return srpol_error_set(err, -EEXIST,
					       "locators of %s and %s overlap",
					       p->name, q->name);
	}
	return 0;
}

/*
 * Checks that the function parts of SIDs do not overlap any locator, and that
 * they differ from each other.
 */
static int check_functions(const struct srpol_fabric *f,
			   struct srpol_error *err)
{
	const struct in6_addr *fn[] = { &f->sids.end, &f->sids.decap,
					&f->sids.probe, &f->sids.reflect };
	uint32_t n = IN6_IS_ADDR_UNSPECIFIED(&f->sids.reflect) ? 3 : 4;
	uint32_t longest = 0, i, k, bit;

	for (i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].locator_len > longest)
			longest = f->nodes[i].locator_len;
	for (i = 0; i < n; i++) {
		for (bit = 0; bit < longest; bit++)
			if (fn[i]->s6_addr[bit / 8] & 0x80 >> bit % 8)
				return srpol_error_set(err, -EINVAL,
						       "a function overlaps the locators of %u bits",
						       longest);
		for (k = 0; k < i; k++)
			if (!memcmp(fn[i], fn[k], sizeof(*fn[i])))
				return srpol_error_set(err, -EINVAL,
						       "two functions are the same");
	}
	return 0;
}

static int check_usid(const struct srpol_fabric *f, struct srpol_error *err)
{
	uint32_t block = f->sids.block_len, csid = f->sids.csid_len;

	if (!block)
		return 0;
	if (block % 8 || csid % 8 || csid < 8 || csid > 64 ||
	    block + csid > 128)
		return srpol_error_set(err, -EINVAL,
				       "compressed SIDs of %u + %u bits: whole bytes, CSID up to 64, together up to 128 wanted",
				       block, csid);
	return 0;
}

/**
 * srpol_fabric_finish() - complete and check a fabric
 * @f: fabric, to which nothing can be added any more; it has to be freed if
 *	this fails
 * @err: reason of a failure
 *
 * Sorts NICs, makes GPUs, and indexes neighbors, addresses, shapes and
 * functions. O(n log n) in nodes and links.
 *
 * Return: 0, -EINVAL, -EEXIST if something is not unique, -ENOMEM.
 */
int srpol_fabric_finish(struct srpol_fabric *f, struct srpol_error *err)
{
	uint32_t *nodes, i;
	int rc;

	nodes = calloc(f->n_nodes + 1, sizeof(*nodes));
	if (!nodes)
		return srpol_error_set(err, -ENOMEM, "no memory");
	rc = index_links(f, err);
	if (!rc)
		rc = check_parallel(f, err);
	if (!rc)
		rc = index_nics(f, err);
	if (!rc && srpol_fabric_index_addrs(f))
		rc = srpol_error_set(err, -ENOMEM, "no memory");
	if (rc)
		goto out;
	index_shapes(f, nodes, false);
	index_shapes(f, nodes, true);
	index_apart(f, nodes);
	for (i = 0; i < f->n_nodes; i++)
		nodes[i] = i;
	rc = check_usid(f, err);
	if (!rc)
		rc = check_functions(f, err);
	if (!rc)
		rc = check_locators(f, nodes, err);
	if (!rc)
		rc = check_csids(f, nodes, err);
	if (!rc)
		rc = srpol_fabric_index_functions(f, err);
out:
	free(nodes);
	return rc;
}

/**
 * srpol_fabric_link() - find the link between two nodes
 * @f: finished fabric
 * @from: node that sends
 * @to: node that receives
 *
 * If a host has several links to a leaf, this is the first one found. O(log of
 * the lower node's uplinks).
 *
 * Return: number of the directed link, SRPOL_NONE if there is none.
 */
uint32_t srpol_fabric_link(const struct srpol_fabric *f, uint32_t from,
			   uint32_t to)
{
	bool down = f->nodes[from].tier > f->nodes[to].tier;
	uint32_t low = down ? to : from, high = down ? from : to;
	uint32_t a = 0, b = f->nodes[low].up_n, mid;

	while (a < b) {
		mid = a + (b - a) / 2;
		if (upper(f, low, mid) < high)
			a = mid + 1;
		else
			b = mid;
	}
	if (a == f->nodes[low].up_n || upper(f, low, a) != high)
		return SRPOL_NONE;
	return srpol_node_up(f, low, a) ^ down;
}

/**
 * srpol_fabric_gpu() - find the GPU of a host on a rail
 * @f: finished fabric
 * @host: the host
 * @rail: the rail
 *
 * O(log GPUs).
 *
 * Return: number of the GPU, SRPOL_NONE if there is none.
 */
uint32_t srpol_fabric_gpu(const struct srpol_fabric *f, uint32_t host,
			  uint32_t rail)
{
	uint32_t a = 0, b = f->n_gpus, mid;
	const struct srpol_gpu *ep;

	while (a < b) {
		mid = a + (b - a) / 2;
		ep = &f->gpus[mid];
		if (ep->host < host || (ep->host == host && ep->rail < rail))
			a = mid + 1;
		else
			b = mid;
	}
	ep = &f->gpus[a];
	if (a == f->n_gpus || ep->host != host || ep->rail != rail)
		return SRPOL_NONE;
	return a;
}
