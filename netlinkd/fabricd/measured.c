// SPDX-License-Identifier: GPL-2.0
/*
 * Loads of links as measured by hosts: the sum over all hosts, updated with
 * each message, so that reading it costs nothing. Messages come over the bus if
 * there is one, otherwise from the store. A host's loads end some time after
 * its last message, or with its lease. They are not an input of the plan.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fabricd.h"
#include "hear.h"
#include "srpol_lib.h"

#define FORGET_NS	(30 * NS_PER_SEC)	/* hosts repeat their loads
						 * every 10 s */
#define LOADS_MAX	1024	/* for one host, see follow.h */

/**
 * struct load - load that a host puts on a link
 * @link: directed link
 * @kbps: kbit/s
 */
struct load {
	uint32_t link;
	uint32_t kbps;
};

/**
 * struct told - the last message of a host
 * @host: node of the host
 * @mod: revision of the message
 * @heard: when it was received, if it came on the bus
 * @rest: kbit/s on links that it did not list
 * @loads: struct load
 * @stale: not yet seen in the read that is under way
 */
struct told {
	uint32_t host;
	uint64_t mod;
	uint64_t heard;
	uint64_t rest;
	struct vec loads;
	bool stale;
};

static void forget_old(void *data);
static struct alarm forget = ALARM_INIT(forget_old, NULL);
static uint64_t *sums;		/* kbit/s by directed link */
static struct vec all = VEC_INIT(struct told);
static uint64_t refused;
static struct hearing hearing;

static void free_one(void *data)
{
	struct told *t = data;
	const struct load *load;

	vec_for_each(load, &t->loads)
		sums[load->link] -= load->kbps;
	vec_free(&t->loads);
}

static struct sweep sweep = {
	.list = &all, .stale = offsetof(struct told, stale), .free = free_one,
};

static int by_host(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	return (x->host > y->host) - (x->host < y->host);
}

static struct told *find(uint32_t host)
{
	struct told want = { .host = host };

	return all.n ? bsearch(&want, all.data, all.n, sizeof(want),
			       by_host) : NULL;
}

/* Whether a host may send over a link, which must not be another host's. */
static bool may_send(uint32_t host, uint32_t link)
{
	uint32_t from = fabricd.fabric->links[link].from;

	return from == host ||
	       fabricd.fabric->nodes[from].tier != SRPOL_TIER_HOST;
}

/* Links are in ascending order, so none occurs twice. */
static int read_one(const json_t *pair, uint32_t host, struct vec *loads,
		    struct srpol_error *err)
{
	const struct load *last = loads->n ?
		(struct load *)loads->data + loads->n - 1 : NULL;
	json_int_t link, kbps;

	if (json_unpack((json_t *)pair, "[I, I !]", &link, &kbps) ||
	    kbps < 0 || kbps > UINT32_MAX)
		return srpol_error_set(err, -EINVAL, "a link has its number and kbit/s");
	if (link < (last ? (json_int_t)last->link + 1 : 0) ||
	    link >= fabricd.fabric->n_links)
		return srpol_error_set(err, -EINVAL,
				       "links are not those of the topology, in ascending order");
	if (!may_send(host, link))
		return srpol_error_set(err, -EINVAL, "link %u is one of another host",
				       (uint32_t)link);
	*(struct load *)vec_add(loads) = (struct load){
		.link = link, .kbps = kbps,
	};
	return 0;
}

static int read_told(const struct store_kv *kv, struct told *t,
		     struct srpol_error *err)
{
	json_t *o = json_loadb(kv->value, kv->len, JSON_REJECT_DUPLICATES,
			       NULL), *links;
	const char *topology;
	json_int_t rest = 0;
	int ret = 0;
	size_t i;

	t->loads = (struct vec)VEC_INIT(struct load);
	if (t->host == SRPOL_NONE)
		ret = srpol_error_set(err, -EINVAL,
				      "the topology has no such host below that leaf");
	else if (json_unpack(o, "{s:s, s:o, s:I !}", "topology", &topology,
			     "links", &links, "rest", &rest) ||
		 !json_is_array(links) || rest < 0)
		ret = srpol_error_set(err, -EINVAL,
				      "a load is JSON with \"topology\", \"links\" and \"rest\"");
	else if (strcmp(topology, fabricd.topology))
		ret = srpol_error_set(err, -EINVAL, "the host has another topology");
	else if (json_array_size(links) > LOADS_MAX)
		ret = srpol_error_set(err, -E2BIG, "it has more than %u links", LOADS_MAX);
	for (i = 0; !ret && i < json_array_size(links); i++)
		ret = read_one(json_array_get(links, i), t->host, &t->loads, err);
	t->rest = rest;
	json_decref(o);
	return ret;
}

static void count_refusal(const struct store_kv *kv, const struct srpol_error *err)
{
	if (!mirror_is_news(&hearing.mirror, kv))
		return;
	/* log only some of many: the 1st, 2nd, 4th, 8th... */
	if (!(refused & (refused + 1)))
		log_notice("%s: wrong load, it does not count: %s", kv->key, err->text);
	refused++;
}

static void set(void *data, const struct store_kv *kv)
{
	struct told new = {
		.host = hear_host(kv->key, NULL), .mod = kv->mod, .heard = now_ns(),
	};
	struct told *t = find(new.host);
	struct srpol_error err = {};
	const struct load *load;

	if (t)
		t->stale = false;
	if (t && t->mod == kv->mod)
		return;
	if (!kv->value) {
		if (t)
			sweep_remove(&sweep, t);
		return;
	}
	if (read_told(kv, &new, &err)) {
		vec_free(&new.loads);
		count_refusal(kv, &err);
		/* what the host said before is no longer valid */
		if (t)
			sweep_remove(&sweep, t);
		return;
	}
	vec_for_each(load, &new.loads)
		sums[load->link] += load->kbps;
	if (t) {
		free_one(t);
		*t = new;
		return;
	}
	vec_insert(&all, &new, by_host);
}

static void end(void *data)
{
	sweep_gone(data);
}

static struct hearing hearing = { .set = set, .end = end };

static void forget_old(void *data)
{
	uint64_t now = now_ns();
	struct told *t;

	vec_for_each(t, &all)
		t->stale = now - t->heard > FORGET_NS;
	sweep_gone(&sweep);
	alarm_set(&forget, FORGET_NS / 3);
}

/**
 * measured_hosts() - number of hosts whose loads are known
 */
size_t measured_hosts(void)
{
	return all.n;
}

/**
 * measured_refused() - number of invalid messages
 */
uint64_t measured_refused(void)
{
	return refused + hearing.strange;
}

/**
 * measured_rest() - bit/s on links that hosts did not list, sum over all links
 */
double measured_rest(void)
{
	const struct told *t;
	double rest = 0;

	vec_for_each(t, &all)
		rest += 1000.0 * t->rest;
	return rest;
}

/**
 * measured_rate() - load of a link as measured
 * @link: directed link
 *
 * Return: bit/s.
 */
double measured_rate(uint32_t link)
{
	return 1000.0 * sums[link];
}

/* Links between switches only: no plan decides what a NIC carries. */
static bool counts(uint32_t link)
{
	const struct srpol_fabric *f = fabricd.fabric;

	return f->nodes[f->links[link].from].tier != SRPOL_TIER_HOST &&
	       f->nodes[f->links[link].to].tier != SRPOL_TIER_HOST;
}

/**
 * measured_shares() - sum up planned and measured load between switches
 * @loads: planned bytes by directed link, NULL: none
 * @shares: result
 */
void measured_shares(const double *loads, struct measured_shares *shares)
{
	uint32_t i;

	*shares = (struct measured_shares){};
	for (i = 0; i < fabricd.fabric->n_links; i++) {
		if (!counts(i))
			continue;
		shares->planned += loads ? loads[i] : 0;
		shares->measured += measured_rate(i);
	}
	if (!(shares->planned > 0) || !(shares->measured > 0))
		return;
	shares->comparable = true;
	for (i = 0; i < fabricd.fabric->n_links; i++)
		if (counts(i))
			shares->off_plan += fabs(loads[i] / shares->planned -
				measured_rate(i) / shares->measured) / 2;
}

/**
 * measured_share_of() - a link's shares of these sums
 * @loads: planned bytes by directed link, NULL: none
 * @shares: result of measured_shares()
 * @link: directed link
 * @planned: result: share of the planned load
 * @measured: result: share of the measured load
 *
 * Return: whether the link is one between switches.
 */
bool measured_share_of(const double *loads,
		       const struct measured_shares *shares, uint32_t link,
		       double *planned, double *measured)
{
	*planned = loads && shares->planned > 0 ?
		   loads[link] / shares->planned : 0;
	*measured = shares->measured > 0 ?
		    measured_rate(link) / shares->measured : 0;
	return counts(link);
}

/**
 * measured_start() - start receiving measured loads
 * @err: message on failure
 */
int measured_start(struct srpol_error *err)
{
	int ret;

	sums = store_alloc((fabricd.fabric->n_links + 1) * sizeof(*sums));
	ret = hear_start(&hearing, "load", &sweep, err);
	if (!ret && hearing.bus)
		alarm_set(&forget, FORGET_NS / 3);
	return ret;
}

/**
 * measured_stop() - stop receiving measured loads
 */
void measured_stop(void)
{
	if (!sums)
		return;
	hear_stop(&hearing);
	alarm_stop(&forget);
	while (all.n)
		sweep_remove(&sweep, (struct told *)all.data + all.n - 1);
	vec_free(&all);
	free(sums);
	sums = NULL;
}
