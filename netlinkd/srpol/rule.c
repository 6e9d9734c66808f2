// SPDX-License-Identifier: GPL-2.0
/*
 * srpol rule: rules.
 */
#include <stdlib.h>
#include <string.h>

#include "srpol.h"

#define VLAN_MAX	4094

static const char usage[] =
"Usage: srpol rule { add | replace | change } prio N [ name NAME ] [ MATCH ]...\n"
"                   { color N | bypass } [ mode MODE ]\n"
"                   [ ordering { strong | partial | weak } ] [ path ID ]\n"
"                   [ origin { static | engine } ]\n"
"       srpol rule del prio N\n"
"       srpol rule show [ prio N ] [ NAME ]\n"
"       srpol rule test src ADDR dst ADDR [ FIELD ]...\n"
"MATCH := { dev DEV | mark MARK[/MASK] | vlan ID | cgroup PATH |\n"
"           src PREFIX | dst PREFIX | proto { udp | tcp | NUMBER } |\n"
"           sport PORT[-PORT] | dport PORT[-PORT] | qp QP[-QP] |\n"
"           opcode OPCODE[,OPCODE]... | dscp DSCP | pkey PKEY }\n"
"OPCODE := { send | write | read-request | read-response | ack | atomic |\n"
"            cnp | other | send-first | write-middle | ... | NUMBER }\n"
"MODE := { hash | active-backup | flowlet | spray | adaptive |\n"
"          on-congestion }, default that\n"
"        of the policy; spray needs ordering partial or weak\n"
"path: the one that the flows take while it is up and their policy's; mode hash\n"
"FIELD := { dev DEV | mark MARK | vlan ID | proto { udp | tcp | NUMBER } |\n"
"           sport PORT | dport PORT | qp QP | opcode OPCODE | pkey PKEY |\n"
"           dscp DSCP | label LABEL }; qp, opcode and pkey make it RoCEv2\n"
"Lower prio is tried first; the first rule that matches decides.\n";

static bool put_range(struct srpol_msg *msg, struct args *args,
		      const char *what, uint16_t min_type, uint16_t max_type)
{
	uint32_t lo, hi;

	return read_range(args, what, UINT16_MAX, &lo, &hi) &&
	       srpol_msg_put_u16(msg, min_type, lo) &&
	       srpol_msg_put_u16(msg, max_type, hi);
}

static bool put_prefix(struct srpol_msg *msg, struct args *args,
		       const char *what, uint16_t type, uint16_t len_type)
{
	struct in6_addr prefix;
	uint32_t len;

	return read_prefix(args, what, &prefix, &len) &&
	       srpol_msg_put(msg, type, sizeof(prefix), &prefix) &&
	       srpol_msg_put_u32(msg, len_type, len);
}

static bool put_opcodes(struct srpol_msg *msg, struct args *args)
{
	uint64_t set[SRPOL_OPCODES / 64] = {};
	const char *word, *comma;
	char name[32];
	size_t len;
	int i;

	if (!read_word(args, "opcode", &word))
		return false;
	for (;; word = comma + 1) {
		comma = strchr(word, ',');
		len = comma ? (size_t)(comma - word) : strlen(word);
		snprintf(name, sizeof(name), "%.*s", (int)len, word);
		if (len >= sizeof(name) || !srpol_opcodes_of(name, set))
			return !complain(UNKNOWN_OPCODE, (int)len, word);
		if (!comma)
			break;
	}
	for (i = 0; i < SRPOL_OPCODES; i++)
		if (set[i / 64] & 1ull << i % 64 &&
		    !srpol_msg_put_u8(msg, SRPOL_A_RULE_OPCODE, i))
			return false;
	return true;
}

static bool put_mark(struct srpol_msg *msg, struct args *args)
{
	uint32_t mark, mask = UINT32_MAX;
	const char *word, *slash;
	char first[16];

	if (!read_word(args, "mark", &word))
		return false;
	slash = strchrnul(word, '/');
	snprintf(first, sizeof(first), "%.*s", (int)(slash - word), word);
	if (slash - word >= (ptrdiff_t)sizeof(first) ||
	    !parse_u32(first, UINT32_MAX, &mark) ||
	    (*slash && !parse_u32(slash + 1, UINT32_MAX, &mask))) {
		complain("mark: \"%s\" is not MARK or MARK/MASK", word);
		return false;
	}
	return srpol_msg_put_u32(msg, SRPOL_A_RULE_MARK, mark) &&
	       srpol_msg_put_u32(msg, SRPOL_A_RULE_MARK_MASK, mask);
}

/**
 * read_proto() - read a transport protocol by name or number
 * @args: words
 * @proto: result: IP protocol number
 */
bool read_proto(struct args *args, uint32_t *proto)
{
	if (more(args) && !args->failed &&
	    srpol_value_of(srpol_protos, *args->argv, proto))
		return next(args);
	return read_u32(args, "proto", UINT8_MAX, proto);
}

static bool put_proto(struct srpol_msg *msg, struct args *args)
{
	uint32_t v;

	return read_proto(args, &v) &&
	       srpol_msg_put_u8(msg, SRPOL_A_RULE_PROTO, v);
}

static bool put_cgroup(struct srpol_msg *msg, struct args *args)
{
	const char *word;
	uint64_t id;

	return read_word(args, "cgroup", &word) && cgroup_id(word, &id) &&
	       srpol_msg_put_u64(msg, SRPOL_A_RULE_CGROUP, id);
}

static bool put_match(struct srpol_msg *msg, struct args *args)
{
	uint32_t v, hi;

	if (keyword(args, "dev"))
		return read_dev(args, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_RULE_IFINDEX, v);
	if (keyword(args, "mark"))
		return put_mark(msg, args);
	if (keyword(args, "vlan"))
		return read_u32(args, "vlan", VLAN_MAX, &v) &&
		       srpol_msg_put_u16(msg, SRPOL_A_RULE_VLAN, v);
	if (keyword(args, "cgroup"))
		return put_cgroup(msg, args);
	if (keyword(args, "src"))
		return put_prefix(msg, args, "src", SRPOL_A_RULE_SRC,
				  SRPOL_A_RULE_SRC_LEN);
	if (keyword(args, "dst"))
		return put_prefix(msg, args, "dst", SRPOL_A_RULE_DST,
				  SRPOL_A_RULE_DST_LEN);
	if (keyword(args, "proto"))
		return put_proto(msg, args);
	if (keyword(args, "sport"))
		return put_range(msg, args, "sport", SRPOL_A_RULE_SPORT_MIN,
				 SRPOL_A_RULE_SPORT_MAX);
	if (keyword(args, "dport"))
		return put_range(msg, args, "dport", SRPOL_A_RULE_DPORT_MIN,
				 SRPOL_A_RULE_DPORT_MAX);
	if (keyword(args, "qp"))
		return read_range(args, "qp", 0xffffff, &v, &hi) &&
		       srpol_msg_put_u32(msg, SRPOL_A_RULE_QP_MIN, v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_RULE_QP_MAX, hi);
	if (keyword(args, "opcode"))
		return put_opcodes(msg, args);
	if (keyword(args, "dscp"))
		return read_dscp(args, "dscp", &v) &&
		       srpol_msg_put_u8(msg, SRPOL_A_RULE_DSCP, v);
	if (keyword(args, "pkey"))
		return read_u32(args, "pkey", UINT16_MAX, &v) &&
		       srpol_msg_put_u16(msg, SRPOL_A_RULE_PKEY, v);
	return unknown(args);
}

static bool put_keyword(struct srpol_msg *msg, struct args *args)
{
	const char *word;
	uint32_t v;

	if (keyword(args, "name"))
		return read_label(args, "name", &word) &&
		       srpol_msg_put(msg, SRPOL_A_RULE_NAME,
				     strlen(word) + 1, word);
	if (keyword(args, "origin"))
		return read_name(args, "origin", srpol_origins, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_RULE_ORIGIN, v);
	if (keyword(args, "color"))
		return read_id(args, "color", &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_RULE_ACTION,
					 SRPOL_RULE_ACTION_STEER) &&
		       srpol_msg_put_u32(msg, SRPOL_A_RULE_COLOR, v);
	if (keyword(args, "mode"))
		return read_name(args, "mode", srpol_modes, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_RULE_MODE, v);
	if (keyword(args, "ordering"))
		return read_name(args, "ordering", srpol_orderings, &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_RULE_ORDERING, v);
	if (keyword(args, "path"))
		return read_path_id(args, "path", &v) &&
		       srpol_msg_put_u32(msg, SRPOL_A_RULE_PATH, v);
	if (keyword(args, "bypass"))
		return !args->failed && srpol_msg_put_u32(msg, SRPOL_A_RULE_ACTION,
					 SRPOL_RULE_ACTION_BYPASS);
	return put_match(msg, args);
}

static bool put_prio(struct srpol_msg *msg, struct args *args)
{
	uint32_t prio;

	if (!is(args, "prio")) {
		complain("a rule is named by \"prio N\"");
		return false;
	}
	return read_u32(args, "prio", UINT32_MAX, &prio) &&
	       srpol_msg_put_u32(msg, SRPOL_A_RULE_PRIORITY, prio);
}

static int rule_set(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	int err = need_module();

	if (err)
		return err;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_RULE_NEW, flags);
	if (!put_prio(&msg, args))
		return EXIT_USAGE;
	while (more(args))
		if (!put_keyword(&msg, args))
			return EXIT_USAGE;
	return send_request(&msg);
}

static int rule_del(struct args *args, unsigned int flags)
{
	struct srpol_msg msg;
	int err = need_module();

	if (err)
		return err;
	srpol_msg_start(&genl, &msg, SRPOL_CMD_RULE_DEL, 0);
	if (!put_prio(&msg, args))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	return send_request(&msg);
}

static void print_range(const char *key, const uint32_t *range)
{
	out_text(" %s %u", key, range[0]);
	if (range[0] != range[1])
		out_text("-%u", range[1]);
	out_array(key);
	out_uint(NULL, NULL, range[0]);
	out_uint(NULL, NULL, range[1]);
	out_array_end();
}

static void print_opcodes(const uint64_t *set)
{
	bool first = true;
	const char *name;
	char number[8];
	int i;

	out_array("opcodes");
	out_text(" opcode ");
	for (i = 0; i < SRPOL_OPCODES; i++) {
		if (!(set[i / 64] & 1ull << i % 64))
			continue;
		out_uint(NULL, NULL, i);
		name = srpol_opcode_name(i);
		snprintf(number, sizeof(number), "0x%02x", i);
		/* text names an operation once, not once per transport */
		if (name && i >= 0x20 && i != 0x81 &&
		    set[0] & 1ull << (i & 0x1f) && srpol_opcode_name(i & 0x1f))
			continue;
		out_text("%s%s", first ? "" : ",", name ? name : number);
		first = false;
	}
	out_array_end();
}

/**
 * print_proto() - print a protocol; by name in text if it has one
 * @proto: IP protocol number
 */
void print_proto(uint32_t proto)
{
	const char *name = srpol_find_name(srpol_protos, proto);

	out_uint("proto", name ? NULL : " proto %llu", proto);
	if (name)
		out_text(" proto %s", name);
}

static void print_cgroup(uint64_t id)
{
	const char *path = cgroup_path(id);

	out_uint("cgroup", path ? NULL : " cgroup %llu", id);
	if (path)
		out_string("cgroup_path", " cgroup %s", path);
}

static void print_match(const struct rule_info *rule)
{
	char buf[SRPOL_PREFIX_STRLEN];
	uint32_t m = rule->match;

	out_object("match");
	if (m & SRPOL_MATCH_DEV)
		out_string("dev", " dev %s",
			   set_dev_name(rule->ifindex, rule->ifname));
	if (m & SRPOL_MATCH_MARK) {
		out_uint("mark", " mark 0x%llx", rule->mark);
		out_uint("mask", "/0x%llx", rule->mark_mask);
	}
	if (m & SRPOL_MATCH_VLAN)
		out_uint("vlan", " vlan %llu", rule->vlan);
	if (m & SRPOL_MATCH_CGROUP)
		print_cgroup(rule->cgroup);
	if (m & SRPOL_MATCH_SRC)
		out_string("src", " src %s",
			   srpol_prefix_text(&rule->src, rule->src_len, buf));
	if (m & SRPOL_MATCH_DST)
		out_string("dst", " dst %s",
			   srpol_prefix_text(&rule->dst, rule->dst_len, buf));
	if (m & SRPOL_MATCH_PROTO)
		print_proto(rule->proto);
	if (m & SRPOL_MATCH_SPORT)
		print_range("sport", rule->sport);
	if (m & SRPOL_MATCH_DPORT)
		print_range("dport", rule->dport);
	if (m & SRPOL_MATCH_QP)
		print_range("qp", rule->qp);
	if (m & SRPOL_MATCH_OPCODE)
		print_opcodes(rule->opcodes);
	if (m & SRPOL_MATCH_DSCP)
		out_uint("dscp", " dscp %llu", rule->dscp);
	if (m & SRPOL_MATCH_PKEY)
		out_uint("pkey", " pkey 0x%llx", rule->pkey);
	if (!m)
		out_text(" any");
	out_object_end();
}

void print_rule(const struct rule_info *rule, const struct vec *policies)
{
	bool steer = rule->action == SRPOL_RULE_ACTION_STEER;
	const struct policy_info *policy;
	char buf[SRPOL_ADDR_STRLEN];

	out_object(NULL);
	out_uint("prio", "rule prio %llu", rule->priority);
	out_string("name", rule->name[0] ? " name %s" : NULL, rule->name);
	out_string("origin", rule->origin ? " origin %s" : NULL,
		   srpol_name_of(srpol_origins, rule->origin));
	print_match(rule);
	out_string("action", steer ? NULL : " %s",
		   steer ? "steer" : "bypass");
	if (steer)
		out_uint("color", " color %llu", rule->color);
	out_string("mode", rule->has_mode ? " mode %s" : NULL, rule->has_mode ?
		   srpol_name_of(srpol_modes, rule->mode) : "");
	out_string("ordering", rule->ordering ? " ordering %s" : NULL,
		   srpol_name_of(srpol_orderings, rule->ordering));
	if (rule->path)
		out_uint("path", " path %llu", rule->path);
	out_string("reason", rule->reason ? " (%s)" : NULL,
		   srpol_name_of(srpol_rule_reasons, rule->reason));
	out_uint("id", NULL, rule->id);
	if (show_stats) {
		out_object("stats");
		print_counter("rule_stats", rule->id);
		out_object_end();
	}
	out_array("policies");
	vec_for_each(policy, policies) {
		if (!steer || policy->color != rule->color)
			continue;
		out_object(NULL);
		out_string("endpoint", "\n\tpolicy endpoint %s",
			   srpol_addr_text(&policy->endpoint, buf));
		out_string("name", policy->name[0] ? " name %s" : NULL,
			   policy->name);
		out_string("state", " %s",
			   srpol_name_of(srpol_policy_states, policy->state));
		out_string("reason", policy->reason ? " (%s)" : NULL,
			   srpol_name_of(srpol_policy_reasons,
					 policy->reason));
		out_object_end();
	}
	out_array_end();
	out_text("\n");
	out_object_end();
}

static int rule_show(struct args *args, unsigned int flags)
{
	struct vec rules = VEC_INIT(struct rule_info);
	struct vec policies = VEC_INIT(struct policy_info);
	const struct rule_info *rule;
	const char *name = NULL;
	unsigned int n = 0;
	char key[24] = "";
	bool one = false;
	uint32_t prio;
	int err;

	if (is(args, "prio")) {
		if (!read_u32(args, "prio", UINT32_MAX, &prio))
			return EXIT_USAGE;
		one = true;
	}
	if ((is(args, "name") || more(args)) && !read_word(args, "name", &name))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = fetch_rules(&rules) ?: fetch_policies(&policies);
	if (err)
		return err;
	out_begin();
	vec_for_each(rule, &rules) {
		if ((one && rule->priority != prio) ||
		    (name && strcmp(rule->name, name)))
			continue;
		print_rule(rule, &policies);
		n++;
	}
	if (one)
		snprintf(key, sizeof(key), " prio %u", prio);
	err = out_found(n, one || name, "no rule has%s%s%s%s", key,
			name ? " name \"" : "", name ?: "", name ? "\"" : "");
	vec_free(&rules);
	vec_free(&policies);
	return err;
}

int do_rule(struct args *args)
{
	static const struct command commands[] = {
		{ "add", rule_set, NLM_F_CREATE | NLM_F_EXCL },
		{ "replace", rule_set, NLM_F_CREATE | NLM_F_REPLACE },
		{ "change", rule_set, NLM_F_REPLACE },
		{ "delete", rule_del, 0 },
		{ "show", rule_show, 0 },
		{ "test", rule_test, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
