// SPDX-License-Identifier: GPL-2.0
/*
 * What srpol engine shows, as JSON. Members may be added, but are never
 * renamed.
 */
#include <string.h>

#include "probing.h"
#include "srpold.h"

#define SUSPECTS_MAX	8

static json_t *ms(uint64_t ns)
{
	return json_real(ns / 1000 / 1000.0);
}

static const char *node_name(const struct engine *engine, uint32_t node)
{
	return engine->fabric->nodes[node].name;
}

/* Read before the clock is: XDP may take another probe meanwhile. */
static json_t *since_last(const struct srpol_probe *p)
{
	uint64_t last_ns = __atomic_load_n(&p->last_ns, __ATOMIC_RELAXED);

	return ms(now_ns() - last_ns);
}

/* What XDP recorded about a path's probes. */
static void probe_report(const struct srpol_probe *p, uint32_t hops_wanted,
			 json_t *o)
{
	json_t *bins = json_array();
	uint32_t i;

	json_object_set_new(o, "ce", json_integer(p->ce));
	json_object_set_new(o, "gaps", json_integer(p->gaps));
	if (!p->received) {
		json_decref(bins);
		return;
	}
	json_object_set_new(o, "hops", json_integer(PROBE_HOP_LIMIT -
						    p->hop_limit));
	json_object_set_new(o, "hops_wanted", json_integer(hops_wanted));
	json_object_set_new(o, "rtt_min_ms", ms(p->rtt_min_ns));
	json_object_set_new(o, "rtt_ms", ms(p->rtt_ns));
	json_object_set_new(o, "last_ms", since_last(p));
	for (i = 0; i < SRPOL_PROBE_RTTS; i++)
		json_array_append_new(bins, json_integer(p->histogram[i]));
	json_object_set_new(o, "rtt_log2_ns", bins);
}

static json_t *path_report(struct engine *engine, struct engine_path *path)
{
	const struct engine_path *leader = engine_path(engine, path->leader);
	const struct srpol_nic *nic = &engine->fabric->nics[path->nic];
	json_t *o = json_object();

	json_object_set_new(o, "path", json_integer(path->id));
	if (path->name[0])
		json_object_set_new(o, "name", json_string(path->name));
	json_object_set_new(o, "host", json_string(node_name(engine,
							     nic->host)));
	json_object_set_new(o, "dev", json_string(nic->name));
	json_object_set_new(o, "peer", json_string(node_name(engine,
							     path->peer)));
	json_object_set_new(o, "segments", engine_sids_json(&path->segs));
	json_object_set_new(o, "probe", engine_sids_json(&leader->loop));
	json_object_set_new(o, "probes_of", json_integer(leader->id));
	json_object_set_new(o, "probed", json_boolean(leader->up));
	json_object_set_new(o, "state",
			    json_string(liveness_name(&leader->live)));
	json_object_set_new(o, "sent", json_integer(leader->stats.sent));
	json_object_set_new(o, "received",
			    json_integer(leader->stats.received));
	json_object_set_new(o, "lost", json_integer(leader->stats.lost));
	json_object_set_new(o, "late", json_integer(leader->stats.late));
	json_object_set_new(o, "mtu_full", json_integer(path->full));
	json_object_set_new(o, "mtu", json_integer(leader->mtu.good));
	json_object_set_new(o, "mtu_narrow", json_boolean(
		mtu_is_narrow(&leader->mtu)));
	json_object_set_new(o, "loss_ppm", json_integer(
		quality_loss_ppm(&leader->window)));
	json_object_set_new(o, "queue_ms", ms(leader->window.queue_ns));
	json_object_set_new(o, "ce_ppm", json_integer(
		quality_marks_ppm(&leader->window, QUALITY_CE)));
	json_object_set_new(o, "cnp_ppm", json_integer(
		quality_marks_ppm(&leader->window, QUALITY_CNP)));
	json_object_set_new(o, "path_ce_ppm", json_integer(
		quality_marks_ppm(&leader->window, QUALITY_PATH_CE)));
	probe_report(probe_map_at(leader->probe), leader->loop.hops, o);
	if (reflect_of(path))
		json_object_set_new(o, "reflected", reflect_report(path));
	return o;
}

/**
 * report_paths() - handle srpol engine paths
 * @engine: the engine
 * @request: no further members
 * @err: not used
 */
json_t *report_paths(struct engine *engine, const json_t *request,
		     struct srpol_error *err)
{
	struct engine_path *path;
	json_t *array = json_array();

	vec_for_each(path, &engine->paths)
		if (path->segs.n)
			json_array_append_new(array,
					      path_report(engine, path));
	return array;
}

/* Cables; member @count: the number of probes that each would explain. */
static json_t *cables_report(const struct engine *engine,
			     const struct locate_suspect *suspects, size_t n,
			     const char *count)
{
	char name[LINK_NAME_LEN];
	json_t *array = json_array(), *o;
	size_t i;

	for (i = 0; i < n; i++) {
		link_name(engine->fabric, suspects[i].link, name,
			  sizeof(name));
		o = json_object();
		json_object_set_new(o, "link", json_string(name));
		json_object_set_new(o, "cable",
				    json_integer(suspects[i].link));
		json_object_set_new(o, count,
				    json_integer(suspects[i].explains));
		json_object_set_new(o, "confidence_percent",
				    json_integer(suspects[i].confidence));
		json_array_append_new(array, o);
	}
	return array;
}

/* Cables that would explain the probes that are lost now. */
static json_t *suspects_report(struct engine *engine)
{
	struct locate_suspect found[SUSPECTS_MAX];
	size_t n = suspects_find(engine, found, SUSPECTS_MAX);

	return cables_report(engine, found, n, "lost_probes");
}

/* Cables that would explain probes with another number of hops. */
static json_t *wiring_report(struct engine *engine)
{
	struct locate_suspect found[SUSPECTS_MAX];
	size_t n = wiring_find(engine, found, SUSPECTS_MAX);

	return cables_report(engine, found, n, "probes");
}

/* Cables that work badly and are used less therefore. */
static json_t *degraded_report(struct engine *engine)
{
	json_t *array = json_array(), *o;
	char name[LINK_NAME_LEN];
	const struct quality *q;
	uint32_t i;

	for (i = 0; i < engine->links.n; i++) {
		q = &engine->links.cables[i].quality;
		if (!q->level && q->word <= QUALITY_GOOD)
			continue;
		link_name(engine->fabric, i, name, sizeof(name));
		o = json_object();
		json_object_set_new(o, "link", json_string(name));
		json_object_set_new(o, "now", json_string(
			quality_name(q->word)));
		json_object_set_new(o, "quality_percent",
				    json_integer(quality_percent(q)));
		json_array_append_new(array, o);
	}
	return array;
}

/* Counters of all that came to the probe SIDs. */
static void probes_report(json_t *o)
{
	const struct prober_stats *s = &prober_stats;

	json_object_set_new(o, "by_xdp", json_integer(
		probe_map_count(SRPOL_REASON_PROBE)));
	json_object_set_new(o, "by_socket", json_integer(s->by_socket));
	json_object_set_new(o, "forged", json_integer(s->forged +
		probe_map_count(SRPOL_REASON_PROBE_MALFORMED) +
		probe_map_count(SRPOL_REASON_PROBE_FORGED)));
	json_object_set_new(o, "strange", json_integer(s->strange +
		probe_map_count(SRPOL_REASON_PROBE_STRANGE)));
	json_object_set_new(o, "stale", json_integer(s->stale +
		probe_map_count(SRPOL_REASON_PROBE_STALE)));
	json_object_set_new(o, "unsent", json_integer(s->unsent));
	json_object_set_new(o, "late_ticks", json_integer(s->late_ticks));
}

/**
 * report_show() - handle srpol engine show
 * @engine: the engine
 * @request: no further members
 * @err: not used
 */
json_t *report_show(struct engine *engine, const json_t *request,
		    struct srpol_error *err)
{
	const struct config *c = &engine->config;
	uint32_t usable = 0, probed = 0, i;
	struct engine_path *path;
	json_t *o = json_object(), *hosts = json_array();

	for (i = 0; i < c->n_hosts; i++)
		json_array_append_new(hosts, json_string(c->hosts[i]));
	vec_for_each(path, &engine->paths) {
		probed += path == engine_path(engine, path->leader) &&
			  path->up;
		usable += path->up && liveness_usable(
			&engine_path(engine, path->leader)->live);
	}
	json_object_set_new(o, "hosts", hosts);
	json_object_set_new(o, "topology", json_string(c->topology));
	json_object_set_new(o, "nodes", json_integer(engine->fabric->n_nodes));
	json_object_set_new(o, "links",
			    json_integer(engine->fabric->n_links / 2));
	json_object_set_new(o, "paths", json_integer(engine->paths.n));
	json_object_set_new(o, "paths_usable", json_integer(usable));
	json_object_set_new(o, "probes", json_integer(probed));
	json_object_set_new(o, "interval_ms", ms(c->interval_ns));
	json_object_set_new(o, "interval_used_ms", ms(prober_interval() ?: c->interval_ns));
	json_object_set_new(o, "multiplier",
			    json_integer(c->live.multiplier));
	probes_report(o);
	json_object_set_new(o, "clients_dropped",
			    json_integer(control_dropped()));
	json_object_set_new(o, "algorithm", json_string(c->weights.alg->name));
	json_object_set_new(o, "demands", json_integer(demands.all.n));
	json_object_set_new(o, "demands_refused",
			    json_integer(demands.refused));
	json_object_set_new(o, "suspects", suspects_report(engine));
	json_object_set_new(o, "wrong_wiring", wiring_report(engine));
	json_object_set_new(o, "degraded", degraded_report(engine));
	json_object_set_new(o, "glb", glb_report());
	json_object_set_new(o, "fabric", plan_report());
	json_object_set_new(o, "limits", limits_report());
	return o;
}

/* A link is up if any probe that takes it comes back. */
static const char *link_state(struct engine *engine, uint32_t cable)
{
	const char *state = "unknown";
	struct engine_path *path;
	uint32_t k;

	vec_for_each(path, &engine->paths) {
		if (path != engine_path(engine, path->leader) || !path->up)
			continue;
		for (k = 0; k < path->links.n; k++) {
			if (path->links.link[k] != cable)
				continue;
			if (liveness_usable(&path->live) &&
			    path->stats.received)
				return "up";
			state = "down";
		}
	}
	return state;
}

/* A cable's capacity, its source and age, and the cable's quality. */
static void link_report(const struct engine *engine, uint32_t cable,
			json_t *o)
{
	const struct link_info *info = &engine->links.cables[cable];
	enum link_source source = linkstate_source(&engine->links, cable);

	json_object_set_new(o, "capacity_bps",
			    json_integer(info->capacity[source]));
	json_object_set_new(o, "capacity_from",
			    json_string(link_source_name(source)));
	json_object_set_new(o, "capacity_age_ms",
			    ms(now_ns() - info->since_ns[source]));
	json_object_set_new(o, "quality", json_string(
		quality_name(info->quality.word)));
	json_object_set_new(o, "quality_percent",
			    json_integer(quality_percent(&info->quality)));
	json_object_set_new(o, "heard_percent", json_integer(info->heard));
	json_object_set_new(o, "quality_steps",
			    json_integer(info->quality.steps));
}

/**
 * report_topology() - handle srpol engine topology
 * @engine: the engine
 * @request: no further members
 * @err: not used
 */
json_t *report_topology(struct engine *engine, const json_t *request,
			struct srpol_error *err)
{
	const struct srpol_fabric *f = engine->fabric;
	json_t *array = json_array(), *o;
	uint32_t i;

	for (i = 0; i < f->n_links; i += 2) {
		o = json_object();
		json_object_set_new(o, "cable", json_integer(i / 2));
		json_object_set_new(o, "from", json_string(
			node_name(engine, f->links[i].from)));
		json_object_set_new(o, "to", json_string(
			node_name(engine, f->links[i].to)));
		json_object_set_new(o, "rate_bps", json_integer(
			srpol_link_rate(&f->links[i])));
		json_object_set_new(o, "state",
				    json_string(link_state(engine, i / 2)));
		link_report(engine, i / 2, o);
		json_array_append_new(array, o);
	}
	return array;
}
