// SPDX-License-Identifier: GPL-2.0
/*
 * srpol sid: local SIDs.
 */
#include <string.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol sid { add | replace | change } SID[/LEN] behavior BEHAVIOR\n"
"                 [ block-len BITS ] [ dev DEV via ADDR ]\n"
"                 [ dscp { pipe | uniform } ] [ origin { static | engine } ]\n"
"       srpol sid del SID[/LEN]\n"
"       srpol sid show [ SID[/LEN] ]\n"
"BEHAVIOR := { End | End.PSP | End.USD | End.PSP.USD | End.X | End.X.PSP |\n"
"              End.DX6 | End.DX4 | End.DT6 | End.DT4 | End.DT46 |\n"
"              uN | uN.PSP | uN.PSP.USD | uA | uDT6 | uDT4 | uDT46 |\n"
"              probe | reflect }\n"
"LEN is the length of locator and function: default 128, 48 for uN and uDT,\n"
"64 for uA. End.X, End.DX and uA need dev and via. Binding SIDs (End.B6.Encaps)\n"
"come with their policies: srpol policy add ... bsid SID.\n";

/* Reads SID or SID/LEN; @len is 0 for the former. */
static bool read_sid_key(struct args *args, struct in6_addr *sid,
			 uint32_t *len)
{
	*len = 0;
	if (!more(args) || !strchr(*args->argv, '/'))
		return read_addr6(args, "sid", sid);
	return read_prefix(args, "sid", sid, len);
}

static bool put_sid(struct srpol_msg *msg, struct args *args)
{
	struct in6_addr sid;
	uint32_t len;

	return read_sid_key(args, &sid, &len) &&
	       srpol_msg_put(msg, SRPOL_A_SID_SID, sizeof(sid), &sid) &&
	       (!len || srpol_msg_put_u32(msg, SRPOL_A_SID_PREFIX_LEN, len));
}

static bool put_keyword(struct srpol_msg *msg, struct args *args)
{
	struct in6_addr addr;
	uint32_t v;

	if (keyword(args, "behavior"))
		return read_name(args, "behavior", srpol_behaviors, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_SID_BEHAVIOR, v);
	if (keyword(args, "block-len"))
		return read_u32(args, "block-len", 120, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_SID_BLOCK_LEN, v);
	if (keyword(args, "dev"))
		return read_dev(args, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_SID_IFINDEX, v);
	if (keyword(args, "via"))
		return read_addr(args, "via", &addr) &&
		       srpol_msg_put(msg, SRPOL_A_SID_VIA, sizeof(addr),
				     &addr);
	if (keyword(args, "dscp"))
		return read_name(args, "dscp", srpol_dscp_modes, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_SID_DSCP_MODE, v);
	if (keyword(args, "origin"))
		return read_name(args, "origin", srpol_origins, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_SID_ORIGIN, v);
	return unknown(args);
}

static int sid_set(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	int err = need_module();

	if (err)
		return err;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_SID_NEW, flags);
	if (!put_sid(&msg, args))
		return EXIT_USAGE;
	while (more(args))
		if (!put_keyword(&msg, args))
			return EXIT_USAGE;
	return send_request(&msg);
}

static int sid_del(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	int err = need_module();

	if (err)
		return err;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_SID_DEL, 0);
	if (!put_sid(&msg, args))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	return send_request(&msg);
}

static void print_sid_stats(uint32_t id)
{
	int fd = srpol_map_open("sid_stats");
	struct srpol_sid_stats s = {};

	srpol_map_sum(fd, id, &s, sizeof(s));
	out_object("stats");
	out_count("packets", "\n\tpackets %s", s.packets);
	out_count("bytes", " bytes %s", s.bytes);
	out_uint("no_srh", " no-srh %llu", s.no_srh);
	out_uint("ce", " ce %llu", s.ce);
	out_uint("dropped", " dropped %llu", s.dropped);
	print_errors(SRPOL_ERROR_SID, id);
	out_object_end();
	srpol_map_close(fd);
}

void print_sid(const struct sid_info *sid)
{
	bool down = sid->state != SRPOL_PATH_STATE_UP;
	char buf[SRPOL_ADDR_STRLEN];

	out_object(NULL);
	out_string("sid", "sid %s", srpol_addr_text(&sid->sid, buf));
	out_uint("prefix_len", sid->prefix_len == 128 ? NULL : "/%llu",
		 sid->prefix_len);
	out_string("behavior", " behavior %s",
		   srpol_name_of(srpol_behaviors, sid->behavior));
	if (sid->block_len)
		out_uint("block_len", " block-len %llu", sid->block_len);
	out_string("dev", sid->ifindex ? " dev %s" : NULL,
		   sid->ifindex ? set_dev_name(sid->ifindex, sid->ifname) :
				  "");
	out_string("via", sid->has_via ? " via %s" : NULL,
		   sid->has_via ? srpol_addr_text(&sid->via, buf) : "");
	if (sid->decaps)
		out_string("dscp_mode", sid->dscp_mode != SRPOL_DSCP_MODE_PIPE ?
					" dscp %s" : NULL,
			   srpol_name_of(srpol_dscp_modes, sid->dscp_mode));
	if (sid->color) {
		out_uint("color", " color %llu", sid->color);
		out_string("endpoint", " endpoint %s",
			   srpol_addr_text(&sid->endpoint, buf));
	}
	out_string("state", down ? " %s" : NULL,
		   srpol_name_of(srpol_path_states, sid->state));
	out_string("reason", down ? " (%s)" : NULL,
		   srpol_name_of(srpol_path_reasons, sid->reason));
	out_string("origin", sid->origin ? " origin %s" : NULL,
		   srpol_name_of(srpol_origins, sid->origin));
	out_uint("id", NULL, sid->id);
	if (show_stats)
		print_sid_stats(sid->id);
	out_text("\n");
	out_object_end();
}

static int sid_show(struct args *args, unsigned int flags)
{
	struct vec sids = VEC_INIT(struct sid_info);
	const struct sid_info *sid;
	char buf[SRPOL_PREFIX_STRLEN];
	struct in6_addr key;
	unsigned int n = 0;
	uint32_t len = 0;
	bool one;
	int err;

	one = more(args);
	if (one && !read_sid_key(args, &key, &len))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_sids(&sids);
	if (err)
		return err;
	out_begin();
	vec_for_each(sid, &sids) {
		if (one && (memcmp(&sid->sid, &key, sizeof(key)) ||
			    (len && sid->prefix_len != len)))
			continue;
		print_sid(sid);
		n++;
	}
	err = out_found(n, one, "no local SID %s", !one ? "" :
			len ? srpol_prefix_text(&key, len, buf) :
			      srpol_addr_text(&key, buf));
	vec_free(&sids);
	return err;
}

int do_sid(struct args *args)
{
	static const struct command commands[] = {
		{ "add", sid_set, NLM_F_CREATE | NLM_F_EXCL },
		{ "replace", sid_set, NLM_F_CREATE | NLM_F_REPLACE },
		{ "change", sid_set, NLM_F_REPLACE },
		{ "delete", sid_del, 0 },
		{ "show", sid_show, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
