/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the mock keeps: the tables that packets would see and those that wait
 * for a commit, a test's wishes, and what the module did wrong.
 */
#ifndef _SRPOL_MOCK_STORE_H
#define _SRPOL_MOCK_STORE_H

#ifdef MOCK_SMALL
#define PATHS		16
#define NEXTHOPS	4
#define POLICIES	6
#define ROWS		12
#define RULES		6
#define ENDPOINTS	4
#define SIDS		4
#define DEVS		2
#else
#define PATHS		1024
#define NEXTHOPS	64
#define POLICIES	64
#define ROWS		512
#define RULES		64
#define ENDPOINTS	64
#define SIDS		64
#define DEVS		16
#endif

#define ENOENT		2
#define EINVAL		22
#define ENOSPC		28

/* Methods in the order of struct srpol_dp_ops, from 1. */
enum {
	M_RESET = 1, M_CONFIG_SET, M_NEXTHOP_SET, M_NEXTHOP_DEL, M_PATH_SET,
	M_PATH_STATE, M_PATH_DEL, M_ROW_SET, M_POLICY_SET, M_POLICY_HIDE,
	M_POLICY_DEL, M_RULE_SET, M_RULE_COMMIT, M_ENDPOINT_SET,
	M_ENDPOINT_HIDE, M_ENDPOINT_DEL, M_ENDPOINT_REVERT, M_SID_SET,
	M_SID_HIDE, M_SID_DEL, M_SID_REVERT, M_DEV_SET, M_DEV_DEL, M_REVERT,
	M_COMMIT, M_QUOTE_CHECK, M_COUNT,
};

/* What the module must not do; bits of mock_control.broken. */
enum {
	B_ROW_IN_USE = 1 << 0,		/* row of a live policy written */
	B_SLOT_IN_USE = 1 << 1,		/* slot of a live rule written */
	B_PATH_NEXTHOP = 1 << 2,	/* path over an unknown next hop */
	B_NEXTHOP_IN_USE = 1 << 3,	/* next hop of a usable path removed */
	B_PATH_IN_USE = 1 << 4,		/* path in a live table removed */
	B_ROW_PATH = 1 << 5,		/* bucket of an unknown path */
	B_PATH_STATE = 1 << 6,		/* state of an unknown path */
	B_POLICY_ROW = 1 << 7,		/* policy over a row never written */
	B_UNKNOWN = 1 << 8,		/* removal of what is not there */
	B_SID_ID = 1 << 9,		/* id of another SID in use */
	B_DEAD_NEXTHOP = 1 << 10,	/* path of a removed next hop set up */
	B_NOT_HIDDEN = 1 << 11,		/* removal of what packets still see */
	B_REVERT = 1 << 12,		/* revert of what was not staged */
	B_EMPTY_COMMIT = 1 << 13,	/* commit with nothing staged */
};

/**
 * struct mock_control - a test's wishes, and what it may want to know
 * @fail: method to refuse, 0 none
 * @skip: let so many calls of it pass first
 * @error: with which errno
 * @broken: B_* bits of what the module did against the contract
 * @failed: number of calls refused on request
 * @staged: number of things that were staged and wait for a commit
 * @label: flow label that quoted packets have, 0: any
 * @calls: number of calls of each method
 */
struct mock_control {
	__u32 fail;
	__u32 skip;
	__u32 error;
	__u32 broken;
	__u32 failed;
	__u32 staged;
	__u32 label;
	__u32 calls[M_COUNT];
};

struct mock_order {
	__u32 n;
	__u32 key;
	__u8 opclass[SRPOL_OPCODES];
	__u32 slot[RULES];
};

/**
 * struct mock_generation - what a commit counts
 * @commits: number of commits
 * @epoch: number of those that classify flows again
 */
struct mock_generation {
	__u32 commits;
	__u32 epoch;
};

struct mock_policy {
	struct srpol_dp_policy policy;
	__u32 hidden;
};

struct mock_endpoint {
	struct srpol_dp_endpoint ep;
	__u32 hidden;
};

struct mock_sid {
	struct srpol_dp_sid sid;
	__u32 hidden;
};

/**
 * struct mock_single - of what there is only one
 * @config_staged: @config is staged
 * @order_staged: @order is staged
 * @config: settings
 * @order: order of rules
 */
struct mock_single {
	__u32 config_staged;
	__u32 order_staged;
	struct srpol_dp_config config;
	struct mock_order order;
};

struct mock_prefix {
	__u8 prefix[16];
	__u32 len;
};

#define MOCK_MAP(name_, type_, key_, value_, entries_)			\
	struct {							\
		__uint(type, type_);					\
		__uint(max_entries, entries_);				\
		__type(key, key_);					\
		__type(value, value_);					\
		__uint(pinning, LIBBPF_PIN_BY_NAME);			\
	} name_ SEC(".maps")

MOCK_MAP(mock_control, BPF_MAP_TYPE_ARRAY, __u32, struct mock_control, 1);
MOCK_MAP(mock_config, BPF_MAP_TYPE_ARRAY, __u32, struct srpol_dp_config, 1);
MOCK_MAP(mock_generation, BPF_MAP_TYPE_ARRAY, __u32, struct mock_generation,
	 1);
MOCK_MAP(mock_order, BPF_MAP_TYPE_ARRAY, __u32, struct mock_order, 1);
MOCK_MAP(mock_scratch, BPF_MAP_TYPE_ARRAY, __u32, struct srpol_dp_path, 1);
MOCK_MAP(mock_next_single, BPF_MAP_TYPE_ARRAY, __u32, struct mock_single, 1);
MOCK_MAP(mock_next_paths, BPF_MAP_TYPE_HASH, __u32, struct srpol_dp_path,
	 PATHS);
MOCK_MAP(mock_next_policies, BPF_MAP_TYPE_HASH, __u32, struct mock_policy,
	 POLICIES);
MOCK_MAP(mock_next_endpoints, BPF_MAP_TYPE_HASH, struct mock_prefix,
	 struct mock_endpoint, ENDPOINTS);
MOCK_MAP(mock_next_sids, BPF_MAP_TYPE_HASH, __u32, struct mock_sid, SIDS);
MOCK_MAP(mock_nexthops, BPF_MAP_TYPE_HASH, __u32, struct srpol_dp_nexthop,
	 NEXTHOPS);
MOCK_MAP(mock_paths, BPF_MAP_TYPE_HASH, __u32, struct srpol_dp_path, PATHS);
MOCK_MAP(mock_rows, BPF_MAP_TYPE_HASH, __u32, struct srpol_dp_row, ROWS);
MOCK_MAP(mock_policies, BPF_MAP_TYPE_HASH, __u32, struct srpol_dp_policy,
	 POLICIES);
MOCK_MAP(mock_rules, BPF_MAP_TYPE_HASH, __u32, struct srpol_dp_rule,
	 2 * RULES);
MOCK_MAP(mock_endpoints, BPF_MAP_TYPE_HASH, struct mock_prefix,
	 struct srpol_dp_endpoint, ENDPOINTS);
MOCK_MAP(mock_sids, BPF_MAP_TYPE_HASH, __u32, struct srpol_dp_sid, SIDS);
MOCK_MAP(mock_devs, BPF_MAP_TYPE_HASH, __u32, struct srpol_dp_dev, DEVS);

static struct mock_control *control(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&mock_control, &zero);
}

static __always_inline void broken(__u32 what)
{
	struct mock_control *c = control();

	if (c)
		c->broken |= what;
}

/* Count the call; the errno it is to be refused with. */
static __always_inline int called(__u32 method)
{
	struct mock_control *c = control();

	if (!c)
		return -ENOENT;
	c->calls[method]++;
	if (c->fail != method)
		return 0;
	if (c->skip) {
		c->skip--;
		return 0;
	}
	c->failed++;
	return -(int)c->error;
}

/* Something waits for a commit. */
static __always_inline void staged(void)
{
	struct mock_control *c = control();

	if (c)
		c->staged++;
}

static __always_inline struct mock_single *next_single(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&mock_next_single, &zero);
}

#endif /* _SRPOL_MOCK_STORE_H */
