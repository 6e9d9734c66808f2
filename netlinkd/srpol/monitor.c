// SPDX-License-Identifier: GPL-2.0
/*
 * srpol monitor: prints changes of configuration and state, and dropped
 * packets, as they happen. In JSON each event is an array of one object on a
 * line of its own.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol monitor [ config | drops ]\n"
"config: changes and states as the module reports them; drops: packets dropped, as\n"
"the data plane samples them (config set drop-events N). By default both.\n";

#define RETRY_MS	500	/* between attempts to find a data plane */

/* Notifications: type of the object and what happened to it. */
static const struct {
	uint8_t cmd;
	const char *object;
	const char *what;
} notifications[] = {
	{ SRPOL_CMD_PATH_NTF, "path", "set" },
	{ SRPOL_CMD_PATH_DEL_NTF, "path", "del" },
	{ SRPOL_CMD_PATH_EVENT, "path", "state" },
	{ SRPOL_CMD_POLICY_NTF, "policy", "set" },
	{ SRPOL_CMD_POLICY_DEL_NTF, "policy", "del" },
	{ SRPOL_CMD_POLICY_EVENT, "policy", "state" },
	{ SRPOL_CMD_RULE_NTF, "rule", "set" },
	{ SRPOL_CMD_RULE_DEL_NTF, "rule", "del" },
	{ SRPOL_CMD_ENDPOINT_NTF, "endpoint", "set" },
	{ SRPOL_CMD_ENDPOINT_DEL_NTF, "endpoint", "del" },
	{ SRPOL_CMD_SID_NTF, "sid", "set" },
	{ SRPOL_CMD_SID_DEL_NTF, "sid", "del" },
	{ SRPOL_CMD_DEV_NTF, "dev", "set" },
	{ SRPOL_CMD_DEV_DEL_NTF, "dev", "del" },
	{ SRPOL_CMD_CONFIG_NTF, "config", "set" },
};

static void print_path_event(const struct nlmsghdr *nlh)
{
	struct path_info path;

	read_path(nlh, &path);
	out_uint("id", "path %llu", path.id);
	out_string("name", path.name[0] ? " name %s" : NULL, path.name);
	out_string("state", " %s",
		   srpol_name_of(srpol_path_states, path.state));
	out_string("reason", path.reason ? " (%s)" : NULL,
		   srpol_name_of(srpol_path_reasons, path.reason));
	out_text("\n");
}

static void print_policy_event(const struct nlmsghdr *nlh)
{
	struct policy_info *policy = malloc(sizeof(*policy));
	char buf[SRPOL_ADDR_STRLEN];

	if (!policy)
		return;
	read_policy(nlh, policy);
	out_uint("color", "policy color %llu", policy->color);
	out_string("endpoint", " endpoint %s",
		   srpol_addr_text(&policy->endpoint, buf));
	out_string("name", policy->name[0] ? " name %s" : NULL, policy->name);
	out_string("state", " %s",
		   srpol_name_of(srpol_policy_states, policy->state));
	out_string("reason", policy->reason ? " (%s)" : NULL,
		   srpol_name_of(srpol_policy_reasons, policy->reason));
	out_text("\n");
	free(policy);
}

static void print_object(const struct nlmsghdr *nlh)
{
	struct vec none = VEC_INIT(struct path_info);
	union {
		struct path_info path;
		struct policy_info policy;
		struct rule_info rule;
		struct endpoint_info endpoint;
		struct sid_info sid;
		struct dev_info dev;
		struct config_info config;
	} *u = calloc(1, sizeof(*u));

	if (!u)
		return;
	out_array("object");
	switch (srpol_msg_cmd(nlh)) {
	case SRPOL_CMD_PATH_NTF:
	case SRPOL_CMD_PATH_DEL_NTF:
		read_path(nlh, &u->path);
		print_path(&u->path);
		break;
	case SRPOL_CMD_POLICY_NTF:
	case SRPOL_CMD_POLICY_DEL_NTF:
		read_policy(nlh, &u->policy);
		print_policy(&u->policy, &none);
		break;
	case SRPOL_CMD_RULE_NTF:
	case SRPOL_CMD_RULE_DEL_NTF:
		read_rule(nlh, &u->rule);
		print_rule(&u->rule, &none);
		break;
	case SRPOL_CMD_ENDPOINT_NTF:
	case SRPOL_CMD_ENDPOINT_DEL_NTF:
		read_endpoint(nlh, &u->endpoint);
		print_endpoint(&u->endpoint);
		break;
	case SRPOL_CMD_SID_NTF:
	case SRPOL_CMD_SID_DEL_NTF:
		read_sid(nlh, &u->sid);
		print_sid(&u->sid);
		break;
	case SRPOL_CMD_DEV_NTF:
	case SRPOL_CMD_DEV_DEL_NTF:
		read_devinfo(nlh, &u->dev);
		print_dev(&u->dev);
		break;
	case SRPOL_CMD_CONFIG_NTF:
		read_config(nlh, &u->config);
		print_config(&u->config);
		break;
	}
	out_array_end();
	free(u);
}

static void print_event_head(const struct timespec *ts, const char *what,
			     const char *object)
{
	char time[32];

	snprintf(time, sizeof(time), "%lld.%06ld", (long long)ts->tv_sec,
		 ts->tv_nsec / 1000);
	out_begin();
	out_object(NULL);
	out_string("time", show_timestamps ? "[%s] " : NULL, time);
	out_string("event", "%s ", what);
	out_string("object_type", NULL, object);
}

/*
 * Prints a dropped packet, with its time converted to the wall clock. The data plane keeps
 * what nobody reads, also from before the monitor began: @data, by its clock.
 */
static int print_drop(const struct srpol_drop_event *e, void *data)
{
	uint64_t ago = clock_ns(CLOCK_MONOTONIC) - e->ns;
	uint64_t at = clock_ns(CLOCK_REALTIME) - ago;
	struct timespec ts = { .tv_sec = at / SEC, .tv_nsec = at % SEC };
	const uint64_t *begun = data;
	char buf[SRPOL_ADDR_STRLEN];

	if (e->reason >= SRPOL_REASON_COUNT || e->ns < *begun)
		return 0;
	print_event_head(&ts, "drop", "packet");
	out_string("reason", "%s", srpol_reason_name(e->reason));
	out_string("dev", " dev %s", dev_name(e->ifindex));
	out_uint("len", " len %llu", e->len);
	out_uint("id", e->id ? " id %llu" : NULL, e->id);
	out_string("src", " src %s", srpol_addr_text(e->saddr, buf));
	out_string("dst", " dst %s", srpol_addr_text(e->daddr, buf));
	out_text("\n");
	out_object_end();
	out_end();
	return 0;
}

/* A device was added or deleted, and perhaps the data plane with it. */
static bool devices_changed;

/* Prints an event if that was asked for: of @data, a bool. */
static int take_event(const struct nlmsghdr *nlh, void *data)
{
	const bool *config = data;
	uint8_t cmd = srpol_msg_cmd(nlh);
	struct timespec ts;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(notifications); i++)
		if (notifications[i].cmd == cmd)
			break;
	if (i == ARRAY_SIZE(notifications))
		return 0;
	if (cmd == SRPOL_CMD_DEV_NTF || cmd == SRPOL_CMD_DEV_DEL_NTF)
		devices_changed = true;
	if (!*config)
		return 0;
	clock_gettime(CLOCK_REALTIME, &ts);
	print_event_head(&ts, notifications[i].what, notifications[i].object);
	if (cmd == SRPOL_CMD_PATH_EVENT)
		print_path_event(nlh);
	else if (cmd == SRPOL_CMD_POLICY_EVENT)
		print_policy_event(nlh);
	else
		print_object(nlh);
	out_object_end();
	out_end();
	return 0;
}

/* After the module is loaded again, nothing comes by this connection. */
static int unloaded(void)
{
	struct srpol_error error = {};

	srpol_error_set(&error, -ENODEV,
			"module srpol was unloaded, and all objects with it");
	return refused(-ENODEV, &error);
}

/* Is the module that was listened to still there? Its end may be what was lost. */
static bool is_there(void)
{
	struct srpol_genl now = {};
	bool there = !srpol_genl_open(&now, NULL) && now.family == genl.family;

	srpol_genl_close(&now);
	return there;
}

/*
 * Waits for notifications and drops. Those of devices are always heard, as the data
 * plane may be loaded after the monitor was started, or anew. It ends when the module
 * does, or when what it prints is not written any more; main() says so.
 */
static int monitor(bool config, bool drops)
{
	uint64_t begun = clock_ns(CLOCK_MONOTONIC_COARSE);
	struct srpol_drops *ring = NULL;
	struct pollfd fds[2] = {
		{ .fd = srpol_genl_fd(&genl), .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};
	int err;

	while (!ferror(stdout)) {
		if (ring && devices_changed) {
			srpol_drops_close(ring);
			ring = NULL;
		}
		devices_changed = false;
		if (drops && !ring) {
			ring = srpol_drops_open(print_drop, &begun);
			fds[1].fd = ring ? srpol_drops_fd(ring) : -1;
		}
		if (poll(fds, ARRAY_SIZE(fds), ring || !drops ? -1 :
			 RETRY_MS) < 0 && errno != EINTR)
			return refused(-errno, NULL);
		if (ring && fds[1].revents)
			srpol_drops_read(ring);
		if (!fds[0].revents)
			continue;
		counters_forget();
		err = srpol_genl_receive(&genl, take_event, &config);
		if (err == -ENODEV || (err == -ENOBUFS && !is_there()))
			return unloaded();
		if (err == -ENOBUFS) {
			devices_changed = true;
			if (config)
				fputs("srpol: events were lost, use show\n", stderr);
		} else if (err && err != -EINTR) {
			return refused(err, NULL);
		}
	}
	return EXIT_OK;
}

int do_monitor(struct args *args)
{
	bool config = is(args, "config"), drops = is(args, "drops");
	struct srpol_error error = {};
	struct srpol_dp_status st;
	int err;

	if (is(args, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = need_module();
	if (err)
		return err;
	if (!config && !drops) {
		config = true;
		drops = !srpol_dp_status(&st, &error);
		if (!drops)
			fprintf(stderr, "srpol: dropped packets are not shown: %s\n",
				error.text);
	} else if (drops) {
		err = need_maps();
		if (err)
			return err;
	}
	err = srpol_genl_listen(&genl, &error);
	return err ? refused(err, &error) : monitor(config, drops);
}
