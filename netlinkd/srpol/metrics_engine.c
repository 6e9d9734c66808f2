// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics of srpold, the local SR engine: what its probes say of paths and
 * links. Where it does not run there is engine_up 0, and nothing else.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "metrics.h"
#include "srpol.h"

#define MS_PER_S	1000.0
#define PPM		1000000.0
#define PERCENT		100.0
#define BITS		8.0	/* per byte */

static const char *text_at(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key)) ?: "";
}

/**
 * struct gauge - a family with a sample per path or link
 * @family: name of the family
 * @unit: its unit
 * @help: a sentence
 * @key: member of the report; objects that lack it have no sample
 * @scale: the member in the unit of the family is divided by it
 */
struct gauge {
	const char *family;
	const char *unit;
	const char *help;
	const char *key;
	double scale;
};

static const struct gauge path_gauges[] = {
	{ "engine_path_rtt_seconds", "seconds",
	  "Smoothed round-trip time of a path's probes.", "rtt_ms", MS_PER_S },
	{ "engine_path_rtt_min_seconds", "seconds",
	  "Least round-trip time of a path's probes.", "rtt_min_ms", MS_PER_S },
	{ "engine_path_queue_seconds", "seconds",
	  "Recent round-trip time above the least one.", "queue_ms", MS_PER_S },
	{ "engine_path_loss_ratio", "ratio", "Recent loss of a path's probes.",
	  "loss_ppm", PPM },
	{ "engine_path_ce_ratio", "ratio",
	  "Recent share of a path's probes that came back marked CE.", "ce_ppm",
	  PPM },
};

static const struct gauge link_gauges[] = {
	{ "engine_link_capacity_bytes_per_second", "bytes_per_second",
	  "Capacity of a link that paths are weighted by.", "capacity_bps",
	  BITS },
	{ "engine_link_quality_ratio", "ratio",
	  "Share of its capacity that a link is used for, by what probes say.",
	  "quality_percent", PERCENT },
};

static json_int_t int_at(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/*
 * Labels of a path are its id, name, interface and peer. One that has not been
 * probed has no sample: nothing is known of it.
 */
static void path_gauge(const struct gauge *g, const json_t *paths)
{
	const json_t *path, *value;
	char id[16];
	size_t i;

	family(g->family, "gauge", g->unit, g->help);
	json_array_foreach(paths, i, path) {
		value = json_object_get(path, g->key);
		if (!value || !int_at(path, "sent"))
			continue;
		snprintf(id, sizeof(id), "%lld", int_at(path, "path"));
		sample_real(g->family, json_number_value(value) / g->scale,
			    "path", id, "name", text_at(path, "name"),
			    "dev", text_at(path, "dev"),
			    "peer", text_at(path, "peer"), NULL);
	}
}

/*
 * Paths to the hosts of a leaf share probes. They are counted for one of the paths,
 * so that sums are right.
 */
static void path_probes(const json_t *paths)
{
	static const char * const results[] = {
		"sent", "received", "lost", "late"
	};
	const json_t *path;
	char id[16];
	size_t i, r;

	family("engine_path_probes", "counter", NULL,
	       "Probes of a path: sent, and what became of them.");
	json_array_foreach(paths, i, path) {
		if (int_at(path, "probes_of") != int_at(path, "path"))
			continue;
		snprintf(id, sizeof(id), "%lld", int_at(path, "path"));
		for (r = 0; r < ARRAY_SIZE(results); r++)
			sample("engine_path_probes_total",
			       int_at(path, results[r]), "path", id, "result", results[r], NULL);
	}
}

/* Two nodes may have several cables between them. */
static const char *cable_text(const json_t *o, char *text, size_t size)
{
	snprintf(text, size, "%lld", int_at(o, "cable"));
	return text;
}

static void link_gauge(const struct gauge *g, const json_t *links)
{
	const json_t *link;
	char cable[16];
	size_t i;

	family(g->family, "gauge", g->unit, g->help);
	json_array_foreach(links, i, link)
		sample_real(g->family,
			    json_number_value(json_object_get(link, g->key)) /
				    g->scale,
			    "cable", cable_text(link, cable, sizeof(cable)),
			    "from", text_at(link, "from"),
			    "to", text_at(link, "to"), NULL);
}

/* Links that no probe takes are neither up nor down. */
static void links_up(const json_t *links)
{
	const json_t *link;
	const char *state;
	char cable[16];
	size_t i;

	family("engine_link_up", "gauge", NULL,
	       "Whether a probe that takes the link comes back.");
	json_array_foreach(links, i, link) {
		state = text_at(link, "state");
		if (strcmp(state, "unknown"))
			sample("engine_link_up", !strcmp(state, "up"),
			       "cable", cable_text(link, cable, sizeof(cable)),
			       "from", text_at(link, "from"),
			       "to", text_at(link, "to"), NULL);
	}
}

static void suspects(const json_t *show)
{
	const json_t *suspect;
	char cable[16];
	size_t i;

	family("engine_link_suspect_ratio", "gauge", "ratio",
	       "Confidence that a link loses the probes that are lost.");
	json_array_foreach(json_object_get(show, "suspects"), i, suspect)
		sample_real("engine_link_suspect_ratio",
			    json_number_value(json_object_get(
				    suspect, "confidence_percent")) /
				    PERCENT,
			    "cable", cable_text(suspect, cable, sizeof(cable)),
			    "link", text_at(suspect, "link"), NULL);
}

static void whole(const json_t *show)
{
	static const struct {
		const char *family;
		const char *help;
		const char *key;
	} gauges[] = {
		{ "engine_paths", "Paths that srpold made.", "paths" },
		{ "engine_paths_usable", "Those that can be used.",
		  "paths_usable" },
		{ "engine_demands", "Demands that applications announced.",
		  "demands" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(gauges); i++) {
		family(gauges[i].family, "gauge", NULL, gauges[i].help);
		sample(gauges[i].family, int_at(show, gauges[i].key), NULL);
	}
}

/**
 * metrics_engine() - print the metrics of srpold in this network namespace
 */
void metrics_engine(void)
{
	json_t *show = engine_reply("show");
	json_t *paths = show ? engine_reply("paths") : NULL;
	json_t *links = paths ? engine_reply("topology") : NULL;
	size_t i;

	family("engine_up", "gauge", NULL,
	       "Whether srpold answers in this network namespace.");
	sample("engine_up", !!links, NULL);
	if (links) {
		whole(show);
		for (i = 0; i < ARRAY_SIZE(path_gauges); i++)
			path_gauge(&path_gauges[i], paths);
		path_probes(paths);
		links_up(links);
		for (i = 0; i < ARRAY_SIZE(link_gauges); i++)
			link_gauge(&link_gauges[i], links);
		suspects(show);
	}
	json_decref(links);
	json_decref(paths);
	json_decref(show);
}
