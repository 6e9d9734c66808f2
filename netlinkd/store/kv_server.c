// SPDX-License-Identifier: GPL-2.0
/*
 * The socket of the embedded store. A client sends one JSON object per line,
 *
 *	{ "id": N, "op": "range", "key": K, "prefix": B, "revision": R,
 *	  "keys-only": B }
 *	{ "id": N, "op": "txn", "compare": [ [ K, CREATED, REVISION ], ... ],
 *	  "put": [ [ K, VALUE or null, LEASE ], ... ] }
 *	{ "id": N, "op": "lease", "seconds": S, "lease": ID or 0 }
 *	{ "id": N, "op": "revoke", "lease": ID }
 *	{ "id": N, "op": "watch", "key": K, "prefix": B, "revision": R }
 *	{ "id": N, "op": "unwatch" }
 *
 * and gets { "id": N, ... } as the reply. A watch has a first reply, and then
 * one for each change, all with its id; "unwatch" has none. A transaction that
 * is reported as done is on the disk, except for keys with a lease. One that has
 * an error was not done if it is "refused"; if it is not, it may be there after
 * a restart.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "kv.h"
#include "kv_json.h"
#include "lines.h"
#include "lock.h"
#include "log.h"

#define CLIENTS_MAX	4096
#define LINE_MAX_LEN	(8 << 20)
#define OUT_MAX		(64 << 20)
#define EXPIRE_NS	100000000ull
#define LATE_NS		(2 * EXPIRE_NS)
#define GRACE_NS	NS_PER_SEC
#define LEASE_MAX_S	3600	/* the most that a configuration may ask for */
#define NS_PER_SEC	1000000000ull

struct watch {
	struct lines_client *client;
	json_int_t id;
	char *key;
	bool prefix;
	bool over;
};

static struct kv kv;
static const char *kv_path;
static int kv_lock_fd = -1;
static struct vec watches = VEC_INIT(struct watch);

static void expire(void *data);
static struct alarm expiry = ALARM_INIT(expire, NULL);
static uint64_t expiry_ns;	/* when it is due, 0: it is not set */

static void say(struct lines_client *client, json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT);

	if (text)
		lines_send(client, text, strlen(text));
	free(text);
	json_decref(o);
}

static json_t *reply_of(json_int_t id, int error)
{
	return json_pack("{s:I, s:i, s:I, s:I}", "id", id, "error", error,
			 "cluster", (json_int_t)kv.cluster, "revision",
			 (json_int_t)kv.revision);
}

static void forget_watches(void)
{
	struct watch *all = watches.data;
	size_t i, kept = 0;

	for (i = 0; i < watches.n; i++) {
		if (all[i].over)
			free(all[i].key);
		else
			all[kept++] = all[i];
	}
	watches.n = kept;
}

/* Sends the changes after revision @before to the clients that watch them. */
static void tell(uint64_t before)
{
	struct watch *watch;
	json_t *o;

	vec_for_each(watch, &watches) {
		struct vec out = VEC_INIT(struct store_kv);

		if (!watch->over &&
		    !kv_changes(&kv, watch->key, watch->prefix, before + 1,
				&out) && out.n) {
			o = reply_of(watch->id, 0);
			json_object_set_new(o, "kvs", kv_to_json(out.data,
								 out.n));
			say(watch->client, o);
		}
		vec_free(&out);
	}
	forget_watches();
}

/*
 * Writes the file. A failure is logged only once until a write succeeds.
 * @replaced: result: as in kv_save()
 */
static int save(bool *replaced)
{
	static bool failing;
	struct srpol_error err = {};
	int ret = kv_save(&kv, kv_path, replaced, &err);

	if (ret && !failing)
		log_error("%s; until that is possible nothing can be changed",
			  err.text);
	if (!ret && failing)
		log_notice("%s is written again", kv_path);
	failing = ret;
	return ret;
}

/*
 * Changes are on the disk before any watcher is told. If they cannot be written
 * they are taken back: after a restart, another change would get the same
 * revision.
 * @replaced: result: they are in the file, also if that may not be on the disk
 */
static int changed(uint64_t before, bool *replaced)
{
	int ret;

	if (kv.revision == before)
		return 0;
	ret = save(replaced);
	if (ret)
		kv_undo(&kv, before);
	else
		tell(before);
	return ret;
}

/*
 * The end of a lease takes effect even if the file cannot be written, as keys
 * with a lease are not in the file.
 */
static void ended(uint64_t before)
{
	if (kv.revision == before)
		return;
	save(NULL);
	tell(before);
}

static void expire_in(uint64_t ns)
{
	if (!expiry_ns && !alarm_set(&expiry, ns))
		expiry_ns = now_ns() + ns;
}

/*
 * Where this process, or the whole machine, did not run, renewals that came in time
 * are unread, or about to come: each lease has a second for its own, once.
 */
static void expire(void *data)
{
	uint64_t before = kv.revision, now = now_ns();

	if (now > expiry_ns + LATE_NS)
		kv_excuse(&kv, now, GRACE_NS);
	expiry_ns = 0;
	if (kv_expire(&kv, now))
		ended(before);
	if (kv.leases.n)
		expire_in(EXPIRE_NS);
}

static void op_range(struct lines_client *client, json_int_t id, json_t *o)
{
	struct vec out = VEC_INIT(struct store_kv);
	json_int_t revision = 0;
	int prefix = 0, keys_only = 0, ret;
	const char *key = "";
	struct store_kv *one;
	json_t *reply;

	json_unpack(o, "{s:s, s:b, s:I, s?b}", "key", &key, "prefix", &prefix,
		    "revision", &revision, "keys-only", &keys_only);
	ret = kv_range(&kv, key, prefix, revision, &out);
	if (keys_only)
		vec_for_each(one, &out)
			one->value = NULL;
	reply = reply_of(id, ret);
	json_object_set_new(reply, "kvs", kv_to_json(out.data, out.n));
	vec_free(&out);
	say(client, reply);
}

static int read_txn(const json_t *o, struct vec *compares, struct vec *puts)
{
	json_int_t number;
	struct store_compare *c;
	struct store_put *put;
	json_t *one, *value;
	int created;
	size_t i;

	json_array_foreach(json_object_get(o, "compare"), i, one) {
		c = vec_add(compares);
		if (json_unpack(one, "[s, b, I]", &c->key, &created, &number))
			return -EINVAL;
		c->created = created;
		c->revision = number;
	}
	json_array_foreach(json_object_get(o, "put"), i, one) {
		put = vec_add(puts);
		if (json_unpack(one, "[s, o, I]", &put->key, &value, &number) ||
		    (!json_is_string(value) && !json_is_null(value)))
			return -EINVAL;
		put->value = json_string_value(value);
		put->len = json_string_length(value);
		put->lease = number;
	}
	return puts->n > STORE_PUTS_MAX ? -E2BIG : 0;
}

static void op_txn(struct lines_client *client, json_int_t id, json_t *o)
{
	struct vec compares = VEC_INIT(struct store_compare);
	struct vec puts = VEC_INIT(struct store_put);
	struct vec out = VEC_INIT(struct store_kv);
	uint64_t before = kv.revision;
	struct store_compare *c;
	bool done = false, replaced = false;
	json_t *reply;
	int ret;

	ret = read_txn(o, &compares, &puts);
	if (!ret) {
		done = kv_txn(&kv, &(struct store_txn){
			.compare = compares.data, .n_compare = compares.n,
			.put = puts.data, .n_put = puts.n,
		});
		ret = changed(before, &replaced);
		done &= !ret;
	}
	if (!done)
		vec_for_each(c, &compares)
			kv_range(&kv, c->key ?: "", false, 0, &out);
	reply = reply_of(id, ret);
	json_object_set_new(reply, "succeeded", json_boolean(done));
	json_object_set_new(reply, "refused", json_boolean(ret && !replaced));
	json_object_set_new(reply, "kvs", kv_to_json(out.data, out.n));
	vec_free(&compares);
	vec_free(&puts);
	vec_free(&out);
	say(client, reply);
}

static void op_lease(struct lines_client *client, json_int_t id, json_t *o)
{
	json_int_t seconds = 1, lease = 0;
	json_t *reply;

	json_unpack(o, "{s:I, s:I}", "seconds", &seconds, "lease", &lease);
	/* one that is renewed keeps its length */
	if (!lease && (seconds < 1 || seconds > LEASE_MAX_S)) {
		say(client, reply_of(id, -EINVAL));
		return;
	}
	lease = kv_lease(&kv, lease, (uint64_t)seconds * NS_PER_SEC,
			 now_ns());
	expire_in(EXPIRE_NS);
	reply = reply_of(id, 0);
	json_object_set_new(reply, "lease", json_integer(lease));
	say(client, reply);
}

static void op_revoke(struct lines_client *client, json_int_t id, json_t *o)
{
	uint64_t before = kv.revision;
	json_int_t lease = 0;

	json_unpack(o, "{s:I}", "lease", &lease);
	kv_revoke(&kv, lease);
	ended(before);
	say(client, reply_of(id, 0));
}

static void op_watch(struct lines_client *client, json_int_t id, json_t *o)
{
	struct vec out = VEC_INIT(struct store_kv);
	json_int_t revision = 0;
	struct watch *watch;
	const char *key = "";
	int prefix = 0, ret;
	json_t *reply;

	json_unpack(o, "{s:s, s:b, s:I}", "key", &key, "prefix", &prefix,
		    "revision", &revision);
	ret = kv_changes(&kv, key, prefix, revision ? (uint64_t)revision : kv.revision + 1, &out);
	if (!ret) {
		watch = vec_add(&watches);
		*watch = (struct watch){
			.client = client, .id = id, .key = strdup(key),
			.prefix = prefix,
		};
		if (!watch->key)
			abort();
	}
	reply = reply_of(id, ret);
	json_object_set_new(reply, "kvs", kv_to_json(out.data, out.n));
	vec_free(&out);
	say(client, reply);
}

static void op_unwatch(struct lines_client *client, json_int_t id, json_t *o)
{
	struct watch *watch;

	vec_for_each(watch, &watches)
		watch->over |= watch->client == client && watch->id == id;
	forget_watches();
}

static const struct {
	const char *name;
	void (*run)(struct lines_client *client, json_int_t id, json_t *o);
} ops[] = {
	{ "range", op_range },
	{ "txn", op_txn },
	{ "lease", op_lease },
	{ "revoke", op_revoke },
	{ "watch", op_watch },
	{ "unwatch", op_unwatch },
};

static void take_line(struct lines_client *client, char *line, size_t len)
{
	json_t *o = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	const char *op = "";
	json_int_t id = 0;
	size_t i;

	json_unpack(o, "{s:I, s:s}", "id", &id, "op", &op);
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i].name, op))
			break;
	if (i < sizeof(ops) / sizeof(ops[0]))
		ops[i].run(client, id, o);
	else
		say(client, reply_of(id, -EINVAL));
	json_decref(o);
}

/*
 * A client has left. This may happen while tell() walks the watches, so they
 * are only marked here, and freed by forget_watches().
 */
static void left(struct lines_client *client)
{
	struct watch *watch;

	vec_for_each(watch, &watches)
		watch->over |= watch->client == client;
}

static struct lines server = {
	.clients_max = CLIENTS_MAX,
	.line_max = LINE_MAX_LEN,
	.out_max = OUT_MAX,
	.line = take_line,
	.left = left,
	.listener.fd = -1,
};

/**
 * kv_server_start() - start to serve an embedded store
 * @path: path of the socket; the string must stay valid
 * @file: name of the store's file; the string must stay valid
 * @err: error message
 *
 * Return: 0, -EBUSY if another process serves this store, or another negative
 * errno.
 */
int kv_server_start(const char *path, const char *file,
		    struct srpol_error *err)
{
	uint64_t cluster = 0;
	char name[PATH_MAX];
	int ret;

	if (getrandom(&cluster, sizeof(cluster), 0) != sizeof(cluster))
		return srpol_error_set(err, -EIO, "no random numbers");
	kv_init(&kv, cluster >> 1);
	kv_path = file;
	server.path = path;
	/* not the file itself, which is replaced by each change */
	snprintf(name, sizeof(name), "%s.lock", file);
	ret = lock_file(name, &kv_lock_fd, err) ?: lines_start(&server, err) ?:
	      kv_load(&kv, file, err) ?: kv_save(&kv, file, NULL, err);
	if (ret)
		kv_server_stop();
	return ret;
}

/**
 * kv_server_stop() - stop serving
 */
void kv_server_stop(void)
{
	alarm_stop(&expiry);
	expiry_ns = 0;
	lines_stop(&server);
	forget_watches();
	vec_free(&watches);
	kv_free(&kv);
	if (kv_lock_fd >= 0)
		close(kv_lock_fd);
	kv_lock_fd = -1;
}
