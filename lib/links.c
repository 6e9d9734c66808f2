// SPDX-License-Identifier: LGPL-2.1
/*
 * Pinned links: where an attached program is, and whether it still is there.
 *
 * A link has a pin of its hook and its device's number. A device that was moved
 * to another network namespace keeps its links, and its number may be that of
 * another device here. So a link counts only if the device of that number in
 * the present namespace has it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "links.h"
#include "pins.h"
#include "srpol_lib.h"

static const char * const hooks[] = {
	[SRPOL_LINK_XDP]	= "link_ingress_",
	[SRPOL_LINK_TC_INGRESS]	= "link_tc_",
	[SRPOL_LINK_TC_EGRESS]	= "link_egress_",
};

#define N_HOOKS	(sizeof(hooks) / sizeof(hooks[0]))
#define NAME_LEN	64

static void link_name(char *name, enum srpol_link hook, unsigned int ifindex)
{
	snprintf(name, NAME_LEN, "%s%u", hooks[hook], ifindex);
}

static bool is_link(const char *name)
{
	size_t i;

	for (i = 0; i < N_HOOKS; i++)
		if (!strncmp(name, hooks[i], strlen(hooks[i])))
			return true;
	return false;
}

/**
 * srpol_link_pin() - pin a link, which the program needs to stay
 * @dir: folder of pins
 * @hook: where the program was attached
 * @ifindex: and to which device
 * @fd: the link, closed on return; a negative errno is passed on
 * @err: for the reason
 */
int srpol_link_pin(const char *dir, enum srpol_link hook, unsigned int ifindex,
		   int fd, struct srpol_error *err)
{
	char name[NAME_LEN], path[2 * SRPOL_PATH_LEN];
	int ret;

	if (fd < 0)
		return fd;
	link_name(name, hook, ifindex);
	srpol_pins_path(path, dir, name);
	ret = bpf_obj_pin(fd, path) ? -errno : 0;
	close(fd);
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

/* Has the device of the link's number, in the present namespace, that link? */
static bool is_here(const struct bpf_link_info *info)
{
	return info->type == BPF_LINK_TYPE_XDP ? has_xdp_link(info) :
						 has_tcx_link(info);
}

/**
 * srpol_link_alive() - is a link on its device, which is in this namespace
 * @dir: folder of pins
 * @hook: the hook
 * @ifindex: the device
 */
bool srpol_link_alive(const char *dir, enum srpol_link hook,
		      unsigned int ifindex)
{
	struct bpf_link_info info;
	char name[NAME_LEN];

	link_name(name, hook, ifindex);
	return read_link(dir, name, &info) && is_here(&info);
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

/**
 * srpol_link_remove() - detach a program, at once and wherever its device is now
 * @dir: folder of pins
 * @hook: the hook
 * @ifindex: the device
 */
void srpol_link_remove(const char *dir, enum srpol_link hook,
		       unsigned int ifindex)
{
	char name[NAME_LEN];

	link_name(name, hook, ifindex);
	remove_link(dir, name);
}

/**
 * srpol_link_remove_all() - detach all programs from a device
 * @dir: folder of pins
 * @ifindex: the device
 */
void srpol_link_remove_all(const char *dir, unsigned int ifindex)
{
	srpol_link_remove(dir, SRPOL_LINK_TC_EGRESS, ifindex);
	srpol_link_remove(dir, SRPOL_LINK_XDP, ifindex);
	srpol_link_remove(dir, SRPOL_LINK_TC_INGRESS, ifindex);
}

/**
 * struct xdp_search - a search for a link at XDP of a device
 * @ifindex: the device, in the present namespace
 * @found: there is one
 */
struct xdp_search {
	unsigned int ifindex;
	bool found;
};

static void find_xdp(const char *name, const char *dir, void *data)
{
	struct xdp_search *search = data;
	struct bpf_link_info info;
	struct dirent *entry;
	DIR *d;

	d = opendir(dir);
	while (d && !search->found && (entry = readdir(d)))
		search->found = is_link(entry->d_name) &&
				read_link(dir, entry->d_name, &info) &&
				info.type == BPF_LINK_TYPE_XDP &&
				link_ifindex(&info) == search->ifindex &&
				is_here(&info);
	if (d)
		closedir(d);
}

/**
 * srpol_link_has_xdp() - has a device srpol's program at XDP
 * @ifindex: the device
 *
 * The link may be pinned in the folder of another namespace, if the device
 * comes from there: srpol_link_make_room() removes it.
 */
bool srpol_link_has_xdp(unsigned int ifindex)
{
	struct xdp_search search = { .ifindex = ifindex };

	srpol_pins_each(find_xdp, &search);
	return search.found;
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
		if (is_link(entry->d_name) &&
		    read_link(dir, entry->d_name, &info) &&
		    link_ifindex(&info) == *ifindex && is_here(&info))
			remove_link(dir, entry->d_name);
	if (d)
		closedir(d);
}

/**
 * srpol_link_make_room() - remove what would be in the way of new links of a
 * device
 * @dir: folder of pins
 * @ifindex: the device
 *
 * It may have links of its own, if it was in another namespace meanwhile, and
 * of other folders, if it comes from their namespaces, which may have ended. The
 * number may also have been that of a deleted device.
 */
void srpol_link_make_room(const char *dir, unsigned int ifindex)
{
	srpol_link_remove_all(dir, ifindex);
	srpol_pins_each(remove_links_on, &ifindex);
	srpol_pins_sweep();
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
		if (!is_link(entry->d_name))
			continue;
		is = read_link(dir, entry->d_name, &info) &&
		     (!here || is_here(&info));
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
