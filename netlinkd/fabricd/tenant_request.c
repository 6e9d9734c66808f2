// SPDX-License-Identifier: GPL-2.0
/* srpol fabric tenant and srpol fabric tenants. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "requests.h"
#include "srpol_lib.h"
#include "tenants.h"
#include "words.h"

#define AGAIN_NS	(50 * NS_PER_MS)
#define TRIES_MAX	20
#define HEAR_NS		(5 * NS_PER_SEC)

/**
 * struct change - change of a tenant that is being written
 * @next: next change
 * @later: where to send the reply
 * @request: the request
 * @check: decides whether the request is good; sets the tenant's name and what is
 *	to be written, NULL to delete it
 * @tries: times that it was refused, as something had changed meanwhile
 * @waits: it is to be decided and written again
 * @written: revision of the store in which it is, 0: it is not yet
 * @until_ns: when it is answered at the latest, once it is written
 */
struct change {
	struct change *next;
	struct request_later *later;
	json_t *request;
	int (*check)(const json_t *request, char *name, char **text,
		     struct srpol_error *err);
	unsigned int tries;
	bool waits;
	uint64_t written;
	uint64_t until_ns;
};

static void look(void *data);

static struct change *changes;
static struct alarm again = ALARM_INIT(look, NULL);

static void finish(struct change *c, const struct srpol_error *err)
{
	struct change **at = &changes;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	requests_answer(c->later, err ? NULL :
			json_pack("{s:O}", "tenant",
				  json_object_get(c->request, "name")), err);
	json_decref(c->request);
	free(c);
}

/* Whoever asks next, for a job of the tenant say, is to be answered by what was done. */
static void finish_heard(struct change *c)
{
	if (tenants_heard() >= c->written || now_ns() > c->until_ns)
		finish(c, NULL);
	else
		alarm_set(&again, AGAIN_NS);
}

/* What has changed meanwhile arrives as an event. */
static void wrote(void *data, const struct store_reply *reply)
{
	struct srpol_error err = {};
	struct change *c = data;

	if (!reply->error && !reply->succeeded && ++c->tries < TRIES_MAX) {
		c->waits = true;
		alarm_set(&again, AGAIN_NS);
		return;
	}
	if (reply->error)
		store_undone(reply, "srpol fabric tenants", &err);
	else if (!reply->succeeded)
		srpol_error_set(&err, -EEXIST,
				"the tenant is changed all the time, or its name or color is taken");
	if (err.text[0]) {
		finish(c, &err);
		return;
	}
	c->written = reply->revision;
	c->until_ns = now_ns() + HEAR_NS;
	finish_heard(c);
}

/**
 * tenant_request_stop() - fail all pending changes
 */
void tenant_request_stop(void)
{
	struct srpol_error err = {};

	alarm_stop(&again);
	srpol_error_set(&err, -ESHUTDOWN, "the engine ends");
	while (changes)
		finish(changes, changes->written ? NULL : &err);
}

/*
 * Reservations decided meanwhile compare the tenant's key. A reservation that
 * was written before, but has not been read yet, is detected by comparing
 * cap/SHARD.
 */
static void write_tenant(struct change *c, const char *name, const char *text)
{
	char key[STORE_KEY_LEN], cap[STORE_KEY_LEN];
	struct store_compare compare[] = {
		{ .key = key_tenant(key, name), .revision = tenant_revision(name) },
		{ .key = key_cap(cap), .revision = reservations_cap() },
	};
	struct store_put put = { .key = key, .value = text,
				 .len = text ? strlen(text) : 0 };
	struct store_txn txn = { .compare = compare, .n_compare = 2,
				 .put = &put, .n_put = 1 };

	fabricd.store.ops->txn(&fabricd.store, &txn, wrote, c);
}

static void write_again(struct change *c)
{
	struct srpol_error err = {};
	char name[SRPOL_NAME_LEN];
	char *text = NULL;

	c->waits = false;
	if (c->check(c->request, name, &text, &err))
		finish(c, &err);
	else
		write_tenant(c, name, text);
	free(text);
}

static void look(void *data)
{
	struct change *c, *next;

	for (c = changes; c; c = next) {
		next = c->next;
		if (c->written)
			finish_heard(c);
		else if (c->waits)
			write_again(c);
	}
}

/* Write a change that is good. The reply is sent later. */
static json_t *change_tenant(const json_t *request,
			     int (*check)(const json_t *request, char *name,
					  char **text, struct srpol_error *err),
			     struct srpol_error *err)
{
	char name[SRPOL_NAME_LEN];
	char *text = NULL;
	struct change *c;

	if (check(request, name, &text, err))
		return NULL;
	c = store_alloc(sizeof(*c));
	c->later = requests_later(control_server());
	if (c->later) {
		c->request = json_incref((json_t *)request);
		c->check = check;
		c->next = changes;
		changes = c;
		write_tenant(c, name, text);
	} else {
		free(c);
	}
	free(text);
	return NULL;
}

static int check_ready(struct srpol_error *err)
{
	if (inputs_ready() && tenants_ready() && reservations_ready())
		return 0;
	return srpol_error_set(err, -EAGAIN, "the store does not answer");
}

/**
 * tenant_request_can_show() - whether jobs, tenants and reservations were read
 * @err: message if not
 *
 * What changed since then may not have been heard yet, which is no reason to show nothing.
 */
int tenant_request_can_show(struct srpol_error *err)
{
	if (inputs_jobs_are_read() && tenants_ready() && reservations_are_read())
		return 0;
	return srpol_error_set(err, -EAGAIN, "the store does not answer");
}

/**
 * tenant_request_check() - whether these and reports were read
 * @err: message if not
 */
int tenant_request_check(struct srpol_error *err)
{
	if (inputs_ready())
		return tenant_request_can_show(err);
	return srpol_error_set(err, -EAGAIN, "the store does not answer");
}

/* The other tenant that has a color, or is about to have it; NULL: none. */
static const char *who_has(uint32_t color, const char *name)
{
	const struct tenant *t;
	const struct change *c;
	const json_t *o;

	vec_for_each(t, tenants_all())
		if (t->color == color && strcmp(t->name, name))
			return t->name;
	for (c = changes; c; c = c->next) {
		o = c->request;
		if (json_integer_value(json_object_get(o, "color")) == color &&
		    strcmp(json_string_value(json_object_get(o, "name")), name))
			return json_string_value(json_object_get(o, "name"));
	}
	return NULL;
}

static int check_color(const struct tenant *new, struct srpol_error *err)
{
	const char *other = who_has(new->color, new->name);
	const struct tenant *t;
	const char *job;

	if (other)
		return srpol_error_set(err, -EEXIST,
				       "color %u is that of tenant \"%s\"",
				       new->color, other);
	t = tenant_find(new->name);
	if (t && t->color != new->color && reservations_sum(t->name))
		return srpol_error_set(err, -EBUSY,
				       "tenant \"%s\" has reservations in color %u",
				       t->name, t->color);
	job = t && t->color != new->color ? inputs_foreign_job(t->name) : NULL;
	if (job)
		return srpol_error_set(err, -EBUSY,
				       "tenant \"%s\" has job \"%s\" in another shard, perhaps with a reservation in color %u",
				       t->name, job, t->color);
	return 0;
}

static int check_add(const json_t *request, char *name, char **text,
		     struct srpol_error *err)
{
	static const char * const rates[] = { "guaranteed", "max", NULL };
	json_t *o = json_copy((json_t *)request);
	struct tenant tenant;
	int ret;

	ret = job_read_name(request, "name", NULL, name, err) ?:
	      rates_read(o, rates, err);
	if (ret) {
		json_decref(o);
		return ret;
	}
	json_object_del(o, "version");
	json_object_del(o, "request");
	json_object_del(o, "name");
	*text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(o);
	ret = *text ? check_ready(err) ?:
		      tenant_read(name, *text, strlen(*text), false, &tenant,
				  err) :
		      srpol_error_set(err, -ENOMEM, "out of memory");
	if (!ret) {
		ret = check_color(&tenant, err);
		if (!ret && !tenants_have_room(&tenant))
			ret = srpol_error_set(err, -ENOSPC,
					      "hosts cannot be told of more tenants, or of more \"paths\" of those with a \"backup\"");
		tenant_free(&tenant);
	}
	if (ret) {
		free(*text);
		*text = NULL;
	}
	return ret;
}

/**
 * tenant_add_request() - handle srpol fabric tenant add and change
 * @request: "name", "color", "paths", "guaranteed", "max", "priority", "backup"
 * @err: message on failure
 */
json_t *tenant_add_request(const json_t *request, struct srpol_error *err)
{
	return change_tenant(request, check_add, err);
}

static int check_del(const json_t *request, char *name, char **text,
		     struct srpol_error *err)
{
	char owner[SRPOL_NAME_LEN], job_name[SRPOL_NAME_LEN];
	const struct reservation *r;
	const struct input *job;
	const char *away;
	size_t n;
	int ret;

	ret = words_text(request, "name", NULL, name, SRPOL_NAME_LEN, err) ?:
	      check_ready(err);
	if (ret)
		return ret;
	if (!tenant_revision(name))
		return srpol_error_set(err, -ENOENT, "there is no tenant \"%s\"",
				       name);
	for (job = workload_jobs_of(name, &n); n; job++, n--) {
		job_names(job, owner, job_name);
		if (!strcmp(owner, name))
			return srpol_error_set(err, -EBUSY,
					       "tenant \"%s\" has job \"%s\"",
					       name, job_name);
	}
	away = inputs_foreign_job(name);
	if (away)
		return srpol_error_set(err, -EBUSY,
				       "tenant \"%s\" has job \"%s\" in another shard",
				       name, away);
	vec_for_each(r, reservations_all())
		if (!strcmp(r->tenant, name))
			return srpol_error_set(err, -EBUSY,
					       "hosts have not acknowledged yet that job \"%s\" of tenant \"%s\" ended",
					       r->job, name);
	return 0;
}

/**
 * tenant_del_request() - handle srpol fabric tenant del
 * @request: "name"
 * @err: message on failure
 */
json_t *tenant_del_request(const json_t *request, struct srpol_error *err)
{
	return change_tenant(request, check_del, err);
}

static uint32_t count_jobs(const char *tenant)
{
	char owner[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];
	const struct input *job;
	uint32_t jobs = 0;
	size_t n;

	for (job = workload_jobs_of(tenant, &n); n; job++, n--) {
		job_names(job, owner, name);
		jobs += !strcmp(owner, tenant);
	}
	return jobs;
}

static json_t *one_tenant(const struct tenant *t)
{
	uint64_t sum = reservations_sum(t->name);
	json_t *o;

	o = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		      "name", t->name,
		      "color", (json_int_t)t->color,
		      "guaranteed", (json_int_t)t->guaranteed,
		      "max", (json_int_t)t->max,
		      "priority", (json_int_t)t->priority,
		      "backup", (json_int_t)t->backup,
		      "reserved", (json_int_t)sum,
		      "left", (json_int_t)(t->guaranteed > sum ?
					   t->guaranteed - sum : 0),
		      "jobs", (json_int_t)count_jobs(t->name));
	json_object_set_new(o, "paths", t->paths ? json_incref(t->paths) :
			    json_array());
	return o;
}

/**
 * tenants_request() - handle srpol fabric tenants
 * @request: no further members; a tenant's user sees its own tenant
 * @err: message if the user has no tenant, or the store never answered
 */
json_t *tenants_request(const json_t *request, struct srpol_error *err)
{
	const char *own = access_tenant();
	const struct tenant *t;
	json_t *list;

	if (access_check(err) || tenant_request_can_show(err))
		return NULL;
	list = json_array();
	vec_for_each(t, tenants_all())
		if (!own || !strcmp(own, t->name))
			json_array_append_new(list, one_tenant(t));
	return list;
}
