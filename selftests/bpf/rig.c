// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ksyms.h"
#include "ktap.h"
#include "rig.h"
#include "srpol.skel.h"

struct srpol_bpf *rig;

static int cpus;
static __u64 marked[SRPOL_REASON_COUNT];
static __u32 slots;
static bool held;

#define REASON_NAME(nr, name, drop, text) [nr] = #name,
static const char *const reason_names[] = { SRPOL_REASONS(REASON_NAME) };

const char *rig_reason_name(__u32 reason)
{
	return reason_names[reason];
}

__u64 rig_salt;
bool rig_any_netns;

void rig_open(void)
{
	rig_open_only(NULL);
}

/* Cookie of this process's namespace. */
static __u64 own_netns(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	__u64 cookie = 0;
	socklen_t len = sizeof(cookie);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len)) {
		fprintf(stderr, "cookie of the namespace: %m\n");
		exit(1);
	}
	close(fd);
	return cookie;
}

void rig_open_only(const char *packet_prog)
{
	struct bpf_program *prog;
	enum bpf_prog_type type;
	int err;

	if (geteuid())
		ktap_skip_all("needs root");
	cpus = libbpf_num_possible_cpus();
	rig = srpol_bpf__open();
	if (!rig) {
		fprintf(stderr, "can not open the object: %m\n");
		exit(1);
	}
	bpf_map__set_autocreate(rig->maps.srpol_dp, false);
	rig->rodata->srpol_flow_mix[0] ^= rig_salt;
	rig->rodata->srpol_netns = rig_any_netns ? 0 : own_netns();
	srpol_ksyms_lsm_hooks((uint64_t *)rig->rodata->srpol_lsm_hooks);
	bpf_object__for_each_program(prog, rig->obj) {
		type = bpf_program__type(prog);
		if (type == BPF_PROG_TYPE_SYSCALL ||
		    type == BPF_PROG_TYPE_RAW_TRACEPOINT)
			bpf_program__set_autoload(prog, true);
		else if (packet_prog && (type == BPF_PROG_TYPE_XDP ||
					 type == BPF_PROG_TYPE_SCHED_CLS))
			bpf_program__set_autoload(prog,
				!strcmp(bpf_program__name(prog), packet_prog));
	}
	err = srpol_bpf__load(rig);
	if (err) {
		fprintf(stderr, "can not load the object: %s\n",
			strerror(-err));
		exit(1);
	}
	rig_flows_map();
}

int rig_call(const char *name, void *arg, __u32 size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = arg,
		    .ctx_size_in = size);
	struct bpf_program *prog;
	char full[64];
	int err;

	snprintf(full, sizeof(full), "run_%s", name);
	prog = bpf_object__find_program_by_name(rig->obj, full);
	if (!prog) {
		FAIL("no program %s", full);
		return -ENOENT;
	}
	err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
	if (err) {
		FAIL("%s: can not run: %s", full, strerror(-err));
		return err;
	}
	return (int)opts.retval;
}

int rig_call_u32(const char *name, __u32 arg)
{
	return rig_call(name, &arg, sizeof(arg));
}

static void must(const char *name, void *arg, __u32 size)
{
	int err = rig_call(name, arg, size);

	if (err)
		FAIL("%s: %s", name, strerror(-err));
}

int rig_call_u32_2(const char *name, __u32 a, __u32 b)
{
	__u32 arg[2] = { a, b };

	return rig_call(name, arg, sizeof(arg));
}

void rig_hold(bool hold)
{
	held = hold;
}

void rig_commit(bool reclassify)
{
	__u32 arg = reclassify;

	must("commit", &arg, sizeof(arg));
}

/* A method that stages. */
static void stage(const char *name, void *arg, __u32 size)
{
	must(name, arg, size);
	if (!held)
		rig_commit(false);
}

void rig_revert(__u32 kind, __u32 id)
{
	__u32 arg[2] = { kind, id };

	must("revert", arg, sizeof(arg));
}

void rig_epoch(void)
{
	rig_commit(true);
}

void rig_reset(void)
{
	int err = rig_call("reset", NULL, 0);

	if (err)
		FAIL("reset: %s", strerror(-err));
	held = false;
}

void rig_config(struct srpol_dp_config cfg)
{
	stage("config_set", &cfg, sizeof(cfg));
}

void rig_nexthop(__u32 id, __u32 ifindex, __u32 up)
{
	struct srpol_dp_nexthop nh = {
		.id = id, .ifindex = ifindex, .up = up
	};

	must("nexthop_set", &nh, sizeof(nh));
}

void rig_path_arg(struct srpol_dp_path *arg, __u32 id, const struct outer *o,
		  __u32 nexthop, __u32 mtu)
{
	struct pkt p = {};

	memset(arg, 0, sizeof(*arg));
	arg->id = id;
	arg->nexthop = nexthop;
	arg->up = 1;
	arg->mtu = mtu;
	arg->encap_len = outer_len(o);
	arg->nh_off = arg->encap_len > 40 ? 14 + 40 : 14 + 6;
	pkt_add_eth(&p, o->macs ?: pkt_link_macs, 0x86dd);
	pkt_add_outer(&p, o, 0, 0);
	/* What the data plane has to fill in is wrong beforehand. */
	memset(p.b + 14 + 1, 0xee, 5);
	p.b[arg->nh_off] = 0xee;
	memcpy(arg->rewrite, p.b, p.len);
}

void rig_path(__u32 id, const struct outer *o, __u32 nexthop, __u32 mtu)
{
	struct srpol_dp_path arg;

	rig_path_arg(&arg, id, o, nexthop, mtu);
	stage("path_set", &arg, sizeof(arg));
}

void rig_path_state(__u32 id, __u32 up)
{
	__u32 arg[2] = { id, up };

	must("path_state", arg, sizeof(arg));
}

void rig_policy(const struct srpol_dp_policy *p)
{
	struct srpol_dp_policy arg = *p;

	stage("policy_set", &arg, sizeof(arg));
}

/* The kernel wants the context of a raw_tp program in words of 8. */
static void endpoint_method(const char *method, const char *prefix, __u32 len,
			    const char *endpoint)
{
	union {
		struct srpol_dp_endpoint ep;
		__u64 words[5];
	} arg = { .ep.prefix_len = len };
	struct in6_addr a = addr(prefix);

	memcpy(arg.ep.prefix, &a, 16);
	a = addr(endpoint);
	memcpy(arg.ep.endpoint, &a, 16);
	stage(method, &arg, sizeof(arg));
}

void rig_endpoint(const char *prefix, __u32 len, const char *endpoint)
{
	endpoint_method("endpoint_set", prefix, len, endpoint);
}

void rig_endpoint_hide(const char *prefix, __u32 len)
{
	endpoint_method("endpoint_hide", prefix, len, "::");
}

void rig_endpoint_del(const char *prefix, __u32 len)
{
	endpoint_method("endpoint_del", prefix, len, "::");
}

void rig_endpoint_revert(const char *prefix, __u32 len)
{
	endpoint_method("endpoint_revert", prefix, len, "::");
}

int rig_sid_call(const char *method, const struct srpol_dp_sid *s)
{
	struct srpol_dp_sid arg = *s;

	return rig_call(method, &arg, sizeof(arg));
}

void rig_sid_set(const struct srpol_dp_sid *s)
{
	int err = rig_sid_call("sid_set", s);

	if (err)
		FAIL("sid_set: %s", strerror(-err));
	if (!held)
		rig_commit(true);
}

void rig_sid(__u32 id, struct in6_addr sid, __u32 behavior)
{
	struct srpol_dp_sid s = {
		.id = id, .behavior = behavior, .prefix_len = 128,
	};

	memcpy(s.sid, &sid, 16);
	rig_sid_set(&s);
}

void rig_uplink_add_tc(__u32 ifindex)
{
	if (bpf_map_update_elem(rig_map("uplinks"), &ifindex, &ifindex, 0))
		FAIL("uplink %u: %m", ifindex);
}

/* NETDEV_XDP_ACT_* of linux/netdev.h, which Debian 12 does not have. */
#define XDP_ACT_NDO_XMIT	4
#define XDP_ACT_NDO_XMIT_SG	64

/* As lib/devmaps.c has it: does the device take frames, but none in fragments? */
static void rig_linear(__u32 ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);

	if (bpf_xdp_query(ifindex, 0, &opts) ||
	    !(opts.feature_flags & XDP_ACT_NDO_XMIT) ||
	    opts.feature_flags & XDP_ACT_NDO_XMIT_SG)
		return;
	if (bpf_map_update_elem(rig_map("linear_xdp"), &ifindex, &ifindex, 0))
		FAIL("linear %u: %m", ifindex);
}

void rig_uplink_add(__u32 ifindex)
{
	rig_uplink_add_tc(ifindex);
	rig_linear(ifindex);
	if (bpf_map_update_elem(rig_map("uplinks_xdp"), &ifindex, &ifindex, 0))
		FAIL("uplink %u: %m", ifindex);
}

void rig_forward_to(__u32 to)
{
	rig_linear(to);
	if (bpf_map_update_elem(rig_map("forward_to"), &to, &to, 0))
		FAIL("forward to %u: %m", to);
}

void rig_forward(__u32 from, __u32 to)
{
	if (bpf_map_update_elem(rig_map("forward_from"), &from, &from, 0))
		FAIL("forward from %u: %m", from);
	rig_forward_to(to);
}

void rig_fib_forget(void)
{
	int cpus = libbpf_num_possible_cpus();
	struct srpol_fib_entry *zero = calloc(cpus, sizeof(*zero));
	__u32 i;

	for (i = 0; zero && i < SRPOL_FIB_ENTRIES; i++)
		if (bpf_map_update_elem(rig_map("fib_cache"), &i, zero, 0))
			FAIL("fib_cache %u: %m", i);
	free(zero);
}

void rig_uplinks_clear(void)
{
	__u32 key;

	while (!bpf_map_get_next_key(rig_map("uplinks"), NULL, &key)) {
		bpf_map_delete_elem(rig_map("uplinks"), &key);
		bpf_map_delete_elem(rig_map("uplinks_xdp"), &key);
	}
}

int rig_map(const char *name)
{
	return bpf_object__find_map_fd_by_name(rig->obj, name);
}

void rig_row(__u32 row, __u32 (*path)(__u32 bucket, const void *arg),
	     const void *arg)
{
	struct srpol_dp_row r = { .row = row };
	__u32 i;

	for (i = 0; i < SRPOL_ROW_BUCKETS; i++)
		r.path[i] = path(i, arg);
	must("row_set", &r, sizeof(r));
}

static __u32 one_path(__u32 bucket, const void *arg)
{
	(void)bucket;
	return *(const __u32 *)arg;
}

void rig_row_one(__u32 row, __u32 path)
{
	rig_row(row, one_path, &path);
}

static bool same_opcode_rule(const struct srpol_dp_rule *rules, __u32 n,
			      __u32 a, __u32 b)
{
	__u32 i;

	for (i = 0; i < n; i++)
		if (rules[i].match & SRPOL_MATCH_OPCODE &&
		    (rules[i].opcodes[a / 64] >> a % 64 & 1) !=
		    (rules[i].opcodes[b / 64] >> b % 64 & 1))
			return false;
	return true;
}

void rig_rules(const struct srpol_dp_rule *rules, __u32 n)
{
	struct {
		struct srpol_dp_rule_table t;
		__u32 slot[SRPOL_MAX_RULES];
	} arg = { .t.n = n };
	struct srpol_dp_rule rule;
	__u32 i, j, n_class = 0;

	for (i = 0; i < n; i++) {
		rule = rules[i];
		if (!rule.id)
			rule.id = i + 1;
		/* Not a slot of the rules in force, and not in order. */
		slots = slots % (2 * SRPOL_MAX_RULES - 1) + 1;
		rule.slot = slots;
		must("rule_set", &rule, sizeof(rule));
		arg.slot[i] = rule.slot;
		if (rule.match & SRPOL_MATCH_OPCODE)
			arg.t.key |= SRPOL_KEY_OPCODE;
		if (rule.match & SRPOL_MATCH_MARK)
			arg.t.key |= SRPOL_KEY_MARK;
		if (rule.match & SRPOL_MATCH_DSCP)
			arg.t.key |= SRPOL_KEY_DSCP;
		if (rule.match & SRPOL_MATCH_DEV)
			arg.t.key |= SRPOL_KEY_DEV;
		if (rule.match & SRPOL_MATCH_PKEY)
			arg.t.key |= SRPOL_KEY_PKEY;
		if (rule.match & SRPOL_MATCH_VLAN)
			arg.t.key |= SRPOL_KEY_VLAN;
		if (rule.match & SRPOL_MATCH_CGROUP)
			arg.t.key |= SRPOL_KEY_CGROUP;
	}
	for (i = 0; i < SRPOL_OPCODES; i++) {
		for (j = 0; j < i; j++)
			if (same_opcode_rule(rules, n, i, j))
				break;
		arg.t.opclass[i] = j < i ? arg.t.opclass[j] : n_class++;
	}
	must("rule_commit", &arg, sizeof(arg));
	if (!held)
		rig_epoch();
}

static int run_tc(struct bpf_program *prog, const struct pkt *in,
		  struct pkt *out, const struct rig_env *env)
{
	struct __sk_buff ctx = {
		.mark = env->mark,
		.ifindex = env->ifindex,
		.gso_size = env->gso_size,
		.gso_segs = env->gso_segs,
		.tstamp = env->came,
	}, after = {};
	struct pkt scratch;
	int err;

	if (!out)
		out = &scratch;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in->b,
		    .data_size_in = in->len, .data_out = out->b,
		    .data_size_out = sizeof(out->b), .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx), .ctx_out = &after,
		    .ctx_size_out = sizeof(after));
	err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
	if (err)
		FAIL("can not run: %s", strerror(-err));
	if (env->tstamp)
		*env->tstamp = after.tstamp;
	out->len = err ? 0 : opts.data_size_out;
	return (int)opts.retval;
}

int rig_egress_env(const struct pkt *in, struct pkt *out,
		   const struct rig_env *env)
{
	return run_tc(rig->progs.srpol_egress, in, out, env);
}

int rig_egress(const struct pkt *in, struct pkt *out)
{
	const struct rig_env env = {};

	return rig_egress_env(in, out, &env);
}

static int run_xdp(struct bpf_program *prog, const struct pkt *in,
		   struct pkt *out)
{
	struct pkt scratch;
	int err;

	if (!out)
		out = &scratch;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in->b,
		    .data_size_in = in->len, .data_out = out->b,
		    .data_size_out = sizeof(out->b));
	err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
	if (err)
		FAIL("can not run: %s", strerror(-err));
	out->len = err ? 0 : opts.data_size_out;
	return (int)opts.retval;
}

int rig_uplink(const struct pkt *in, struct pkt *out)
{
	return run_xdp(rig->progs.srpol_uplink, in, out);
}

int rig_port_xdp(const struct pkt *in, struct pkt *out)
{
	return run_xdp(rig->progs.srpol_port, in, out);
}

/* -1: this kernel cannot make such a frame. */
static int run_xdp_fragments(struct bpf_program *prog, const struct pkt *in,
			     __u32 linear, struct pkt *out)
{
	struct xdp_md ctx = { .data_end = linear };
	struct pkt scratch;

	if (!out)
		out = &scratch;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = in->b,
		    .data_size_in = in->len, .data_out = out->b,
		    .data_size_out = sizeof(out->b), .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx));
	if (bpf_prog_test_run_opts(bpf_program__fd(prog), &opts))
		return -1;
	out->len = opts.data_size_out;
	return (int)opts.retval;
}

int rig_port_fragments(const struct pkt *in)
{
	return run_xdp_fragments(rig->progs.srpol_port, in, ETH_HLEN, NULL);
}

int rig_uplink_fragments(const struct pkt *in, __u32 linear, struct pkt *out)
{
	return run_xdp_fragments(rig->progs.srpol_uplink, in, linear, out);
}

int rig_port_tc(const struct pkt *in, struct pkt *out,
		const struct rig_env *env)
{
	switch (run_tc(rig->progs.srpol_port_tc, in, out, env)) {
	case TC_NEXT:
		return X_PASS;
	case TC_REDIRECT:
		return X_REDIRECT;
	default:
		return X_DROP;
	}
}

int rig_uplink_tc(const struct pkt *in, struct pkt *out,
		  const struct rig_env *env)
{
	return run_tc(rig->progs.srpol_uplink_tc, in, out, env);
}

int rig_port(const struct pkt *in, struct pkt *out)
{
	const struct rig_env env = {};
	int verdict = rig_port_xdp(in, out);

	return verdict == X_PASS ? rig_port_tc(in, out, &env) : verdict;
}

struct srpol_explain rig_explain(const struct pkt *in,
				 const struct rig_env *env)
{
	struct __sk_buff ctx = {
		.mark = env->mark, .ifindex = env->ifindex,
	};
	struct srpol_explain x = {};
	struct pkt p = *in, out;
	int err;

	/* As link-layer padding the bytes the answer needs do no harm. */
	while (p.len < sizeof(x))
		p.b[p.len++] = 0;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = p.b,
		    .data_size_in = p.len, .data_out = out.b,
		    .data_size_out = sizeof(out.b), .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx));
	err = bpf_prog_test_run_opts(bpf_program__fd(rig->progs.srpol_explain),
				     &opts);
	if (err || opts.retval)
		FAIL("can not explain: %d, %d", err, (int)opts.retval);
	else
		memcpy(&x, out.b, sizeof(x));
	return x;
}

/* Add up @words 64-bit numbers over all processors. */
static void sum_percpu(int map, __u32 key, __u64 *sum, __u32 words)
{
	__u64 values[cpus][words];
	__u32 w;
	int cpu;

	memset(sum, 0, words * sizeof(*sum));
	if (bpf_map_lookup_elem(map, &key, values)) {
		FAIL("no counter %u", key);
		return;
	}
	for (cpu = 0; cpu < cpus; cpu++)
		for (w = 0; w < words; w++)
			sum[w] += values[cpu][w];
}

__u64 rig_reason(__u32 reason)
{
	__u64 n;

	sum_percpu(bpf_map__fd(rig->maps.reasons), reason, &n, 1);
	return n;
}

struct srpol_counter rig_counter(const char *map, __u32 id)
{
	struct srpol_counter c;

	sum_percpu(bpf_object__find_map_fd_by_name(rig->obj, map), id,
		   (__u64 *)&c, sizeof(c) / 8);
	return c;
}

struct srpol_sid_stats rig_sid_stats(__u32 id)
{
	struct srpol_sid_stats s;

	sum_percpu(bpf_map__fd(rig->maps.sid_stats), id, (__u64 *)&s,
		   sizeof(s) / 8);
	return s;
}

__u64 rig_error(__u16 kind, __u16 reason, __u32 id)
{
	struct srpol_error_key key = {
		.kind = kind, .reason = reason, .id = id,
	};
	__u64 values[cpus], sum = 0;
	int cpu;

	if (bpf_map_lookup_elem(bpf_map__fd(rig->maps.errors), &key, values))
		return 0;
	for (cpu = 0; cpu < cpus; cpu++)
		sum += values[cpu];
	return sum;
}

void rig_mark(void)
{
	__u32 i;

	for (i = 0; i < SRPOL_REASON_COUNT; i++)
		marked[i] = rig_reason(i);
}

bool rig_expect(const char *about, ...)
{
	__u64 want[SRPOL_REASON_COUNT] = {};
	bool good = true;
	va_list ap;
	__u64 got;
	int r;
	__u32 i;

	va_start(ap, about);
	for (r = va_arg(ap, int); r != RIG_END; r = va_arg(ap, int))
		want[r] = va_arg(ap, int);
	va_end(ap);
	for (i = 0; i < SRPOL_REASON_COUNT; i++) {
		got = rig_reason(i) - marked[i];
		if (got != want[i]) {
			FAIL("%s: %s counted %llu times, not %llu", about,
			     reason_names[i], got, want[i]);
			good = false;
		}
	}
	rig_mark();
	return good;
}
