// SPDX-License-Identifier: GPL-2.0
/*
 * srpol-fabricd: the global engine.
 */
#include <errno.h>
#include <getopt.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "causes.h"
#include "forecasts.h"
#include "kv.h"
#include "notify.h"
#include "signals.h"
#include "srpol_lib.h"
#include "web.h"

#define CONFIG_FILE	"/etc/srpol/srpol-fabricd.json"

static const char usage[] =
"Usage: srpol-fabricd [ -c FILE ] [ --check-config ] [ --verbose ]\n"
"The global engine: plans for the whole fabric and publishes the plan to all\n"
"hosts. It stays in the foreground.\n";

struct fabricd fabricd = {
	.jobs = VEC_INIT(struct input),
	.foreign = VEC_INIT(struct input),
	.reports = VEC_INIT(struct input),
	.acks = VEC_INIT(struct ack),
};

static int stop(int ret, const struct srpol_error *err)
{
	log_error("%s", err->text[0] ? err->text : strerror(-ret));
	return 1;
}

static int read_topology(struct srpol_error *err)
{
	char *text;

	fabricd.fabric = srpol_topology_read(fabricd.config.topology, err);
	if (!fabricd.fabric)
		return -EINVAL;
	text = srpol_topology_text(fabricd.fabric);
	if (!text)
		return -ENOMEM;
	srpol_digest(text, strlen(text), fabricd.topology);
	free(text);
	fabricd.planner.fabric = fabricd.fabric;
	fabricd.planner.alg = fabricd.config.alg;
	return 0;
}

static int begin(struct srpol_error *err)
{
	int ret;

	ret = loop_init() ?: signals_watch(NULL) ?: read_topology(err);
	if (!ret && config_serves_store())
		ret = kv_server_start(fabricd.config.store.socket,
				      fabricd.config.file, err);
	return ret ?: store_open(&fabricd.store, &fabricd.config.store, err) ?:
	       control_start(err) ?: web_start(err) ?: measured_start(err) ?:
	       forecasts_start(err);
}

static void end(void)
{
	forecasts_stop();
	measured_stop();
	web_stop();
	causes_free();
	control_stop();
	store_close(&fabricd.store);
	takeover_stop();
	publish_stop();
	if (config_serves_store())
		kv_server_stop();
	slices_free();
	srpol_planner_free(&fabricd.planner);
	srpol_plan_free(fabricd.plan);
	srpol_plan_free(fabricd.before);
	srpol_links_free(fabricd.links);
	epoch_free(&fabricd.epoch);
	srpol_fabric_free(fabricd.fabric);
	free(fabricd.config.users);
}

/* Handlers of exit() take away what threads that are left may still use. */
static int leave(int status)
{
	if (!buses_end())
		_exit(status);
	return status;
}

static int run(void)
{
	struct srpol_error err = {};
	int ret;

	ret = begin(&err);
	if (ret) {
		end();
		return leave(stop(ret, &err));
	}
	inputs_start();
	tenants_start();
	reservations_start();
	acks_start();
	other_topology_start();
	leader_start();
	notify("READY=1");
	ret = loop_run();
	notify("STOPPING=1");
	leader_stop();
	job_request_stop();
	tenant_request_stop();
	other_topology_stop();
	acks_stop();
	reservations_stop();
	tenants_stop();
	inputs_stop();
	end();
	return leave(ret ? stop(ret, &err) : 0);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check-config", no_argument, NULL, 'k' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *file = CONFIG_FILE;
	struct srpol_error err = {};
	bool check = false;
	int c, ret;

	while ((c = getopt_long(argc, argv, "c:kvh", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			file = optarg;
			break;
		case 'k':
			check = true;
			break;
		case 'v':
			log_verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 1;
		}
	}
	ret = sodium_init() < 0 ? -EIO : config_read(file, &fabricd.config,
						     &err);
	if (ret)
		return stop(ret, &err);
	if (!check)
		return run();
	ret = read_topology(&err);
	if (ret)
		return stop(ret, &err);
	printf("%u nodes, %u links, topology %s\n", fabricd.fabric->n_nodes,
	       fabricd.fabric->n_links / 2, fabricd.topology);
	srpol_fabric_free(fabricd.fabric);
	free(fabricd.config.users);
	return 0;
}
