// SPDX-License-Identifier: LGPL-2.1
/*
 * The maps of devices that programs at XDP send by: which devices are uplinks,
 * which take frames from XDP, and whose frames may be forwarded. BPF programs
 * cannot write such maps, and nothing tells them when a device changes.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "pins.h"
#include "srpol_lib.h"

/* NETDEV_XDP_ACT_* of linux/netdev.h, which Debian 12 does not have. */
#define XDP_ACT_NDO_XMIT	4
#define XDP_ACT_NDO_XMIT_SG	64

static int set_dev(const char *dir, const char *name, unsigned int ifindex,
		   struct srpol_error *err)
{
	struct bpf_devmap_val value = { .ifindex = ifindex };
	int map = srpol_pins_open(dir, name), ret;

	if (map < 0)
		return srpol_pins_missing(dir, name, map, err);
	ret = bpf_map_update_elem(map, &ifindex, &value, BPF_ANY);
	close(map);
	return ret ? srpol_error_set(err, ret, "%s/%s: %s", dir, name,
				     strerror(-ret)) : 0;
}

static void clear_dev(const char *dir, const char *name, unsigned int ifindex)
{
	int map = srpol_pins_open(dir, name);

	if (map < 0)
		return;
	bpf_map_delete_elem(map, &ifindex);
	close(map);
}

/**
 * srpol_devmaps_forget() - remove a device from all maps of devices
 * @dir: folder of pins
 * @ifindex: the device
 */
void srpol_devmaps_forget(const char *dir, unsigned int ifindex)
{
	clear_dev(dir, "uplinks_xdp", ifindex);
	clear_dev(dir, "uplinks", ifindex);
	clear_dev(dir, "forward_to", ifindex);
	clear_dev(dir, "forward_from", ifindex);
	clear_dev(dir, "linear_xdp", ifindex);
}

/* NETDEV_XDP_ACT_* that a device has now */
static uint64_t xdp_features(unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);

	return bpf_xdp_query(ifindex, 0, &opts) ? 0 : opts.feature_flags;
}

/**
 * srpol_dev_takes_frames() - does a device take frames from native XDP?
 * @ifindex: the device
 *
 * A veth does while its peer has NAPI, a VLAN device never does.
 */
bool srpol_dev_takes_frames(unsigned int ifindex)
{
	return xdp_features(ifindex) & XDP_ACT_NDO_XMIT;
}

/*
 * Some of these, such as taps, take no frame whose end is in fragments. A data plane
 * that an older srpol has loaded does not ask.
 */
static int set_linear(const char *dir, unsigned int ifindex,
		      struct srpol_error *err)
{
	uint64_t features = xdp_features(ifindex);

	if (features & XDP_ACT_NDO_XMIT && !(features & XDP_ACT_NDO_XMIT_SG) &&
	    srpol_pins_exist(dir, "linear_xdp") == 1)
		return set_dev(dir, "linear_xdp", ifindex, err);
	clear_dev(dir, "linear_xdp", ifindex);
	return 0;
}

/*
 * Set the uplinks that take frames from the XDP of host ports; packets for
 * others are left to TC. All uplinks are asked again for each device that is
 * added, since the answer may have changed: a frame for an uplink that takes
 * none is lost.
 */
static int set_uplinks_xdp(const char *dir, struct srpol_error *err)
{
	int map = srpol_pins_open(dir, "uplinks");
	uint32_t ifindex, *prev = NULL;
	int ret = srpol_pins_exist(dir, "uplinks_xdp");

	/* an older XDP program sends by all of them, whether they take it or not */
	ret = ret == 1 ? 0 : srpol_pins_missing(dir, "uplinks_xdp",
						ret ?: -ENOENT, err);
	while (map >= 0 && !ret && !bpf_map_get_next_key(map, prev, &ifindex)) {
		prev = &ifindex;
		if (srpol_dev_takes_frames(ifindex))
			ret = set_linear(dir, ifindex, err) ?:
			      set_dev(dir, "uplinks_xdp", ifindex, err);
		else
			clear_dev(dir, "uplinks_xdp", ifindex);
	}
	if (map >= 0)
		close(map);
	return ret;
}

/*
 * Are the frames of an uplink plain, as from a wire? Not if generic XDP runs on
 * skbs: those of a VLAN device on a veth, for instance.
 */
static bool has_plain_frames(unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);

	return !srpol_dev_is_soft(ifindex) &&
	       !bpf_xdp_query(ifindex, 0, &opts) &&
	       opts.attach_mode != XDP_ATTACHED_SKB;
}

/*
 * XDP may forward to devices that take its frames, from devices whose frames
 * are plain.
 */
static int set_forward(const char *dir, unsigned int ifindex, bool uplink,
		       struct srpol_error *err)
{
	int ret = 0;

	if (srpol_dev_takes_frames(ifindex))
		ret = set_linear(dir, ifindex, err) ?:
		      set_dev(dir, "forward_to", ifindex, err);
	if (!ret && uplink && has_plain_frames(ifindex))
		ret = set_dev(dir, "forward_from", ifindex, err);
	return ret;
}

/**
 * srpol_devmaps_add() - tell the data plane of a device, and of what XDP can do
 * with it
 * @dir: folder of pins
 * @ifindex: the device
 * @role: what it is
 * @err: for the reason
 *
 * An uplink has its XDP program by then.
 */
int srpol_devmaps_add(const char *dir, unsigned int ifindex,
		      enum srpol_dev_role role, struct srpol_error *err)
{
	bool uplink = role == SRPOL_DEV_ROLE_UPLINK;
	int ret;

	ret = (uplink ? set_dev(dir, "uplinks", ifindex, err) : 0) ?:
	      set_uplinks_xdp(dir, err) ?:
	      set_forward(dir, ifindex, uplink, err);
	if (ret)
		srpol_devmaps_forget(dir, ifindex);
	return ret;
}

/**
 * srpol_dp_frames_sync() - does a device still take frames from native XDP?
 * @ifindex: the device
 * @role: what it is
 *
 * Told to the data plane as it is now: what XDP sends by one that does not is
 * lost. To be called with the lock of the pins held.
 */
void srpol_dp_frames_sync(unsigned int ifindex, enum srpol_dev_role role)
{
	bool takes = srpol_dev_takes_frames(ifindex);
	struct srpol_dp_status st;

	if (srpol_dp_status(&st, NULL) || !st.loaded)
		return;
	if (!takes) {
		clear_dev(st.dir, "uplinks_xdp", ifindex);
		clear_dev(st.dir, "forward_to", ifindex);
		return;
	}
	set_linear(st.dir, ifindex, NULL);
	if (role == SRPOL_DEV_ROLE_UPLINK)
		set_dev(st.dir, "uplinks_xdp", ifindex, NULL);
	set_dev(st.dir, "forward_to", ifindex, NULL);
}

/**
 * srpol_dp_by_xdp() - does the XDP of host ports send packets of an uplink
 * itself?
 * @ifindex: the device
 *
 * Otherwise it leaves packets for that uplink to TC.
 */
bool srpol_dp_by_xdp(unsigned int ifindex)
{
	struct bpf_devmap_val value;
	struct srpol_dp_status st;
	bool does;
	int map;

	if (srpol_dp_status(&st, NULL))
		return false;
	map = srpol_pins_open(st.dir, "uplinks_xdp");
	if (map < 0)
		return false;
	does = !bpf_map_lookup_elem(map, &ifindex, &value);
	close(map);
	return does;
}
