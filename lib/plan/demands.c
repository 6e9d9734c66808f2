// SPDX-License-Identifier: LGPL-2.1
/*
 * The demands that a job announces: { "demands": [ { "src": HOST, "dst": HOST,
 * "rail": N, "bytes": B }, ... ] }, or { "all-to-all": { "hosts": [ HOST, ...
 * ], "rail": N, "bytes": B } }, in which each host sends B bytes to each other
 * host. Either form may also have "times", see times.c. With "via": WORD all
 * demands have to pass a function with that name or of that kind. With "flows":
 * N each demand consists of N flows of equal size, each of which gets a path of
 * its own. "shard": NAME is that of the engine that wrote the job.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "srpol_lib.h"
#include "times.h"

#define DEMANDS_MAX	(1u << 22)	/* limit for all jobs */
#define FLOWS_MAX	(1u << 16)	/* per job */
#define SHARD_MAX	31		/* bytes of its name */

static int add(struct srpol_demands *demands, const struct srpol_demand *d,
	       struct srpol_error *err)
{
	struct srpol_demand *list;
	uint32_t room;

	if (demands->n == DEMANDS_MAX)
		return srpol_error_set(err, -E2BIG, "more than %u demands",
				       DEMANDS_MAX);
	if (demands->n == demands->room) {
		room = demands->room ? 2 * demands->room : 64;
		list = realloc(demands->list, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		demands->list = list;
		demands->room = room;
	}
	demands->list[demands->n++] = *d;
	return 0;
}

static int gpu_of(const struct srpol_fabric *f, const char *host,
		  json_int_t rail, uint32_t *gpu, struct srpol_error *err)
{
	uint32_t node = srpol_fabric_node(f, host);

	*gpu = node == SRPOL_NONE || rail < 0 || rail >= SRPOL_RAILS_MAX ?
	       SRPOL_NONE : srpol_fabric_gpu(f, node, rail);
	if (*gpu != SRPOL_NONE)
		return 0;
	return srpol_error_set(err, -ENOENT, "no host \"%s\" with a rail %lld",
			       host, (long long)rail);
}

static int check_bytes(json_int_t bytes, struct srpol_error *err)
{
	if (bytes > 0 && bytes < INT64_C(1) << 53)
		return 0;
	return srpol_error_set(err, -EINVAL,
			       "\"bytes\" is not a number from 1 to 2^53 - 1");
}

static int read_one(const struct srpol_fabric *f, const json_t *o,
		    struct srpol_demands *demands, struct srpol_error *err)
{
	struct srpol_demand d = { .color = 1 };
	json_int_t rail = 0, bytes;
	const char *src, *dst;
	int ret;

	if (json_unpack((json_t *)o, "{s:s, s:s, s?I, s:I !}", "src", &src,
			"dst", &dst, "rail", &rail, "bytes", &bytes))
		return srpol_error_set(err, -EINVAL,
				       "a demand is { src, dst, rail, bytes }");
	ret = check_bytes(bytes, err) ?:
	      gpu_of(f, src, rail, &d.src, err) ?:
	      gpu_of(f, dst, rail, &d.dst, err);
	if (ret)
		return ret;
	d.bytes = bytes;
	return add(demands, &d, err);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int gpus_of(const struct srpol_fabric *f, const json_t *hosts,
		   json_int_t rail, uint32_t *gpu, struct srpol_error *err)
{
	size_t n = json_array_size(hosts), i;
	const json_t *name;
	int ret;

	json_array_foreach(hosts, i, name) {
		ret = gpu_of(f, json_string_value(name) ?: "", rail, &gpu[i],
			     err);
		if (ret)
			return ret;
	}
	qsort(gpu, n, sizeof(*gpu), by_number);
	for (i = 1; i < n; i++)
		if (gpu[i] == gpu[i - 1])
			return srpol_error_set(err, -EINVAL,
					       "host \"%s\" is there twice",
					       f->nodes[f->gpus[gpu[i]].host]
					       .name);
	return 0;
}

static int read_all_to_all(const struct srpol_fabric *f, const json_t *o,
			   struct srpol_demands *demands,
			   struct srpol_error *err)
{
	struct srpol_demand d = { .color = 1 };
	json_int_t rail = 0, bytes;
	json_t *hosts;
	size_t n, i;
	uint32_t *gpu;
	int ret;

	if (json_unpack((json_t *)o, "{s:o, s?I, s:I !}", "hosts", &hosts,
			"rail", &rail, "bytes", &bytes) ||
	    !json_is_array(hosts))
		return srpol_error_set(err, -EINVAL,
				       "\"all-to-all\" is { hosts, rail, bytes }");
	n = json_array_size(hosts);
	gpu = calloc(n + 1, sizeof(*gpu));
	ret = gpu ? check_bytes(bytes, err) ?:
		    gpus_of(f, hosts, rail, gpu, err) : -ENOMEM;
	for (i = 0; i < n * n && !ret; i++) {
		d.src = gpu[i / n];
		d.dst = gpu[i % n];
		d.bytes = bytes;
		ret = d.src == d.dst ? 0 : add(demands, &d, err);
	}
	free(gpu);
	return ret;
}

/* Reads the function that all demands of a job ask for, if there is one. */
static int read_via(const struct srpol_fabric *f, const json_t *o,
		    struct srpol_demands *demands, uint32_t from,
		    struct srpol_error *err)
{
	const json_t *v = json_object_get(o, "via");
	const char *word = json_string_value(v);
	uint32_t via, i;

	if (!v)
		return 0;
	via = word ? srpol_fabric_via(f, word) : 0;
	if (!via)
		return srpol_error_set(err, -ENOENT,
				       "\"via\": no switch offers a function of name or kind \"%s\"",
				       word ?: "");
	for (i = from; i < demands->n; i++)
		demands->list[i].via = via;
	return srpol_demands_check(f, demands->list + from, demands->n - from,
				   err);
}

/* Reads the number of flows of each demand, if the job tells it. */
static int read_flows(const json_t *o, struct srpol_demands *demands,
		      uint32_t from, struct srpol_error *err)
{
	const json_t *v = json_object_get(o, "flows");
	json_int_t flows = json_integer_value(v);
	uint64_t n = demands->n - from;
	uint32_t i;

	if (!v)
		return 0;
	if (flows < 1 || flows > SRPOL_DEMAND_FLOWS_MAX)
		return srpol_error_set(err, -EINVAL,
				       "\"flows\" is not a number from 1 to %u",
				       SRPOL_DEMAND_FLOWS_MAX);
	if (n * flows > FLOWS_MAX)
		return srpol_error_set(err, -E2BIG,
				       "\"flows\": %llu in all, more than %u",
				       (unsigned long long)n * flows,
				       FLOWS_MAX);
	for (i = from; i < demands->n; i++)
		demands->list[i].flows = flows;
	return 0;
}

static bool has_shard(const json_t *o)
{
	size_t len = json_string_length(json_object_get(o, "shard"));

	return len && len <= SHARD_MAX;
}

/**
 * srpol_demands_read() - add the demands of a job
 * @f: finished fabric
 * @text: JSON
 * @len: length of @text in bytes
 * @demands: array that the demands are added to; unchanged after an error
 * @err: reason of a failure
 *
 * The demands of an "all-to-all" are sorted by source and destination GPU.
 *
 * Return: 0, -EINVAL, -ENOENT for a host that does not exist or a function that
 * no path of a demand passes, -E2BIG, -ENOMEM.
 */
int srpol_demands_read(const struct srpol_fabric *f, const char *text,
		       size_t len, struct srpol_demands *demands,
		       struct srpol_error *err)
{
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	json_t *list = json_object_get(o, "demands");
	json_t *all = json_object_get(o, "all-to-all");
	size_t members = 1 + !!json_object_get(o, "times") +
			 !!json_object_get(o, "via") +
			 !!json_object_get(o, "flows") +
			 has_shard(o);
	uint32_t before = demands->n;
	struct srpol_times times;
	int ret = 0;
	size_t i;

	if (json_object_size(o) != members || (!json_is_array(list) && !all))
		ret = srpol_error_set(err, -EINVAL,
				      "a job has \"demands\" or \"all-to-all\", and maybe \"times\", \"via\", \"flows\" and \"shard\"");
	ret = ret ?: srpol_times_read(o, &times, err);
	for (i = 0; i < json_array_size(list) && !ret; i++)
		ret = read_one(f, json_array_get(list, i), demands, err);
	if (all && !ret)
		ret = read_all_to_all(f, all, demands, err);
	ret = ret ?: read_via(f, o, demands, before, err) ?:
	      read_flows(o, demands, before, err);
	if (ret)
		demands->n = before;
	/* keys must not change when other jobs come and go */
	for (i = before; i < demands->n; i++)
		demands->list[i].key = i - before;
	json_decref(o);
	return ret;
}

static bool is_known(const struct srpol_fabric *f, const json_t *host)
{
	return srpol_fabric_node(f, json_string_value(host) ?: "") != SRPOL_NONE;
}

static bool names_known_hosts(const struct srpol_fabric *f, const json_t *job)
{
	const json_t *hosts = json_object_get(json_object_get(job, "all-to-all"), "hosts");
	const json_t *list = json_object_get(job, "demands"), *one;
	bool known = !json_array_size(hosts) && !json_array_size(list);
	size_t i;

	json_array_foreach(hosts, i, one)
		known |= is_known(f, one);
	json_array_foreach(list, i, one)
		known |= is_known(f, json_object_get(one, "src")) ||
			 is_known(f, json_object_get(one, "dst"));
	return known;
}

/**
 * srpol_demands_are_foreign() - is a job one of another shard?
 * @f: finished fabric
 * @shard: name of this shard
 * @text: JSON
 * @len: length of @text in bytes
 *
 * Return: whether it names hosts of which none is in this fabric, and does not say that it
 * is of this shard. Topologies of shards may overlap, and shards be renamed, so a job of
 * known hosts is one of this shard, too.
 */
bool srpol_demands_are_foreign(const struct srpol_fabric *f, const char *shard,
			       const char *text, size_t len)
{
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *of = json_string_value(json_object_get(o, "shard"));
	bool foreign = !names_known_hosts(f, o) && (!of || strcmp(of, shard));

	json_decref(o);
	return foreign;
}

/**
 * srpol_demands_free() - free an array of demands
 * @demands: array, empty afterwards
 */
void srpol_demands_free(struct srpol_demands *demands)
{
	free(demands->list);
	*demands = (struct srpol_demands){};
}
