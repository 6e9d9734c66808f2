// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the index, pages and chunks of a plan at the revision of its head. Each
 * is verified by the digest that refers to it: the head has the digest of the
 * index, the index those of pages, pages those of chunks. If one does not
 * match, this is counted and the whole head is rejected. Pages and chunks that
 * have the same digest as in the plan in force are not read again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"
#include "log.h"
#include "srpol_lib.h"

static char *copy(const char *text, size_t len)
{
	char *to = store_alloc(len + 1);

	memcpy(to, text, len);
	return to;
}

/* Does the text have the expected digest? */
static bool has_digest(const char *text, size_t len, const char *wanted)
{
	char digest[SRPOL_DIGEST_LEN];

	srpol_digest(text, len, digest);
	return !strcmp(digest, wanted);
}

/* Find the page of each of the host's leaves. */
static void find_pages(const struct follow *f, struct follow_plan *p)
{
	uint32_t *number = store_alloc(f->fabric->n_nodes * sizeof(*number)), i;

	srpol_page_numbers(f->fabric, p->index.leaves, number);
	for (i = 0; i < f->n_leaves; i++)
		p->number[i] = number[f->leaves[i]];
	free(number);
}

/**
 * fetch_index() - verify and store the index of a plan
 * @f: follower
 * @p: plan being fetched
 * @text: text of the index
 * @len: bytes of @text
 *
 * Return: true if it is the index that the head refers to, and for this
 * topology.
 */
bool fetch_index(struct follow *f, struct follow_plan *p, const char *text,
		 size_t len)
{
	struct srpol_error err = {};

	if (!has_digest(text, len, p->head.digest) ||
	    srpol_index_read(text, len, &p->index, &err) ||
	    p->index.epoch != p->head.epoch) {
		f->stats.bad_index++;
		log_notice("epoch %llu: its index is not the one its head means",
			   (unsigned long long)p->head.epoch);
		return false;
	}
	if (strcmp(p->index.topology, f->topology)) {
		f->stats.topology++;
		log_notice("epoch %llu is for another topology",
			   (unsigned long long)p->head.epoch);
		return false;
	}
	p->index_text = copy(text, len);
	find_pages(f, p);
	return true;
}

/**
 * fetch_page() - verify and store a page of a plan
 * @f: follower
 * @p: plan being fetched, with its index
 * @number: number of the page
 * @text: text of the page
 * @len: bytes of @text
 *
 * Return: true if it is the page that the index refers to.
 */
bool fetch_page(struct follow *f, struct follow_plan *p, uint32_t number,
		const char *text, size_t len)
{
	const struct srpol_index_entry *entry;
	struct srpol_page *page = &p->page[p->n_pages];
	uint64_t seen;

	entry = srpol_index_find(&p->index, number);
	if (!entry || !has_digest(text, len, entry->digest) ||
	    srpol_page_read(text, len, p->index.epoch, page, NULL) ||
	    page->number != number) {
		srpol_page_free(page);
		f->stats.bad_index++;
		log_notice("epoch %llu: page %u is not the one its index means",
			   (unsigned long long)p->head.epoch, number);
		return false;
	}
	seen = srpol_page_seen(page, f->fabric->nodes[f->host].name);
	if (seen > p->seen)
		p->seen = seen;
	p->page_text[p->n_pages++] = copy(text, len);
	return true;
}

/**
 * fetch_page_of() - find a page that was stored
 * @p: plan
 * @number: number of the page
 *
 * Return: the page, NULL if it was not fetched.
 */
const struct srpol_page *fetch_page_of(const struct follow_plan *p,
				       uint32_t number)
{
	uint32_t i;

	for (i = 0; i < p->n_pages; i++)
		if (p->page[i].number == number)
			return &p->page[i];
	return NULL;
}

/**
 * fetch_chunk_of() - find the page entry for the chunk of a leaf
 * @f: follower
 * @p: plan, with its pages
 * @at: position of the leaf in @f->leaves
 *
 * Return: entry of the page, NULL if the plan has nothing for the leaf.
 */
const struct srpol_page_entry *fetch_chunk_of(const struct follow *f,
					      const struct follow_plan *p,
					      uint32_t at)
{
	const struct srpol_page *page = fetch_page_of(p, p->number[at]);

	return page ? srpol_page_find(page,
				      f->fabric->nodes[f->leaves[at]].name) :
	       NULL;
}

/**
 * fetch_chunk() - verify and store the chunk of a leaf
 * @f: follower
 * @p: plan being fetched, with its pages
 * @at: position of the leaf in @f->leaves
 * @text: text of the chunk
 * @len: bytes of @text
 *
 * Return: true if it is the chunk that its page refers to.
 */
bool fetch_chunk(struct follow *f, struct follow_plan *p, uint32_t at,
		 const char *text, size_t len)
{
	const struct srpol_page_entry *entry = fetch_chunk_of(f, p, at);

	if (!entry || !has_digest(text, len, entry->digest)) {
		f->stats.bad_chunk++;
		log_notice("epoch %llu: chunk of %s is not the one its page means",
			   (unsigned long long)p->head.epoch,
			   f->fabric->nodes[f->leaves[at]].name);
		return false;
	}
	p->leaf[p->n] = f->leaves[at];
	p->chunk[p->n++] = copy(text, len);
	return true;
}

/**
 * fetch_check() - parse the plan from the chunks that were stored
 * @f: follower
 * @p: plan being fetched
 *
 * Return: true if the chunks make a valid plan.
 */
bool fetch_check(struct follow *f, struct follow_plan *p)
{
	struct srpol_chunk chunks[FOLLOW_LEAVES];
	struct srpol_error err = {};
	uint32_t i;

	for (i = 0; i < p->n; i++)
		chunks[i] = (struct srpol_chunk){
			.leaf = p->leaf[i], .text = p->chunk[i],
			.len = strlen(p->chunk[i]),
		};
	if (!srpol_chunks_read(f->fabric, chunks, p->n, &p->plan, &err))
		return true;
	f->stats.bad_chunk++;
	log_notice("epoch %llu: %s", (unsigned long long)p->head.epoch,
		   err.text);
	return false;
}

static void next_chunk(struct follow *f);

static bool came(struct follow *f, const struct store_reply *reply)
{
	if (!reply->error)
		return true;
	f->stats.compacted += reply->error == -ERANGE;
	follow_again(f);
	follow_fetched(f, false);
	return false;
}

static const char *value_of(const struct store_reply *reply)
{
	return reply->n ? reply->kvs[0].value : "";
}

static size_t length_of(const struct store_reply *reply)
{
	return reply->n ? reply->kvs[0].len : 0;
}

static void got_chunk(void *data, const struct store_reply *reply)
{
	struct follow *f = data;

	if (!came(f, reply))
		return;
	if (fetch_chunk(f, f->next, f->next_at++, value_of(reply),
			length_of(reply)))
		next_chunk(f);
	else
		follow_fetched(f, true);
}

/* Chunk of the plan in force if it has the digest of @meant, else NULL. */
static const char *known_chunk(const struct follow *f, uint32_t at,
			       const struct srpol_page_entry *meant)
{
	const struct srpol_page_entry *entry;
	uint32_t i;

	entry = f->now ? fetch_chunk_of(f, f->now, at) : NULL;
	if (!entry || strcmp(entry->digest, meant->digest))
		return NULL;
	for (i = 0; i < f->now->n; i++)
		if (f->now->leaf[i] == f->leaves[at])
			return f->now->chunk[i];
	return NULL;
}

static void next_chunk(struct follow *f)
{
	const struct srpol_page_entry *entry;
	char key[STORE_KEY_LEN];
	const char *known;

	for (; f->next_at < f->n_leaves; f->next_at++) {
		entry = fetch_chunk_of(f, f->next, f->next_at);
		if (!entry)
			continue;
		known = known_chunk(f, f->next_at, entry);
		if (known && fetch_chunk(f, f->next, f->next_at, known,
					 strlen(known)))
			continue;
		snprintf(key, sizeof(key), "plan/%s/%010" PRIu64 "/%s",
			 f->config.shard, entry->epoch, entry->leaf);
		f->store.ops->range(&f->store, key, false, f->next_rev,
				    got_chunk, f);
		return;
	}
	fetch_check(f, f->next);
	follow_fetched(f, true);
}

static void next_page(struct follow *f);

static void got_page(void *data, const struct store_reply *reply)
{
	struct follow *f = data;

	if (!came(f, reply))
		return;
	if (fetch_page(f, f->next, f->next->number[f->next_at++],
		       value_of(reply), length_of(reply)))
		next_page(f);
	else
		follow_fetched(f, true);
}

/* Page of the plan in force if it has the digest of @meant, else NULL. */
static const char *known_page(const struct follow *f, uint32_t number,
			      const struct srpol_index_entry *meant)
{
	const struct srpol_index_entry *entry;
	uint32_t i;

	entry = f->now ? srpol_index_find(&f->now->index, number) : NULL;
	if (!entry || strcmp(entry->digest, meant->digest))
		return NULL;
	for (i = 0; i < f->now->n_pages; i++)
		if (f->now->page[i].number == number)
			return f->now->page_text[i];
	return NULL;
}

static void next_page(struct follow *f)
{
	const struct srpol_index_entry *entry;
	char key[STORE_KEY_LEN];
	const char *known;
	uint32_t number;

	for (; f->next_at < f->n_leaves; f->next_at++) {
		number = f->next->number[f->next_at];
		entry = srpol_index_find(&f->next->index, number);
		if (!entry || fetch_page_of(f->next, number))
			continue;
		known = known_page(f, number, entry);
		if (known &&
		    fetch_page(f, f->next, number, known, strlen(known)))
			continue;
		snprintf(key, sizeof(key), "index/%s/%010" PRIu64 "/%05" PRIu32,
			 f->config.shard, entry->epoch, number);
		f->store.ops->range(&f->store, key, false, f->next_rev,
				    got_page, f);
		return;
	}
	f->next_at = 0;
	next_chunk(f);
}

static void got_index(void *data, const struct store_reply *reply)
{
	struct follow *f = data;

	if (!came(f, reply))
		return;
	if (fetch_index(f, f->next, value_of(reply), length_of(reply)))
		next_page(f);
	else
		follow_fetched(f, true);
}

/**
 * fetch_start() - fetch the plan that the head in @f->next refers to
 * @f: follower; follow_fetched() is called at the end
 */
void fetch_start(struct follow *f)
{
	char key[STORE_KEY_LEN];

	f->next_at = 0;
	snprintf(key, sizeof(key), "index/%s/%010" PRIu64, f->config.shard,
		 f->next->head.epoch);
	f->store.ops->range(&f->store, key, false, f->next_rev, got_index, f);
}
