/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_ENDPOINT_H
#define _SRPOL_ENDPOINT_H

#include "netns.h"

/**
 * struct srpol_endpoint_cfg - a steering prefix as configured
 * @address: RFC 9256 endpoint
 * @origin: who created it
 */
struct srpol_endpoint_cfg {
	struct in6_addr address;
	u32 origin;
};

/**
 * struct srpol_endpoint_key - what identifies a steering prefix
 * @prefix: v4-mapped for IPv4
 * @len: its length, IPv4 as 96 + length
 */
struct srpol_endpoint_key {
	struct in6_addr prefix;
	u32 len;
};

/**
 * struct srpol_endpoint - a steering prefix
 * @obj: its configuration, struct srpol_endpoint_cfg
 * @id: its number, for dumps
 * @key: the prefix
 * @node: in srpol_net.endpoint_keys
 * @gp: grace period that begins with its last change
 */
struct srpol_endpoint {
	struct srpol_obj obj;
	u32 id;
	struct srpol_endpoint_key key;
	struct rhash_head node;
	unsigned long gp;
};

extern const struct srpol_obj_ops srpol_endpoint_ops;

/* Tables of a namespace; they are made when it is first configured. */
int srpol_endpoint_init(struct srpol_net *sn);
void srpol_endpoint_exit(struct srpol_net *sn);

/* endpoint.c */
struct srpol_endpoint *
srpol_endpoint_find(struct srpol_net *sn, const struct srpol_endpoint_key *key);
int srpol_endpoint_define(struct srpol_net *sn,
			  const struct srpol_endpoint_key *key,
			  const struct srpol_endpoint_cfg *cfg,
			  struct netlink_ext_ack *extack);
int srpol_endpoint_replay(struct srpol_net *sn);
void srpol_endpoint_flush(struct srpol_net *sn);

/* endpoint_nl.c */
int srpol_endpoint_fill(struct srpol_net *sn, struct sk_buff *skb,
			const struct srpol_obj *obj);
int srpol_endpoint_new(struct srpol_net *sn, struct genl_info *info);
int srpol_endpoint_del(struct srpol_net *sn, struct genl_info *info);

static inline struct srpol_endpoint *
srpol_endpoint(const struct srpol_obj *obj)
{
	return container_of(obj, struct srpol_endpoint, obj);
}

/* The configuration as the requests of the present transaction leave it. */
static inline const struct srpol_endpoint_cfg *
srpol_endpoint_cfg(const struct srpol_endpoint *ep)
{
	return srpol_obj_wanted(&ep->obj);
}

#endif /* _SRPOL_ENDPOINT_H */
