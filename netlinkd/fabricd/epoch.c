// SPDX-License-Identifier: GPL-2.0
/*
 * Prepares the index of an epoch and its pages: which chunks there are, which
 * keys have to be written, and which keys of the epoch in force will no longer
 * be referred to. Unchanged chunks and pages keep their keys.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backups.h"
#include "hear.h"
#include "srpol_lib.h"
#include "tenants.h"

/**
 * struct making - an epoch being prepared
 * @next: result: the epoch
 * @change: result: the writes for it
 * @number: for each node that is a leaf: its page
 */
struct making {
	struct epoch *next;
	struct epoch_change *change;
	uint32_t *number;
};

static struct epoch_text *add_text(struct vec *texts, char *value)
{
	struct epoch_text *t = vec_add(texts);

	*t = (struct epoch_text){ .value = value,
				  .len = value ? strlen(value) : 0 };
	return t;
}

/* The page with a number, NULL: it was empty. */
static const struct srpol_page *page_of(const struct epoch *e, uint32_t number)
{
	const struct srpol_index_entry *entry;

	entry = srpol_index_find(&e->index, number);
	return entry ? &e->pages[entry - e->index.entries] : NULL;
}

static const struct srpol_page_entry *chunk_before(const struct making *m,
						   uint32_t leaf)
{
	const struct srpol_page *page = page_of(&fabricd.epoch, m->number[leaf]);

	return page ? srpol_page_find(page, fabricd.fabric->nodes[leaf].name) :
	       NULL;
}

static int add_chunk(const struct making *m, const struct srpol_plan *plan,
		     uint32_t leaf)
{
	struct srpol_page *page = &m->next->pages[m->number[leaf]];
	const struct srpol_page_entry *before = chunk_before(m, leaf);
	char *text = srpol_chunk_write(fabricd.fabric, plan, leaf);
	struct srpol_page_entry *entry;

	if (!text)
		return -ENOMEM;
	if (!*text) {
		free(text);
		return 0;
	}
	entry = &page->entries[page->n++];
	strcpy(entry->leaf, fabricd.fabric->nodes[leaf].name);
	srpol_digest(text, strlen(text), entry->digest);
	if (before && !strcmp(before->digest, entry->digest)) {
		entry->epoch = before->epoch;
		free(text);
		return 0;
	}
	entry->epoch = m->next->index.epoch;
	key_chunk(add_text(&m->change->texts, text)->key, entry->epoch,
		  entry->leaf);
	return 0;
}

static void add_seen(const struct making *m)
{
	const struct input *report;
	struct srpol_page *page;
	struct srpol_seen *seen;
	uint32_t host, leaf = 0;

	vec_for_each(report, &fabricd.reports) {
		host = hear_host(report->key, &leaf);
		page = &m->next->pages[m->number[leaf]];
		page->seen = realloc(page->seen,
				     (page->n_seen + 1) * sizeof(*seen));
		if (!page->seen)
			abort();
		seen = &page->seen[page->n_seen++];
		*seen = (struct srpol_seen){ .number = report->number };
		strcpy(seen->host, fabricd.fabric->nodes[host].name);
	}
}

static int by_leaf(const void *a, const void *b)
{
	const struct srpol_page_entry *x = a, *y = b;

	return strcmp(x->leaf, y->leaf);
}

static int by_host(const void *a, const void *b)
{
	const struct srpol_seen *x = a, *y = b;

	return strcmp(x->host, y->host);
}

static int finish_page(const struct making *m, struct srpol_page *page)
{
	struct epoch *e = m->next;
	struct srpol_index_entry *entry = &e->index.entries[e->index.n++];
	const struct srpol_index_entry *before;
	char *text;

	qsort(page->entries, page->n, sizeof(*page->entries), by_leaf);
	if (page->n_seen)
		qsort(page->seen, page->n_seen, sizeof(*page->seen), by_host);
	text = srpol_page_write(page);
	if (!text)
		return -ENOMEM;
	entry->page = page->number;
	entry->epoch = e->index.epoch;
	srpol_digest(text, strlen(text), entry->digest);
	before = srpol_index_find(&fabricd.epoch.index, page->number);
	if (before && !strcmp(before->digest, entry->digest)) {
		entry->epoch = before->epoch;
		free(text);
	} else {
		key_page(add_text(&m->change->texts, text)->key, entry->epoch,
			 entry->page);
	}
	return 0;
}

/* Drop empty pages and finish the others. */
static int finish_pages(const struct making *m, uint32_t n)
{
	struct epoch *e = m->next;
	uint32_t i, kept = 0;
	int ret = 0;

	for (i = 0; i < n; i++) {
		if (!e->pages[i].n && !e->pages[i].n_seen) {
			srpol_page_free(&e->pages[i]);
			continue;
		}
		ret = ret ?: finish_page(m, &e->pages[i]);
		e->pages[kept++] = e->pages[i];
		if (kept <= i)
			e->pages[i] = (struct srpol_page){};
	}
	/* number of pages that epoch_free() has to free */
	e->index.n = kept;
	return ret;
}

static void find_old(const struct making *m)
{
	const struct epoch *before = &fabricd.epoch;
	const struct srpol_page_entry *was, *is;
	const struct srpol_index_entry *entry;
	const struct srpol_page *page;
	struct vec *old = &m->change->old;
	uint32_t i, k, leaf;

	for (i = 0; i < before->index.n; i++) {
		for (k = 0; k < before->pages[i].n; k++) {
			was = &before->pages[i].entries[k];
			leaf = srpol_fabric_node(fabricd.fabric, was->leaf);
			page = leaf == SRPOL_NONE ? NULL :
			       page_of(m->next, m->number[leaf]);
			is = page ? srpol_page_find(page, was->leaf) : NULL;
			if (!is || is->epoch != was->epoch)
				key_chunk(add_text(old, NULL)->key, was->epoch,
					  was->leaf);
		}
		entry = srpol_index_find(&m->next->index,
					 before->index.entries[i].page);
		if (!entry || entry->epoch != before->index.entries[i].epoch)
			key_page(add_text(old, NULL)->key,
				 before->index.entries[i].epoch,
				 before->index.entries[i].page);
	}
	if (before->index.epoch)
		key_index(add_text(old, NULL)->key, before->index.epoch);
}

static int make(const struct making *m, const struct srpol_plan *plan)
{
	struct epoch *e = m->next;
	uint32_t i, n = 0;
	int ret = 0;

	for (i = 0; i < fabricd.fabric->n_nodes; i++)
		if (m->number[i] != SRPOL_NONE && m->number[i] >= n)
			n = m->number[i] + 1;
	e->pages = store_alloc((n + 1) * sizeof(*e->pages));
	e->index.entries = store_alloc((n + 1) * sizeof(*e->index.entries));
	for (i = 0; i < n; i++) {
		e->pages[i].number = i;
		e->pages[i].entries = store_alloc(e->index.leaves *
						  sizeof(*e->pages->entries));
	}
	for (i = 0; i < fabricd.fabric->n_nodes && !ret; i++)
		if (m->number[i] != SRPOL_NONE)
			ret = add_chunk(m, plan, i);
	add_seen(m);
	ret = finish_pages(m, n) ?: ret;
	if (ret)
		return ret;
	limits_make(&e->index);
	backups_make(&e->index);
	find_old(m);
	m->change->index_text = srpol_index_write(&e->index);
	return m->change->index_text ? 0 : -ENOMEM;
}

/**
 * epoch_make() - prepare the next epoch
 * @plan: plan of the epoch
 * @e: result, to be freed even on failure
 * @change: result, to be freed even on failure
 *
 * Return: 0 or -ENOMEM.
 */
int epoch_make(const struct srpol_plan *plan, struct epoch *e,
	       struct epoch_change *change)
{
	struct making m = { .next = e, .change = change };
	int ret;

	*e = (struct epoch){};
	*change = (struct epoch_change){
		.texts = VEC_INIT(struct epoch_text),
		.old = VEC_INIT(struct epoch_text),
	};
	e->index.epoch = fabricd.next_epoch;
	e->index.leaves = srpol_page_leaves(fabricd.fabric);
	strcpy(e->index.topology, fabricd.topology);
	strcpy(e->index.alg, fabricd.config.alg->name);
	m.number = store_alloc(fabricd.fabric->n_nodes * sizeof(*m.number));
	srpol_page_numbers(fabricd.fabric, e->index.leaves, m.number);
	ret = make(&m, plan);
	free(m.number);
	return ret;
}

/**
 * epoch_equal() - whether two epochs have the same contents for hosts
 * @a: one epoch
 * @b: the other epoch
 */
bool epoch_equal(const struct epoch *a, const struct epoch *b)
{
	const struct srpol_index *x = &a->index, *y = &b->index;
	uint32_t i;

	if (x->n != y->n || x->leaves != y->leaves ||
	    strcmp(x->topology, y->topology) || strcmp(x->alg, y->alg) ||
	    !limits_equal(x, y) || !srpol_backups_equal(x, y))
		return false;
	for (i = 0; i < x->n; i++)
		if (x->entries[i].page != y->entries[i].page ||
		    x->entries[i].epoch != y->entries[i].epoch)
			return false;
	return true;
}

/**
 * epoch_chunks() - number of chunks
 * @e: the epoch
 */
uint32_t epoch_chunks(const struct epoch *e)
{
	uint32_t i, n = 0;

	for (i = 0; i < e->index.n; i++)
		n += e->pages[i].n;
	return n;
}

/**
 * epoch_change_free() - free a change
 * @change: the change
 */
void epoch_change_free(struct epoch_change *change)
{
	struct epoch_text *t;

	vec_for_each(t, &change->texts)
		free(t->value);
	vec_free(&change->texts);
	vec_free(&change->old);
	free(change->index_text);
}

/**
 * epoch_free() - free an epoch
 * @e: the epoch, possibly zeroed
 */
void epoch_free(struct epoch *e)
{
	uint32_t i;

	for (i = 0; e->pages && i < e->index.n; i++)
		srpol_page_free(&e->pages[i]);
	free(e->pages);
	srpol_index_free(&e->index);
	*e = (struct epoch){};
}
