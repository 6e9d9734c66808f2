// SPDX-License-Identifier: GPL-2.0
/*
 * srpol endpoint: steering prefixes, which map inner destinations to endpoints
 * of policies.
 */
#include <string.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol endpoint { add | replace | change } PREFIX to ADDR\n"
"                      [ origin { static | engine } ]\n"
"       srpol endpoint del PREFIX\n"
"       srpol endpoint show [ PREFIX ]\n"
"The longest prefix that holds an inner destination names the endpoint that,\n"
"with the color, names the policy.\n";

static bool put_prefix(struct srpol_msg *msg, struct args *args)
{
	struct in6_addr prefix;
	uint32_t len;

	return read_prefix(args, "prefix", &prefix, &len) &&
	       srpol_msg_put(msg, SRPOL_A_ENDPOINT_PREFIX, sizeof(prefix),
			     &prefix) &&
	       srpol_msg_put_u32(msg, SRPOL_A_ENDPOINT_PREFIX_LEN, len);
}

static bool put_keyword(struct srpol_msg *msg, struct args *args)
{
	struct in6_addr addr;
	uint32_t v;

	if (keyword(args, "to"))
		return read_addr(args, "to", &addr) &&
		       srpol_msg_put(msg, SRPOL_A_ENDPOINT_ADDRESS,
				     sizeof(addr), &addr);
	if (keyword(args, "origin"))
		return read_name(args, "origin", srpol_origins, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_ENDPOINT_ORIGIN, v);
	return unknown(args);
}

static int endpoint_set(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	int err = need_module();

	if (err)
		return err;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_ENDPOINT_NEW, flags);
	if (!put_prefix(&msg, args))
		return EXIT_USAGE;
	while (more(args))
		if (!put_keyword(&msg, args))
			return EXIT_USAGE;
	return send_request(&msg);
}

static int endpoint_del(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	int err = need_module();

	if (err)
		return err;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_ENDPOINT_DEL, 0);
	if (!put_prefix(&msg, args))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	return send_request(&msg);
}

void print_endpoint(const struct endpoint_info *ep)
{
	char buf[SRPOL_PREFIX_STRLEN];

	out_object(NULL);
	out_string("prefix", "endpoint %s",
		   srpol_prefix_text(&ep->prefix, ep->len, buf));
	out_string("to", " to %s", srpol_addr_text(&ep->address, buf));
	out_string("origin", ep->origin ? " origin %s" : NULL,
		   srpol_name_of(srpol_origins, ep->origin));
	out_text("\n");
	out_object_end();
}

static int endpoint_show(struct args *args, unsigned int flags)
{
	struct vec endpoints = VEC_INIT(struct endpoint_info);
	const struct endpoint_info *ep;
	char buf[SRPOL_PREFIX_STRLEN];
	struct in6_addr prefix;
	unsigned int n = 0;
	uint32_t len;
	bool one;
	int err;

	one = more(args);
	if (one && !read_prefix(args, "prefix", &prefix, &len))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_endpoints(&endpoints);
	if (err)
		return err;
	out_begin();
	vec_for_each(ep, &endpoints) {
		if (one && (ep->len != len ||
			    memcmp(&ep->prefix, &prefix, sizeof(prefix))))
			continue;
		print_endpoint(ep);
		n++;
	}
	err = out_found(n, one, "no steering prefix %s",
			one ? srpol_prefix_text(&prefix, len, buf) : "");
	vec_free(&endpoints);
	return err;
}

int do_endpoint(struct args *args)
{
	static const struct command commands[] = {
		{ "add", endpoint_set, NLM_F_CREATE | NLM_F_EXCL },
		{ "replace", endpoint_set, NLM_F_CREATE | NLM_F_REPLACE },
		{ "change", endpoint_set, NLM_F_REPLACE },
		{ "delete", endpoint_del, 0 },
		{ "show", endpoint_show, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
