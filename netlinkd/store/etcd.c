// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to etcd. After a request has failed, unless only its revision is
 * compacted, the next ones go to another member. It is then unknown whether the
 * request was carried out, and the caller is told so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "etcd.h"
#include "etcd_json.h"
#include "log.h"
#include "srpol_lib.h"

/* of gRPC */
#define CODE_INVALID_ARGUMENT	3	/* request is too large, no user */
#define CODE_NOT_FOUND		5	/* no such lease */
#define CODE_NOT_PERMITTED	7
#define CODE_EXHAUSTED		8	/* no space, too many requests */
#define CODE_OUT_OF_RANGE	11	/* revision is compacted */
#define CODE_UNAUTHENTICATED	16	/* the token is void */
#define KEEP_MS_MIN		500L	/* a busy machine and TLS take their time */

/*
 * A request under way. @key is the key or prefix of a range request; it is NULL
 * for others, whose answers may have any key.
 */
struct request {
	struct store *store;
	uint32_t member;
	store_reply_fn fn;
	void *data;
	char *key;
	bool prefix;
	bool (*read)(const struct request *r, const json_t *o,
		     struct store_reply *reply);
};

/**
 * etcd_post() - start a request to the current member
 * @etcd: cluster
 * @path: path of the request
 * @body: JSON; the reference is taken
 * @ms: see http_post()
 * @line: see http_post()
 * @done: see http_post()
 * @data: see http_post()
 */
struct http_request *etcd_post(struct etcd *etcd, const char *path,
			       json_t *body, long ms,
			       void (*line)(void *data, char *line, size_t len),
			       void (*done)(void *data, long status,
					    const char *in, size_t len),
			       void *data)
{
	char *text = json_dumps(body, JSON_COMPACT), url[256];

	if (!text)
		abort();
	json_decref(body);
	snprintf(url, sizeof(url), "%s%s", etcd->config.servers.url[etcd->at],
		 path);
	return http_post(&etcd->http, url, text, ms, line, done, data);
}

/**
 * etcd_elsewhere() - a member does not answer: use the next one
 * @etcd: cluster
 * @from: the member that did not answer
 */
void etcd_elsewhere(struct etcd *etcd, uint32_t from)
{
	if (etcd->at == from)
		etcd->at = (from + 1) % etcd->config.servers.n;
}

/*
 * Adds the keys of @list to the reply. Returns false if one is malformed or was
 * not asked for.
 */
static bool read_kvs(const struct request *r, const json_t *list,
		     struct store_reply *reply)
{
	size_t room = reply->n + json_array_size(list) + 1, i;
	struct store_kv *kvs;
	const json_t *o;

	kvs = realloc((void *)reply->kvs, room * sizeof(*kvs));
	if (!kvs)
		abort();
	reply->kvs = kvs;
	json_array_foreach(list, i, o) {
		if (!etcd_read_kv(o, r->store, r->key ?: "",
				  r->prefix || !r->key, &kvs[reply->n]))
			return false;
		reply->n++;
	}
	return true;
}

static bool read_range(const struct request *r, const json_t *o,
		       struct store_reply *reply)
{
	return read_kvs(r, json_object_get(o, "kvs"), reply);
}

static bool read_txn(const struct request *r, const json_t *o,
		     struct store_reply *reply)
{
	const json_t *responses = json_object_get(o, "responses"), *one;
	size_t i;

	reply->succeeded = json_is_true(json_object_get(o, "succeeded"));
	json_array_foreach(responses, i, one)
		if (!read_kvs(r, json_object_get(json_object_get(one,
						 "response_range"), "kvs"),
			      reply))
			return false;
	return true;
}

static bool read_grant(const struct request *r, const json_t *o,
		       struct store_reply *reply)
{
	reply->lease = etcd_read_number(o, "ID");
	return reply->lease;
}

static bool read_revoke(const struct request *r, const json_t *o,
			struct store_reply *reply)
{
	return true;
}

/* A lease that has ended has no TTL in the answer. */
static bool read_keep(const struct request *r, const json_t *o,
		      struct store_reply *reply)
{
	o = json_object_get(o, "result");
	if (etcd_read_number(o, "TTL"))
		reply->lease = etcd_read_number(o, "ID");
	return true;
}

static void free_kvs(struct store_reply *reply)
{
	size_t i;

	for (i = 0; i < reply->n; i++)
		store_kv_free((struct store_kv *)&reply->kvs[i]);
	free((void *)reply->kvs);
	reply->kvs = NULL;
	reply->n = 0;
}

/*
 * Every answer of etcd names its cluster. An answer without that is not from
 * etcd, whatever its HTTP status. Taking it for an empty store would mean to
 * believe that all keys were deleted.
 */
static bool read_answer(const struct request *r, const json_t *o,
			struct store_reply *reply)
{
	const json_t *header = json_object_get(o, "header") ?:
			       json_object_get(json_object_get(o, "result"),
					       "header");

	reply->cluster = etcd_read_number(header, "cluster_id");
	reply->revision = etcd_read_number(header, "revision");
	if (reply->cluster && r->read(r, o, reply))
		return true;
	free_kvs(reply);
	*reply = (struct store_reply){ .error = -EIO,
				       .text = "this is no answer of etcd" };
	return false;
}

static void free_request(struct request *r)
{
	free(r->key);
	free(r);
}

/*
 * Whether etcd did not do it. Codes that libraries between us and etcd use for lost answers
 * as well count with etcd's own words only. That there is no space it says also of a change
 * that it has made: the quota is looked at once more after that.
 */
bool etcd_is_refused(const json_t *o, const char *text)
{
	if (!text || strncmp(text, "etcdserver: ", strlen("etcdserver: ")))
		return false;
	switch (etcd_read_number(o, "code")) {
	case CODE_INVALID_ARGUMENT:
	case CODE_NOT_PERMITTED:
	case CODE_UNAUTHENTICATED:
		return true;
	case CODE_EXHAUSTED:
		return !strcmp(text, "etcdserver: too many requests");
	}
	return false;
}

/* What is wrong; only one of both members is there, by etcd's version. */
const char *etcd_error_text(const json_t *o)
{
	return json_string_value(json_object_get(o, "message")) ?:
	       json_string_value(json_object_get(o, "error"));
}

static void take_error(struct etcd *etcd, long status, const json_t *o,
		       struct store_reply *reply)
{
	const char *text = etcd_error_text(o);

	etcd_login_check(etcd, text);
	reply->refused = etcd_is_refused(o, text);
	reply->text = text ?: status ? "no JSON" :
		      etcd->http.error[0] ? etcd->http.error : "no answer";
	reply->error = etcd_read_number(o, "code") == CODE_OUT_OF_RANGE ?
		       -ERANGE : -EIO;
}

/* A lease that is to end may have ended already, as when an answer was lost. */
static bool is_over(const struct request *r, const json_t *o)
{
	return r->read == read_revoke &&
	       etcd_read_number(o, "code") == CODE_NOT_FOUND;
}

static void take_answer(void *data, long status, const char *in, size_t len)
{
	json_t *o = status && in ? json_loadb(in, len, 0, NULL) : NULL;
	struct store_reply reply = {};
	struct request *r = data;

	if (status == 200 && o)
		read_answer(r, o, &reply);
	else if (!is_over(r, o))
		take_error(r->store->impl, status, o, &reply);
	if (reply.error && reply.error != -ERANGE)
		etcd_elsewhere(r->store->impl, r->member);
	if (r->fn)
		r->fn(r->data, &reply);
	free_kvs(&reply);
	json_decref(o);
	free_request(r);
}

static struct request *
ask(struct store *store, const char *path, json_t *body, long ms,
    bool (*read)(const struct request *r, const json_t *o,
		 struct store_reply *reply),
    store_reply_fn fn, void *data)
{
	struct request *r = store_alloc(sizeof(*r));
	struct etcd *etcd = store->impl;

	r->store = store;
	r->member = etcd->at;
	r->fn = fn;
	r->data = data;
	r->read = read;
	etcd_post(etcd, path, body, ms, NULL, take_answer, r);
	return r;
}

static json_t *range_body(struct store *store, const char *key, bool prefix,
			  uint64_t revision)
{
	char *full = store_key(store, key);
	json_t *o = json_object();

	json_object_set_new(o, "key", etcd_text(full));
	if (prefix)
		json_object_set_new(o, "range_end", etcd_prefix_end(full));
	if (revision)
		json_object_set_new(o, "revision", etcd_number(revision));
	free(full);
	return o;
}

/* @body: of this key or prefix */
static void ask_range(struct store *store, const char *key, bool prefix,
		      json_t *body, store_reply_fn fn, void *data)
{
	struct request *r = ask(store, "/v3/kv/range", body, ETCD_REQUEST_MS,
				read_range, fn, data);

	r->key = strdup(key) ?: (abort(), NULL);
	r->prefix = prefix;
}

static void etcd_range(struct store *store, const char *key, bool prefix,
		       uint64_t revision, store_reply_fn fn, void *data)
{
	ask_range(store, key, prefix, range_body(store, key, prefix, revision),
		  fn, data);
}

static void etcd_keys(struct store *store, const char *prefix,
		      store_reply_fn fn, void *data)
{
	json_t *body = range_body(store, prefix, true, 0);

	json_object_set_new(body, "keys_only", json_true());
	ask_range(store, prefix, true, body, fn, data);
}

static json_t *put_body(struct store *store, const struct store_put *put)
{
	char *full = store_key(store, put->key);
	json_t *o = json_object();

	json_object_set_new(o, "key", etcd_text(full));
	free(full);
	if (!put->value)
		return json_pack("{s:o}", "request_delete_range", o);
	json_object_set_new(o, "value", etcd_bytes(put->value, put->len));
	if (put->lease)
		json_object_set_new(o, "lease", etcd_number(put->lease));
	return json_pack("{s:o}", "request_put", o);
}

static void etcd_txn(struct store *store, const struct store_txn *txn,
		     store_reply_fn fn, void *data)
{
	json_t *compare = json_array(), *puts = json_array();
	json_t *otherwise = json_array();
	const struct store_compare *c;
	char *full;
	size_t i;

	for (i = 0; i < txn->n_compare; i++) {
		c = &txn->compare[i];
		full = store_key(store, c->key);
		json_array_append_new(compare, json_pack("{s:s, s:s, s:o, s:o}",
			"target", c->created ? "CREATE" : "MOD",
			"result", "EQUAL", "key", etcd_text(full),
			c->created ? "create_revision" : "mod_revision",
			etcd_number(c->revision)));
		json_array_append_new(otherwise, json_pack("{s:o}",
			"request_range", range_body(store, c->key, false, 0)));
		free(full);
	}
	for (i = 0; i < txn->n_put; i++)
		json_array_append_new(puts, put_body(store, &txn->put[i]));
	ask(store, "/v3/kv/txn",
	    json_pack("{s:o, s:o, s:o}", "compare", compare, "success", puts,
		      "failure", otherwise),
	    ETCD_REQUEST_MS, read_txn, fn, data);
}

/* A member that hangs must not use up the lease: others can still renew it. */
static long keep_ms(uint32_t seconds)
{
	long ms = seconds * 1000L / 4;

	return ms < KEEP_MS_MIN ? KEEP_MS_MIN :
	       ms > ETCD_REQUEST_MS ? ETCD_REQUEST_MS : ms;
}

static void etcd_lease(struct store *store, uint32_t seconds, uint64_t id,
		       store_reply_fn fn, void *data)
{
	if (id)
		ask(store, "/v3/lease/keepalive",
		    json_pack("{s:o}", "ID", etcd_number(id)),
		    keep_ms(seconds), read_keep, fn, data);
	else
		ask(store, "/v3/lease/grant",
		    json_pack("{s:o}", "TTL", etcd_number(seconds)),
		    ETCD_REQUEST_MS, read_grant, fn, data);
}

static void etcd_revoke(struct store *store, uint64_t id, store_reply_fn fn,
			void *data)
{
	ask(store, "/v3/lease/revoke", json_pack("{s:o}", "ID",
						 etcd_number(id)),
	    ETCD_REQUEST_MS, read_revoke, fn, data);
}

static int etcd_open(struct store *store, const struct store_config *config,
		     struct srpol_error *err)
{
	struct etcd *etcd = store_alloc(sizeof(*etcd));
	int ret;

	if (!config->servers.n) {
		free(etcd);
		return srpol_error_set(err, -EINVAL, "etcd has no endpoints");
	}
	etcd->config = *config;
	/* spreads clients over the members */
	etcd->at = now_ns() / 1000 % config->servers.n;
	ret = http_open(&etcd->http, &etcd->config);
	if (ret) {
		free(etcd);
		return srpol_error_set(err, ret, "libcurl does not begin");
	}
	store->impl = etcd;
	etcd_login_start(etcd);
	return 0;
}

static void free_data(struct etcd *etcd)
{
	struct http_request *r;

	/* free the data of open requests; watches own the streams */
	for (r = etcd->http.requests; r; r = r->next)
		if (!r->line && !r->dead)
			free_request(r->data);
	while (etcd->watches)
		etcd_unwatch(etcd->watches);
}

static void etcd_close(struct store *store)
{
	struct etcd *etcd = store->impl;

	etcd_login_stop(etcd);
	free_data(etcd);
	http_close(&etcd->http);
	free(etcd);
}

const struct store_ops store_etcd = {
	.name = "etcd",
	.open = etcd_open,
	.close = etcd_close,
	.range = etcd_range,
	.keys = etcd_keys,
	.txn = etcd_txn,
	.lease = etcd_lease,
	.revoke = etcd_revoke,
	.watch = etcd_watch,
	.unwatch = etcd_unwatch,
};
