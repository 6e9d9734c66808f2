// SPDX-License-Identifier: LGPL-2.1
/*
 * Builds a fabric piece by piece. Each piece is checked when it is added.
 * Conditions that concern the fabric as a whole are checked by
 * srpol_fabric_finish().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"
#include "srpol_lib.h"

#define NAMES_MIN	64

/* FNV-1a hash. */
static uint32_t name_hash(const char *name)
{
	uint32_t h = 2166136261u;

	while (*name)
		h = (h ^ (uint8_t)*name++) * 16777619u;
	return h;
}

/* The slot of a name, or the free slot where it would be inserted. */
static uint32_t *name_slot(const struct srpol_fabric *f, const char *name)
{
	uint32_t i = name_hash(name) & f->names_mask;

	while (f->names[i] != SRPOL_NONE &&
	       strcmp(f->nodes[f->names[i]].name, name))
		i = (i + 1) & f->names_mask;
	return &f->names[i];
}

/* Grows the hash table so that it is at most half full with one more name. */
static int names_grow(struct srpol_fabric *f)
{
	uint32_t size = f->names ? f->names_mask + 1 : 0, i;
	uint32_t *names;

	if (2 * (f->n_nodes + 1) <= size)
		return 0;
	size = size ? 2 * size : NAMES_MIN;
	names = malloc(size * sizeof(*names));
	if (!names)
		return -ENOMEM;
	memset(names, 0xff, size * sizeof(*names));
	free(f->names);
	f->names = names;
	f->names_mask = size - 1;
	for (i = 0; i < f->n_nodes; i++)
		*name_slot(f, f->nodes[i].name) = i;
	return 0;
}

/* Makes sure that an array of @n entries has room for one more. */
static int room_grow(void **array, uint32_t *room, uint32_t n, size_t size)
{
	uint32_t want = *room ? 2 * *room : 64;
	void *to;

	if (n < *room)
		return 0;
	if (n >= UINT32_MAX / 4)
		return -ENOMEM;
	to = realloc(*array, want * size);
	if (!to)
		return -ENOMEM;
	*array = to;
	*room = want;
	return 0;
}

/**
 * srpol_fabric_new() - make an empty fabric
 *
 * Until srpol_fabric.sids is changed, End is ::1, End.DT46 is ::d6 and the
 * probe SID is ::d0 after the locator, and there are no compressed SIDs.
 *
 * Return: the fabric, to be freed; NULL without memory.
 */
struct srpol_fabric *srpol_fabric_new(void)
{
	struct srpol_fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	if (names_grow(f)) {
		free(f);
		return NULL;
	}
	f->sids.end.s6_addr[15] = 0x01;
	f->sids.decap.s6_addr[15] = 0xd6;
	f->sids.probe.s6_addr[15] = 0xd0;
	return f;
}

/**
 * srpol_fabric_free() - free a fabric
 * @f: may be NULL
 */
void srpol_fabric_free(struct srpol_fabric *f)
{
	if (!f)
		return;
	free(f->nodes);
	free(f->links);
	free(f->nics);
	free(f->gpus);
	free(f->addrs);
	free(f->up);
	free(f->down);
	free(f->names);
	free(f->functions);
	free(f);
}

/**
 * srpol_fabric_bytes() - memory that a fabric uses, in bytes
 * @f: the fabric
 */
size_t srpol_fabric_bytes(const struct srpol_fabric *f)
{
	return sizeof(*f) + f->room_nodes * sizeof(*f->nodes) +
	       f->room_links * sizeof(*f->links) +
	       f->room_nics * sizeof(*f->nics) +
	       f->room_functions * sizeof(*f->functions) +
	       f->n_gpus * sizeof(*f->gpus) +
	       f->n_nics * sizeof(*f->addrs) +
	       f->n_links * sizeof(*f->up) +
	       ((size_t)f->names_mask + 1) * sizeof(*f->names);
}

/**
 * srpol_fabric_node() - find a node by name
 * @f: fabric
 * @name: name of the node
 *
 * O(1).
 *
 * Return: number of the node, SRPOL_NONE if there is none.
 */
uint32_t srpol_fabric_node(const struct srpol_fabric *f, const char *name)
{
	return *name_slot(f, name);
}

/**
 * srpol_fabric_bits_behind() - has a prefix bits behind its length?
 * @prefix: address
 * @len: its length, up to 128
 */
bool srpol_fabric_bits_behind(const struct in6_addr *prefix, uint32_t len)
{
	for (; len < 128; len++)
		if (prefix->s6_addr[len / 8] & 0x80 >> len % 8)
			return true;
	return false;
}

/**
 * srpol_fabric_add_node() - add a host or switch
 * @f: fabric that is being built
 * @node: name, tier, pod, plane, colors, locator, csid
 * @err: reason of a failure
 *
 * Return: number of the node, -EEXIST if the name is taken, -EINVAL, -ENOMEM.
 */
int srpol_fabric_add_node(struct srpol_fabric *f, const struct srpol_node *node,
			  struct srpol_error *err)
{
	size_t len = strnlen(node->name, SRPOL_NAME_LEN);

	if (!len || len == SRPOL_NAME_LEN)
		return srpol_error_set(err, -EINVAL,
				       "name of 1 to %d characters wanted",
				       SRPOL_NAME_LEN - 1);
	if (srpol_fabric_node(f, node->name) != SRPOL_NONE)
		return srpol_error_set(err, -EEXIST, "name \"%s\" is taken",
				       node->name);
	if (node->tier >= SRPOL_TIERS)
		return srpol_error_set(err, -EINVAL, "no such tier");
	if (node->locator_len < 1 || node->locator_len > 112)
		return srpol_error_set(err, -EINVAL,
				       "locator of 1 to 112 bits wanted");
	if (srpol_fabric_bits_behind(&node->locator, node->locator_len))
		return srpol_error_set(err, -EINVAL, "bits behind the locator");
	if (room_grow((void **)&f->nodes, &f->room_nodes, f->n_nodes,
		      sizeof(*f->nodes)) || names_grow(f))
		return srpol_error_set(err, -ENOMEM, "no memory");
	*name_slot(f, node->name) = f->n_nodes;
	f->nodes[f->n_nodes] = *node;
	return f->n_nodes++;
}

static int link_check(const struct srpol_fabric *f,
		      const struct srpol_link *link, struct srpol_error *err)
{
	if (link->from >= f->n_nodes || link->to >= f->n_nodes)
		return srpol_error_set(err, -EINVAL, "no such node");
	if (f->nodes[link->to].tier != f->nodes[link->from].tier + 1)
		return srpol_error_set(err, -EINVAL,
				       "%s and %s are not in adjacent tiers, lower one first",
				       f->nodes[link->from].name,
				       f->nodes[link->to].name);
	if (!link->rate || link->rate > SRPOL_RATE_MAX)
		return srpol_error_set(err, -EINVAL,
				       "rate of 1 to 2^50 bit/s wanted");
	if (!link->cables || link->cables > SRPOL_CABLES_MAX)
		return srpol_error_set(err, -EINVAL, "1 to %d cables wanted",
				       SRPOL_CABLES_MAX);
	return 0;
}

static int link_add(struct srpol_fabric *f, const struct srpol_link *link,
		    struct srpol_error *err)
{
	struct srpol_link *to;
	int rc;

	rc = link_check(f, link, err);
	if (rc)
		return rc;
	if (room_grow((void **)&f->links, &f->room_links, f->n_links + 1,
		      sizeof(*f->links)))
		return srpol_error_set(err, -ENOMEM, "no memory");
	to = &f->links[f->n_links];
	to[0] = *link;
	to[1] = *link;
	to[1].from = link->to;
	to[1].to = link->from;
	f->n_links += 2;
	return f->n_links - 2;
}

/**
 * srpol_fabric_add_link() - connect two switches, in both directions
 * @f: fabric that is being built
 * @link: link from the lower to the upper switch
 * @err: reason of a failure
 *
 * Parallel cables are one link, whose number of cables is srpol_link.cables.
 *
 * Return: number of the upward link; the downward link has the next number.
 * -EINVAL, -ENOMEM.
 */
int srpol_fabric_add_link(struct srpol_fabric *f,
			  const struct srpol_link *link,
			  struct srpol_error *err)
{
	if (link->from < f->n_nodes &&
	    f->nodes[link->from].tier == SRPOL_TIER_HOST)
		return srpol_error_set(err, -EINVAL,
				       "%s is a host: it has NICs, not links",
				       f->nodes[link->from].name);
	return link_add(f, link, err);
}

/**
 * srpol_fabric_add_nic() - attach a host to a leaf
 * @f: fabric that is being built
 * @nic: name, rail, plane, address, gateway
 * @link: link from the host to the leaf
 * @err: reason of a failure
 *
 * Return: number of the NIC, valid until srpol_fabric_finish() sorts NICs;
 * -EINVAL, -ENOMEM.
 */
int srpol_fabric_add_nic(struct srpol_fabric *f, const struct srpol_nic *nic,
			 const struct srpol_link *link,
			 struct srpol_error *err)
{
	size_t len = strnlen(nic->name, SRPOL_NAME_LEN);
	struct srpol_nic *to;
	int rc;

	if (!len || len == SRPOL_NAME_LEN)
		return srpol_error_set(err, -EINVAL,
				       "name of 1 to %d characters wanted",
				       SRPOL_NAME_LEN - 1);
	if (nic->rail >= SRPOL_RAILS_MAX || nic->plane >= SRPOL_PLANES_MAX)
		return srpol_error_set(err, -EINVAL,
				       "rail below %d, plane below %d wanted",
				       SRPOL_RAILS_MAX, SRPOL_PLANES_MAX);
	if (link->from < f->n_nodes &&
	    f->nodes[link->from].tier != SRPOL_TIER_HOST)
		return srpol_error_set(err, -EINVAL, "%s is not a host",
				       f->nodes[link->from].name);
	if (room_grow((void **)&f->nics, &f->room_nics, f->n_nics,
		      sizeof(*f->nics)))
		return srpol_error_set(err, -ENOMEM, "no memory");
	rc = link_add(f, link, err);
	if (rc < 0)
		return rc;
	to = &f->nics[f->n_nics];
	*to = *nic;
	to->host = link->from;
	to->leaf = link->to;
	to->link = rc;
	return f->n_nics++;
}
