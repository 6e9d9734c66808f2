// SPDX-License-Identifier: LGPL-2.1
/*
 * A page of an epoch's index, which lists the chunks of a group of leaves. Its
 * first line is {"chunks":N,"page":NUMBER,"seen":{HOST:NUMBER}}; a line per
 * chunk follows, {"digest":D,"epoch":E,"leaf":L}, sorted by leaf name. "seen"
 * has the number of the last report of each host below these leaves. A page
 * does not name the epoch that it is part of, so that a page without changes
 * need not be written again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jsonl.h"
#include "plan.h"
#include "srpol_lib.h"

#define LEAVES_MIN	16

/**
 * srpol_page_leaves() - number of leaves per page for the plans of a fabric
 * @f: finished fabric
 *
 * A host reads the index, which has a line for each page, and the pages of its
 * leaves. The square root of the number of leaves minimizes the sum of both.
 *
 * Return: number of leaves, at least LEAVES_MIN.
 */
uint32_t srpol_page_leaves(const struct srpol_fabric *f)
{
	uint32_t i, leaves = 0, root = LEAVES_MIN;

	for (i = 0; i < f->n_nodes; i++)
		leaves += f->nodes[i].tier == SRPOL_TIER_LEAF;
	while ((uint64_t)root * root < leaves)
		root++;
	return root;
}

/**
 * srpol_page_numbers() - number of the page of each leaf
 * @f: finished fabric
 * @leaves: leaves per page, not 0
 * @page: result, by node; SRPOL_NONE for nodes that are not leaves
 *
 * Leaves are assigned to pages in the order of the topology, so the leaves of
 * one host, which usually are neighbors there, tend to share a page.
 */
void srpol_page_numbers(const struct srpol_fabric *f, uint32_t leaves,
			uint32_t *page)
{
	uint32_t i, rank = 0;

	for (i = 0; i < f->n_nodes; i++)
		page[i] = f->nodes[i].tier == SRPOL_TIER_LEAF ?
			  rank++ / leaves : SRPOL_NONE;
}

static json_t *seen_to_json(const struct srpol_page *page)
{
	json_t *seen = json_object();
	uint32_t i;

	for (i = 0; i < page->n_seen; i++)
		json_object_set_new(seen, page->seen[i].host,
				    json_integer(page->seen[i].number));
	return seen;
}

/**
 * srpol_page_write() - write a page as text
 * @page: page
 *
 * Return: text to be freed, NULL without memory.
 */
char *srpol_page_write(const struct srpol_page *page)
{
	const struct srpol_page_entry *e;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	uint32_t i;
	int ret;

	if (!out)
		return NULL;
	ret = srpol_jsonl_put(out, json_pack("{s:I, s:I, s:o}",
					     "page", (json_int_t)page->number,
					     "chunks", (json_int_t)page->n,
					     "seen", seen_to_json(page)));
	for (i = 0; i < page->n && !ret; i++) {
		e = &page->entries[i];
		ret = srpol_jsonl_put(out, json_pack("{s:s, s:I, s:s}",
						     "leaf", e->leaf, "epoch",
						     (json_int_t)e->epoch,
						     "digest", e->digest));
	}
	if (fclose(out) || ret) {
		free(text);
		return NULL;
	}
	return text;
}

static int by_host(const void *a, const void *b)
{
	const struct srpol_seen *x = a, *y = b;

	return strcmp(x->host, y->host);
}

static int read_seen(json_t *seen, struct srpol_page *page)
{
	struct srpol_seen *s;
	const char *host;
	json_t *number;

	page->seen = calloc(json_object_size(seen) + 1, sizeof(*page->seen));
	if (!page->seen)
		return -ENOMEM;
	json_object_foreach(seen, host, number) {
		s = &page->seen[page->n_seen];
		if (!srpol_word_take(s->host, sizeof(s->host), host) ||
		    !json_is_integer(number) || json_integer_value(number) < 0)
			return -EINVAL;
		s->number = json_integer_value(number);
		page->n_seen++;
	}
	qsort(page->seen, page->n_seen, sizeof(*page->seen), by_host);
	return 0;
}

/**
 * struct reading - state while a page is read
 * @page: result
 * @epoch: epoch whose index refers to the page
 * @len: length of the text in bytes
 */
struct reading {
	struct srpol_page *page;
	uint64_t epoch;
	size_t len;
};

static int read_first(json_t *o, const struct reading *r)
{
	struct srpol_page *page = r->page;
	json_int_t number, chunks;
	json_t *seen;
	int ret;

	if (json_unpack(o, "{s:I, s:I, s:o !}", "page", &number, "chunks",
			&chunks, "seen", &seen) ||
	    number < 0 || number >= SRPOL_NONE || chunks < 0 ||
	    (size_t)chunks > r->len || !json_is_object(seen))
		return -EINVAL;
	page->number = number;
	ret = read_seen(seen, page);
	if (ret)
		return ret;
	page->entries = calloc(chunks + 1UL, sizeof(*page->entries));
	if (!page->entries)
		return -ENOMEM;
	page->n = chunks;
	return 0;
}

static int read_line(json_t *o, uint32_t nth, void *data)
{
	const struct reading *r = data;
	struct srpol_page_entry *e;
	const char *leaf, *digest;
	json_int_t epoch;

	if (!nth)
		return read_first(o, r);
	if (nth > r->page->n ||
	    json_unpack(o, "{s:s, s:I, s:s !}", "leaf", &leaf, "epoch", &epoch,
			"digest", &digest))
		return -EINVAL;
	e = &r->page->entries[nth - 1];
	if (epoch <= 0 || (uint64_t)epoch > r->epoch ||
	    !srpol_word_take(e->leaf, sizeof(e->leaf), leaf) ||
	    !srpol_word_take(e->digest, sizeof(e->digest), digest) ||
	    (nth > 1 && strcmp(e[-1].leaf, e->leaf) >= 0))
		return -EINVAL;
	e->epoch = epoch;
	return 0;
}

/**
 * srpol_page_read() - read a page from its text
 * @text: text
 * @len: length of @text in bytes
 * @epoch: epoch whose index refers to the page; no chunk may be of a later one
 * @page: result, to be freed also after an error
 * @err: reason of a failure
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int srpol_page_read(const char *text, size_t len, uint64_t epoch,
		    struct srpol_page *page, struct srpol_error *err)
{
	struct reading r = { .page = page, .epoch = epoch, .len = len };
	uint32_t n;
	int ret;

	*page = (struct srpol_page){};
	ret = srpol_jsonl_read(text, len, read_line, &r, &n);
	if (!ret && n != page->n + 1)
		ret = -EINVAL;
	return ret ? srpol_error_set(err, ret, "page: line %u is wrong",
				     n + 1) : 0;
}

/**
 * srpol_page_free() - free the content of a page
 * @page: page
 */
void srpol_page_free(struct srpol_page *page)
{
	free(page->entries);
	free(page->seen);
	*page = (struct srpol_page){};
}

static int by_leaf(const void *key, const void *entry)
{
	return strcmp(key, ((const struct srpol_page_entry *)entry)->leaf);
}

/**
 * srpol_page_find() - find the chunk of a leaf
 * @page: page that the leaf belongs to
 * @leaf: name of the leaf
 *
 * Return: entry of the leaf, NULL if the plan has no chunk for it.
 */
const struct srpol_page_entry *srpol_page_find(const struct srpol_page *page,
					       const char *leaf)
{
	/* @entries may be NULL if there are none */
	return page->n ? bsearch(leaf, page->entries, page->n,
				 sizeof(*page->entries), by_leaf) : NULL;
}

/**
 * srpol_page_seen() - number of the last report of a host that the plan takes
 *	into account
 * @page: page that the host's leaf belongs to
 * @host: name of the host
 *
 * Return: number of the report, 0: there is none.
 */
uint64_t srpol_page_seen(const struct srpol_page *page, const char *host)
{
	struct srpol_seen key = {};
	const struct srpol_seen *found;

	if (!srpol_word_take(key.host, sizeof(key.host), host))
		return 0;
	found = page->n_seen ? bsearch(&key, page->seen, page->n_seen,
				       sizeof(*page->seen), by_host) : NULL;
	return found ? found->number : 0;
}
