/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The object under test, loaded without the module: its data-plane methods are
 * called through the test-run programs, packets go through BPF_PROG_TEST_RUN.
 */
#ifndef _SRPOL_TEST_RIG_H
#define _SRPOL_TEST_RIG_H

#include <linux/types.h>
#include <linux/srpol.h>
#include <srpol/dp.h>
#include "srpol_maps.h"

#include "packet.h"

/* Verdicts. */
#define TC_NEXT		(-1)
#define TC_DROP		2
#define TC_REDIRECT	7
#define X_DROP		1
#define X_PASS		2
#define X_REDIRECT	4

struct srpol_bpf;

extern struct srpol_bpf *rig;

/* Load the object; skips the whole program where that is not permitted. */
/*
 * What makes a data plane's keys differ from those of others, to be set before
 * it is opened; the lowest bit is 0.
 */
extern __u64 rig_salt;

/*
 * Does the next data plane work in all namespaces, and not only in the one it is
 * opened in?
 */
extern bool rig_any_netns;

void rig_open(void);

/* The same, but of packet programs only @packet_prog: that is quicker. */
void rig_open_only(const char *packet_prog);

/*
 * Call method @name with @arg of @size bytes as its argument.
 * Return: what the method returned.
 */
int rig_call(const char *name, void *arg, __u32 size);
int rig_call_u32(const char *name, __u32 arg);

/* The same for a method that takes two numbers. */
int rig_call_u32_2(const char *name, __u32 a, __u32 b);

/*
 * Methods, with a failure reported by name unless they return 0. What is staged
 * by those of them that stage is committed at once, without a new epoch, unless
 * rig_hold() says otherwise.
 */
void rig_hold(bool hold);
void rig_commit(bool reclassify);
void rig_revert(__u32 kind, __u32 id);
void rig_reset(void);
void rig_config(struct srpol_dp_config cfg);
void rig_nexthop(__u32 id, __u32 ifindex, __u32 up);
void rig_path(__u32 id, const struct outer *o, __u32 nexthop, __u32 mtu);
void rig_path_state(__u32 id, __u32 up);
void rig_policy(const struct srpol_dp_policy *p);
void rig_endpoint(const char *prefix, __u32 len, const char *endpoint);
void rig_endpoint_hide(const char *prefix, __u32 len);
void rig_endpoint_del(const char *prefix, __u32 len);
void rig_endpoint_revert(const char *prefix, __u32 len);

/* A SID of 128 bits, and one with all there is to say. */
void rig_sid(__u32 id, struct in6_addr sid, __u32 behavior);
void rig_sid_set(const struct srpol_dp_sid *s);
int rig_sid_call(const char *method, const struct srpol_dp_sid *s);

/* A device packets may be redirected to, and one that takes none from XDP. */
void rig_uplink_add(__u32 ifindex);
void rig_uplink_add_tc(__u32 ifindex);
void rig_uplinks_clear(void);

/* XDP may forward what it decapsulates from the one to the other. */
void rig_forward_to(__u32 to);
void rig_forward(__u32 from, __u32 to);

/* Forget what the FIB said. */
void rig_fib_forget(void);

/* Commit, and have all flows classified again. */
void rig_epoch(void);

/* Fill one row with path ids given by @path(bucket, arg). */
void rig_row(__u32 row, __u32 (*path)(__u32 bucket, const void *arg),
	     const void *arg);

/* Fill one row with one path. */
void rig_row_one(__u32 row, __u32 path);

/*
 * Make these the rules in force, in this order: slots are chosen, ids are
 * those given (0: position + 1). The opcode classes and the key are computed
 * the way the module does. Ends with a new epoch.
 */
void rig_rules(const struct srpol_dp_rule *rules, __u32 n);

/* What rig_path() makes of an outer header. */
void rig_path_arg(struct srpol_dp_path *arg, __u32 id, const struct outer *o,
		  __u32 nexthop, __u32 mtu);

/**
 * struct rig_env - what surrounds a packet at egress
 * @mark: packet mark
 * @ifindex: device, 0 for lo
 * @gso_size: segment size of a super-packet
 * @gso_segs: number of segments
 * @came: when it was received, 0: nobody looked at the clock
 * @tstamp: gets the time at which the packet is to leave, 0 at once; may be NULL
 */
struct rig_env {
	__u32 mark;
	__u32 ifindex;
	__u32 gso_size;
	__u32 gso_segs;
	__u64 came;
	__u64 *tstamp;
};

/* Run a frame through a program. Return: verdict; @out may be NULL. */
int rig_egress(const struct pkt *in, struct pkt *out);
int rig_egress_env(const struct pkt *in, struct pkt *out,
		   const struct rig_env *env);
int rig_uplink(const struct pkt *in, struct pkt *out);
int rig_port_xdp(const struct pkt *in, struct pkt *out);
/* 14 linear bytes, as some drivers have it; -1: the kernel cannot test that. */
int rig_port_fragments(const struct pkt *in);
int rig_uplink_fragments(const struct pkt *in, __u32 linear, struct pkt *out);
int rig_port_tc(const struct pkt *in, struct pkt *out,
		const struct rig_env *env);

int rig_uplink_tc(const struct pkt *in, struct pkt *out,
		  const struct rig_env *env);

/* A host port as it is attached: XDP, and at TC what that leaves. */
int rig_port(const struct pkt *in, struct pkt *out);

/* What srpol_egress would do with a frame. */
struct srpol_explain rig_explain(const struct pkt *in,
				 const struct rig_env *env);

/* Sums over all processors. */
__u64 rig_reason(__u32 reason);
struct srpol_counter rig_counter(const char *map, __u32 id);
struct srpol_sid_stats rig_sid_stats(__u32 id);
__u64 rig_error(__u16 kind, __u16 reason, __u32 id);

/* Map the flow table; rig_open() does it. */
void rig_flows_map(void);

/* The flow after @prev in the table, the first one after NULL; NULL: the end. */
const struct srpol_flow *rig_flow_next(const struct srpol_flow *prev);

/* Where it is in the table. */
__u32 rig_flow_number(const struct srpol_flow *flow);

/* Number of flows; @flow gets one of them. */
unsigned int rig_flows(struct srpol_flow *flow);

/* The flow entry of the packet's QP or destination port; false if none. */
bool rig_flow_of(__u32 qp, struct srpol_flow *flow);

/* What else is known of that flow; all 0 if there is none. */
struct srpol_flow_detail rig_detail(__u32 qp);

/* Descriptor of a map. */
int rig_map(const char *name);

/* Start counting reasons anew. */
void rig_mark(void);

/*
 * Check that since rig_mark() exactly these reasons were counted: pairs of
 * reason and count, ended by RIG_END. Marks again. False if not so.
 */
#define RIG_END		(-1)
bool rig_expect(const char *about, ...);

const char *rig_reason_name(__u32 reason);

#endif /* _SRPOL_TEST_RIG_H */
