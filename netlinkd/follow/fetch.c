// SPDX-License-Identifier: GPL-2.0
/*
 * Index and chunks at a head's revision, each held to the digest of what
 * refers to it. What does not fit is counted, and the head is given up.
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

/**
 * fetch_index() - take an index
 * @f: host
 * @p: plan in the making
 * @text: index
 * @len: bytes of it
 *
 * Return: whether it is the one the head means, and for this topology.
 */
bool fetch_index(struct follow *f, struct follow_plan *p, const char *text,
		 size_t len)
{
	char digest[SRPOL_DIGEST_LEN];
	struct srpol_error err = {};

	srpol_digest(text, len, digest);
	if (strcmp(digest, p->head.digest) ||
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
	return true;
}

/**
 * fetch_chunk() - take a chunk
 * @f: host
 * @p: plan in the making, with its index
 * @leaf: leaf
 * @text: chunk
 * @len: bytes of it
 *
 * Return: whether it is the one the index means.
 */
bool fetch_chunk(struct follow *f, struct follow_plan *p, uint32_t leaf,
		 const char *text, size_t len)
{
	const char *name = f->fabric->nodes[leaf].name;
	const struct srpol_index_entry *entry;
	char digest[SRPOL_DIGEST_LEN];

	entry = srpol_index_find(&p->index, name);
	srpol_digest(text, len, digest);
	if (!entry || strcmp(digest, entry->digest)) {
		f->stats.bad_chunk++;
		log_notice("epoch %llu: chunk of %s is not the one its index means",
			   (unsigned long long)p->head.epoch, name);
		return false;
	}
	p->leaf[p->n] = leaf;
	p->chunk[p->n++] = copy(text, len);
	return true;
}

/**
 * fetch_check() - make a plan of what was taken
 * @f: host
 * @p: plan in the making
 *
 * Return: whether it is one.
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

static void got_chunk(void *data, const struct store_reply *reply)
{
	struct follow *f = data;

	if (!came(f, reply))
		return;
	if (!fetch_chunk(f, f->next, f->leaves[f->next_at++],
			 reply->n ? reply->kvs[0].value : "",
			 reply->n ? reply->kvs[0].len : 0)) {
		follow_fetched(f, true);
		return;
	}
	next_chunk(f);
}

static void next_chunk(struct follow *f)
{
	const struct srpol_index_entry *entry = NULL;
	char key[STORE_KEY_LEN];
	const char *name;

	for (; f->next_at < f->n_leaves && !entry; f->next_at++) {
		name = f->fabric->nodes[f->leaves[f->next_at]].name;
		entry = srpol_index_find(&f->next->index, name);
		if (entry)
			break;
	}
	if (!entry) {
		fetch_check(f, f->next);
		follow_fetched(f, true);
		return;
	}
	snprintf(key, sizeof(key), "plan/%s/%010" PRIu64 "/%s",
		 f->config.shard, entry->epoch, name);
	f->store.ops->range(&f->store, key, false, f->next_rev, got_chunk, f);
}

static void got_index(void *data, const struct store_reply *reply)
{
	struct follow *f = data;

	if (!came(f, reply))
		return;
	if (fetch_index(f, f->next, reply->n ? reply->kvs[0].value : "",
			reply->n ? reply->kvs[0].len : 0))
		next_chunk(f);
	else
		follow_fetched(f, true);
}

/**
 * fetch_start() - fetch what the head in @f->next means
 * @f: host; follow_fetched() is called at the end
 */
void fetch_start(struct follow *f)
{
	char key[STORE_KEY_LEN];

	f->next_at = 0;
	snprintf(key, sizeof(key), "index/%s/%010" PRIu64, f->config.shard,
		 f->next->head.epoch);
	f->store.ops->range(&f->store, key, false, f->next_rev, got_index, f);
}
