// SPDX-License-Identifier: GPL-2.0
/* Replies of srpold as text. With -j the reply is printed as received. */
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

/* Counters of reflected probes, for both directions. */
static void print_reflected(const json_t *r)
{
	if (!r)
		return;
	out_text("\n\treflected sent %lld reached %lld returned %lld",
		 number_of(r, "sent"), number_of(r, "reached"),
		 number_of(r, "returned"));
	if (!json_object_get(r, "rtt_ms"))
		return;
	out_text(" lost %lld/%lld ce %lld/%lld queue %.3f/%.3fms path-ce %lld",
		 number_of(r, "lost_there"), number_of(r, "lost_back"),
		 number_of(r, "ce_there"), number_of(r, "ce_back"),
		 json_number_value(json_object_get(r, "queue_there_ms")),
		 json_number_value(json_object_get(r, "queue_back_ms")),
		 number_of(r, "path_ce"));
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
	if (number_of(p, "mtu"))
		out_text(" mtu %lld%s", number_of(p, "mtu"),
			 json_is_true(json_object_get(p, "mtu_narrow")) ?
			 " narrow" : "");
	out_text("\n\tprobes sent %lld received %lld lost %lld late %lld segs ",
		 number_of(p, "sent"), number_of(p, "received"),
		 number_of(p, "lost"), number_of(p, "late"));
	print_list(json_object_get(p, "probe"));
	print_reflected(json_object_get(p, "reflected"));
	out_text("\n");
	out_object_end();
}

/**
 * print_engine_paths() - print the reply to request "paths"
 * @reply: the reply
 */
void print_engine_paths(const json_t *reply)
{
	const json_t *p;
	size_t i;

	json_array_foreach(reply, i, p)
		print_path_line(p);
}

/**
 * print_engine_topology() - print the reply to request "topology"
 * @reply: the reply
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
		out_text(" capacity %lldbit/s from %s quality %lld%% %s",
			 number_of(link, "capacity_bps"),
			 text_of(link, "capacity_from"),
			 number_of(link, "quality_percent"),
			 text_of(link, "quality"));
		if (json_object_get(link, "heard_percent") &&
		    number_of(link, "heard_percent") < 100)
			out_text(" heard %lld%%", number_of(link, "heard_percent"));
		out_text("\n");
		out_object_end();
	}
}

/* The configured one, and the one in use where the budget is too small for that. */
static void print_interval(const json_t *reply)
{
	double every = json_number_value(json_object_get(reply, "interval_ms"));
	const json_t *used = json_object_get(reply, "interval_used_ms");

	out_text(" every %gms", every);
	if (used && json_number_value(used) != every)
		out_text(" used %gms", json_number_value(used));
}

/**
 * print_engine_show() - print the reply to request "show"
 * @reply: the reply
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
	out_text("\n\tpaths %lld usable %lld probes %lld", number_of(reply, "paths"),
		 number_of(reply, "paths_usable"), number_of(reply, "probes"));
	print_interval(reply);
	out_text(" multiplier %lld", number_of(reply, "multiplier"));
	out_text("\n\tanswers by xdp %lld by socket %lld",
		 number_of(reply, "by_xdp"), number_of(reply, "by_socket"));
	out_text("\n\tforged %lld strange %lld stale %lld unsent %lld late-ticks %lld algorithm %s",
		 number_of(reply, "forged"), number_of(reply, "strange"),
		 number_of(reply, "stale"), number_of(reply, "unsent"),
		 number_of(reply, "late_ticks"), text_of(reply, "algorithm"));
	if (number_of(reply, "demands") || number_of(reply, "demands_refused"))
		out_text("\n\tdemands %lld refused %lld",
			 number_of(reply, "demands"),
			 number_of(reply, "demands_refused"));
	json_array_foreach(suspects, i, s)
		out_text("\n\tsuspect %s lost-probes %lld confidence %lld%%",
			 text_of(s, "link"), number_of(s, "lost_probes"),
			 number_of(s, "confidence_percent"));
	json_array_foreach(json_object_get(reply, "wrong_wiring"), i, s)
		out_text("\n\twrong-wiring %s probes %lld confidence %lld%%",
			 text_of(s, "link"), number_of(s, "probes"),
			 number_of(s, "confidence_percent"));
	json_array_foreach(degraded, i, s)
		out_text("\n\tdegraded %s %s used-at %lld%%",
			 text_of(s, "link"), text_of(s, "now"),
			 number_of(s, "quality_percent"));
	json_array_foreach(json_object_get(reply, "fabric"), i, s)
		out_text("\n\tfabric %s store %s %s epoch %lld term %lld applied %lld refused %lld failed %lld retries %lld",
			 text_of(s, "host"), text_of(s, "store"),
			 json_is_true(json_object_get(s, "connected")) ?
			 "connected" : "not-connected",
			 number_of(s, "epoch"), number_of(s, "term"),
			 number_of(s, "applied"), number_of(s, "refused"),
			 number_of(s, "failed"), number_of(s, "retries"));
	json_array_foreach(json_object_get(reply, "limits"), i, s)
		out_text("\n\tlimit color %lld rate %lld %s delayed %lld dropped %lld",
			 number_of(s, "color"), number_of(s, "rate"),
			 json_is_true(json_object_get(s, "paced")) ? "paced" :
			 "policed", number_of(s, "delayed"),
			 number_of(s, "dropped"));
	out_text("\n");
	out_object_end();
}

static void print_weights(const json_t *weights)
{
	const json_t *v;
	size_t i;

	json_array_foreach(weights, i, v)
		out_text("%s%lld", i ? ":" : "",
			 (long long)json_integer_value(v));
}

static void print_why_policy(const json_t *policy)
{
	const json_t *from = json_object_get(policy, "from");
	const json_t *to = json_object_get(policy, "to");
	const json_t *v;
	size_t i;

	out_object(NULL);
	out_text("demand %s rail %lld to %s rail %lld\n", text_of(from, "host"),
		 number_of(from, "rail"), text_of(to, "host"),
		 number_of(to, "rail"));
	if (number_of(policy, "announced_bytes"))
		out_text("\tannounced %lld bytes\n",
			 number_of(policy, "announced_bytes"));
	out_text("\talgorithm %s (%s)\n", text_of(policy, "algorithm"),
		 text_of(policy, "source"));
	out_text("\tpolicy color %lld endpoint %s is %s\n",
		 number_of(policy, "color"), text_of(to, "address"),
		 text_of(policy, "policy"));
	if (json_object_get(policy, "by"))
		out_text("\tactive candidate path: preference %lld by %s\n",
			 number_of(policy, "preference"), text_of(policy, "by"));
	json_array_foreach(json_object_get(policy, "paths"), i, v) {
		out_text("\tpath %lld name %s weight %lld buckets %lld %s",
			 number_of(v, "path"), text_of(v, "name"),
			 number_of(v, "weight"), number_of(v, "buckets"),
			 text_of(v, "probes"));
		out_text(" narrowest %s %lldbit/s from %s quality %lld%%",
			 text_of(v, "narrowest"), number_of(v, "capacity_bps"),
			 text_of(v, "capacity_from"),
			 number_of(v, "quality_percent"));
		if (json_object_get(v, "planned"))
			out_text(" planned %lld", number_of(v, "planned"));
		out_text("\n");
	}
	json_array_foreach(json_object_get(policy, "changes"), i, v) {
		out_text("\tif %s were %s: weights ", text_of(v, "link"),
			 text_of(v, "if"));
		print_weights(json_object_get(v, "weights"));
		out_text("\n");
	}
	out_object_end();
}

/**
 * print_engine_why() - print the reply to request "why"
 * @reply: the reply
 */
void print_engine_why(const json_t *reply)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(reply, "policies"), i, v)
		print_why_policy(v);
	json_array_foreach(json_object_get(reply, "flows"), i, v) {
		bool roce = json_object_get(v, "qp");

		out_object(NULL);
		out_text("flow dst %s %s %lld sport %lld", text_of(v, "dst"),
			 roce ? "qp" : "dport",
			 number_of(v, roce ? "qp" : "dport"),
			 number_of(v, "sport"));
		out_text(" rule-id %lld color %lld path %lld bytes %lld\n",
			 number_of(v, "rule"), number_of(v, "color"),
			 number_of(v, "path"), number_of(v, "bytes"));
		out_object_end();
	}
}

/* Prints which traffic belongs to the job. */
static void print_selector(const json_t *job)
{
	static const char * const words[] = { "cgroup", "src", "comm" };
	const json_t *qp = json_object_get(job, "qp");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (json_object_get(job, words[i]))
			out_text(" %s %s", words[i], text_of(job, words[i]));
	if (json_object_get(job, "pid"))
		out_text(" pid %lld", number_of(job, "pid"));
	if (qp)
		out_text(" qp %lld-%lld",
			 (long long)json_integer_value(json_array_get(qp, 0)),
			 (long long)json_integer_value(json_array_get(qp, 1)));
}

/**
 * print_engine_jobs() - print the reply to request "jobs"
 * @reply: the reply
 */
void print_engine_jobs(const json_t *reply)
{
	const json_t *job, *paths, *p;
	size_t i, k;

	json_array_foreach(reply, i, job) {
		paths = json_object_get(job, "paths");
		out_object(NULL);
		out_text("job %s", text_of(job, "name"));
		print_selector(job);
		out_text(" color %lld", number_of(job, "color"));
		if (paths)
			out_text(" paths %s", text_of(job, "paths"));
		print_list(paths);
		if (text_of(job, "via")[0])
			out_text(" via %s", text_of(job, "via"));
		if (number_of(job, "backup"))
			out_text(" backup %lld", number_of(job, "backup"));
		if (text_of(job, "placement")[0])
			out_text(" placement %s", text_of(job, "placement"));
		out_text("\n\trules %lld bytes %lld collisions %lld",
			 number_of(job, "rules"), number_of(job, "bytes"),
			 number_of(job, "collisions"));
		if (text_of(job, "placement")[0])
			out_text(" placed %lld", number_of(job, "placed"));
		if (number_of(job, "rules_missing"))
			out_text(" rules-missing %lld", number_of(job, "rules_missing"));
		if (number_of(job, "qps_without_rule"))
			out_text(" qps-without-rule %lld",
				 number_of(job, "qps_without_rule"));
		if (json_is_true(json_object_get(job, "lacks_paths")))
			out_text(" lacks-paths");
		out_text("\n");
		json_array_foreach(json_object_get(job, "use"), k, p)
			out_text("\tpath %lld name %s flows %lld bytes %lld\n",
				 number_of(p, "path"), text_of(p, "name"),
				 number_of(p, "flows"), number_of(p, "bytes"));
		out_object_end();
	}
}

/**
 * print_engine_demands() - print the reply to "demands" or "demands-show"
 * @reply: the reply: the number of demands (an object), or a list of them
 */
void print_engine_demands(const json_t *reply)
{
	const json_t *d;
	size_t i;

	if (json_is_object(reply))
		return;
	out_begin();
	json_array_foreach(reply, i, d) {
		out_object(NULL);
		out_text("demand %s uid %lld src %s rail %lld dst %s rail %lld bytes %lld color %lld in %lldms left %lldms",
			 text_of(d, "owner"), number_of(d, "uid"),
			 text_of(d, "src"), number_of(d, "rail"),
			 text_of(d, "dst"), number_of(d, "dst_rail"),
			 number_of(d, "bytes"), number_of(d, "color"),
			 number_of(d, "in_ms"), number_of(d, "left_ms"));
		if (number_of(d, "period_ms"))
			out_text(" every %lldms", number_of(d, "period_ms"));
		out_text("\n");
		out_object_end();
	}
	out_end();
}
