// SPDX-License-Identifier: GPL-2.0
/*
 * An epoch goes into the store: chunks that changed, then index and head in
 * one transaction, then what nobody refers to any more goes. Each transaction
 * compares the leader's key with the term, so that one who was leader can
 * write nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tenants.h"
#include "srpol_lib.h"

#define TXN_BYTES	(STORE_VALUE_MAX / 2)

/**
 * struct text - a key to be written, or (value NULL) deleted
 */
struct text {
	char key[STORE_KEY_LEN];
	char *value;
	size_t len;
};

/**
 * struct epoch - a publication under way
 * @next: another one, of a term of before
 * @term: in this term
 * @done: told the end
 * @index: what will be in force
 * @chunks: struct text, those that changed
 * @old: likewise, those that will not be referred to
 * @at: next of @chunks, then of @old
 * @index_text: of @index
 * @head_text: of the head
 * @seen: what it says of reports
 */
struct epoch {
	struct epoch *next;
	uint64_t term;
	void (*done)(int error);
	struct srpol_index index;
	struct vec chunks;
	struct vec old;
	size_t at;
	char *index_text;
	char *head_text;
	char *seen;
};

static struct epoch *under_way;

static void free_epoch(struct epoch *e)
{
	struct epoch **at = &under_way;
	struct text *t;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;

	vec_for_each(t, &e->chunks)
		free(t->value);
	vec_free(&e->chunks);
	vec_free(&e->old);
	srpol_index_free(&e->index);
	free(e->index_text);
	free(e->head_text);
	free(e->seen);
	free(e);
}

static void finish(struct epoch *e, int error)
{
	void (*done)(int error) = e->done;
	bool mine = e->term == fabricd.term;

	free_epoch(e);
	if (mine)
		done(error);
}

/* Whether to go on; if not, @e is gone. */
static bool is_good(struct epoch *e, const struct store_reply *reply)
{
	if (e->term != fabricd.term) {
		/* what a leader of before still tried was refused, or not */
		fabricd.stats.fenced += !reply->error && !reply->succeeded;
		finish(e, -ECANCELED);
		return false;
	}
	if (reply->error) {
		fabricd.stats.unsure++;
		log_notice("epoch %llu: %s; what is there is read again",
			   (unsigned long long)e->index.epoch, reply->text);
		finish(e, reply->error);
		return false;
	}
	if (reply->succeeded)
		return true;
	leader_fenced();
	finish(e, -EPERM);
	return false;
}

/* So many of @list from @e->at on as go into one transaction. */
static size_t fill(struct epoch *e, const struct vec *list,
		   struct store_put *put)
{
	const struct text *texts = list->data;
	size_t n = 0, bytes = 0;

	for (; e->at < list->n && n < STORE_PUTS_MAX &&
	     bytes < TXN_BYTES; e->at++) {
		bytes += texts[e->at].len;
		put[n++] = (struct store_put){
			.key = texts[e->at].key,
			.value = texts[e->at].value,
			.len = texts[e->at].len,
		};
	}
	return n;
}

static bool send_some(struct epoch *e, const struct vec *list,
		      store_reply_fn next)
{
	struct store_put put[STORE_PUTS_MAX];
	char leader[STORE_KEY_LEN];
	struct store_compare compare = { .key = key_leader(leader),
					 .created = true, .revision = e->term };
	struct store_txn txn = { .compare = &compare, .n_compare = 1,
				 .put = put };

	txn.n_put = fill(e, list, put);
	if (!txn.n_put)
		return false;
	fabricd.store.ops->txn(&fabricd.store, &txn, next, e);
	return true;
}

static void delete_old(void *data, const struct store_reply *reply)
{
	struct epoch *e = data;

	if (!is_good(e, reply))
		return;
	if (!send_some(e, &e->old, delete_old))
		finish(e, 0);
}

static void wrote_head(void *data, const struct store_reply *reply)
{
	struct epoch *e = data;

	if (!is_good(e, reply))
		return;
	fabricd.stats.published++;
	fabricd.published_ns = now_ns();
	fabricd.head_rev = reply->revision;
	fabricd.next_epoch = e->index.epoch + 1;
	srpol_index_free(&fabricd.index);
	fabricd.index = e->index;
	e->index = (struct srpol_index){};
	free(fabricd.seen);
	fabricd.seen = e->seen;
	e->seen = NULL;
	log_info("epoch %llu: %u chunks, %zu of them new",
		 (unsigned long long)fabricd.index.epoch, fabricd.index.n,
		 e->chunks.n);
	e->at = 0;
	delete_old(e, reply);
}

static void write_head(struct epoch *e)
{
	char leader[STORE_KEY_LEN], head[STORE_KEY_LEN], index[STORE_KEY_LEN];
	struct store_compare compare[] = {
		{ .key = key_leader(leader), .created = true,
		  .revision = e->term },
		{ .key = key_head(head), .revision = fabricd.head_rev },
	};
	struct store_put put[] = {
		{ .key = key_index(index, e->index.epoch),
		  .value = e->index_text, .len = strlen(e->index_text) },
		{ .key = head, .value = e->head_text,
		  .len = strlen(e->head_text) },
	};
	struct store_txn txn = { .compare = compare, .n_compare = 2,
				 .put = put, .n_put = 2 };

	fabricd.store.ops->txn(&fabricd.store, &txn, wrote_head, e);
}

static void wrote_chunks(void *data, const struct store_reply *reply)
{
	struct epoch *e = data;

	if (!is_good(e, reply))
		return;
	if (!send_some(e, &e->chunks, wrote_chunks))
		write_head(e);
}

static int by_leaf(const void *a, const void *b)
{
	const struct srpol_index_entry *x = a, *y = b;

	return strcmp(x->leaf, y->leaf);
}

/* A chunk that is as it was stays where it is. */
static int add_chunk(struct epoch *e, const struct srpol_plan *plan,
		     uint32_t leaf)
{
	char *text = srpol_chunk_write(fabricd.fabric, plan, leaf);
	struct srpol_index_entry *entry = &e->index.entries[e->index.n++];
	const struct srpol_index_entry *before;
	struct text *t;

	if (!text)
		return -ENOMEM;
	strcpy(entry->leaf, fabricd.fabric->nodes[leaf].name);
	srpol_digest(text, strlen(text), entry->digest);
	before = srpol_index_find(&fabricd.index, entry->leaf);
	if (before && !strcmp(before->digest, entry->digest)) {
		entry->epoch = before->epoch;
		free(text);
		return 0;
	}
	entry->epoch = e->index.epoch;
	t = vec_add(&e->chunks);
	key_chunk(t->key, e->index.epoch, entry->leaf);
	t->value = text;
	t->len = strlen(text);
	return 0;
}

static int add_chunks(struct epoch *e, const struct srpol_plan *plan)
{
	uint32_t i;
	int ret = 0;

	e->index.entries = store_alloc((plan->n + 1) *
				       sizeof(*e->index.entries));
	for (i = 0; i < plan->n && !ret; i++)
		if (!i || plan->from[i] != plan->from[i - 1])
			ret = add_chunk(e, plan, plan->from[i]);
	qsort(e->index.entries, e->index.n, sizeof(*e->index.entries),
	      by_leaf);
	return ret;
}

static void find_old(struct epoch *e)
{
	const struct srpol_index *before = &fabricd.index;
	const struct srpol_index_entry *now;
	struct text *t;
	uint32_t i;

	for (i = 0; i < before->n; i++) {
		now = srpol_index_find(&e->index, before->entries[i].leaf);
		if (now && now->epoch == before->entries[i].epoch)
			continue;
		t = vec_add(&e->old);
		*t = (struct text){};
		key_chunk(t->key, before->entries[i].epoch,
			  before->entries[i].leaf);
	}
	if (before->epoch) {
		t = vec_add(&e->old);
		*t = (struct text){};
		key_index(t->key, before->epoch);
	}
}

static void add_seen(struct srpol_head *head)
{
	const struct input *report;
	struct srpol_seen *seen;

	head->seen = store_alloc((fabricd.reports.n + 1) * sizeof(*seen));
	vec_for_each(report, &fabricd.reports) {
		seen = &head->seen[head->n++];
		strcpy(seen->host, strrchr(report->key, '/') + 1);
		seen->number = report->number;
	}
}

static char *seen_text(const struct srpol_head *head)
{
	struct srpol_head only = { .n = head->n, .seen = head->seen };

	return srpol_head_write(&only);
}

static bool same_index(const struct srpol_index *a, const struct srpol_index *b)
{
	uint32_t i;

	if (a->n != b->n || strcmp(a->topology, b->topology) ||
	    strcmp(a->alg, b->alg) || !limits_equal(a, b))
		return false;
	for (i = 0; i < a->n; i++)
		if (a->entries[i].epoch != b->entries[i].epoch ||
		    strcmp(a->entries[i].leaf, b->entries[i].leaf))
			return false;
	return true;
}

static int make(struct epoch *e, const struct srpol_plan *plan)
{
	struct srpol_head head = { .term = e->term };
	int ret;

	e->index.epoch = fabricd.next_epoch;
	strcpy(e->index.topology, fabricd.topology);
	strcpy(e->index.alg, fabricd.config.alg->name);
	ret = add_chunks(e, plan);
	if (ret)
		return ret;
	limits_make(&e->index);
	find_old(e);
	e->index_text = srpol_index_write(&e->index);
	add_seen(&head);
	head.epoch = e->index.epoch;
	head.topo_rev = fabricd.topo_rev;
	if (e->index_text)
		srpol_digest(e->index_text, strlen(e->index_text), head.digest);
	e->head_text = srpol_head_write(&head);
	e->seen = seen_text(&head);
	srpol_head_free(&head);
	return e->index_text && e->head_text && e->seen ? 0 : -ENOMEM;
}

/**
 * publish() - make a plan the one in force
 * @plan: plan
 * @done: called if the term is still the same; nothing is done if the plan and
 *	what it has seen are as before
 */
void publish(const struct srpol_plan *plan, void (*done)(int error))
{
	struct store_reply begin = { .succeeded = true };
	struct epoch *e = store_alloc(sizeof(*e));
	int ret;

	e->next = under_way;
	under_way = e;
	e->term = fabricd.term;
	e->done = done;
	e->chunks = (struct vec)VEC_INIT(struct text);
	e->old = (struct vec)VEC_INIT(struct text);
	ret = make(e, plan);
	if (ret || (fabricd.seen && !strcmp(fabricd.seen, e->seen) &&
		    same_index(&fabricd.index, &e->index)))
		finish(e, ret);
	else
		wrote_chunks(e, &begin);
}

/**
 * publish_stop() - what is under way is forgotten; after the store is closed
 */
void publish_stop(void)
{
	while (under_way)
		free_epoch(under_way);
}
