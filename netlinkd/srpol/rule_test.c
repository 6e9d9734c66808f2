// SPDX-License-Identifier: GPL-2.0
/*
 * srpol rule test: shows what would happen to a packet, and why. The packet is
 * built and passed to the data plane's own program, so the answer is that of
 * the data plane.
 */
#include <arpa/inet.h>
#include <string.h>

#include "srpol.h"

#define ETH_HLEN	14
#define VLAN_HLEN	4
#define IPV4_HLEN	20
#define IPV6_HLEN	40
#define UDP_HLEN	8
#define TCP_HLEN	20
#define BTH_LEN		12
#define ROCE_PORT	4791
#define SPORT_DEFAULT	49152	/* RoCEv2 uses 0xc000 and up */
#define PAYLOAD		64
#define FRAME_MAX	256
#define HOP_LIMIT	64

/**
 * struct probe - the packet to be tested
 */
struct probe {
	struct in6_addr src;
	struct in6_addr dst;
	bool has_src;
	bool has_dst;
	bool roce;
	uint32_t ifindex;
	uint32_t mark;
	uint32_t vlan;
	uint32_t proto;
	uint32_t sport;
	uint32_t dport;
	uint32_t qp;
	uint32_t opcode;
	uint32_t pkey;
	uint32_t dscp;
	uint32_t label;
};

static bool read_opcode(struct args *args, uint32_t *opcode)
{
	uint64_t set[SRPOL_OPCODES / 64] = {};
	const char *word;
	uint32_t i;

	if (!read_word(args, "opcode", &word))
		return false;
	if (!srpol_opcodes_of(word, set))
		return !complain(UNKNOWN_OPCODE, (int)strlen(word), word);
	/* the lowest one is of transport RC */
	for (i = 0; !(set[i / 64] & 1ull << i % 64); i++)
		;
	*opcode = i;
	return true;
}

static bool read_field(struct args *args, struct probe *p)
{
	if (keyword(args, "src"))
		return p->has_src = read_addr(args, "src", &p->src);
	if (keyword(args, "dst"))
		return p->has_dst = read_addr(args, "dst", &p->dst);
	if (keyword(args, "dev"))
		return read_dev(args, &p->ifindex);
	if (keyword(args, "mark"))
		return read_u32(args, "mark", UINT32_MAX, &p->mark);
	if (keyword(args, "vlan"))
		return read_u32(args, "vlan", 4094, &p->vlan);
	if (keyword(args, "proto"))
		return read_proto(args, &p->proto);
	if (keyword(args, "sport"))
		return read_u32(args, "sport", UINT16_MAX, &p->sport);
	if (keyword(args, "dport"))
		return read_u32(args, "dport", UINT16_MAX, &p->dport);
	if (keyword(args, "dscp"))
		return read_dscp(args, "dscp", &p->dscp);
	if (keyword(args, "label"))
		return read_u32(args, "label", 0xfffff, &p->label);
	p->roce = true;
	if (keyword(args, "qp"))
		return read_u32(args, "qp", 0xffffff, &p->qp);
	if (keyword(args, "opcode"))
		return read_opcode(args, &p->opcode);
	if (keyword(args, "pkey"))
		return read_u32(args, "pkey", UINT16_MAX, &p->pkey);
	return unknown(args);
}

static uint8_t *put(uint8_t *to, const void *data, size_t len)
{
	memcpy(to, data, len);
	return to + len;
}

static uint8_t *put16(uint8_t *to, uint16_t v)
{
	v = htons(v);
	return put(to, &v, sizeof(v));
}

static uint8_t *put32(uint8_t *to, uint32_t v)
{
	v = htonl(v);
	return put(to, &v, sizeof(v));
}

static uint8_t *put_eth(uint8_t *to, const struct probe *p, bool v4)
{
	memset(to, 0, 12);
	to += 12;
	if (p->vlan) {
		to = put16(to, 0x8100);
		to = put16(to, p->vlan);
	}
	return put16(to, v4 ? 0x0800 : 0x86dd);
}

static uint8_t *put_ip(uint8_t *to, const struct probe *p, bool v4,
		       uint16_t payload)
{
	uint8_t *ip = to;

	if (!v4) {
		to = put32(to, 6u << 28 | p->dscp << 22 | p->label);
		to = put16(to, payload);
		*to++ = p->proto;
		*to++ = HOP_LIMIT;
		to = put(to, &p->src, 16);
		return put(to, &p->dst, 16);
	}
	memset(ip, 0, IPV4_HLEN);
	ip[0] = 4 << 4 | IPV4_HLEN / 4;
	ip[1] = p->dscp << 2;
	put16(ip + 2, IPV4_HLEN + payload);
	ip[8] = HOP_LIMIT;
	ip[9] = p->proto;
	put(ip + 12, &p->src.s6_addr[12], 4);
	return put(ip + 16, &p->dst.s6_addr[12], 4);
}

/*
 * Builds the frame. The program writes its answer into the frame; the payload
 * makes room for that.
 */
static size_t build(uint8_t *frame, const struct probe *p, bool v4)
{
	bool udp = p->proto == IPPROTO_UDP, tcp = p->proto == IPPROTO_TCP;
	uint16_t len = (udp ? UDP_HLEN : tcp ? TCP_HLEN : 0) +
		       (p->roce ? BTH_LEN : 0) + PAYLOAD;
	uint8_t *to;

	memset(frame, 0, FRAME_MAX);
	to = put_ip(put_eth(frame, p, v4), p, v4, len);
	if (udp || tcp) {
		put16(to, p->sport);
		put16(to + 2, p->dport);
	}
	if (udp)
		put16(to + 4, len);
	if (tcp)
		to[12] = TCP_HLEN / 4 << 4;
	if (p->roce) {
		to[UDP_HLEN] = p->opcode;
		put16(to + UDP_HLEN + 2, p->pkey);
		put32(to + UDP_HLEN + 4, p->qp);
	}
	return to + len - frame;
}

static void print_matched(const struct srpol_explain *e, const struct vec *rules)
{
	const struct rule_info *rule = find_rule(rules, e->rule_id);

	if (!e->rule_id) {
		out_text("\n\tno rule matches (%u looked at)", e->rules);
		return;
	}
	out_uint("prio", "\n\trule prio %llu", e->priority);
	out_string("rule", rule && rule->name[0] ? " (%s)" : NULL,
		   rule ? rule->name : "");
	if (!e->color) {
		out_text(" says bypass");
		return;
	}
	out_uint("color", " gives color %llu", e->color);
	out_string("ordering", " ordering %s",
		   srpol_name_of(srpol_orderings, e->ordering));
}

static void print_policy_ref(const char *key, const char *fmt,
			     const struct policy_info *policy)
{
	char buf[SRPOL_ADDR_STRLEN];

	out_object(key);
	out_uint("color", fmt, policy->color);
	out_string("endpoint", " endpoint %s",
		   srpol_addr_text(&policy->endpoint, buf));
	out_string("name", policy->name[0] ? " (%s)" : NULL, policy->name);
	out_object_end();
}

static void print_choice(const struct srpol_explain *e,
			 const struct vec *policies, const struct vec *paths)
{
	const struct policy_info *policy = find_policy(policies, e->policy);
	const struct policy_info *used = find_policy(policies, e->used_policy);
	const struct path_info *path = find_path(paths, e->path);

	if (!policy)
		return;
	print_policy_ref("policy", "\n\tpolicy color %llu", policy);
	out_string("mode", " mode %s", srpol_name_of(srpol_modes, e->mode));
	out_uint("bucket", " bucket %llu", e->bucket);
	if (used && used != policy)
		print_policy_ref("backup", ", backup color %llu", used);
	if (!e->path)
		return;
	out_uint("path", "\n\tpath %llu", e->path);
	out_string("path_name", path && path->name[0] ? " (%s)" : NULL,
		   path ? path->name : "");
	out_uint("primary", e->primary != e->path ? " (its primary path is %llu)" :
		 NULL, e->primary);
	out_bool("primary_down", ", which is down", e->skipped);
	out_bool("cached", ", where the flow is now", e->cached);
}

/* Says why a packet does not take the path that its rule names. */
static void print_rule_path(const struct srpol_explain *e,
			    const struct vec *rules, const struct vec *paths)
{
	const struct rule_info *rule = find_rule(rules, e->rule_id);
	const struct path_info *path;

	if (!rule || !rule->path || !e->path || rule->path == e->path)
		return;
	path = find_path(paths, rule->path);
	out_uint("rule_path", "\n\t-> by hash: path %llu, which the rule names, ",
		 rule->path);
	out_text(!path ? "is not there" :
		 path->state != SRPOL_PATH_STATE_UP ? "is not up" :
		 "is no active segment list of the policy");
}

/* The longest steering prefix that contains the address, or NULL. */
static const struct endpoint_info *find_steering(const struct vec *endpoints,
						 const struct in6_addr *addr)
{
	const struct endpoint_info *ep, *best = NULL;

	vec_for_each(ep, endpoints)
		if (srpol_addr_in_prefix(addr, &ep->prefix, ep->len) &&
		    (!best || ep->len > best->len))
			best = ep;
	return best;
}

/* Says why no policy was found, although a rule gave the packet a color. */
static void print_missing(const struct srpol_explain *e,
			  const struct probe *p, const struct vec *policies,
			  const struct vec *endpoints)
{
	const struct endpoint_info *ep = find_steering(endpoints, &p->dst);
	char dst[SRPOL_ADDR_STRLEN], to[SRPOL_ADDR_STRLEN];
	const struct policy_info *policy;
	unsigned int n = 0;

	srpol_addr_text(&p->dst, dst);
	vec_for_each(policy, policies)
		n += policy->color == e->color;
	if (!n) {
		out_text("\n\t-> no policy has color %u: srpol policy add color %u endpoint ADDR",
			 e->color, e->color);
	} else if (ep) {
		out_text("\n\t-> the steering prefix of %s leads to endpoint %s, where no policy has color %u",
			 dst, srpol_addr_text(&ep->address, to), e->color);
	} else {
		out_text("\n\t-> no steering prefix holds %s: srpol endpoint add PREFIX to ADDR, the endpoint of a policy",
			 dst);
	}
	out_bool("steering_prefix_missing", NULL, n && !ep);
}

/**
 * rule_test() - srpol rule test
 * @args: words with the fields of the packet
 * @flags: not used
 *
 * Return: an EXIT_*.
 */
int rule_test(struct args *args, unsigned int flags)
{
	struct probe p = { .proto = IPPROTO_UDP, .sport = SPORT_DEFAULT,
			   .pkey = 0xffff };
	struct vec endpoints = VEC_INIT(struct endpoint_info);
	struct vec policies = VEC_INIT(struct policy_info);
	struct vec rules = VEC_INIT(struct rule_info);
	struct vec paths = VEC_INIT(struct path_info);
	struct srpol_error error = {};
	uint8_t frame[FRAME_MAX];
	struct srpol_explain e;
	size_t len;
	int err;
	bool v4;

	while (more(args))
		if (!read_field(args, &p))
			return EXIT_USAGE;
	if (!p.has_src || !p.has_dst)
		return complain("a packet has a src and a dst");
	if (p.roce && p.proto != IPPROTO_UDP)
		return complain("qp, opcode and pkey make it RoCEv2, which has proto udp");
	if (p.roce && p.dport && p.dport != ROCE_PORT)
		return complain("qp, opcode and pkey make it RoCEv2, which has dport %u",
				ROCE_PORT);
	v4 = IN6_IS_ADDR_V4MAPPED(&p.dst);
	if (v4 != !!IN6_IS_ADDR_V4MAPPED(&p.src))
		return complain("src and dst are of different families");
	if (p.roce)
		p.dport = ROCE_PORT;
	err = fetch_rules(&rules) ?: fetch_policies(&policies) ?:
	      fetch_paths(&paths) ?: fetch_endpoints(&endpoints) ?:
	      need_data_plane();
	if (err)
		return err;
	len = build(frame, &p, v4);
	err = srpol_explain(frame, len, p.ifindex, p.mark, &e, &error);
	if (err)
		return refused(err, &error);
	out_begin();
	out_object(NULL);
	out_string("result", "%s", srpol_reason_name(e.reason));
	out_string("text", ": %s", srpol_reason_text(e.reason));
	if (e.parsed) {
		print_matched(&e, &rules);
		print_choice(&e, &policies, &paths);
		print_rule_path(&e, &rules, &paths);
	}
	if (e.reason == SRPOL_REASON_NO_POLICY)
		print_missing(&e, &p, &policies, &endpoints);
	out_text("\n");
	out_object_end();
	out_end();
	vec_free(&rules);
	vec_free(&policies);
	vec_free(&paths);
	vec_free(&endpoints);
	return EXIT_OK;
}
