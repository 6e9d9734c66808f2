// SPDX-License-Identifier: GPL-2.0
/*
 * Client of the embedded store, over a Unix socket; the protocol is described
 * in kv_server.c. When the connection breaks, all open requests and watches end
 * with an error, and the next request connects again.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kv_json.h"
#include "loop.h"
#include "srpol_lib.h"

#define READ_SIZE	65536
#define SOON_NS		1000000ull

/* An open request, or a watch. */
struct store_watch {
	struct store_watch *next;
	struct store *store;
	json_int_t id;
	bool is_watch;
	bool over;
	store_reply_fn fn;
	store_watch_fn watch_fn;
	void *data;
};

struct local {
	struct source source;
	struct store *store;
	char socket[108];
	char *in;
	size_t in_len;
	size_t looked;		/* bytes known to have no newline */
	char *out;
	size_t out_len;
	json_int_t next_id;
	struct store_watch *open;
	struct alarm failure;
	bool busy;
};

static void hang_up(struct local *l)
{
	if (l->source.fd < 0)
		return;
	loop_remove(&l->source);
	close(l->source.fd);
	l->source.fd = -1;
	l->in_len = 0;
	l->looked = 0;
	l->out_len = 0;
}

static void forget(struct local *l)
{
	struct store_watch *w, **at = &l->open;

	if (l->busy)
		return;
	while ((w = *at)) {
		if (!w->over) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		free(w);
	}
}

/* Makes the callback. After an error a watch is over, also for its owner. */
static void tell(struct store_watch *w, const struct store_reply *reply)
{
	w->over |= !w->is_watch || reply->error;
	if (w->is_watch)
		w->watch_fn(w->data, reply->error, reply->kvs, reply->n);
	else if (w->fn)
		w->fn(w->data, reply);
}

/*
 * Ends all open requests and watches with an error, except those that callbacks
 * start meanwhile: these will use a new connection.
 */
static void fail(void *data)
{
	struct store_reply reply = {
		.error = -EIO, .text = "the embedded store does not answer",
	};
	struct local *l = data;
	json_int_t last = l->next_id;
	struct store_watch *w;
	bool busy = l->busy;

	hang_up(l);
	l->busy = true;
	for (w = l->open; w; w = w->next)
		if (!w->over && w->id < last)
			tell(w, &reply);
	l->busy = busy;
	forget(l);
}

static void fail_soon(struct local *l)
{
	alarm_set(&l->failure, SOON_NS);
}

static void flush(struct local *l)
{
	size_t done = 0;
	ssize_t n;

	while (done < l->out_len) {
		n = send(l->source.fd, l->out + done, l->out_len - done,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			fail_soon(l);
			return;
		}
		if (n < 0)
			break;
		done += n;
	}
	l->out_len -= done;
	memmove(l->out, l->out + done, l->out_len);
	loop_change(&l->source, l->out_len ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void strip_prefix(const struct local *l, struct store_kv *kvs,
			 size_t *n)
{
	size_t len = strlen(l->store->prefix), i, kept = 0;

	for (i = 0; i < *n; i++) {
		if (strncmp(kvs[i].key, l->store->prefix, len))
			continue;
		kvs[kept] = kvs[i];
		kvs[kept++].key += len;
	}
	*n = kept;
}

static void take_answer(struct local *l, const char *line, size_t len)
{
	json_t *o = json_loadb(line, len, 0, NULL);
	json_int_t id = 0, cluster = 0, revision = 0, lease = 0;
	struct store_reply reply = {};
	struct store_kv *kvs;
	struct store_watch *w;
	int done = 0, refused = 0;

	json_unpack(o, "{s:I, s:i, s?b, s?b, s:I, s:I, s?I}", "id", &id, "error",
		    &reply.error, "succeeded", &done, "refused", &refused, "cluster",
		    &cluster, "revision", &revision, "lease", &lease);
	reply.text = reply.error ? strerror(-reply.error) : NULL;
	reply.refused = refused;
	reply.succeeded = done;
	reply.cluster = cluster;
	reply.revision = revision;
	reply.lease = lease;
	kvs = kv_from_json(json_object_get(o, "kvs"), &reply.n);
	strip_prefix(l, kvs, &reply.n);
	reply.kvs = kvs;
	for (w = l->open; w; w = w->next) {
		if (w->id != id || w->over)
			continue;
		/* the first answer to a watch may have no changes */
		if (!w->is_watch || reply.error || reply.n)
			tell(w, &reply);
		break;
	}
	free(kvs);
	json_decref(o);
}

static void take_lines(struct local *l)
{
	char *at = l->in, *from = at + l->looked, *end;

	l->busy = true;
	while (l->source.fd >= 0 &&
	       (end = memchr(from, '\n', l->in + l->in_len - from))) {
		take_answer(l, at, end - at);
		at = from = end + 1;
	}
	l->busy = false;
	if (l->source.fd >= 0) {
		l->in_len -= at - l->in;
		memmove(l->in, at, l->in_len);
		l->looked = l->in_len;
	}
	forget(l);
}

static void ready(struct source *source, uint32_t events)
{
	struct local *l = (struct local *)source;
	ssize_t n;
	char *in;

	if (events & EPOLLOUT)
		flush(l);
	if (!(events & ~EPOLLOUT))
		return;
	in = realloc(l->in, l->in_len + READ_SIZE);
	if (!in)
		abort();
	l->in = in;
	n = recv(source->fd, in + l->in_len, READ_SIZE, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		fail(l);
		return;
	}
	l->in_len += n;
	take_lines(l);
}

static bool dial(struct local *l)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	if (l->source.fd >= 0)
		return true;
	strcpy(addr.sun_path, l->socket);
	l->source.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC |
			      SOCK_NONBLOCK, 0);
	l->source.ready = ready;
	if (l->source.fd < 0)
		return false;
	if (connect(l->source.fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    loop_add(&l->source, EPOLLIN)) {
		close(l->source.fd);
		l->source.fd = -1;
		return false;
	}
	return true;
}

static void send_line(struct local *l, json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT), *out;
	size_t len = text ? strlen(text) : 0;

	json_decref(o);
	if (!text)
		abort();
	if (!dial(l)) {
		fail_soon(l);
	} else {
		out = realloc(l->out, l->out_len + len + 1);
		if (!out)
			abort();
		l->out = out;
		memcpy(out + l->out_len, text, len);
		out[l->out_len + len] = '\n';
		l->out_len += len + 1;
		flush(l);
	}
	free(text);
}

static struct store_watch *begin(struct store *store, json_t *o)
{
	struct store_watch *w = store_alloc(sizeof(*w));
	struct local *l = store->impl;

	w->store = store;
	w->id = l->next_id++;
	w->next = l->open;
	l->open = w;
	json_object_set_new(o, "id", json_integer(w->id));
	send_line(l, o);
	return w;
}

static void ask(struct store *store, json_t *o, store_reply_fn fn, void *data)
{
	struct store_watch *w = begin(store, o);

	w->fn = fn;
	w->data = data;
}

static json_t *key_of(struct store *store, const char *key)
{
	char *full = store_key(store, key);
	json_t *o = json_string(full);

	free(full);
	return o;
}

static void local_range(struct store *store, const char *key, bool prefix,
			uint64_t revision, store_reply_fn fn, void *data)
{
	ask(store, json_pack("{s:s, s:o, s:b, s:I}", "op", "range",
			     "key", key_of(store, key), "prefix", prefix,
			     "revision", (json_int_t)revision), fn, data);
}

static void local_keys(struct store *store, const char *prefix,
		       store_reply_fn fn, void *data)
{
	ask(store, json_pack("{s:s, s:o, s:b, s:I, s:b}", "op", "range",
			     "key", key_of(store, prefix), "prefix", 1,
			     "revision", (json_int_t)0, "keys-only", 1), fn,
	    data);
}

static void local_txn(struct store *store, const struct store_txn *txn,
		      store_reply_fn fn, void *data)
{
	json_t *compare = json_array(), *puts = json_array();
	const struct store_compare *c;
	const struct store_put *put;
	size_t i;

	for (i = 0; i < txn->n_compare; i++) {
		c = &txn->compare[i];
		json_array_append_new(compare, json_pack("[o, b, I]",
			key_of(store, c->key), c->created,
			(json_int_t)c->revision));
	}
	for (i = 0; i < txn->n_put; i++) {
		put = &txn->put[i];
		json_array_append_new(puts, json_pack("[o, o, I]",
			key_of(store, put->key),
			put->value ? json_stringn(put->value, put->len) :
			json_null(), (json_int_t)put->lease));
	}
	ask(store, json_pack("{s:s, s:o, s:o}", "op", "txn", "compare",
			     compare, "put", puts), fn, data);
}

static void local_lease(struct store *store, uint32_t seconds, uint64_t id,
			store_reply_fn fn, void *data)
{
	ask(store, json_pack("{s:s, s:I, s:I}", "op", "lease", "seconds",
			     (json_int_t)seconds, "lease", (json_int_t)id),
	    fn, data);
}

static void local_revoke(struct store *store, uint64_t id, store_reply_fn fn,
			 void *data)
{
	ask(store, json_pack("{s:s, s:I}", "op", "revoke", "lease",
			     (json_int_t)id), fn, data);
}

static struct store_watch *local_watch(struct store *store, const char *key,
				       bool prefix, uint64_t revision,
				       store_watch_fn fn, void *data)
{
	struct store_watch *w;

	w = begin(store, json_pack("{s:s, s:o, s:b, s:I}", "op", "watch",
				   "key", key_of(store, key), "prefix", prefix,
				   "revision", (json_int_t)revision));
	w->is_watch = true;
	w->watch_fn = fn;
	w->data = data;
	return w;
}

static void local_unwatch(struct store_watch *watch)
{
	struct local *l = watch->store->impl;

	watch->over = true;
	if (l->source.fd >= 0)
		send_line(l, json_pack("{s:s, s:I}", "op", "unwatch", "id",
				       watch->id));
	forget(l);
}

static int local_open(struct store *store, const struct store_config *config,
		      struct srpol_error *err)
{
	struct local *l = store_alloc(sizeof(*l));

	l->source.fd = -1;
	l->store = store;
	l->next_id = 1;
	l->failure = (struct alarm)ALARM_INIT(fail, l);
	strcpy(l->socket, config->socket);
	store->impl = l;
	return 0;
}

static void local_close(struct store *store)
{
	struct local *l = store->impl;
	struct store_watch *w;

	while ((w = l->open)) {
		l->open = w->next;
		free(w);
	}
	hang_up(l);
	alarm_stop(&l->failure);
	free(l->in);
	free(l->out);
	free(l);
}

const struct store_ops store_embedded = {
	.name = "embedded",
	.open = local_open,
	.close = local_close,
	.range = local_range,
	.keys = local_keys,
	.txn = local_txn,
	.lease = local_lease,
	.revoke = local_revoke,
	.watch = local_watch,
	.unwatch = local_unwatch,
};
