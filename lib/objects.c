// SPDX-License-Identifier: LGPL-2.1
/*
 * Reading the module's objects.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"

#define DUMP_TRIES	16

static uint32_t get_u32(const struct nlattr *attr)
{
	return attr && mnl_attr_get_payload_len(attr) >= sizeof(uint32_t) ?
	       mnl_attr_get_u32(attr) : 0;
}

static uint64_t get_u64(const struct nlattr *attr)
{
	return attr && mnl_attr_get_payload_len(attr) >= sizeof(uint64_t) ?
	       mnl_attr_get_u64(attr) : 0;
}

static uint32_t get_u16(const struct nlattr *attr)
{
	return attr && mnl_attr_get_payload_len(attr) >= sizeof(uint16_t) ?
	       mnl_attr_get_u16(attr) : 0;
}

static uint32_t get_u8(const struct nlattr *attr)
{
	return attr && mnl_attr_get_payload_len(attr) ?
	       mnl_attr_get_u8(attr) : 0;
}

static bool get_bytes(const struct nlattr *attr, void *to, size_t len)
{
	if (!attr || mnl_attr_get_payload_len(attr) < len)
		return false;
	memcpy(to, mnl_attr_get_payload(attr), len);
	return true;
}

static bool get_addr(const struct nlattr *attr, struct in6_addr *to)
{
	return get_bytes(attr, to, sizeof(*to));
}

static void get_string(const struct nlattr *attr, char *to, size_t len)
{
	if (attr)
		snprintf(to, len, "%.*s", (int)mnl_attr_get_payload_len(attr),
			 mnl_attr_get_str(attr));
}

static void read_sid_entry(const struct nlattr *nest, struct path_info *path)
{
	const struct nlattr *tb[SRPOL_A_SID_ENTRY_MAX + 1];

	if (path->n_sids == SRPOL_SIDS_MAX)
		return;
	srpol_nest_attrs(nest, tb, SRPOL_A_SID_ENTRY_MAX);
	if (get_addr(tb[SRPOL_A_SID_ENTRY_SID], &path->sids[path->n_sids]))
		path->n_sids++;
}

static void read_tlv(const struct nlattr *nest, struct path_info *path)
{
	const struct nlattr *tb[SRPOL_A_TLV_MAX + 1], *value;
	struct tlv_info *tlv;

	if (path->n_tlvs == SRPOL_TLVS_MAX)
		return;
	srpol_nest_attrs(nest, tb, SRPOL_A_TLV_MAX);
	tlv = &path->tlvs[path->n_tlvs++];
	tlv->type = get_u8(tb[SRPOL_A_TLV_TYPE]);
	value = tb[SRPOL_A_TLV_VALUE];
	tlv->len = value ? mnl_attr_get_payload_len(value) : 0;
	if (tlv->len > SRPOL_TLV_MAX)
		tlv->len = SRPOL_TLV_MAX;
	get_bytes(value, tlv->value, tlv->len);
}

void read_path(const struct nlmsghdr *nlh, struct path_info *path)
{
	const struct nlattr *tb[SRPOL_A_PATH_MAX + 1], *attr;

	memset(path, 0, sizeof(*path));
	srpol_msg_attrs(nlh, tb, SRPOL_A_PATH_MAX);
	path->id = get_u32(tb[SRPOL_A_PATH_ID]);
	get_string(tb[SRPOL_A_PATH_NAME], path->name, sizeof(path->name));
	path->origin = get_u32(tb[SRPOL_A_PATH_ORIGIN]);
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) == SRPOL_A_PATH_SIDS)
			read_sid_entry(attr, path);
		else if (mnl_attr_get_type(attr) == SRPOL_A_PATH_TLV)
			read_tlv(attr, path);
	}
	path->encap = get_u32(tb[SRPOL_A_PATH_ENCAP]);
	path->has_src = get_addr(tb[SRPOL_A_PATH_SRC], &path->src);
	path->ifindex = get_u32(tb[SRPOL_A_PATH_IFINDEX]);
	get_string(tb[SRPOL_A_PATH_IFNAME], path->ifname,
		   sizeof(path->ifname));
	path->has_via = get_addr(tb[SRPOL_A_PATH_VIA], &path->via);
	path->admin_down = get_u32(tb[SRPOL_A_PATH_ADMIN_DOWN]);
	path->block_len = get_u32(tb[SRPOL_A_PATH_BLOCK_LEN]);
	get_addr(tb[SRPOL_A_PATH_BLOCK], &path->block);
	path->csid_len = get_u32(tb[SRPOL_A_PATH_CSID_LEN]);
	path->timestamp = get_u32(tb[SRPOL_A_PATH_TIMESTAMP]);
	path->state = get_u32(tb[SRPOL_A_PATH_STATE]);
	path->reason = get_u32(tb[SRPOL_A_PATH_REASON]);
	path->owner = get_u32(tb[SRPOL_A_PATH_OWNER]);
	path->verdict_reason = get_u32(tb[SRPOL_A_PATH_VERDICT_REASON]);
	path->out_ifindex = get_u32(tb[SRPOL_A_PATH_OUT_IFINDEX]);
	path->resolved = get_addr(tb[SRPOL_A_PATH_OUT_VIA], &path->out_via);
	path->compiled = get_addr(tb[SRPOL_A_PATH_OUT_SRC], &path->out_src);
	get_bytes(tb[SRPOL_A_PATH_OUT_LLADDR], path->out_lladdr,
		  sizeof(path->out_lladdr));
	path->overhead = get_u32(tb[SRPOL_A_PATH_OVERHEAD]);
	path->mtu = get_u32(tb[SRPOL_A_PATH_MTU]);
	path->users = get_u32(tb[SRPOL_A_PATH_USERS]);
}

static void read_list(const struct nlattr *nest, struct list_info *list)
{
	const struct nlattr *tb[SRPOL_A_SEGMENT_LIST_MAX + 1];

	srpol_nest_attrs(nest, tb, SRPOL_A_SEGMENT_LIST_MAX);
	list->path = get_u32(tb[SRPOL_A_SEGMENT_LIST_PATH]);
	list->weight = get_u32(tb[SRPOL_A_SEGMENT_LIST_WEIGHT]);
	list->state = get_u32(tb[SRPOL_A_SEGMENT_LIST_STATE]);
	list->reason = get_u32(tb[SRPOL_A_SEGMENT_LIST_REASON]);
	list->buckets = get_u32(tb[SRPOL_A_SEGMENT_LIST_BUCKETS]);
}

static void read_candidate(const struct nlattr *nest,
			   struct candidate_info *cand)
{
	const struct nlattr *tb[SRPOL_A_CANDIDATE_MAX + 1], *attr;

	srpol_nest_attrs(nest, tb, SRPOL_A_CANDIDATE_MAX);
	cand->preference = get_u32(tb[SRPOL_A_CANDIDATE_PREFERENCE]);
	cand->protocol_origin =
		get_u32(tb[SRPOL_A_CANDIDATE_PROTOCOL_ORIGIN]);
	cand->asn = get_u32(tb[SRPOL_A_CANDIDATE_ASN]);
	get_addr(tb[SRPOL_A_CANDIDATE_NODE], &cand->node);
	cand->discriminator = get_u32(tb[SRPOL_A_CANDIDATE_DISCRIMINATOR]);
	get_string(tb[SRPOL_A_CANDIDATE_NAME], cand->name,
		   sizeof(cand->name));
	cand->active = tb[SRPOL_A_CANDIDATE_ACTIVE];
	cand->state = get_u32(tb[SRPOL_A_CANDIDATE_STATE]);
	cand->reason = get_u32(tb[SRPOL_A_CANDIDATE_REASON]);
	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) == SRPOL_A_CANDIDATE_SEGMENT_LIST &&
		    cand->n_lists < SRPOL_LISTS_MAX)
			read_list(attr, &cand->lists[cand->n_lists++]);
}

void read_policy(const struct nlmsghdr *nlh, struct policy_info *policy)
{
	const struct nlattr *tb[SRPOL_A_POLICY_MAX + 1], *attr;

	memset(policy, 0, sizeof(*policy));
	srpol_msg_attrs(nlh, tb, SRPOL_A_POLICY_MAX);
	policy->color = get_u32(tb[SRPOL_A_POLICY_COLOR]);
	get_addr(tb[SRPOL_A_POLICY_ENDPOINT], &policy->endpoint);
	get_string(tb[SRPOL_A_POLICY_NAME], policy->name,
		   sizeof(policy->name));
	policy->has_bsid = get_addr(tb[SRPOL_A_POLICY_BSID], &policy->bsid);
	policy->origin = get_u32(tb[SRPOL_A_POLICY_ORIGIN]);
	policy->mode = get_u32(tb[SRPOL_A_POLICY_MODE]);
	policy->symmetric = get_u32(tb[SRPOL_A_POLICY_SYMMETRIC]);
	policy->spray = get_u32(tb[SRPOL_A_POLICY_SPRAY]);
	policy->flowlet_timeout = get_u32(tb[SRPOL_A_POLICY_FLOWLET_TIMEOUT]);
	policy->threshold = get_u32(tb[SRPOL_A_POLICY_THRESHOLD]);
	policy->dwell_time = get_u32(tb[SRPOL_A_POLICY_DWELL_TIME]);
	policy->wait_to_restore = get_u32(tb[SRPOL_A_POLICY_WAIT_TO_RESTORE]);
	policy->buckets = get_u32(tb[SRPOL_A_POLICY_BUCKETS]);
	policy->backup_color = get_u32(tb[SRPOL_A_POLICY_BACKUP_COLOR]);
	policy->drop_upon_invalid =
		get_u32(tb[SRPOL_A_POLICY_DROP_UPON_INVALID]);
	policy->id = get_u32(tb[SRPOL_A_POLICY_ID]);
	policy->state = get_u32(tb[SRPOL_A_POLICY_STATE]);
	policy->reason = get_u32(tb[SRPOL_A_POLICY_REASON]);
	policy->revision = get_u32(tb[SRPOL_A_POLICY_REVISION]);
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == SRPOL_A_POLICY_CANDIDATE &&
		    policy->n_candidates < SRPOL_CANDIDATES_MAX)
			read_candidate(attr, &policy->candidates[
				       policy->n_candidates++]);
}

static void read_range_of(const struct nlattr *lo, const struct nlattr *hi,
			  uint32_t (*get)(const struct nlattr *attr),
			  uint32_t *range, uint32_t bit, uint32_t *match)
{
	if (!lo)
		return;
	range[0] = get(lo);
	range[1] = get(hi);
	*match |= bit;
}

void read_rule(const struct nlmsghdr *nlh, struct rule_info *rule)
{
	const struct nlattr *tb[SRPOL_A_RULE_MAX + 1], *attr;

	memset(rule, 0, sizeof(*rule));
	srpol_msg_attrs(nlh, tb, SRPOL_A_RULE_MAX);
	rule->priority = get_u32(tb[SRPOL_A_RULE_PRIORITY]);
	get_string(tb[SRPOL_A_RULE_NAME], rule->name, sizeof(rule->name));
	rule->origin = get_u32(tb[SRPOL_A_RULE_ORIGIN]);
	rule->action = get_u32(tb[SRPOL_A_RULE_ACTION]);
	rule->color = get_u32(tb[SRPOL_A_RULE_COLOR]);
	rule->ifindex = get_u32(tb[SRPOL_A_RULE_IFINDEX]);
	get_string(tb[SRPOL_A_RULE_IFNAME], rule->ifname,
		   sizeof(rule->ifname));
	rule->mark = get_u32(tb[SRPOL_A_RULE_MARK]);
	rule->mark_mask = get_u32(tb[SRPOL_A_RULE_MARK_MASK]);
	get_addr(tb[SRPOL_A_RULE_SRC], &rule->src);
	rule->src_len = get_u32(tb[SRPOL_A_RULE_SRC_LEN]);
	get_addr(tb[SRPOL_A_RULE_DST], &rule->dst);
	rule->dst_len = get_u32(tb[SRPOL_A_RULE_DST_LEN]);
	rule->proto = get_u8(tb[SRPOL_A_RULE_PROTO]);
	rule->dscp = get_u8(tb[SRPOL_A_RULE_DSCP]);
	rule->pkey = get_u16(tb[SRPOL_A_RULE_PKEY]);
	rule->vlan = get_u16(tb[SRPOL_A_RULE_VLAN]);
	rule->cgroup = get_u64(tb[SRPOL_A_RULE_CGROUP]);
	rule->has_mode = tb[SRPOL_A_RULE_MODE];
	rule->mode = get_u32(tb[SRPOL_A_RULE_MODE]);
	rule->ordering = get_u32(tb[SRPOL_A_RULE_ORDERING]);
	rule->path = get_u32(tb[SRPOL_A_RULE_PATH]);
	rule->match = (tb[SRPOL_A_RULE_IFINDEX] ? SRPOL_MATCH_DEV : 0) |
		      (tb[SRPOL_A_RULE_MARK] ? SRPOL_MATCH_MARK : 0) |
		      (tb[SRPOL_A_RULE_SRC] ? SRPOL_MATCH_SRC : 0) |
		      (tb[SRPOL_A_RULE_DST] ? SRPOL_MATCH_DST : 0) |
		      (tb[SRPOL_A_RULE_PROTO] ? SRPOL_MATCH_PROTO : 0) |
		      (tb[SRPOL_A_RULE_OPCODE] ? SRPOL_MATCH_OPCODE : 0) |
		      (tb[SRPOL_A_RULE_DSCP] ? SRPOL_MATCH_DSCP : 0) |
		      (tb[SRPOL_A_RULE_PKEY] ? SRPOL_MATCH_PKEY : 0) |
		      (tb[SRPOL_A_RULE_VLAN] ? SRPOL_MATCH_VLAN : 0) |
		      (tb[SRPOL_A_RULE_CGROUP] ? SRPOL_MATCH_CGROUP : 0);
	read_range_of(tb[SRPOL_A_RULE_SPORT_MIN],
		      tb[SRPOL_A_RULE_SPORT_MAX], get_u16, rule->sport,
		      SRPOL_MATCH_SPORT, &rule->match);
	read_range_of(tb[SRPOL_A_RULE_DPORT_MIN],
		      tb[SRPOL_A_RULE_DPORT_MAX], get_u16, rule->dport,
		      SRPOL_MATCH_DPORT, &rule->match);
	read_range_of(tb[SRPOL_A_RULE_QP_MIN], tb[SRPOL_A_RULE_QP_MAX],
		      get_u32, rule->qp, SRPOL_MATCH_QP, &rule->match);
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == SRPOL_A_RULE_OPCODE)
			rule->opcodes[get_u8(attr) / 64] |=
				1ull << get_u8(attr) % 64;
	rule->id = get_u32(tb[SRPOL_A_RULE_ID]);
	rule->reason = get_u32(tb[SRPOL_A_RULE_REASON]);
}

void read_endpoint(const struct nlmsghdr *nlh, struct endpoint_info *ep)
{
	const struct nlattr *tb[SRPOL_A_ENDPOINT_MAX + 1];

	memset(ep, 0, sizeof(*ep));
	srpol_msg_attrs(nlh, tb, SRPOL_A_ENDPOINT_MAX);
	get_addr(tb[SRPOL_A_ENDPOINT_PREFIX], &ep->prefix);
	ep->len = get_u32(tb[SRPOL_A_ENDPOINT_PREFIX_LEN]);
	get_addr(tb[SRPOL_A_ENDPOINT_ADDRESS], &ep->address);
	ep->origin = get_u32(tb[SRPOL_A_ENDPOINT_ORIGIN]);
}

void read_sid(const struct nlmsghdr *nlh, struct sid_info *sid)
{
	const struct nlattr *tb[SRPOL_A_SID_MAX + 1];

	memset(sid, 0, sizeof(*sid));
	srpol_msg_attrs(nlh, tb, SRPOL_A_SID_MAX);
	get_addr(tb[SRPOL_A_SID_SID], &sid->sid);
	sid->behavior = get_u32(tb[SRPOL_A_SID_BEHAVIOR]);
	sid->origin = get_u32(tb[SRPOL_A_SID_ORIGIN]);
	sid->prefix_len = get_u32(tb[SRPOL_A_SID_PREFIX_LEN]);
	sid->block_len = get_u32(tb[SRPOL_A_SID_BLOCK_LEN]);
	sid->ifindex = get_u32(tb[SRPOL_A_SID_IFINDEX]);
	get_string(tb[SRPOL_A_SID_IFNAME], sid->ifname,
		   sizeof(sid->ifname));
	sid->has_via = get_addr(tb[SRPOL_A_SID_VIA], &sid->via);
	sid->id = get_u32(tb[SRPOL_A_SID_ID]);
	sid->state = get_u32(tb[SRPOL_A_SID_STATE]);
	sid->reason = get_u32(tb[SRPOL_A_SID_REASON]);
	sid->color = get_u32(tb[SRPOL_A_SID_COLOR]);
	get_addr(tb[SRPOL_A_SID_ENDPOINT], &sid->endpoint);
	sid->decaps = tb[SRPOL_A_SID_DSCP_MODE];
	sid->dscp_mode = get_u32(tb[SRPOL_A_SID_DSCP_MODE]);
}

void read_devinfo(const struct nlmsghdr *nlh, struct dev_info *dev)
{
	const struct nlattr *tb[SRPOL_A_DEV_MAX + 1];

	memset(dev, 0, sizeof(*dev));
	srpol_msg_attrs(nlh, tb, SRPOL_A_DEV_MAX);
	dev->ifindex = get_u32(tb[SRPOL_A_DEV_IFINDEX]);
	dev->role = get_u32(tb[SRPOL_A_DEV_ROLE]);
	dev->xdp_mode = get_u32(tb[SRPOL_A_DEV_XDP_MODE]);
	dev->source = get_u32(tb[SRPOL_A_DEV_SOURCE]);
	dev->running = get_u32(tb[SRPOL_A_DEV_RUNNING]);
	dev->mtu = get_u32(tb[SRPOL_A_DEV_MTU]);
}

static void read_limits(const struct nlattr *nest, struct limits_info *l)
{
	const struct nlattr *tb[SRPOL_A_LIMITS_MAX + 1];

	if (!nest)
		return;
	srpol_nest_attrs(nest, tb, SRPOL_A_LIMITS_MAX);
	l->paths = get_u32(tb[SRPOL_A_LIMITS_PATHS]);
	l->nexthops = get_u32(tb[SRPOL_A_LIMITS_NEXTHOPS]);
	l->policies = get_u32(tb[SRPOL_A_LIMITS_POLICIES]);
	l->bucket_rows = get_u32(tb[SRPOL_A_LIMITS_BUCKET_ROWS]);
	l->rules = get_u32(tb[SRPOL_A_LIMITS_RULES]);
	l->endpoints = get_u32(tb[SRPOL_A_LIMITS_ENDPOINTS]);
	l->sids = get_u32(tb[SRPOL_A_LIMITS_SIDS]);
	l->devs = get_u32(tb[SRPOL_A_LIMITS_DEVS]);
}

static void read_prefix_entry(const struct nlattr *nest,
			      struct prefix_list *list)
{
	const struct nlattr *tb[SRPOL_A_PREFIX_ENTRY_MAX + 1];

	if (list->n == SRPOL_SR_DOMAIN_MAX)
		return;
	srpol_nest_attrs(nest, tb, SRPOL_A_PREFIX_ENTRY_MAX);
	if (!get_addr(tb[SRPOL_A_PREFIX_ENTRY_PREFIX],
		      &list->entry[list->n].prefix))
		return;
	list->entry[list->n++].len =
		get_u32(tb[SRPOL_A_PREFIX_ENTRY_PREFIX_LEN]);
}

void read_config(const struct nlmsghdr *nlh, struct config_info *config)
{
	const struct nlattr *tb[SRPOL_A_CONFIG_MAX + 1], *attr;

	memset(config, 0, sizeof(*config));
	srpol_msg_attrs(nlh, tb, SRPOL_A_CONFIG_MAX);
	get_addr(tb[SRPOL_A_CONFIG_SRC], &config->src);
	config->hop_limit = get_u32(tb[SRPOL_A_CONFIG_HOP_LIMIT]);
	config->dscp_mode = get_u32(tb[SRPOL_A_CONFIG_DSCP_MODE]);
	config->dscp = get_u32(tb[SRPOL_A_CONFIG_DSCP]);
	config->flow_label = get_u32(tb[SRPOL_A_CONFIG_FLOW_LABEL]);
	config->icmp_errors = get_u32(tb[SRPOL_A_CONFIG_ICMP_ERRORS]);
	config->retry_interval = get_u32(tb[SRPOL_A_CONFIG_RETRY_INTERVAL]);
	config->path_id = get_u32(tb[SRPOL_A_CONFIG_PATH_ID]);
	config->psn_observer = get_u32(tb[SRPOL_A_CONFIG_PSN_OBSERVER]);
	config->remembered_routes =
		get_u32(tb[SRPOL_A_CONFIG_REMEMBERED_ROUTES]);
	config->drop_events = get_u32(tb[SRPOL_A_CONFIG_DROP_EVENTS]);
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) == SRPOL_A_CONFIG_SR_DOMAIN)
			read_prefix_entry(attr, &config->domain);
		else if (mnl_attr_get_type(attr) == SRPOL_A_CONFIG_SR_SOURCE)
			read_prefix_entry(attr, &config->source);
		else if (mnl_attr_get_type(attr) ==
			 SRPOL_A_CONFIG_REPORT_FROM)
			read_prefix_entry(attr, &config->report_from);
	}
	config->generation = get_u32(tb[SRPOL_A_CONFIG_GENERATION]);
	get_string(tb[SRPOL_A_CONFIG_DATA_PLANE], config->data_plane,
		   sizeof(config->data_plane));
	read_limits(tb[SRPOL_A_CONFIG_LIMITS], &config->limits);
	read_limits(tb[SRPOL_A_CONFIG_USED], &config->used);
}

static int add_path(const struct nlmsghdr *nlh, void *vec)
{
	read_path(nlh, vec_add(vec));
	return 0;
}

static int add_policy(const struct nlmsghdr *nlh, void *vec)
{
	read_policy(nlh, vec_add(vec));
	return 0;
}

static int add_rule(const struct nlmsghdr *nlh, void *vec)
{
	read_rule(nlh, vec_add(vec));
	return 0;
}

static int add_endpoint(const struct nlmsghdr *nlh, void *vec)
{
	read_endpoint(nlh, vec_add(vec));
	return 0;
}

static int add_sid(const struct nlmsghdr *nlh, void *vec)
{
	read_sid(nlh, vec_add(vec));
	return 0;
}

static int add_dev(const struct nlmsghdr *nlh, void *vec)
{
	read_devinfo(nlh, vec_add(vec));
	return 0;
}

/**
 * srpol_fetch() - read all objects of a type in a consistent state
 * @g: connection
 * @cmd: SRPOL_CMD_*_GET
 * @vec: result: an array of the struct that belongs to it
 * @err: why not
 */
int srpol_fetch(struct srpol_genl *g, uint8_t cmd, struct vec *vec,
		struct srpol_error *err)
{
	static const srpol_msg_cb adders[] = {
		[SRPOL_CMD_PATH_GET] = add_path,
		[SRPOL_CMD_POLICY_GET] = add_policy,
		[SRPOL_CMD_RULE_GET] = add_rule,
		[SRPOL_CMD_ENDPOINT_GET] = add_endpoint,
		[SRPOL_CMD_SID_GET] = add_sid,
		[SRPOL_CMD_DEV_GET] = add_dev,
	};
	int tries, ret = -EINTR;

	/* read again if they changed meanwhile */
	for (tries = 0; tries < DUMP_TRIES && ret == -EINTR; tries++) {
		vec_free(vec);
		ret = srpol_genl_dump(g, cmd, adders[cmd], vec, err);
	}
	return ret;
}

static int take_config(const struct nlmsghdr *nlh, void *config)
{
	read_config(nlh, config);
	return 0;
}

/**
 * srpol_fetch_config() - read the settings
 * @g: connection
 * @config: result
 * @err: why not
 */
int srpol_fetch_config(struct srpol_genl *g, struct config_info *config,
		       struct srpol_error *err)
{
	struct srpol_msg msg;

	srpol_msg_start(g, &msg, SRPOL_CMD_CONFIG_GET, 0);
	return srpol_genl_talk(g, msg.nlh, take_config, config, err);
}

/**
 * find_path() - find a path by its id
 * @paths: result of fetch_paths()
 * @id: the id
 *
 * Return: the path or NULL.
 */
const struct path_info *find_path(const struct vec *paths, uint32_t id)
{
	const struct path_info *path = paths->data;
	size_t lo = 0, hi = paths->n, mid;

	/* a dump is in order of ids */
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (path[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < paths->n && path[lo].id == id ? &path[lo] : NULL;
}

/**
 * find_policy() - find a policy by its id in the data plane
 * @policies: result of fetch_policies()
 * @id: the id
 *
 * Return: the policy or NULL.
 */
const struct policy_info *find_policy(const struct vec *policies, uint32_t id)
{
	const struct policy_info *policy;

	vec_for_each(policy, policies)
		if (policy->id == id)
			return policy;
	return NULL;
}

/**
 * find_rule() - find a rule by the index of its counters
 * @rules: result of fetch_rules()
 * @id: the index
 *
 * Return: the rule or NULL.
 */
const struct rule_info *find_rule(const struct vec *rules, uint32_t id)
{
	const struct rule_info *rule;

	vec_for_each(rule, rules)
		if (rule->id == id)
			return rule;
	return NULL;
}
