// SPDX-License-Identifier: GPL-2.0
/*
 * srpol fabric why: what the plan says of two hosts, and from what: the links
 * of each path as hosts report them, and what jobs are to send between these
 * leaves, or else hosts forecast.
 */
#include <errno.h>
#include <string.h>

#include "forecasts.h"
#include "srpol_lib.h"

static uint32_t first_gpu(const char *host)
{
	uint32_t node = host ? srpol_fabric_node(fabricd.fabric, host) :
			SRPOL_NONE;

	return node == SRPOL_NONE ? SRPOL_NONE :
	       srpol_fabric_gpu(fabricd.fabric, node, 0);
}

/* Hosts that say that a link carries less than it should. */
static json_t *accusers(uint32_t cable)
{
	json_t *list = json_array();
	const struct input_link *said;
	const struct input *report;

	vec_for_each(report, &fabricd.reports)
		vec_for_each(said, &report->links)
			if (said->cable == cable)
				json_array_append_new(list, json_string(
					strrchr(report->key, '/') + 1));
	return list;
}

static json_t *path_json(const struct srpol_fan *fan, uint32_t i,
			 int weight)
{
	const struct srpol_fabric *f = fabricd.fabric;
	json_t *links = json_array(), *o;
	uint32_t link[4], n, j;

	n = srpol_fan_links(f, fan, i, link);
	for (j = 0; j < n; j++) {
		o = json_pack("{s:s, s:s, s:I}", "from",
			      node_name(f->links[link[j]].from), "to",
			      node_name(f->links[link[j]].to), "capacity",
			      (json_int_t)fabricd.links->links[link[j]]
			      .capacity);
		json_object_set_new(o, "reported_by", accusers(link[j] / 2));
		json_array_append_new(links, o);
	}
	return json_pack("{s:i, s:o}", "weight", weight, "links", links);
}

/* Bytes that jobs are to send between two leaves, or that hosts forecast. */
static double bytes_between(const struct workload *w, bool forecasts,
			    uint32_t from, uint32_t to)
{
	const struct srpol_fabric *f = fabricd.fabric;
	const struct srpol_gpu *src, *dst;
	double bytes = 0;
	uint32_t i;

	for (i = 0; i < w->demands.n; i++) {
		src = &f->gpus[w->demands.list[i].src];
		dst = &f->gpus[w->demands.list[i].dst];
		if ((w->job[i] == SRPOL_NONE) == forecasts &&
		    f->nics[src->nic].leaf == from &&
		    f->nics[dst->nic].leaf == to)
			bytes += w->demands.list[i].bytes;
	}
	return bytes;
}

static json_t *fan_json(const struct srpol_fan *fan, const struct workload *w)
{
	const uint8_t *weights;
	json_t *paths = json_array();
	uint32_t i, n;

	weights = srpol_plan_find(fabricd.plan, fan->from, fan->to, 0,
				  &n);
	for (i = 0; fan->len && i < fan->n; i++)
		json_array_append_new(paths, path_json(fan, i, weights ?
						       weights[i] : -1));
	return json_pack("{s:s, s:s, s:b, s:f, s:f, s:o}",
			 "from", node_name(fan->from),
			 "to", node_name(fan->to), "planned", weights != NULL,
			 "bytes", bytes_between(w, false, fan->from, fan->to),
			 "forecast_bytes",
			 bytes_between(w, true, fan->from, fan->to),
			 "paths", paths);
}

/**
 * why_request() - srpol fabric why
 * @request: "src" and "dst", hosts
 * @err: no such host, no plan
 */
json_t *why_request(const json_t *request, struct srpol_error *err)
{
	const char *src = json_string_value(json_object_get(request, "src"));
	const char *dst = json_string_value(json_object_get(request, "dst"));
	uint32_t a = first_gpu(src), b = first_gpu(dst), i;
	struct srpol_path_set set;
	struct workload w;
	json_t *planes;

	if (a == SRPOL_NONE || b == SRPOL_NONE) {
		srpol_error_set(err, -ENOENT, "no host \"%s\"",
				a == SRPOL_NONE ? src ?: "" : dst ?: "");
		return NULL;
	}
	if (!fabricd.plan) {
		srpol_error_set(err, -ENOENT, "this engine has no plan: %s leads",
				fabricd.leader[0] ? fabricd.leader : "nobody");
		return NULL;
	}
	if (workload_read(WORKLOAD_ALL, NULL, &w))
		return NULL;
	if (srpol_path_set_init(fabricd.fabric, a, b, &set)) {
		workload_free(&w);
		return NULL;
	}
	planes = json_array();
	for (i = 0; i < set.pairs; i++)
		json_array_append_new(planes, fan_json(&set.pair[i].fan, &w));
	srpol_path_set_free(&set);
	workload_free(&w);
	return json_pack("{s:s, s:s, s:I, s:s, s:o, s:o}", "src", src, "dst", dst,
			 "epoch", (json_int_t)fabricd.index.epoch,
			 "algorithm", fabricd.config.alg->name, "planes",
			 planes, "forecasts",
			 forecasts_between(fabricd.fabric->gpus[a].host,
					   fabricd.fabric->gpus[b].host));
}
