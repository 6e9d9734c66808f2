// SPDX-License-Identifier: GPL-2.0
/*
 * The fabric for a scraper, in OpenMetrics or in the older text format. These
 * differ in the names of counters' families, in units, and in the end marker.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forecasts.h"
#include "hear.h"
#include "srpol_lib.h"
#include "tenants.h"
#include "web.h"

#define LINKS_MAX	1000	/* listed links */

static FILE *out;
static bool openmetrics;

static void family(const char *name, const char *type, const char *unit,
		   const char *help)
{
	const char *suffix = !openmetrics && !strcmp(type, "counter") ?
			     "_total" : "";

	fprintf(out, "# HELP srpol_fabric_%s%s %s\n", name, suffix, help);
	fprintf(out, "# TYPE srpol_fabric_%s%s %s\n", name, suffix, type);
	if (unit && openmetrics)
		fprintf(out, "# UNIT srpol_fabric_%s %s\n", name, unit);
}

static void label_value(const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", out);
		else
			fputc(*s, out);
	}
	fputc('"', out);
}

/* A sample with labels: pairs of name and value, ended by NULL. */
static void sample(const char *name, double value, ...)
{
	const char *label, *sep = "{";
	va_list ap;

	fprintf(out, "srpol_fabric_%s", name);
	va_start(ap, value);
	while ((label = va_arg(ap, const char *))) {
		fprintf(out, "%s%s=", sep, label);
		label_value(va_arg(ap, const char *));
		sep = ",";
	}
	va_end(ap);
	fprintf(out, "%s %.17g\n", *sep == ',' ? "}" : "", value);
}

static void gauge(const char *name, const char *unit, const char *help,
		  double value)
{
	family(name, "gauge", unit, help);
	sample(name, value, NULL);
}

static void counter(const char *name, const char *help, double value)
{
	char total[64];

	family(name, "counter", NULL, help);
	snprintf(total, sizeof(total), "%s_total", name);
	sample(total, value, NULL);
}

static void engine_metrics(void)
{
	const struct fabricd_stats *s = &fabricd.stats;

	family("engine_info", "gauge", NULL, "This engine, always 1.");
	sample("engine_info", 1, "name", fabricd.config.name, "shard",
	       fabricd.config.shard, "algorithm", fabricd.config.alg->name,
	       "store", fabricd.store.ops->name, NULL);
	gauge("leads", NULL, "Whether this engine leads its shard.",
	      fabricd.term != 0);
	gauge("term", NULL, "Term in which it leads, 0 if it does not.",
	      fabricd.term);
	gauge("epoch", NULL, "Epoch in force, 0 if this engine does not lead or has not read it.",
	      plan_epoch());
	gauge("topology_differs", NULL, "The engine that leads has another topology.",
	      other_topology() != NULL);
	counter("events", "Changes of jobs and reports.", s->events);
	counter("refused", "These that were wrong.", s->refused);
	counter("plans", "Plans made.", s->plans);
	counter("epochs", "Epochs published.", s->published);
	counter("fenced", "Transactions refused as another engine leads.",
		s->fenced);
	counter("unsure", "Transactions whose end is not known.", s->unsure);
	counter("elections", "Times this engine became leader.", s->elected);
	gauge("last_plan_seconds", "seconds", "Time the last plan took.",
	      s->plan_ns / 1e9);
}

static void hosts_metrics(void)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t acked = 0, behind = 0, unknown = 0, hosts = 0, i;
	const struct ack *ack;

	for (i = 0; i < f->n_nodes; i++)
		hosts += f->nodes[i].tier == SRPOL_TIER_HOST;
	vec_for_each(ack, &fabricd.acks) {
		if (!ack->epoch)
			continue;
		if (!ack_is_of_host(ack))
			unknown++;
		else if (ack->epoch == plan_epoch())
			acked++;
		else
			behind++;
	}
	family("hosts", "gauge", NULL, "Hosts by what they have applied.");
	/* who has no plan knows no epoch that hosts could be behind */
	if (plan_in_force(NULL)) {
		sample("hosts", acked, "state", "applied", NULL);
		sample("hosts", behind, "state", "behind", NULL);
	}
	sample("hosts", (double)hosts - acked - behind, "state", "silent",
	       NULL);
	sample("hosts", unknown, "state", "unknown", NULL);
	gauge("jobs", NULL, "Jobs announced.", fabricd.jobs.n);
	gauge("reports", NULL, "Hosts with a report.", fabricd.reports.n);
}

static void plan_metrics(void)
{
	const struct srpol_planner *p = &fabricd.planner;
	double bytes = 0;
	uint32_t i;

	if (!plan_in_force(NULL) || !p->placement)
		return;
	for (i = 0; i < p->n; i++)
		bytes += p->demands[i].bytes;
	gauge("demands", NULL, "Demands in the plan.", p->n);
	gauge("unplaced_demands", NULL, "Demands without a usable path.",
	      p->placement->prediction.unplaced);
	gauge("planned_bytes", "bytes", "Bytes of all demands.", bytes);
	gauge("planned_seconds", "seconds",
	      "Time the busiest link needs for what is planned for it.",
	      p->placement->prediction.seconds);
}

/* Forecasts of hosts. */
static void forecast_metrics(void)
{
	struct forecast_stats s;

	forecasts_get(&s);
	if (plan_in_force(NULL)) {
		family("forecasts", "gauge", NULL,
		       "Demands that hosts foresee, by what becomes of them.");
		sample("forecasts", s.planned, "state", "planned", NULL);
		sample("forecasts", s.covered, "state", "covered", NULL);
		/* the plan may have been made before some ended */
		sample("forecasts",
		       fmax((double)s.demands - s.planned - s.covered, 0),
		       "state", "waits", NULL);
		gauge("forecast_bytes", "bytes", "Bytes of those in the plan.",
		      s.bytes);
	}
	gauge("forecast_hosts", NULL, "Hosts that foresee something.", s.hosts);
	counter("forecasts_refused", "Words of forecasts that were wrong.",
		s.refused);
	gauge("forecasts_cut", NULL,
	      "Forecasts that the engine has no room for.", s.cut);
}

static void load_metrics(void)
{
	struct measured_shares shares;
	struct bus_stats bus;

	measured_shares(loads_get(), &shares);
	hear_bus(&bus);
	gauge("measured_hosts", NULL, "Hosts that say what they send.",
	      measured_hosts());
	counter("measured_refused", "What they said that was wrong.",
		measured_refused());
	gauge("bus_connected", NULL, "All connections to the bus are there.",
	      bus.connected);
	counter("bus_messages", "Messages taken from the bus.", bus.received);
	counter("bus_dropped",
		"Messages from the bus that were too large, or too many.",
		bus.dropped);
	gauge("measured_bytes_per_second", NULL,
	      "What hosts send over links between switches, of all of these.",
	      shares.measured / 8);
	if (shares.comparable)
		gauge("off_plan_ratio", "ratio",
		      "Part of that on other links than the plan has it.",
		      shares.off_plan);
}

static const char *tier_name(uint32_t node)
{
	static const char * const names[SRPOL_TIERS] = {
		"host", "leaf", "spine", "super"
	};

	return names[fabricd.fabric->nodes[node].tier];
}

static bool is_less(uint32_t link)
{
	return loads_links()->links[link].capacity <
	       srpol_link_rate(&fabricd.fabric->links[link]);
}

static void links_metrics(void)
{
	const struct srpol_fabric *f = fabricd.fabric;
	const struct srpol_links *now = loads_look();
	uint32_t up = 0, down = 0, reduced = 0, i, n = 0;

	if (!now)
		return;
	for (i = 0; i < f->n_links; i += 2) {
		down += !now->links[i].capacity;
		reduced += now->links[i].capacity && is_less(i);
		up += !is_less(i);
	}
	family("links", "gauge", NULL, "Links by state.");
	sample("links", up, "state", "up", NULL);
	sample("links", reduced, "state", "reduced", NULL);
	sample("links", down, "state", "down", NULL);
	family("link_capacity_ratio", "gauge", "ratio",
	       "Share of its rate that a link carries, where that is less than 1.");
	for (i = 0; i < f->n_links && n < LINKS_MAX; i += 2) {
		if (!is_less(i))
			continue;
		n++;
		sample("link_capacity_ratio",
		       (double)now->links[i].capacity /
		       srpol_link_rate(&f->links[i]), "from",
		       view_node(f->links[i].from), "to",
		       view_node(f->links[i].to), NULL);
	}
}

/*
 * The greatest value of links above a switch, or below it if there are none
 * above.
 */
static double busiest(uint32_t node, const double *loads,
		      double (*of)(const double *loads, uint32_t link))
{
	const struct srpol_fabric *f = fabricd.fabric;
	const struct srpol_node *n = &f->nodes[node];
	uint32_t i, k, link;
	double worst = 0, s;

	for (i = 0; i < (n->up_n ? n->up_n : n->down_n); i++) {
		link = n->up_n ? srpol_node_up(f, node, i) :
		       srpol_node_down(f, node, i);
		for (k = 0; k < 2; k++) {
			s = of(loads, link ^ k);
			worst = s > worst ? s : worst;
		}
	}
	return worst;
}

static double used(const double *loads, uint32_t link)
{
	return view_used(link);
}

static void used_metrics(void)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t i;

	family("switch_used_ratio", "gauge", "ratio",
	       "Share of its capacity that the busiest link of a switch carries, as measured.");
	for (i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].tier != SRPOL_TIER_HOST)
			sample("switch_used_ratio", busiest(i, NULL, used),
			       "switch", view_node(i), "tier", tier_name(i),
			       NULL);
}

/* Both directions of links between switches, if there are few. */
static void link_used_metrics(void)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t i, n = 0;

	for (i = 0; i < f->n_links; i++)
		n += f->nodes[f->links[i].from].tier != SRPOL_TIER_HOST &&
		     f->nodes[f->links[i].to].tier != SRPOL_TIER_HOST;
	family("link_used_ratio", "gauge", "ratio",
	       "Share of its capacity that a link between switches carries, as measured; of small fabrics.");
	for (i = 0; n <= LINKS_MAX && i < f->n_links; i++)
		if (f->nodes[f->links[i].from].tier != SRPOL_TIER_HOST &&
		    f->nodes[f->links[i].to].tier != SRPOL_TIER_HOST)
			sample("link_used_ratio", view_used(i), "from",
			       view_node(f->links[i].from), "to",
			       view_node(f->links[i].to), NULL);
}

static void suspects_metrics(void)
{
	const struct judge_link *l;
	uint32_t down = 0, kept = 0;
	struct vec links;

	suspects_get(&links);
	vec_for_each(l, &links) {
		down += l->down;
		kept += !l->down;
	}
	vec_free(&links);
	family("suspected_links", "gauge", NULL,
	       "Links that explain lost probes of hosts, by whether the plan does without them.");
	sample("suspected_links", down, "state", "down", NULL);
	sample("suspected_links", kept, "state", "kept", NULL);
}

static void reservations_metrics(void)
{
	static const char * const states[] = {
		"waiting", "admitted", "reserved", "moving", "lost",
	};
	const struct reservation *r;
	uint32_t n, low = 0;
	size_t i;

	family("reservations", "gauge", NULL,
	       "Reservations of jobs, by state.");
	for (i = 0; i < sizeof(states) / sizeof(*states); i++) {
		n = 0;
		vec_for_each(r, reservations_all())
			n += !strcmp(record_state(r), states[i]);
		sample("reservations", n, "state", states[i], NULL);
	}
	vec_for_each(r, reservations_all())
		low += !r->ends && r->guaranteed < r->wanted;
	gauge("lowered_reservations", NULL,
	      "Reservations that have less than their jobs want.", low);
}

static void switches_metrics(void)
{
	const struct srpol_fabric *f = fabricd.fabric;
	const double *loads = loads_get();
	uint32_t i;

	if (!loads)
		return;
	family("switch_busy_seconds", "gauge", "seconds",
	       "Time the busiest link of a switch needs for what is planned for it.");
	for (i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].tier != SRPOL_TIER_HOST)
			sample("switch_busy_seconds",
			       busiest(i, loads, loads_seconds), "switch",
			       view_node(i), "tier", tier_name(i), NULL);
}

/**
 * web_metrics() - all metrics
 * @as_openmetrics: use OpenMetrics, otherwise the older text format
 * @len: result: length in bytes
 *
 * Return: text, to be freed; NULL without memory.
 */
char *web_metrics(bool as_openmetrics, size_t *len)
{
	char *text = NULL;

	openmetrics = as_openmetrics;
	out = open_memstream(&text, len);
	if (!out)
		return NULL;
	engine_metrics();
	hosts_metrics();
	plan_metrics();
	forecast_metrics();
	links_metrics();
	suspects_metrics();
	reservations_metrics();
	switches_metrics();
	load_metrics();
	used_metrics();
	link_used_metrics();
	if (openmetrics)
		fputs("# EOF\n", out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
