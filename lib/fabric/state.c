// SPDX-License-Identifier: LGPL-2.1
/*
 * What changes while a fabric runs: capacity and quality per directed link.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

/**
 * srpol_link_rate() - bit/s of a link with all its cables
 * @link: the link
 */
uint64_t srpol_link_rate(const struct srpol_link *link)
{
	return link->rate * link->cables;
}

/**
 * srpol_links_new() - all links up, of best quality
 * @f: finished fabric
 *
 * Return: the state, NULL without memory.
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
 * srpol_links_copy() - a state to change without the other, for what-if
 * @s: the other
 *
 * Return: the copy, NULL without memory.
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
 * srpol_links_free() - end of a state
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
 * srpol_links_nic_rate() - what two NICs can carry from one to the other
 * @f: finished fabric
 * @s: state
 * @src: NIC
 * @dst: NIC
 *
 * Return: bit/s, 0 if the link of one of them is down.
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
 * srpol_links_set_capacity() - a link has another capacity, or is down
 * @s: state
 * @link: directed link
 * @capacity: bit/s, 0: down
 *
 * Return: 1 if that is a change, 0 if not, -EINVAL for no such link or more
 * than a link can have.
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
 * srpol_links_set_cables() - some of a link's cables are down, both ways
 * @f: fabric
 * @s: state
 * @link: either direction
 * @up: cables that are up
 *
 * Return: 1 if that is a change, 0 if not, -EINVAL.
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
 * srpol_links_set_quality() - what was measured
 * @s: state
 * @link: directed link
 * @quality: 0 to SRPOL_QUALITY_BEST
 *
 * Return: 1 if that is a change, 0 if not, -EINVAL.
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
