// SPDX-License-Identifier: LGPL-2.1
/*
 * The index of an epoch: a line that says what it is, then a line per chunk,
 * {"digest":D,"epoch":E,"leaf":L}, sorted by name. Its digest is in the head. The
 * first line also has "limits":[[COLOR,RATE],...], by color, if there are some.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "srpol_lib.h"

static int put_line(FILE *out, json_t *line)
{
	int ret = line ? json_dumpf(line, out, JSON_COMPACT | JSON_SORT_KEYS) :
		  -1;

	json_decref(line);
	putc('\n', out);
	return ret;
}

/* NULL: none */
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
 * srpol_index_write() - text of an index
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
	ret = put_line(out, json_pack("{s:I, s:s, s:s, s:I, s:o*}",
				      "epoch", (json_int_t)index->epoch,
				      "topology", index->topology,
				      "algorithm", index->alg,
				      "chunks", (json_int_t)index->n,
				      "limits", limits_to_json(index)));
	for (i = 0; i < index->n && !ret; i++) {
		e = &index->entries[i];
		ret = put_line(out, json_pack("{s:s, s:I, s:s}",
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

static bool take(char *to, size_t size, const char *from)
{
	if (strlen(from) >= size)
		return false;
	strcpy(to, from);
	return true;
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

static int read_first(const json_t *o, struct srpol_index *index)
{
	const char *topology, *alg;
	json_int_t epoch, chunks;
	json_t *limits = NULL;
	int ret;

	if (json_unpack((json_t *)o, "{s:I, s:s, s:s, s:I, s?o !}", "epoch",
			&epoch, "topology", &topology, "algorithm", &alg,
			"chunks", &chunks, "limits", &limits) ||
	    epoch <= 0 || chunks < 0 || chunks > UINT32_MAX / 256 ||
	    !take(index->topology, sizeof(index->topology), topology) ||
	    !take(index->alg, sizeof(index->alg), alg))
		return -EINVAL;
	index->epoch = epoch;
	index->n = chunks;
	ret = limits ? read_limits(limits, index) : 0;
	if (ret)
		return ret;
	index->entries = calloc(index->n + 1UL, sizeof(*index->entries));
	return index->entries ? 0 : -ENOMEM;
}

static int read_entry(const json_t *o, const struct srpol_index *index,
		      uint32_t i)
{
	struct srpol_index_entry *e = &index->entries[i];
	const char *leaf, *digest;
	json_int_t epoch;

	if (i >= index->n ||
	    json_unpack((json_t *)o, "{s:s, s:I, s:s !}", "leaf", &leaf,
			"epoch", &epoch, "digest", &digest) ||
	    epoch <= 0 || (uint64_t)epoch > index->epoch ||
	    !take(e->leaf, sizeof(e->leaf), leaf) ||
	    !take(e->digest, sizeof(e->digest), digest) ||
	    (i && strcmp(e[-1].leaf, e->leaf) >= 0))
		return -EINVAL;
	e->epoch = epoch;
	return 0;
}

/**
 * srpol_index_read() - an index from its text
 * @text: text
 * @len: bytes of it
 * @index: result, to be freed in any case
 * @err: what is wrong
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int srpol_index_read(const char *text, size_t len, struct srpol_index *index,
		     struct srpol_error *err)
{
	const char *at = text, *end = text + len, *line_end;
	uint32_t lines = 0;
	int ret = 0;
	json_t *o;

	*index = (struct srpol_index){};
	for (; at < end && !ret; at = line_end + 1, lines++) {
		line_end = memchr(at, '\n', end - at);
		o = line_end ? json_loadb(at, line_end - at,
					  JSON_REJECT_DUPLICATES, NULL) : NULL;
		ret = !o ? -EINVAL : lines ? read_entry(o, index, lines - 1) :
		      read_first(o, index);
		json_decref(o);
		if (ret)
			break;
	}
	if (!ret && lines != index->n + 1)
		ret = -EINVAL;
	return ret ? srpol_error_set(err, ret, "index: line %u is wrong",
				     lines + 1) : 0;
}

/**
 * srpol_index_free() - end of an index
 * @index: it
 */
void srpol_index_free(struct srpol_index *index)
{
	free(index->entries);
	free(index->limits);
	*index = (struct srpol_index){};
}

static int by_leaf(const void *key, const void *entry)
{
	return strcmp(key, ((const struct srpol_index_entry *)entry)->leaf);
}

/**
 * srpol_index_find() - the chunk of a leaf
 * @index: index
 * @leaf: name
 *
 * Return: its entry, NULL if the plan says nothing of the leaf.
 */
const struct srpol_index_entry *srpol_index_find(const struct srpol_index *index,
						 const char *leaf)
{
	/* an empty one need not have entries at all */
	return index->n ? bsearch(leaf, index->entries, index->n,
				  sizeof(*index->entries), by_leaf) : NULL;
}
