// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "linkstate.h"

#define SUSPECTS_MAX	16

static const char * const names[] = {
	[LINK_TOPOLOGY] = "topology",
	[LINK_DEVICE] = "device",
	[LINK_FEED] = "feed",
	[LINK_OPERATOR] = "operator",
};

/**
 * link_source_name() - name of a source
 * @source: enum link_source
 */
const char *link_source_name(enum link_source source)
{
	return names[source];
}

/**
 * linkstate_source() - source whose capacity counts
 * @ls: link-state DB
 * @cable: number of the cable
 */
enum link_source linkstate_source(const struct linkstate *ls, uint32_t cable)
{
	enum link_source source = LINK_OPERATOR;

	while (source && !(ls->cables[cable].said & 1u << source))
		source--;
	return source;
}

/* Capacity times quality; a link that is up keeps at least 1 bit/s. */
static void update(struct linkstate *ls, uint32_t cable)
{
	const struct link_info *info = &ls->cables[cable];
	uint64_t capacity = info->capacity[linkstate_source(ls, cable)];
	uint32_t percent = quality_percent(&info->quality);
	uint64_t used = capacity / 100 * percent;
	uint32_t i;

	if (capacity && !used)
		used = 1;
	for (i = 2 * cable; i < 2 * cable + 2; i++) {
		srpol_links_set_capacity(ls->links, i, used);
		srpol_links_set_quality(ls->links, i, percent < info->heard ?
					percent : info->heard);
	}
}

/**
 * linkstate_init() - initial state: the topology's capacities, best quality
 * @ls: result
 * @fabric: topology, which must outlive the DB
 * @now: time
 *
 * Return: 0 or -ENOMEM.
 */
int linkstate_init(struct linkstate *ls, const struct srpol_fabric *fabric,
		   uint64_t now)
{
	uint32_t i;

	ls->fabric = fabric;
	ls->n = fabric->n_links / 2;
	ls->cables = calloc(ls->n + 1, sizeof(*ls->cables));
	ls->links = srpol_links_new(fabric);
	if (!ls->cables || !ls->links) {
		linkstate_free(ls);
		return -ENOMEM;
	}
	for (i = 0; i < ls->n; i++)
		ls->cables[i].heard = 100;
	for (i = 0; i < ls->n; i++)
		linkstate_say(ls, i, LINK_TOPOLOGY,
			      srpol_link_rate(&fabric->links[2 * i]), now);
	return 0;
}

/**
 * linkstate_free() - free a DB
 * @ls: the DB
 */
void linkstate_free(struct linkstate *ls)
{
	free(ls->cables);
	srpol_links_free(ls->links);
	*ls = (struct linkstate){};
}

/**
 * linkstate_say() - a source gives a cable's capacity
 * @ls: link-state DB
 * @cable: number of the cable
 * @source: the source
 * @capacity: bit/s, 0: down
 * @now: time
 */
void linkstate_say(struct linkstate *ls, uint32_t cable,
		   enum link_source source, uint64_t capacity, uint64_t now)
{
	struct link_info *info = &ls->cables[cable];

	if (info->said & 1u << source && info->capacity[source] == capacity)
		return;
	info->said |= 1u << source;
	info->capacity[source] = capacity;
	info->since_ns[source] = now;
	update(ls, cable);
}

/**
 * linkstate_unsay() - a source withdraws its capacity
 * @ls: link-state DB
 * @cable: number of the cable
 * @source: any but LINK_TOPOLOGY
 */
void linkstate_unsay(struct linkstate *ls, uint32_t cable,
		     enum link_source source)
{
	ls->cables[cable].said &= ~(1u << source);
	update(ls, cable);
}

/**
 * linkstate_hear() - other hosts report a cable's quality
 * @ls: link-state DB
 * @cable: number of the cable
 * @percent: percentage of it to be used, 100: no reports
 *
 * Return: true if the percentage changed.
 */
bool linkstate_hear(struct linkstate *ls, uint32_t cable, uint32_t percent)
{
	if (ls->cables[cable].heard == percent)
		return false;
	ls->cables[cable].heard = percent;
	update(ls, cable);
	return true;
}

static void carry(struct linkstate *ls, uint32_t cable, const struct link_info *from,
		  enum link_source source)
{
	if (from->said & 1u << source)
		linkstate_say(ls, cable, source, from->capacity[source], from->since_ns[source]);
}

/**
 * linkstate_carry() - keep what the operator and the feed said, and the measured quality
 * @ls: new DB, as linkstate_init() left it
 * @old: the previous DB, possibly of another topology
 * @feed: the feed is the same as before: until it can be read what it said holds
 */
void linkstate_carry(struct linkstate *ls, const struct linkstate *old, bool feed)
{
	const struct srpol_link *link;
	uint32_t i, from, to, is;

	for (i = 0; i < old->n; i++) {
		link = &old->fabric->links[2 * i];
		from = srpol_fabric_node(ls->fabric,
					 old->fabric->nodes[link->from].name);
		to = srpol_fabric_node(ls->fabric,
				       old->fabric->nodes[link->to].name);
		if (from == SRPOL_NONE || to == SRPOL_NONE)
			continue;
		is = srpol_fabric_link(ls->fabric, from, to);
		if (is == SRPOL_NONE)
			continue;
		ls->cables[is / 2].quality = old->cables[i].quality;
		carry(ls, is / 2, &old->cables[i], LINK_OPERATOR);
		if (feed)
			carry(ls, is / 2, &old->cables[i], LINK_FEED);
		update(ls, is / 2);
	}
}

/*
 * Rate cables by the results in @probes: cables of a good probe are cleared,
 * cables that explain bad probes get @bad.
 */
static void blame(const struct locate_probe *probes, size_t n, uint32_t cables,
		  enum quality_word bad, enum quality_word *of_cable)
{
	struct locate_suspect suspects[SUSPECTS_MAX];
	size_t found, i;
	uint32_t k;

	for (i = 0; i < n; i++)
		for (k = 0; !probes[i].lost && k < probes[i].n; k++)
			of_cable[probes[i].link[k]] = QUALITY_GOOD;
	found = locate(probes, n, cables, suspects, SUSPECTS_MAX);
	for (i = 0; i < found; i++)
		of_cable[suspects[i].link] = bad;
}

/*
 * A probe whose result is unsure neither clears a cable nor makes it suspect.
 */
static void add_sure(const struct locate_probe *probe, enum quality_word word,
		     struct locate_probe *sure, size_t *n)
{
	if (word == QUALITY_UNSURE)
		return;
	sure[*n] = *probe;
	sure[(*n)++].lost = word != QUALITY_GOOD;
}

/**
 * linkstate_judge() - find cables that work badly, and step the quality of all
 * @ls: link-state DB
 * @probes: links of the probes
 * @words: results of the interval for each probe
 * @n: number of probes
 * @config: when a link works badly
 *
 * As with failures, the cables that work badly are the fewest that explain all
 * bad probes and that no good probe took; this is done for loss, delay and
 * marks separately.
 */
void linkstate_judge(struct linkstate *ls, const struct locate_probe *probes,
		     const struct quality_words *words, size_t n,
		     const struct quality_config *config)
{
	enum quality_word *loss = calloc(ls->n + 1, sizeof(*loss));
	enum quality_word *delay = calloc(ls->n + 1, sizeof(*delay));
	enum quality_word *marks = calloc(ls->n + 1, sizeof(*marks));
	struct locate_probe *sure = calloc(n + 1, sizeof(*sure));
	size_t i, kept = 0;

	if (!loss || !delay || !marks || !sure)
		goto out;
	for (i = 0; i < n; i++)
		add_sure(&probes[i], words[i].loss, sure, &kept);
	blame(sure, kept, ls->n, QUALITY_LOSS, loss);
	for (i = kept = 0; i < n; i++)
		add_sure(&probes[i], words[i].delay, sure, &kept);
	blame(sure, kept, ls->n, QUALITY_DELAY, delay);
	for (i = kept = 0; i < n; i++)
		add_sure(&probes[i], words[i].marks, sure, &kept);
	blame(sure, kept, ls->n, QUALITY_MARKS, marks);
	for (i = 0; i < ls->n; i++)
		if (quality_step(&ls->cables[i].quality,
				 quality_all((struct quality_words){
					loss[i], delay[i], marks[i] }),
				 config))
			update(ls, i);
out:
	free(loss);
	free(delay);
	free(marks);
	free(sure);
}
