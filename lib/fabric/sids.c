// SPDX-License-Identifier: LGPL-2.1
/*
 * Segment lists: of paths, with every hop or only those that matter, and of
 * probes that come back to their host. Order is order of travel.
 */
#include <errno.h>
#include <string.h>

#include "fabric.h"
#include "srpol_lib.h"

#define IPV6_HLEN	40
#define SRH_HLEN	8
#define SID_LEN		16

/**
 * srpol_sids_overhead() - bytes that encapsulation adds
 * @n: SIDs or containers
 * @form: how they are sent
 *
 * Outer IPv6 header and SRH (RFC 8754 2, 4.1.1); no Ethernet.
 */
uint32_t srpol_sids_overhead(uint32_t n, enum srpol_sid_form form)
{
	if (form != SRPOL_SID_FULL)
		n--;
	return IPV6_HLEN + (n ? SRH_HLEN + SID_LEN * n : 0);
}

static struct in6_addr sid_of(const struct srpol_node *node,
			      const struct in6_addr *function)
{
	struct in6_addr sid = node->locator;
	uint32_t i;

	for (i = 0; i < sizeof(sid); i++)
		sid.s6_addr[i] |= function->s6_addr[i];
	return sid;
}

/* The function that the list has in place of the node, NULL: none. */
static const struct srpol_function *waypoint(const struct srpol_fabric *f,
					     uint32_t function, uint32_t node)
{
	return function != SRPOL_NONE && f->functions[function].node == node ?
	       &f->functions[function] : NULL;
}

static int plain_sids(const struct srpol_fabric *f, const uint32_t *nodes,
		      uint32_t n, uint32_t function,
		      const struct in6_addr *last, struct srpol_sid_list *list,
		      struct srpol_error *err)
{
	const struct srpol_function *at;
	uint32_t i;

	if (n > SRPOL_SIDS_MAX)
		return srpol_error_set(err, -E2BIG, "%u SIDs, %d are the most",
				       n, SRPOL_SIDS_MAX);
	for (i = 0; i < n; i++) {
		at = waypoint(f, function, nodes[i]);
		list->sid[i] = sid_of(&f->nodes[nodes[i]],
				      i + 1 == n ? last :
				      at ? &at->bits : &f->sids.end);
	}
	list->n = n;
	return 0;
}

/* A host's CSID is its decapsulating SID; its probe SID has no CSID. */
static int usids(const struct srpol_fabric *f, const uint32_t *nodes,
		 uint32_t n, uint32_t function, const struct in6_addr *probe,
		 struct srpol_sid_list *list, struct srpol_error *err)
{
	uint64_t csids[SRPOL_SIDS_MAX * SRPOL_CSIDS_MAX];
	uint32_t i, packed = probe ? n - 1 : n;
	const struct srpol_function *at;
	int rc;

	if (!f->sids.block_len)
		return srpol_error_set(err, -EINVAL,
				       "the fabric has no compressed SIDs");
	if (n > SRPOL_SIDS_MAX * SRPOL_CSIDS_MAX)
		return srpol_error_set(err, -E2BIG, "%u hops", n);
	for (i = 0; i < packed; i++) {
		at = waypoint(f, function, nodes[i]);
		csids[i] = at ? at->csid : f->nodes[nodes[i]].csid;
		if (!csids[i])
			return srpol_error_set(err, -EINVAL,
					       "%s%s%s has no compressed SID",
					       at ? at->name : "",
					       at ? " of " : "",
					       f->nodes[nodes[i]].name);
	}
	rc = packed ? srpol_usid_pack(&f->sids.block, f->sids.block_len,
				      f->sids.csid_len, csids, packed,
				      list->sid, SRPOL_SIDS_MAX) : 0;
	if (rc < 0 || rc + !!probe > SRPOL_SIDS_MAX)
		return srpol_error_set(err, -E2BIG,
				       "%u hops do not fit in %d containers",
				       n, SRPOL_SIDS_MAX);
	list->n = rc;
	if (probe)
		list->sid[list->n++] = sid_of(&f->nodes[nodes[n - 1]], probe);
	return 0;
}

static int sids_of(const struct srpol_fabric *f, const uint32_t *nodes,
		   uint32_t n, uint32_t function, enum srpol_sid_last last,
		   enum srpol_sid_form form, struct srpol_sid_list *list,
		   struct srpol_error *err)
{
	const struct in6_addr *bits;
	int rc;

	if (!n || f->nodes[nodes[n - 1]].tier != SRPOL_TIER_HOST)
		return srpol_error_set(err, -EINVAL,
				       "a segment list ends at a host");
	bits = last == SRPOL_LAST_PROBE ? &f->sids.probe : &f->sids.decap;
	if (form == SRPOL_SID_USID)
		rc = usids(f, nodes, n, function,
			   last == SRPOL_LAST_PROBE ? bits : NULL, list, err);
	else
		rc = plain_sids(f, nodes, n, function, bits, list, err);
	if (!rc)
		list->overhead = srpol_sids_overhead(list->n, form);
	return rc;
}

/**
 * srpol_sids_of_nodes() - segment list that visits nodes
 * @f: finished fabric
 * @nodes: in order of travel, the last one a host
 * @n: number of them, at least 1
 * @last: what the last one does
 * @form: how the list is sent
 * @list: result
 * @err: why not
 *
 * In SRPOL_SID_USID a probe's last SID is a plain one behind the containers:
 * only what is a route of its own can be told from data.
 *
 * Return: 0, -EINVAL for a node without CSID, -E2BIG for too many.
 */
int srpol_sids_of_nodes(const struct srpol_fabric *f, const uint32_t *nodes,
			uint32_t n, enum srpol_sid_last last,
			enum srpol_sid_form form, struct srpol_sid_list *list,
			struct srpol_error *err)
{
	return sids_of(f, nodes, n, SRPOL_NONE, last, form, list, err);
}

/* Does the path turn down behind its link @i? */
static bool is_top(const struct srpol_fabric *f, const struct srpol_route *path,
		   uint32_t i)
{
	const struct srpol_link *in = &f->links[path->link[i]];
	const struct srpol_link *out = &f->links[path->link[i + 1]];

	return f->nodes[in->from].tier < f->nodes[in->to].tier &&
	       f->nodes[out->from].tier > f->nodes[out->to].tier;
}

/* Switches behind the first leaf that the list is to name. */
static uint32_t hops_of(const struct srpol_fabric *f,
			const struct srpol_route *path,
			enum srpol_sid_hops hops, const uint8_t *hot,
			uint32_t *nodes)
{
	uint32_t i, n = 0;
	bool take;

	for (i = 1; i + 1 < path->n; i++) {
		switch (hops) {
		case SRPOL_HOPS_TOP:
			take = is_top(f, path, i);
			break;
		case SRPOL_HOPS_HOT:
			take = hot[path->link[i]] || hot[path->link[i + 1]];
			break;
		default:
			take = true;
			break;
		}
		if (take)
			nodes[n++] = f->links[path->link[i]].to;
	}
	return n;
}

/**
 * srpol_sids_of_path() - segment list of a path
 * @f: finished fabric
 * @path: path; srpol_route_reverse() gives the way back
 * @hops: which hops to name
 * @hot: SRPOL_HOPS_HOT: by directed link, not 0 if it is hot; else not used
 * @form: how the list is sent
 * @list: result
 * @err: why not
 *
 * The first leaf is never named, as the NIC leads nowhere else. The last SID
 * is the destination's End.DT46.
 *
 * Return: 0, -EINVAL for a node without CSID.
 */
int srpol_sids_of_path(const struct srpol_fabric *f,
		       const struct srpol_route *path, enum srpol_sid_hops hops,
		       const uint8_t *hot, enum srpol_sid_form form,
		       struct srpol_sid_list *list, struct srpol_error *err)
{
	uint32_t nodes[SRPOL_PATH_LINKS], n;

	n = hops_of(f, path, hops, hot, nodes);
	nodes[n++] = f->links[path->link[path->n - 1]].to;
	return srpol_sids_of_nodes(f, nodes, n, SRPOL_LAST_DECAP, form, list,
				   err);
}

/**
 * srpol_sids_via() - segment list of a path, with a function as waypoint
 * @f: finished fabric
 * @path: path
 * @function: number of a function of one of its switches, see
 *	srpol_route_function(); SRPOL_NONE: as srpol_sids_of_path() with all hops
 * @form: how the list is sent
 * @list: result
 * @err: why not
 *
 * The function's SID stands where that of its switch would, which is the only
 * reason to name the first leaf.
 *
 * Return: 0, -EINVAL for a function elsewhere, or without CSID.
 */
int srpol_sids_via(const struct srpol_fabric *f, const struct srpol_route *path,
		   uint32_t function, enum srpol_sid_form form,
		   struct srpol_sid_list *list, struct srpol_error *err)
{
	uint32_t nodes[SRPOL_PATH_LINKS], n = 0, i, node;
	bool met = function == SRPOL_NONE;

	for (i = 0; i < path->n; i++) {
		node = f->links[path->link[i]].to;
		if (!i && !waypoint(f, function, node))
			continue;
		met |= waypoint(f, function, node) != NULL;
		nodes[n++] = node;
	}
	if (!met)
		return srpol_error_set(err, -EINVAL,
				       "the path does not pass %s of %s",
				       f->functions[function].name,
				       f->nodes[f->functions[function].node].name);
	return sids_of(f, nodes, n, function, SRPOL_LAST_DECAP, form, list,
		       err);
}

/**
 * srpol_sids_of_loop() - segment list of a probe that comes back by itself
 * @f: finished fabric
 * @out: path to a peer
 * @back: path from there, not necessarily the same one reversed
 * @to_host: visit the peer; else turn round at its leaf (host - leaf - spine -
 *	leaf - back), and @back may start at any NIC of that leaf
 * @form: how the list is sent
 * @list: result
 * @err: why not
 *
 * Every hop is named, the last SID is the probe SID of the host @out leaves.
 *
 * Return: 0, -EINVAL when the ends do not meet or a node has no CSID, -E2BIG.
 */
int srpol_sids_of_loop(const struct srpol_fabric *f,
		       const struct srpol_route *out,
		       const struct srpol_route *back, bool to_host,
		       enum srpol_sid_form form, struct srpol_sid_list *list,
		       struct srpol_error *err)
{
	uint32_t nodes[2 * SRPOL_PATH_LINKS], n, self, leaf, i;

	self = f->links[out->link[0]].from;
	leaf = f->links[out->link[out->n - 1]].from;
	if (f->links[back->link[back->n - 1]].to != self ||
	    f->links[back->link[0]].to != leaf ||
	    (to_host && back->link[0] != (out->link[out->n - 1] ^ 1)))
		return srpol_error_set(err, -EINVAL,
				       "the paths do not make a loop");
	n = hops_of(f, out, SRPOL_HOPS_ALL, NULL, nodes);
	if (to_host) {
		nodes[n++] = f->links[back->link[0]].from;
		nodes[n++] = leaf;
	}
	for (i = 1; i < back->n; i++)
		nodes[n++] = f->links[back->link[i]].to;
	return srpol_sids_of_nodes(f, nodes, n, SRPOL_LAST_PROBE, form, list,
				   err);
}
