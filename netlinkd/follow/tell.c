// SPDX-License-Identifier: GPL-2.0
/*
 * What a host writes to the store: which epoch it has applied, and its report.
 * Both keys are deleted when the host's lease expires.
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

static char *ack_text(const struct follow *f)
{
	json_t *o = json_pack("{s:I, s:s}", "epoch",
			      (json_int_t)f->acked.epoch, "digest",
			      f->acked.digest);
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
		f->told_said = 0;
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
	if (f->number && f->said != f->told_said) {
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
	/*
	 * Until @now is on the disk, that is the plan before it: the engine waits for no
	 * host of which there is no acknowledgement, and a lease may be new.
	 */
	if (f->acked.epoch) {
		ack = ack_text(f);
		snprintf(ack_key, sizeof(ack_key), "ack/%s/%s",
			 f->config.shard, node_name(f, f->host));
		put[txn.n_put++] = (struct store_put){
			.key = ack_key, .value = ack, .len = strlen(ack),
			.lease = f->lease,
		};
	}
	f->told = f->tell;
	f->told_said = f->said;
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
		f->told_said = 0;
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
	f->said = 1;
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
