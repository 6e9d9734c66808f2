/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * The module's objects as netlink describes them, read into structs.
 */
#ifndef _SRPOL_OBJECTS_H
#define _SRPOL_OBJECTS_H

#include "srpol_lib.h"
#include "vec.h"

struct tlv_info {
	uint8_t type;
	uint8_t len;
	uint8_t value[SRPOL_TLV_MAX];
};

struct path_info {
	uint32_t id;
	char name[SRPOL_NAME_MAX + 1];
	uint32_t origin;
	uint32_t n_sids;
	struct in6_addr sids[SRPOL_SIDS_MAX];
	uint32_t encap;
	bool has_src;
	bool has_via;
	bool resolved;		/* out_via is there */
	bool compiled;		/* out_src, out_lladdr and mtu are there */
	struct in6_addr src;
	uint32_t ifindex;
	char ifname[IF_NAMESIZE];
	struct in6_addr via;
	bool admin_down;
	uint32_t block_len;	/* 0: plain SIDs */
	struct in6_addr block;
	uint32_t csid_len;
	uint32_t n_tlvs;
	struct tlv_info tlvs[SRPOL_TLVS_MAX];
	bool timestamp;
	uint32_t state;
	uint32_t reason;
	uint32_t owner;		/* of the verdict in force, 0: none or unknown */
	uint32_t verdict_reason;
	uint32_t out_ifindex;
	struct in6_addr out_via;
	uint8_t out_lladdr[6];
	struct in6_addr out_src;
	uint32_t overhead;
	uint32_t mtu;
	uint32_t users;
};

struct list_info {
	uint32_t path;
	uint32_t weight;
	uint32_t state;
	uint32_t reason;
	uint32_t buckets;
};

struct candidate_info {
	uint32_t preference;
	uint32_t protocol_origin;
	uint32_t asn;
	struct in6_addr node;
	uint32_t discriminator;
	char name[SRPOL_NAME_MAX + 1];
	bool active;
	uint32_t state;
	uint32_t reason;
	uint32_t n_lists;
	struct list_info lists[SRPOL_LISTS_MAX];
};

struct policy_info {
	uint32_t color;
	struct in6_addr endpoint;
	char name[SRPOL_NAME_MAX + 1];
	bool has_bsid;
	struct in6_addr bsid;
	uint32_t origin;
	uint32_t mode;
	bool symmetric;
	uint32_t spray;
	uint32_t flowlet_timeout;		/* ns */
	uint32_t threshold;
	uint32_t dwell_time;	/* ms */
	uint32_t wait_to_restore;	/* ms */
	uint32_t buckets;
	uint32_t backup_color;
	uint32_t drop_upon_invalid;
	uint32_t id;
	uint32_t state;
	uint32_t reason;
	uint32_t revision;
	uint32_t n_candidates;
	struct candidate_info candidates[SRPOL_CANDIDATES_MAX];
};

struct rule_info {
	uint32_t priority;
	char name[SRPOL_NAME_MAX + 1];
	uint32_t origin;
	uint32_t action;
	uint32_t color;
	uint32_t match;		/* SRPOL_MATCH_* */
	uint32_t ifindex;
	char ifname[IF_NAMESIZE];
	uint32_t mark;
	uint32_t mark_mask;
	struct in6_addr src;
	uint32_t src_len;
	struct in6_addr dst;
	uint32_t dst_len;
	uint32_t proto;
	uint32_t sport[2];
	uint32_t dport[2];
	uint32_t qp[2];
	uint64_t opcodes[SRPOL_OPCODES / 64];
	uint32_t dscp;
	uint32_t pkey;
	uint32_t vlan;
	uint64_t cgroup;
	bool has_mode;
	uint32_t mode;
	uint32_t ordering;
	uint32_t path;		/* 0: by hash */
	uint32_t id;
	uint32_t reason;
};

struct endpoint_info {
	struct in6_addr prefix;
	uint32_t len;
	struct in6_addr address;
	uint32_t origin;
};

struct sid_info {
	struct in6_addr sid;
	uint32_t behavior;
	uint32_t origin;
	uint32_t prefix_len;
	uint32_t block_len;
	uint32_t ifindex;	/* 0: no adjacency */
	char ifname[IF_NAMESIZE];
	bool has_via;
	struct in6_addr via;
	uint32_t id;
	uint32_t state;
	uint32_t reason;
	uint32_t color;		/* 0: it is no policy's binding SID */
	struct in6_addr endpoint;
	bool decaps;		/* dscp_mode is there */
	uint32_t dscp_mode;
};

struct dev_info {
	uint32_t ifindex;
	uint32_t role;
	uint32_t xdp_mode;
	uint32_t source;
	uint32_t running;
	uint32_t mtu;
};

struct limits_info {
	uint32_t paths;
	uint32_t nexthops;
	uint32_t policies;
	uint32_t bucket_rows;
	uint32_t rules;
	uint32_t endpoints;
	uint32_t sids;
	uint32_t devs;
};

struct prefix_list {
	uint32_t n;
	struct {
		struct in6_addr prefix;
		uint32_t len;
	} entry[SRPOL_SR_DOMAIN_MAX];
};

struct config_info {
	struct in6_addr src;
	uint32_t hop_limit;
	uint32_t dscp_mode;
	uint32_t dscp;
	uint32_t flow_label;
	uint32_t icmp_errors;
	uint32_t retry_interval;
	uint32_t path_id;
	struct prefix_list domain;
	struct prefix_list source;
	struct prefix_list report_from;
	uint32_t psn_observer;
	uint32_t remembered_routes;
	uint32_t drop_events;
	uint32_t generation;
	char data_plane[16];
	struct limits_info limits;
	struct limits_info used;
};

void read_path(const struct nlmsghdr *nlh, struct path_info *path);
void read_policy(const struct nlmsghdr *nlh, struct policy_info *policy);
void read_rule(const struct nlmsghdr *nlh, struct rule_info *rule);
void read_endpoint(const struct nlmsghdr *nlh, struct endpoint_info *ep);
void read_sid(const struct nlmsghdr *nlh, struct sid_info *sid);
void read_devinfo(const struct nlmsghdr *nlh, struct dev_info *dev);
void read_config(const struct nlmsghdr *nlh, struct config_info *config);


const struct path_info *find_path(const struct vec *paths, uint32_t id);
const struct policy_info *find_policy(const struct vec *policies, uint32_t id);
const struct rule_info *find_rule(const struct vec *rules, uint32_t id);

int srpol_fetch(struct srpol_genl *g, uint8_t cmd, struct vec *vec,
		struct srpol_error *err);
int srpol_fetch_config(struct srpol_genl *g, struct config_info *config,
		       struct srpol_error *err);

/* pod.c */

/*
 * Name of a rule that the CNI plugin made for a pod: this prefix and these many
 * digits.
 */
#define SRPOL_POD_RULE		"cni-"
#define SRPOL_POD_DIGITS	26

bool rule_is_pods(const struct rule_info *rule);

/* role.c */

/*
 * Strict if it is known which sources the port may have, else none; see
 * srpol_role_add().
 */
#define SOURCE_AUTO	UINT32_MAX

/**
 * struct wanted_dev - how srpol is to be attached to a device
 * @ifindex: the device
 * @role: enum srpol_dev_role
 * @xdp: enum srpol_xdp_mode
 * @source: enum srpol_source_check, or SOURCE_AUTO
 */
struct wanted_dev {
	unsigned int ifindex;
	uint32_t role;
	uint32_t xdp;
	uint32_t source;
};

bool srpol_role_find(struct srpol_genl *g, unsigned int ifindex,
		     struct dev_info *found);
bool srpol_role_is_half(const struct dev_info *dev);
int srpol_role_add(struct srpol_genl *g, const struct wanted_dev *wanted,
		   unsigned int flags, struct srpol_error *err);
int srpol_role_del(struct srpol_genl *g, unsigned int ifindex,
		   struct srpol_error *err);

#endif /* _SRPOL_OBJECTS_H */
