// SPDX-License-Identifier: GPL-2.0
/*
 * Switches of a tier are grouped into blocks of neighbors, at most BLOCKS_MAX
 * of them, so that the amount sent and drawn is bounded regardless of the size
 * of the fabric. Links of a block are sent on request.
 */
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "web.h"

#define BLOCKS_MAX	256
#define LINKS_MAX	1024	/* listed for a block */
#define HOSTS_MAX	256	/* listed for a block */

static const char * const tier_names[SRPOL_TIERS] = {
	[SRPOL_TIER_LEAF] = "leaf",
	[SRPOL_TIER_SPINE] = "spine",
	[SRPOL_TIER_SUPER] = "super",
};

static struct view_tier tiers[SRPOL_TIERS];
static uint32_t *block_of;	/* by node: its block in its tier */

/**
 * struct block - summary of a group of switches
 * @links: number of links to the tier above, or below if there is none above
 * @down: number of all their links that carry nothing
 * @reduced: number of all their links that carry less than they should
 * @bits: bits planned for @links, both directions
 * @rate: bit/s that @links can carry
 * @worst: seconds for which the busiest of them is busy
 * @used: share of capacity that the busiest of them carries, as measured
 * @hosts: number of attached hosts
 * @acked: hosts that have applied the epoch in force, if this engine leads
 * @behind: hosts that have applied another epoch, likewise
 * @tenants: bit set, see view_tenants_at()
 */
struct block {
	uint32_t links;
	uint32_t down;
	uint32_t reduced;
	double bits;
	double rate;
	double worst;
	double used;
	uint32_t hosts;
	uint32_t acked;
	uint32_t behind;
	uint32_t tenants;
};

static void index_nodes(void)
{
	const struct srpol_fabric *f = fabricd.fabric;
	struct view_tier *t;
	uint32_t i, tier;

	block_of = store_alloc((f->n_nodes + 1) * sizeof(*block_of));
	for (tier = SRPOL_TIER_LEAF; tier < SRPOL_TIERS; tier++)
		tiers[tier].nodes = store_alloc((f->n_nodes + 1) *
						sizeof(*tiers[tier].nodes));
	for (i = 0; i < f->n_nodes; i++) {
		t = &tiers[f->nodes[i].tier];
		if (t->nodes)
			t->nodes[t->n++] = i;
	}
	for (t = tiers; t < tiers + SRPOL_TIERS; t++) {
		t->per = (t->n + BLOCKS_MAX - 1) / BLOCKS_MAX;
		t->blocks = t->per ? (t->n + t->per - 1) / t->per : 0;
		for (i = 0; i < t->n; i++)
			block_of[t->nodes[i]] = i / t->per;
	}
}

/**
 * view_tier() - switches of a tier
 * @tier: SRPOL_TIER_LEAF, SRPOL_TIER_SPINE or SRPOL_TIER_SUPER
 */
const struct view_tier *view_tier(enum srpol_tier tier)
{
	if (!block_of)
		index_nodes();
	return &tiers[tier];
}

/**
 * view_block_of() - number of a switch's block in its tier
 * @node: the switch
 */
uint32_t view_block_of(uint32_t node)
{
	if (!block_of)
		index_nodes();
	return block_of[node];
}

/**
 * view_node() - name of a node
 * @node: number of the node
 */
const char *view_node(uint32_t node)
{
	return fabricd.fabric->nodes[node].name;
}

static const struct srpol_link_state *state_of(uint32_t link)
{
	const struct srpol_links *links = loads_links();

	return links ? &links->links[link] : NULL;
}

static void count_state(struct block *b, uint32_t link)
{
	const struct srpol_link_state *state = state_of(link);

	if (!state)
		return;
	b->down += !state->capacity;
	b->reduced += state->capacity && state->capacity <
		      srpol_link_rate(&fabricd.fabric->links[link]);
}

/* Count a cable: @link and its opposite direction. */
static void count_cable(struct block *b, uint32_t link, const double *loads)
{
	uint32_t i;
	double s;

	b->links++;
	for (i = 0; i < 2; i++, link ^= 1) {
		b->rate += state_of(link) ? state_of(link)->capacity :
			   srpol_link_rate(&fabricd.fabric->links[link]);
		s = view_used(link);
		b->used = s > b->used ? s : b->used;
		if (!loads)
			continue;
		b->bits += 8 * loads[link];
		s = loads_seconds(loads, link);
		b->worst = s > b->worst ? s : b->worst;
	}
}

static void count_node(struct block *b, uint32_t node, const double *loads)
{
	const struct srpol_fabric *f = fabricd.fabric;
	const struct srpol_node *n = &f->nodes[node];
	uint32_t i;

	for (i = 0; i < n->up_n; i++) {
		count_state(b, srpol_node_up(f, node, i));
		count_cable(b, srpol_node_up(f, node, i), loads);
	}
	for (i = 0; i < n->down_n; i++) {
		count_state(b, srpol_node_down(f, node, i));
		if (!n->up_n)
			count_cable(b, srpol_node_down(f, node, i), loads);
	}
	b->tenants |= view_tenants_at(node);
}

/*
 * Count hosts by block of leaves. NICs are sorted by host; @mark is the last
 * host counted for a block.
 */
static void count_hosts(struct block *leaves)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t *mark = store_alloc((BLOCKS_MAX + 1) * sizeof(*mark)), i, b;

	for (i = 0; i < f->n_nics; i++) {
		b = view_block_of(f->nics[i].leaf);
		leaves[b].hosts += mark[b] != f->nics[i].host + 1;
		mark[b] = f->nics[i].host + 1;
	}
	free(mark);
}

static void count_ack(struct block *leaves, const struct ack *ack,
		      uint32_t host)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t i, b, last = SRPOL_NONE;

	for (i = 0; i < f->nodes[host].up_n; i++) {
		b = view_block_of(f->links[srpol_node_up(f, host, i)].to);
		if (b == last)
			continue;
		last = b;
		if (ack->epoch == plan_epoch())
			leaves[b].acked++;
		else
			leaves[b].behind++;
	}
}

static void count_acks(struct block *leaves)
{
	const struct ack *ack;
	uint32_t host;

	if (!plan_in_force(NULL))
		return;
	vec_for_each(ack, &fabricd.acks) {
		if (!ack->epoch || !ack_is_of_host(ack))
			continue;
		host = srpol_fabric_node(fabricd.fabric, ack->host);
		count_ack(leaves, ack, host);
	}
}

static json_t *block_json(const struct view_tier *t, uint32_t i,
			  const struct block *b, enum srpol_tier tier)
{
	uint32_t first = i * t->per, n = t->n - first;
	const struct srpol_node *node =
		&fabricd.fabric->nodes[t->nodes[first]];
	json_t *o;

	n = n < t->per ? n : t->per;
	o = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:I}",
		      "name", node->name,
		      "n", (json_int_t)n,
		      "pod", (json_int_t)node->pod,
		      "plane", (json_int_t)node->plane,
		      "links", (json_int_t)b->links,
		      "down", (json_int_t)b->down,
		      "reduced", (json_int_t)b->reduced,
		      "bytes", b->bits / 8,
		      "worst_s", b->worst,
		      "mean_s", b->rate > 0 ? b->bits / b->rate : 0,
		      "used", b->used,
		      "tenants", (json_int_t)b->tenants);
	if (n > 1)
		json_object_set_new(o, "last", json_string(
			view_node(t->nodes[first + n - 1])));
	if (tier != SRPOL_TIER_LEAF)
		return o;
	json_object_set_new(o, "hosts", json_integer(b->hosts));
	json_object_set_new(o, "acked", json_integer(b->acked));
	json_object_set_new(o, "behind", json_integer(b->behind));
	return o;
}

static json_t *tier_json(enum srpol_tier tier)
{
	const struct view_tier *t = view_tier(tier);
	struct block *blocks = store_alloc((BLOCKS_MAX + 1) * sizeof(*blocks));
	const double *loads = loads_get();
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < t->n; i++)
		count_node(&blocks[i / t->per], t->nodes[i], loads);
	if (tier == SRPOL_TIER_LEAF) {
		count_hosts(blocks);
		count_acks(blocks);
	}
	for (i = 0; i < t->blocks; i++)
		json_array_append_new(list, block_json(t, i, &blocks[i], tier));
	free(blocks);
	return json_pack("{s:s, s:I, s:I, s:o}", "tier", tier_names[tier],
			 "n", (json_int_t)t->n, "per", (json_int_t)t->per,
			 "blocks", list);
}

/**
 * view_tiers() - all tiers of switches, the highest first
 */
json_t *view_tiers(void)
{
	json_t *list = json_array();
	int tier;

	for (tier = SRPOL_TIER_SUPER; tier >= SRPOL_TIER_LEAF; tier--)
		if (view_tier(tier)->n)
			json_array_append_new(list, tier_json(tier));
	return list;
}

/* Both directions of a cable, as seen from @link. */
static json_t *cable_json(uint32_t link, const double *loads)
{
	const struct srpol_link *l = &fabricd.fabric->links[link];
	const struct srpol_link_state *out = state_of(link);
	json_t *o;

	o = json_pack("{s:s, s:s, s:I, s:I, s:f, s:f}",
		      "from", view_node(l->from),
		      "to", view_node(l->to),
		      "rate", (json_int_t)srpol_link_rate(l),
		      "capacity", (json_int_t)(out ? out->capacity :
					       srpol_link_rate(l)),
		      "out_bps", measured_rate(link),
		      "in_bps", measured_rate(link ^ 1));
	if (!loads)
		return o;
	json_object_set_new(o, "out_bytes", json_real(loads[link]));
	json_object_set_new(o, "in_bytes", json_real(loads[link ^ 1]));
	json_object_set_new(o, "out_s", json_real(loads_seconds(loads, link)));
	json_object_set_new(o, "in_s", json_real(loads_seconds(loads,
							       link ^ 1)));
	return o;
}

static void add_links(json_t *list, uint32_t node, const double *loads,
		      json_int_t *n)
{
	const struct srpol_fabric *f = fabricd.fabric;
	const struct srpol_node *at = &f->nodes[node];
	uint32_t i, link;

	for (i = 0; i < at->up_n + at->down_n; i++) {
		if (i >= at->up_n && at->tier == SRPOL_TIER_LEAF)
			return;
		link = i < at->up_n ? srpol_node_up(f, node, i) :
		       srpol_node_down(f, node, i - at->up_n);
		if ((*n)++ < LINKS_MAX)
			json_array_append_new(list, cable_json(link, loads));
	}
}

static json_t *host_json(const struct srpol_nic *nic)
{
	struct ack want = {}, *found;
	uint32_t link = nic->link;

	strcpy(want.host, view_node(nic->host));
	found = acks_find(want.host);
	return json_pack("{s:s, s:s, s:I, s:I, s:I}", "host", want.host,
			 "nic", nic->name,
			 "epoch", (json_int_t)(found ? found->epoch : 0),
			 "rate", (json_int_t)srpol_link_rate(
				 &fabricd.fabric->links[link]),
			 "capacity", (json_int_t)(state_of(link) ?
				 state_of(link)->capacity :
				 srpol_link_rate(&fabricd.fabric->links[link])));
}

static json_t *hosts_json(const struct view_tier *t, uint32_t number,
			  json_int_t *n)
{
	const struct srpol_fabric *f = fabricd.fabric;
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < f->n_nics; i++)
		if (view_block_of(f->nics[i].leaf) == number &&
		    (*n)++ < HOSTS_MAX)
			json_array_append_new(list, host_json(&f->nics[i]));
	return list;
}

/**
 * view_block() - links and hosts of a block
 * @tier: name of its tier
 * @number: its number there
 *
 * Return: JSON, NULL if there is no such block.
 */
json_t *view_block(const char *tier, uint32_t number)
{
	const double *loads = loads_get();
	json_int_t n_links = 0, n_hosts = 0;
	const struct view_tier *t;
	json_t *links, *hosts;
	uint32_t i, k;

	for (i = SRPOL_TIER_LEAF; i < SRPOL_TIERS; i++)
		if (!strcmp(tier_names[i], tier))
			break;
	if (i == SRPOL_TIERS || number >= view_tier(i)->blocks)
		return NULL;
	t = view_tier(i);
	loads_look();
	links = json_array();
	for (k = number * t->per; k < t->n && k < (number + 1) * t->per; k++)
		add_links(links, t->nodes[k], loads, &n_links);
	hosts = i == SRPOL_TIER_LEAF ? hosts_json(t, number, &n_hosts) :
		json_array();
	return json_pack("{s:s, s:I, s:o, s:I, s:o, s:I}", "tier", tier,
			 "block", (json_int_t)number, "links", links,
			 "n_links", n_links, "nics", hosts, "n_nics", n_hosts);
}

/**
 * view_blocks_free() - free the blocks
 */
void view_blocks_free(void)
{
	int tier;

	for (tier = 0; tier < SRPOL_TIERS; tier++) {
		free(tiers[tier].nodes);
		tiers[tier] = (struct view_tier){};
	}
	free(block_of);
	block_of = NULL;
}
