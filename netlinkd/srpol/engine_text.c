// SPDX-License-Identifier: GPL-2.0
/*
 * What srpold answers, as text. With -j it is printed as it came.
 */
#include <jansson.h>

#include "srpol.h"
#include "engine.h"

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ?: "";
}

static long long number_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void print_list(const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		out_text("%s%s", i ? "," : "", json_string_value(v));
}

static void print_path_line(const json_t *p)
{
	out_object(NULL);
	out_text("path %lld", number_of(p, "path"));
	if (text_of(p, "name")[0])
		out_text(" name %s", text_of(p, "name"));
	out_text(" %s", json_is_true(json_object_get(p, "probed")) ?
		 text_of(p, "state") : "not-probed");
	out_text(" host %s dev %s peer %s", text_of(p, "host"),
		 text_of(p, "dev"), text_of(p, "peer"));
	if (json_object_get(p, "rtt_ms"))
		out_text(" rtt %.3fms min %.3fms",
			 json_number_value(json_object_get(p, "rtt_ms")),
			 json_number_value(json_object_get(p, "rtt_min_ms")));
	out_text("\n\tprobes sent %lld received %lld lost %lld late %lld segs ",
		 number_of(p, "sent"), number_of(p, "received"),
		 number_of(p, "lost"), number_of(p, "late"));
	print_list(json_object_get(p, "probe"));
	out_text("\n");
	out_object_end();
}

/**
 * print_engine_paths() - answer to request "paths"
 * @reply: the answer
 */
void print_engine_paths(const json_t *reply)
{
	const json_t *p;
	size_t i;

	json_array_foreach(reply, i, p)
		print_path_line(p);
}

/**
 * print_engine_topology() - answer to request "topology"
 * @reply: the answer
 */
void print_engine_topology(const json_t *reply)
{
	const json_t *link;
	size_t i;

	json_array_foreach(reply, i, link) {
		out_object(NULL);
		out_text("link %s-%s %s rate %lldbit/s",
			 text_of(link, "from"), text_of(link, "to"),
			 text_of(link, "state"), number_of(link, "rate_bps"));
		out_text(" capacity %lldbit/s from %s quality %lld%% %s\n",
			 number_of(link, "capacity_bps"),
			 text_of(link, "capacity_from"),
			 number_of(link, "quality_percent"),
			 text_of(link, "quality"));
		out_object_end();
	}
}

/**
 * print_engine_show() - answer to request "show"
 * @reply: the answer
 */
void print_engine_show(const json_t *reply)
{
	const json_t *suspects = json_object_get(reply, "suspects"), *s;
	const json_t *degraded = json_object_get(reply, "degraded");
	size_t i;

	out_object(NULL);
	out_text("engine hosts ");
	print_list(json_object_get(reply, "hosts"));
	out_text(" topology %s nodes %lld links %lld",
		 text_of(reply, "topology"), number_of(reply, "nodes"),
		 number_of(reply, "links"));
	out_text("\n\tpaths %lld usable %lld probes %lld every %gms multiplier %lld",
		 number_of(reply, "paths"), number_of(reply, "paths_usable"),
		 number_of(reply, "probes"),
		 json_number_value(json_object_get(reply, "interval_ms")),
		 number_of(reply, "multiplier"));
	out_text("\n\tforged %lld strange %lld stale %lld unsent %lld late-ticks %lld algorithm %s",
		 number_of(reply, "forged"), number_of(reply, "strange"),
		 number_of(reply, "stale"), number_of(reply, "unsent"),
		 number_of(reply, "late_ticks"), text_of(reply, "algorithm"));
	json_array_foreach(suspects, i, s)
		out_text("\n\tsuspect %s lost-probes %lld confidence %lld%%",
			 text_of(s, "link"), number_of(s, "lost_probes"),
			 number_of(s, "confidence_percent"));
	json_array_foreach(degraded, i, s)
		out_text("\n\tdegraded %s %s used-at %lld%%",
			 text_of(s, "link"), text_of(s, "now"),
			 number_of(s, "quality_percent"));
	out_text("\n");
	out_object_end();
}
