// SPDX-License-Identifier: GPL-2.0
/*
 * srpol path: segment lists.
 */
#include <net/if.h>
#include <string.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol path { add | replace | change } ID [ segs SEGLIST ]\n"
"                  [ encap { reduced | full } ] [ src ADDR ]\n"
"                  [ dev DEV [ via ADDR ] ] [ name NAME ]\n"
"                  [ admin { up | down } ] [ origin { static | engine } ]\n"
"       srpol path del ID\n"
"       srpol path show [ ID ]\n"
"SEGLIST := SID[,SID]...    in order of travel, at most 16\n";

static const struct srpol_name admin_states[] = {
	{ 0, "up" },
	{ 1, "down" },
	{ }
};

/* SID,SID,... in order of travel. */
static bool put_sids(struct srpol_msg *msg, const char *word)
{
	char sid[SRPOL_ADDR_STRLEN];
	struct in6_addr addr;
	struct nlattr *nest;
	const char *comma;
	size_t len;

	for (;; word = comma + 1) {
		comma = strchr(word, ',');
		len = comma ? (size_t)(comma - word) : strlen(word);
		snprintf(sid, sizeof(sid), "%.*s", (int)len, word);
		if (len >= sizeof(sid) || !srpol_addr6_parse(sid, &addr)) {
			complain("segs: \"%.*s\" is not an IPv6 address",
				 (int)len, word);
			return false;
		}
		nest = srpol_msg_nest(msg, SRPOL_A_PATH_SIDS);
		if (!nest || !srpol_msg_put(msg, SRPOL_A_SID_ENTRY_SID,
					    sizeof(addr), &addr)) {
			complain("segs: list is too long");
			return false;
		}
		srpol_msg_nest_end(msg, nest);
		if (!comma)
			return true;
	}
}

static bool put_keyword(struct srpol_msg *msg, struct args *args)
{
	unsigned int ifindex;
	struct in6_addr addr;
	const char *word;
	uint32_t v;

	if (is(args, "segs"))
		return read_word(args, "segs", &word) && put_sids(msg, word);
	if (is(args, "encap"))
		return read_name(args, "encap", srpol_encaps, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_PATH_ENCAP, v);
	if (is(args, "src"))
		return read_addr6(args, "src", &addr) &&
		       srpol_msg_put(msg, SRPOL_A_PATH_SRC, sizeof(addr),
				     &addr);
	if (is(args, "dev"))
		return read_dev(args, &ifindex) &&
		       srpol_msg_put_u32(msg, SRPOL_A_PATH_IFINDEX, ifindex);
	if (is(args, "via"))
		return read_addr6(args, "via", &addr) &&
		       srpol_msg_put(msg, SRPOL_A_PATH_VIA, sizeof(addr),
				     &addr);
	if (is(args, "name"))
		return read_word(args, "name", &word) &&
		       srpol_msg_put(msg, SRPOL_A_PATH_NAME, strlen(word) + 1,
				     word);
	if (is(args, "admin"))
		return read_name(args, "admin", admin_states, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_PATH_ADMIN_DOWN, v);
	if (is(args, "origin"))
		return read_name(args, "origin", srpol_origins, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_PATH_ORIGIN, v);
	return unknown(args);
}

static int path_set(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	uint32_t id;
	int err = need_module();

	if (err)
		return err;
	is(args, "id");
	srpol_msg_start(&genl, &msg, SRPOL_CMD_PATH_NEW, flags);
	if (!read_u32(args, "id", UINT32_MAX, &id))
		return EXIT_USAGE;
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, id);
	while (more(args))
		if (!put_keyword(&msg, args))
			return EXIT_USAGE;
	return send_request(&msg);
}

static int path_del(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	uint32_t id;
	int err = need_module();

	if (err)
		return err;
	is(args, "id");
	if (!read_u32(args, "id", UINT32_MAX, &id))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_PATH_DEL, 0);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, id);
	return send_request(&msg);
}

/**
 * dev_name() - name of a device
 * @ifindex: its number
 *
 * Return: a static buffer; "ifN" for a device that does not exist.
 */
const char *dev_name(unsigned int ifindex)
{
	static char name[IF_NAMESIZE];

	if (!if_indextoname(ifindex, name))
		snprintf(name, sizeof(name), "if%u", ifindex);
	return name;
}

/**
 * print_counter() - packets and bytes of an object
 * @map: name of the map
 * @id: index of the object
 */
void print_counter(const char *map, uint32_t id)
{
	struct srpol_counter c = {};
	static char open_name[32];
	static int fd = -1;

	/* listings ask for one map many times */
	if (strcmp(map, open_name)) {
		snprintf(open_name, sizeof(open_name), "%s", map);
		fd = srpol_map_open(map);
	}
	srpol_map_sum(fd, id, &c, sizeof(c));
	out_object("stats");
	out_uint("packets", "\n\tpackets %llu", c.packets);
	out_uint("bytes", " bytes %llu", c.bytes);
	out_object_end();
}

static void print_addr(const char *key, const char *fmt, bool there,
		       const struct in6_addr *addr)
{
	char buf[SRPOL_ADDR_STRLEN];

	if (there)
		out_string(key, fmt, srpol_addr_text(addr, buf));
	else
		out_string(key, NULL, "");
}

void print_path(const struct path_info *path)
{
	const uint8_t *mac = path->out_lladdr;
	char buf[SRPOL_ADDR_STRLEN];
	uint32_t i;

	out_object(NULL);
	out_uint("id", "path %llu", path->id);
	out_string("name", path->name[0] ? " name %s" : NULL, path->name);
	out_string("origin", path->origin ? " origin %s" : NULL,
		   srpol_name_of(srpol_origins, path->origin));
	out_string("state", " %s",
		   srpol_name_of(srpol_path_states, path->state));
	out_string("reason", path->reason ? " (%s)" : NULL,
		   srpol_name_of(srpol_path_reasons, path->reason));
	out_text("\n\tsegs ");
	out_array("segments");
	for (i = 0; i < path->n_sids; i++)
		out_string(NULL, i ? ",%s" : "%s",
			   srpol_addr_text(&path->sids[i], buf));
	out_array_end();
	out_string("order", NULL, "travel");
	out_string("encap", " encap %s",
		   srpol_name_of(srpol_encaps, path->encap));
	print_addr("src", " src %s", path->has_src, &path->src);
	out_string("dev", path->ifindex ? " dev %s" : NULL,
		   path->ifindex ? dev_name(path->ifindex) : "");
	print_addr("via", " via %s", path->has_via, &path->via);
	out_bool("admin_down", " admin down", path->admin_down);
	out_text("\n\tout");
	out_object("out");
	out_string("dev", path->out_ifindex ? " dev %s" : NULL,
		   path->out_ifindex ? dev_name(path->out_ifindex) : "");
	print_addr("via", " via %s", path->resolved, &path->out_via);
	snprintf(buf, sizeof(buf), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
		 mac[1], mac[2], mac[3], mac[4], mac[5]);
	out_string("lladdr", path->compiled ? " lladdr %s" : NULL,
		   path->compiled ? buf : "");
	print_addr("src", " src %s", path->compiled, &path->out_src);
	out_object_end();
	out_uint("overhead", " overhead %llu", path->overhead);
	out_uint("mtu", path->mtu ? " mtu %llu" : NULL, path->mtu);
	out_uint("users", " users %llu", path->users);
	if (show_stats)
		print_counter("path_stats", path->id);
	out_text("\n");
	out_object_end();
}

static int path_show(struct args *args, unsigned int flags)
{
	struct vec paths = VEC_INIT(struct path_info);
	const struct path_info *path;
	uint32_t id = 0;
	int err;

	is(args, "id");
	if (more(args) && !read_u32(args, "id", UINT32_MAX, &id))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_paths(&paths);
	if (err)
		return err;
	if (id && !find_path(&paths, id))
		return complain("no path has id %u", id);
	out_begin();
	vec_for_each(path, &paths)
		if (!id || path->id == id)
			print_path(path);
	out_end();
	vec_free(&paths);
	return EXIT_OK;
}

int do_path(struct args *args)
{
	static const struct command commands[] = {
		{ "add", path_set, NLM_F_CREATE | NLM_F_EXCL },
		{ "replace", path_set, NLM_F_CREATE | NLM_F_REPLACE },
		{ "change", path_set, NLM_F_REPLACE },
		{ "del", path_del, 0 },
		{ "show", path_show, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
