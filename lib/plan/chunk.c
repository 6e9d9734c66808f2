// SPDX-License-Identifier: LGPL-2.1
/*
 * A chunk: the part of a plan for one source leaf, as text. First there is one
 * line per pair of leaves,
 *
 *	{"color":N,"to":LEAF,"weights":HEX}
 *
 * sorted by the number of the destination leaf and by color; weights are one
 * hexadecimal digit per path of srpol_fan_init(). Then there is one line per
 * pair of GPUs and color whose flows have paths,
 *
 *	{"color":N,"dst":HOST,"dst_rail":N,"flows":[[PATH,FLOWS],...],
 *	 "rail":N,"src":HOST}
 *
 * for source GPUs whose first NIC is attached to the leaf, sorted by GPUs,
 * colors and paths. A color or rail of 0 is left out. There is no line break or
 * white space within a line, and the same plan always has the same text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jsonl.h"
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

	if (!hex)
		return -ENOMEM;
	hex_of(plan->weights + plan->first[pair], n, hex);
	line = json_pack("{s:s, s:s}", "to", f->nodes[plan->to[pair]].name,
			 "weights", hex);
	free(hex);
	if (plan->color[pair])
		json_object_set_new(line, "color",
				    json_integer(plan->color[pair]));
	return srpol_jsonl_put(out, line);
}

static int write_flows(FILE *out, const struct srpol_fabric *f,
		       const struct srpol_flows *flows, uint32_t n)
{
	const struct srpol_gpu *src = &f->gpus[flows->src];
	const struct srpol_gpu *dst = &f->gpus[flows->dst];
	json_t *line, *paths = json_array();
	uint32_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(paths, json_pack("[I, I]",
			(json_int_t)flows[i].path, (json_int_t)flows[i].n));
	line = json_pack("{s:s, s:s, s:o}", "src", f->nodes[src->host].name,
			 "dst", f->nodes[dst->host].name, "flows", paths);
	if (src->rail)
		json_object_set_new(line, "rail", json_integer(src->rail));
	if (dst->rail)
		json_object_set_new(line, "dst_rail", json_integer(dst->rail));
	if (flows->color)
		json_object_set_new(line, "color", json_integer(flows->color));
	return srpol_jsonl_put(out, line);
}

static bool is_below(const struct srpol_fabric *f, uint32_t gpu, uint32_t leaf)
{
	return f->nics[f->gpus[gpu].nic].leaf == leaf;
}

/**
 * srpol_chunk_write() - write the part of a plan for one source leaf as text
 * @f: finished fabric
 * @plan: plan
 * @leaf: source leaf
 *
 * O(pairs and flows of the plan).
 *
 * Return: text to be freed, empty if the plan has nothing for the leaf; NULL
 * without memory.
 */
char *srpol_chunk_write(const struct srpol_fabric *f,
			const struct srpol_plan *plan, uint32_t leaf)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	uint32_t i, n;
	int ret = 0;

	if (!out)
		return NULL;
	for (i = 0; i < plan->n && !ret; i++)
		if (plan->from[i] == leaf)
			ret = write_line(out, f, plan, i);
	for (i = 0; i < plan->n_flows && !ret; i += n) {
		n = srpol_flows_alike(plan, i);
		if (is_below(f, plan->flows[i].src, leaf))
			ret = write_flows(out, f, &plan->flows[i], n);
	}
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

/* Appends a pair; room_for() has allocated enough memory for it. */
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

/**
 * struct reading - state while a chunk is read
 * @f: finished fabric
 * @plan: result, with enough memory for everything
 * @leaf: source leaf
 * @flows: number of flow entries that @plan had before this chunk
 * @why: reason of a failure
 */
struct reading {
	const struct srpol_fabric *f;
	struct srpol_plan *plan;
	uint32_t leaf;
	uint32_t flows;
	struct srpol_error why;
};

static int read_pair(json_t *o, struct reading *r)
{
	json_int_t color = 0;
	const char *to, *hex;

	if (json_unpack(o, "{s:s, s:s, s?I !}", "to", &to, "weights", &hex,
			"color", &color) ||
	    color < 0 || color > UINT32_MAX)
		return srpol_error_set(&r->why, -EINVAL,
				       "a line is no pair of leaves");
	if (r->plan->n_flows > r->flows)
		return srpol_error_set(&r->why, -EINVAL,
				       "leaf \"%s\" is out of order", to);
	return add_pair(r->f, r->plan, r->leaf, to, color, hex, &r->why);
}

static uint32_t gpu_of(const struct srpol_fabric *f, const char *host,
		       json_int_t rail)
{
	uint32_t node = srpol_fabric_node(f, host);

	return node == SRPOL_NONE || f->nodes[node].tier != SRPOL_TIER_HOST ||
	       rail < 0 || rail >= SRPOL_RAILS_MAX ? SRPOL_NONE :
	       srpol_fabric_gpu(f, node, rail);
}

/* Whether an entry comes after the last one that was read for this leaf. */
static bool is_next(const struct reading *r, const struct srpol_flows *flows)
{
	const struct srpol_plan *plan = r->plan;

	return plan->n_flows == r->flows ||
	       srpol_flows_order(&plan->flows[plan->n_flows - 1], flows) < 0;
}

static int add_flows(struct reading *r, struct srpol_flows *flows,
		     const json_t *paths, uint32_t n)
{
	json_int_t path, count;
	const json_t *one;
	size_t i;

	json_array_foreach(paths, i, one) {
		if (json_unpack((json_t *)one, "[I, I !]", &path, &count) ||
		    path < 0 || path >= n || count < 1 || count > UINT32_MAX)
			return -EINVAL;
		flows->path = path;
		flows->n = count;
		if (!is_next(r, flows))
			return -EINVAL;
		r->plan->flows[r->plan->n_flows++] = *flows;
	}
	return json_array_size(paths) ? 0 : -EINVAL;
}

static int read_flows(json_t *o, struct reading *r)
{
	json_int_t rail = 0, dst_rail = 0, color = 0;
	struct srpol_flows flows = {};
	struct srpol_path_set set;
	const char *src, *dst;
	json_t *paths;
	int ret;

	if (json_unpack(o, "{s:s, s:s, s:o, s?I, s?I, s?I !}", "src", &src,
			"dst", &dst, "flows", &paths, "rail", &rail,
			"dst_rail", &dst_rail, "color", &color) ||
	    color < 0 || color > UINT32_MAX)
		return srpol_error_set(&r->why, -EINVAL,
				       "a line is neither a pair of leaves nor flows");
	flows.src = gpu_of(r->f, src, rail);
	flows.dst = gpu_of(r->f, dst, dst_rail);
	flows.color = color;
	if (flows.src == SRPOL_NONE || flows.dst == SRPOL_NONE ||
	    !is_below(r->f, flows.src, r->leaf))
		return srpol_error_set(&r->why, -EINVAL,
				       "flows from \"%s\" to \"%s\" are not of this leaf",
				       src, dst);
	ret = srpol_path_set_init(r->f, flows.src, flows.dst, &set);
	if (ret)
		return ret;
	ret = add_flows(r, &flows, paths, set.n);
	srpol_path_set_free(&set);
	return ret ? srpol_error_set(&r->why, ret,
				     "flows from \"%s\" to \"%s\" have no such paths, or are out of order",
				     src, dst) : 0;
}

static int read_line(json_t *o, uint32_t nth, void *data)
{
	(void)nth;
	return json_object_get(o, "src") ? read_flows(o, data) :
	       read_pair(o, data);
}

static int read_chunk(const struct srpol_fabric *f, struct srpol_plan *plan,
		      const struct srpol_chunk *chunk, struct srpol_error *err)
{
	struct reading r = {
		.f = f, .plan = plan, .leaf = chunk->leaf,
		.flows = plan->n_flows,
	};
	uint32_t n;
	int ret = srpol_jsonl_read(chunk->text, chunk->len, read_line, &r, &n);

	return ret ? srpol_error_set(err, ret, "chunk of %s: %s",
				     f->nodes[chunk->leaf].name,
				     r.why.text[0] ? r.why.text :
				     ret == -ENOMEM ? "out of memory" :
				     "a line is no JSON, or has no end") : 0;
}

/*
 * Allocates a plan with the most pairs, weights and flows that the text can
 * have.
 */
static struct srpol_plan *room_for(const struct srpol_chunk *chunks, uint32_t n)
{
	struct srpol_plan *plan = calloc(1, sizeof(*plan));
	size_t lines = 0, lists = 0, bytes = 0, i;
	const char *at, *end;

	for (i = 0; i < n; i++) {
		end = chunks[i].text + chunks[i].len;
		bytes += chunks[i].len;
		for (at = chunks[i].text; at < end; at++) {
			lines += *at == '\n';
			lists += *at == '[';
		}
	}
	if (!plan)
		return NULL;
	plan->from = malloc((lines + 1) * sizeof(*plan->from));
	plan->to = malloc((lines + 1) * sizeof(*plan->to));
	plan->color = malloc((lines + 1) * sizeof(*plan->color));
	plan->first = calloc(lines + 2, sizeof(*plan->first));
	plan->weights = malloc(bytes + 1);
	plan->flows = malloc((lists + 1) * sizeof(*plan->flows));
	if (plan->from && plan->to && plan->color && plan->first &&
	    plan->weights && plan->flows)
		return plan;
	srpol_plan_free(plan);
	return NULL;
}

static int by_order(const void *a, const void *b)
{
	return srpol_flows_order(a, b);
}

/**
 * srpol_chunks_read() - read the part of a plan that chunks describe
 * @f: finished fabric
 * @chunks: chunks, sorted by leaf, at most one per leaf
 * @n: number of @chunks
 * @out: result, to be freed; NULL after an error
 * @err: reason of a failure
 *
 * If any text is one that srpol_chunk_write() cannot have written for this
 * fabric, all chunks are refused.
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
			ret = srpol_error_set(err, -EINVAL,
					      "chunks are not in order of leaves");
		else
			ret = read_chunk(f, plan, &chunks[i], err);
	}
	if (ret) {
		srpol_plan_free(plan);
		return ret;
	}
	/* the order of GPUs differs from that of their leaves */
	if (plan->n_flows)
		qsort(plan->flows, plan->n_flows, sizeof(*plan->flows),
		      by_order);
	*out = plan;
	return 0;
}
