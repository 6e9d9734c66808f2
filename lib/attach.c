// SPDX-License-Identifier: LGPL-2.1
/*
 * The pinned programs on devices: which hooks, in which order, and what they
 * may redirect to.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "pins.h"
#include "srpol_lib.h"

#define LINK_EGRESS	"link_egress_"
#define LINK_INGRESS	"link_ingress_"
#define LINK_TC		"link_tc_"

/* NETDEV_XDP_ACT_NDO_XMIT of linux/netdev.h, which Debian 12 does not have. */
#define XDP_ACT_NDO_XMIT	4

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

static uint32_t xdp_prog_id(unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);

	return bpf_xdp_query(ifindex, 0, &opts) ? 0 : opts.prog_id;
}

/* One that is not there is of another version than this. */
static int no_pin(const char *dir, const char *name, int ret,
		  struct srpol_error *err)
{
	if (ret != -ENOENT)
		return srpol_error_set(err, ret, "%s/%s: %s", dir, name,
				       strerror(-ret));
	return srpol_error_set(err, ret,
			       "%s was loaded by another version of srpol and has no %s: \"srpol dev del\" of all devices that \"srpol dev show\" names, then add them again",
			       dir, name);
}

static int link_ingress(const char *dir, unsigned int ifindex,
			const char *name, enum srpol_xdp_mode mode,
			struct srpol_error *err)
{
	char other[BPF_OBJ_NAME_LEN];
	int prog, link = -EINVAL;
	uint32_t id;

	prog = srpol_pins_open(dir, name);
	if (prog < 0)
		return no_pin(dir, name, prog, err);
	if (mode != SRPOL_XDP_MODE_GENERIC)
		link = xdp_attach(prog, ifindex, XDP_FLAGS_DRV_MODE);
	id = link < 0 ? xdp_prog_id(ifindex) : 0;
	if (link < 0 && !id && mode != SRPOL_XDP_MODE_NATIVE)
		link = xdp_attach(prog, ifindex, XDP_FLAGS_SKB_MODE);
	close(prog);
	if (link >= 0)
		return link;
	if (id) {
		prog_name(id, other, sizeof(other));
		return srpol_error_set(err, -EBUSY,
				       "XDP program %s (id %u) is on the device; srpol does not replace it (bpftool net show)",
				       other, id);
	}
	return srpol_error_set(err, link, "attaching XDP: %s",
			       link == -EOPNOTSUPP ?
			       "the driver has no native XDP, try xdp generic" :
			       strerror(-link));
}

/*
 * Attach behind the programs that are there already: they may be a firewall,
 * for instance, which has to see packets before they are encapsulated.
 */
static int link_tcx(const char *dir, unsigned int ifindex, const char *name,
		    enum bpf_attach_type type, struct srpol_error *err)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = BPF_F_AFTER);
	int prog, link;

	prog = srpol_pins_open(dir, name);
	if (prog < 0)
		return no_pin(dir, name, prog, err);
	link = bpf_link_create(prog, ifindex, type, &opts);
	close(prog);
	if (link < 0)
		srpol_error_set(err, link, "attaching TCX %s: %s",
				type == BPF_TCX_EGRESS ? "egress" : "ingress",
				strerror(-link));
	return link;
}

static void link_name(char *name, size_t len, const char *kind,
		      unsigned int ifindex)
{
	snprintf(name, len, "%s%u", kind, ifindex);
}

static int pin_link(int link, const char *dir, const char *name,
		    struct srpol_error *err)
{
	char path[2 * SRPOL_PATH_LEN];
	int ret;

	if (link < 0)
		return link;
	srpol_pins_path(path, dir, name);
	ret = bpf_obj_pin(link, path) ? -errno : 0;
	close(link);
	if (ret)
		srpol_error_set(err, ret, "pinning %s: %s", path,
				strerror(-ret));
	return ret;
}

static unsigned int link_ifindex(const struct bpf_link_info *info)
{
	return info->type == BPF_LINK_TYPE_XDP ? info->xdp.ifindex :
						 info->tcx.ifindex;
}

/* Where a pinned link is; false if it is on no device any more. */
static bool read_link(const char *dir, const char *name,
		      struct bpf_link_info *info)
{
	int fd = srpol_pins_open(dir, name);
	__u32 len = sizeof(*info);
	bool is;

	if (fd < 0)
		return false;
	memset(info, 0, sizeof(*info));
	is = !bpf_link_get_info_by_fd(fd, info, &len) && link_ifindex(info);
	close(fd);
	return is;
}

/* A device with programs in several modes does not tell a single one. */
static bool has_xdp_link(const struct bpf_link_info *info)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);
	__u32 id = info->prog_id;

	return !bpf_xdp_query(info->xdp.ifindex, 0, &opts) &&
	       (opts.drv_prog_id == id || opts.skb_prog_id == id ||
		opts.hw_prog_id == id);
}

static bool has_tcx_link(const struct bpf_link_info *info)
{
	LIBBPF_OPTS(bpf_prog_query_opts, opts);
	__u32 progs[64], links[64] = {}, i;
	int ret;

	opts.prog_ids = progs;	/* without them the kernel tells no links */
	opts.link_ids = links;
	opts.count = sizeof(links) / sizeof(links[0]);
	ret = bpf_prog_query_opts(info->tcx.ifindex, info->tcx.attach_type,
				  &opts);
	/* if there are more than that, it may be one of them */
	if (ret)
		return ret == -ENOSPC;
	for (i = 0; i < opts.count; i++)
		if (links[i] == info->id)
			return true;
	return false;
}

/*
 * Is the link still on a device, or was that device deleted? A device that is in
 * another namespace now has the link still; it is looked for in the present one.
 */
static bool link_alive(const char *dir, const char *name)
{
	struct bpf_link_info info;

	return read_link(dir, name, &info) &&
	       (info.type == BPF_LINK_TYPE_XDP ? has_xdp_link(&info) :
						 has_tcx_link(&info));
}

/* Detach a link, at once and wherever its device is now, and remove its pin. */
static void remove_link(const char *dir, const char *name)
{
	int fd = srpol_pins_open(dir, name);

	if (fd >= 0) {
		bpf_link_detach(fd);
		close(fd);
	}
	srpol_pins_remove(dir, name);
}

/* Set an entry of a map of devices. BPF programs cannot write devmaps. */
static int set_dev(const char *dir, const char *name, unsigned int ifindex,
		   struct srpol_error *err)
{
	struct bpf_devmap_val value = { .ifindex = ifindex };
	int map = srpol_pins_open(dir, name), ret;

	if (map < 0)
		return no_pin(dir, name, map, err);
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

/* Remove a device from all maps of devices. */
static void forget_dev(const char *dir, unsigned int ifindex)
{
	clear_dev(dir, "uplinks_xdp", ifindex);
	clear_dev(dir, "uplinks", ifindex);
	clear_dev(dir, "forward_to", ifindex);
	clear_dev(dir, "forward_from", ifindex);
}

/**
 * srpol_dev_takes_frames() - does a device take frames from native XDP?
 * @ifindex: the device
 *
 * A veth does while its peer has NAPI, a VLAN device never does.
 */
bool srpol_dev_takes_frames(unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);

	return !bpf_xdp_query(ifindex, 0, &opts) &&
	       opts.feature_flags & XDP_ACT_NDO_XMIT;
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
	ret = ret == 1 ? 0 : no_pin(dir, "uplinks_xdp", ret ?: -ENOENT, err);
	while (map >= 0 && !ret && !bpf_map_get_next_key(map, prev, &ifindex)) {
		prev = &ifindex;
		if (srpol_dev_takes_frames(ifindex))
			ret = set_dev(dir, "uplinks_xdp", ifindex, err);
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
		ret = set_dev(dir, "forward_to", ifindex, err);
	if (!ret && uplink && has_plain_frames(ifindex))
		ret = set_dev(dir, "forward_from", ifindex, err);
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
	if (role == SRPOL_DEV_ROLE_UPLINK)
		set_dev(st.dir, "uplinks_xdp", ifindex, NULL);
	set_dev(st.dir, "forward_to", ifindex, NULL);
}

static int attach_uplink(const char *dir, unsigned int ifindex,
			 struct srpol_error *err)
{
	char egress[64];
	int ret;

	ret = set_dev(dir, "uplinks", ifindex, err) ?:
	      set_uplinks_xdp(dir, err) ?:
	      set_forward(dir, ifindex, true, err);
	if (ret)
		goto out;
	ret = srpol_attach_tc(dir, ifindex, "prog_uplink_tc", err);
	if (ret)
		goto out;
	link_name(egress, sizeof(egress), LINK_EGRESS, ifindex);
	ret = pin_link(link_tcx(dir, ifindex, "prog_egress", BPF_TCX_EGRESS,
				err), dir, egress, err);
	if (ret)
		srpol_detach_tc(dir, ifindex);
out:
	if (ret)
		forget_dev(dir, ifindex);
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
 * srpol_attach_tc() - attach a program at TC ingress of a device
 * @dir: folder of pins
 * @ifindex: the device
 * @prog: pin of the program
 * @err: for the reason
 */
int srpol_attach_tc(const char *dir, unsigned int ifindex, const char *prog,
		    struct srpol_error *err)
{
	char tc[64];

	link_name(tc, sizeof(tc), LINK_TC, ifindex);
	return pin_link(link_tcx(dir, ifindex, prog, BPF_TCX_INGRESS, err),
			dir, tc, err);
}

/* Detach what srpol_attach_tc() attached. */
void srpol_detach_tc(const char *dir, unsigned int ifindex)
{
	char tc[64];

	link_name(tc, sizeof(tc), LINK_TC, ifindex);
	remove_link(dir, tc);
}

bool srpol_attached_tc(const char *dir, unsigned int ifindex)
{
	char tc[64];

	link_name(tc, sizeof(tc), LINK_TC, ifindex);
	return link_alive(dir, tc);
}

static bool is_device_link(const char *name)
{
	return !strncmp(name, LINK_EGRESS, strlen(LINK_EGRESS)) ||
	       !strncmp(name, LINK_INGRESS, strlen(LINK_INGRESS)) ||
	       !strncmp(name, LINK_TC, strlen(LINK_TC));
}

/* Remove all links of a folder that are on a device of the present namespace. */
static void remove_links_on(const char *name, const char *dir, void *data)
{
	const unsigned int *ifindex = data;
	struct bpf_link_info info;
	struct dirent *entry;
	DIR *d;

	d = opendir(dir);
	while (d && (entry = readdir(d)))
		if (is_device_link(entry->d_name) &&
		    link_alive(dir, entry->d_name) &&
		    read_link(dir, entry->d_name, &info) &&
		    link_ifindex(&info) == *ifindex)
			remove_link(dir, entry->d_name);
	if (d)
		closedir(d);
}

/* Remove all links of a device. */
static void remove_links(const char *dir, unsigned int ifindex)
{
	char name[64];

	link_name(name, sizeof(name), LINK_EGRESS, ifindex);
	remove_link(dir, name);
	link_name(name, sizeof(name), LINK_INGRESS, ifindex);
	remove_link(dir, name);
	srpol_detach_tc(dir, ifindex);
}

/*
 * A device that is to get links may have some. Its own, if it was in another
 * namespace meanwhile; and of other folders, if it comes from their namespaces,
 * which may have ended. The ifindex may also have been that of a deleted device.
 */
static void make_free(const char *dir, unsigned int ifindex)
{
	remove_links(dir, ifindex);
	srpol_pins_each(remove_links_on, &ifindex);
	srpol_pins_sweep();
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
	char ingress[64];
	int ret;

	make_free(dir, ifindex);
	ret = srpol_attach_tc(dir, ifindex, "prog_port_tc", err);
	if (ret < 0)
		return ret;
	ret = set_uplinks_xdp(dir, err) ?:
	      set_forward(dir, ifindex, false, err);
	if (ret < 0 || !port_wants_xdp(ifindex, mode))
		goto out;
	link_name(ingress, sizeof(ingress), LINK_INGRESS, ifindex);
	ret = pin_link(link_ingress(dir, ifindex, "prog_port", optional ?
				    SRPOL_XDP_MODE_NATIVE : mode, optional ?
				    &no_xdp : err), dir, ingress, err);
	if (optional)
		ret = 0;
out:
	if (ret < 0) {
		srpol_detach_tc(dir, ifindex);
		forget_dev(dir, ifindex);
	}
	return ret;
}

/**
 * srpol_dp_attach() - attach the programs to a device
 * @ifindex: the device
 * @role: role of the device
 * @mode: how XDP is to run
 * @err: for the reason
 *
 * For an uplink the ingress program is attached first, so that this host can
 * decapsulate before it sends encapsulated packets.
 */
int srpol_dp_attach(unsigned int ifindex, enum srpol_dev_role role,
		    enum srpol_xdp_mode mode, struct srpol_error *err)
{
	struct srpol_dp_status st;
	char ingress[64];
	int ret;

	ret = srpol_dp_status(&st, err);
	if (ret)
		return ret;
	if (role == SRPOL_DEV_ROLE_HOST)
		return srpol_attach_host(st.dir, ifindex, err);
	if (role != SRPOL_DEV_ROLE_UPLINK)
		return srpol_attach_port(st.dir, ifindex, mode, err);
	if (mode == SRPOL_XDP_MODE_NONE)
		return srpol_error_set(err, -EOPNOTSUPP,
				       "an uplink ends SIDs in XDP: xdp auto, native or generic");
	make_free(st.dir, ifindex);
	link_name(ingress, sizeof(ingress), LINK_INGRESS, ifindex);
	ret = pin_link(link_ingress(st.dir, ifindex, "prog_uplink", mode, err),
		       st.dir, ingress, err);
	if (ret < 0)
		return ret;
	ret = attach_uplink(st.dir, ifindex, err);
	if (ret < 0)
		remove_link(st.dir, ingress);
	return ret;
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
	remove_links(st.dir, ifindex);
	forget_dev(st.dir, ifindex);
	return 0;
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

/*
 * Is a link of a folder on any device, or, if @here, on one in the present
 * namespace? All others are removed.
 */
static bool in_use(const char *dir, bool here)
{
	struct bpf_link_info info;
	struct dirent *entry;
	bool any = false, is;
	DIR *d;

	d = opendir(dir);
	while (d && (entry = readdir(d))) {
		if (!is_device_link(entry->d_name))
			continue;
		is = here ? link_alive(dir, entry->d_name) :
			    read_link(dir, entry->d_name, &info);
		any |= is;
		if (!is)
			remove_link(dir, entry->d_name);
	}
	if (d)
		closedir(d);
	return any;
}

/**
 * srpol_dp_dir_in_use() - is a program of a folder attached to any device
 * @dir: folder of pins, of any namespace
 *
 * Pins of devices that were deleted are removed on the way.
 */
bool srpol_dp_dir_in_use(const char *dir)
{
	return in_use(dir, false);
}

/**
 * srpol_dp_any_attached() - are the programs attached to any device
 *
 * They are detached from devices that are in another namespace now.
 */
bool srpol_dp_any_attached(void)
{
	struct srpol_dp_status st;

	return !srpol_dp_status(&st, NULL) && in_use(st.dir, true);
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
	char name[64];
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
	link_name(name, sizeof(name), LINK_EGRESS, ifindex);
	st->egress = link_alive(dp.dir, name);
	link_name(name, sizeof(name), LINK_INGRESS, ifindex);
	st->ingress = link_alive(dp.dir, name);
	st->tc_ingress = srpol_attached_tc(dp.dir, ifindex);
	return 0;
}
