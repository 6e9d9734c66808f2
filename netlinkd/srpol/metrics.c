// SPDX-License-Identifier: GPL-2.0
/*
 * srpol metrics: counters and states for a scraper, as OpenMetrics or in the
 * older Prometheus text format, which node-exporter's textfile collector reads.
 * The formats differ in the family names of counters, in units, and in the end
 * marker.
 */
#include <stdarg.h>
#include <string.h>

#include "metrics.h"
#include "srpol.h"

static const char usage[] =
"Usage: srpol metrics [ openmetrics | text ]\n"
"openmetrics, the default, is application/openmetrics-text; version=1.0.0;\n"
"text is text/plain; version=0.0.4, for the textfile collector.\n";

static bool openmetrics;

/**
 * family() - print the header of a family
 * @name: name of the family, without srpol_; samples of counters have the suffix
 *	_total in addition
 * @type: "counter" or "gauge"
 * @unit: unit, which ends the name, NULL: none
 * @help: a sentence
 */
void family(const char *name, const char *type, const char *unit,
	    const char *help)
{
	const char *suffix = !openmetrics && !strcmp(type, "counter") ?
			     "_total" : "";

	printf("# HELP srpol_%s%s %s\n", name, suffix, help);
	printf("# TYPE srpol_%s%s %s\n", name, suffix, type);
	if (unit && openmetrics)
		printf("# UNIT srpol_%s %s\n", name, unit);
}

static void print_label_value(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", stdout);
		else
			putchar(*s);
	}
	putchar('"');
}

static void print_labels(const char *name, va_list ap)
{
	const char *label, *sep = "{";

	printf("srpol_%s", name);
	while ((label = va_arg(ap, const char *))) {
		printf("%s%s=", sep, label);
		print_label_value(va_arg(ap, const char *));
		sep = ",";
	}
	if (*sep == ',')
		putchar('}');
}

/**
 * sample() - print a sample
 * @name: its name, without srpol_
 * @value: its value
 *
 * Its labels follow, pairs of name and value, ended by NULL.
 */
void sample(const char *name, uint64_t value, ...)
{
	va_list ap;

	va_start(ap, value);
	print_labels(name, ap);
	va_end(ap);
	printf(" %llu\n", (unsigned long long)value);
}

/**
 * sample_real() - print a sample that is not a whole number
 * @name: its name, without srpol_
 * @value: its value
 *
 * Its labels follow, pairs of name and value, ended by NULL.
 */
void sample_real(const char *name, double value, ...)
{
	va_list ap;

	va_start(ap, value);
	print_labels(name, ap);
	va_end(ap);
	printf(" %.9g\n", value);
}

/* Which counter of an object is read. */
enum field { PACKETS, BYTES };

static uint64_t count(int fd, uint32_t id, enum field field)
{
	struct srpol_counter c;

	srpol_map_sum(fd, id, &c, sizeof(c));
	return field == PACKETS ? c.packets : c.bytes;
}

static void id_text(char *buf, size_t len, uint32_t id)
{
	snprintf(buf, len, "%u", id);
}

static void path_counter(const struct vec *paths, const char *name,
			 enum field field)
{
	int fd = srpol_map_open("path_stats");
	const struct path_info *path;
	char id[16];

	vec_for_each(path, paths) {
		id_text(id, sizeof(id), path->id);
		sample(name, count(fd, path->id, field), "path", id, "name",
		       path->name, NULL);
	}
	srpol_map_close(fd);
}

static void path_errors(const struct vec *paths)
{
	const struct path_info *path;
	uint64_t n;
	uint16_t r;
	char id[16];

	family("path_errors", "counter", NULL,
	       "Packets a path could not carry, by reason.");
	vec_for_each(path, paths) {
		id_text(id, sizeof(id), path->id);
		for (r = 0; r < SRPOL_REASON_COUNT; r++) {
			n = find_error(SRPOL_ERROR_PATH, path->id, r);
			if (n)
				sample("path_errors_total", n, "path", id,
				       "reason", srpol_reason_name(r), NULL);
		}
	}
}

static void path_quality(const struct vec *paths)
{
	int fd = srpol_map_open("path_quality");
	const struct path_info *path;
	struct srpol_quality q;
	char id[16];

	family("path_signals", "counter", NULL,
	       "Congestion signals (CNP, NAK) for QPs on a path.");
	vec_for_each(path, paths) {
		memset(&q, 0, sizeof(q));
		srpol_map_lookup(fd, &path->id, &q);
		id_text(id, sizeof(id), path->id);
		sample("path_signals_total", q.cnp, "path", id, "signal",
		       "cnp", NULL);
		sample("path_signals_total", q.nak, "path", id, "signal",
		       "nak", NULL);
	}
	srpol_map_close(fd);
}

static void paths_metrics(const struct vec *paths)
{
	const struct path_info *path;
	char id[16];

	family("path_up", "gauge", NULL, "Whether a path can forward.");
	vec_for_each(path, paths) {
		id_text(id, sizeof(id), path->id);
		sample("path_up", path->state == SRPOL_PATH_STATE_UP, "path",
		       id, "name", path->name, NULL);
	}
	family("path_down_reason", "gauge", NULL,
	       "Why a path cannot forward, 1 while that is so.");
	vec_for_each(path, paths) {
		if (path->state == SRPOL_PATH_STATE_UP)
			continue;
		id_text(id, sizeof(id), path->id);
		sample("path_down_reason", 1, "path", id, "reason",
		       srpol_name_of(srpol_path_reasons, path->reason), NULL);
	}
	family("path_packets", "counter", NULL, "Packets sent over a path.");
	path_counter(paths, "path_packets_total", PACKETS);
	family("path_bytes", "counter", "bytes",
	       "Inner bytes sent over a path.");
	path_counter(paths, "path_bytes_total", BYTES);
	path_errors(paths);
	path_quality(paths);
}

static void policy_counter(const struct vec *policies, const char *name,
			   enum field field)
{
	int fd = srpol_map_open("policy_stats");
	const struct policy_info *policy;
	char color[16], addr[SRPOL_ADDR_STRLEN];

	vec_for_each(policy, policies) {
		id_text(color, sizeof(color), policy->color);
		sample(name, count(fd, policy->id, field), "color", color,
		       "endpoint", srpol_addr_text(&policy->endpoint, addr),
		       NULL);
	}
	srpol_map_close(fd);
}

static void policies_metrics(const struct vec *policies)
{
	const struct policy_info *policy;
	char color[16], addr[SRPOL_ADDR_STRLEN];

	family("policy_up", "gauge", NULL, "Whether a policy can forward.");
	vec_for_each(policy, policies) {
		id_text(color, sizeof(color), policy->color);
		sample("policy_up", policy->state == SRPOL_POLICY_STATE_UP,
		       "color", color, "endpoint",
		       srpol_addr_text(&policy->endpoint, addr), "name",
		       policy->name, NULL);
	}
	family("policy_packets", "counter", NULL,
	       "Packets steered by a policy.");
	policy_counter(policies, "policy_packets_total", PACKETS);
	family("policy_bytes", "counter", "bytes",
	       "Inner bytes steered by a policy.");
	policy_counter(policies, "policy_bytes_total", BYTES);
}

static void rule_counter(const struct vec *rules, const char *name,
			  enum field field)
{
	int fd = srpol_map_open("rule_stats");
	const struct rule_info *rule;
	char prio[16];

	vec_for_each(rule, rules) {
		id_text(prio, sizeof(prio), rule->priority);
		sample(name, count(fd, rule->id, field), "prio", prio, "name",
		       rule->name, NULL);
	}
	srpol_map_close(fd);
}

static void rules_metrics(const struct vec *rules)
{
	family("rule_packets", "counter", NULL,
	       "Packets of the flows of a rule.");
	rule_counter(rules, "rule_packets_total", PACKETS);
	family("rule_bytes", "counter", "bytes",
	       "Inner bytes of the flows of a rule.");
	rule_counter(rules, "rule_bytes_total", BYTES);
}

static void sid_counter(const struct vec *sids, const char *name,
			size_t offset)
{
	int fd = srpol_map_open("sid_stats");
	const struct sid_info *sid;
	struct srpol_sid_stats s;
	char addr[SRPOL_ADDR_STRLEN], len[8];

	vec_for_each(sid, sids) {
		srpol_map_sum(fd, sid->id, &s, sizeof(s));
		snprintf(len, sizeof(len), "%u", sid->prefix_len);
		sample(name, *(uint64_t *)((char *)&s + offset), "sid",
		       srpol_addr_text(&sid->sid, addr), "prefix_len", len,
		       "behavior",
		       srpol_name_of(srpol_behaviors, sid->behavior), NULL);
	}
	srpol_map_close(fd);
}

static void sids_metrics(const struct vec *sids)
{
	family("sid_packets", "counter", NULL,
	       "Packets correctly processed by a local SID.");
	sid_counter(sids, "sid_packets_total",
		    offsetof(struct srpol_sid_stats, packets));
	family("sid_bytes", "counter", "bytes",
	       "Bytes correctly processed by a local SID.");
	sid_counter(sids, "sid_bytes_total",
		    offsetof(struct srpol_sid_stats, bytes));
	family("sid_dropped", "counter", NULL,
	       "Packets to a local SID that were dropped.");
	sid_counter(sids, "sid_dropped_total",
		    offsetof(struct srpol_sid_stats, dropped));
	family("sid_ce", "counter", NULL,
	       "Packets marked CE inside by decapsulation.");
	sid_counter(sids, "sid_ce_total",
		    offsetof(struct srpol_sid_stats, ce));
}

static void reasons_metrics(void)
{
	int fd = srpol_map_open("reasons");
	uint64_t n;
	uint32_t r;

	family("packets", "counter", NULL,
	       "What happened to packets, by reason.");
	for (r = 0; r < SRPOL_REASON_COUNT; r++) {
		srpol_map_sum(fd, r, &n, sizeof(n));
		sample("packets_total", n, "reason", srpol_reason_name(r),
		       "drop", srpol_reason_is_drop(r) ? "1" : "0", NULL);
	}
	srpol_map_close(fd);
}

static void config_metrics(const struct config_info *config)
{
	family("data_plane_up", "gauge", NULL,
	       "Whether a data plane is attached.");
	sample("data_plane_up", !!config->data_plane[0], "name",
	       config->data_plane, NULL);
	family("generation", "counter", NULL, "Changes of configuration.");
	sample("generation_total", config->generation, NULL);
	family("table_entries", "gauge", NULL, "Entries of a table in use.");
	sample("table_entries", config->used.paths, "table", "paths", NULL);
	sample("table_entries", config->used.policies, "table", "policies",
	       NULL);
	sample("table_entries", config->used.rules, "table", "rules",
	       NULL);
	sample("table_entries", config->used.endpoints, "table", "endpoints",
	       NULL);
	sample("table_entries", config->used.sids, "table", "sids", NULL);
}

/**
 * do_metrics() - srpol metrics
 * @args: the format, optional
 *
 * Return: an EXIT_*.
 */
int do_metrics(struct args *args)
{
	struct vec policies = VEC_INIT(struct policy_info);
	struct vec rules = VEC_INIT(struct rule_info);
	struct vec paths = VEC_INIT(struct path_info);
	struct vec sids = VEC_INIT(struct sid_info);
	struct config_info config;
	int err;

	if (is(args, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	openmetrics = is(args, "openmetrics") || !is(args, "text");
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = need_maps() ?: fetch_config(&config) ?: fetch_paths(&paths) ?:
	      fetch_policies(&policies) ?: fetch_rules(&rules) ?:
	      fetch_sids(&sids);
	if (err)
		return err;
	config_metrics(&config);
	paths_metrics(&paths);
	policies_metrics(&policies);
	rules_metrics(&rules);
	sids_metrics(&sids);
	reasons_metrics();
	metrics_engine();
	if (openmetrics)
		puts("# EOF");
	vec_free(&paths);
	vec_free(&policies);
	vec_free(&rules);
	vec_free(&sids);
	return EXIT_OK;
}
