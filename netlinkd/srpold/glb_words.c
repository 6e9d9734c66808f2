// SPDX-License-Identifier: GPL-2.0
/*
 * Cables by the hash that hosts agree on, and which host may report on which
 * cable.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glb.h"
#include "srpold.h"

/**
 * struct known - a cable and its hash
 * @hash: glb_hash() of its name
 * @cable: number of the cable
 */
struct known {
	uint64_t hash;
	uint32_t cable;
};

static uint64_t *cables;		/* glb_hash() of each */
static struct known *by_name;		/* sorted by hash: peers name many */
static uint32_t n_cables;

static int by_hash(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

/**
 * glb_words_start() - index the cables by hash
 * @engine: the engine
 *
 * Return: 0 or -ENOMEM.
 */
int glb_words_start(const struct engine *engine)
{
	const struct srpol_fabric *f = engine->fabric;
	const char *a, *b, *first;
	char name[LINK_NAME_LEN];
	uint32_t i;

	glb_words_stop();
	cables = calloc(engine->links.n + 1, sizeof(*cables));
	by_name = calloc(engine->links.n + 1, sizeof(*by_name));
	if (!cables || !by_name) {
		glb_words_stop();
		return -ENOMEM;
	}
	n_cables = engine->links.n;
	for (i = 0; i < n_cables; i++) {
		a = f->nodes[f->links[2 * i].from].name;
		b = f->nodes[f->links[2 * i].to].name;
		/* topology files may have the two ends in any order */
		first = strcmp(a, b) < 0 ? a : b;
		snprintf(name, sizeof(name), "%s %s", first,
			 first == a ? b : a);
		cables[i] = glb_hash(name);
		by_name[i] = (struct known){ cables[i], i };
	}
	qsort(by_name, n_cables, sizeof(*by_name), by_hash);
	return 0;
}

/**
 * glb_words_stop() - free the index
 */
void glb_words_stop(void)
{
	free(cables);
	free(by_name);
	cables = NULL;
	by_name = NULL;
	n_cables = 0;
}

/**
 * glb_words_cable() - find a cable by its hash
 * @hash: glb_hash() of its name
 *
 * Return: its number, SRPOL_NONE if there is none.
 */
uint32_t glb_words_cable(uint64_t hash)
{
	const struct known want = { .hash = hash }, *known;

	known = n_cables ? bsearch(&want, by_name, n_cables, sizeof(want),
				   by_hash) : NULL;
	return known ? known->cable : SRPOL_NONE;
}

/**
 * glb_words_near() - whether a cable is the host's own, or an uplink of its
 * leaf
 * @engine: the engine
 * @cable: number of the cable
 * @host: node of the host
 */
bool glb_words_near(const struct engine *engine, uint32_t cable, uint32_t host)
{
	const struct srpol_fabric *f = engine->fabric;
	const struct srpol_link *link = &f->links[2 * cable];
	uint32_t i;

	if (link->from == host || link->to == host)
		return true;
	/* a cable of another host may be reported by that host only */
	if (f->nodes[link->from].tier == SRPOL_TIER_HOST ||
	    f->nodes[link->to].tier == SRPOL_TIER_HOST)
		return false;
	for (i = 0; i < f->n_nics; i++)
		if (f->nics[i].host == host &&
		    (f->nics[i].leaf == link->from ||
		     f->nics[i].leaf == link->to))
			return true;
	return false;
}

/**
 * glb_words_own() - words of the hosts of this namespace
 * @engine: the engine
 * @hosts: nodes of the hosts
 * @n_hosts: number of hosts
 * @words: result, with room for GLB_WORDS_MAX
 *
 * Return: number of words.
 */
uint32_t glb_words_own(const struct engine *engine, const uint32_t *hosts,
		       uint32_t n_hosts, struct glb_word *words)
{
	uint32_t i, k, percent, n = 0;

	for (i = 0; i < n_cables && n < GLB_WORDS_MAX; i++) {
		percent = quality_percent(&engine->links.cables[i].quality);
		for (k = 0; percent < 100 && k < n_hosts; k++) {
			if (!glb_words_near(engine, i, hosts[k]))
				continue;
			words[n++] = (struct glb_word){ cables[i], percent };
			break;
		}
	}
	return n;
}
