// SPDX-License-Identifier: GPL-2.0
/*
 * srpol fabric why: what the plan says about two hosts and what it is based on:
 * links of each path as hosts report them, and bytes that jobs announced
 * between these leaves or hosts forecast. With a tenant, this is for the
 * tenant's color, and segment lists include the function that its jobs pass.
 */
#include <errno.h>
#include <string.h>

#include "forecasts.h"
#include "function_json.h"
#include "srpol_lib.h"
#include "words.h"

/**
 * struct ends - the two GPUs that are asked about
 * @src: name of the host that sends
 * @dst: name of the host that receives
 * @rail: rail of the GPU that sends
 * @dst_rail: rail of the GPU that receives
 * @from: GPU that sends
 * @to: GPU that receives
 */
struct ends {
	const char *src;
	const char *dst;
	json_int_t rail;
	json_int_t dst_rail;
	uint32_t from;
	uint32_t to;
};

static int find_gpu(const char *host, json_int_t rail, uint32_t *gpu,
		    struct srpol_error *err)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t node = host ? srpol_fabric_node(f, host) : SRPOL_NONE;

	if (node == SRPOL_NONE || f->nodes[node].tier != SRPOL_TIER_HOST)
		return srpol_error_set(err, -ENOENT, "no host \"%s\"", host ?: "");
	*gpu = srpol_fabric_gpu(f, node, rail);
	return *gpu != SRPOL_NONE ? 0 :
	       srpol_error_set(err, -ENOENT, "host \"%s\" has no NIC of rail %lld", host,
			       (long long)rail);
}

static int read_ends(const json_t *request, struct ends *ends, struct srpol_error *err)
{
	ends->src = json_string_value(json_object_get(request, "src"));
	ends->dst = json_string_value(json_object_get(request, "dst"));
	return words_number(request, "rail", 0, SRPOL_RAILS_MAX - 1, 0, &ends->rail, err) ?:
	       words_number(request, "dst_rail", 0, SRPOL_RAILS_MAX - 1, ends->rail,
			    &ends->dst_rail, err) ?:
	       find_gpu(ends->src, ends->rail, &ends->from, err) ?:
	       find_gpu(ends->dst, ends->dst_rail, &ends->to, err);
}

/* Hosts that report that a link carries less than it should, or suspect it. */
static json_t *accusers(uint32_t cable)
{
	json_t *list = json_array();
	const struct input *report;

	vec_for_each(report, &fabricd.reports)
		if (inputs_said(report, cable) || suspects_by(report, cable))
			json_array_append_new(list, json_string(
				strrchr(report->key, '/') + 1));
	return list;
}

/**
 * struct color - color to report about
 * @color: the color, 0: none
 * @via: function that its packets pass, 0: none
 */
struct color {
	uint32_t color;
	uint32_t via;
};

/* Segment list of a path; empty if it has none. */
static json_t *list_json(const struct srpol_route *route, uint32_t function,
			 enum srpol_sid_form form)
{
	char buf[SRPOL_ADDR_STRLEN];
	struct srpol_sid_list list;
	json_t *sids = json_array();
	struct srpol_error err;
	uint32_t i;

	if (srpol_sids_via(fabricd.fabric, route, function, form, &list, &err))
		return sids;
	for (i = 0; i < list.n; i++)
		json_array_append_new(sids, json_string(
			srpol_addr_text(&list.sid[i], buf)));
	return sids;
}

/* Segments that hosts use for a path: none if it does not pass the function. */
static void add_segments(json_t *o, const struct srpol_route *route,
			 uint32_t via)
{
	uint32_t at = via ? srpol_route_function(fabricd.fabric, route, via) :
		      SRPOL_NONE;
	bool may = !via || at != SRPOL_NONE;

	json_object_set_new(o, "function", at == SRPOL_NONE ? json_null() :
			    srpol_function_json(fabricd.fabric, at));
	json_object_set_new(o, "segments", may ?
			    list_json(route, at, SRPOL_SID_REDUCED) :
			    json_array());
	json_object_set_new(o, "usids", may ?
			    list_json(route, at, SRPOL_SID_USID) :
			    json_array());
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

/*
 * Fraction of a demand that is between two leaves: planes share it by the rates
 * of their NICs.
 */
static double share_between(const struct srpol_demand *d, uint32_t from,
			    uint32_t to)
{
	const struct srpol_fabric *f = fabricd.fabric;
	const struct srpol_gpu *src = &f->gpus[d->src], *dst = &f->gpus[d->dst];
	uint64_t rate, all = 0, here = 0;
	uint32_t i, k;

	for (i = src->nic; i < src->nic + src->n; i++) {
		for (k = dst->nic; k < dst->nic + dst->n; k++) {
			if (f->nics[i].plane != f->nics[k].plane)
				continue;
			rate = srpol_links_nic_rate(f, fabricd.links, i, k);
			all += rate;
			if (f->nics[i].leaf == from && f->nics[k].leaf == to)
				here += rate;
		}
	}
	return all ? (double)here / all : 0;
}

/* Bytes that jobs announced, or hosts forecast, between two leaves. */
static double bytes_between(const struct workload *w, bool forecasts,
			    uint32_t from, uint32_t to)
{
	double bytes = 0;
	uint32_t i;

	for (i = 0; i < w->demands.n; i++)
		if ((w->job[i] == SRPOL_NONE) == forecasts)
			bytes += w->demands.list[i].bytes *
				 share_between(&w->demands.list[i], from, to);
	return bytes;
}

static json_t *plane_json(const struct srpol_path_set *set, uint32_t p,
			  const struct color *color, const struct workload *w,
			  struct srpol_flows flows)
{
	const struct srpol_fan *fan = &set->pair[p].fan;
	json_t *paths = json_array(), *o;
	struct srpol_route route;
	const uint8_t *weights;
	uint32_t i, n;

	weights = srpol_plan_find(fabricd.plan, fan->from, fan->to,
				  color->color, &n);
	for (i = 0; fan->len && i < fan->n; i++) {
		o = path_json(fan, i, weights ? weights[i] : -1);
		flows.path = set->pair[p].first + i;
		json_object_set_new(o, "flows", json_integer(
			flows_on_path(fabricd.plan, &flows)));
		srpol_path_get(fabricd.fabric, set, flows.path, &route);
		add_segments(o, &route, color->via);
		json_array_append_new(paths, o);
	}
	return json_pack("{s:s, s:s, s:b, s:f, s:f, s:o}",
			 "from", node_name(fan->from),
			 "to", node_name(fan->to), "planned", weights != NULL,
			 "bytes", bytes_between(w, false, fan->from, fan->to),
			 "forecast_bytes",
			 bytes_between(w, true, fan->from, fan->to),
			 "paths", paths);
}

static int read_tenant(const json_t *request, struct color *color,
		       struct srpol_error *err)
{
	const char *name = json_string_value(json_object_get(request,
							     "tenant"));
	const struct tenant *tenant = name ? tenant_find(name) : NULL;

	*color = (struct color){};
	if (!json_object_get(request, "tenant"))
		return 0;
	if (!tenant)
		return srpol_error_set(err, -ENOENT,
				       "there is no tenant \"%s\"", name ?: "");
	color->color = tenant->color;
	color->via = via_of_tenant(name);
	return 0;
}

/**
 * why_request() - handle srpol fabric why
 * @request: hosts "src" and "dst"; "rail" and "dst_rail": of which GPUs, default 0 and
 *	the same rail; "tenant": report about its color
 * @err: message if there is no such host or no plan
 */
json_t *why_request(const json_t *request, struct srpol_error *err)
{
	struct srpol_path_set set;
	struct ends ends;
	struct color color;
	struct workload w;
	json_t *planes;
	uint32_t i;

	if (read_ends(request, &ends, err) || read_tenant(request, &color, err))
		return NULL;
	if (!plan_in_force(err))
		return NULL;
	if (workload_read(WORKLOAD_ALL, NULL, &w))
		return NULL;
	if (srpol_path_set_init(fabricd.fabric, ends.from, ends.to, &set)) {
		workload_free(&w);
		return NULL;
	}
	planes = json_array();
	for (i = 0; i < set.pairs; i++)
		json_array_append_new(planes, plane_json(&set, i, &color, &w,
			(struct srpol_flows){ .src = ends.from, .dst = ends.to,
					      .color = color.color }));
	srpol_path_set_free(&set);
	workload_free(&w);
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:o, s:o}", "src", ends.src,
			 "dst", ends.dst, "rail", ends.rail, "dst_rail", ends.dst_rail,
			 "epoch", (json_int_t)fabricd.epoch.index.epoch,
			 "algorithm", fabricd.config.alg->name, "planes",
			 planes, "forecasts",
			 forecasts_between(fabricd.fabric->gpus[ends.from].host,
					   fabricd.fabric->gpus[ends.to].host));
}
