// SPDX-License-Identifier: GPL-2.0
/*
 * srpold: the local SR engine.
 */
#include <errno.h>
#include <getopt.h>
#include <libmnl/libmnl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lock.h"
#include "signals.h"
#include "probing.h"
#include "srpold.h"

#define CONFIG_FILE	"/etc/srpol/srpold.json"
#define SETTLE_NS	(50 * NS_PER_MS)
#define AGAIN_NS	(3000 * NS_PER_MS)	/* after a transaction was refused */

static const char usage[] =
"Usage: srpold [ -c FILE ] [ -n NETNS ] [ --check-config ] [ --verbose ]\n"
"The local SR engine: makes paths and policies from the topology, probes them\n"
"and tells the module srpol which are down. It stays in the foreground.\n"
"SIGHUP reads the files anew; if they are wrong the old ones stay in force.\n";

static struct engine engine;
static const char *config_file = CONFIG_FILE;
static struct source events, settle = { .fd = -1 };
static bool reconcile_wanted;	/* the module may not be as the engine wants */
static bool failed;	/* to go back after a reload */

static int stop(int ret, const struct srpol_error *err)
{
	log_error("%s", err->text[0] ? err->text : strerror(-ret));
	return 1;
}

static void settled(struct source *source, uint32_t what);

static void look_soon(bool whole)
{
	reconcile_wanted |= whole;
	settle.ready = settled;
	if (settle.fd < 0 && timer_open(&settle, SETTLE_NS, 0))
		settle.fd = -1;
}

static void look_again(void *data)
{
	look_soon(true);
}

static struct alarm again = ALARM_INIT(look_again, NULL);

/* Changes come in bursts: handle them once they have settled. */
static void settled(struct source *source, uint32_t what)
{
	static struct srpol_error said;
	bool whole = reconcile_wanted;
	struct srpol_error err = {};
	int ret;

	loop_remove(source);
	close(source->fd);
	source->fd = -1;
	reconcile_wanted = false;
	ret = whole ? reconcile(&engine, &err) :
	      reconcile_states(&engine, &err);
	if (!ret)	/* that of a first try, perhaps */
		err.text[0] = '\0';
	else if (!err.text[0])
		srpol_error_set(&err, ret, "%s", strerror(-ret));
	/* It is tried again and again, and told once. */
	if (ret && strcmp(err.text, said.text))
		log_error("%s", err.text);
	if (ret || whole)
		said = err;
	if (ret)
		alarm_set(&again, AGAIN_NS);
	else if (whole)
		uplinks_undo(&engine);
}

/* Restore objects of the engine that others changed. */
static int take_event(const struct nlmsghdr *nlh, void *data)
{
	switch (srpol_msg_cmd(nlh)) {
	case SRPOL_CMD_PATH_EVENT:
		look_soon(false);
		break;
	case SRPOL_CMD_POLICY_EVENT:
		break;
	default:
		if (nlh->nlmsg_pid != engine.genl.portid)
			look_soon(true);
	}
	return 0;
}

static void read_events(struct source *source, uint32_t what)
{
	int ret = srpol_genl_receive(&engine.events, take_event, NULL);

	/* events were lost: check everything */
	if (ret == -ENOBUFS)
		look_soon(true);
}

/*
 * @back: to what was in force, where what can be done without, or later, is no reason
 * to end
 */
static int begin(bool back, struct srpol_error *err)
{
	int ret;

	ret = uplinks_open(&engine, err) ?: probe_map_open(err);
	if (ret)
		return ret;
	reflect_map_open();
	speeds_read(&engine);
	feed_start(&engine);
	if (jobs_build(&engine, true, err))
		log_error("%s; it gets all of them", err->text);
	ret = balance_weigh(&engine, NULL, err);
	if (ret)
		return ret;
	ret = plan_start(&engine, err);
	if (ret && !back)
		return ret;
	if (ret) {
		log_error("%s; no plan is followed", err->text);
		plan_stop();
		plan_weigh();
	}
	ret = reconcile(&engine, err);
	if (ret && !back)
		return ret;
	if (ret) {
		log_error("%s", err->text);
		look_soon(true);
	}
	plan_started();
	plan_links_start(&engine);
	limits_start(&engine);
	load_start(&engine);
	forecast_start(&engine);
	return prober_start(&engine, err) ?: reflect_start(&engine, err) ?:
	       glb_start(&engine, err) ?: balance_start(&engine, err);
}

static void end(void)
{
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
	reflect_map_close();
	probe_map_close();
	uplinks_close();
}

/* Go on with another engine; the present one has ended. */
static int take_over(struct engine *next, bool back, struct srpol_error *err)
{
	uint32_t color = engine.config.color;

	engine = *next;
	demands_resolve(&demands, engine.fabric);
	demands_recolor(&demands, color, engine.config.color);
	conflicts_forget();
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
	       uplinks_check(next, err) ?: plan_check(&next->config, err);
}

static void reload(void)
{
	struct vec known = VEC_INIT(struct demand);
	struct srpol_error err = {};
	struct config config;
	struct engine trial = {}, old;
	const struct demand *demand;

	notify("RELOADING=1");
	if (config_read(config_file, &config, &err) ||
	    engine_build(&trial, &config, &err) ||
	    can_begin(&trial, &err)) {
		log_error("%s; what was in force stays", err.text);
		engine_free(&trial);
		notify("READY=1");
		return;
	}
	trial.genl = engine.genl;
	trial.events = engine.events;
	verdicts_renew(&engine);
	end();
	strcpy(trial.config.socket, engine.config.socket);
	strcpy(trial.config.demands, engine.config.demands);
	linkstate_carry(&trial.links, &engine.links);
	old = engine;
	vec_for_each(demand, &demands.all)
		*(struct demand *)vec_add(&known) = *demand;
	if (take_over(&trial, false, &err)) {
		log_error("%s; back to what was in force", err.text);
		uplinks_renounce();
		end();
		engine_free(&engine);
		vec_free(&demands.all);
		demands.all = known;
		known = (struct vec)VEC_INIT(struct demand);
		failed = take_over(&old, true, &err);
		if (!failed && !reconcile_wanted)
			uplinks_undo(&engine);
	} else {
		engine_free(&old);
	}
	vec_free(&known);
	if (failed) {
		log_error("%s", err.text);
		loop_stop();
	}
	notify("READY=1");
}

/*
 * The probe key and the map of probes belong to the network namespace: a second
 * srpold, with another socket, would make the first one's answers look forged.
 */
static int be_the_only_one(struct srpol_error *err)
{
	char name[64], path[128];
	int ret, fd;

	ret = srpol_netns_name(name, sizeof(name));
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/run/srpold/%s.lock", name);
	ret = lock_file(path, &fd, err);
	if (ret != -EBUSY && ret)
		log_notice("%s; a second srpold would not be noticed",
			   err->text);
	/* the lock ends with the process */
	return ret == -EBUSY ? ret : 0;
}

static int watch_module(struct srpol_error *err)
{
	int ret;

	ret = srpol_genl_open(&engine.genl, err) ?:
	      srpol_genl_open(&engine.events, err) ?:
	      srpol_genl_listen(&engine.events, err);
	if (ret)
		return ret;
	events.fd = srpol_genl_fd(&engine.events);
	events.ready = read_events;
	return loop_add(&events, EPOLLIN);
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

static int run(const struct config *config)
{
	struct srpol_error err = {};
	int ret;

	latency_short();
	ret = privileges_drop(&err) ?: loop_init() ?: signals_watch(reload) ?:
	      watch_module(&err) ?:
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
	ret = begin(false, &err);
	if (!ret) {
		start_watchdog();
		notify("READY=1");
		ret = loop_run();
	}
	notify("STOPPING=1");
	control_stop();
	end();
	engine_free(&engine);
	return ret ? stop(ret, &err) : failed;
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
	      plan_check(&config, &err);
	if (ret)
		return stop(ret, &err);
	printf("%zu paths to %zu endpoints\n", trial.paths.n,
	       trial.policies.n);
	engine_free(&trial);
	return 0;
}
