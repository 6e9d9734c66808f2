/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What srpol is configured to do in the bench, and the packets for it. The
 * maps are filled by the methods of struct srpol_dp_ops, as the module does.
 */
#ifndef _SRPOL_BENCH_PLAN_H
#define _SRPOL_BENCH_PLAN_H

#include <stdbool.h>

#include "rig.h"
#include "bench.h"

#define PLAN_PATHS	4	/* of each policy */
#define PLAN_FRAME	3200	/* bytes of an inner frame */
#define PLAN_BURST	64	/* flows where their number does not matter */

/* QPs of each policy: the rule for it matches these. */
#define PLAN_QPS	(1u << 17)
#define PLAN_QP(policy)	((policy) * PLAN_QPS)

/* So many QPs of the last policy that hardly one comes twice. */
#define PLAN_STRANGERS	(1u << 23)

/* Frames to QPs of the first number have no rule. */
#define PLAN_NO_RULE	0

/**
 * struct plan_policy - a policy of the bench
 * @id: policy, color, row, rule; also the next hop
 * @mode: enum srpol_lb_mode
 * @flags: SRPOL_POLICY_*
 * @flowlet_timeout_ns: flowlet gap
 * @sids: SIDs of each path
 * @usids: compressed SIDs of each path, in the one SID
 * @down: so are all paths but the last
 * @ifindex: uplink
 * @macs: next hop's address and the uplink's, NULL for pkt_link_macs
 */
struct plan_policy {
	__u32 id;
	__u32 mode;
	__u32 flags;
	__u32 flowlet_timeout_ns;
	unsigned int sids;
	unsigned int usids;
	bool down;
	__u32 ifindex;
	const __u8 *macs;
};

/* An empty data plane with the SID that ends plan_frame_srv6(). */
void plan_begin(void);

void plan_policy(const struct plan_policy *p);

/* What tells rules from each other. */
enum plan_field {
	PLAN_BY_QP,
	PLAN_BY_DPORT,
	PLAN_BY_PKEY,
	PLAN_BY_MARK,
	PLAN_BY_DSCP,
	PLAN_BY_SRC,
	PLAN_BY_ANY,		/* one after the other */
};

/*
 * Rules for the policies 1 to @policies, as the last of @rules; those before
 * them match what nobody sends. The last policy has all QPs from its own on.
 */
void plan_rules(unsigned int policies, unsigned int rules,
		enum plan_field field);

/*
 * A frame of PLAN_FRAME bytes from a host, RoCEv2 to @flows QPs from
 * PLAN_QP(@policy) on; with a path of three SIDs around it, reduced, of which
 * @travelled are done and the last is ours; and what it looks like to the
 * harness.
 */
void plan_frame(struct pkt *p, bool six, unsigned int policy);
void plan_frame_srv6(struct pkt *p, bool six, unsigned int travelled);
void plan_renewal(struct bench_frame *f, const struct pkt *p,
		  unsigned int policy, unsigned int flows);

/*
 * A probe of six SIDs that has come back to a SID of its own, and what the
 * prober writes to the maps for it; it is number 0 of segment list 0.
 */
void plan_frame_probe(struct pkt *p);

/* Fill map "templates" of base.bpf.c: what its programs push. */
void plan_templates(int map);

/* Number @i, from 0, of the processors this program may run on, or -1. */
int plan_processor(unsigned int i);

/* On one of them, from here on. */
void plan_pin(void);

/* Say what failed, and why, and end. */
void plan_die(const char *what) __attribute__((noreturn));

/* Order of doubles, for qsort(). */
int plan_by_value(const void *a, const void *b);

#endif /* _SRPOL_BENCH_PLAN_H */
