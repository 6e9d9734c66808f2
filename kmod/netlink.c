// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink functions common to all objects: the meaning of the request flags,
 * replies, dumps and notifications.
 */
#include <linux/inet.h>
#include <net/ipv6.h>

#include "netlink.h"

/**
 * srpol_nl_verb() - what a -new request wants
 * @info: the request
 * @exists: whether the object exists
 * @old_origin: who created it, if it does
 * @origin: origin attribute of the request, may be NULL
 *
 * Return: enum srpol_verb, or -EEXIST, -ENOENT, or -EPERM for an engine that
 * would change what an operator configured.
 */
int srpol_nl_verb(const struct genl_info *info, bool exists, u32 old_origin,
		  struct nlattr *origin)
{
	u16 flags = info->nlhdr->nlmsg_flags;

	if (!exists) {
		if (flags & NLM_F_CREATE)
			return SRPOL_VERB_NEW;
		NL_SET_ERR_MSG_MOD(info->extack,
				   "object does not exist and NLM_F_CREATE is not set");
		return -ENOENT;
	}
	if ((flags & NLM_F_EXCL) || !(flags & NLM_F_REPLACE)) {
		NL_SET_ERR_MSG_MOD(info->extack, "object exists");
		return -EEXIST;
	}
	return srpol_nl_may_touch(info, old_origin, origin) ?:
	       (flags & NLM_F_CREATE ? SRPOL_VERB_REPLACE :
				       SRPOL_VERB_CHANGE);
}

/**
 * srpol_nl_may_touch() - may an object be altered or deleted
 * @info: the request
 * @old_origin: who created it
 * @origin: origin attribute of the request; NULL: an operator
 *
 * Return: 0, or -EPERM for an engine if an operator configured the object.
 */
int srpol_nl_may_touch(const struct genl_info *info, u32 old_origin,
		       struct nlattr *origin)
{
	if (!origin || nla_get_u32(origin) != SRPOL_ORIGIN_ENGINE ||
	    old_origin != SRPOL_ORIGIN_STATIC)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, origin,
			    "object was configured statically");
	return -EPERM;
}

/**
 * srpol_nl_name() - read an object's name
 * @to: SRPOL_NAME_MAX + 1 bytes
 * @attr: string no longer than SRPOL_NAME_MAX, NULL leaves @to alone
 * @extack: where to say what is wrong with it
 *
 * Return: 0 or -EINVAL.
 */
int srpol_nl_name(char *to, const struct nlattr *attr,
		  struct netlink_ext_ack *extack)
{
	if (!attr)
		return 0;
	if (!srpol_name_valid(nla_data(attr), strnlen(nla_data(attr),
						      nla_len(attr)))) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "a name is printable UTF-8");
		return -EINVAL;
	}
	nla_strscpy(to, attr, SRPOL_NAME_MAX + 1);
	return 0;
}

/**
 * srpol_nl_u32() - read a setting
 * @to: the setting
 * @attr: NULL leaves @to alone
 */
void srpol_nl_u32(u32 *to, const struct nlattr *attr)
{
	if (attr)
		*to = nla_get_u32(attr);
}

/**
 * srpol_nl_u8() - read a setting that has few values
 * @to: the setting
 * @attr: u32 that the netlink policy bounds, NULL leaves @to alone
 */
void srpol_nl_u8(u8 *to, const struct nlattr *attr)
{
	if (attr)
		*to = nla_get_u32(attr);
}

/**
 * srpol_nl_count() - how many attributes of a type there are
 * @head: first attribute
 * @len: bytes of all
 * @type: the type
 */
u32 srpol_nl_count(const struct nlattr *head, int len, int type)
{
	const struct nlattr *attr;
	u32 n = 0;
	int rem;

	nla_for_each_attr_type(attr, type, head, len, rem)
		n++;
	return n;
}

static int srpol_nl_put(struct srpol_net *sn, struct sk_buff *skb,
			u32 portid, u32 seq, u16 flags, u8 cmd,
			struct netlink_callback *cb, srpol_fill_t fill,
			const struct srpol_obj *obj)
{
	void *hdr;
	int err;

	hdr = genlmsg_put(skb, portid, seq, &srpol_nl_family, flags, cmd);
	if (!hdr)
		return -EMSGSIZE;
	if (cb)
		genl_dump_check_consistent(cb, hdr);
	err = fill(sn, skb, obj);
	if (err) {
		genlmsg_cancel(skb, hdr);
		return err;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* Make a message; its size is increased until the object fits. */
static struct sk_buff *srpol_nl_msg(struct srpol_net *sn, u32 portid, u32 seq,
				    u8 cmd, srpol_fill_t fill,
				    const struct srpol_obj *obj, gfp_t gfp)
{
	size_t size = NLMSG_GOODSIZE;
	struct sk_buff *skb;
	int err;

	do {
		skb = genlmsg_new(size, gfp);
		if (!skb)
			return ERR_PTR(-ENOMEM);
		err = srpol_nl_put(sn, skb, portid, seq, 0, cmd, NULL, fill,
				   obj);
		if (!err)
			return skb;
		nlmsg_free(skb);
		size *= 4;
	} while (err == -EMSGSIZE && size <= SZ_256K);
	return ERR_PTR(err);
}

/**
 * srpol_nl_reply() - answer a -get request
 * @sn: namespace
 * @info: the request
 * @fill: writes the attributes of the object
 * @obj: the object
 *
 * Return: 0 or a negative errno.
 */
int srpol_nl_reply(struct srpol_net *sn, struct genl_info *info,
		   srpol_fill_t fill, const struct srpol_obj *obj)
{
	struct sk_buff *skb;

	skb = srpol_nl_msg(sn, info->snd_portid, info->snd_seq,
			   info->genlhdr->cmd, fill, obj, GFP_KERNEL);
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	return genlmsg_reply(skb, info);
}

/**
 * srpol_nl_dump_one() - add an object to a dump
 * @sn: namespace
 * @skb: the dump
 * @cb: the dump, @cb->seq is set
 * @fill: writes the attributes of the object
 * @obj: the object
 *
 * Return: 0 or a negative errno, -EMSGSIZE if the object did not fit.
 */
int srpol_nl_dump_one(struct srpol_net *sn, struct sk_buff *skb,
		      struct netlink_callback *cb, srpol_fill_t fill,
		      const struct srpol_obj *obj)
{
	return srpol_nl_put(sn, skb, NETLINK_CB(cb->skb).portid,
			    cb->nlh->nlmsg_seq, NLM_F_MULTI,
			    genl_info_dump(cb)->genlhdr->cmd, cb, fill, obj);
}

/**
 * srpol_nl_dump_xa() - dump all objects of a table
 * @skb: the dump
 * @cb: the dump; @cb->args[0] is the index to go on with
 * @xa: the table, a member of the namespace's struct srpol_net; its objects
 *	begin with their struct srpol_obj
 * @fill: writes the attributes of an object
 *
 * Return: 0 when done, or a negative errno.
 */
int srpol_nl_dump_xa(struct sk_buff *skb, struct netlink_callback *cb,
		     struct xarray *xa, srpol_fill_t fill)
{
	struct srpol_net *sn = srpol_net(sock_net(cb->skb->sk));
	unsigned long index;
	struct srpol_obj *obj;
	int err = 0;

	mutex_lock(&sn->lock);
	cb->seq = sn->gen;
	xa_for_each_start(xa, index, obj, cb->args[0]) {
		err = srpol_nl_dump_one(sn, skb, cb, fill, obj);
		if (err)
			break;
		cb->args[0] = index + 1;
		cond_resched();
	}
	mutex_unlock(&sn->lock);
	return err;
}

/**
 * srpol_nl_notify() - send a notification to the listeners of a group
 * @sn: namespace
 * @info: the request that caused it, NULL if there is none
 * @cmd: operation number of the notification
 * @group: SRPOL_NLGRP_CONFIG or SRPOL_NLGRP_EVENTS
 * @fill: writes the attributes of the object
 * @obj: the object
 *
 * For group config the change is counted as well, which makes dumps in progress
 * inconsistent. Needs @sn->lock, except for the events group.
 */
void srpol_nl_notify(struct srpol_net *sn, const struct genl_info *info,
		     u8 cmd, u32 group, srpol_fill_t fill, const struct srpol_obj *obj)
{
	gfp_t gfp = GFP_ATOMIC;
	struct sk_buff *skb;

	if (group == SRPOL_NLGRP_CONFIG) {
		lockdep_assert_held(&sn->lock);
		gfp = GFP_KERNEL;
		/* 0 would read as "not a consistent dump" */
		if (!++sn->gen)
			sn->gen = 1;
	}
	if (!genl_has_listeners(&srpol_nl_family, sn->net, group))
		return;
	skb = srpol_nl_msg(sn, info ? info->snd_portid : 0,
			   info ? info->snd_seq : 0, cmd, fill, obj,
			   gfp);
	if (IS_ERR(skb)) {
		genl_set_err(&srpol_nl_family, sn->net, 0, group, -ENOBUFS);
		return;
	}
	genlmsg_multicast_netns(&srpol_nl_family, sn->net, skb, 0, group, gfp);
}

/**
 * srpol_nl_check_unicast() - can an address be a SID, source or next hop
 * @attr: 16-byte address
 * @extack: where to say why not
 * @what: what the address is, for the message
 *
 * Return: 0 or -EINVAL.
 */
int srpol_nl_check_unicast(const struct nlattr *attr,
			   struct netlink_ext_ack *extack, const char *what)
{
	const struct in6_addr *addr = nla_data(attr);

	if (!ipv6_addr_any(addr) && !ipv6_addr_loopback(addr) &&
	    !ipv6_addr_is_multicast(addr) && !ipv6_addr_v4mapped(addr))
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
				"%s is not a unicast IPv6 address", what);
	return -EINVAL;
}

/**
 * srpol_nl_prefix_ok() - are the host bits of a prefix zero
 * @prefix: the prefix
 * @len: its length, 0..128
 * @mask: set to the netmask
 */
bool srpol_nl_prefix_ok(struct in6_addr *prefix, u32 len,
			struct in6_addr *mask)
{
	struct in6_addr ones, masked;

	memset(&ones, 0xff, sizeof(ones));
	ipv6_addr_prefix(mask, &ones, len);
	ipv6_addr_prefix(&masked, prefix, len);
	return ipv6_addr_equal(&masked, prefix);
}

/**
 * srpol_nl_device() - read a device that must exist
 * @sn: namespace
 * @attr: its index
 * @ifindex: set to its index
 * @name: set to its name, IFNAMSIZ bytes, zeros behind it
 * @extack: where to say that there is none
 *
 * Return: 0 or -ENODEV.
 */
int srpol_nl_device(struct srpol_net *sn, const struct nlattr *attr,
		    u32 *ifindex, char *name, struct netlink_ext_ack *extack)
{
	struct net_device *dev;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(sn->net, nla_get_u32(attr));
	if (dev) {
		*ifindex = dev->ifindex;
		strscpy_pad(name, dev->name, IFNAMSIZ);
	}
	rcu_read_unlock();
	if (dev)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "no such device");
	return -ENODEV;
}
