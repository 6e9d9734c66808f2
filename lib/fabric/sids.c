// SPDX-License-Identifier: LGPL-2.1
/*
 * Segment lists of paths, which name every hop or only those that matter, and
 * of probes that return to their host. SIDs are in order of travel.
 */
#include <errno.h>
#include <string.h>

#include "fabric.h"
#include "srpol_lib.h"

#define IPV6_HLEN	40
#define SRH_HLEN	8
#define SID_LEN		16

/**
 * srpol_sids_overhead() - number of bytes that encapsulation adds
 * @n: number of SIDs or containers, at least 1
 * @form: how the segment list is encoded
 *
 * The outer IPv6 header and the SRH (RFC 8754 2, 4.1.1) count, an Ethernet
 * header does not.
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

/* The function whose SID replaces that of the node, NULL if there is none. */
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

static int too_long(uint32_t hops, struct srpol_error *err)
{
	return srpol_error_set(err, -E2BIG,
			       "%u hops do not fit in %d containers", hops,
			       SRPOL_SIDS_MAX);
}

/* Appends containers of @n CSIDs. Return: false if there is no room. */
static bool add_csids(const struct srpol_fabric *f, const uint64_t *csids,
		      uint32_t n, struct srpol_sid_list *list)
{
	int rc = n ? srpol_usid_pack(&f->sids.block, f->sids.block_len,
				     f->sids.csid_len, csids, n,
				     &list->sid[list->n],
				     SRPOL_SIDS_MAX - list->n) : 0;

	if (rc < 0)
		return false;
	list->n += rc;
	return true;
}

/*
 * Packs CSIDs into containers. The CSID of a host stands for its End.DT46, so
 * a host is named by a full SID if the packet is to go on from there, and, if
 * @probe is not NULL, at the end.
 */
static int usids(const struct srpol_fabric *f, const uint32_t *nodes,
		 uint32_t n, uint32_t function, const struct in6_addr *probe,
		 struct srpol_sid_list *list, struct srpol_error *err)
{
	uint64_t csids[SRPOL_SIDS_MAX * SRPOL_CSIDS_MAX];
	const struct srpol_function *at;
	const struct srpol_node *node;
	uint32_t i, waiting = 0;
	bool last;

	if (!f->sids.block_len)
		return srpol_error_set(err, -EINVAL,
				       "the fabric has no compressed SIDs");
	if (n > SRPOL_SIDS_MAX * SRPOL_CSIDS_MAX)
		return srpol_error_set(err, -E2BIG, "%u hops", n);
	list->n = 0;
	for (i = 0; i < n; i++) {
		node = &f->nodes[nodes[i]];
		last = i + 1 == n;
		if (node->tier == SRPOL_TIER_HOST && (!last || probe)) {
			if (!add_csids(f, csids, waiting, list) ||
			    list->n == SRPOL_SIDS_MAX)
				return too_long(n, err);
			waiting = 0;
			list->sid[list->n++] = sid_of(node, last ? probe :
							    &f->sids.end);
			continue;
		}
		at = waypoint(f, function, nodes[i]);
		csids[waiting] = at ? at->csid : node->csid;
		if (!csids[waiting++])
			return srpol_error_set(err, -EINVAL,
					       "%s%s%s has no compressed SID",
					       at ? at->name : "",
					       at ? " of " : "", node->name);
	}
	return add_csids(f, csids, waiting, list) ? 0 : too_long(n, err);
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
	if (rc)
		return rc;
	list->hops = n;
	list->overhead = srpol_sids_overhead(list->n, form);
	list->form = form;
	return 0;
}

/**
 * srpol_sids_of_nodes() - segment list that visits given nodes
 * @f: finished fabric
 * @nodes: nodes in order of travel; the last one is a host
 * @n: number of @nodes, at least 1
 * @last: behavior of the last SID
 * @form: how the segment list is encoded
 * @list: result
 * @err: reason of a failure
 *
 * With SRPOL_SID_USID, the last SID of a probe is a full one after the
 * containers: only a SID with a route of its own can be distinguished from
 * data. So is the SID of a host on the way.
 *
 * Return: 0, -EINVAL if the last node is not a host or a node has no CSID,
 * -E2BIG for too many nodes.
 */
int srpol_sids_of_nodes(const struct srpol_fabric *f, const uint32_t *nodes,
			uint32_t n, enum srpol_sid_last last,
			enum srpol_sid_form form, struct srpol_sid_list *list,
			struct srpol_error *err)
{
	return sids_of(f, nodes, n, SRPOL_NONE, last, form, list, err);
}

/* Whether the path turns from up to down after its link @i. */
static bool is_top(const struct srpol_fabric *f, const struct srpol_route *path,
		   uint32_t i)
{
	const struct srpol_link *in = &f->links[path->link[i]];
	const struct srpol_link *out = &f->links[path->link[i + 1]];

	return f->nodes[in->from].tier < f->nodes[in->to].tier &&
	       f->nodes[out->from].tier > f->nodes[out->to].tier;
}

/* Lists the switches after the first leaf that the segment list is to name. */
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
 * @path: path; use srpol_route_reverse() for the opposite direction
 * @hops: which switches to name
 * @hot: for SRPOL_HOPS_HOT: by directed link, not 0 if it is hot; else unused
 * @form: how the segment list is encoded
 * @list: result
 * @err: reason of a failure
 *
 * The first leaf is never named, because the NIC is attached to no other node.
 * The last SID is the destination's End.DT46.
 *
 * Return: 0, -EINVAL if a node has no CSID.
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
 * srpol_sids_via() - segment list of a path with a function as waypoint
 * @f: finished fabric
 * @path: path
 * @function: number of a function of a switch on the path, see
 *	srpol_route_function(); SRPOL_NONE: same as srpol_sids_of_path() with
 *	SRPOL_HOPS_ALL
 * @form: how the segment list is encoded
 * @list: result
 * @err: reason of a failure
 *
 * The SID of the function replaces the SID of its switch. The first leaf is
 * named only if the function is there.
 *
 * Return: 0, -EINVAL if the function is not on the path, or it or a node has no
 * CSID.
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
 * srpol_sids_of_loop() - segment list of a probe that returns by itself
 * @f: finished fabric
 * @out: path to a peer
 * @back: path back from the peer, not necessarily the reverse of @out
 * @to_host: visit the peer; otherwise the probe turns around at the peer's leaf
 *	(host - leaf - spine - leaf - back), and @back may start at any NIC of
 *	that leaf
 * @form: how the segment list is encoded
 * @list: result
 * @err: reason of a failure
 *
 * Every hop except the first leaf is named. The last SID is the probe SID of
 * the host that @out starts from.
 *
 * Return: 0, -EINVAL if the paths do not form a loop or a node has no CSID,
 * -E2BIG.
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
