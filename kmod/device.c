// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that srpol is attached to. User space attaches the programs; the
 * module knows the device, so that everyone can see it, and so that the data
 * plane and the ICMP receiver can tell an uplink from other devices.
 */
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "dataplane.h"
#include "device.h"
#include "netlink.h"

/* A mark, so that srpol_dev_is_uplink() needs no lock. */
#define SRPOL_DEV_UPLINK	XA_MARK_1

/* The device has disappeared; the work removes its object. */
#define SRPOL_DEV_GONE		XA_MARK_2

/**
 * srpol_dev_is_uplink() - is a device an uplink, by which SR traffic may come
 * in
 * @sn: namespace
 * @ifindex: device
 *
 * Any context.
 */
bool srpol_dev_is_uplink(struct srpol_net *sn, int ifindex)
{
	return xa_get_mark(&sn->devs, ifindex, SRPOL_DEV_UPLINK);
}

static int srpol_dev_fill(struct srpol_net *sn, struct sk_buff *skb,
			  const struct srpol_obj *obj)
{
	const struct srpol_dev *sdev = container_of(obj, struct srpol_dev,
						    obj);
	struct net_device *dev;
	u32 running = 0, mtu = 0;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(sn->net, sdev->ifindex);
	if (dev) {
		running = netif_running(dev) && netif_carrier_ok(dev);
		mtu = READ_ONCE(dev->mtu);
	}
	rcu_read_unlock();
	if (nla_put_u32(skb, SRPOL_A_DEV_IFINDEX, sdev->ifindex) ||
	    nla_put_u32(skb, SRPOL_A_DEV_ROLE, sdev->role) ||
	    nla_put_u32(skb, SRPOL_A_DEV_XDP_MODE, sdev->xdp_mode) ||
	    nla_put_u32(skb, SRPOL_A_DEV_HOOK, sdev->hook) ||
	    nla_put_u32(skb, SRPOL_A_DEV_SOURCE, sdev->source) ||
	    nla_put_u32(skb, SRPOL_A_DEV_RUNNING, running) ||
	    nla_put_u32(skb, SRPOL_A_DEV_MTU, mtu))
		return -EMSGSIZE;
	return 0;
}

/* Mark and count an uplink, or undo that; other devices are ignored. */
static void srpol_dev_mark(struct srpol_net *sn, const struct srpol_dev *sdev,
			   bool is)
{
	if (sdev->role != SRPOL_DEV_ROLE_UPLINK)
		return;
	if (is)
		xa_set_mark(&sn->devs, sdev->ifindex, SRPOL_DEV_UPLINK);
	else
		xa_clear_mark(&sn->devs, sdev->ifindex, SRPOL_DEV_UPLINK);
	sn->n_uplinks += is ? 1 : -1;
}

static void srpol_dev_remove(struct srpol_net *sn, struct srpol_dev *sdev)
{
	srpol_dp_call(sn, dev_del, sdev->ifindex);
	srpol_dev_mark(sn, sdev, false);
	xa_erase(&sn->devs, sdev->ifindex);
	sn->n_devs--;
	kfree(sdev);
}

/**
 * srpol_dev_remove_gone() - remove the objects of devices that have disappeared
 * @sn: namespace, locked
 */
void srpol_dev_remove_gone(struct srpol_net *sn)
{
	struct srpol_dev *sdev;
	unsigned long ifindex;

	lockdep_assert_held(&sn->lock);
	if (!test_and_clear_bit(SRPOL_NET_DEVS_GONE, &sn->flags))
		return;
	xa_for_each_marked(&sn->devs, ifindex, sdev, SRPOL_DEV_GONE) {
		srpol_nl_notify(sn, NULL, SRPOL_CMD_DEV_DEL_NTF,
				SRPOL_NLGRP_CONFIG, srpol_dev_fill,
				&sdev->obj);
		srpol_dev_remove(sn, sdev);
	}
}

static struct srpol_dev *srpol_dev_from_attr(struct srpol_net *sn,
					     struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_DEV_IFINDEX];
	struct srpol_dev *sdev;

	if (!attr) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_DEV_IFINDEX);
		return ERR_PTR(-EINVAL);
	}
	srpol_dev_remove_gone(sn);
	sdev = xa_load(&sn->devs, nla_get_u32(attr));
	if (sdev)
		return sdev;
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "srpol is not attached to this device");
	return ERR_PTR(-ENOENT);
}

int srpol_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_dev *sdev;
	int err;

	mutex_lock(&sn->lock);
	sdev = srpol_dev_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(sdev);
	if (!err)
		err = srpol_nl_reply(sn, info, srpol_dev_fill, &sdev->obj);
	mutex_unlock(&sn->lock);
	return err;
}

int srpol_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct srpol_net *sn = srpol_net(sock_net(skb->sk));

	mutex_lock(&sn->lock);
	srpol_dev_remove_gone(sn);
	mutex_unlock(&sn->lock);
	return srpol_nl_dump_xa(skb, cb, &sn->devs, srpol_dev_fill);
}

/* The device by which packets of a port come in, 0 if it is no port. */
static u32 srpol_dev_port(struct srpol_net *sn, const struct srpol_dev *sdev)
{
	struct net_device *dev;
	u32 port = 0;

	if (sdev->role == SRPOL_DEV_ROLE_PORT)
		return sdev->ifindex;
	if (sdev->role != SRPOL_DEV_ROLE_HOST)
		return 0;
	rcu_read_lock();
	dev = dev_get_by_index_rcu(sn->net, sdev->ifindex);
	if (dev)
		port = dev_get_iflink(dev);
	rcu_read_unlock();
	return port;
}

static int srpol_dev_push(struct srpol_net *sn, const struct srpol_dev *sdev,
			  struct netlink_ext_ack *extack)
{
	const struct srpol_dp_dev dp = {
		.ifindex = sdev->ifindex,
		.role = sdev->role,
		.port = srpol_dev_port(sn, sdev),
		.source = sdev->source,
	};
	int err = srpol_dp_call(sn, dev_set, &dp);

	return err ? srpol_dp_err(err, "device", sn->limits.devs,
				  extack) : 0;
}

static int srpol_dev_parse(struct srpol_net *sn, struct srpol_dev *sdev,
			   const struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	/*
	 * a request that changes only the role may conflict with the old source
	 * check
	 */
	const struct nlattr *why = tb[SRPOL_A_DEV_SOURCE] ?:
				   tb[SRPOL_A_DEV_ROLE];
	struct net_device *dev;
	bool ether;

	if (tb[SRPOL_A_DEV_ROLE])
		sdev->role = nla_get_u32(tb[SRPOL_A_DEV_ROLE]);
	if (tb[SRPOL_A_DEV_XDP_MODE])
		sdev->xdp_mode = nla_get_u32(tb[SRPOL_A_DEV_XDP_MODE]);
	if (tb[SRPOL_A_DEV_HOOK])
		sdev->hook = nla_get_u32(tb[SRPOL_A_DEV_HOOK]);
	if (tb[SRPOL_A_DEV_SOURCE])
		sdev->source = nla_get_u32(tb[SRPOL_A_DEV_SOURCE]);
	if (sdev->source && sdev->role == SRPOL_DEV_ROLE_UPLINK) {
		NL_SET_ERR_MSG_ATTR(info->extack, why,
				    "sources are checked at ports only: source none");
		return -EINVAL;
	}
	if (sdev->source == SRPOL_SOURCE_CHECK_LOOSE &&
	    sdev->role == SRPOL_DEV_ROLE_HOST) {
		NL_SET_ERR_MSG_ATTR(info->extack, why,
				    "a virtual port has no loose check");
		return -EINVAL;
	}
	if (!sdev->role) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_DEV_ROLE);
		return -EINVAL;
	}
	dev = dev_get_by_index(sn->net, sdev->ifindex);
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[SRPOL_A_DEV_IFINDEX],
				    "no such device");
		return -ENODEV;
	}
	ether = dev->type == ARPHRD_ETHER;
	dev_put(dev);
	if (ether)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, tb[SRPOL_A_DEV_IFINDEX],
			    "not an Ethernet device");
	return -EOPNOTSUPP;
}

static int srpol_dev_insert(struct srpol_net *sn, const struct srpol_dev *new,
			    struct srpol_dev **out,
			    struct netlink_ext_ack *extack)
{
	struct srpol_dev *sdev;
	int err;

	if (sn->n_devs >= sn->limits.devs)
		return srpol_dp_err(-ENOSPC, "device", sn->limits.devs,
				    extack);
	sdev = kmemdup(new, sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!sdev)
		return -ENOMEM;
	err = xa_insert(&sn->devs, sdev->ifindex, sdev, GFP_KERNEL_ACCOUNT);
	if (err) {
		kfree(sdev);
		return err;
	}
	err = srpol_dev_push(sn, sdev, extack);
	if (err) {
		xa_erase(&sn->devs, sdev->ifindex);
		kfree(sdev);
		return err;
	}
	sn->n_devs++;
	srpol_dev_mark(sn, sdev, true);
	*out = sdev;
	return 0;
}

/**
 * srpol_dev_mark_gone() - a device disappears
 * @sn: namespace, not locked
 * @ifindex: the device
 *
 * Return: true if srpol was attached to it, so that the work has something to
 * do.
 */
bool srpol_dev_mark_gone(struct srpol_net *sn, int ifindex)
{
	if (!xa_load(&sn->devs, ifindex))
		return false;
	xa_clear_mark(&sn->devs, ifindex, SRPOL_DEV_UPLINK);
	xa_set_mark(&sn->devs, ifindex, SRPOL_DEV_GONE);
	set_bit(SRPOL_NET_DEVS_GONE, &sn->flags);
	return true;
}

/*
 * Mark a device that disappeared while it was configured, before it had an
 * object.
 */
static void srpol_dev_recheck(struct srpol_net *sn, int ifindex)
{
	bool present;

	rcu_read_lock();
	present = dev_get_by_index_rcu(sn->net, ifindex);
	rcu_read_unlock();
	if (!present)
		srpol_dev_mark_gone(sn, ifindex);
}

static int srpol_dev_new(struct srpol_net *sn, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_DEV_IFINDEX];
	struct srpol_dev *sdev, new = {};
	int verb, err;

	if (!attr) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_DEV_IFINDEX);
		return -EINVAL;
	}
	new.ifindex = nla_get_u32(attr);
	srpol_dev_remove_gone(sn);
	sdev = xa_load(&sn->devs, new.ifindex);
	verb = srpol_nl_verb(info, sdev, 0, NULL);
	if (verb < 0)
		return verb;
	if (verb == SRPOL_VERB_CHANGE)
		new = *sdev;
	err = srpol_dev_parse(sn, &new, info);
	if (err)
		return err;
	if (sdev && !memcmp(sdev, &new, sizeof(new)))
		return 0;
	if (sdev)
		err = srpol_dev_push(sn, &new, info->extack);
	else
		err = srpol_dev_insert(sn, &new, &sdev, info->extack);
	if (err)
		return err;
	if (sdev->role != new.role) {
		srpol_dev_mark(sn, sdev, false);
		srpol_dev_mark(sn, &new, true);
	}
	*sdev = new;
	srpol_dev_recheck(sn, new.ifindex);
	srpol_nl_notify(sn, info, SRPOL_CMD_DEV_NTF, SRPOL_NLGRP_CONFIG,
			srpol_dev_fill, &sdev->obj);
	return 0;
}

int srpol_nl_dev_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	err = srpol_net_start(sn);
	if (err)
		return err;
	mutex_lock(&sn->lock);
	err = srpol_dev_new(sn, info);
	mutex_unlock(&sn->lock);
	return err;
}

int srpol_nl_dev_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_dev *sdev;
	int err;

	mutex_lock(&sn->lock);
	sdev = srpol_dev_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(sdev);
	if (!err) {
		srpol_nl_notify(sn, info, SRPOL_CMD_DEV_DEL_NTF,
				SRPOL_NLGRP_CONFIG, srpol_dev_fill, &sdev->obj);
		srpol_dev_remove(sn, sdev);
	}
	mutex_unlock(&sn->lock);
	return err;
}

/**
 * srpol_dev_replay() - tell a new data plane about all devices
 * @sn: namespace, locked
 */
int srpol_dev_replay(struct srpol_net *sn)
{
	struct srpol_dev *sdev;
	unsigned long ifindex;
	int err;

	xa_for_each(&sn->devs, ifindex, sdev) {
		err = srpol_dev_push(sn, sdev, NULL);
		if (err)
			return err;
	}
	return 0;
}

/**
 * srpol_dev_flush() - free all devices of a namespace that ends
 * @sn: namespace, locked, without a data plane
 */
void srpol_dev_flush(struct srpol_net *sn)
{
	struct srpol_dev *sdev;
	unsigned long ifindex;

	xa_for_each(&sn->devs, ifindex, sdev)
		srpol_dev_remove(sn, sdev);
	xa_destroy(&sn->devs);
}
