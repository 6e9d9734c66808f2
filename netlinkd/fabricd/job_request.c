// SPDX-License-Identifier: GPL-2.0
/*
 * srpol fabric job: a request waits until all that it depends on is known, is
 * decided, and is written if nothing changed meanwhile; otherwise it is decided
 * again. If hosts have to acknowledge something first, the request waits for a
 * limited time. Any engine can handle these requests, not only the leader.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "requests.h"
#include "srpol_lib.h"
#include "tenants.h"
#include "words.h"

#define WAIT_NS		(10 * NS_PER_SEC)
#define HEAR_NS		(5 * NS_PER_SEC)
#define LOOK_NS		(100 * NS_PER_MS)
#define OPS_MAX		256
#define OPS_BY_TENANT	32	/* of its users, so that others can ask, too */
#define PAUSE		4	/* times that a decision took, before the next */
#define ROUND_NS	(50 * NS_PER_MS)

/**
 * struct op - a request that waits for its reply
 * @next: next request
 * @later: where to send the reply
 * @is_del: a job is to be deleted
 * @writing: a transaction is under way
 * @adding: the job that it adds, for room_end(); NULL: none
 * @refused: the last transaction was refused, as something had changed
 * @written: revision of the store in which the job is deleted, 0: it is not yet
 * @cluster: the store that @written is of
 * @until_ns: time at which it is replied to at the latest
 * @not_before_ns: time before which it is not decided again
 * @looked_ns: time at which it was looked at last, or when it came
 * @uid: user id of the one who asks
 * @admission: the job to be added; for one to be deleted, its names
 */
struct op {
	struct op *next;
	struct request_later *later;
	bool is_del;
	bool writing;
	struct room_add *adding;
	bool refused;
	uint64_t written;
	uint64_t cluster;
	uint64_t until_ns;
	uint64_t not_before_ns;
	uint64_t looked_ns;
	uint32_t uid;
	struct admission admission;
};

static void look(void *data);
static struct alarm again = ALARM_INIT(look, NULL);
static struct op *ops;

static void free_op(struct op *op)
{
	struct op **at = &ops;

	while (*at != op)
		at = &(*at)->next;
	*at = op->next;
	record_free(&op->admission.want);
	vec_free(&op->admission.lowered);
	free(op);
}

static void answer(struct op *op, json_t *body, const struct srpol_error *err)
{
	requests_answer(op->later, body, err);
	free_op(op);
}

static void fail(struct op *op, const char *text)
{
	struct srpol_error err = {};

	srpol_error_set(&err, -EIO, "%s", text);
	answer(op, NULL, &err);
}

static void answer_decision(struct op *op)
{
	struct fabricd_stats *s = &fabricd.stats;

	if (op->admission.is_what_if)
		goto out;
	switch (op->admission.decision) {
	case DECISION_ACCEPT:
		s->accepted++;
		break;
	case DECISION_LOWER:
		s->lowered++;
		break;
	case DECISION_REJECT:
		s->rejected++;
		break;
	default:
		s->deferred++;
	}
out:
	answer(op, admission_json(&op->admission), NULL);
}

static void answer_deleted(struct op *op)
{
	answer(op, json_pack("{s:s, s:s}", "tenant", op->admission.want.tenant, "deleted",
			     op->admission.want.job), NULL);
}

/* Whoever asks next, to have its name or to delete its tenant, is not told that it is there. */
static void finish_heard(struct op *op)
{
	if (inputs_jobs_heard(op->cluster, op->written) || now_ns() > op->until_ns)
		answer_deleted(op);
}

static void wrote(void *data, const struct store_reply *reply)
{
	struct srpol_error err = {};
	struct op *op = data;

	op->writing = false;
	if (op->adding)
		room_end(op->adding, reply);
	op->adding = NULL;
	if (reply->error) {
		fabricd.stats.unsure += !reply->refused;
		store_undone(reply, "srpol fabric jobs", &err);
		answer(op, NULL, &err);
		return;
	}
	op->refused = !reply->succeeded;
	if (op->refused) {
		/* the change arrives as an event; a watch may be silent */
		reservations_look();
		return;
	}
	if (!op->is_del) {
		answer_decision(op);
		return;
	}
	op->written = reply->revision;
	op->cluster = reply->cluster;
	op->until_ns = now_ns() + HEAR_NS;
	finish_heard(op);
}

/**
 * struct writing - a transaction being prepared
 */
struct writing {
	struct store_compare compare[4];
	struct store_put put[3 + LOWERED_MAX];
	char lowered[LOWERED_MAX][STORE_KEY_LEN];
	char *lowered_text[LOWERED_MAX];
	struct store_txn txn;
	char job[STORE_KEY_LEN];
	char reservation[STORE_KEY_LEN];
	char cap[STORE_KEY_LEN];
	char tenant[STORE_KEY_LEN];
	char *record;
	char *cap_text;
};

static void compare(struct writing *w, const char *key, uint64_t revision)
{
	w->compare[w->txn.n_compare++] =
		(struct store_compare){ .key = key, .revision = revision };
}

static void put(struct writing *w, const char *key, const char *value)
{
	w->put[w->txn.n_put++] = (struct store_put){
		.key = key, .value = value, .len = value ? strlen(value) : 0,
	};
}

/* Write a reservation, and the key that all changes of reservations write. */
static void put_record(struct writing *w, const struct reservation *r,
		       const char *text, int more)
{
	w->cap_text = reservations_cap_text(more);
	compare(w, key_cap(w->cap), reservations_cap());
	put(w, key_reservation(w->reservation, r->tenant, r->job), text);
	put(w, w->cap, w->cap_text);
}

/* Whether its record can be kept, also while it moves and has its weights twice. */
static bool can_be_kept(const struct reservation *want)
{
	struct reservation moving = *want;
	char *text;
	bool can;

	moving.before = want->weights;
	moving.guaranteed_before = want->guaranteed;
	moving.waits = false;
	text = record_write(&moving);
	can = text && strlen(text) < STORE_VALUE_MAX;
	free(text);
	return can;
}

static size_t length_of(const char *text)
{
	return text ? strlen(text) : STORE_TXN_MAX;
}

/*
 * Reservations that are lowered are covered by the comparison of put_record().
 * Returns whether the job and all records are small enough for one transaction.
 */
static bool put_lowered(struct writing *w, const struct admission *a)
{
	size_t len = strlen(a->want.job_text) + length_of(w->record);
	const struct lowered *l;
	uint32_t i = 0;

	vec_for_each(l, &a->lowered) {
		if (len >= STORE_TXN_MAX)
			break;
		w->lowered_text[i] = lowered_text(l);
		len += length_of(w->lowered_text[i]);
		put(w, key_reservation(w->lowered[i], l->tenant, l->job),
		    w->lowered_text[i]);
		i++;
	}
	return len < STORE_TXN_MAX;
}

static void free_writing(struct writing *w)
{
	uint32_t i;

	for (i = 0; i < LOWERED_MAX; i++)
		free(w->lowered_text[i]);
	free(w->record);
	free(w->cap_text);
	free(w);
}

static void send_it(struct op *op, struct writing *w)
{
	w->txn.compare = w->compare;
	w->txn.put = w->put;
	op->writing = true;
	fabricd.store.ops->txn(&fabricd.store, &w->txn, wrote, op);
	free_writing(w);
}

static void write_job(struct op *op)
{
	const struct admission *a = &op->admission;
	struct writing *w = store_alloc(sizeof(*w));

	key_job(w->job, a->want.tenant, a->want.job);
	compare(w, w->job, 0);
	put(w, w->job, a->want.job_text);
	if (a->tenant)
		compare(w, key_tenant(w->tenant, a->want.tenant),
			a->tenant->mod);
	if (a->want.guaranteed) {
		w->record = record_write(&a->want);
		if (!can_be_kept(&a->want) || !put_lowered(w, a)) {
			free_writing(w);
			fail(op, a->lowered.n ?
			     "the reservation and those that it lowers are too large to be written at once" :
			     "the reservation is too large to be kept");
			return;
		}
		put_record(w, &a->want, w->record, 1);
		compare(w, w->reservation, 0);
	} else if (!reservation_find(a->want.tenant, a->want.job)) {
		compare(w, key_reservation(w->reservation, a->want.tenant,
					   a->want.job), 0);
	}
	op->adding = room_begin(w->job, strlen(a->want.job_text));
	send_it(op, w);
}

/* Hosts may still use the reservation: keep it until they do not. */
static char *ending_text(const struct reservation *r)
{
	struct reservation ending = record_changed(r, r->guaranteed, NULL);

	ending.ends = true;
	return ending.before ? record_write(&ending) : NULL;
}

/*
 * One step at a time: what hosts have not acknowledged ends after that, as the leader
 * finds that its job is gone. A job may end while a host that is down has its share in
 * it, and whoever deletes it asks once.
 */
static bool ends_later(const struct reservation *r)
{
	return record_is_moving(r) && r->weights && !r->waits;
}

static void delete_job(struct op *op, bool late)
{
	const char *tenant = op->admission.want.tenant;
	const char *name = op->admission.want.job;
	const struct reservation *r = reservation_find(tenant, name);
	char key[STORE_KEY_LEN];
	const struct input *job;
	struct writing *w;

	job = inputs_job(key_job(key, tenant, name));
	if (!job) {
		if (!room_awaits(key))
			fail(op, "there is no such job");
		else if (late)
			fail(op, "the store has not told yet of this job, which was added: ask again later");
		return;
	}
	w = store_alloc(sizeof(*w));
	strcpy(w->job, key);
	compare(w, w->job, job->mod);
	put(w, w->job, NULL);
	if (r && !r->ends && !ends_later(r)) {
		w->record = ending_text(r);
		put_record(w, r, w->record, 0);
	}
	send_it(op, w);
}

/* What follows from the tenant, and from the time that is left. */
static int complete(struct admission *a, struct srpol_error *err)
{
	uint32_t most = a->tenant ? a->tenant->priority : PRIORITY_MAX;

	if (a->priority != PRIORITY_UNSET && a->priority > most)
		return srpol_error_set(err, -EPERM,
				       "\"priority\": jobs of tenant %s may have %u at most",
				       a->tenant->name, most);
	a->want.color = a->tenant ? a->tenant->color : 0;
	a->want.priority = a->priority != PRIORITY_UNSET ? a->priority :
			   most < PRIORITY_DEFAULT ? most : PRIORITY_DEFAULT;
	a->want.wanted = a->asked;
	a->want.least = a->enough;
	if (!a->want.least && !a->want.deadline)
		a->want.least = a->asked;
	return deadline_apply(&a->want, err);
}

/* Decisions that take long leave time for all else that the engine does. */
static int decide(struct op *op, struct srpol_error *err)
{
	uint64_t start = now_ns(), end;
	int ret = complete(&op->admission, err) ?:
		  admission_decide(&op->admission, err);

	end = now_ns();
	op->not_before_ns = end + PAUSE * (end - start);
	return ret;
}

/* Others may be on their way that leave none, so it waits while it can. */
static bool has_room(struct op *op, const char *key, bool late)
{
	const struct admission *a = &op->admission;
	struct srpol_error err = {};
	int ret = room_check(key, strlen(a->want.job_text), a->own, &err);

	if (ret && (ret != -EAGAIN || late))
		answer(op, NULL, &err);
	return !ret;
}

static void add_job(struct op *op, bool late)
{
	struct admission *a = &op->admission;
	const struct reservation *former;
	struct srpol_error err = {};
	char key[STORE_KEY_LEN];

	/* the tenant may have changed meanwhile */
	a->tenant = tenant_find(a->want.tenant);
	if ((a->asked || a->want.deadline) && !a->tenant) {
		fail(op, "there is no such tenant: it cannot reserve anything");
		return;
	}
	if (inputs_job(key_job(key, a->want.tenant, a->want.job))) {
		fail(op, "there is a job of that name: delete it first");
		return;
	}
	/* it would be taken for that of this job until it is marked as one that ends */
	former = a->is_what_if ? NULL : reservation_find(a->want.tenant, a->want.job);
	if (former && (!former->ends || a->asked || a->want.deadline)) {
		if (late)
			fail(op, "hosts have not acknowledged yet that the job that had this name has ended");
		return;
	}
	if (via_check(a->want.tenant, a->want.demands.n ?
		      a->want.demands.list[0].via : 0, &err)) {
		answer(op, NULL, &err);
		return;
	}
	if (!has_room(op, key, late))
		return;
	srpol_plan_free(a->want.weights);
	a->want.weights = NULL;
	if (decide(op, &err))
		answer(op, NULL, &err);
	else if (a->is_what_if)
		answer_decision(op);
	else if (a->decision == DECISION_ACCEPT)
		write_job(op);
	else if (a->decision != DECISION_WAIT || now_ns() > op->until_ns)
		answer_decision(op);
}

static void try(struct op *op)
{
	bool late = now_ns() > op->until_ns;

	if (now_ns() < op->not_before_ns)
		return;
	if (!inputs_ready() || !tenants_ready() || !reservations_ready()) {
		if (late)
			fail(op, "the store does not answer");
		return;
	}
	if (late && op->refused) {
		fail(op, "its key in the store is a job of another shard, or not what this engine could read");
		return;
	}
	/* it may have to wait now for what it was refused for */
	op->refused = false;
	if (op->is_del)
		delete_job(op, late);
	else
		add_job(op, late);
}

/*
 * It is decided at the expense of its user, as is all that is asked for. Without time it
 * waits, and what it was refused for may change meanwhile.
 */
static bool has_time(struct op *op)
{
	struct srpol_error err = {};

	if (access_has_time(op->uid))
		return true;
	op->refused = false;
	if (now_ns() <= op->until_ns)
		return false;
	if (op->admission.decision == DECISION_WAIT) {
		answer_decision(op);
	} else {
		access_refuse(op->uid, &err);
		answer(op, NULL, &err);
	}
	return false;
}

/* The one that was looked at longest ago, if that is before @ns. */
static struct op *longest_ago(uint64_t ns)
{
	struct op *op, *found = NULL;

	for (op = ops; op; op = op->next)
		if (op->looked_ns < (found ? found->looked_ns : ns))
			found = op;
	return found;
}

/*
 * A decision may take long and many may be asked for, so after some time all else
 * comes first that the engine does, and takes as long; then it goes on.
 */
static void look(void *data)
{
	uint64_t start = now_ns(), now = start;
	struct op *op;
	uint32_t uid;

	while (now - start < ROUND_NS && (op = longest_ago(start))) {
		op->looked_ns = now;
		uid = op->uid;
		if (op->written) {
			finish_heard(op);
		} else if (!op->writing && has_time(op)) {
			try(op);	/* which may free it */
			access_end(uid);
		}
		now = now_ns();
	}
	if (ops)
		alarm_set(&again, longest_ago(start) ? now - start : LOOK_NS);
}

/**
 * job_request_kick() - something changed that requests may wait for
 */
void job_request_kick(void)
{
	if (!ops)
		return;
	alarm_stop(&again);
	alarm_set(&again, 1);
}

/**
 * job_request_stop() - fail all waiting requests, except those for what is done
 */
void job_request_stop(void)
{
	alarm_stop(&again);
	while (ops) {
		if (ops->written)
			answer_deleted(ops);
		else
			fail(ops, "the engine ends");
	}
}

/*
 * Requests of operators do not count those of tenants' users, whose room is shared
 * among tenants. Those that wait for time may keep all of it, so a user of whom none
 * waits needs no room: there are USERS_MAX of these at most.
 * @own: tenant of the user who asks, empty: an operator
 */
static int check_room(const char *own, struct srpol_error *err)
{
	unsigned int mine = 0, users = 0, max = own[0] ? OPS_BY_TENANT : OPS_MAX;
	uint32_t uid = control_server()->asks;
	const struct op *op;
	bool waits = false;

	for (op = ops; op; op = op->next) {
		mine += !strcmp(op->admission.own, own);
		users += op->admission.own[0] != '\0';
		waits |= op->uid == uid;
	}
	if (own[0] ? !waits || (mine < max && users < OPS_MAX) : mine < max)
		return 0;
	return srpol_error_set(err, -EBUSY, "%u questions wait already",
			       mine < max ? users : mine);
}

/* Queue the request; NULL, or an error message in @err. */
static json_t *begin(struct admission *a, bool is_del, int ret,
		     struct srpol_error *err)
{
	const char *own = access_tenant() ?: "";
	struct op *op;

	if (!ret)
		ret = check_room(own, err);
	if (ret) {
		if (!err->text[0])
			srpol_error_set(err, ret, "no memory");
		record_free(&a->want);
		return NULL;
	}
	op = store_alloc(sizeof(*op));
	op->is_del = is_del;
	op->uid = control_server()->asks;
	op->looked_ns = now_ns();
	op->until_ns = op->looked_ns + WAIT_NS;
	op->admission = *a;
	snprintf(op->admission.own, sizeof(op->admission.own), "%s", own);
	op->later = requests_later(control_server());
	if (!op->later) {
		record_free(&a->want);
		free(op);
		return NULL;
	}
	op->next = ops;
	ops = op;
	job_request_kick();
	return NULL;
}

/**
 * job_add_request() - handle srpol fabric job add
 * @request: "name", "tenant"; what it sends: "all-to-all" or "demands" as in
 *	its key, or "collective"; "via", "flows"; "guaranteed", "max", "least" (bit/s),
 *	"priority", "for-s"; when it sends: "in-ms", "duration-ms", "period-ms";
 *	when that has to have arrived: "deadline-ms"; "what-if": only answer
 * @err: message on failure
 */
json_t *job_add_request(const json_t *request, struct srpol_error *err)
{
	static const char * const keys[] = {
		"version", "request", "name", "tenant", "all-to-all", "demands",
		"collective", "via", "flows", "guaranteed", "max", "for-s",
		"in-ms", "duration-ms", "period-ms", "least", "priority",
		"deadline-ms", "what-if", NULL
	};
	struct admission a = { .lowered = VEC_INIT(struct lowered) };
	int ret;

	ret = words_check(request, keys, "", err) ?:
	      job_read(request, &a, err);
	return begin(&a, false, ret, err);
}

/**
 * job_del_request() - handle srpol fabric job del
 * @request: "name", "tenant"
 * @err: message on failure
 */
json_t *job_del_request(const json_t *request, struct srpol_error *err)
{
	struct admission a = { .lowered = VEC_INIT(struct lowered) };
	int ret = job_read_who(request, &a.want, err);

	return begin(&a, true, ret, err);
}
