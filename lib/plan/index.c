// SPDX-License-Identifier: LGPL-2.1
/*
 * The index of an epoch. Its first line describes the epoch; a line per page
 * follows, {"digest":D,"epoch":E,"page":NUMBER}, sorted by number. The digest
 * of the index is in the head. If there are rate limits, the first line has
 * them as "limits":[[COLOR,RATE],...], sorted by color. Backup colors are there,
 * too, see backups.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backups.h"
#include "jsonl.h"
#include "plan.h"
#include "srpol_lib.h"

/* Returns NULL if there are no limits. */
static json_t *limits_to_json(const struct srpol_index *index)
{
	json_t *list = index->n_limits ? json_array() : NULL;
	uint32_t i;

	for (i = 0; i < index->n_limits; i++)
		json_array_append_new(list, json_pack("[I, I]",
			(json_int_t)index->limits[i].color,
			(json_int_t)index->limits[i].rate));
	return list;
}

/**
 * srpol_index_write() - write an index as text
 * @index: index
 *
 * Return: text to be freed, NULL without memory.
 */
char *srpol_index_write(const struct srpol_index *index)
{
	const struct srpol_index_entry *e;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	uint32_t i;
	int ret;

	if (!out)
		return NULL;
	ret = srpol_jsonl_put(out, json_pack("{s:I, s:s, s:s, s:I, s:I, s:o*, s:o*}",
					     "epoch", (json_int_t)index->epoch,
					     "topology", index->topology,
					     "algorithm", index->alg,
					     "leaves", (json_int_t)index->leaves,
					     "pages", (json_int_t)index->n,
					     "limits", limits_to_json(index),
					     "backups",
					     srpol_backups_to_json(index)));
	for (i = 0; i < index->n && !ret; i++) {
		e = &index->entries[i];
		ret = srpol_jsonl_put(out, json_pack("{s:I, s:I, s:s}",
						     "page", (json_int_t)e->page,
						     "epoch", (json_int_t)e->epoch,
						     "digest", e->digest));
	}
	if (fclose(out) || ret) {
		free(text);
		return NULL;
	}
	return text;
}

static int read_limits(const json_t *list, struct srpol_index *index)
{
	struct srpol_limit_rate *l;
	json_int_t color, rate;
	json_t *v;
	size_t i;

	if (!json_is_array(list) || !json_array_size(list) ||
	    json_array_size(list) > UINT16_MAX)
		return -EINVAL;
	index->limits = calloc(json_array_size(list), sizeof(*l));
	if (!index->limits)
		return -ENOMEM;
	json_array_foreach(list, i, v) {
		l = &index->limits[i];
		if (json_unpack(v, "[I, I !]", &color, &rate) || color <= 0 ||
		    color > UINT32_MAX || rate <= 0 ||
		    (uint64_t)rate > SRPOL_RATE_MAX ||
		    (i && l[-1].color >= color))
			return -EINVAL;
		l->color = color;
		l->rate = rate;
		index->n_limits++;
	}
	return 0;
}

/**
 * struct reading - state while an index is read
 * @index: result
 * @len: length of the text in bytes
 */
struct reading {
	struct srpol_index *index;
	size_t len;
};

static int read_first(json_t *o, const struct reading *r)
{
	struct srpol_index *index = r->index;
	json_int_t epoch, leaves, pages;
	const char *topology, *alg;
	json_t *limits = NULL, *backups = NULL;
	int ret;

	if (json_unpack(o, "{s:I, s:s, s:s, s:I, s:I, s?o, s?o !}", "epoch",
			&epoch, "topology", &topology, "algorithm", &alg,
			"leaves", &leaves, "pages", &pages, "limits", &limits,
			"backups", &backups) ||
	    epoch <= 0 || leaves <= 0 || leaves > UINT32_MAX || pages < 0 ||
	    (size_t)pages > r->len ||
	    !srpol_word_take(index->topology, sizeof(index->topology),
			     topology) ||
	    !srpol_word_take(index->alg, sizeof(index->alg), alg))
		return -EINVAL;
	index->epoch = epoch;
	index->leaves = leaves;
	index->n = pages;
	ret = limits ? read_limits(limits, index) : 0;
	if (!ret && backups)
		ret = srpol_backups_read(backups, index);
	if (ret)
		return ret;
	index->entries = calloc(index->n + 1UL, sizeof(*index->entries));
	return index->entries ? 0 : -ENOMEM;
}

static int read_line(json_t *o, uint32_t nth, void *data)
{
	const struct reading *r = data;
	struct srpol_index_entry *e;
	json_int_t page, epoch;
	const char *digest;

	if (!nth)
		return read_first(o, r);
	if (nth > r->index->n ||
	    json_unpack(o, "{s:I, s:I, s:s !}", "page", &page, "epoch", &epoch,
			"digest", &digest))
		return -EINVAL;
	e = &r->index->entries[nth - 1];
	if (page < 0 || page >= SRPOL_NONE || epoch <= 0 ||
	    (uint64_t)epoch > r->index->epoch ||
	    !srpol_word_take(e->digest, sizeof(e->digest), digest) ||
	    (nth > 1 && e[-1].page >= page))
		return -EINVAL;
	e->page = page;
	e->epoch = epoch;
	return 0;
}

/**
 * srpol_index_read() - read an index from its text
 * @text: text
 * @len: length of @text in bytes
 * @index: result, to be freed also after an error
 * @err: reason of a failure
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int srpol_index_read(const char *text, size_t len, struct srpol_index *index,
		     struct srpol_error *err)
{
	struct reading r = { .index = index, .len = len };
	uint32_t n;
	int ret;

	*index = (struct srpol_index){};
	ret = srpol_jsonl_read(text, len, read_line, &r, &n);
	if (!ret && n != index->n + 1)
		ret = -EINVAL;
	return ret ? srpol_error_set(err, ret, "index: line %u is wrong",
				     n + 1) : 0;
}

/**
 * srpol_index_free() - free the content of an index
 * @index: index
 */
void srpol_index_free(struct srpol_index *index)
{
	free(index->entries);
	free(index->limits);
	srpol_backups_free(index);
	*index = (struct srpol_index){};
}

static int by_page(const void *key, const void *entry)
{
	uint32_t page = *(const uint32_t *)key;
	const struct srpol_index_entry *e = entry;

	return (page > e->page) - (page < e->page);
}

/**
 * srpol_index_find() - find a page
 * @index: index
 * @page: number of the page
 *
 * Return: entry of the page, NULL if the plan has nothing for its leaves.
 */
const struct srpol_index_entry *srpol_index_find(const struct srpol_index *index,
						 uint32_t page)
{
	/* @entries may be NULL if there are none */
	return index->n ? bsearch(&page, index->entries, index->n,
				  sizeof(*index->entries), by_page) : NULL;
}
