// SPDX-License-Identifier: GPL-2.0
/*
 * srpol path: segment lists.
 */
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol path { add | replace | change } ID [ segs SEGLIST ]\n"
"                  [ encap { reduced | full } ] [ src ADDR ]\n"
"                  [ usids BLOCK/LEN CSIDLIST ] [ usid-len BITS ]\n"
"                  [ usid-block BLOCK/LEN | usid-block-len BITS ]\n"
"                  [ tlv TYPE:HEX ]... [ timestamp { on | off } ]\n"
"                  [ dev DEV [ via ADDR ] ] [ name NAME ]\n"
"                  [ admin { up | down } ] [ origin { static | engine } ]\n"
"       srpol path del ID\n"
"       srpol path show [ ID | NAME ] [ --top [ sort KEY ] [ limit N ]\n"
"                  [ interval TIME ] [ count N ] ]\n"
"       srpol path trace { ID | NAME } [ count N ] [ labels N ] [ hops N ]\n"
"                  [ interval TIME ] [ wait TIME ]\n"
"KEY := { rate | rtt | loss | ce | signals | id }\n"
"SEGLIST := SID[,SID]...       in order of travel, at most 16\n"
"CSIDLIST := CSID[,CSID]...    compressed SIDs in hexadecimal, in order of\n"
"                              travel, packed into as many SIDs as it takes\n"
"usids and segs may take turns, and count in that order. usid-len is 16 by\n"
"default. usid-block-len says that the SIDs of SEGLIST are packed already.\n"
"via is the IPv6 address of the next hop on DEV, usually link-local or of the\n"
"link's prefix; without dev and via the route to the first SID decides.\n";

#define CSIDS_MAX	(SRPOL_SIDS_MAX * SRPOL_CSIDS_MAX)
#define CSID_LEN_MIN	8
#define CSID_LEN_MAX	64

/**
 * struct sid_part - a word with SIDs
 * @word: SID,SID,... or CSID,CSID,...
 * @compressed: the word has compressed SIDs
 * @block: locator block of these
 * @block_len: its bits
 */
struct sid_part {
	const char *word;
	bool compressed;
	struct in6_addr block;
	uint32_t block_len;
};

/**
 * struct usids - SIDs of a request, and how compressed ones are packed
 * @parts: in order of travel
 * @n_parts: number of @parts
 * @block_len: bits of the locator block, 0: no SID is compressed
 * @block: an address of the block, all zero: not given
 * @csid_len: bits of a compressed SID, 0: not given
 */
struct usids {
	struct sid_part parts[SRPOL_SIDS_MAX + 1];
	unsigned int n_parts;
	uint32_t block_len;
	struct in6_addr block;
	uint32_t csid_len;
};

static const struct srpol_name admin_states[] = {
	{ 0, "up" },
	{ 1, "down" },
	{ }
};

static bool put_sid(struct srpol_msg *msg, const struct in6_addr *sid)
{
	struct nlattr *nest = srpol_msg_nest(msg, SRPOL_A_PATH_SIDS);

	if (!nest || !srpol_msg_put(msg, SRPOL_A_SID_ENTRY_SID, sizeof(*sid),
				    sid)) {
		complain("segs: list is too long");
		return false;
	}
	srpol_msg_nest_end(msg, nest);
	return true;
}

/* Adds the SIDs of SID,SID,... in order of travel. */
static bool put_sids(struct srpol_msg *msg, const char *word)
{
	char sid[SRPOL_ADDR_STRLEN];
	struct in6_addr addr;
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
		if (!put_sid(msg, &addr))
			return false;
		if (!comma)
			return true;
	}
}

/* Reads CSID,CSID,... Returns their number, 0 after an error message. */
static unsigned int parse_csids(const char *word, uint64_t *csids)
{
	unsigned int n = 0;
	const char *at;
	char *end;

	for (at = word; n < CSIDS_MAX; at = end + 1) {
		errno = 0;
		csids[n++] = strtoull(at, &end, 16);
		if (errno || !isxdigit((unsigned char)*at) ||
		    (*end && *end != ','))
			break;
		if (!*end)
			return n;
	}
	complain("usids: \"%s\" is not a list of compressed SIDs", word);
	return 0;
}

/* Packs one "usids BLOCK/LEN CSID,CSID,..." into SIDs, and adds these. */
static bool put_usids(struct srpol_msg *msg, const struct sid_part *part,
		      const struct usids *u)
{
	uint32_t csid_len = u->csid_len ?: SRPOL_CSID_LEN_DEFAULT;
	struct in6_addr sids[SRPOL_SIDS_MAX];
	uint64_t csids[CSIDS_MAX];
	unsigned int n_csids;
	int n, i;

	n_csids = parse_csids(part->word, csids);
	if (!n_csids)
		return false;
	if (u->block_len != part->block_len) {
		complain("usids: blocks of %u and of %u bits do not go together",
			 u->block_len, part->block_len);
		return false;
	}
	if (!u->block_len || u->block_len % 8 || u->block_len + csid_len > 128) {
		complain("usids: a block of %u bits and SIDs of %u do not make a container",
			 u->block_len, csid_len);
		return false;
	}
	n = srpol_usid_pack(&part->block, u->block_len, csid_len, csids,
			    n_csids, sids, SRPOL_SIDS_MAX);
	if (n < 0) {
		complain(n == -E2BIG ? "usids: more than %u containers" :
			 "usids: a compressed SID is 0 or longer than %u bits",
			 n == -E2BIG ? SRPOL_SIDS_MAX : csid_len);
		return false;
	}
	for (i = 0; i < n; i++)
		if (!put_sid(msg, &sids[i]))
			return false;
	return true;
}

/* Adds all SIDs, after everything that says how they are packed was read. */
static bool put_parts(struct srpol_msg *msg, const struct usids *u)
{
	const struct sid_part *part;

	for (part = u->parts; part < u->parts + u->n_parts; part++)
		if (part->compressed ? !put_usids(msg, part, u) :
				       !put_sids(msg, part->word))
			return false;
	return true;
}

/* Reads "segs" or "usids"; put_parts() uses it when the line has been read. */
static bool read_part(struct args *args, struct usids *u, bool compressed)
{
	struct sid_part *part = &u->parts[u->n_parts];
	const char *what = compressed ? "usids" : "segs";

	if (u->n_parts && part[-1].compressed == compressed) {
		complain("\"%s\" is given twice", what);
		return false;
	}
	if (u->n_parts == SRPOL_SIDS_MAX) {
		complain("%s: more than %u SIDs", what, SRPOL_SIDS_MAX);
		return false;
	}
	part->compressed = compressed;
	if (compressed) {
		if (more(args) && !strchr(*args->argv, '/')) {
			complain("usids: \"%s\" is not a block such as fcbb:bb00::/32",
				 *args->argv);
			return false;
		}
		if (!read_prefix(args, what, &part->block, &part->block_len))
			return false;
		u->block_len = u->block_len ?: part->block_len;
		u->block = part->block;
	}
	u->n_parts++;
	return read_word(args, what, &part->word);
}

static bool read_usid_len(struct args *args, uint32_t *bits)
{
	const char *word;

	if (!read_word(args, "usid-len", &word))
		return false;
	if (parse_u32(word, CSID_LEN_MAX, bits) && *bits >= CSID_LEN_MIN && !(*bits % 8))
		return true;
	return !complain("usid-len: \"%s\" is not a number from %u to %u, in steps of 8",
			 word, CSID_LEN_MIN, CSID_LEN_MAX);
}

static bool put_structure(struct srpol_msg *msg, const struct usids *u)
{
	return (!u->block_len ||
		srpol_msg_put_u32(msg, SRPOL_A_PATH_BLOCK_LEN,
				  u->block_len)) &&
	       (IN6_IS_ADDR_UNSPECIFIED(&u->block) ||
		srpol_msg_put(msg, SRPOL_A_PATH_BLOCK, sizeof(u->block),
			      &u->block)) &&
	       (!u->csid_len ||
		srpol_msg_put_u32(msg, SRPOL_A_PATH_CSID_LEN, u->csid_len));
}

/* Reads a TLV as TYPE:HEX. */
static bool put_tlv(struct srpol_msg *msg, struct args *args)
{
	uint8_t value[SRPOL_TLV_MAX];
	unsigned long type;
	struct nlattr *nest;
	const char *word;
	size_t len = 0;
	char *end;

	if (!read_word(args, "tlv", &word))
		return false;
	type = strtoul(word, &end, 0);
	if (!isdigit((unsigned char)*word) || *end != ':' || type > UINT8_MAX)
		goto bad;
	for (end++; *end && len < sizeof(value); end += 2)
		if (!isxdigit((unsigned char)end[0]) ||
		    !isxdigit((unsigned char)end[1]) ||
		    sscanf(end, "%2hhx", &value[len++]) != 1)
			goto bad;
	if (*end)
		goto bad;
	nest = srpol_msg_nest(msg, SRPOL_A_PATH_TLV);
	if (!nest || !srpol_msg_put_u8(msg, SRPOL_A_TLV_TYPE, type) ||
	    !srpol_msg_put(msg, SRPOL_A_TLV_VALUE, len, value))
		return false;
	srpol_msg_nest_end(msg, nest);
	return true;
bad:
	complain("tlv: \"%s\" is not TYPE:HEX of at most %u bytes", word,
		 SRPOL_TLV_MAX);
	return false;
}

static bool put_keyword(struct srpol_msg *msg, struct args *args,
			struct usids *usids)
{
	unsigned int ifindex;
	struct in6_addr addr;
	const char *word;
	uint32_t v;

	if (is(args, "segs"))
		return read_part(args, usids, false);
	if (is(args, "usids"))
		return read_part(args, usids, true);
	if (keyword(args, "usid-block"))
		return read_prefix(args, "usid-block", &usids->block,
				   &usids->block_len);
	if (keyword(args, "usid-block-len"))
		return read_u32(args, "usid-block-len", 120,
				&usids->block_len);
	if (keyword(args, "usid-len"))
		return read_usid_len(args, &usids->csid_len);
	if (is(args, "tlv"))
		return put_tlv(msg, args);
	if (keyword(args, "timestamp"))
		return read_name(args, "timestamp", srpol_switches, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_PATH_TIMESTAMP, v);
	if (keyword(args, "encap"))
		return read_name(args, "encap", srpol_encaps, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_PATH_ENCAP, v);
	if (keyword(args, "src"))
		return read_addr6(args, "src", &addr) &&
		       srpol_msg_put(msg, SRPOL_A_PATH_SRC, sizeof(addr),
				     &addr);
	if (keyword(args, "dev"))
		return read_dev(args, &ifindex) &&
		       srpol_msg_put_u32(msg, SRPOL_A_PATH_IFINDEX, ifindex);
	if (keyword(args, "via"))
		return read_addr6(args, "via", &addr) &&
		       srpol_msg_put(msg, SRPOL_A_PATH_VIA, sizeof(addr),
				     &addr);
	if (keyword(args, "name"))
		return read_label(args, "name", &word) &&
		       srpol_msg_put(msg, SRPOL_A_PATH_NAME, strlen(word) + 1,
				     word);
	if (keyword(args, "admin"))
		return read_name(args, "admin", admin_states, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_PATH_ADMIN_DOWN, v);
	if (keyword(args, "origin"))
		return read_name(args, "origin", srpol_origins, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_PATH_ORIGIN, v);
	return unknown(args);
}

static int path_set(struct args *args, unsigned int flags)
{
	struct usids usids = {};
	struct srpol_msg msg;
	uint32_t id;
	int err = need_module();

	if (err)
		return err;
	is(args, "id");
	srpol_msg_start(&genl, &msg, SRPOL_CMD_PATH_NEW, flags);
	if (!read_path_id(args, "id", &id))
		return EXIT_USAGE;
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, id);
	while (more(args))
		if (!put_keyword(&msg, args, &usids))
			return EXIT_USAGE;
	if (!put_parts(&msg, &usids) || !put_structure(&msg, &usids))
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
	if (!read_path_id(args, "id", &id))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_PATH_DEL, 0);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, id);
	return send_request(&msg);
}

/**
 * dev_name() - name of a device in this network namespace
 * @ifindex: its ifindex
 *
 * Return: a static buffer, with "ifN" for a device that does not exist.
 */
const char *dev_name(unsigned int ifindex)
{
	static char name[IF_NAMESIZE];

	if (!if_indextoname(ifindex, name))
		snprintf(name, sizeof(name), "if%u", ifindex);
	return name;
}

/**
 * set_dev_name() - name of a device that an object was given
 * @ifindex: its ifindex at that time
 * @ifname: its name at that time, by which it is found if it is created again
 *
 * Return: as dev_name(), but with @ifname for a device that does not exist.
 */
const char *set_dev_name(unsigned int ifindex, const char *ifname)
{
	char name[IF_NAMESIZE];

	return *ifname && !if_indextoname(ifindex, name) ? ifname :
							   dev_name(ifindex);
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

/**
 * print_usids() - print the compressed SIDs of a path, unpacked
 * @path: the path
 */
void print_usids(const struct path_info *path)
{
	uint64_t csids[SRPOL_CSIDS_MAX];
	char buf[SRPOL_PREFIX_STRLEN];
	struct in6_addr block = {};
	unsigned int i, j, n;
	bool first = true;

	if (!path->block_len || !path->n_sids)
		return;
	memcpy(&block, &path->block, path->block_len / 8);
	out_object("usids");
	out_string("block", " usids %s ",
		   srpol_prefix_text(&block, path->block_len, buf));
	out_array("csids");
	for (i = 0; i < path->n_sids; i++) {
		if (!srpol_usid_in_block(&path->sids[i], &block,
					 path->block_len))
			continue;
		n = srpol_usid_unpack(&path->sids[i], path->block_len,
				      path->csid_len, csids);
		for (j = 0; j < n; j++, first = false) {
			snprintf(buf, sizeof(buf), "%llx",
				 (unsigned long long)csids[j]);
			out_string(NULL, first ? "%s" : ",%s", buf);
		}
	}
	out_array_end();
	out_uint("csid_len", path->csid_len == SRPOL_CSID_LEN_DEFAULT ? NULL :
		 " usid-len %llu", path->csid_len);
	out_object_end();
}

static void print_tlvs(const struct path_info *path)
{
	char hex[2 * SRPOL_TLV_MAX + 1];
	const struct tlv_info *tlv;
	unsigned int i, j;

	out_array("tlvs");
	for (i = 0; i < path->n_tlvs; i++) {
		tlv = &path->tlvs[i];
		hex[0] = '\0';
		for (j = 0; j < tlv->len; j++)
			sprintf(hex + 2 * j, "%02x", tlv->value[j]);
		out_object(NULL);
		out_uint("type", " tlv %llu", tlv->type);
		out_string("value", ":%s", hex);
		out_object_end();
	}
	out_array_end();
	out_bool("timestamp", " timestamp on", path->timestamp);
}

/* Prints counters and quality of a path. */
static void print_path_stats(uint32_t id)
{
	struct srpol_quality q = {};
	int fd = srpol_map_open("path_quality");

	srpol_map_lookup(fd, &id, &q);
	out_object("stats");
	print_counter("path_stats", id);
	print_errors(SRPOL_ERROR_PATH, id);
	out_object("quality");
	out_uint("level", q.level ? " level %llu" : NULL, q.level);
	out_uint("penalty", q.penalty ? " penalty %llu" : NULL, q.penalty);
	out_uint("cnp", q.cnp ? " cnp %llu" : NULL, q.cnp);
	out_uint("nak", q.nak ? " nak %llu" : NULL, q.nak);
	out_object_end();
	out_object_end();
	srpol_map_close(fd);
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
	print_usids(path);
	out_string("encap", " encap %s",
		   srpol_name_of(srpol_encaps, path->encap));
	print_addr("src", " src %s", path->has_src, &path->src);
	out_string("dev", path->ifindex ? " dev %s" : NULL,
		   path->ifindex ? set_dev_name(path->ifindex, path->ifname) :
				   "");
	print_addr("via", " via %s", path->has_via, &path->via);
	out_bool("admin_down", " admin down", path->admin_down);
	print_tlvs(path);
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
	if (path->mtu)
		out_uint("mtu", " mtu %llu", path->mtu);
	out_uint("users", " users %llu", path->users);
	if (show_stats)
		print_path_stats(path->id);
	out_text("\n");
	out_object_end();
}

/**
 * path_matches() - does a word name a path
 * @path: the path
 * @word: its id or name; NULL names any
 */
bool path_matches(const struct path_info *path, const char *word)
{
	uint32_t id;

	return !word || !strcmp(path->name, word) ||
	       (parse_u32(word, UINT32_MAX, &id) && path->id == id);
}

/**
 * no_path() - tell that no path is named so
 * @word: what was given as id or name
 *
 * Return: EXIT_REFUSED.
 */
int no_path(const char *word)
{
	struct srpol_error error = {};

	srpol_error_set(&error, -ENOENT, "no path has the id or name \"%s\"",
			word);
	return refused(-ENOENT, &error);
}

static int path_show(struct args *args, unsigned int flags)
{
	struct vec paths = VEC_INIT(struct path_info);
	const struct path_info *path;
	const char *word = NULL;
	unsigned int n = 0;
	bool top, one;
	int err;

	top = is(args, "--top");
	one = !top && (is(args, "id") || is(args, "name") || more(args));
	if (one && !read_word(args, "path", &word))
		return EXIT_USAGE;
	if (top || is(args, "--top"))
		return path_top(args, word);
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_paths(&paths);
	if (err)
		return err;
	out_begin();
	vec_for_each(path, &paths) {
		if (!path_matches(path, word))
			continue;
		print_path(path);
		n++;
	}
	out_end();
	vec_free(&paths);
	return n || !word ? EXIT_OK : no_path(word);
}

int do_path(struct args *args)
{
	static const struct command commands[] = {
		{ "add", path_set, NLM_F_CREATE | NLM_F_EXCL },
		{ "replace", path_set, NLM_F_CREATE | NLM_F_REPLACE },
		{ "change", path_set, NLM_F_REPLACE },
		{ "delete", path_del, 0 },
		{ "show", path_show, 0 },
		{ "trace", path_trace, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
