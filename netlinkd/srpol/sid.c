// SPDX-License-Identifier: GPL-2.0
/*
 * srpol sid: local SIDs.
 */
#include "srpol.h"

static const char usage[] =
"Usage: srpol sid { add | replace | change } SID behavior BEHAVIOR\n"
"                 [ origin { static | engine } ]\n"
"       srpol sid del SID\n"
"       srpol sid show\n"
"BEHAVIOR := { End | End.DT6 | End.DT4 | End.DT46 }\n";

static bool put_sid(struct srpol_msg *msg, struct args *args)
{
	struct in6_addr sid;

	return read_addr6(args, "sid", &sid) &&
	       srpol_msg_put(msg, SRPOL_A_SID_SID, sizeof(sid), &sid);
}

static bool put_keyword(struct srpol_msg *msg, struct args *args)
{
	uint32_t v;

	if (is(args, "behavior"))
		return read_name(args, "behavior", srpol_behaviors, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_SID_BEHAVIOR, v);
	if (is(args, "origin"))
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
	out_uint("packets", "\n\tpackets %llu", s.packets);
	out_uint("bytes", " bytes %llu", s.bytes);
	out_uint("no_srh", " no-srh %llu", s.no_srh);
	out_uint("ce", " ce %llu", s.ce);
	out_uint("dropped", " dropped %llu", s.dropped);
	out_object_end();
}

void print_sid(const struct sid_info *sid)
{
	char buf[SRPOL_ADDR_STRLEN];

	out_object(NULL);
	out_string("sid", "sid %s", srpol_addr_text(&sid->sid, buf));
	out_string("behavior", " behavior %s",
		   srpol_name_of(srpol_behaviors, sid->behavior));
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
	int err;

	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_sids(&sids);
	if (err)
		return err;
	out_begin();
	vec_for_each(sid, &sids)
		print_sid(sid);
	out_end();
	vec_free(&sids);
	return EXIT_OK;
}

int do_sid(struct args *args)
{
	static const struct command commands[] = {
		{ "add", sid_set, NLM_F_CREATE | NLM_F_EXCL },
		{ "replace", sid_set, NLM_F_CREATE | NLM_F_REPLACE },
		{ "change", sid_set, NLM_F_REPLACE },
		{ "del", sid_del, 0 },
		{ "show", sid_show, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
