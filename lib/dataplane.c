// SPDX-License-Identifier: LGPL-2.1
/*
 * Loading, pinning and attaching the eBPF data plane.
 *
 * Everything of a network namespace is pinned in one folder and lives on its
 * own: no process has to stay. Names in the folder:
 *
 *	MAP			every map, by its name
 *	prog_NAME		the programs: egress, uplink, port, explain
 *	link_dp			registration with the module (struct_ops)
 *	link_egress_IFINDEX	TCX link of a device
 *	link_ingress_IFINDEX	XDP link of a device
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "srpol_lib.h"
#include "srpol.skel.h"

#define BPFFS		"/sys/fs/bpf"
#define BPFFS_MAGIC	0xcafe4a11
#define LINK_EGRESS	"link_egress_"
#define LINK_INGRESS	"link_ingress_"

static bool verbose;

/**
 * srpol_dp_verbose() - let libbpf speak
 * @on: print its debugging output, the verifier's log with it
 */
void srpol_dp_verbose(bool on)
{
	verbose = on;
}

static int print_libbpf(enum libbpf_print_level level, const char *fmt,
			va_list args)
{
	return verbose ? vfprintf(stderr, fmt, args) : 0;
}

static int pin_dir(char *dir, struct srpol_error *err)
{
	char name[SRPOL_PATH_LEN - sizeof(SRPOL_PIN_ROOT) - 64];
	int ret = srpol_netns_name(name, sizeof(name));

	if (ret)
		return srpol_error_set(err, ret, "network namespace: %s",
				       strerror(-ret));
	snprintf(dir, SRPOL_PATH_LEN, SRPOL_PIN_ROOT "/%s", name);
	return 0;
}

static void pin_path(char *path, const char *dir, const char *name)
{
	snprintf(path, 2 * SRPOL_PATH_LEN, "%s/%s", dir, name);
}

static int open_pin(const char *dir, const char *name)
{
	char path[2 * SRPOL_PATH_LEN];

	pin_path(path, dir, name);
	return bpf_obj_get(path);
}

static bool exists(const char *dir, const char *name)
{
	char path[2 * SRPOL_PATH_LEN];

	pin_path(path, dir, name);
	return !access(path, F_OK);
}

static int remove_pin(const char *dir, const char *name)
{
	char path[2 * SRPOL_PATH_LEN];

	pin_path(path, dir, name);
	return unlink(path) ? -errno : 0;
}

/* A BPF file system at BPFFS: mounted here if /sys is there but it is not. */
static int need_bpffs(struct srpol_error *err)
{
	struct statfs fs;

	if (!statfs(BPFFS, &fs) && fs.f_type == BPFFS_MAGIC)
		return 0;
	if (access(BPFFS, F_OK))
		return srpol_error_set(err, -ENOENT,
				       "no " BPFFS ": mount sysfs, or inside \"ip netns exec\" use \"srpol -n NAME\" from outside");
	if (getenv("SRPOL_NO_BPFFS_MOUNT") ||
	    mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return srpol_error_set(err, -errno ? -errno : -ENOENT,
				       "no BPF file system: mount -t bpf bpf "
				       BPFFS);
	return 0;
}

/**
 * srpol_dp_status() - is the data plane of this namespace there
 * @st: result
 * @err: for the reason
 */
int srpol_dp_status(struct srpol_dp_status *st, struct srpol_error *err)
{
	int ret = pin_dir(st->dir, err);

	if (ret)
		return ret;
	st->loaded = exists(st->dir, "link_dp");
	return 0;
}

/* Remove all pins and the folder itself. */
static void remove_dir(const char *dir)
{
	struct dirent *entry;
	DIR *d = opendir(dir);

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			remove_pin(dir, entry->d_name);
	if (d)
		closedir(d);
	rmdir(dir);
}

static int pin_prog(struct bpf_program *prog, const char *dir,
		    const char *name)
{
	char path[2 * SRPOL_PATH_LEN];

	pin_path(path, dir, name);
	return bpf_program__pin(prog, path);
}

/* Nobody is to know which flows share a set of the table. */
static int set_flow_mix(struct srpol_bpf *skel)
{
	uint64_t *mix = (uint64_t *)skel->rodata->srpol_flow_mix;
	size_t len = sizeof(skel->rodata->srpol_flow_mix), i;

	if (getrandom(mix, len, 0) != (ssize_t)len)
		return -errno;
	for (i = 0; i < len / sizeof(*mix); i++)
		mix[i] |= 1;
	return 0;
}

static int pin_all(struct srpol_bpf *skel, struct bpf_link *link,
		   const char *dir)
{
	char path[2 * SRPOL_PATH_LEN];
	struct bpf_map *map;
	int ret;

	bpf_object__for_each_map(map, skel->obj) {
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS ||
		    bpf_map__is_internal(map))
			continue;
		pin_path(path, dir, bpf_map__name(map));
		ret = bpf_map__pin(map, path);
		if (ret)
			return ret;
	}
	ret = pin_prog(skel->progs.srpol_egress, dir, "prog_egress") ?:
	      pin_prog(skel->progs.srpol_uplink, dir, "prog_uplink") ?:
	      pin_prog(skel->progs.srpol_port, dir, "prog_port") ?:
	      pin_prog(skel->progs.srpol_explain, dir, "prog_explain");
	if (ret)
		return ret;
	pin_path(path, dir, "link_dp");
	return bpf_link__pin(link, path);
}

static int load_into(const char *dir, struct srpol_error *err)
{
	struct srpol_bpf *skel;
	struct bpf_link *link;
	int ret;

	skel = srpol_bpf__open();
	if (!skel)
		return srpol_error_set(err, -errno, "opening BPF object: %s",
				       strerror(errno));
	ret = set_flow_mix(skel) ?: srpol_bpf__load(skel);
	if (ret) {
		srpol_error_set(err, ret,
				"loading BPF programs: %s (srpol -v shows why)",
				strerror(-ret));
		goto out;
	}
	link = bpf_map__attach_struct_ops(skel->maps.srpol_dp);
	if (!link) {
		ret = srpol_error_set(err, -errno,
				      "registering with the module: %s",
				      errno == EBUSY ?
				      "another data plane is attached" :
				      errno == ENOSPC ?
				      "the configuration exceeds its tables" :
				      strerror(errno));
		goto out;
	}
	ret = pin_all(skel, link, dir);
	if (ret)
		srpol_error_set(err, ret, "pinning below %s: %s", dir,
				strerror(-ret));
	bpf_link__destroy(link);
out:
	srpol_bpf__destroy(skel);
	return ret;
}

/**
 * srpol_dp_load() - load the data plane and register it with the module
 * @err: for the reason
 *
 * Nothing is done if it is there already.
 */
int srpol_dp_load(struct srpol_error *err)
{
	struct srpol_dp_status st;
	int ret;

	libbpf_set_print(print_libbpf);
	ret = need_bpffs(err);
	if (ret)
		return ret;
	ret = srpol_dp_status(&st, err);
	if (ret || st.loaded)
		return ret;
	if (mkdir(SRPOL_PIN_ROOT, 0700) && errno != EEXIST)
		return srpol_error_set(err, -errno, "%s: %s", SRPOL_PIN_ROOT,
				       strerror(errno));
	/* what an interrupted attempt may have left */
	remove_dir(st.dir);
	if (mkdir(st.dir, 0700))
		return srpol_error_set(err, -errno, "%s: %s", st.dir,
				       strerror(errno));
	ret = load_into(st.dir, err);
	if (ret)
		remove_dir(st.dir);
	return ret;
}

/**
 * srpol_dp_unload() - take the data plane away
 * @err: for the reason
 *
 * Its programs are detached from all devices first.
 */
int srpol_dp_unload(struct srpol_error *err)
{
	struct srpol_dp_status st;
	int ret;

	ret = srpol_dp_status(&st, err);
	if (ret)
		return ret;
	remove_dir(st.dir);
	rmdir(SRPOL_PIN_ROOT);
	return 0;
}

static int xdp_attach(int prog, unsigned int ifindex, unsigned int flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);

	return bpf_link_create(prog, ifindex, BPF_XDP, &opts);
}

static uint32_t xdp_prog_id(unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);

	return bpf_xdp_query(ifindex, 0, &opts) ? 0 : opts.prog_id;
}

static int link_ingress(const char *dir, unsigned int ifindex,
			const char *name, enum srpol_xdp_mode mode,
			struct srpol_error *err)
{
	int prog, link = -EINVAL;
	uint32_t id;

	prog = open_pin(dir, name);
	if (prog < 0)
		return srpol_error_set(err, prog, "%s/%s: %s", dir, name,
				       strerror(-prog));
	if (mode != SRPOL_XDP_MODE_GENERIC)
		link = xdp_attach(prog, ifindex, XDP_FLAGS_DRV_MODE);
	id = link < 0 ? xdp_prog_id(ifindex) : 0;
	if (link < 0 && !id && mode != SRPOL_XDP_MODE_NATIVE)
		link = xdp_attach(prog, ifindex, XDP_FLAGS_SKB_MODE);
	close(prog);
	if (link >= 0)
		return link;
	if (id)
		return srpol_error_set(err, -EBUSY,
				       "XDP program %u is on the device; srpol does not replace it (bpftool net show)",
				       id);
	return srpol_error_set(err, link, "attaching XDP: %s",
			       link == -EOPNOTSUPP ?
			       "the driver has no native XDP, try xdp generic" :
			       strerror(-link));
}

static int link_egress(const char *dir, unsigned int ifindex,
		       struct srpol_error *err)
{
	int prog, link;

	prog = open_pin(dir, "prog_egress");
	if (prog < 0)
		return srpol_error_set(err, prog, "%s/prog_egress: %s", dir,
				       strerror(-prog));
	link = bpf_link_create(prog, ifindex, BPF_TCX_EGRESS, NULL);
	close(prog);
	if (link < 0)
		srpol_error_set(err, link, "attaching TCX egress: %s",
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
	pin_path(path, dir, name);
	/* left by a device that is gone and whose number is used again */
	unlink(path);
	ret = bpf_obj_pin(link, path) ? -errno : 0;
	close(link);
	if (ret)
		srpol_error_set(err, ret, "pinning %s: %s", path,
				strerror(-ret));
	return ret;
}

/* XDP reaches uplinks by this map; programs can read it but not write it. */
static int set_uplink(const char *dir, unsigned int ifindex,
		      struct srpol_error *err)
{
	struct bpf_devmap_val value = { .ifindex = ifindex };
	int map = open_pin(dir, "uplinks"), ret;

	if (map < 0)
		return srpol_error_set(err, map, "%s/uplinks: %s", dir,
				       strerror(-map));
	ret = bpf_map_update_elem(map, &ifindex, &value, BPF_ANY);
	close(map);
	return ret ? srpol_error_set(err, ret, "%s/uplinks: %s", dir,
				     strerror(-ret)) : 0;
}

static void clear_uplink(const char *dir, unsigned int ifindex)
{
	int map = open_pin(dir, "uplinks");

	if (map < 0)
		return;
	bpf_map_delete_elem(map, &ifindex);
	close(map);
}

static int attach_uplink(const char *dir, unsigned int ifindex,
			 struct srpol_error *err)
{
	char egress[64];
	int ret;

	ret = set_uplink(dir, ifindex, err);
	if (ret)
		return ret;
	link_name(egress, sizeof(egress), LINK_EGRESS, ifindex);
	ret = pin_link(link_egress(dir, ifindex, err), dir, egress, err);
	if (ret)
		clear_uplink(dir, ifindex);
	return ret;
}

/**
 * srpol_dp_attach() - put the programs on a device
 * @ifindex: the device
 * @role: what the device is
 * @mode: how XDP is to run
 * @err: for the reason
 *
 * The ingress program of an uplink goes first: what other hosts send
 * encapsulated is understood before anything is sent so.
 */
int srpol_dp_attach(unsigned int ifindex, enum srpol_dev_role role,
		    enum srpol_xdp_mode mode, struct srpol_error *err)
{
	bool uplink = role == SRPOL_DEV_ROLE_UPLINK;
	struct srpol_dp_status st;
	char ingress[64];
	int ret;

	ret = srpol_dp_status(&st, err);
	if (ret)
		return ret;
	link_name(ingress, sizeof(ingress), LINK_INGRESS, ifindex);
	ret = pin_link(link_ingress(st.dir, ifindex, uplink ? "prog_uplink" :
				    "prog_port", mode, err),
		       st.dir, ingress, err);
	if (ret < 0 || !uplink)
		return ret;
	ret = attach_uplink(st.dir, ifindex, err);
	if (ret < 0)
		remove_pin(st.dir, ingress);
	return ret;
}

/**
 * srpol_dp_detach() - take the programs off a device
 * @ifindex: the device
 * @err: for the reason
 */
int srpol_dp_detach(unsigned int ifindex, struct srpol_error *err)
{
	struct srpol_dp_status st;
	char name[64];
	int ret;

	ret = srpol_dp_status(&st, err);
	if (ret)
		return ret;
	link_name(name, sizeof(name), LINK_EGRESS, ifindex);
	remove_pin(st.dir, name);
	link_name(name, sizeof(name), LINK_INGRESS, ifindex);
	remove_pin(st.dir, name);
	clear_uplink(st.dir, ifindex);
	return 0;
}

/* Is the link still on a device, or was that device deleted? */
static bool link_alive(const char *dir, const char *name)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	int fd = open_pin(dir, name);
	bool alive;

	if (fd < 0)
		return false;
	alive = !bpf_link_get_info_by_fd(fd, &info, &len) &&
		(info.type == BPF_LINK_TYPE_XDP ? info.xdp.ifindex :
						  info.tcx.ifindex);
	close(fd);
	return alive;
}

/**
 * srpol_dp_any_attached() - is any device left that has the programs
 *
 * Pins of devices that were deleted are cleaned up on the way.
 */
bool srpol_dp_any_attached(void)
{
	struct srpol_dp_status st;
	struct dirent *entry;
	bool any = false;
	DIR *d;

	if (srpol_dp_status(&st, NULL))
		return false;
	d = opendir(st.dir);
	while (d && (entry = readdir(d))) {
		if (strncmp(entry->d_name, LINK_EGRESS,
			    strlen(LINK_EGRESS)) &&
		    strncmp(entry->d_name, LINK_INGRESS,
			    strlen(LINK_INGRESS)))
			continue;
		if (link_alive(st.dir, entry->d_name))
			any = true;
		else
			remove_pin(st.dir, entry->d_name);
	}
	if (d)
		closedir(d);
	return any;
}

/**
 * srpol_dp_dev_status() - what is attached to a device
 * @ifindex: the device
 * @st: result
 */
int srpol_dp_dev_status(unsigned int ifindex, struct srpol_dev_status *st)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);
	struct srpol_dp_status dp;
	char name[64];
	int ret;

	memset(st, 0, sizeof(*st));
	st->xdp_mode = "none";
	ret = srpol_dp_status(&dp, NULL);
	if (ret)
		return ret;
	link_name(name, sizeof(name), LINK_EGRESS, ifindex);
	st->egress = link_alive(dp.dir, name);
	link_name(name, sizeof(name), LINK_INGRESS, ifindex);
	st->ingress = link_alive(dp.dir, name);
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
	return 0;
}

/**
 * srpol_explain() - what the data plane would do with a packet
 * @frame: frame as it would leave, at least as long as @result
 * @len: its length
 * @ifindex: device it is looked at on
 * @mark: its mark
 * @result: the decision
 * @err: for the reason
 */
int srpol_explain(const void *frame, size_t len, unsigned int ifindex,
		  uint32_t mark, struct srpol_explain *result,
		  struct srpol_error *err)
{
	struct __sk_buff ctx = { .ifindex = ifindex, .mark = mark };
	struct srpol_dp_status st;
	char out[2048];
	int ret, prog;

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame,
		    .data_size_in = len, .data_out = out,
		    .data_size_out = sizeof(out), .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx));
	ret = srpol_dp_status(&st, err);
	if (ret)
		return ret;
	prog = open_pin(st.dir, "prog_explain");
	if (prog < 0)
		return srpol_error_set(err, prog, "%s/prog_explain: %s",
				       st.dir, strerror(-prog));
	ret = bpf_prog_test_run_opts(prog, &opts);
	close(prog);
	if (ret)
		return srpol_error_set(err, ret, "running prog_explain: %s",
				       strerror(-ret));
	memcpy(result, out, sizeof(*result));
	return 0;
}

/**
 * srpol_map_open() - open a pinned map of this namespace
 * @name: name of the map
 *
 * Return: file descriptor or a negative errno.
 */
int srpol_map_open(const char *name)
{
	struct srpol_dp_status st;
	int ret = srpol_dp_status(&st, NULL);

	return ret ? ret : open_pin(st.dir, name);
}
