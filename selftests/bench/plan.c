// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <sched.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan.h"

#define ETH_LEN		14
#define OFF_QP		(8 + 4)		/* UDP, then BTH */
#define PROBE_SID	4
#define PROBE_SOURCE	"fd00:a::1"
#define PROBE_LEN	88		/* UDP, with some padding */

static struct in6_addr last_sid;

void plan_begin(void)
{
	last_sid = sid(3);
	rig_reset();
	rig_uplinks_clear();
	rig_sid(3, last_sid, SRPOL_BEHAVIOR_END_DT46);
}

void plan_policy(const struct plan_policy *p)
{
	struct srpol_dp_policy policy = {
		.id = p->id, .color = p->id, .row = p->id,
		.n_buckets = SRPOL_ROW_BUCKETS, .mode = p->mode,
		.threshold = 4, .flowlet_timeout_ns = p->flowlet_timeout_ns, .dwell_time_ms = 50,
		.wait_to_restore_ms = 1000, .flags = SRPOL_POLICY_EVEN | p->flags,
	};
	struct in6_addr sids[SRPOL_SEGS_MAX];
	struct outer o = { .macs = p->macs, .sids = sids, .n = p->sids };
	struct srpol_dp_row row = { .row = p->id };
	unsigned int i;

	for (i = 0; i < p->sids; i++)
		sids[i] = sid(i + 1);
	for (i = 0; i < p->usids; i++) {
		sids[0].s6_addr[4 + 2 * i] = 0;
		sids[0].s6_addr[5 + 2 * i] = i + 1;
	}
	rig_nexthop(p->id, p->ifindex, 1);
	for (i = 0; i < PLAN_PATHS; i++) {
		rig_path(p->id * PLAN_PATHS + i, &o, p->id, 9000);
		if (p->down && i < PLAN_PATHS - 1)
			rig_path_state(p->id * PLAN_PATHS + i, 0);
	}
	for (i = 0; i < SRPOL_ROW_BUCKETS; i++)
		row.path[i] = p->id * PLAN_PATHS +
			      i / (SRPOL_ROW_BUCKETS / PLAN_PATHS);
	rig_call("row_set", &row, sizeof(row));
	rig_policy(&policy);
}

/* Rule @i of those no packet here agrees with, by what @field is. */
static void plan_other(struct srpol_dp_rule *r, enum plan_field field,
		       unsigned int i)
{
	if (field == PLAN_BY_ANY)
		field = i % PLAN_BY_ANY;
	r->match = SRPOL_MATCH_DST;
	memset(r->dst_mask, 0xff, 4);
	memcpy(r->dst, (__u8 []){ 0xfd, 0, 0, 0 }, 4);
	switch (field) {
	case PLAN_BY_QP:
		r->match |= SRPOL_MATCH_QP;
		r->qp[0] = r->qp[1] = PLAN_QPS / 2 + i;
		break;
	case PLAN_BY_DPORT:
		r->match |= SRPOL_MATCH_DPORT;
		r->dport[0] = r->dport[1] = 10000 + i;
		break;
	case PLAN_BY_PKEY:
		r->match |= SRPOL_MATCH_PKEY;
		r->pkey = 1 + i;
		break;
	case PLAN_BY_MARK:
		r->match |= SRPOL_MATCH_MARK;
		r->mark = (1 + i) << 8;
		r->mark_mask = 0xffff00;
		break;
	case PLAN_BY_DSCP:
		r->match |= SRPOL_MATCH_DSCP;
		r->dscp = 1 + i % 63;
		break;
	default:
		/* /64 of senders */
		r->match |= SRPOL_MATCH_SRC;
		memset(r->src_mask, 0xff, 8);
		memcpy(r->src, (__u8 []){ 0xfd, 1, 0, 0, 0, 0, i >> 8, i }, 8);
		break;
	}
}

void plan_rules(unsigned int policies, unsigned int rules,
		enum plan_field field)
{
	struct srpol_dp_rule *r = calloc(rules, sizeof(*r));
	unsigned int i, policy;

	for (i = 0; i < rules; i++) {
		policy = i + policies < rules ? 0 : i + policies + 1 - rules;
		r[i].mode = SRPOL_MODE_INHERIT;
		r[i].ordering = SRPOL_ORDERING_WEAK;
		if (!policy) {
			plan_other(&r[i], field, i);
			continue;
		}
		r[i].color = policy;
		r[i].match = SRPOL_MATCH_QP;
		r[i].qp[0] = PLAN_QP(policy);
		r[i].qp[1] = policy < policies ? r[i].qp[0] + PLAN_QPS - 1 :
			     0xffffff;
	}
	rig_rules(r, rules);
	free(r);
}

void plan_frame(struct pkt *p, bool six, unsigned int policy)
{
	unsigned int ip = six ? 40 : 20;
	struct inner in = {
		.src = six ? "fd00::1" : "10.0.0.1",
		.dst = six ? "fd00::2" : "10.0.0.2",
		.roce = true, .sport = 0xc000, .tclass = 2, .opcode = 7,
		.psn = 1, .qp = PLAN_QP(policy),
		/* UDP, BTH, ICRC */
		.payload = PLAN_FRAME - ETH_LEN - ip - 8 - 12 - 4,
	};

	memset(p, 0, sizeof(*p));
	pkt_inner(p, &in);
	if (p->len != PLAN_FRAME)
		abort();
}

void plan_frame_srv6(struct pkt *p, bool six, unsigned int travelled)
{
	struct in6_addr sids[3] = { sid(1), sid(2), sid(3) };
	struct outer o = { .sids = sids, .n = 3, .tclass = 2,
			   .travelled = travelled };
	struct pkt inner;

	plan_frame(&inner, six, 1);
	memset(p, 0, sizeof(*p));
	pkt_encap(p, &o, inner.b + ETH_LEN, inner.len - ETH_LEN);
}

/* The probe under way, in the maps. */
static void plan_probe(const struct in6_addr *sids, unsigned int n,
		       const struct srpol_probe_key *key, __u64 sent_ns)
{
	struct in6_addr src = addr(PROBE_SOURCE);
	struct srpol_probe probe = {
		.ifindex = 1, .segs = n, .last_seq = SRPOL_PROBE_NEVER,
		.slot[0] = { .sent_ns = sent_ns },
	};
	unsigned int i;
	__u32 zero = 0;

	memcpy(probe.saddr, &src, sizeof(src));
	for (i = 0; i < n; i++)
		memcpy(&probe.list[2 * i], &sids[n - 1 - i], sizeof(*sids));
	if (bpf_map_update_elem(rig_map("probes"), &zero, &probe, 0) ||
	    bpf_map_update_elem(rig_map("probe_key"), &zero, key, 0))
		plan_die("probes");
}

void plan_frame_probe(struct pkt *p)
{
	struct srpol_probe_key key = { .k = { 1, 2 }, .set = 1 };
	struct in6_addr sids[6];
	struct outer o = { .src = PROBE_SOURCE, .sids = sids, .n = 6,
			   .full = true, .travelled = 5, .tclass = 2 };
	const __u64 sent_ns = 1000000000;
	unsigned int i, stamp;
	__u8 tag[8];

	for (i = 0; i < 6; i++)
		sids[i] = sid(0x100 + i);
	rig_sid(PROBE_SID, sids[5], SRPOL_BEHAVIOR_PROBE);
	plan_probe(sids, 6, &key, sent_ns);
	memset(p, 0, sizeof(*p));
	pkt_add_eth(p, pkt_link_macs, 0x86dd);
	pkt_add_outer(p, &o, PROBE_LEN, 17);
	for (i = 0; i < 2; i++)
		pkt_add16(p, SRPOL_STAMP_PORT);
	pkt_add32(p, PROBE_LEN << 16);
	stamp = p->len;
	pkt_add32(p, 0);
	pkt_add32(p, sent_ns / 1000000000);
	pkt_add32(p, sent_ns % 1000000000);
	pkt_add32(p, 0x40010000);
	crypto_shorthash(tag, p->b + stamp, SRPOL_STAMP_SIGNED,
			 (const __u8 *)key.k);
	p->len = stamp + SRPOL_STAMP_LEN;
	pkt_add32(p, SRPOL_STAMP_TLV_TAG << 16 | SRPOL_STAMP_TAG_LEN);
	pkt_add(p, tag, sizeof(tag));
	p->len = stamp - 8 + PROBE_LEN;
}

void plan_renewal(struct bench_frame *f, const struct pkt *p,
		  unsigned int policy, unsigned int flows)
{
	unsigned int at = ETH_LEN;

	memset(f, 0, sizeof(*f));
	f->len = p->len;
	f->flows = flows;
	f->qp = PLAN_QP(policy);
	f->drawn = f->qp;
	f->burst = 1;
	memcpy(f->head, p->b, BENCH_HEAD);
	if (p->b[at] >> 4 == 6 && p->b[at + 6] == 43)
		at += BENCH_ENCAP;
	f->flow_off = at + (p->b[at] >> 4 == 6 ? 40 : 20) + OFF_QP;
}

void plan_templates(int map)
{
	struct in6_addr sids[3] = { sid(1), sid(2), sid(3) };
	struct outer o = { .sids = sids, .n = 3 };
	struct pkt p = {};
	__u32 i;

	pkt_add_eth(&p, pkt_link_macs, 0x86dd);
	pkt_add_outer(&p, &o, 0, 41);
	for (i = 0; i < PLAN_PATHS; i++)
		if (bpf_map_update_elem(map, &i, p.b, 0))
			plan_die("templates");
}

int plan_processor(unsigned int i)
{
	cpu_set_t set;
	int nr;

	if (sched_getaffinity(0, sizeof(set), &set))
		plan_die("sched_getaffinity");
	for (nr = 0; nr < CPU_SETSIZE; nr++)
		if (CPU_ISSET(nr, &set) && !i--)
			return nr;
	return -1;
}

/* The last one: the first has more to do besides. */
void plan_pin(void)
{
	cpu_set_t one;
	unsigned int i;

	for (i = 0; plan_processor(i + 1) >= 0; i++)
		;
	CPU_ZERO(&one);
	CPU_SET(plan_processor(i), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		plan_die("sched_setaffinity");
}

void plan_die(const char *what)
{
	perror(what);
	exit(1);
}

int plan_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}
