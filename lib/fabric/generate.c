// SPDX-License-Identifier: LGPL-2.1
/*
 * Regular fabrics: leaf-spine, 3-tier Clos, rail-optimized, multi-plane, and
 * combinations of these, all described by one struct srpol_shape. Names tell
 * the position of a node, where x is the plane, P the pod, G the group, R the
 * rail, and H, S, T are numbers of a host, spine and super-spine:
 *
 *	hostP.G.H, leafx.P.G.R, spinex.P.S, superx.S.T
 *
 * Node superx.S.T connects the spines S of all pods of plane x.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric.h"
#include "srpol_lib.h"

#define NODES_MAX	(UINT64_C(1) << 23)
#define DELAY_DEFAULT	500	/* ns: 100 m of fiber */

/**
 * srpol_shape_leaf_spine() - shape with two tiers and one NIC per host
 * @leaves: number of leaves
 * @hosts: hosts per leaf
 * @spines: number of spines
 * @rate: bit/s of every link
 */
struct srpol_shape srpol_shape_leaf_spine(uint32_t leaves, uint32_t hosts,
					  uint32_t spines, uint64_t rate)
{
	return (struct srpol_shape){
		.pods = 1, .groups = leaves, .hosts = hosts, .rails = 1,
		.planes = 1, .spines = spines, .nic_rate = rate,
		.nic_cables = 1, .rate = rate, .cables = 1,
		.delay = DELAY_DEFAULT,
	};
}

/**
 * srpol_shape_clos() - shape with three tiers and one NIC per host
 * @pods: number of pods
 * @leaves: leaves per pod
 * @hosts: hosts per leaf
 * @spines: spines per pod
 * @supers: super-spines per spine of a pod
 * @rate: bit/s of every link
 */
struct srpol_shape srpol_shape_clos(uint32_t pods, uint32_t leaves,
				    uint32_t hosts, uint32_t spines,
				    uint32_t supers, uint64_t rate)
{
	struct srpol_shape s = srpol_shape_leaf_spine(leaves, hosts, spines,
						      rate);

	s.pods = pods;
	s.supers = supers;
	return s;
}

/**
 * srpol_shape_rail() - rail-optimized shape: NIC r of a host is attached to
 *	leaf r of its group
 * @groups: number of groups of hosts
 * @hosts: hosts per group
 * @rails: NICs per host
 * @spines: number of spines, which connect all leaves
 * @rate: bit/s of every link
 */
struct srpol_shape srpol_shape_rail(uint32_t groups, uint32_t hosts,
				    uint32_t rails, uint32_t spines,
				    uint64_t rate)
{
	struct srpol_shape s = srpol_shape_leaf_spine(groups, hosts, spines,
						      rate);

	s.rails = rails;
	return s;
}

/**
 * srpol_shape_plane() - shape with one leaf per plane, and NICs with Y-cables
 * @planes: number of planes
 * @hosts: number of hosts
 * @cable_rate: bit/s of each of the two cables of a NIC
 *
 * An example in draft-xu-rtgwg-fare-in-sun 1 has 4 planes, 64 hosts, 400
 * Gbit/s.
 */
struct srpol_shape srpol_shape_plane(uint32_t planes, uint32_t hosts,
				     uint64_t cable_rate)
{
	struct srpol_shape s = srpol_shape_leaf_spine(1, hosts, 0, cable_rate);

	s.planes = planes;
	s.nic_cables = 2;
	return s;
}

/* State while a fabric is generated. */
struct generator {
	const struct srpol_shape *shape;
	struct srpol_fabric *f;
	struct srpol_error *err;
	uint64_t csid;
};

/*
 * Locators are 5f00:TIER:NNNN:NNNN::/64, where N is the CSID; CSIDs count from
 * 1.
 */
static int make_node(struct generator *g, enum srpol_tier tier, uint32_t pod,
		     uint32_t plane, const char *name)
{
	struct srpol_node node = {
		.tier = tier, .pod = pod, .plane = plane, .colors = UINT32_MAX,
		.locator_len = 64, .csid = ++g->csid,
	};
	uint32_t i;

	snprintf(node.name, sizeof(node.name), "%s", name);
	node.locator.s6_addr[0] = 0x5f;
	node.locator.s6_addr[3] = tier;
	for (i = 0; i < 4; i++)
		node.locator.s6_addr[4 + i] = g->csid >> (24 - 8 * i);
	return srpol_fabric_add_node(g->f, &node, g->err);
}

static int make_link(struct generator *g, uint32_t from, uint32_t to)
{
	struct srpol_link link = {
		.from = from, .to = to, .rate = g->shape->rate,
		.cables = g->shape->cables, .delay = g->shape->delay,
	};

	return srpol_fabric_add_link(g->f, &link, g->err);
}

/*
 * Addresses are fd00:0:HOST:HOST:RAIL-PLANE::1, where RAIL-PLANE has one byte
 * for each; the gateway ends in ::fe.
 */
static int make_nic(struct generator *g, uint32_t host, uint32_t leaf,
		    uint32_t rail, uint32_t plane)
{
	struct srpol_link link = {
		.from = host, .to = leaf, .rate = g->shape->nic_rate,
		.cables = g->shape->nic_cables, .delay = g->shape->delay,
	};
	struct srpol_nic nic = { .rail = rail, .plane = plane };
	uint8_t *a = nic.addr.s6_addr;

	snprintf(nic.name, sizeof(nic.name), "nic%u",
		 rail * g->shape->planes + plane);
	a[0] = 0xfd;
	a[4] = host >> 24;
	a[5] = host >> 16;
	a[6] = host >> 8;
	a[7] = host;
	a[8] = rail;
	a[9] = plane;
	nic.gateway = nic.addr;
	a[15] = 1;
	nic.gateway.s6_addr[15] = 0xfe;
	return srpol_fabric_add_nic(g->f, &nic, &link, g->err);
}

static int make_spines(struct generator *g, uint32_t plane, uint32_t pod)
{
	char name[SRPOL_NAME_LEN];
	uint32_t s;
	int rc;

	for (s = 0; s < g->shape->spines; s++) {
		snprintf(name, sizeof(name), "spine%u.%u.%u", plane, pod, s);
		rc = make_node(g, SRPOL_TIER_SPINE, pod, plane, name);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * Makes the leaves of a group in one plane, and their links to the pod's
 * spines.
 */
static int make_leaves(struct generator *g, uint32_t plane, uint32_t pod,
		       uint32_t group, uint32_t first_spine)
{
	char name[SRPOL_NAME_LEN];
	uint32_t r, s;
	int leaf, rc;

	for (r = 0; r < g->shape->rails; r++) {
		snprintf(name, sizeof(name), "leaf%u.%u.%u.%u", plane, pod,
			 group, r);
		leaf = make_node(g, SRPOL_TIER_LEAF, pod, plane, name);
		if (leaf < 0)
			return leaf;
		for (s = 0; s < g->shape->spines; s++) {
			rc = make_link(g, leaf, first_spine + s);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int make_supers(struct generator *g, uint32_t plane,
		       uint32_t first_spine)
{
	const struct srpol_shape *s = g->shape;
	char name[SRPOL_NAME_LEN];
	uint32_t i, j, pod;
	int super, rc;

	for (i = 0; i < s->spines; i++) {
		for (j = 0; j < s->supers; j++) {
			snprintf(name, sizeof(name), "super%u.%u.%u", plane, i,
				 j);
			super = make_node(g, SRPOL_TIER_SUPER, 0, plane, name);
			if (super < 0)
				return super;
			for (pod = 0; pod < s->pods; pod++) {
				rc = make_link(g, first_spine + pod * s->spines
					       + i, super);
				if (rc < 0)
					return rc;
			}
		}
	}
	return 0;
}

/*
 * Makes the switches of a plane. *@first_leaf is the leaf of pod 0, group 0,
 * rail 0.
 */
static int make_plane(struct generator *g, uint32_t plane,
		      uint32_t *first_leaf)
{
	const struct srpol_shape *s = g->shape;
	uint32_t first = g->f->n_nodes, pod, group;
	int rc = 0;

	for (pod = 0; pod < s->pods && !rc; pod++)
		rc = make_spines(g, plane, pod);
	*first_leaf = g->f->n_nodes;
	for (pod = 0; pod < s->pods && !rc; pod++)
		for (group = 0; group < s->groups && !rc; group++)
			rc = make_leaves(g, plane, pod, group,
					 first + pod * s->spines);
	return rc ? rc : make_supers(g, plane, first);
}

/* Makes host number @n of the fabric, with its NICs in all planes. */
static int make_host(struct generator *g, uint32_t n,
		     const uint32_t *first_leaf)
{
	const struct srpol_shape *s = g->shape;
	uint32_t group = n / s->hosts, rail, plane;
	char name[SRPOL_NAME_LEN];
	int host, rc;

	snprintf(name, sizeof(name), "host%u.%u.%u", group / s->groups,
		 group % s->groups, n % s->hosts);
	host = make_node(g, SRPOL_TIER_HOST, group / s->groups, 0, name);
	if (host < 0)
		return host;
	for (rail = 0; rail < s->rails; rail++) {
		for (plane = 0; plane < s->planes; plane++) {
			rc = make_nic(g, host, first_leaf[plane] +
				      group * s->rails + rail, rail, plane);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int shape_check(const struct srpol_shape *s, struct srpol_error *err)
{
	const uint64_t parts[] = {
		(uint64_t)s->pods * s->groups, s->hosts,
		(uint64_t)s->rails * s->planes, s->spines, s->supers,
	};
	uint64_t groups = parts[0], switches;
	uint32_t i;

	if (!s->pods || !s->groups || !s->hosts || !s->rails || !s->planes)
		return srpol_error_set(err, -EINVAL,
				       "pods, groups, hosts, rails, planes: at least 1 each");
	if (s->rails > SRPOL_RAILS_MAX || s->planes > SRPOL_PLANES_MAX)
		return srpol_error_set(err, -EINVAL,
				       "more than %d rails or %d planes",
				       SRPOL_RAILS_MAX, SRPOL_PLANES_MAX);
	if (s->supers && !s->spines)
		return srpol_error_set(err, -EINVAL,
				       "super-spines without spines");
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i] >= NODES_MAX)
			return srpol_error_set(err, -E2BIG,
					       "more than %llu nodes",
					       (unsigned long long)NODES_MAX);
	if (groups * s->hosts >= NODES_MAX)
		return srpol_error_set(err, -E2BIG, "more than %llu hosts",
				       (unsigned long long)NODES_MAX);
	switches = groups * s->rails + (uint64_t)s->pods * s->spines +
		   (uint64_t)s->spines * s->supers;
	if (groups * s->hosts * s->rails * s->planes >= NODES_MAX ||
	    switches * s->planes >= NODES_MAX ||
	    groups * s->rails * s->planes * s->spines >= NODES_MAX ||
	    (uint64_t)s->planes * s->pods * s->spines * s->supers >= NODES_MAX)
		return srpol_error_set(err, -E2BIG,
				       "more than %llu nodes or links",
				       (unsigned long long)NODES_MAX);
	return 0;
}

/**
 * srpol_fabric_generate() - build a regular fabric
 * @shape: parameters of the fabric
 * @err: reason of a failure
 *
 * GPUs are sorted by host and rail: the number of a GPU is host * rails + rail,
 * counting hosts from 0. Compressed SIDs have 16 bits, or 32 if 16 are too few.
 *
 * Return: finished fabric, to be freed; NULL for an invalid shape, or without
 * memory.
 */
struct srpol_fabric *srpol_fabric_generate(const struct srpol_shape *shape,
					   struct srpol_error *err)
{
	uint32_t first_leaf[SRPOL_PLANES_MAX], hosts, i;
	struct generator g = { .shape = shape, .err = err };
	int rc;

	if (shape_check(shape, err))
		return NULL;
	g.f = srpol_fabric_new();
	if (!g.f) {
		srpol_error_set(err, -ENOMEM, "no memory");
		return NULL;
	}
	hosts = shape->pods * shape->groups * shape->hosts;
	for (i = 0, rc = 0; i < shape->planes && rc >= 0; i++)
		rc = make_plane(&g, i, &first_leaf[i]);
	for (i = 0; i < hosts && rc >= 0; i++)
		rc = make_host(&g, i, first_leaf);
	g.f->sids.block.s6_addr[0] = 0xfc;
	g.f->sids.block.s6_addr[1] = 0xbb;
	g.f->sids.block.s6_addr[2] = 0xbb;
	g.f->sids.block_len = SRPOL_BLOCK_LEN_DEFAULT;
	g.f->sids.csid_len = g.csid < 0xffff ? SRPOL_CSID_LEN_DEFAULT : 32;
	if (rc >= 0)
		rc = srpol_fabric_finish(g.f, err);
	if (rc < 0) {
		srpol_fabric_free(g.f);
		return NULL;
	}
	return g.f;
}
