// SPDX-License-Identifier: GPL-2.0
/*
 * srpold: the local SR engine.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "extra.h"
#include "lock.h"
#include "path_ids.h"
#include "probing.h"
#include "sids.h"
#include "signals.h"
#include "srpold.h"
#include "watchers.h"

#define CONFIG_FILE	"/etc/srpol/srpold.json"

static const char usage[] =
"Usage: srpold [ -c FILE ] [ -n NETNS ] [ --check-config ] [ --verbose ]\n"
"The local SR engine: makes paths and policies from the topology, probes them\n"
"and tells the module srpol which are down. It stays in the foreground.\n"
"SIGHUP reads the files anew; if they are wrong the old ones stay in force.\n";

static struct engine engine;
static const char *config_file = CONFIG_FILE;
static bool failed;	/* to go on after a reload, or with a NIC's new device */

static const char *reason(int ret, const struct srpol_error *err)
{
	return err->text[0] ? err->text : strerror(-ret);
}

static int stop(int ret, const struct srpol_error *err)
{
	log_error("%s", reason(ret, err));
	return 1;
}

/* Make the policies of jobs, and weigh all policies. */
static int make_jobs(struct srpol_error *err)
{
	struct srpol_error lack = {};

	if (jobs_build(&engine, true, &lack))
		log_error("%s; it gets all of them", lack.text);
	return balance_weigh(&engine, NULL, err);
}

/* Where the module refuses it when the engine goes back, it stays as it is, for now. */
static int set_module(bool back, struct srpol_error *err)
{
	int ret = reconcile(&engine, err);

	if (!ret || !back)
		return ret;
	watch_look(true);
	log_error("%s; the module stays as it is for now", reason(ret, err));
	/* not to be told once more with what fails later */
	err->text[0] = '\0';
	return 0;
}

/* The module has what follows from plans. */
static void followed(void)
{
	plan_started();
	plan_links_start(&engine);
	limits_start(&engine);
	load_start(&engine);
	forecast_start(&engine);
}

static void follow_late(void)
{
	struct srpol_error err = {};

	set_module(true, &err);
	followed();
	watchers_rebuilt();
}

/* It may have begun, in part, or with a data plane that was loaded anew. */
static int reflect(struct engine *e, struct srpol_error *err)
{
	reflect_stop();
	return reflect_start(e, err);
}

static struct extra plans = {
	.start = plan_start, .late = follow_late,
	.without = "no plan is followed for now", .with = "plans are followed again",
};
static struct extra reflected = {
	.start = reflect, .without = "no probes are sent to peers for now",
	.with = "probes are sent to peers again",
};
static struct extra told = {
	.start = glb_start, .stop = glb_stop,
	.without = "peers are told nothing of links for now",
	.with = "peers are told of links again",
};

static int begin(bool back, struct srpol_error *err)
{
	int ret;

	ret = uplinks_open(&engine, back, err) ?: probe_map_open(err);
	if (ret)
		return ret;
	reflect_map_open();
	speeds_start(&engine);
	feed_start(&engine);
	ret = make_jobs(err) ?: extra_start(&plans, &engine, back, err) ?:
	      set_module(back, err);
	if (ret)
		return ret;
	followed();
	ret = prober_start(&engine, err) ?:
	      extra_start(&reflected, &engine, back, err) ?:
	      extra_start(&told, &engine, back, err) ?:
	      balance_start(&engine, err);
	watchers_start(&engine);
	return ret;
}

static void end(void)
{
	extras_stop();
	forecast_stop();
	load_stop();
	limits_stop();
	plan_links_stop();
	plan_stop();
	balance_stop();
	feed_stop();
	glb_stop();
	reflect_stop();
	prober_stop();
	speeds_stop();
	reflect_map_close();
	probe_map_close();
	uplinks_close();
}

/* Go on with another engine; the present one has ended. */
static int take_over(struct engine *next, bool back, struct srpol_error *err)
{
	uint32_t color = engine.config.color;

	next->genl = engine.genl;
	next->events = engine.events;
	engine = *next;
	demands_resolve(&demands, engine.fabric);
	demands_recolor(&demands, color, engine.config.color);
	sids_forget();
	rules_forget();
	wiring_forget();
	return begin(back, err);
}

/*
 * Could the engine begin? What is found here need not be undone, and cannot keep the
 * present one from going on.
 */
static int can_begin(const struct engine *next, struct srpol_error *err)
{
	return jobs_leave_color(next->config.color, err) ?:
	       path_ids_check(next, &engine, err) ?: uplinks_check(next, err) ?:
	       prober_check(next, err) ?: plan_check(&next->config, err);
}

static void reload(void)
{
	struct vec known = VEC_INIT(struct demand);
	struct srpol_error err = {};
	struct config config;
	struct engine trial = {}, old;
	const struct demand *demand;
	int ret;

	notify("RELOADING=1");
	watch_reconnect();
	ret = config_read(config_file, &config, &err) ?:
	      engine_build(&trial, &config, &err) ?: can_begin(&trial, &err);
	if (ret) {
		log_error("%s; what was in force stays", reason(ret, &err));
		engine_free(&trial);
		notify("READY=1");
		return;
	}
	verdicts_renew(&engine);
	end();
	strcpy(trial.config.socket, engine.config.socket);
	strcpy(trial.config.demands, engine.config.demands);
	linkstate_carry(&trial.links, &engine.links,
			!strcmp(trial.config.weights.feed, engine.config.weights.feed));
	old = engine;
	vec_for_each(demand, &demands.all)
		*(struct demand *)vec_add(&known) = *demand;
	ret = take_over(&trial, false, &err);
	if (ret) {
		log_error("%s; back to what was in force", reason(ret, &err));
		uplinks_renounce();
		end();
		engine_free(&engine);
		vec_free(&demands.all);
		demands.all = known;
		known = (struct vec)VEC_INIT(struct demand);
		err.text[0] = '\0';
		ret = take_over(&old, true, &err);
		failed = ret;
	} else {
		engine_free(&old);
		path_ids_warn(&engine);
	}
	vec_free(&known);
	if (failed) {
		log_error("%s", reason(ret, &err));
		loop_stop();
	}
	notify("READY=1");
}

/*
 * A NIC has another device: what is in force begins anew, with that one. Where the
 * module or a program is in the way it goes on, as after a reload.
 */
static void renew(void)
{
	struct srpol_error err = {};
	struct engine same;
	int ret;

	verdicts_renew(&engine);
	end();
	same = engine;
	ret = take_over(&same, true, &err);
	if (!ret)
		return;
	failed = ret;
	log_error("%s", reason(ret, &err));
	loop_stop();
}

/*
 * The probe key and the map of probes belong to the network namespace: a second
 * srpold, with another socket, would make the first one's answers look forged.
 */
static int be_the_only_one(struct srpol_error *err)
{
	char name[NAME_MAX + 1], path[sizeof("/run/srpold/.lock") + NAME_MAX];
	int ret, fd;

	ret = srpol_netns_name(name, sizeof(name));
	if (ret)
		return srpol_error_set(err, ret, "name of the network namespace: %s",
				       strerror(-ret));
	snprintf(path, sizeof(path), "/run/srpold/%s.lock", name);
	ret = lock_file(path, &fd, err);
	if (ret != -EBUSY && ret)
		log_notice("%s; a second srpold would not be noticed",
			   err->text);
	/* the lock ends with the process */
	return ret == -EBUSY ? ret : 0;
}

static void beat(struct source *source, uint32_t what)
{
	timer_take(source);
	notify("WATCHDOG=1");
}

static void start_watchdog(void)
{
	static struct source heart = { .ready = beat };
	const char *usec = getenv("WATCHDOG_USEC");
	uint64_t ns = usec ? strtoull(usec, NULL, 10) * 1000 / 3 : 0;

	if (ns && timer_open(&heart, ns, ns))
		log_error("no timer for the watchdog");
}

/* Handlers of exit() take away what threads that are left may still use. */
static int leave(int status)
{
	if (!buses_end())
		_exit(status);
	return status;
}

static int run(const struct config *config)
{
	struct srpol_error err = {};
	int ret;

	latency_short();
	ret = privileges_drop(&err) ?: loop_init() ?: signals_watch(reload) ?:
	      watch_start(&engine, &err) ?:
	      probe_init() ?: engine_build(&engine, config, &err) ?:
	      control_start(&engine, &err);
	if (ret)
		return stop(ret, &err);
	ret = be_the_only_one(&err);
	if (ret) {
		control_stop();
		return stop(ret, &err);
	}
	jobs_load(&engine);
	ret = begin(false, &err) ?: nics_watch(&engine, renew);
	if (!ret) {
		start_watchdog();
		notify("READY=1");
		ret = loop_run();
	}
	notify("STOPPING=1");
	control_stop();
	end();
	savers_end();
	engine_free(&engine);
	return leave(ret ? stop(ret, &err) : failed);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "netns", required_argument, NULL, 'n' },
		{ "check-config", no_argument, NULL, 'k' },
		{ "foreground", no_argument, NULL, 'f' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct srpol_error err = {};
	struct engine trial = {};
	struct config config;
	bool check = false;
	int c, ret;

	while ((c = getopt_long(argc, argv, "c:n:kfvh", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			config_file = optarg;
			break;
		case 'n':
			ret = srpol_netns_enter(optarg, &err);
			if (ret)
				return stop(ret, &err);
			break;
		case 'k':
			check = true;
			break;
		case 'f':
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
	ret = config_read(config_file, &config, &err);
	if (ret)
		return stop(ret, &err);
	if (!check)
		return run(&config);
	ret = engine_build(&trial, &config, &err) ?: feed_read(&trial, &err) ?:
	      path_ids_check(&trial, NULL, &err) ?: prober_check(&trial, &err) ?:
	      plan_check(&config, &err);
	if (ret)
		return stop(ret, &err);
	printf("%zu paths to %zu endpoints\n", trial.paths.n,
	       trial.policies.n);
	engine_free(&trial);
	return 0;
}
