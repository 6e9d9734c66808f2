// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"
#include "log.h"
#include "srpol_lib.h"

#define POLL_NS		30000000000ull
#define AGAIN_NS	200000000ull

/**
 * follow_plan_free() - free a plan
 * @plan: plan, may be NULL
 */
void follow_plan_free(struct follow_plan *plan)
{
	uint32_t i;

	if (!plan)
		return;
	srpol_index_free(&plan->index);
	free(plan->index_text);
	for (i = 0; i < plan->n_pages; i++) {
		srpol_page_free(&plan->page[i]);
		free(plan->page_text[i]);
	}
	for (i = 0; i < plan->n; i++)
		free(plan->chunk[i]);
	srpol_plan_free(plan->plan);
	free(plan);
}

/* Fetch the latest head that arrived; older ones are skipped. */
static void next_wanted(struct follow *f)
{
	if (!f->wanted_rev || f->next)
		return;
	f->next = store_alloc(sizeof(*f->next));
	f->next->head = f->wanted;
	f->next->cluster = f->cluster;
	f->next_mod = f->wanted_mod;
	f->next_rev = f->wanted_rev;
	f->wanted_rev = 0;
	fetch_start(f);
}

static bool is_news(struct follow *f, const struct srpol_head *head)
{
	const struct srpol_head *now = f->now ? &f->now->head : NULL;

	/* epochs of different stores cannot be compared */
	if (!now || f->now->cluster != f->cluster)
		return true;
	if (head->epoch == now->epoch && head->term == now->term &&
	    !strcmp(head->digest, now->digest))
		return false;
	if (head->epoch > now->epoch && head->term >= now->term)
		return true;
	f->stats.replayed++;
	log_notice("head of epoch %llu, term %llu is not newer than epoch %llu, term %llu",
		   (unsigned long long)head->epoch,
		   (unsigned long long)head->term,
		   (unsigned long long)now->epoch,
		   (unsigned long long)now->term);
	return false;
}

static void begin(void *data, uint64_t cluster)
{
	struct follow *f = data;

	if (f->cluster && f->cluster != cluster) {
		f->stats.resets++;
		f->done_mod = 0;
	}
	f->cluster = cluster;
}

/* @revision: a revision of the store at which @kv was the current head. */
static void take_head(struct follow *f, const struct store_kv *kv,
		      uint64_t revision)
{
	struct srpol_head head;
	struct srpol_error err;

	/* the head was deleted: the plan in force stays in force */
	if (!kv->value)
		return;
	/* this head was decided on already or is being fetched */
	if (kv->mod <= f->done_mod ||
	    (f->next && f->next->cluster == f->cluster &&
	     kv->mod <= f->next_mod))
		return;
	if (srpol_head_read(kv->value, kv->len, &head, &err)) {
		f->stats.bad_head++;
		f->done_mod = kv->mod;
		log_notice("%s", err.text);
		return;
	}
	if (!is_news(f, &head)) {
		f->done_mod = kv->mod;
		return;
	}
	f->wanted = head;
	f->wanted_mod = kv->mod;
	f->wanted_rev = revision;
	next_wanted(f);
}

static void set(void *data, const struct store_kv *kv)
{
	struct follow *f = data;

	take_head(f, kv, kv->mod > f->mirror.revision ? kv->mod :
		  f->mirror.revision);
}

static void end(void *data)
{
}

static void acknowledge(struct follow *f, struct srpol_head head)
{
	f->acked = head;
	tell_soon(f);
}

/* The plan in @f->next is complete and verified: apply it. */
static void apply(struct follow *f)
{
	struct follow_plan *plan = f->next;
	int ret;

	ret = f->apply(f->data, plan);
	f->next = NULL;
	if (ret) {
		/* try again when the head is read the next time */
		f->done_mod = 0;
		f->stats.failed++;
		/* who refuses it says why, and once */
		log_debug("epoch %llu could not be applied: %s",
			  (unsigned long long)plan->head.epoch, strerror(-ret));
		follow_plan_free(plan);
		return;
	}
	f->stats.applied++;
	log_info("epoch %llu of %s applied",
		 (unsigned long long)plan->head.epoch, plan->index.alg);
	follow_plan_free(f->now);
	f->now = plan;
	f->put = last_save(f);
	if (!f->put) {
		f->saving = 0;
		acknowledge(f, plan->head);
	} else if (!f->saving) {
		f->saving = f->put;
		f->awaited = plan->head;
	}
}

/*
 * A plan is acknowledged once it is on the disk, or cannot be. One that is waited for
 * is not forgotten for those that come meanwhile: if these come faster than the disk
 * writes, nothing would ever be acknowledged.
 */
static void saved(void *data)
{
	struct follow *f = data;
	struct srpol_head head = f->awaited;

	if (!f->saving || !saver_has(f->saver, f->saving))
		return;
	if (saver_has(f->saver, f->put)) {
		f->saving = 0;
		head = f->now->head;
	} else {
		f->saving = f->put;
		f->awaited = f->now->head;
	}
	acknowledge(f, head);
}

/**
 * follow_fetched() - fetching has ended, successfully or not
 * @f: follower; next->plan is set if the plan is complete and verified
 * @decided: the outcome is final; this head is not fetched again
 */
void follow_fetched(struct follow *f, bool decided)
{
	/* a revision of an earlier store means nothing in this one */
	if (decided && f->next->cluster == f->cluster)
		f->done_mod = f->next_mod;
	if (f->next->plan) {
		apply(f);
	} else {
		follow_plan_free(f->next);
		f->next = NULL;
	}
	next_wanted(f);
}

static void got_head(void *data, const struct store_reply *reply)
{
	struct follow *f = data;

	if (reply->error)
		follow_again(f);
	else if (reply->n)
		take_head(f, &reply->kvs[0], reply->revision);
}

static void read_again(void *data)
{
	struct follow *f = data;

	f->store.ops->range(&f->store, f->head_key, false, 0, got_head, f);
}

/**
 * follow_again() - read the head again soon, because a read failed
 * @f: follower
 */
void follow_again(struct follow *f)
{
	alarm_set(&f->again, mirror_jitter(AGAIN_NS));
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void find_leaves(struct follow *f)
{
	uint32_t i, k = 0;

	f->n_leaves = 0;
	for (i = 0; i < f->fabric->n_nics; i++)
		if (f->fabric->nics[i].host == f->host &&
		    f->n_leaves < FOLLOW_LEAVES)
			f->leaves[f->n_leaves++] = f->fabric->nics[i].leaf;
	qsort(f->leaves, f->n_leaves, sizeof(f->leaves[0]), by_number);
	for (i = 0; i < f->n_leaves; i++)
		if (!i || f->leaves[i] != f->leaves[i - 1])
			f->leaves[k++] = f->leaves[i];
	f->n_leaves = k;
}

/* The bus is connected (again); earlier messages may have been lost. */
static void on_bus(void *data)
{
	struct follow *f = data;

	telling_again(&f->load);
	telling_again(&f->demand);
}

static int open_bus(struct follow *f, struct srpol_error *err)
{
	struct bus_user user = {
		.name = f->fabric->nodes[f->host].name,
		.connected = on_bus, .data = f,
	};

	if (!f->config.bus.servers.n)
		return 0;
	return bus_open(&f->config.bus, &user, &f->bus, err);
}

static int open_all(struct follow *f, struct srpol_error *err)
{
	int ret = store_open(&f->store, &f->config.store, err);

	if (ret)
		return ret;
	ret = open_bus(f, err);
	if (ret)
		store_close(&f->store);
	return ret;
}

/**
 * follow_start() - start to follow the plans of the shard
 * @f: @config, @fabric, @host, @apply and @data are set, all else is zero
 * @err: error message
 *
 * The plan saved on disk, or on its way there, is applied at once, if there is one
 * that is valid for this topology.
 *
 * Return: 0 or a negative errno.
 */
int follow_start(struct follow *f, struct srpol_error *err)
{
	char *text = srpol_topology_text(f->fabric);
	int ret;

	if (!text)
		return -ENOMEM;
	srpol_digest(text, strlen(text), f->topology);
	free(text);
	if (f->config.file[0]) {
		f->saver = saver_open(f->config.file, saved, f);
		if (!f->saver)
			return srpol_error_set(err, -errno, "%s: no way to learn when it is saved: %s",
					       f->config.file, strerror(errno));
	}
	report_init(f);
	load_init(f);
	demand_init(f);
	f->again = (struct alarm)ALARM_INIT(read_again, f);
	find_leaves(f);
	snprintf(f->head_key, sizeof(f->head_key), "plan/%s/head",
		 f->config.shard);
	ret = open_all(f, err);
	if (ret) {
		report_free(f);
		saver_close(f->saver);
		return ret;
	}
	last_load(f);
	f->mirror = (struct mirror){
		.store = &f->store, .key = f->head_key, .poll_ns = POLL_NS,
		.begin = begin, .set = set, .end = end, .data = f,
	};
	mirror_start(&f->mirror);
	tell_start(f);
	return 0;
}

/**
 * follow_stop() - stop following; the applied plan stays applied
 * @f: started, or all zero
 *
 * Nobody waits for the disk: before the process ends, savers_end() does.
 */
void follow_stop(struct follow *f)
{
	if (!f->store.ops)
		return;
	telling_stop(&f->load);
	telling_stop(&f->demand);
	bus_close(f->bus);
	tell_stop(f);
	alarm_stop(&f->again);
	mirror_stop(&f->mirror);
	store_close(&f->store);
	follow_plan_free(f->next);
	follow_plan_free(f->now);
	report_free(f);
	vec_free(&f->loads);
	srpol_forecasts_free(&f->demands);
	saver_close(f->saver);
	*f = (struct follow){};
}
