// SPDX-License-Identifier: GPL-2.0
/*
 * What a new leader reads: the topology's key, the head, its index and pages.
 * Keys that these do not refer to were left by an engine that did not finish,
 * and are deleted. A head or index that cannot be read is treated as missing:
 * everything is written again, with an epoch greater than all existing ones.
 */
#include <stdlib.h>
#include <string.h>

#include "fabricd.h"
#include "srpol_lib.h"

#define TELL_NS		(60 * NS_PER_SEC)	/* of failures, at most once */
#define EPOCH_MAX	(1ull << 53)	/* of engines' epochs; JSON numbers
					 * go no further */

/**
 * struct state - a takeover under way
 * @next: another one, of an earlier term
 * @term: its term
 * @done: called at the end
 * @epoch: highest epoch found
 * @head: head in force
 * @keys: char *: keys of chunks and indices
 * @replaces: another topology was there
 */
struct state {
	struct state *next;
	uint64_t term;
	void (*done)(bool ok);
	uint64_t epoch;
	struct srpol_head head;
	struct vec keys;
	bool replaces;
};

static struct state *under_way;

static void free_state(struct state *s)
{
	struct state **at = &under_way;
	char **key;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	vec_for_each(key, &s->keys)
		free(*key);
	vec_free(&s->keys);
	free(s);
}

static void finish(struct state *s, bool ok)
{
	void (*done)(bool ok) = s->done;
	bool mine = s->term == fabricd.term;

	free_state(s);
	if (mine)
		done(ok);
}

/* It is tried again at once, and until it succeeds there is no new plan. */
static void tell_failure(const struct store_reply *reply)
{
	static uint64_t told_ns;
	uint64_t now = now_ns();

	if (told_ns && now - told_ns < TELL_NS)
		return;
	told_ns = now;
	log_error("what the leader before left cannot be read: %s; it is tried again and again",
		  reply->text);
}

/* Whether to go on; if not, @s has been freed. */
static bool is_good(struct state *s, const struct store_reply *reply)
{
	if (s->term == fabricd.term && !reply->error)
		return true;
	fabricd.stats.unsure += reply->error != 0;
	if (s->term == fabricd.term)
		tell_failure(reply);
	finish(s, false);
	return false;
}

static bool is_fenced(struct state *s, const struct store_reply *reply)
{
	if (reply->succeeded)
		return false;
	leader_fenced();
	finish(s, false);
	return true;
}

static void keep_key(struct state *s, const char *key, const char *number)
{
	uint64_t epoch = strtoull(number, NULL, 10);

	*(char **)vec_add(&s->keys) = strdup(key) ?: (abort(), NULL);
	if (epoch > s->epoch && epoch < EPOCH_MAX)
		s->epoch = epoch;
}

static bool is_chunk(const char *key, const struct srpol_page *page)
{
	char buf[STORE_KEY_LEN];
	uint32_t i;

	for (i = 0; i < page->n; i++)
		if (!strcmp(key, key_chunk(buf, page->entries[i].epoch,
					   page->entries[i].leaf)))
			return true;
	return false;
}

static bool is_used(const char *key)
{
	const struct srpol_index *index = &fabricd.epoch.index;
	char buf[STORE_KEY_LEN];
	uint32_t i;

	if (index->epoch && !strcmp(key, key_index(buf, index->epoch)))
		return true;
	for (i = 0; i < index->n; i++)
		if (!strcmp(key, key_page(buf, index->entries[i].epoch,
					  index->entries[i].page)) ||
		    is_chunk(key, &fabricd.epoch.pages[i]))
			return true;
	return false;
}

static void sweep(struct state *s);

static void swept(void *data, const struct store_reply *reply)
{
	struct state *s = data;

	if (is_good(s, reply) && !is_fenced(s, reply))
		sweep(s);
}

static void sweep(struct state *s)
{
	struct store_put put[STORE_PUTS_MAX] = {};
	char leader[STORE_KEY_LEN], **keys = s->keys.data;
	struct store_compare compare = { .key = key_leader(leader),
					 .created = true, .revision = s->term };
	struct store_txn txn = { .compare = &compare, .n_compare = 1,
				 .put = put };
	char *kept[STORE_PUTS_MAX];
	size_t i;

	while (s->keys.n && txn.n_put < STORE_PUTS_MAX) {
		kept[txn.n_put] = keys[--s->keys.n];
		if (is_used(kept[txn.n_put]))
			free(kept[txn.n_put]);
		else
			put[txn.n_put].key = kept[txn.n_put], txn.n_put++;
	}
	if (txn.n_put) {
		fabricd.store.ops->txn(&fabricd.store, &txn, swept, s);
	} else {
		if (fabricd.next_epoch <= s->epoch)
			fabricd.next_epoch = s->epoch + 1;
		finish(s, true);
	}
	for (i = 0; i < txn.n_put; i++)
		free(kept[i]);
}

static const struct store_kv *find_key(const struct store_reply *reply,
				       const char *key)
{
	size_t i;

	for (i = 0; i < reply->n; i++)
		if (!strcmp(reply->kvs[i].key, key))
			return &reply->kvs[i];
	return NULL;
}

static bool has_digest(const struct store_kv *kv, const char *wanted)
{
	char digest[SRPOL_DIGEST_LEN];

	if (!kv)
		return false;
	srpol_digest(kv->value, kv->len, digest);
	return !strcmp(digest, wanted);
}

static bool take_pages(struct epoch *e, const struct store_reply *reply)
{
	const struct srpol_index_entry *entry;
	const struct store_kv *kv;
	char key[STORE_KEY_LEN];
	uint32_t i;

	e->pages = store_alloc((e->index.n + 1) * sizeof(*e->pages));
	for (i = 0; i < e->index.n; i++) {
		entry = &e->index.entries[i];
		kv = find_key(reply, key_page(key, entry->epoch, entry->page));
		if (!has_digest(kv, entry->digest) ||
		    srpol_page_read(kv->value, kv->len, e->index.epoch,
				    &e->pages[i], NULL) ||
		    e->pages[i].number != entry->page)
			return false;
	}
	return true;
}

/*
 * Read the epoch in force, if its index and pages have the digests in the head.
 */
static void take_epoch(struct state *s, const struct store_reply *reply)
{
	struct epoch *e = &fabricd.epoch;
	const struct store_kv *kv;
	char key[STORE_KEY_LEN];

	epoch_free(e);
	if (!s->head.epoch)
		return;
	kv = find_key(reply, key_index(key, s->head.epoch));
	if (has_digest(kv, s->head.digest) &&
	    !srpol_index_read(kv->value, kv->len, &e->index, NULL) &&
	    take_pages(e, reply))
		return;
	epoch_free(e);
	log_notice("epoch %llu: its index is damaged; all is written anew",
		   (unsigned long long)s->head.epoch);
}

static void got_indices(void *data, const struct store_reply *reply)
{
	size_t i, skip = strlen("index/") + strlen(fabricd.config.shard) + 1;
	struct state *s = data;

	if (!is_good(s, reply))
		return;
	for (i = 0; i < reply->n; i++)
		keep_key(s, reply->kvs[i].key, reply->kvs[i].key + skip);
	take_epoch(s, reply);
	sweep(s);
}

static void got_chunks(void *data, const struct store_reply *reply)
{
	char head[STORE_KEY_LEN], prefix[STORE_KEY_LEN];
	struct state *s = data;
	size_t i, skip;

	if (!is_good(s, reply))
		return;
	key_head(head);
	skip = strlen(head) - strlen("head");
	for (i = 0; i < reply->n; i++)
		if (strcmp(reply->kvs[i].key, head))
			keep_key(s, reply->kvs[i].key,
				 reply->kvs[i].key + skip);
	snprintf(prefix, sizeof(prefix), "index/%s/", fabricd.config.shard);
	fabricd.store.ops->range(&fabricd.store, prefix, true, 0, got_indices,
				 s);
}

static void got_head(void *data, const struct store_reply *reply)
{
	const struct store_kv *kv = reply->kvs;
	char prefix[STORE_KEY_LEN];
	struct state *s = data;

	if (!is_good(s, reply))
		return;
	fabricd.head_rev = reply->n ? kv->mod : 0;
	if (reply->n && (srpol_head_read(kv->value, kv->len, &s->head, NULL) ||
			 s->head.epoch >= EPOCH_MAX)) {
		log_notice("the head is damaged; all is written anew");
		s->head = (struct srpol_head){};
	}
	if (s->head.epoch > s->epoch)
		s->epoch = s->head.epoch;
	/* chunks are of interest by their keys only, and may be large together */
	snprintf(prefix, sizeof(prefix), "plan/%s/", fabricd.config.shard);
	fabricd.store.ops->keys(&fabricd.store, prefix, got_chunks, s);
}

static void read_plan(struct state *s)
{
	char head[STORE_KEY_LEN];

	fabricd.store.ops->range(&fabricd.store, key_head(head), false, 0,
				 got_head, s);
}

static void wrote_topology(void *data, const struct store_reply *reply)
{
	struct state *s = data;

	if (!is_good(s, reply) || is_fenced(s, reply))
		return;
	fabricd.topo_rev = reply->revision;
	if (s->replaces)
		log_notice("the topology is another one than that of who led before");
	read_plan(s);
}

static char *topology_text(void)
{
	json_t *o = json_pack("{s:s, s:I, s:I}", "digest", fabricd.topology,
			      "nodes", (json_int_t)fabricd.fabric->n_nodes,
			      "links", (json_int_t)fabricd.fabric->n_links / 2);
	char *text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);

	json_decref(o);
	return text;
}

static void got_topology(void *data, const struct store_reply *reply)
{
	char *text = topology_text(), leader[STORE_KEY_LEN], key[STORE_KEY_LEN];
	struct store_put put = { .key = key_topology(key), .value = text };
	struct state *s = data;
	struct store_compare compare = { .key = key_leader(leader),
					 .created = true, .revision = s->term };
	struct store_txn txn = { .compare = &compare, .n_compare = 1,
				 .put = &put, .n_put = 1 };

	if (!text)
		abort();
	if (!is_good(s, reply)) {
		free(text);
		return;
	}
	put.len = strlen(text);
	if (reply->n && reply->kvs[0].len == put.len &&
	    !memcmp(reply->kvs[0].value, text, put.len)) {
		fabricd.topo_rev = reply->kvs[0].mod;
		read_plan(s);
	} else {
		s->replaces = reply->n;
		fabricd.store.ops->txn(&fabricd.store, &txn, wrote_topology, s);
	}
	free(text);
}

/**
 * takeover() - read the store, and delete keys that nothing refers to
 * @done: called at the end if the term is still the same; @ok: all was read
 */
void takeover(void (*done)(bool ok))
{
	struct state *s = store_alloc(sizeof(*s));
	char key[STORE_KEY_LEN];

	s->next = under_way;
	under_way = s;
	s->term = fabricd.term;
	s->done = done;
	s->keys = (struct vec)VEC_INIT(char *);
	fabricd.store.ops->range(&fabricd.store, key_topology(key), false, 0,
				 got_topology, s);
}

/**
 * takeover_stop() - abandon what is under way; called after the store is closed
 */
void takeover_stop(void)
{
	while (under_way)
		free_state(under_way);
}
