// SPDX-License-Identifier: GPL-2.0
/*
 * simhost CONFIG HOST...: hosts that follow a plan, with srpold's own code but
 * without a module: what would be applied is printed, one line of JSON per
 * plan, with the weights as read back from what would be in force. Commands
 * come by standard input:
 *
 *	report HOST FROM TO CAPACITY	HOST knows of one link, and of no other
 *	report HOST			HOST knows of none
 *	suspect HOST CONFIDENCE [FROM TO]...
 *					HOST suspects these, or none: one of them
 *					explains lost probes
 *	pass HOST [FROM TO]...		probes of HOST pass all links but these
 *	measured HOST [FROM TO KBPS]...	HOST sends so much over these links
 *	many HOST N KBPS		likewise over N links, over each 1 kbit/s more
 *	demand HOST [DST BYTES IN_MS FOR_MS PERIOD_MS,]...
 *					HOST's applications will send that
 *	demands HOST N BYTES		likewise N, each one byte more
 *	stats				prints a line per host
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "backups.h"
#include "bus.h"
#include "follow.h"
#include "log.h"
#include "srpol_lib.h"
#include "store_config.h"

struct host {
	struct follow follow;
	char name[SRPOL_NAME_LEN];
	struct follow_known known;
	struct follow_link link;
	struct follow_suspicion suspicion;
	bool *passes;
};

static struct srpol_fabric *fabric;
static struct host *hosts;
static int n_hosts;

static int apply(void *data, const struct follow_plan *plan)
{
	struct host *host = data;
	json_t *chunks = json_object(), *limits, *o;
	char *text;
	uint32_t i;

	for (i = 0; i < plan->n; i++) {
		text = srpol_chunk_write(fabric, plan->plan, plan->leaf[i]);
		json_object_set_new(chunks, fabric->nodes[plan->leaf[i]].name,
				    json_string(text ?: ""));
		free(text);
	}
	o = json_pack("{s:s, s:I, s:I, s:s, s:I, s:o}",
		      "host", host->name,
		      "epoch", (json_int_t)plan->head.epoch,
		      "term", (json_int_t)plan->head.term,
		      "digest", plan->head.digest,
		      "seen", (json_int_t)plan->seen,
		      "chunks", chunks);
	limits = json_array();
	for (i = 0; i < plan->index.n_limits; i++)
		json_array_append_new(limits, json_pack("[I, I]",
			(json_int_t)plan->index.limits[i].color,
			(json_int_t)plan->index.limits[i].rate));
	json_object_set_new(o, "limits", limits);
	json_object_set_new(o, "backups", srpol_backups_to_json(&plan->index) ?:
			    json_array());
	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(o);
	return 0;
}

static void print_stats(const struct host *host)
{
	const struct follow_stats *s = &host->follow.stats;
	json_t *o;

	o = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		      "stats", host->name,
		      "applied", (json_int_t)s->applied,
		      "bad_head", (json_int_t)s->bad_head,
		      "replayed", (json_int_t)s->replayed,
		      "bad_index", (json_int_t)s->bad_index,
		      "bad_chunk", (json_int_t)s->bad_chunk,
		      "topology", (json_int_t)s->topology,
		      "compacted", (json_int_t)(s->compacted +
						host->follow.mirror.compacted),
		      "resets", (json_int_t)s->resets,
		      "reports", (json_int_t)s->reports);
	json_object_set_new(o, "loads", json_integer(host->follow.load.count));
	json_object_set_new(o, "forecasts", json_integer(
		host->follow.demand.count));
	json_object_set_new(o, "retries", json_integer(s->retries));
	json_object_set_new(o, "epoch", json_integer(host->follow.now ?
		(json_int_t)host->follow.now->head.epoch : 0));
	json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(o);
}

static struct host *find_host(const char *name)
{
	int i;

	for (i = 0; name && i < n_hosts; i++)
		if (!strcmp(hosts[i].name, name))
			return &hosts[i];
	return NULL;
}

/* Number of a cable; false if there is none. */
static bool find_cable(const char *from, const char *to, uint32_t *cable)
{
	uint32_t a = srpol_fabric_node(fabric, from), link;
	uint32_t b = srpol_fabric_node(fabric, to);

	link = a == SRPOL_NONE || b == SRPOL_NONE ? SRPOL_NONE :
	       srpol_fabric_link(fabric, a, b);
	*cable = link / 2;
	return link != SRPOL_NONE;
}

static void report(const char *name, const char *from, const char *to,
		   uint64_t capacity, bool any)
{
	struct host *host = find_host(name);

	if (!host || (any && !find_cable(from, to, &host->link.cable)))
		return;
	host->link.capacity = capacity;
	host->known.links = &host->link;
	host->known.n_links = any;
	follow_report(&host->follow, &host->known);
}

static bool next_cable(uint32_t *cable)
{
	const char *from = strtok(NULL, " \n");
	const char *to = strtok(NULL, " \n");

	return from && to && find_cable(from, to, cable);
}

static void suspect(char *words)
{
	struct host *host = find_host(strtok(words, " \n"));
	struct follow_suspicion *s = host ? &host->suspicion : NULL;
	const char *confidence = strtok(NULL, " \n");

	if (!s || !confidence)
		return;
	*s = (struct follow_suspicion){ .confidence = atoi(confidence) };
	while (s->n < FOLLOW_SUSPECTS && next_cable(&s->cable[s->n]))
		s->n++;
	host->known.suspicions = s;
	host->known.n_suspicions = s->n != 0;
	follow_report(&host->follow, &host->known);
}

static void pass(char *words)
{
	struct host *host = find_host(strtok(words, " \n"));
	uint32_t n = fabric->n_links / 2, cable;

	if (!host)
		return;
	if (!host->passes)
		host->passes = store_alloc(n * sizeof(*host->passes));
	memset(host->passes, true, n * sizeof(*host->passes));
	while (next_cable(&cable))
		host->passes[cable] = false;
	host->known.passes = host->passes;
	follow_report(&host->follow, &host->known);
}

static void measured(char *words)
{
	const char *name = strtok(words, " \n"), *from, *to, *kbps;
	struct follow_load loads[64];
	uint32_t a, b;
	size_t n = 0;
	int i;

	while ((from = strtok(NULL, " \n")) && (to = strtok(NULL, " \n")) &&
	       (kbps = strtok(NULL, " \n")) && n < 64) {
		a = srpol_fabric_node(fabric, from);
		b = srpol_fabric_node(fabric, to);
		loads[n++] = (struct follow_load){
			.link = srpol_fabric_link(fabric, a, b),
			.kbps = strtoul(kbps, NULL, 10),
		};
	}
	for (i = 0; i < n_hosts; i++)
		if (name && !strcmp(hosts[i].name, name))
			follow_measured(&hosts[i].follow, loads, n);
}

/* A host may send over its own links and over those between switches. */
static bool may_send(uint32_t host, uint32_t link)
{
	uint32_t from = fabric->links[link].from;

	return from == host || fabric->nodes[from].tier != SRPOL_TIER_HOST;
}

static void measured_many(const char *name, uint32_t n, uint32_t kbps)
{
	struct follow_load *loads = calloc(n + 1, sizeof(*loads));
	struct follow *f;
	uint32_t i, is;
	int k;

	for (k = 0; loads && k < n_hosts; k++) {
		if (strcmp(hosts[k].name, name))
			continue;
		f = &hosts[k].follow;
		for (i = is = 0; is < n && i < fabric->n_links; i++) {
			if (!may_send(f->host, i))
				continue;
			loads[is] = (struct follow_load){
				.link = i, .kbps = kbps + is,
			};
			is++;
		}
		follow_measured(f, loads, is);
	}
	free(loads);
}

static uint64_t wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * UINT64_C(1000) + ts.tv_nsec / 1000000;
}

static struct follow *host_named(const char *name)
{
	int i;

	for (i = 0; i < n_hosts; i++)
		if (name && !strcmp(hosts[i].name, name))
			return &hosts[i].follow;
	return NULL;
}

static void demand(char *words)
{
	struct follow *f = host_named(strtok(words, " \n"));
	unsigned long long bytes, in, for_ms, period;
	struct srpol_forecast list[64];
	struct srpol_forecasts all = { .list = list };
	uint64_t now = wall_ms();
	const char *dst, *rest;
	int used;

	while (f && (dst = strtok(NULL, " \n")) && all.n < 64) {
		rest = strtok(NULL, ",\n");
		if (!rest || sscanf(rest, "%llu %llu %llu %llu%n", &bytes, &in,
				    &for_ms, &period, &used) != 4)
			break;
		list[all.n++] = (struct srpol_forecast){
			.src = srpol_fabric_gpu(fabric, f->host, 0),
			.dst = srpol_fabric_gpu(fabric,
				srpol_fabric_node(fabric, dst), 0),
			.bytes = bytes, .start_ms = now + in,
			.end_ms = now + in + for_ms, .period_ms = period,
		};
	}
	if (f)
		follow_demands(f, &all, now);
}

/* To all other hosts, each with other periods. */
static void demand_many(const char *name, uint32_t n, uint64_t bytes)
{
	struct srpol_forecasts all = {
		.list = calloc(n + 1, sizeof(*all.list)),
	};
	struct follow *f = host_named(name);
	uint64_t now = wall_ms();
	uint32_t gpu = 0, i;

	for (i = 0; f && all.list && i < n; i++) {
		do
			gpu = (gpu + 1) % fabric->n_gpus;
		while (fabric->gpus[gpu].host == f->host);
		all.list[all.n++] = (struct srpol_forecast){
			.src = srpol_fabric_gpu(fabric, f->host, 0),
			.dst = gpu, .bytes = bytes + i, .start_ms = now,
			.end_ms = now + 60000, .period_ms = 1000 + i,
		};
	}
	if (f && all.list)
		follow_demands(f, &all, now);
	free(all.list);
}

static void take_command(struct source *source, uint32_t events)
{
	char line[4096], name[64], from[64], to[64];
	uint32_t many, kbps;
	uint64_t capacity;
	int i, n;

	if (!fgets(line, sizeof(line), stdin)) {
		loop_stop();
		return;
	}
	if (!strncmp(line, "stats", 5)) {
		for (i = 0; i < n_hosts; i++)
			print_stats(&hosts[i]);
		return;
	}
	if (!strncmp(line, "measured ", 9)) {
		measured(line + 9);
		return;
	}
	if (!strncmp(line, "suspect ", 8)) {
		suspect(line + 8);
		return;
	}
	if (!strncmp(line, "pass ", 5)) {
		pass(line + 5);
		return;
	}
	if (!strncmp(line, "demand ", 7)) {
		demand(line + 7);
		return;
	}
	if (sscanf(line, "demands %63s %" SCNu32 " %" SCNu64, name, &many,
		   &capacity) == 3) {
		demand_many(name, many, capacity);
		return;
	}
	if (sscanf(line, "many %63s %" SCNu32 " %" SCNu32, name, &many,
		   &kbps) == 3) {
		measured_many(name, many, kbps);
		return;
	}
	n = sscanf(line, "report %63s %63s %63s %" SCNu64, name, from, to,
		   &capacity);
	if (n == 1 || n == 4)
		report(name, from, to, capacity, n == 4);
}

static void start(struct host *host, const char *name, const json_t *config)
{
	struct follow *f = &host->follow;
	struct srpol_error err = {};
	const json_t *lease = json_object_get(config, "lease-s");
	const char *folder, *shard;

	snprintf(host->name, sizeof(host->name), "%s", name);
	shard = json_string_value(json_object_get(config, "shard"));
	snprintf(f->config.shard, sizeof(f->config.shard), "%s", shard ?: "0");
	f->config.lease_s = lease ? json_integer_value(lease) : 10;
	f->config.damp_ns = 100000000;
	folder = json_string_value(json_object_get(config, "folder"));
	if (folder)
		snprintf(f->config.file, sizeof(f->config.file), "%s/%s.plan",
			 folder, name);
	f->fabric = fabric;
	f->host = srpol_fabric_node(fabric, name);
	f->apply = apply;
	f->data = host;
	if (f->host == SRPOL_NONE ||
	    store_config_read(json_object_get(config, "store"),
			      &f->config.store, &err) ||
	    bus_config_read(json_object_get(config, "bus"), &f->config.bus,
			    &err) ||
	    follow_start(f, &err)) {
		fprintf(stderr, "%s: %s\n", name, err.text);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static struct source commands = { .ready = take_command };
	json_t *config = argc > 2 ? json_load_file(argv[1], 0, NULL) : NULL;
	const char *file = json_string_value(json_object_get(config,
							     "topology"));
	struct srpol_error err = {};
	int i;

	if (!file || sodium_init() < 0 || loop_init())
		return 2;
	log_verbose = true;
	/* one command at a time, so that none waits in stdio's buffer */
	setvbuf(stdin, NULL, _IONBF, 0);
	fabric = srpol_topology_read(file, &err);
	if (!fabric || loop_add(&commands, EPOLLIN)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	n_hosts = argc - 2;
	hosts = calloc(n_hosts, sizeof(*hosts));
	for (i = 0; i < n_hosts; i++)
		start(&hosts[i], argv[2 + i], config);
	loop_run();
	for (i = 0; i < n_hosts; i++) {
		follow_stop(&hosts[i].follow);
		free(hosts[i].passes);
	}
	savers_end();
	free(hosts);
	srpol_fabric_free(fabric);
	json_decref(config);
	/* handlers of exit() take away what threads that are left may still use */
	if (!buses_end())
		_exit(0);
	return 0;
}
