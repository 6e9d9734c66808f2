// SPDX-License-Identifier: LGPL-2.1
/*
 * A chunk: what a plan says of the pairs of one source leaf. One line per
 * pair, {"color":N,"to":LEAF,"weights":HEX}, without the color where it is 0,
 * in order of the leaves' numbers and of colors, with one hexadecimal digit per
 * path of srpol_fan_init(). The same plan has the same text everywhere.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "srpol_lib.h"

static void hex_of(const uint8_t *weights, uint32_t n, char *hex)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		hex[i] = "0123456789abcdef"[weights[i] & 15];
	hex[n] = '\0';
}

static int write_line(FILE *out, const struct srpol_fabric *f,
		      const struct srpol_plan *plan, uint32_t pair)
{
	uint32_t n = plan->first[pair + 1] - plan->first[pair];
	char *hex = malloc(n + 1UL);
	json_t *line;
	int ret;

	if (!hex)
		return -ENOMEM;
	hex_of(plan->weights + plan->first[pair], n, hex);
	line = json_pack("{s:s, s:s}", "to", f->nodes[plan->to[pair]].name,
			 "weights", hex);
	free(hex);
	if (plan->color[pair])
		json_object_set_new(line, "color",
				    json_integer(plan->color[pair]));
	ret = line ? json_dumpf(line, out, JSON_COMPACT | JSON_SORT_KEYS) : -1;
	json_decref(line);
	putc('\n', out);
	return ret ? -ENOMEM : 0;
}

/**
 * srpol_chunk_write() - text of a leaf's pairs
 * @f: finished fabric
 * @plan: plan
 * @leaf: source leaf
 *
 * O(pairs of the plan).
 *
 * Return: text to be freed, empty if the plan says nothing of the leaf; NULL
 * without memory.
 */
char *srpol_chunk_write(const struct srpol_fabric *f,
			const struct srpol_plan *plan, uint32_t leaf)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int ret = 0;
	uint32_t i;

	if (!out)
		return NULL;
	for (i = 0; i < plan->n && !ret; i++)
		if (plan->from[i] == leaf)
			ret = write_line(out, f, plan, i);
	if (fclose(out) || ret) {
		free(text);
		return NULL;
	}
	return text;
}

static bool in_order(const struct srpol_plan *plan, uint32_t from, uint32_t to,
		     uint32_t color)
{
	uint32_t last = plan->n - 1;

	if (!plan->n || plan->from[last] != from)
		return true;
	return plan->to[last] < to ||
	       (plan->to[last] == to && plan->color[last] < color);
}

/* One more pair, with room for its weights left in the plan. */
static int add_pair(const struct srpol_fabric *f, struct srpol_plan *plan,
		    uint32_t from, const char *to, uint32_t color,
		    const char *hex, struct srpol_error *err)
{
	uint32_t node = srpol_fabric_node(f, to), i, n = strlen(hex);
	struct srpol_fan fan;
	const char *digit;
	int ret;

	if (node == SRPOL_NONE || f->nodes[node].tier != SRPOL_TIER_LEAF)
		return srpol_error_set(err, -EINVAL, "no leaf \"%s\"", to);
	if (!in_order(plan, from, node, color))
		return srpol_error_set(err, -EINVAL, "leaf \"%s\" is out of order", to);
	ret = srpol_fan_init(f, from, node, &fan);
	if (ret)
		return ret;
	if (!fan.len || n != fan.n)
		ret = srpol_error_set(err, -EINVAL, "\"%s\": %u weights, not %u",
				      to, n, fan.len ? fan.n : 0);
	srpol_fan_free(&fan);
	for (i = 0; i < n && !ret; i++) {
		digit = strchr("0123456789abcdef", hex[i]);
		if (!digit)
			return srpol_error_set(err, -EINVAL,
					       "\"%s\": weights are not hexadecimal",
					       to);
		plan->weights[plan->first[plan->n] + i] =
			digit - "0123456789abcdef";
	}
	if (ret)
		return ret;
	plan->from[plan->n] = from;
	plan->to[plan->n] = node;
	plan->color[plan->n] = color;
	plan->first[plan->n + 1] = plan->first[plan->n] + n;
	plan->n++;
	return 0;
}

static int read_line(const struct srpol_fabric *f, struct srpol_plan *plan,
		     uint32_t from, const char *line, size_t len,
		     struct srpol_error *err)
{
	const char *to, *hex;
	json_int_t color = 0;
	int ret;
	json_t *o;

	o = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	if (!o || json_unpack(o, "{s:s, s:s, s?I !}", "to", &to, "weights",
			      &hex, "color", &color) ||
	    color < 0 || color > UINT32_MAX)
		ret = srpol_error_set(err, -EINVAL, "a line is no pair of leaves");
	else
		ret = add_pair(f, plan, from, to, color, hex, err);
	json_decref(o);
	return ret;
}

static int read_chunk(const struct srpol_fabric *f, struct srpol_plan *plan,
		      const struct srpol_chunk *chunk, struct srpol_error *err)
{
	const char *at = chunk->text, *end = at + chunk->len, *line_end;
	struct srpol_error why = {};
	int ret;

	while (at < end) {
		line_end = memchr(at, '\n', end - at);
		ret = line_end ?
		      read_line(f, plan, chunk->leaf, at, line_end - at, &why) :
		      srpol_error_set(&why, -EINVAL, "the last line has no end");
		if (ret)
			return srpol_error_set(err, ret, "chunk of %s: %s",
					       f->nodes[chunk->leaf].name,
					       why.text);
		at = line_end + 1;
	}
	return 0;
}

/* As many pairs and weights as the text could have at most. */
static struct srpol_plan *room_for(const struct srpol_chunk *chunks, uint32_t n)
{
	struct srpol_plan *plan = calloc(1, sizeof(*plan));
	size_t lines = 0, bytes = 0, i;
	const char *at, *end;

	for (i = 0; i < n; i++) {
		end = chunks[i].text + chunks[i].len;
		bytes += chunks[i].len;
		for (at = chunks[i].text; at < end; at++)
			lines += *at == '\n';
	}
	if (!plan)
		return NULL;
	plan->from = malloc((lines + 1) * sizeof(*plan->from));
	plan->to = malloc((lines + 1) * sizeof(*plan->to));
	plan->color = malloc((lines + 1) * sizeof(*plan->color));
	plan->first = calloc(lines + 2, sizeof(*plan->first));
	plan->weights = malloc(bytes + 1);
	if (plan->from && plan->to && plan->color && plan->first &&
	    plan->weights)
		return plan;
	srpol_plan_free(plan);
	return NULL;
}

/**
 * srpol_chunks_read() - the part of a plan that chunks tell
 * @f: finished fabric
 * @chunks: chunks, sorted by leaf
 * @n: number of them
 * @out: result, to be freed; NULL after an error
 * @err: what is wrong
 *
 * Text that srpol_chunk_write() could not have written for this fabric is
 * refused as a whole.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int srpol_chunks_read(const struct srpol_fabric *f,
		      const struct srpol_chunk *chunks, uint32_t n,
		      struct srpol_plan **out, struct srpol_error *err)
{
	struct srpol_plan *plan = room_for(chunks, n);
	int ret = plan ? 0 : -ENOMEM;
	uint32_t i;

	*out = NULL;
	for (i = 0; i < n && !ret; i++) {
		if (i && chunks[i - 1].leaf >= chunks[i].leaf)
			ret = -EINVAL;
		else
			ret = read_chunk(f, plan, &chunks[i], err);
	}
	if (ret) {
		srpol_plan_free(plan);
		return ret;
	}
	*out = plan;
	return 0;
}
