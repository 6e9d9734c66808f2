// SPDX-License-Identifier: GPL-2.0
/*
 * Steps of the leader for reservations. Each is a transaction that compares the
 * leader's term and cap/SHARD:
 *
 * - when all hosts have acknowledged an epoch, their earlier weights are freed
 * - a reservation whose time is over, or whose job was deleted, ends
 * - if links carry less, it moves to other links or is lost, which is recorded, as is
 *   the loss of what is not of this topology
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "srpol_lib.h"
#include "tenants.h"

#define CHANGES_MAX	((STORE_PUTS_MAX - 1) / 2)
#define CHANGES_BYTES	(STORE_TXN_MAX - STORE_VALUE_MAX)	/* one more fits */
#define SOON_NS		(1 * NS_PER_MS)
#define AGAIN_NS	(200 * NS_PER_MS)
#define CHANGED_NS	(20 * NS_PER_MS)

static void ring(void *data);
static void go_on(void *data);
static struct alarm soon = ALARM_INIT(ring, NULL);
static struct alarm in_time = ALARM_INIT(ring, NULL);
static struct alarm again = ALARM_INIT(go_on, NULL);
static bool writing;
static struct vec written = VEC_INIT(struct step);	/* or about to be; without texts */

/*
 * Epochs start again in another store. Until a host has followed, it acknowledges one of the
 * store that was lost, which may be higher than any of this one.
 */
static bool has_applied(const struct ack *ack, uint64_t epoch)
{
	return ack->epoch >= epoch && ack->epoch <= fabricd.epoch.index.epoch;
}

/* Have all hosts applied an epoch? */
static bool all_applied(uint64_t epoch)
{
	const struct ack *ack;

	vec_for_each(ack, &fabricd.acks)
		if (ack->epoch && !has_applied(ack, epoch))
			return false;
	return acks_ready();
}

/**
 * settle_awaited() - a host that has to acknowledge what was changed
 *
 * Return: the name of one of them, NULL: none, or this engine does not lead.
 */
const char *settle_awaited(void)
{
	const struct reservation *r;
	const struct ack *ack;

	vec_for_each(r, reservations_all()) {
		if (!record_is_moving(r) || r->waits || !r->epoch)
			continue;
		vec_for_each(ack, &fabricd.acks)
			if (ack->epoch && !has_applied(ack, r->epoch))
				return ack->host;
	}
	return NULL;
}

/**
 * settle_add() - add a change
 * @changes: list that it is added to
 * @r: the reservation
 * @text: its new value, which is freed later; NULL: the key is deleted
 *
 * Return: the change, valid until the next one is added.
 */
struct step *settle_add(struct vec *changes, const struct reservation *r,
			  char *text)
{
	struct step *c = vec_add(changes);

	key_reservation(c->key, r->tenant, r->job);
	c->text = text;
	return c;
}

/**
 * settle_say() - set what is logged of a change once it is written
 * @c: the change
 * @fmt: as for printf()
 *
 * It may be refused, and be found again with what has changed meanwhile.
 */
void settle_say(struct step *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(c->said, sizeof(c->said), fmt, args);
	va_end(args);
}

/**
 * settle_has_room() - whether one transaction can have more changes
 * @changes: list of changes
 *
 * Those that it has no room for are found again after it. A store that refuses a
 * transaction for its size would refuse it for ever, and planning waits for it.
 */
bool settle_has_room(const struct vec *changes)
{
	const struct step *c;
	size_t bytes = 0;

	vec_for_each(c, changes)
		bytes += c->text ? strlen(c->text) : 0;
	return changes->n < CHANGES_MAX && bytes < CHANGES_BYTES;
}

/* The second step: hosts use @weights and no longer @before. */
static void free_before(const struct reservation *r, struct vec *changes)
{
	struct reservation now = *r;

	now.before = NULL;
	now.guaranteed_before = 0;
	now.settled = now.weights != NULL;
	settle_add(changes, r, r->ends ? NULL : record_write(&now));
}

static void end_it(const struct reservation *r, struct vec *changes,
		   bool with_job)
{
	struct reservation now = record_changed(r, r->guaranteed, NULL);
	struct step *c;

	now.ends = true;
	c = settle_add(changes, r, now.before ? record_write(&now) : NULL);
	if (with_job)
		key_job(c->job_key, r->tenant, r->job);
	settle_say(c, "reservation of job %s/%s ends: %s", r->tenant, r->job,
		   with_job ? "its time is over" : "its job is gone or another one");
}

/* The job's key was deleted or changed by a program other than an engine. */
static bool is_orphan(const struct reservation *r)
{
	char key[STORE_KEY_LEN];
	const struct input *job;

	if (inputs_jobs_revision() < r->create)
		return false;
	job = inputs_job(key_job(key, r->tenant, r->job));
	return !job || job->spoiled || job->len != strlen(r->job_text) ||
	       memcmp(job->text, r->job_text, job->len);
}

/* Find steps due to time, jobs and acknowledgements. */
static void find_steps(struct vec *changes)
{
	const struct reservation *r;
	uint64_t now = time(NULL);

	vec_for_each(r, reservations_all()) {
		if (!settle_has_room(changes))
			return;
		if (record_is_moving(r) && !r->waits) {
			if (r->epoch && all_applied(r->epoch))
				free_before(r, changes);
		} else if (is_orphan(r)) {
			end_it(r, changes, false);
		} else if (r->unwritten) {
			settle_add(changes, r, r->ends ? NULL : record_write(r));
		} else if (r->until && r->until <= now) {
			end_it(r, changes, true);
		}
	}
}

static void move(const struct reservation *r,
		 const struct srpol_settlement *s, struct vec *changes)
{
	bool moves = s->what == SRPOL_SETTLED_MOVED;
	const struct srpol_link *link;
	struct reservation now;
	struct step *c;

	now = record_changed(r, moves ? s->rate : r->guaranteed,
			     s->offer.weights);
	now.lost[0] = '\0';
	if (!moves) {
		link = s->offer.link == SRPOL_NONE ? NULL :
		       &fabricd.fabric->links[s->offer.link];
		snprintf(now.lost, sizeof(now.lost), link ?
			 "link %.40s to %.40s has %.6gG left" : "no path is up",
			 link ? node_name(link->from) : "",
			 link ? node_name(link->to) : "",
			 s->offer.left / 1e9);
	}
	c = settle_add(changes, r, record_write(&now));
	c->what = s->what;
	if (moves)
		settle_say(c, "reservation of job %s/%s moves, with %.6gG",
			   r->tenant, r->job, s->rate / 1e9);
	else
		settle_say(c, "reservation of job %s/%s is lost: %s", r->tenant,
			   r->job, now.lost);
}

/* Find steps due to links. */
static int find_moves(const struct srpol_links *links, struct vec *changes)
{
	struct srpol_links *part = reservable(links);
	const struct reservation *r = reservations_all()->data;
	struct srpol_settlement *s;
	struct srpol_ledger ledger = {};
	uint32_t i;
	int ret;

	s = calloc(reservations_all()->n + 1, sizeof(*s));
	ret = part && s ? reservations_ledger(part, &ledger) : -ENOMEM;
	ret = ret ?: srpol_ledger_settle(&ledger, s);
	for (i = 0; i < ledger.n && !ret; i++)
		if (s[i].what && !r[i].ends && settle_has_room(changes))
			move(&r[i], &s[i], changes);
	if (!ret)
		srpol_settlements_free(s, ledger.n);
	ledger_free(&ledger);
	srpol_links_free(part);
	free(s);
	return ret;
}

/* Whether a transaction was refused because another engine leads. */
static bool is_fenced(const struct store_reply *reply)
{
	char leader[STORE_KEY_LEN];
	size_t i;

	key_leader(leader);
	for (i = 0; i < reply->n; i++)
		if (!strcmp(reply->kvs[i].key, leader))
			return reply->kvs[i].create != fabricd.term;
	return true;
}

static void go_on(void *data)
{
	writing = false;
	settle_soon();
	plan_soon();
}

static void tell_written(void)
{
	const struct step *c;

	vec_for_each(c, &written) {
		fabricd.stats.moved += c->what == SRPOL_SETTLED_MOVED;
		fabricd.stats.lost += c->what == SRPOL_SETTLED_LOST;
		if (c->said[0])
			log_notice("%s", c->said);
	}
}

static void wrote(void *data, const struct store_reply *reply)
{
	fabricd.stats.unsure += reply->error && !reply->refused;
	if (reply->error)
		log_info("steps of reservations: %s; they are tried again", reply->text);
	/* of an earlier term, whose end it says nothing new about */
	if ((uintptr_t)data != fabricd.term)
		return;
	/* a store that refuses connections would be asked all the time */
	if (reply->error) {
		alarm_set(&again, AGAIN_NS);
		return;
	}
	if (reply->succeeded) {
		tell_written();
		go_on(NULL);
	} else if (is_fenced(reply)) {
		leader_fenced();
		go_on(NULL);
	} else {
		/* what changed meanwhile arrives as an event; a watch may be silent */
		reservations_look();
		alarm_set(&again, CHANGED_NS);
	}
}

static void write_changes(const struct vec *changes)
{
	char leader[STORE_KEY_LEN], cap[STORE_KEY_LEN];
	struct store_compare compare[] = {
		{ .key = key_leader(leader), .created = true,
		  .revision = fabricd.term },
		{ .key = key_cap(cap), .revision = reservations_cap() },
	};
	struct store_put put[STORE_PUTS_MAX] = {};
	struct store_txn txn = { .compare = compare, .n_compare = 2,
				 .put = put };
	char *text = reservations_cap_text(0);
	const struct step *c;

	vec_for_each(c, changes) {
		put[txn.n_put++] = (struct store_put){
			.key = c->key, .value = c->text,
			.len = c->text ? strlen(c->text) : 0,
		};
		if (c->job_key[0])
			put[txn.n_put++].key = c->job_key;
	}
	put[txn.n_put++] = (struct store_put){
		.key = cap, .value = text, .len = strlen(text),
	};
	writing = true;
	fabricd.store.ops->txn(&fabricd.store, &txn, wrote,
			       (void *)(uintptr_t)fabricd.term);
	free(text);
}

/**
 * settle() - find and write the next steps
 * @links: state of links
 *
 * Return: whether something is being written, so that planning has to wait.
 */
bool settle(const struct srpol_links *links)
{
	struct step *c;

	if (writing)
		return true;
	vec_free(&written);
	find_steps(&written);
	/* steps first: bandwidth that they free is available to moves */
	if (!written.n && (find_moves(links, &written) ||
			   (!written.n && elastic_steps(links, &written))))
		log_error("reservations: no memory");
	if (written.n)
		write_changes(&written);
	vec_for_each(c, &written) {
		free(c->text);
		c->text = NULL;
	}
	return written.n;
}

/*
 * Set the timer for the first end of a reservation. One that moves cannot end before hosts
 * have acknowledged that, which is an event.
 */
static void set_clock(void)
{
	const struct reservation *r;
	uint64_t now = time(NULL), next = 0;

	vec_for_each(r, reservations_all()) {
		if (record_is_moving(r) && !r->waits)
			continue;
		if (r->until && !r->ends && (!next || r->until < next))
			next = r->until;
	}
	alarm_stop(&in_time);
	if (next)
		alarm_set(&in_time, next > now ? (next - now) * NS_PER_SEC :
			  SOON_NS);
}

static void ring(void *data)
{
	struct srpol_links *links;

	if (!plan_may_change() || writing)
		return;
	links = inputs_links();
	if (links && !settle(links))
		set_clock();
	srpol_links_free(links);
}

/**
 * settle_soon() - hosts sent acknowledgements, or a change was written
 */
void settle_soon(void)
{
	if (plan_may_change())
		alarm_set(&soon, SOON_NS);
}

/**
 * settle_planned() - a plan was made for the current reservations and jobs
 */
void settle_planned(void)
{
	struct reservation *r;
	struct input *job;

	vec_for_each(r, reservations_all())
		r->planned = r->mod;
	vec_for_each(job, &fabricd.jobs)
		job->planned = job->mod;
}

/**
 * settle_published() - that plan is in force
 */
void settle_published(void)
{
	struct reservation *r;
	struct input *job;

	vec_for_each(r, reservations_all())
		if (r->planned == r->mod && !r->epoch)
			r->epoch = fabricd.epoch.index.epoch;
	vec_for_each(job, &fabricd.jobs)
		if (job->planned == job->mod && !job->epoch && !job->left_out)
			job->epoch = fabricd.epoch.index.epoch;
	settle_soon();
}

/**
 * settle_stop() - another engine leads
 */
void settle_stop(void)
{
	struct reservation *r;
	struct input *job;

	alarm_stop(&soon);
	alarm_stop(&in_time);
	alarm_stop(&again);
	elastic_stop();
	writing = false;
	vec_for_each(r, reservations_all())
		r->epoch = r->planned = 0;
	vec_for_each(job, &fabricd.jobs) {
		job->epoch = job->planned = 0;
		job->left_out = false;
	}
}
