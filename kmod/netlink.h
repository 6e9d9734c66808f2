/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink functions common to all objects. */
#ifndef _SRPOL_NETLINK_H
#define _SRPOL_NETLINK_H

#include <net/genetlink.h>

#include "netlink_gen.h"
#include "netns.h"

extern struct genl_family srpol_nl_family;

enum srpol_verb {
	SRPOL_VERB_NEW,		/* object does not exist: create it */
	SRPOL_VERB_REPLACE,	/* object exists: redefine all of it */
	SRPOL_VERB_CHANGE,	/* object exists: change what is given */
};

int srpol_nl_verb(const struct genl_info *info, bool exists, u32 old_origin,
		  struct nlattr *origin);
int srpol_nl_may_touch(const struct genl_info *info, u32 old_origin,
		       struct nlattr *origin);
int srpol_nl_name(char *to, const struct nlattr *attr,
		  struct netlink_ext_ack *extack);
void srpol_nl_u32(u32 *to, const struct nlattr *attr);
void srpol_nl_u8(u8 *to, const struct nlattr *attr);
u32 srpol_nl_count(const struct nlattr *head, int len, int type);
int srpol_nl_reply(struct srpol_net *sn, struct genl_info *info,
		   srpol_fill_t fill, const struct srpol_obj *obj);
int srpol_nl_dump_one(struct srpol_net *sn, struct sk_buff *skb,
		      struct netlink_callback *cb, srpol_fill_t fill,
		      const struct srpol_obj *obj);
int srpol_nl_dump_xa(struct sk_buff *skb, struct netlink_callback *cb,
		     struct xarray *xa, srpol_fill_t fill);
void srpol_nl_notify(struct srpol_net *sn, const struct genl_info *info,
		     u8 cmd, u32 group, srpol_fill_t fill,
		     const struct srpol_obj *obj);
int srpol_nl_check_unicast(const struct nlattr *attr,
			   struct netlink_ext_ack *extack, const char *what);
bool srpol_nl_prefix_ok(struct in6_addr *prefix, u32 len,
			struct in6_addr *mask);
int srpol_nl_device(struct srpol_net *sn, const struct nlattr *attr,
		    u32 *ifindex, char *name, struct netlink_ext_ack *extack);

#endif /* _SRPOL_NETLINK_H */
