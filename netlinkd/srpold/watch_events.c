// SPDX-License-Identifier: GPL-2.0
/*
 * Events as JSON, a line each; Documentation/interface/WatchEvent.json. Members may
 * be added, but are never renamed.
 */
#include <time.h>

#include "probing.h"
#include "watchers.h"

static const char * const reasons[] = {
	"failure", "recovery", "loss", "delay", "congestion", "relief",
	"capacity", "peer", "balance", "plan", "operator", "load",
};

/**
 * watch_reasons() - reasons of a change, in JSON
 * @because: bits of enum because
 */
json_t *watch_reasons(uint32_t because)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (because & 1u << i)
			json_array_append_new(list, json_string(reasons[i]));
	return list;
}

/**
 * watch_now_us() - microseconds since 1970
 */
uint64_t watch_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

static json_t *event(const char *name)
{
	return json_pack("{s:i, s:s, s:I}", "version", 1, "event", name,
			 "time_us", (json_int_t)watch_now_us());
}

/**
 * watch_late() - a watcher that did not read does so again
 * @coalesced: changes that it will not be told one by one
 * @late_ns: for how long it did not read
 */
json_t *watch_late(uint64_t coalesced, uint64_t late_ns)
{
	json_t *o = event("late");

	json_object_set_new(o, "coalesced", json_integer(coalesced));
	json_object_set_new(o, "late_ms", json_integer(late_ns / NS_PER_MS));
	return o;
}

static json_t *path_json(struct engine *engine,
			 const struct watched_path *path, bool change)
{
	const struct engine_path *of = engine_path(engine, path->at);
	json_t *o = json_pack("{s:I}", "path", (json_int_t)path->id);

	if (of->name[0])
		json_object_set_new(o, "name", json_string(of->name));
	json_object_set_new(o, "state", json_string(
		srpol_name_of(srpol_path_states, path->state)));
	if (path->reason)
		json_object_set_new(o, "reason", json_string(
			srpol_name_of(srpol_path_reasons, path->reason)));
	if (change) {
		json_object_set_new(o, "since_us",
				    json_integer(path->since_us));
		return o;
	}
	json_object_set_new(o, "weight", json_integer(path->weight));
	json_object_set_new(o, "percent", json_integer(path->percent));
	json_object_set_new(o, "segments", engine_sids_json(&of->segs));
	return o;
}

/* What identifies the paths: the hosts and rails, and the policy. */
static void set_ends(struct engine *engine, const struct topic *topic, json_t *o)
{
	const struct watched_paths *w = topic->content;
	const struct engine_policy *policy =
		(const struct engine_policy *)engine->policies.data + w->policy;
	const struct srpol_fabric *f = engine->fabric;
	const struct srpol_gpu *src = &f->gpus[policy->src];
	const struct srpol_gpu *dst = &f->gpus[policy->dst];
	const struct job *job = watch_job(policy->color);

	json_object_set_new(o, "src", json_string(f->nodes[src->host].name));
	json_object_set_new(o, "rail", json_integer(src->rail));
	json_object_set_new(o, "dst", json_string(f->nodes[dst->host].name));
	json_object_set_new(o, "dst_rail", json_integer(dst->rail));
	if (job)
		json_object_set_new(o, "job", json_string(job->name));
}

/* Its policy may be deleted by now: these are in the key. */
static void set_policy(const struct topic *topic, json_t *o)
{
	char buf[SRPOL_ADDR_STRLEN];

	json_object_set_new(o, "color", json_integer(topic->key.number));
	json_object_set_new(o, "source", json_string(
		srpol_addr_text(&topic->key.src, buf)));
	json_object_set_new(o, "endpoint", json_string(
		srpol_addr_text(&topic->key.dst, buf)));
}

static json_t *paths_event(struct engine *engine, const struct topic *topic,
			   uint32_t slot)
{
	const struct watched_paths *w = topic->content;
	json_t *o = event("paths"), *paths = json_array();
	json_t *changes = json_array();
	const struct watched_path *path;
	uint32_t i;

	set_policy(topic, o);
	set_ends(engine, topic, o);
	for (i = 0; i < w->n; i++) {
		path = &w->path[i];
		json_array_append_new(paths, path_json(engine, path, false));
		if (topic->told[slot] && path->version > topic->told[slot])
			json_array_append_new(changes,
					      path_json(engine, path, true));
	}
	json_object_set_new(o, "by", json_string(w->by));
	json_object_set_new(o, "usable", json_integer(w->usable));
	json_object_set_new(o, "fallback", json_string(w->fallback));
	json_object_set_new(o, "because", watch_reasons(topic->because[slot]));
	json_object_set_new(o, "changes", changes);
	json_object_set_new(o, "paths", paths);
	return o;
}

static json_t *ms(uint64_t ns)
{
	return json_real(ns / 1000 / 1000.0);
}

static json_t *measured_path(struct engine *engine,
			     const struct watched_path *path)
{
	const struct engine_path *of = engine_path(engine, path->at);
	const struct engine_path *leader = engine_path(engine, of->leader);
	const struct srpol_probe *p = probe_map_at(leader->probe);
	const struct quality_window *w = &leader->window;
	json_t *o = json_pack("{s:I, s:i, s:i, s:i}", "path",
			      (json_int_t)path->id,
			      "loss_ppm", (int)quality_loss_ppm(w),
			      "ce_ppm", (int)quality_marks_ppm(w, QUALITY_CE),
			      "cnp_ppm", (int)quality_marks_ppm(w, QUALITY_CNP));

	if (!p->received)
		return o;
	json_object_set_new(o, "rtt_ms", ms(p->rtt_ns));
	json_object_set_new(o, "rtt_min_ms", ms(p->rtt_min_ns));
	json_object_set_new(o, "queue_ms", ms(w->queue_ns));
	return o;
}

static json_t *measured_event(struct engine *engine, const struct topic *topic)
{
	const struct watched_paths *w = topic->content;
	json_t *o = event("measured"), *list = json_array();
	uint32_t i;

	set_policy(topic, o);
	set_ends(engine, topic, o);
	for (i = 0; i < w->n; i++)
		json_array_append_new(list, measured_path(engine, &w->path[i]));
	json_object_set_new(o, "measured", list);
	return o;
}

static json_t *end_event(const struct topic *topic)
{
	json_t *o;

	/* the other kinds end with the job or the configuration, silently */
	if (topic->key.kind != TOPIC_PATHS)
		return NULL;
	o = event("end");
	set_policy(topic, o);
	return o;
}

static json_t *with(const char *name, json_t *members)
{
	json_t *o = members ? event(name) : NULL;

	if (!o)
		return NULL;
	json_object_update(o, members);
	json_decref(members);
	return o;
}

/**
 * watch_event() - what a watcher is told of a topic
 * @engine: the engine
 * @topics: topics
 * @topic: the topic
 * @slot: of the watcher
 * @watcher: the watcher
 * @part: what of the topic
 *
 * Return: the event; NULL if there is nothing to say.
 */
json_t *watch_event(struct engine *engine, const struct topics *topics,
		    const struct topic *topic, uint32_t slot,
		    const struct watcher *watcher, enum topic_part part)
{
	if (part == TOPIC_END)
		return end_event(topic);
	if (topic->key.kind == TOPIC_LINKS)
		return with("links", watch_links_json(engine, topics, slot,
						      watcher));
	if (!topic->content)
		return NULL;
	if (part == TOPIC_MEASURED)
		return measured_event(engine, topic);
	if (topic->key.kind == TOPIC_PLAN)
		return with("plan", watch_plan_json(engine, topic));
	if (topic->key.kind == TOPIC_QPS)
		return with("qps", watch_qps_json(engine, topic, slot, watcher));
	return paths_event(engine, topic, slot);
}
