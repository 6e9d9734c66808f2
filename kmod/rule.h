/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_RULE_H
#define _SRPOL_RULE_H

#include "netns.h"

/**
 * struct srpol_rule_cfg - a rule as configured
 * @name: may be empty
 * @origin: who created it
 * @src_len: prefix length of @dp.src, if @dp.match has SRPOL_MATCH_SRC
 * @dst_len: prefix length of @dp.dst, likewise
 * @ifname: name of the device of @dp, if @dp.match has SRPOL_MATCH_DEV
 * @dp: match and result, without id and slot
 */
struct srpol_rule_cfg {
	char name[SRPOL_NAME_MAX + 1];
	char ifname[IFNAMSIZ];
	u32 origin;
	u32 src_len;
	u32 dst_len;
	struct srpol_dp_rule dp;
};

/**
 * struct srpol_rule - a rule
 * @obj: its configuration, struct srpol_rule_cfg
 * @node: in srpol_net.rules, by priority
 * @priority: lower is tried first
 * @id: dense id, index of its counters; its slots are 2 * @id and 2 * @id + 1
 * @slot: slot that has the present configuration in the data plane
 * @moved: a transaction has staged the next configuration in the other slot
 */
struct srpol_rule {
	struct srpol_obj obj;
	struct rb_node node;
	u32 priority;
	u32 id;
	u32 slot;
	bool moved;
};

extern const struct srpol_obj_ops srpol_rule_ops;

/* rule.c */
struct srpol_rule *srpol_rule_find(struct srpol_net *sn, u32 priority);
struct srpol_rule *srpol_rule_next(struct srpol_net *sn, u64 priority);
int srpol_rule_define(struct srpol_net *sn, u32 priority,
		      const struct srpol_rule_cfg *cfg,
		      struct netlink_ext_ack *extack);
int srpol_rule_replay(struct srpol_net *sn);
void srpol_rule_flush(struct srpol_net *sn);

/* rule_nl.c */
int srpol_rule_fill(struct srpol_net *sn, struct sk_buff *skb,
		    const struct srpol_obj *obj);
int srpol_rule_new(struct srpol_net *sn, struct genl_info *info);
int srpol_rule_del(struct srpol_net *sn, struct genl_info *info);

/* rule_parse.c */
int srpol_rule_parse(struct srpol_net *sn, struct srpol_rule_cfg *cfg,
		     bool change, const struct genl_info *info);

static inline struct srpol_rule *srpol_rule(const struct srpol_obj *obj)
{
	return container_of(obj, struct srpol_rule, obj);
}

/* The configuration as the requests of the present transaction leave it. */
static inline const struct srpol_rule_cfg *
srpol_rule_cfg(const struct srpol_rule *rule)
{
	return srpol_obj_wanted(&rule->obj);
}

#endif /* _SRPOL_RULE_H */
