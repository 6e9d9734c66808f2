// SPDX-License-Identifier: LGPL-2.1
/*
 * The role of a device: what the module knows of it, and the programs on it.
 * The first device loads the data plane, the last one unloads it. The caller
 * holds the lock of the pins.
 */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <time.h>

#include "objects.h"

#define RELEASE_TIMEOUT_MS	5000

static int request(struct srpol_genl *g, uint8_t cmd, unsigned int flags,
		   const struct wanted_dev *dev, struct srpol_error *err)
{
	struct srpol_msg msg;

	srpol_msg_start(g, &msg, cmd, flags);
	srpol_msg_put_u32(&msg, SRPOL_A_DEV_IFINDEX, dev->ifindex);
	if (cmd == SRPOL_CMD_DEV_NEW) {
		srpol_msg_put_u32(&msg, SRPOL_A_DEV_ROLE, dev->role);
		srpol_msg_put_u32(&msg, SRPOL_A_DEV_XDP_MODE, dev->xdp);
		srpol_msg_put_u32(&msg, SRPOL_A_DEV_SOURCE, dev->source);
	}
	return srpol_genl_talk(g, msg.nlh, NULL, NULL, err);
}

static bool module_sees_data_plane(struct srpol_genl *g)
{
	struct config_info config;

	return !srpol_fetch_config(g, &config, NULL) && config.data_plane[0];
}

/* The kernel frees what was pinned a moment later: wait for that. */
static void wait_released(struct srpol_genl *g)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	int i;

	for (i = 0; i < RELEASE_TIMEOUT_MS && module_sees_data_plane(g); i++)
		nanosleep(&ms, NULL);
}

/* Remove the data plane once no device uses it. */
static int release_data_plane(struct srpol_genl *g, struct srpol_error *err)
{
	int ret;

	if (srpol_dp_any_attached())
		return 0;
	ret = srpol_dp_unload(err);
	if (!ret)
		wait_released(g);
	return ret;
}

/* The pinned data plane is of use only if the module writes to it. */
static int check_registered(struct srpol_genl *g, struct srpol_error *err)
{
	if (module_sees_data_plane(g))
		return 0;
	return srpol_error_set(err, -ESTALE,
			       "the pinned data plane is not registered with the module; remove its folder below "
			       SRPOL_PIN_ROOT " (srpol doctor names it)");
}

/*
 * It is known which sources a port may have if it is a virtual one with
 * addresses, or if there is a route back by it.
 */
static uint32_t choose_source(const struct wanted_dev *dev)
{
	struct srpol_host_port h;
	bool known = false;

	if (dev->role == SRPOL_DEV_ROLE_HOST)
		known = !srpol_host_read(dev->ifindex, &h) && h.n_addrs;
	else if (dev->role == SRPOL_DEV_ROLE_PORT)
		known = srpol_dev_routed_back(dev->ifindex);
	return known ? SRPOL_SOURCE_CHECK_STRICT : SRPOL_SOURCE_CHECK_NONE;
}

/**
 * srpol_role_find() - find out the role of a device
 * @g: connection
 * @ifindex: the device
 * @found: result, zeroed if the module does not know the device
 */
bool srpol_role_find(struct srpol_genl *g, unsigned int ifindex,
		     struct dev_info *found)
{
	struct vec devs = VEC_INIT(struct dev_info);
	const struct dev_info *dev;

	memset(found, 0, sizeof(*found));
	srpol_fetch(g, SRPOL_CMD_DEV_GET, &devs, NULL);
	vec_for_each(dev, &devs)
		if (dev->ifindex == ifindex)
			*found = *dev;
	vec_free(&devs);
	return found->ifindex;
}

/**
 * srpol_role_is_half() - has a device a role, but not all of its programs
 * @dev: what the module knows of it
 *
 * An attempt that was killed leaves it so, as does whoever removes pins or
 * unmounts the BPF file system. False if it cannot be told.
 */
bool srpol_role_is_half(const struct dev_info *dev)
{
	struct srpol_dev_status st;
	unsigned int peer = 0;

	if (dev->role == SRPOL_DEV_ROLE_HOST)
		peer = srpol_host_peer(dev->ifindex);
	if (srpol_dp_dev_status(peer ?: dev->ifindex, &st))
		return false;
	return !st.tc_ingress || (dev->role == SRPOL_DEV_ROLE_UPLINK &&
				  !(st.ingress && st.egress));
}

/*
 * End what is left of a role, but for the virtual port itself. A data plane
 * that no device uses then is removed: it may be of another version.
 *
 * Return: was there a role without its programs?
 */
static bool drop_half(struct srpol_genl *g, unsigned int ifindex,
		      struct dev_info *was)
{
	struct wanted_dev dev = { .ifindex = ifindex };

	if (!srpol_role_find(g, ifindex, was) || !srpol_role_is_half(was))
		return false;
	request(g, SRPOL_CMD_DEV_DEL, 0, &dev, NULL);
	if (was->role == SRPOL_DEV_ROLE_HOST)
		srpol_dp_detach_host(ifindex, NULL);
	else
		srpol_dp_detach(ifindex, NULL);
	release_data_plane(g, NULL);
	return true;
}

/* Attach the programs of a device that the module takes. */
static int add_role(struct srpol_genl *g, const struct wanted_dev *dev,
		    unsigned int flags, struct srpol_error *err)
{
	int ret;

	/*
	 * the module first, so that nothing is loaded for a request that it
	 * refuses
	 */
	ret = request(g, SRPOL_CMD_DEV_NEW, flags, dev, err);
	if (ret)
		return ret;
	ret = srpol_dp_load(err) ?: srpol_dp_check_layout(err) ?:
	      check_registered(g, err) ?:
	      srpol_dp_attach(dev->ifindex, dev->role, dev->xdp, err);
	if (ret) {
		request(g, SRPOL_CMD_DEV_DEL, 0, dev, NULL);
		release_data_plane(g, NULL);
	}
	return ret;
}

/**
 * srpol_role_add() - give a device a role, and attach its programs
 * @g: connection
 * @wanted: the device, its role and settings
 * @flags: NLM_F_* of the request
 * @err: for the reason
 *
 * A role without its programs counts as none, and is made anew.
 *
 * Return: 0 or a negative errno. Then nothing has changed, except that a role
 * without all of its programs, which the kernel did not attach again, has none
 * of them.
 */
int srpol_role_add(struct srpol_genl *g, const struct wanted_dev *wanted,
		   unsigned int flags, struct srpol_error *err)
{
	struct wanted_dev dev = *wanted, half;
	struct dev_info was;
	bool was_half;
	int ret;

	ret = srpol_dp_can_attach(dev.ifindex, dev.role, dev.xdp, err);
	if (ret)
		return ret;
	was_half = drop_half(g, dev.ifindex, &was);
	if (dev.source == SOURCE_AUTO)
		dev.source = choose_source(&dev);
	if (dev.role == SRPOL_DEV_ROLE_PORT)
		srpol_routes_split(dev.ifindex);
	ret = add_role(g, &dev, flags, err);
	if (!ret || !was_half)
		return ret;
	half = (struct wanted_dev) {
		.ifindex = was.ifindex, .role = was.role,
		.xdp = was.xdp_mode, .source = was.source,
	};
	request(g, SRPOL_CMD_DEV_NEW, NLM_F_CREATE | NLM_F_EXCL, &half, NULL);
	return ret;
}

/* Detach the programs, also those that are left of an interrupted attempt. */
static int detach(unsigned int ifindex, uint32_t role,
		  struct srpol_error *err)
{
	char name[IF_NAMESIZE];
	int ret;

	if (role != SRPOL_DEV_ROLE_HOST && !srpol_host_is_ours(ifindex))
		return srpol_dp_detach(ifindex, err);
	ret = srpol_dp_detach_host(ifindex, err);
	if (!if_indextoname(ifindex, name))
		return ret;
	return srpol_host_remove(name, err) ?: ret;
}

/**
 * srpol_role_del() - detach the programs of a device, and end its role
 * @g: connection
 * @ifindex: the device
 * @err: for the reason
 *
 * Programs are detached even if the module does not know the device.
 *
 * Return: 0, or the first negative errno of these steps.
 */
int srpol_role_del(struct srpol_genl *g, unsigned int ifindex,
		   struct srpol_error *err)
{
	struct wanted_dev dev = { .ifindex = ifindex };
	struct dev_info was;
	int ret, next;

	srpol_role_find(g, ifindex, &was);
	ret = request(g, SRPOL_CMD_DEV_DEL, 0, &dev, err);
	next = detach(ifindex, was.role, ret ? NULL : err);
	ret = ret ?: next;
	next = release_data_plane(g, ret ? NULL : err);
	return ret ?: next;
}
