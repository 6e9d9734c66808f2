/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_CONFIG_H
#define _SRPOL_CONFIG_H

#include "netns.h"

/**
 * struct srpol_prefix_set - prefixes that an address may be in
 * @n: number of prefixes
 * @entry: prefix, its netmask and length
 */
struct srpol_prefix_set {
	u32 n;
	struct {
		struct in6_addr prefix;
		struct in6_addr mask;
		u32 len;
	} entry[SRPOL_SR_DOMAIN_MAX];
};

/**
 * struct srpol_config - settings of the namespace
 * @src: default outer source, :: automatic
 * @hop_limit: outer hop limit
 * @retry_interval_ms: how long a path reported unreachable stays down, 0:
 *	forever
 * @report_from: routers whose reports are accepted
 * @domain_len: prefix lengths of @dp.domain
 * @dp: the part that the data plane needs
 * @rcu: settings are freed after a grace period, as packets read them
 */
struct srpol_config {
	struct in6_addr src;
	u32 hop_limit;
	u32 retry_interval_ms;
	struct srpol_prefix_set report_from;
	u8 domain_len[SRPOL_SR_DOMAIN_MAX];
	struct srpol_dp_config dp;
	struct rcu_head rcu;
};

extern const struct srpol_obj_ops srpol_config_ops;

void srpol_config_init(struct srpol_net *sn);
void srpol_config_flush(struct srpol_net *sn);
int srpol_config_fill(struct srpol_net *sn, struct sk_buff *skb,
		      const struct srpol_obj *obj);
int srpol_config_set(struct srpol_net *sn, struct genl_info *info);

/*
 * The settings as the requests of the transaction leave them; @sn->lock is
 * held.
 */
static inline const struct srpol_config *
srpol_config(const struct srpol_net *sn)
{
	return srpol_obj_wanted(&sn->config);
}

/* The settings in force; under RCU or @sn->lock. */
static inline const struct srpol_config *
srpol_config_live(const struct srpol_net *sn)
{
	return READ_ONCE(sn->config.cur);
}

#endif /* _SRPOL_CONFIG_H */
