// SPDX-License-Identifier: GPL-2.0
/*
 * Writes an epoch to the store: first chunks and pages that changed, then index
 * and head in one transaction, and finally it deletes keys that nothing refers
 * to any more. Each transaction compares the leader's key with the term, so
 * that a former leader cannot write anything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tenants.h"
#include "srpol_lib.h"

#define TXN_BYTES	(STORE_VALUE_MAX / 2)

/**
 * struct publication - an epoch being written
 * @next: another one, of an earlier term
 * @term: its term
 * @done: called at the end
 * @epoch: the epoch
 * @change: the writes for it
 * @at: index of the next of its texts, then of its old keys
 * @head_text: text of the head
 */
struct publication {
	struct publication *next;
	uint64_t term;
	void (*done)(int error);
	struct epoch epoch;
	struct epoch_change change;
	size_t at;
	char *head_text;
};

static struct publication *under_way;

static void free_publication(struct publication *p)
{
	struct publication **at = &under_way;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;

	epoch_free(&p->epoch);
	epoch_change_free(&p->change);
	free(p->head_text);
	free(p);
}

static void finish(struct publication *p, int error)
{
	void (*done)(int error) = p->done;
	bool mine = p->term == fabricd.term;

	free_publication(p);
	if (mine)
		done(error);
}

/* Whether to go on; if not, @p has been freed. */
static bool is_good(struct publication *p, const struct store_reply *reply)
{
	if (p->term != fabricd.term) {
		/*
		 * the transaction of an earlier term was refused, or succeeded
		 */
		fabricd.stats.fenced += !reply->error && !reply->succeeded;
		finish(p, -ECANCELED);
		return false;
	}
	if (reply->error) {
		fabricd.stats.unsure += !reply->refused;
		log_notice("epoch %llu: %s; what is there is read again",
			   (unsigned long long)p->epoch.index.epoch, reply->text);
		finish(p, reply->error);
		return false;
	}
	if (reply->succeeded)
		return true;
	leader_fenced();
	finish(p, -EPERM);
	return false;
}

/*
 * Fill a transaction with elements of @list from @p->at on; returns their
 * number.
 */
static size_t fill(struct publication *p, const struct vec *list,
		   struct store_put *put)
{
	const struct epoch_text *texts = list->data;
	size_t n = 0, bytes = 0;

	for (; p->at < list->n && n < STORE_PUTS_MAX; p->at++) {
		bytes += texts[p->at].len;
		if (n && bytes > TXN_BYTES)
			break;
		put[n++] = (struct store_put){
			.key = texts[p->at].key,
			.value = texts[p->at].value,
			.len = texts[p->at].len,
		};
	}
	return n;
}

static bool send_some(struct publication *p, const struct vec *list,
		      store_reply_fn next)
{
	struct store_put put[STORE_PUTS_MAX];
	char leader[STORE_KEY_LEN];
	struct store_compare compare = { .key = key_leader(leader),
					 .created = true, .revision = p->term };
	struct store_txn txn = { .compare = &compare, .n_compare = 1,
				 .put = put };

	txn.n_put = fill(p, list, put);
	if (!txn.n_put)
		return false;
	fabricd.store.ops->txn(&fabricd.store, &txn, next, p);
	return true;
}

static void delete_old(void *data, const struct store_reply *reply)
{
	struct publication *p = data;

	if (!is_good(p, reply))
		return;
	if (!send_some(p, &p->change.old, delete_old))
		finish(p, 0);
}

static void wrote_head(void *data, const struct store_reply *reply)
{
	struct publication *p = data;

	if (!is_good(p, reply))
		return;
	fabricd.stats.published++;
	fabricd.published_ns = now_ns();
	fabricd.head_rev = reply->revision;
	epoch_free(&fabricd.epoch);
	fabricd.epoch = p->epoch;
	p->epoch = (struct epoch){};
	log_info("epoch %llu: %u chunks on %u pages, %zu of these written",
		 (unsigned long long)fabricd.epoch.index.epoch,
		 epoch_chunks(&fabricd.epoch), fabricd.epoch.index.n,
		 p->change.texts.n);
	p->at = 0;
	delete_old(p, reply);
}

static void write_head(struct publication *p)
{
	char leader[STORE_KEY_LEN], head[STORE_KEY_LEN], index[STORE_KEY_LEN];
	struct store_compare compare[] = {
		{ .key = key_leader(leader), .created = true,
		  .revision = p->term },
		{ .key = key_head(head), .revision = fabricd.head_rev },
	};
	struct store_put put[] = {
		{ .key = key_index(index, p->epoch.index.epoch),
		  .value = p->change.index_text,
		  .len = strlen(p->change.index_text) },
		{ .key = head, .value = p->head_text,
		  .len = strlen(p->head_text) },
	};
	struct store_txn txn = { .compare = compare, .n_compare = 2,
				 .put = put, .n_put = 2 };

	fabricd.store.ops->txn(&fabricd.store, &txn, wrote_head, p);
}

static void wrote_chunks(void *data, const struct store_reply *reply)
{
	struct publication *p = data;

	if (!is_good(p, reply))
		return;
	if (!send_some(p, &p->change.texts, wrote_chunks))
		write_head(p);
}

/* The key of which a text is larger than the store takes, NULL: of none. */
static const char *too_large(const struct publication *p, char *buf)
{
	const struct epoch_text *t;

	vec_for_each(t, &p->change.texts)
		if (t->len > STORE_VALUE_MAX)
			return t->key;
	return strlen(p->change.index_text) > STORE_VALUE_MAX ?
	       key_index(buf, p->epoch.index.epoch) : NULL;
}

/* The store would refuse it each time that it is tried. */
static int check_size(const struct publication *p)
{
	static bool told;
	char buf[STORE_KEY_LEN];
	const char *key = too_large(p, buf);

	if (key && !told)
		log_error("%s would be larger than the %u bytes that the store takes: hosts stay with what they have, until there is less to tell them",
			  key, STORE_VALUE_MAX);
	told = key;
	return key ? -E2BIG : 0;
}

static int make(struct publication *p, const struct srpol_plan *plan)
{
	struct srpol_head head = { .term = p->term,
				   .topo_rev = fabricd.topo_rev };
	int ret = epoch_make(plan, &p->epoch, &p->change) ?: check_size(p);

	if (ret)
		return ret;
	head.epoch = p->epoch.index.epoch;
	srpol_digest(p->change.index_text, strlen(p->change.index_text),
		     head.digest);
	p->head_text = srpol_head_write(&head);
	return p->head_text ? 0 : -ENOMEM;
}

/**
 * publish() - put a plan in force
 * @plan: plan
 * @done: called at the end if the term is still the same; nothing is written if
 *	plan and inputs equal what this leader published last, or (-E2BIG) if it
 *	is more than the store takes
 */
void publish(const struct srpol_plan *plan, void (*done)(int error))
{
	struct store_reply begin = { .succeeded = true };
	struct publication *p = store_alloc(sizeof(*p));
	int ret;

	p->next = under_way;
	under_way = p;
	p->term = fabricd.term;
	p->done = done;
	ret = make(p, plan);
	if (ret || (fabricd.published_ns &&
		    epoch_equal(&fabricd.epoch, &p->epoch))) {
		finish(p, ret);
		return;
	}
	/*
	 * Its number is used up: what is written under it may arrive after it was
	 * given up, and must not be taken for a part of the next.
	 */
	fabricd.next_epoch = p->epoch.index.epoch + 1;
	wrote_chunks(p, &begin);
}

/**
 * publish_stop() - abandon what is being written; called after the store is
 * closed
 */
void publish_stop(void)
{
	while (under_way)
		free_publication(under_way);
}
