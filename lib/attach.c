// SPDX-License-Identifier: LGPL-2.1
/*
 * The pinned programs on devices: which hooks, and in which order.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "links.h"
#include "pins.h"
#include "srpol_lib.h"

static int xdp_attach(int prog, unsigned int ifindex, unsigned int flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);

	return bpf_link_create(prog, ifindex, BPF_XDP, &opts);
}

/* Name of a program, to report which one is attached already. */
static void prog_name(uint32_t id, char *name, size_t len)
{
	struct bpf_prog_info info = {};
	__u32 info_len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	snprintf(name, len, "?");
	if (fd < 0)
		return;
	if (!bpf_prog_get_info_by_fd(fd, &info, &info_len))
		snprintf(name, len, "%s", info.name);
	close(fd);
}

/* A program that the NIC itself runs is in no one's way. */
static uint32_t xdp_prog_id(unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);

	return bpf_xdp_query(ifindex, 0, &opts) ? 0 :
	       opts.drv_prog_id ?: opts.skb_prog_id;
}

static int xdp_taken(uint32_t id, struct srpol_error *err)
{
	char name[BPF_OBJ_NAME_LEN];

	prog_name(id, name, sizeof(name));
	return srpol_error_set(err, -EBUSY,
			       "XDP program %s (id %u) is on the device; srpol does not replace it (bpftool net show)",
			       name, id);
}

/* Why the kernel attached no program, and what to look at. */
static int xdp_refused(unsigned int ifindex, enum srpol_xdp_mode mode, int ret,
		       struct srpol_error *err)
{
	struct srpol_dev_driver drv;

	if (ret == -EEXIST)
		return srpol_error_set(err, ret,
				       "attaching XDP: a VLAN, bond, bridge or macvlan device above this one has an XDP program, and the kernel wants that of the lower device to be attached first");
	if (mode != SRPOL_XDP_MODE_NATIVE)
		return srpol_error_set(err, ret, "attaching generic XDP: %s",
				       strerror(-ret));
	if (srpol_dev_is_bond(ifindex))
		return srpol_error_set(err, ret,
				       "attaching XDP: native XDP of a bond runs on the devices in it, which srpol does not know; try xdp generic");
	srpol_dev_read_driver(ifindex, &drv);
	if (!drv.native_xdp && ret == -EOPNOTSUPP)
		return srpol_error_set(err, ret,
				       "attaching XDP: driver %s has no native XDP for this device (MTU %u), try xdp generic",
				       drv.name, drv.mtu);
	return srpol_error_set(err, ret,
			       "attaching XDP: driver %s refuses native XDP on this device now: %s; see dmesg, compare the MTU (%u) and ethtool -k with what the driver takes, or try xdp generic",
			       drv.name, strerror(-ret), drv.mtu);
}

static int link_xdp(const char *dir, unsigned int ifindex, const char *name,
		    enum srpol_xdp_mode mode, struct srpol_error *err)
{
	int prog, link = -EOPNOTSUPP;
	uint32_t id;

	prog = srpol_pins_open(dir, name);
	if (prog < 0)
		return srpol_pins_missing(dir, name, prog, err);
	if (mode != SRPOL_XDP_MODE_GENERIC && !srpol_dev_is_bond(ifindex))
		link = xdp_attach(prog, ifindex, XDP_FLAGS_DRV_MODE);
	id = link < 0 ? xdp_prog_id(ifindex) : 0;
	if (link < 0 && !id && mode != SRPOL_XDP_MODE_NATIVE)
		link = xdp_attach(prog, ifindex, XDP_FLAGS_SKB_MODE);
	close(prog);
	if (link >= 0)
		return link;
	if (id)
		return xdp_taken(id, err);
	return xdp_refused(ifindex, mode, link, err);
}

/*
 * Attach behind the programs that are there already: they may be a firewall,
 * for instance, which has to see packets before they are encapsulated.
 */
static int link_tcx(const char *dir, unsigned int ifindex, const char *name,
		    enum srpol_link hook, struct srpol_error *err)
{
	bool egress = hook == SRPOL_LINK_TC_EGRESS;
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = BPF_F_AFTER);
	int prog, link;

	prog = srpol_pins_open(dir, name);
	if (prog < 0)
		return srpol_pins_missing(dir, name, prog, err);
	link = bpf_link_create(prog, ifindex, egress ? BPF_TCX_EGRESS :
						       BPF_TCX_INGRESS, &opts);
	close(prog);
	if (link < 0)
		srpol_error_set(err, link, "attaching TCX %s: %s",
				egress ? "egress" : "ingress",
				strerror(-link));
	return link;
}

/* Attach a program at XDP of a device. */
static int attach_xdp(const char *dir, unsigned int ifindex, const char *prog,
		      enum srpol_xdp_mode mode, struct srpol_error *err)
{
	return srpol_link_pin(dir, SRPOL_LINK_XDP, ifindex,
			      link_xdp(dir, ifindex, prog, mode, err), err);
}

/* Attach a program at TC ingress or egress of a device. */
static int attach_tc(const char *dir, unsigned int ifindex, const char *prog,
		     enum srpol_link hook, struct srpol_error *err)
{
	return srpol_link_pin(dir, hook, ifindex,
			      link_tcx(dir, ifindex, prog, hook, err), err);
}

/* Undo what was done for a device, all of it or a part. */
static void detach(const char *dir, unsigned int ifindex)
{
	srpol_link_remove_all(dir, ifindex);
	srpol_devmaps_forget(dir, ifindex);
}

/*
 * The program at ingress is attached first, so that this host can decapsulate
 * before it sends encapsulated packets.
 */
static int attach_uplink(const char *dir, unsigned int ifindex,
			 enum srpol_xdp_mode mode, struct srpol_error *err)
{
	int ret;

	srpol_link_make_room(dir, ifindex);
	ret = attach_xdp(dir, ifindex, "prog_uplink", mode, err) ?:
	      srpol_devmaps_add(dir, ifindex, SRPOL_DEV_ROLE_UPLINK, err) ?:
	      attach_tc(dir, ifindex, "prog_uplink_tc", SRPOL_LINK_TC_INGRESS,
			err) ?:
	      attach_tc(dir, ifindex, "prog_egress", SRPOL_LINK_TC_EGRESS, err);
	if (ret)
		detach(dir, ifindex);
	return ret;
}

/*
 * Should XDP run on a port? Not on a device whose frames are not plain: they
 * have pending checksums or tags in metadata, or are super-packets. Generic XDP
 * would have to make plain frames of them, which is expensive.
 */
static bool port_wants_xdp(unsigned int ifindex, enum srpol_xdp_mode mode)
{
	if (mode == SRPOL_XDP_MODE_AUTO)
		return !srpol_dev_is_soft(ifindex);
	return mode != SRPOL_XDP_MODE_NONE;
}

/**
 * srpol_attach_port() - attach the programs to a host port
 * @dir: folder of pins
 * @ifindex: the device
 * @mode: how XDP is to run
 * @err: for the reason
 *
 * The program at TC, which makes the final decision, is always attached; the
 * one at XDP, before it, where it is of use.
 */
int srpol_attach_port(const char *dir, unsigned int ifindex,
		      enum srpol_xdp_mode mode, struct srpol_error *err)
{
	bool optional = mode == SRPOL_XDP_MODE_AUTO;
	struct srpol_error no_xdp = {};
	int ret;

	srpol_link_make_room(dir, ifindex);
	ret = attach_tc(dir, ifindex, "prog_port_tc", SRPOL_LINK_TC_INGRESS,
			err) ?:
	      srpol_devmaps_add(dir, ifindex, SRPOL_DEV_ROLE_PORT, err);
	if (!ret && port_wants_xdp(ifindex, mode)) {
		ret = attach_xdp(dir, ifindex, "prog_port", optional ?
				 SRPOL_XDP_MODE_NATIVE : mode, optional ?
				 &no_xdp : err);
		if (optional)
			ret = 0;
	}
	if (ret)
		detach(dir, ifindex);
	return ret;
}

/* Is a role not possible without a program at XDP? */
static bool needs_xdp(enum srpol_dev_role role, enum srpol_xdp_mode mode)
{
	return role == SRPOL_DEV_ROLE_UPLINK ||
	       (role == SRPOL_DEV_ROLE_PORT && mode != SRPOL_XDP_MODE_AUTO &&
		mode != SRPOL_XDP_MODE_NONE);
}

/**
 * srpol_dp_can_attach() - may the programs be attached to a device
 * @ifindex: the device
 * @role: role of the device
 * @mode: how XDP is to run
 * @err: for the reason
 *
 * Looks for what can be known before the device loses programs that it still
 * has. To be called with the lock of srpol_pins_lock() held.
 *
 * Return: 0, -EOPNOTSUPP if the role needs XDP, -EBUSY if a program of others
 * is there.
 */
int srpol_dp_can_attach(unsigned int ifindex, enum srpol_dev_role role,
			enum srpol_xdp_mode mode, struct srpol_error *err)
{
	uint32_t id;

	if (role == SRPOL_DEV_ROLE_UPLINK && mode == SRPOL_XDP_MODE_NONE)
		return srpol_error_set(err, -EOPNOTSUPP,
				       "an uplink processes local SIDs in XDP: use xdp auto, native or generic");
	if (!needs_xdp(role, mode))
		return 0;
	id = xdp_prog_id(ifindex);
	return id && !srpol_link_has_xdp(ifindex) ? xdp_taken(id, err) : 0;
}

/**
 * srpol_dp_attach() - attach the programs to a device
 * @ifindex: the device
 * @role: role of the device
 * @mode: how XDP is to run
 * @err: for the reason
 *
 * srpol_dp_can_attach() comes first.
 */
int srpol_dp_attach(unsigned int ifindex, enum srpol_dev_role role,
		    enum srpol_xdp_mode mode, struct srpol_error *err)
{
	struct srpol_dp_status st;
	int ret;

	ret = srpol_dp_status(&st, err);
	if (ret)
		return ret;
	switch (role) {
	case SRPOL_DEV_ROLE_HOST:
		return srpol_attach_host(st.dir, ifindex, err);
	case SRPOL_DEV_ROLE_UPLINK:
		return attach_uplink(st.dir, ifindex, mode, err);
	default:
		return srpol_attach_port(st.dir, ifindex, mode, err);
	}
}

/**
 * srpol_dp_detach() - detach the programs from a device
 * @ifindex: the device
 * @err: for the reason
 */
int srpol_dp_detach(unsigned int ifindex, struct srpol_error *err)
{
	struct srpol_dp_status st;
	int ret;

	ret = srpol_dp_status(&st, err);
	if (ret)
		return ret;
	detach(st.dir, ifindex);
	return 0;
}

/**
 * srpol_dp_dev_status() - what is attached to a device
 * @ifindex: the device
 * @st: result
 *
 * Return: 0, or -EACCES if the pins may not be read; then only what the device
 * itself tells is filled in, @xdp_mode and @xdp_id.
 */
int srpol_dp_dev_status(unsigned int ifindex, struct srpol_dev_status *st)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);
	struct srpol_dp_status dp;
	int ret;

	memset(st, 0, sizeof(*st));
	st->xdp_mode = "none";
	ret = bpf_xdp_query(ifindex, 0, &opts);
	if (ret)
		return ret;
	st->xdp_id = opts.prog_id;
	if (opts.attach_mode == XDP_ATTACHED_DRV)
		st->xdp_mode = "native";
	else if (opts.attach_mode == XDP_ATTACHED_SKB)
		st->xdp_mode = "generic";
	else if (opts.attach_mode == XDP_ATTACHED_HW)
		st->xdp_mode = "offload";
	ret = srpol_dp_status(&dp, NULL);
	if (ret)
		return ret;
	st->egress = srpol_link_alive(dp.dir, SRPOL_LINK_TC_EGRESS, ifindex);
	st->ingress = srpol_link_alive(dp.dir, SRPOL_LINK_XDP, ifindex);
	st->tc_ingress = srpol_link_alive(dp.dir, SRPOL_LINK_TC_INGRESS,
					  ifindex);
	return 0;
}
