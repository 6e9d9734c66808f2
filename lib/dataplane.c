// SPDX-License-Identifier: LGPL-2.1
/*
 * Load and pin the eBPF data plane; attach.c attaches it to devices.
 *
 * All pins of a network namespace are in one folder, and need no process to
 * stay. Names in the folder:
 *
 *	MAP			every map, by its name
 *	prog_NAME		the programs: egress, uplink, port, port_tc,
 *				explain
 *	link_dp			registration with the module (struct_ops)
 *	link_egress_IFINDEX	TCX link of a device
 *	link_ingress_IFINDEX	XDP link of a device
 *	link_tc_IFINDEX		TCX ingress link of a port
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ksyms.h"
#include "pins.h"
#include "srpol_lib.h"
#include "srpol.skel.h"

static bool verbose;

/**
 * srpol_dp_verbose() - print messages of libbpf
 * @on: also print its debugging output, with the log of the verifier
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

/**
 * srpol_dp_status() - is the data plane of this namespace loaded
 * @st: result
 * @err: for the reason
 *
 * Return: 0, -EACCES if the pins may not be read, or another negative errno.
 */
int srpol_dp_status(struct srpol_dp_status *st, struct srpol_error *err)
{
	int ret = srpol_pins_dir(st->dir, err);

	st->loaded = false;
	st->stale = false;
	if (ret)
		return ret;
	ret = srpol_pins_check(st->dir);
	st->stale = ret == -ESTALE;
	if (!ret)
		ret = srpol_pins_exist(st->dir, "link_dp");
	st->loaded = ret == 1;
	if (ret >= 0 || ret == -ENOENT || ret == -ESTALE)
		return 0;
	return srpol_error_set(err, ret, "reading %s: %s", st->dir,
			       strerror(-ret));
}

static int pin_prog(struct bpf_program *prog, const char *dir,
		    const char *name)
{
	char path[2 * SRPOL_PATH_LEN];

	srpol_pins_path(path, dir, name);
	return bpf_program__pin(prog, path);
}

/*
 * Draw random multipliers, so that nobody knows which flows share a set of the
 * table.
 */
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
		srpol_pins_path(path, dir, bpf_map__name(map));
		ret = bpf_map__pin(map, path);
		if (ret)
			return ret;
	}
	ret = pin_prog(skel->progs.srpol_egress, dir, "prog_egress") ?:
	      pin_prog(skel->progs.srpol_uplink, dir, "prog_uplink") ?:
	      pin_prog(skel->progs.srpol_port, dir, "prog_port") ?:
	      pin_prog(skel->progs.srpol_port_tc, dir, "prog_port_tc") ?:
	      pin_prog(skel->progs.srpol_uplink_tc, dir, "prog_uplink_tc") ?:
	      pin_prog(skel->progs.srpol_explain, dir, "prog_explain");
	if (ret)
		return ret;
	srpol_pins_path(path, dir, "link_dp");
	return bpf_link__pin(link, path);
}

static int load_into(const char *dir, struct srpol_error *err)
{
	struct srpol_bpf *skel;
	struct bpf_link *link;
	int ret;

	if (access("/sys/kernel/btf/srpol", F_OK))
		return srpol_error_set(err, -ENOEXEC,
				       "module srpol is loaded without type information: srpol.ko has no BTF, rebuild it with pahole installed");
	skel = srpol_bpf__open();
	if (!skel)
		return srpol_error_set(err, -errno, "opening BPF object: %s",
				       strerror(errno));
	skel->rodata->srpol_netns = srpol_pins_cookie();
	srpol_ksyms_lsm_hooks((uint64_t *)skel->rodata->srpol_lsm_hooks);
	ret = set_flow_mix(skel) ?: srpol_bpf__load(skel);
	if (ret) {
		srpol_error_set(err, ret,
				"loading BPF programs: %s (srpol -v shows why; after an upgrade, the module that is loaded may be an older one)",
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
 * Does nothing if it is loaded already. To be called with the lock of
 * srpol_pins_lock() held.
 */
int srpol_dp_load(struct srpol_error *err)
{
	struct srpol_dp_status st;
	int ret;

	libbpf_set_print(print_libbpf);
	ret = srpol_dp_status(&st, err);
	if (ret || st.loaded)
		return ret;
	srpol_pins_sweep();
	ret = srpol_pins_make_dir(st.dir, err);
	if (ret)
		return ret;
	ret = load_into(st.dir, err);
	if (ret)
		srpol_pins_remove_dir(st.dir);
	return ret;
}

/**
 * srpol_dp_unload() - unload the data plane
 * @err: for the reason
 *
 * Its programs are detached from all devices first. To be called with the
 * lock of srpol_pins_lock() held.
 */
int srpol_dp_unload(struct srpol_error *err)
{
	struct srpol_dp_status st;
	int ret;

	ret = srpol_dp_status(&st, err);
	if (ret)
		return ret;
	srpol_pins_remove_dir(st.dir);
	return 0;
}

/**
 * srpol_explain() - what the data plane would do with a packet
 * @frame: frame as it would leave, at least as long as @result
 * @len: its length
 * @ifindex: device on which the packet is examined
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
	prog = srpol_pins_open(st.dir, "prog_explain");
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
 * Return: file descriptor or a negative errno: -EPROTONOSUPPORT if it was
 * loaded by another version of srpol.
 */
int srpol_map_open(const char *name)
{
	struct srpol_dp_status st;
	int ret = srpol_dp_status(&st, NULL), fd;

	if (ret || st.stale)
		return ret ?: -ESTALE;
	fd = srpol_pins_open(st.dir, name);
	ret = fd < 0 ? fd : srpol_layout_check(fd, name);
	if (fd >= 0 && ret)
		close(fd);
	return ret ?: fd;
}
