// SPDX-License-Identifier: GPL-2.0
/* srpol config: settings of the network namespace. */
#include <stdlib.h>
#include <string.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol config set [ src { ADDR | auto } ] [ hop-limit N ]\n"
"                        [ dscp { uniform | pipe DSCP } ]\n"
"                        [ flow-label { hash-qp | hash | inherit | zero } ]\n"
"                        [ icmp-errors { on | off } ] [ retry-interval TIME ]\n"
"                        [ path-id { none | tag | label } ]\n"
"                        [ sr-domain { none | PREFIX[,PREFIX]... } ]\n"
"                        [ sr-source { none | PREFIX[,PREFIX]... } ]\n"
"                        [ report-from { none | PREFIX[,PREFIX]... } ]\n"
"                        [ psn-observer { on | off } ] [ drop-events N ]\n"
"                        [ remembered-routes { on | off } ]\n"
"       srpol config show\n";

#define DROP_EVENTS_MAX	1000000	/* a second */

static bool put_dscp(struct srpol_msg *msg, struct args *args)
{
	uint32_t mode, dscp;

	if (!read_name(args, "dscp", srpol_dscp_modes, &mode) ||
	    !srpol_msg_put_u32(msg, SRPOL_A_CONFIG_DSCP_MODE, mode))
		return false;
	return mode != SRPOL_DSCP_MODE_PIPE ||
	       (read_dscp(args, "dscp pipe", &dscp) &&
		srpol_msg_put_u32(msg, SRPOL_A_CONFIG_DSCP, dscp));
}

static bool put_src(struct srpol_msg *msg, struct args *args)
{
	struct in6_addr addr = {};

	return (is(args, "auto") || read_addr6(args, "src", &addr)) &&
	       srpol_msg_put(msg, SRPOL_A_CONFIG_SRC, sizeof(addr), &addr);
}

static bool put_prefix(struct srpol_msg *msg, const char *what, uint16_t type,
		       const char *text)
{
	struct nlattr *nest = srpol_msg_nest(msg, type);
	struct in6_addr prefix;
	uint32_t len;

	if (text && !srpol_prefix_parse(text, &prefix, &len)) {
		complain("%s: \"%s\" is not a prefix such as fc00::/32", what, text);
		return false;
	}
	if (!nest || (text && (!srpol_msg_put(msg, SRPOL_A_PREFIX_ENTRY_PREFIX,
					      sizeof(prefix), &prefix) ||
			       !srpol_msg_put_u32(msg,
						  SRPOL_A_PREFIX_ENTRY_PREFIX_LEN,
						  len))))
		return false;
	srpol_msg_nest_end(msg, nest);
	return true;
}

/* Adds a list of prefixes. "none" is sent as one entry without a prefix. */
static bool put_prefixes(struct srpol_msg *msg, struct args *args,
			 const char *what, uint16_t type)
{
	const char *word;
	char *list, *text, *rest;
	bool good = true;

	if (is(args, "none"))
		return put_prefix(msg, what, type, NULL);
	if (!read_word(args, what, &word))
		return false;
	list = strdup(word);
	if (!list) {
		complain("out of memory");
		return false;
	}
	rest = list;
	while (good && (text = strsep(&rest, ",")))
		good = put_prefix(msg, what, type, text);
	free(list);
	return good;
}

static bool put_keyword(struct srpol_msg *msg, struct args *args)
{
	uint32_t v;

	if (keyword(args, "src"))
		return put_src(msg, args);
	if (keyword(args, "hop-limit"))
		return read_number(args, "hop-limit", 1, UINT8_MAX, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_CONFIG_HOP_LIMIT, v);
	if (keyword(args, "dscp"))
		return put_dscp(msg, args);
	if (keyword(args, "flow-label"))
		return read_name(args, "flow-label", srpol_flow_labels, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_CONFIG_FLOW_LABEL, v);
	if (keyword(args, "icmp-errors"))
		return read_name(args, "icmp-errors", srpol_switches, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_CONFIG_ICMP_ERRORS, v);
	if (keyword(args, "retry-interval"))
		return read_time(args, "retry-interval", MSEC,
				 (struct time_range){ 0, 3600000 }, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_CONFIG_RETRY_INTERVAL, v);
	if (keyword(args, "path-id"))
		return read_name(args, "path-id", srpol_path_ids, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_CONFIG_PATH_ID, v);
	if (keyword(args, "sr-domain"))
		return put_prefixes(msg, args, "sr-domain",
				    SRPOL_A_CONFIG_SR_DOMAIN);
	if (keyword(args, "sr-source"))
		return put_prefixes(msg, args, "sr-source",
				    SRPOL_A_CONFIG_SR_SOURCE);
	if (keyword(args, "report-from"))
		return put_prefixes(msg, args, "report-from",
				    SRPOL_A_CONFIG_REPORT_FROM);
	if (keyword(args, "psn-observer"))
		return read_name(args, "psn-observer", srpol_switches, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_CONFIG_PSN_OBSERVER, v);
	if (keyword(args, "remembered-routes"))
		return read_name(args, "remembered-routes", srpol_switches,
				 &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_CONFIG_REMEMBERED_ROUTES,
					 v);
	if (keyword(args, "drop-events"))
		return read_u32(args, "drop-events", DROP_EVENTS_MAX, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_CONFIG_DROP_EVENTS, v);
	return unknown(args);
}

static int config_set(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	int err = need_module();

	if (err)
		return err;
	if (!more(args))
		return complain("nothing to set");
	srpol_msg_start(&genl, &msg, SRPOL_CMD_CONFIG_SET, 0);
	while (more(args))
		if (!put_keyword(&msg, args))
			return EXIT_USAGE;
	return send_request(&msg);
}

static void print_limits(const struct config_info *config)
{
	const struct {
		const char *name;
		uint32_t used;
		uint32_t limit;
	} rows[] = {
		{ "paths", config->used.paths, config->limits.paths },
		{ "nexthops", config->used.nexthops,
		  config->limits.nexthops },
		{ "policies", config->used.policies,
		  config->limits.policies },
		{ "bucket_rows", config->used.bucket_rows,
		  config->limits.bucket_rows },
		{ "rules", config->used.rules, config->limits.rules },
		{ "endpoints", config->used.endpoints,
		  config->limits.endpoints },
		{ "sids", config->used.sids, config->limits.sids },
		{ "devs", config->used.devs, config->limits.devs },
	};
	size_t i;

	out_text("\n\tused");
	out_object("tables");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		out_object(rows[i].name);
		out_text(" %s", rows[i].name);
		out_uint("used", " %llu", rows[i].used);
		out_uint("size", "/%llu", rows[i].limit);
		out_object_end();
	}
	out_object_end();
}

static void print_prefixes(const char *key, const char *text,
			   const struct prefix_list *list)
{
	char buf[SRPOL_PREFIX_STRLEN];
	uint32_t i;

	out_array(key);
	if (list->n)
		out_text(" %s ", text);
	for (i = 0; i < list->n; i++)
		out_string(NULL, i ? ",%s" : "%s",
			   srpol_prefix_text(&list->entry[i].prefix,
					     list->entry[i].len, buf));
	out_array_end();
}

void print_config(const struct config_info *config)
{
	bool automatic = IN6_IS_ADDR_UNSPECIFIED(&config->src);
	char buf[SRPOL_ADDR_STRLEN];

	out_object(NULL);
	out_string("src", "config src %s", automatic ? "auto" :
		   srpol_addr_text(&config->src, buf));
	out_uint("hop_limit", " hop-limit %llu", config->hop_limit);
	out_string("dscp_mode", " dscp %s",
		   srpol_name_of(srpol_dscp_modes, config->dscp_mode));
	if (config->dscp_mode == SRPOL_DSCP_MODE_PIPE)
		out_uint("dscp", " %llu", config->dscp);
	out_string("flow_label", " flow-label %s",
		   srpol_name_of(srpol_flow_labels, config->flow_label));
	out_bool("icmp_errors", NULL, config->icmp_errors);
	out_text(" icmp-errors %s", config->icmp_errors ? "on" : "off");
	out_uint("retry_interval_ms", " retry-interval %llums",
		 config->retry_interval);
	out_string("path_id", " path-id %s",
		   srpol_name_of(srpol_path_ids, config->path_id));
	print_prefixes("sr_domain", "sr-domain", &config->domain);
	print_prefixes("sr_source", "sr-source", &config->source);
	print_prefixes("report_from", "report-from", &config->report_from);
	out_bool("psn_observer", " psn-observer on", config->psn_observer);
	out_bool("remembered_routes", NULL, config->remembered_routes);
	if (!config->remembered_routes)
		out_text(" remembered-routes off");
	out_uint("drop_events", " drop-events %llu", config->drop_events);
	out_string("data_plane", "\n\tdata-plane %s",
		   config->data_plane[0] ? config->data_plane : "none");
	out_uint("generation", " generation %llu", config->generation);
	print_limits(config);
	out_text("\n");
	out_object_end();
}

static int config_show(struct args *args, unsigned int flags)
{
	struct config_info config;
	int err;

	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_config(&config);
	if (err)
		return err;
	out_begin();
	print_config(&config);
	out_end();
	return EXIT_OK;
}

int do_config(struct args *args)
{
	static const struct command commands[] = {
		{ "set", config_set, 0 },
		{ "show", config_show, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
