// SPDX-License-Identifier: GPL-2.0
/*
 * srpol monitor: changes of configuration and state, as they happen. In JSON
 * each event is an array of one object on its own line.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol monitor\n";

/* What came: the word for it, and whether it is about something deleted. */
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
	{ SRPOL_CMD_CLASS_NTF, "class", "set" },
	{ SRPOL_CMD_CLASS_DEL_NTF, "class", "del" },
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
		struct class_info rule;
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
	case SRPOL_CMD_CLASS_NTF:
	case SRPOL_CMD_CLASS_DEL_NTF:
		read_class(nlh, &u->rule);
		print_class(&u->rule, &none);
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

static int print_event(const struct nlmsghdr *nlh, void *data)
{
	uint8_t cmd = srpol_msg_cmd(nlh);
	struct timespec ts;
	char time[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(notifications); i++)
		if (notifications[i].cmd == cmd)
			break;
	if (i == ARRAY_SIZE(notifications))
		return 0;
	clock_gettime(CLOCK_REALTIME, &ts);
	snprintf(time, sizeof(time), "%lld.%06ld", (long long)ts.tv_sec,
		 ts.tv_nsec / 1000);
	out_begin();
	out_object(NULL);
	out_string("time", "[%s] ", time);
	out_string("event", "%s ", notifications[i].what);
	out_string("object_type", NULL, notifications[i].object);
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

int do_monitor(struct args *args)
{
	struct srpol_error error = {};
	int err = need_module();

	if (is(args, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (more(args))
		return unknown(args), EXIT_USAGE;
	if (err)
		return err;
	err = srpol_genl_listen(&genl, &error);
	if (err)
		return refused(err, &error);
	for (;;) {
		err = srpol_genl_receive(&genl, print_event, NULL);
		if (err == -ENOBUFS)
			fputs("srpol: events were lost, use show\n", stderr);
		else if (err && err != -EINTR)
			return refused(err, NULL);
	}
}
