// SPDX-License-Identifier: GPL-2.0
/*
 * What a host writes to the store: which epoch it has applied, and which links
 * carry less than they should. Both keys are deleted when the host's lease
 * expires. A link that got worse is reported at once, one that got better only
 * after it has stayed better for damp_ns.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"
#include "log.h"

#define NS_PER_SEC	1000000000ull
#define AGAIN_NS	500000000ull
#define RETRY_MIN_NS	100000000ull
#define RETRY_MAX_NS	5000000000ull

static void tell(struct follow *f);

static const char *node_name(const struct follow *f, uint32_t node)
{
	return f->fabric->nodes[node].name;
}

static char *report_text(const struct follow *f)
{
	const struct srpol_link *link;
	const struct follow_link *said;
	json_t *links = json_array(), *o;
	char *text;

	vec_for_each(said, &f->links) {
		link = &f->fabric->links[2 * said->cable];
		json_array_append_new(links, json_pack("{s:s, s:s, s:I}",
			"from", node_name(f, link->from),
			"to", node_name(f, link->to),
			"capacity", (json_int_t)said->capacity));
	}
	o = json_pack("{s:I, s:o}", "number", (json_int_t)f->number, "links",
		      links);
	text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(o);
	return text ?: (abort(), NULL);
}

static char *ack_text(const struct follow *f)
{
	json_t *o = json_pack("{s:I, s:s}", "epoch",
			      (json_int_t)f->now->head.epoch, "digest",
			      f->now->head.digest);
	char *text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);

	json_decref(o);
	return text ?: (abort(), NULL);
}

/* Time between two renewals of the lease. */
static uint64_t keep_every(const struct follow *f)
{
	return f->config.lease_s * NS_PER_SEC / 3;
}

/*
 * A failed transaction is repeated after the lease was renewed, because a lost
 * lease may be the reason for the failure; so is a renewal that has failed. The
 * wait is limited so that, even with jitter, a quarter of the lease is left for the
 * retry.
 */
static void retry(struct follow *f)
{
	uint64_t most = keep_every(f) / 2;

	if (most > RETRY_MAX_NS)
		most = RETRY_MAX_NS;
	f->retry_ns = f->retry_ns ? 2 * f->retry_ns : RETRY_MIN_NS;
	if (f->retry_ns > most)
		f->retry_ns = most;
	alarm_stop(&f->keep);
	alarm_set(&f->keep, mirror_jitter(f->retry_ns));
}

static void told(void *data, const struct store_reply *reply)
{
	struct follow *f = data;

	f->telling = false;
	if (reply->error || !reply->succeeded) {
		f->told = 0;
		f->told_number = 0;
		f->stats.retries++;
		retry(f);
		return;
	}
	f->retry_ns = 0;
	if (f->told != f->tell)
		tell(f);
}

static void tell(struct follow *f)
{
	char ack_key[STORE_KEY_LEN], link_key[STORE_KEY_LEN];
	char *report = NULL, *ack = NULL;
	struct store_put put[2];
	struct store_txn txn = { .put = put };

	if (f->telling || !f->lease || f->told == f->tell)
		return;
	if (f->number != f->told_number) {
		report = report_text(f);
		snprintf(link_key, sizeof(link_key), "link/%s/%s/%s",
			 f->config.shard, node_name(f, f->leaves[0]),
			 node_name(f, f->host));
		put[txn.n_put++] = (struct store_put){
			.key = link_key, .value = report,
			.len = strlen(report), .lease = f->lease,
		};
		f->stats.reports++;
	}
	if (f->now) {
		ack = ack_text(f);
		snprintf(ack_key, sizeof(ack_key), "ack/%s/%s",
			 f->config.shard, node_name(f, f->host));
		put[txn.n_put++] = (struct store_put){
			.key = ack_key, .value = ack, .len = strlen(ack),
			.lease = f->lease,
		};
	}
	f->told = f->tell;
	f->told_number = f->number;
	if (txn.n_put) {
		f->telling = true;
		f->store.ops->txn(&f->store, &txn, told, f);
	}
	free(report);
	free(ack);
}

/**
 * tell_soon() - the report or acknowledgement has changed; send it
 * @f: follower
 */
void tell_soon(struct follow *f)
{
	f->tell++;
	tell(f);
}

static void kept(void *data, const struct store_reply *reply)
{
	struct follow *f = data;

	f->keeping = false;
	if (reply->error) {
		if (f->lease)
			retry(f);
		return;
	}
	/* what was refused, and is told below, has pauses of its own */
	if (f->told == f->tell)
		f->retry_ns = 0;
	if (reply->lease != f->lease) {
		/* a new lease, or none: the keys have to be written again */
		f->lease = reply->lease;
		f->told = 0;
		f->told_number = 0;
		f->tell++;
		if (!f->lease) {
			alarm_stop(&f->keep);
			alarm_set(&f->keep, mirror_jitter(AGAIN_NS));
		}
	}
	tell(f);
	telling_go_on(&f->load);
	telling_go_on(&f->demand);
}

static void keep(void *data)
{
	struct follow *f = data;

	alarm_set(&f->keep, mirror_jitter(f->lease ? keep_every(f) : AGAIN_NS));
	if (f->keeping) {
		tell(f);
		return;
	}
	f->keeping = true;
	f->store.ops->lease(&f->store, f->config.lease_s, f->lease, kept, f);
}

/**
 * tell_start() - request a lease and keep renewing it
 * @f: follower
 */
void tell_start(struct follow *f)
{
	f->keep = (struct alarm)ALARM_INIT(keep, f);
	f->tell = 1;
	keep(f);
}

/**
 * tell_stop() - stop renewing the lease; the keys are deleted with it
 * @f: follower
 */
void tell_stop(struct follow *f)
{
	alarm_stop(&f->keep);
}

static const struct follow_link *find(const struct follow_link *links, size_t n,
				      uint32_t cable)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (links[i].cable == cable)
			return &links[i];
	return NULL;
}

/* Has a link that is better than last reported stayed so for damp_ns? */
static bool is_settled(struct follow *f, struct follow_link *reported)
{
	uint64_t now = now_ns();

	if (!reported->better_ns)
		reported->better_ns = now;
	return now - reported->better_ns >= f->config.damp_ns;
}

static bool take_known(struct follow *f, const struct follow_link *links,
		       size_t n)
{
	struct follow_link *r = f->links.data;
	const struct follow_link *is;
	bool changed = false;
	uint64_t capacity;
	size_t i;

	for (i = 0; i < f->links.n;) {
		is = find(links, n, r[i].cable);
		capacity = is ? is->capacity : UINT64_MAX;
		if (capacity == r[i].capacity) {
			r[i].better_ns = 0;
		} else if (capacity < r[i].capacity ||
			   is_settled(f, &r[i])) {
			changed = true;
			r[i].better_ns = 0;
			if (is)
				r[i].capacity = capacity;
			else
				r[i--] = r[--f->links.n];
		}
		i++;
	}
	return changed;
}

/**
 * follow_report() - update the link report from what the host knows now
 * @f: follower
 * @links: cables that carry less than they should
 * @n: number of @links
 *
 * Call it periodically even when nothing has changed: an improvement is only
 * reported by a later call, when it has lasted for damp_ns.
 *
 * Return: whether there is something new to report.
 */
bool follow_report(struct follow *f, const struct follow_link *links,
		   size_t n)
{
	uint64_t seen = f->now ? f->now->seen : 0;
	bool changed = take_known(f, links, n);
	struct follow_link *new;
	size_t i;

	for (i = 0; i < n; i++) {
		if (find(f->links.data, f->links.n, links[i].cable))
			continue;
		new = vec_add(&f->links);
		*new = links[i];
		new->better_ns = 0;
		changed = true;
	}
	if (!changed)
		return false;
	f->number = (f->number > seen ? f->number : seen) + 1;
	last_save(f);
	tell_soon(f);
	return true;
}

/**
 * follow_overrides() - does the host report a cable that its plan has not seen?
 * @f: follower
 * @cable: index of the cable
 *
 * Return: true if the cable is in the host's report, and the plan in force does
 * not take the latest report into account yet.
 */
bool follow_overrides(const struct follow *f, uint32_t cable)
{
	if (!f->now || f->now->seen >= f->number)
		return false;
	return find(f->links.data, f->links.n, cable);
}
