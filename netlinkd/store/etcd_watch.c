// SPDX-License-Identifier: GPL-2.0
/*
 * Watches of etcd. Each is a stream on a connection of its own, as a large read
 * would delay events on a shared one (etcd issue 15402).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "etcd.h"
#include "etcd_json.h"
#include "log.h"

struct store_watch {
	struct store_watch *next;
	struct store *store;
	struct http_request *request;
	uint32_t member;
	char *key;
	bool prefix;
	store_watch_fn fn;
	void *data;
};

static void unlink_watch(struct store_watch *watch)
{
	struct etcd *etcd = watch->store->impl;
	struct store_watch **at = &etcd->watches;

	while (*at && *at != watch)
		at = &(*at)->next;
	if (*at)
		*at = watch->next;
}

/* The callback says that the watch is over; its owner must not unwatch it. */
static void end(struct store_watch *watch, int error)
{
	store_watch_fn fn = watch->fn;
	void *data = watch->data;

	etcd_unwatch(watch);
	fn(data, error, NULL, 0);
}

static bool read_event(const struct store_watch *watch, const json_t *o,
		       struct store_kv *kv)
{
	const char *type = json_string_value(json_object_get(o, "type"));

	if (!etcd_read_kv(json_object_get(o, "kv"), watch->store, watch->key,
			  watch->prefix, kv))
		return false;
	if (type && !strcmp(type, "DELETE")) {
		free(kv->value);
		kv->value = NULL;
	}
	return true;
}

/*
 * Reports the events. If one is malformed or was not asked for, the watch ends,
 * so that its owner reads everything again.
 */
static void take_events(struct store_watch *watch, const json_t *events)
{
	size_t n = json_array_size(events), i, k = 0;
	struct store_kv *kvs = store_alloc((n + 1) * sizeof(*kvs));

	while (k < n && read_event(watch, json_array_get(events, k), &kvs[k]))
		k++;
	if (k < n)
		end(watch, -EIO);
	else if (k)
		watch->fn(watch->data, 0, kvs, k);
	for (i = 0; i < k; i++)
		store_kv_free(&kvs[i]);
	free(kvs);
}

static void take_line(void *data, char *line, size_t len)
{
	json_t *o = json_loadb(line, len, 0, NULL);
	const json_t *result = json_object_get(o, "result");
	struct store_watch *watch = data;

	if (!result)
		etcd_login_check(watch->store->impl, json_string_value(
			json_object_get(json_object_get(o, "error"),
					"message")));
	if (!result || json_is_true(json_object_get(result, "canceled")))
		end(watch, etcd_read_number(result, "compact_revision") ?
		    -ERANGE : -EIO);
	else
		take_events(watch, json_object_get(result, "events"));
	json_decref(o);
}

static void ended(void *data, long status, const char *in, size_t len)
{
	struct store_watch *watch = data;

	watch->request = NULL;
	etcd_elsewhere(watch->store->impl, watch->member);
	end(watch, -EIO);
}

/**
 * etcd_watch() - see struct store_ops
 * @store: the store
 * @key: key or prefix
 * @prefix: @key is a prefix
 * @revision: first revision of interest
 * @fn: callback
 * @data: argument of @fn
 */
struct store_watch *etcd_watch(struct store *store, const char *key,
			       bool prefix, uint64_t revision,
			       store_watch_fn fn, void *data)
{
	struct store_watch *watch = store_alloc(sizeof(*watch));
	char *full = store_key(store, key);
	struct etcd *etcd = store->impl;
	json_t *o = json_object();

	watch->store = store;
	watch->member = etcd->at;
	watch->key = strdup(key) ?: (abort(), NULL);
	watch->prefix = prefix;
	watch->fn = fn;
	watch->data = data;
	json_object_set_new(o, "key", etcd_text(full));
	if (prefix)
		json_object_set_new(o, "range_end", etcd_prefix_end(full));
	json_object_set_new(o, "start_revision", etcd_number(revision));
	json_object_set_new(o, "progress_notify", json_true());
	free(full);
	watch->request = etcd_post(etcd, "/v3/watch",
				   json_pack("{s:o}", "create_request", o), 0,
				   take_line, ended, watch);
	watch->next = etcd->watches;
	etcd->watches = watch;
	return watch;
}

/**
 * etcd_unwatch() - see struct store_ops
 * @watch: watch, which is freed
 */
void etcd_unwatch(struct store_watch *watch)
{
	unlink_watch(watch);
	if (watch->request)
		http_cancel(watch->request);
	free(watch->key);
	free(watch);
}
