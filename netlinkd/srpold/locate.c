// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "locate.h"

#define ANY	UINT32_MAX

static bool takes(const struct locate_probe *probe, uint32_t link)
{
	uint32_t k;

	for (k = 0; k < probe->n; k++)
		if (probe->link[k] == link)
			return true;
	return false;
}

/*
 * For each cable, count the lost probes without explanation that it explains; only
 * those that take cable @of as well, unless that is ANY.
 */
static void count(const struct locate_probe *probes, size_t n,
		  const bool *explained, const bool *clear, uint32_t of,
		  uint32_t *votes, uint32_t n_links)
{
	size_t i;
	uint32_t k;

	memset(votes, 0, n_links * sizeof(*votes));
	for (i = 0; i < n; i++) {
		if (!probes[i].lost || explained[i] ||
		    (of != ANY && !takes(&probes[i], of)))
			continue;
		for (k = 0; k < probes[i].n; k++)
			if (!clear[probes[i].link[k]])
				votes[probes[i].link[k]]++;
	}
}

static void explain(const struct locate_probe *probes, size_t n,
		    uint32_t link, bool *explained)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (takes(&probes[i], link))
			explained[i] = true;
}

static uint32_t best_of(const uint32_t *votes, uint32_t n_links)
{
	uint32_t best = 0, i;

	for (i = 1; i < n_links; i++)
		if (votes[i] > votes[best])
			best = i;
	return best;
}

/* @votes: as far as they are for probes that the suspect explains */
static void compare(struct locate_suspect *s, const uint32_t *votes,
		    uint32_t n_links)
{
	uint32_t second = 0, i;

	for (i = 0; i < n_links; i++) {
		if (i == s->link)
			continue;
		if (votes[i] > second)
			second = votes[i];
		/* only what explains all of them cannot be told from it */
		if (votes[i] == s->explains &&
		    s->n_rivals < LOCATE_LINKS - 1)
			s->rival[s->n_rivals++] = i;
	}
	s->confidence = 100 - 100 * second / s->explains / 2;
}

/**
 * locate() - the fewest cables that explain all lost probes, found greedily
 * @probes: all probes, including those that came back
 * @n: number of probes
 * @n_links: number of cables
 * @suspects: result, the best first
 * @max: room in @suspects
 *
 * A cable over which any probe came back is not suspected, so a cable that
 * loses only some packets is found by its loss rate, not here.
 *
 * Return: number of suspects; also 0 without memory.
 */
size_t locate(const struct locate_probe *probes, size_t n, uint32_t n_links,
	      struct locate_suspect *suspects, size_t max)
{
	bool *explained = calloc(n + 1, sizeof(*explained));
	bool *clear = calloc(n_links + 1, sizeof(*clear));
	uint32_t *votes = calloc(n_links + 1, sizeof(*votes));
	uint32_t best, k;
	size_t i, found = 0;

	if (!explained || !clear || !votes)
		goto out;
	for (i = 0; i < n; i++)
		for (k = 0; !probes[i].lost && k < probes[i].n; k++)
			clear[probes[i].link[k]] = true;
	while (found < max && n_links) {
		count(probes, n, explained, clear, ANY, votes, n_links);
		best = best_of(votes, n_links);
		if (!votes[best])
			break;
		suspects[found] = (struct locate_suspect){
			.link = best, .explains = votes[best],
		};
		count(probes, n, explained, clear, best, votes, n_links);
		compare(&suspects[found++], votes, n_links);
		explain(probes, n, best, explained);
	}
out:
	free(explained);
	free(clear);
	free(votes);
	return found;
}
