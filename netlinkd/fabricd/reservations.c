// SPDX-License-Identifier: GPL-2.0
/*
 * All reservations of the shard in the store. Each change of a reservation also
 * writes cap/SHARD in the same transaction, and compares its revision. So
 * changes are serialized, and each was decided with knowledge of all before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"

#define POLL_NS		(60 * NS_PER_SEC)
#define OVERDUE_NS	NS_PER_SEC

static void read_overdue(void *data);

static struct mirror mirror, cap_mirror;
static struct vec all = VEC_INIT(struct reservation);
static char prefix[STORE_KEY_LEN], cap_key[STORE_KEY_LEN];
static uint64_t cap_mod, changes;
static bool cap_is_read;
static bool is_refuted;		/* cap/SHARD is known to be another one than that of */
static uint64_t refuted;	/* this revision */
static struct alarm overdue = ALARM_INIT(read_overdue, NULL);

static void free_one(void *data)
{
	record_free(data);
}

static struct sweep sweep = {
	.list = &all, .stale = offsetof(struct reservation, stale),
	.free = free_one,
};

/**
 * key_reservation() - key of a reservation
 * @buf: result
 * @tenant: name of the tenant
 * @job: name of the job
 */
const char *key_reservation(char *buf, const char *tenant, const char *job)
{
	snprintf(buf, STORE_KEY_LEN, "resv/%s/%s/%s", fabricd.config.shard,
		 tenant, job);
	return buf;
}

/**
 * key_cap() - key that every change of reservations writes
 * @buf: result
 */
const char *key_cap(char *buf)
{
	snprintf(buf, STORE_KEY_LEN, "cap/%s", fabricd.config.shard);
	return buf;
}

/**
 * key_job() - key of a job
 * @buf: result
 * @tenant: name of the tenant
 * @job: name of the job
 */
const char *key_job(char *buf, const char *tenant, const char *job)
{
	snprintf(buf, STORE_KEY_LEN, "job/%s/%s", tenant, job);
	return buf;
}

/**
 * reservation_find() - find a job's reservation
 * @tenant: name of the tenant
 * @job: name of the job
 *
 * Return: valid until control returns to the event loop; NULL: no reservation.
 */
struct reservation *reservation_find(const char *tenant, const char *job)
{
	struct reservation *r;

	vec_for_each(r, &all)
		if (!strcmp(r->tenant, tenant) && !strcmp(r->job, job))
			return r;
	return NULL;
}

/**
 * reservations_all() - all struct reservation, the oldest first
 */
struct vec *reservations_all(void)
{
	return &all;
}

/**
 * reservation_is_live() - whether bandwidth is reserved for a job now
 * @r: reservation, may be NULL
 */
bool reservation_is_live(const struct reservation *r)
{
	return r && r->weights && !r->ends;
}

/**
 * reservation_is_told() - whether hosts are told the weights of a reservation
 * @r: reservation, may be NULL
 *
 * Return: false for one that waits for others to be lowered: until it begins the
 * job is planned for as if it had no reservation.
 */
bool reservation_is_told(const struct reservation *r)
{
	return reservation_is_live(r) && !r->waits;
}

/**
 * reservation_priority() - the priority that a reservation has now
 * @r: reservation
 *
 * Return: what was asked for, but not more than its tenant may have by now.
 */
uint32_t reservation_priority(const struct reservation *r)
{
	const struct tenant *t = tenant_find(r->tenant);

	return t && t->priority < r->priority ? t->priority : r->priority;
}

/**
 * reservations_are_moving() - whether something of a color has to be acknowledged
 * @color: the color
 * @job: result: the job that it was changed for; may be NULL
 *
 * Reservations of a color share weights, so they change one at a time.
 */
bool reservations_are_moving(uint32_t color, const char **job)
{
	const struct reservation *r;

	vec_for_each(r, &all) {
		if (r->color != color || !record_is_moving(r))
			continue;
		if (job)
			*job = r->job;
		return true;
	}
	return false;
}

/**
 * reservations_are_read() - whether everything was read at least once
 */
bool reservations_are_read(void)
{
	return sweep.is_read && cap_is_read;
}

/**
 * reservations_ready() - whether everything was read, up to the last change of
 * cap/SHARD
 */
bool reservations_ready(void)
{
	return reservations_are_read() && mirror.revision >= cap_mod;
}

/*
 * One of the two watches is silent. Reservations and cap/SHARD need each other: without
 * one of them there would be no plan until the next regular read.
 */
static void read_overdue(void *data)
{
	if (is_refuted && refuted == cap_mod)
		mirror_look(&cap_mirror);
	is_refuted = false;
	if (mirror.revision >= cap_mod)
		return;
	mirror_look(&mirror);
	/* the read may fail, too */
	alarm_set(&overdue, OVERDUE_NS);
}

/**
 * reservations_look() - the store has another cap/SHARD than the one that is known
 *
 * It is read, unless the change arrives soon by itself.
 */
void reservations_look(void)
{
	is_refuted = true;
	refuted = cap_mod;
	alarm_set(&overdue, OVERDUE_NS);
}

/**
 * reservations_cap() - revision of cap/SHARD, which a change has to compare
 */
uint64_t reservations_cap(void)
{
	return cap_mod;
}

/**
 * reservations_cap_text() - value that a change writes to cap/SHARD
 * @more: number of reservations that it adds
 *
 * Return: text, to be freed.
 */
char *reservations_cap_text(int more)
{
	json_t *o = json_pack("{s:I, s:I}", "changes", (json_int_t)changes + 1,
			      "reservations", (json_int_t)all.n + more);
	char *text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);

	json_decref(o);
	return text ?: (abort(), NULL);
}

/**
 * reservations_sum() - bit/s that a tenant has reserved
 * @tenant: name of the tenant; NULL: all tenants
 */
uint64_t reservations_sum(const char *tenant)
{
	const struct reservation *r;
	uint64_t sum = 0;

	vec_for_each(r, &all)
		if (!r->ends && (!tenant || !strcmp(r->tenant, tenant)))
			sum = srpol_rate_add(sum, r->guaranteed);
	return sum;
}

/**
 * reservable() - capacities that may be reserved
 * @links: capacities of links
 *
 * Return: to be freed, NULL without memory.
 */
struct srpol_links *reservable(const struct srpol_links *links)
{
	struct srpol_links *part = srpol_links_copy(links);
	uint32_t i;

	for (i = 0; part && i < part->n; i++)
		part->links[i].capacity = (unsigned __int128)
			part->links[i].capacity * fabricd.config.reservable /
			100;
	return part;
}

/**
 * reservations_ledger() - all reservations as a ledger
 * @links: capacities that may be reserved; they must outlive the ledger
 * @ledger: result, to be freed; hold number i is reservation number i
 */
int reservations_ledger(const struct srpol_links *links,
			struct srpol_ledger *ledger)
{
	const struct tenant *tenant;
	const struct reservation *r;
	struct srpol_hold *h;

	*ledger = (struct srpol_ledger){
		.fabric = fabricd.fabric, .links = links,
		.holds = calloc(all.n + 1, sizeof(*ledger->holds)),
	};
	if (!ledger->holds)
		return -ENOMEM;
	vec_for_each(r, &all) {
		tenant = tenant_find(r->tenant);
		h = &ledger->holds[ledger->n++];
		*h = (struct srpol_hold){
			.color = r->color, .rate = r->guaranteed,
			.old_rate = r->before ? r->guaranteed_before : 0,
			.least = r->least, .priority = reservation_priority(r),
			.demands = r->demands.list, .n = r->demands.n,
			.allowed = tenant ? tenant->allowed : NULL,
			.old = r->before ?: r->settled ? r->weights : NULL,
			.new = r->ends ? NULL : r->weights,
			.waits = r->waits,
		};
	}
	return 0;
}

/**
 * ledger_hide_waiting() - leave out what hosts are not to be told yet
 * @ledger: result of reservations_ledger()
 */
void ledger_hide_waiting(struct srpol_ledger *ledger)
{
	uint32_t i;

	for (i = 0; i < ledger->n; i++)
		if (ledger->holds[i].waits)
			ledger->holds[i].new = NULL;
}

/**
 * ledger_free() - free a ledger, but not what its holds refer to
 * @ledger: result of reservations_ledger()
 */
void ledger_free(struct srpol_ledger *ledger)
{
	srpol_ledger_drop(ledger);
	free(ledger->holds);
	ledger->holds = NULL;
}

static int by_age(const void *a, const void *b)
{
	const struct reservation *x = a, *y = b;

	if (x->create != y->create)
		return x->create < y->create ? -1 : 1;
	return strcmp(x->tenant, y->tenant) ?: strcmp(x->job, y->job);
}

/* Read tenant and job from a key resv/SHARD/TENANT/JOB. */
static bool read_names(const char *key, char *tenant, char *job)
{
	const char *at = key + strlen(prefix), *slash = strchr(at, '/');

	if (!slash || slash - at >= SRPOL_NAME_LEN ||
	    strlen(slash + 1) >= SRPOL_NAME_LEN || strchr(slash + 1, '/'))
		return false;
	snprintf(tenant, SRPOL_NAME_LEN, "%.*s", (int)(slash - at), at);
	strcpy(job, slash + 1);
	return true;
}

static void set(void *data, const struct store_kv *kv)
{
	char tenant[SRPOL_NAME_LEN], job[SRPOL_NAME_LEN];
	struct srpol_error err = {};
	struct reservation *r, new;

	if (!read_names(kv->key, tenant, job))
		return;
	r = reservation_find(tenant, job);
	if (r)
		r->stale = false;
	if (r && r->mod == kv->mod)
		return;
	if (!kv->value) {
		fabricd.stats.events++;
		if (r)
			sweep_remove(&sweep, r);
		return;
	}
	if (record_read(kv->value, kv->len, &new, &err)) {
		if (!mirror_is_news(&mirror, kv))
			return;
		fabricd.stats.events++;
		fabricd.stats.refused++;
		log_notice("%s: %s; the last good one stays", kv->key,
			   err.text);
		return;
	}
	if (err.text[0])
		log_notice("%s: %s; %s", kv->key, err.text, new.demands.n ?
			   "other paths are sought for it" :
			   "it is lost, and can be deleted with its job");
	fabricd.stats.events++;
	strcpy(new.tenant, tenant);
	strcpy(new.job, job);
	new.create = kv->create;
	new.mod = kv->mod;
	if (r && r->create != new.create) {
		sweep_remove(&sweep, r);
		r = NULL;
	}
	if (r) {
		record_free(r);
		*r = new;
	} else {
		vec_insert(&all, &new, by_age);
	}
}

/* Also what changes nothing may be what was waited for: cap/SHARD has no change of its own. */
static void end(void *data)
{
	sweep_end(data);
	plan_resume();
}

static void begin_cap(void *data, uint64_t cluster)
{
	cap_mod = 0;
	changes = 0;
}

static void set_cap(void *data, const struct store_kv *kv)
{
	json_int_t n = 0;
	json_t *o;

	cap_mod = kv->value ? kv->mod : 0;
	o = kv->value ? json_loadb(kv->value, kv->len, 0, NULL) : NULL;
	json_unpack(o, "{s:I}", "changes", &n);
	json_decref(o);
	changes = n;
}

static void end_cap(void *data)
{
	cap_is_read = true;
	if (mirror.revision < cap_mod)
		alarm_set(&overdue, OVERDUE_NS);
	job_request_kick();
	plan_soon();
}

/**
 * reservations_start() - start following reservations
 */
void reservations_start(void)
{
	snprintf(prefix, sizeof(prefix), "resv/%s/", fabricd.config.shard);
	key_cap(cap_key);
	mirror = (struct mirror){
		.store = &fabricd.store, .key = prefix, .prefix = true,
		.poll_ns = POLL_NS, .begin = sweep_begin, .set = set,
		.end = end, .data = &sweep,
	};
	cap_mirror = (struct mirror){
		.store = &fabricd.store, .key = cap_key, .poll_ns = POLL_NS,
		.begin = begin_cap, .set = set_cap, .end = end_cap,
	};
	mirror_start(&mirror);
	mirror_start(&cap_mirror);
}

/**
 * reservations_stop() - stop following reservations
 */
void reservations_stop(void)
{
	struct reservation *r;

	alarm_stop(&overdue);
	mirror_stop(&mirror);
	mirror_stop(&cap_mirror);
	vec_for_each(r, &all)
		record_free(r);
	vec_free(&all);
}
