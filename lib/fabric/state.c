// SPDX-License-Identifier: LGPL-2.1
/*
 * Link states, which change at run time: capacity and quality of each directed
 * link.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

/**
 * srpol_link_rate() - total rate of a link's cables, in bit/s
 * @link: the link
 */
uint64_t srpol_link_rate(const struct srpol_link *link)
{
	return link->rate * link->cables;
}

/**
 * srpol_links_new() - link states with all links up and of best quality
 * @f: finished fabric
 *
 * Return: link states to be freed, NULL without memory.
 */
struct srpol_links *srpol_links_new(const struct srpol_fabric *f)
{
	struct srpol_links *s = calloc(1, sizeof(*s));
	uint32_t i;

	if (!s)
		return NULL;
	s->n = f->n_links;
	s->links = calloc(s->n + 1, sizeof(*s->links));
	if (!s->links) {
		free(s);
		return NULL;
	}
	for (i = 0; i < s->n; i++) {
		s->links[i].capacity = srpol_link_rate(&f->links[i]);
		s->links[i].quality = SRPOL_QUALITY_BEST;
	}
	return s;
}

/**
 * srpol_links_copy() - copy link states
 * @s: link states
 *
 * What-if questions change the copy instead of the original.
 *
 * Return: link states to be freed, NULL without memory.
 */
struct srpol_links *srpol_links_copy(const struct srpol_links *s)
{
	struct srpol_links *to = malloc(sizeof(*to));

	if (!to)
		return NULL;
	*to = *s;
	to->links = malloc((s->n + 1) * sizeof(*s->links));
	if (!to->links) {
		free(to);
		return NULL;
	}
	memcpy(to->links, s->links, s->n * sizeof(*s->links));
	return to;
}

/**
 * srpol_links_free() - free link states
 * @s: may be NULL
 */
void srpol_links_free(struct srpol_links *s)
{
	if (!s)
		return;
	free(s->links);
	free(s);
}

/**
 * srpol_links_nic_rate() - rate at which one NIC can send to another one, as
 *	far as the NICs limit it
 * @f: finished fabric
 * @s: link states
 * @src: sending NIC
 * @dst: receiving NIC
 *
 * Return: bit/s, 0 if the link of one NIC is down.
 */
uint64_t srpol_links_nic_rate(const struct srpol_fabric *f,
			      const struct srpol_links *s, uint32_t src,
			      uint32_t dst)
{
	uint64_t out = s->links[f->nics[src].link].capacity;
	uint64_t in = s->links[f->nics[dst].link ^ 1].capacity;

	return out < in ? out : in;
}

/**
 * srpol_links_set_capacity() - change the capacity of a link
 * @s: link states
 * @link: directed link
 * @capacity: bit/s, 0: down
 *
 * Return: 1 if this changes the state, 0 if not, -EINVAL if the link does not
 * exist or no link can have that capacity.
 */
int srpol_links_set_capacity(struct srpol_links *s, uint32_t link,
			     uint64_t capacity)
{
	if (link >= s->n || capacity > SRPOL_RATE_MAX * SRPOL_CABLES_MAX)
		return -EINVAL;
	if (s->links[link].capacity == capacity)
		return 0;
	s->links[link].capacity = capacity;
	s->version++;
	return 1;
}

/**
 * srpol_links_set_cables() - set the number of a link's cables that are up, in
 *	both directions
 * @f: fabric
 * @s: link states
 * @link: number of either direction
 * @up: number of cables that are up
 *
 * Return: 1 if this changes the state, 0 if not, -EINVAL if the link does not
 * exist or has fewer cables.
 */
int srpol_links_set_cables(const struct srpol_fabric *f, struct srpol_links *s,
			   uint32_t link, uint32_t up)
{
	uint64_t capacity;
	int a, b;

	if (link >= s->n || up > f->links[link].cables)
		return -EINVAL;
	capacity = f->links[link].rate * up;
	a = srpol_links_set_capacity(s, link, capacity);
	b = srpol_links_set_capacity(s, link ^ 1, capacity);
	return a < 0 ? a : a | b;
}

/**
 * srpol_links_set_quality() - change the measured quality of a link
 * @s: link states
 * @link: directed link
 * @quality: 0 to SRPOL_QUALITY_BEST
 *
 * Return: 1 if this changes the state, 0 if not, -EINVAL if the link does not
 * exist or the quality is out of range.
 */
int srpol_links_set_quality(struct srpol_links *s, uint32_t link,
			    uint32_t quality)
{
	if (link >= s->n || quality > SRPOL_QUALITY_BEST)
		return -EINVAL;
	if (s->links[link].quality == quality)
		return 0;
	s->links[link].quality = quality;
	s->version++;
	return 1;
}
