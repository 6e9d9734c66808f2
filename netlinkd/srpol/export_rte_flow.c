// SPDX-License-Identifier: GPL-2.0
/*
 * srpol export rte-flow: active policies as rules of DPDK's testpmd, for a NIC
 * that encapsulates in its embedded switch. Documentation/offload.rst describes
 * what such a NIC supports, and how a back end would follow changes.
 *
 * testpmd builds the bytes of raw_encap from protocol items, and has none for
 * an SRH with SIDs. So the SRH is written by items with bytes that can be
 * chosen: gre_key has four of them, esp four and then four zero bytes. esp
 * keeps the text short, as testpmd reads lines of up to LINE_LEN bytes. The NIC
 * gets bytes, not items.
 */
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "export.h"

#define HARDWARE_BYTES	128	/* raw_encap, ConnectX-6 Dx and later */
#define SLOTS		8	/* raw_encap slots of testpmd */
#define LINE_LEN	511	/* longest line of testpmd */
#define BUCKETS_MAX	16	/* rules that split by source port */
#define ETH_LEN		14
#define IP6_LEN		40
#define SRH_LEN		8
#define SID_LEN		16
#define NEXT_ROUTING	43

/* A raw_encap slot that was set, for a path and an inner address family. */
struct slot {
	uint32_t path;
	bool v4;
};

static struct slot slots[SLOTS];
static unsigned int n_slots, priority;

/* Prefix length; for v4-mapped addresses without the leading 96 bits. */
static uint32_t bits(const struct in6_addr *a, uint32_t len)
{
	return IN6_IS_ADDR_V4MAPPED(a) && len >= 96 ? len - 96 : len;
}

static bool is_v4(const struct in6_addr *a, uint32_t len)
{
	return IN6_IS_ADDR_V4MAPPED(a) && len >= 96;
}

static bool device_address(uint32_t ifindex, uint8_t *mac)
{
	struct ifreq ifr = {};
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return false;
	err = !if_indextoname(ifindex, ifr.ifr_name) ||
	      ioctl(fd, SIOCGIFHWADDR, &ifr);
	close(fd);
	memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
	return !err;
}

static const char *mac_text(const uint8_t *mac)
{
	static char buf[2][18];
	static unsigned int turn;

	turn = !turn;
	snprintf(buf[turn], sizeof(buf[turn]),
		 "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	return buf[turn];
}

/* Number of SIDs in the SRH; a reduced SRH does not have the first one. */
static uint32_t srh_sids(const struct path_info *path)
{
	return path->encap == SRPOL_ENCAP_FULL ? path->n_sids :
	       path->n_sids - 1;
}

static uint32_t encap_bytes(const struct path_info *path)
{
	uint32_t n = srh_sids(path);

	return ETH_LEN + IP6_LEN + (n ? SRH_LEN + n * SID_LEN : 0);
}

static const char *why_not_path(const struct path_info *path, uint8_t *mac)
{
	static char why[96];

	if (!path->compiled || path->state != SRPOL_PATH_STATE_UP)
		return "it is not up";
	if (path->n_tlvs || path->timestamp)
		return "it has TLVs, and a NIC puts no time into them";
	if (!device_address(path->out_ifindex, mac))
		return "its device has no address";
	if (encap_bytes(path) <= HARDWARE_BYTES)
		return NULL;
	snprintf(why, sizeof(why),
		 "%u SIDs make %u bytes of headers, raw_encap takes %u",
		 path->n_sids, encap_bytes(path), HARDWARE_BYTES);
	return why;
}

static uint32_t word_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 |
	       bytes[3];
}

static size_t add_words(char *to, size_t room, const uint8_t *bytes, size_t n)
{
	size_t len = 0, i;

	for (i = 0; i < n && len < room; i += 4) {
		if (i + 4 < n && !word_at(bytes + i + 4)) {
			len += snprintf(to + len, room - len,
					" / esp spi is %#x", word_at(bytes + i));
			i += 4;
		} else {
			len += snprintf(to + len, room - len,
					" / gre_key value is %#x",
					word_at(bytes + i));
		}
	}
	return len;
}

static void srh_text(const struct path_info *path, uint8_t next, char *to,
		     size_t room)
{
	uint8_t srh[SRH_LEN + SRPOL_SIDS_MAX * SID_LEN] = {};
	uint32_t n = srh_sids(path), i;

	*to = '\0';
	if (!n)
		return;
	srh[0] = next;
	srh[1] = 2 * n;
	srh[2] = 4;
	srh[3] = path->n_sids - 1;
	srh[4] = n - 1;
	/* the SRH has the last SID first */
	for (i = 0; i < n; i++)
		memcpy(srh + SRH_LEN + i * SID_LEN,
		       &path->sids[path->n_sids - 1 - i], SID_LEN);
	add_words(to, room, srh, SRH_LEN + n * SID_LEN);
}

/*
 * Slot with the headers of a path, which is set if necessary; -1 after a
 * comment was printed that the path is left out.
 */
static int slot_of(const struct path_info *path, bool v4,
		   const struct config_info *config)
{
	uint8_t next = v4 ? IPPROTO_IPIP : IPPROTO_IPV6, mac[6] = {};
	const char *why = why_not_path(path, mac);
	char line[LINE_LEN + 2], srh[LINE_LEN];
	unsigned int i;

	for (i = 0; i < n_slots; i++)
		if (slots[i].path == path->id && slots[i].v4 == v4)
			return i;
	if (!why && n_slots == SLOTS)
		why = "testpmd keeps no more than 8 headers; a program may have more";
	if (!why) {
		srh_text(path, next, srh, sizeof(srh));
		if (snprintf(line, sizeof(line),
			     "set raw_encap %u eth src is %s dst is %s / ipv6 src is %s dst is %s proto is %u hop is %u%s / end_set",
			     n_slots, mac_text(mac), mac_text(path->out_lladdr),
			     addr(&path->out_src), addr(&path->sids[0]),
			     srh_sids(path) ? NEXT_ROUTING : next,
			     config->hop_limit, srh) > LINE_LEN)
			why = "testpmd reads no line that long; a program's own bytes would fit";
	}
	if (why) {
		printf("# segment list %u left out: %s\n", path->id, why);
		return -1;
	}
	puts(line);
	slots[n_slots] = (struct slot){ .path = path->id, .v4 = v4 };
	return n_slots++;
}

/**
 * struct flow - match of a rule combined with a steering prefix
 * @rule: rule
 * @v4: IPv4, else IPv6
 * @dst: destination, the more specific of the two
 * @dst_len: its prefix length
 * @proto: IP protocol, 0: any
 * @bucket: bucket of source ports
 * @mask: bits of the source port that select the bucket, 0: not split
 */
struct flow {
	const struct rule_info *rule;
	bool v4;
	struct in6_addr dst;
	uint32_t dst_len;
	uint32_t proto;
	uint32_t bucket;
	uint32_t mask;
};

static void print_prefix(const char *key, const struct in6_addr *a,
			 uint32_t len)
{
	if (bits(a, len))
		printf(" %s spec %s %s prefix %u", key, addr(a), key,
		       bits(a, len));
}

static void print_port(const char *key, const uint32_t *range)
{
	if (range[0] == range[1])
		printf(" %s is %u", key, range[0]);
	else
		printf(" %s spec %u %s last %u %s mask 0xffff", key, range[0],
		       key, range[1], key);
}

static void print_pattern(const struct flow *f)
{
	const struct rule_info *r = f->rule;

	printf(" pattern eth");
	if (r->match & SRPOL_MATCH_VLAN)
		printf(" / vlan vid is %u", r->vlan);
	printf(" / %s", f->v4 ? "ipv4" : "ipv6");
	if (r->match & SRPOL_MATCH_SRC)
		print_prefix("src", &r->src, r->src_len);
	print_prefix("dst", &f->dst, f->dst_len);
	if (r->match & SRPOL_MATCH_DSCP)
		printf(" %s spec 0x%x %s mask 0xfc", f->v4 ? "tos" : "tc",
		       r->dscp << 2, f->v4 ? "tos" : "tc");
	if (f->proto && f->proto != IPPROTO_UDP && f->proto != IPPROTO_TCP)
		printf(" proto is %u", f->proto);
	if (f->proto == IPPROTO_UDP || f->proto == IPPROTO_TCP) {
		printf(" / %s", f->proto == IPPROTO_UDP ? "udp" : "tcp");
		if (r->match & SRPOL_MATCH_SPORT)
			print_port("src", r->sport);
		else if (f->mask)
			printf(" src spec %u src mask 0x%x", f->bucket,
			       f->mask);
		if (r->match & SRPOL_MATCH_DPORT)
			print_port("dst", r->dport);
	}
	printf(" / end");
}

static void print_flow(const struct flow *f, int slot)
{
	printf("flow create 0 transfer priority %u", priority);
	print_pattern(f);
	if (slot < 0)
		puts(" actions port_id id 0 / end");
	else
		printf(" actions raw_decap index 0 / raw_encap index %d / port_id id 0 / end\n",
		       slot);
}

/*
 * Assigns buckets of source ports to the segment lists, in proportion to
 * @share. Returns the number of buckets, a power of two.
 */
static uint32_t fill_buckets(const uint32_t *share, uint32_t n, int *bucket)
{
	uint32_t total = 0, used, i, k, at = 0, sum = 0;

	for (i = 0; i < n; i++)
		total += share[i];
	for (used = 1; used < n; used *= 2)
		;
	/* double until all shares are whole buckets, or the limit is reached */
	for (; used < BUCKETS_MAX; used *= 2) {
		for (i = 0; i < n && !(share[i] * used % total); i++)
			;
		if (i == n)
			break;
	}
	for (i = 0; i < n; i++) {
		sum += share[i];
		for (k = (sum * used + total / 2) / total; at < k; at++)
			bucket[at] = i;
	}
	return used;
}

static void say_who_has_none(const int *bucket, uint32_t used, const int *slot,
			     uint32_t n)
{
	uint32_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < used && bucket[k] != (int)i; k++)
			;
		if (k == used)
			printf("# segment list %u left out: of %u parts of the source ports its weight makes none\n",
			       slots[slot[i]].path, used);
	}
}

static void bucket_flows(struct flow *f, const int *slot,
			  const uint32_t *share, uint32_t n)
{
	int bucket[BUCKETS_MAX];
	uint32_t used, best = 0, i;

	if (n > 1 && (f->proto == IPPROTO_UDP || f->proto == IPPROTO_TCP) &&
	    !(f->rule->match & SRPOL_MATCH_SPORT)) {
		used = fill_buckets(share, n, bucket);
		say_who_has_none(bucket, used, slot, n);
		f->mask = used - 1;
		for (f->bucket = 0; f->bucket < used; f->bucket++)
			print_flow(f, slot[bucket[f->bucket]]);
		f->mask = 0;
		return;
	}
	for (i = 1; i < n; i++)
		if (share[i] > share[best])
			best = i;
	if (n > 1)
		puts("# without a source port to tell flows apart: one segment list of several");
	print_flow(f, slot[best]);
}

/*
 * The path that the rule names, if it is an active segment list; 0: use a hash.
 */
static uint32_t own_path(const struct rule_info *rule,
			 const struct candidate_info *cand)
{
	uint32_t i;

	if (!rule->path)
		return 0;
	for (i = 0; i < cand->n_lists; i++)
		if (cand->lists[i].path == rule->path && cand->lists[i].buckets)
			return rule->path;
	printf("# rule prio %u: path %u is no segment list that packets take: a hash instead\n",
	       rule->priority, rule->path);
	return 0;
}

static void policy_flows(struct flow *f, const struct policy_info *policy,
			 const struct all *all)
{
	const struct candidate_info *cand = NULL;
	uint32_t share[BUCKETS_MAX], n = 0, own, i;
	const struct path_info *path;
	int slot[BUCKETS_MAX], at;

	for (i = 0; i < policy->n_candidates; i++)
		if (policy->candidates[i].active)
			cand = &policy->candidates[i];
	if (!cand) {
		printf("# color %u endpoint %s left out: no candidate path is active\n",
		       policy->color, addr(&policy->endpoint));
		return;
	}
	if (policy->mode != SRPOL_LB_MODE_HASH && !f->rule->has_mode)
		printf("# color %u endpoint %s: mode %s becomes a hash of the source port\n",
		       policy->color, addr(&policy->endpoint),
		       srpol_name_of(srpol_modes, policy->mode));
	own = own_path(f->rule, cand);
	for (i = 0; i < cand->n_lists; i++) {
		path = find_path(&all->paths, cand->lists[i].path);
		if (!path || !cand->lists[i].buckets ||
		    (own && path->id != own))
			continue;
		at = slot_of(path, f->v4, &all->config);
		if (at < 0 || n == BUCKETS_MAX)
			continue;
		slot[n] = at;
		share[n++] = cand->lists[i].buckets;
	}
	if (!n) {
		printf("# color %u endpoint %s left out: no segment list of it is left\n",
		       policy->color, addr(&policy->endpoint));
		return;
	}
	if (f->rule->match & SRPOL_MATCH_PROTO) {
		bucket_flows(f, slot, share, n);
		return;
	}
	if (n > 1) {
		f->proto = IPPROTO_UDP;
		bucket_flows(f, slot, share, n);
		f->proto = IPPROTO_TCP;
		bucket_flows(f, slot, share, n);
		f->proto = 0;
		priority++;
	}
	bucket_flows(f, slot, share, n);
}

static const char *why_not_rule(const struct rule_info *r)
{
	uint32_t m = r->match;

	if (m & SRPOL_MATCH_DEV)
		return "which port of DPDK its device is cannot be known here";
	if (m & (SRPOL_MATCH_MARK | SRPOL_MATCH_CGROUP))
		return "marks and control groups are the kernel's";
	if (m & (SRPOL_MATCH_QP | SRPOL_MATCH_OPCODE | SRPOL_MATCH_PKEY))
		return "queue pairs, opcodes and P_Keys take item ib_bth, which is in DPDK since 23.07";
	if (r->has_mode && r->mode != SRPOL_LB_MODE_HASH)
		return "its mode needs state per flow";
	return NULL;
}

/*
 * Destinations of one IP version that a steering prefix leads. The data plane has IPv4
 * as mapped addresses, which ::/0 covers, too.
 */
static bool cut_version(struct flow *f, const struct endpoint_info *ep, bool v4)
{
	static const struct in6_addr all_v4 = { .s6_addr = { [10] = 0xff, 0xff } };

	f->v4 = v4;
	f->dst = ep->prefix;
	f->dst_len = ep->len;
	if (is_v4(&ep->prefix, ep->len))
		return v4;
	if (!v4)
		return true;
	f->dst = all_v4;
	f->dst_len = 96;
	return srpol_addr_in_prefix(&all_v4, &ep->prefix, ep->len);
}

/*
 * Combines the destinations of rule and steering prefix: the more specific one
 * counts. Returns false if they do not overlap.
 */
static bool intersect(struct flow *f, const struct endpoint_info *ep, bool v4)
{
	const struct rule_info *r = f->rule;
	uint32_t len;

	if (!cut_version(f, ep, v4) ||
	    (r->match & SRPOL_MATCH_SRC && is_v4(&r->src, r->src_len) != v4))
		return false;
	if (!(r->match & SRPOL_MATCH_DST))
		return true;
	if (is_v4(&r->dst, r->dst_len) && !v4)
		return false;
	len = f->dst_len;
	if (r->dst_len <= len)
		return srpol_addr_in_prefix(&f->dst, &r->dst, r->dst_len);
	if (!srpol_addr_in_prefix(&r->dst, &f->dst, len))
		return false;
	f->dst = r->dst;
	f->dst_len = r->dst_len;
	return true;
}

/* Return: whether the prefix leads any destination of the rule of this IP version. */
static bool version_flows(const struct rule_info *rule, const struct endpoint_info *ep,
			  bool v4, const struct all *all)
{
	struct flow f = { .rule = rule };
	const struct policy_info *policy;

	if (!intersect(&f, ep, v4))
		return false;
	f.proto = rule->match & SRPOL_MATCH_PROTO ? rule->proto : 0;
	vec_for_each(policy, &all->policies)
		if (policy->color == rule->color &&
		    !memcmp(&policy->endpoint, &ep->address, sizeof(ep->address)))
			policy_flows(&f, policy, all);
	return true;
}

/*
 * Steering prefixes in order of length, longest first, as only the longest
 * match of a destination counts.
 */
static void steering_flows(const struct rule_info *rule, const struct all *all)
{
	const struct endpoint_info *ep;
	bool any;
	int len;

	for (len = 128; len >= 0; len--) {
		vec_for_each(ep, &all->endpoints) {
			if (ep->len != (uint32_t)len)
				continue;
			any = version_flows(rule, ep, false, all);
			any |= version_flows(rule, ep, true, all);
			priority += any;
		}
	}
}

static void bypass_flow(const struct rule_info *rule)
{
	struct flow f = { .rule = rule };
	bool any = !(rule->match & (SRPOL_MATCH_SRC | SRPOL_MATCH_DST));
	bool dst = rule->match & SRPOL_MATCH_DST;

	f.proto = rule->match & SRPOL_MATCH_PROTO ? rule->proto : 0;
	if (dst) {
		f.dst = rule->dst;
		f.dst_len = rule->dst_len;
	}
	f.v4 = dst ? is_v4(&rule->dst, rule->dst_len) :
	       is_v4(&rule->src, rule->src_len);
	print_flow(&f, -1);
	if (any) {
		f.v4 = true;
		print_flow(&f, -1);
	}
	priority++;
}

static bool leads_to(const struct all *all, const struct policy_info *policy)
{
	const struct endpoint_info *ep;

	vec_for_each(ep, &all->endpoints)
		if (!memcmp(&ep->address, &policy->endpoint, sizeof(ep->address)))
			return true;
	return false;
}

/**
 * export_rte_flow() - print active policies as rules of testpmd
 * @all: the whole configuration
 */
void export_rte_flow(const struct all *all)
{
	const struct policy_info *policy;
	const struct rule_info *rule;
	const char *why;

	n_slots = priority = 0;
	puts("# for DPDK's testpmd: port 0 is the uplink, whose embedded switch encapsulates");
	puts("# as it is now: a path that goes down, or a next hop that changes, changes it");
	puts("# not expressed: outer DSCP and ECN from the packet, flow labels, counters by path,");
	puts("#   Packet Too Big, decapsulation, failover on the next packet");
	puts("# destinations are those of steering prefixes; others, and those for which a rule's");
	puts("#   color has no active policy, are left to later rules: srpol does not try these");
	puts("set raw_decap 0 eth / end_set");
	vec_for_each(policy, &all->policies)
		if (!leads_to(all, policy))
			printf("# color %u endpoint %s left out: no steering prefix leads to it\n",
			       policy->color, addr(&policy->endpoint));
	vec_for_each(rule, &all->rules) {
		why = why_not_rule(rule);
		if (why)
			printf("# rule prio %u left out: %s\n", rule->priority,
			       why);
		else if (rule->action == SRPOL_RULE_ACTION_STEER)
			steering_flows(rule, all);
		else
			bypass_flow(rule);
	}
}
