// SPDX-License-Identifier: GPL-2.0
/*
 * Pinned maps of another version of srpol are neither read nor written. In
 * namespaces of its own, with a BPF file system that only this program sees.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "pins.h"
#include "srpol.skel.h"

#define ENTRIES	8

static struct srpol_bpf *skel;
static struct srpol_dp_status st;

static int make_map(const char *name, enum bpf_map_type type, __u32 key,
		    __u32 value)
{
	int fd = bpf_map_create(type, name, key, value, ENTRIES, NULL);

	CHECK(fd >= 0, "%s: %s", name, strerror(-fd));
	return fd;
}

/* The maps as this version loads them are the ones that it knows. */
static void test_same(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	struct bpf_map *map;
	int fd;

	bpf_object__for_each_map(map, skel->obj) {
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS ||
		    bpf_map__type(map) == BPF_MAP_TYPE_DEVMAP_HASH ||
		    bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF ||
		    !bpf_map__key_size(map))
			continue;
		opts.map_flags = bpf_map__map_flags(map);
		fd = bpf_map_create(bpf_map__type(map), "same",
				    bpf_map__key_size(map),
				    bpf_map__value_size(map), ENTRIES, &opts);
		if (!CHECK(fd >= 0, "%s: %s", bpf_map__name(map),
			   strerror(-fd)))
			continue;
		CHECK_EQ(srpol_layout_check(fd, bpf_map__name(map)), 0, "%s",
			 bpf_map__name(map));
		close(fd);
	}
}

static void check_other(const char *what, const char *name,
			enum bpf_map_type type, __u32 key, __u32 value)
{
	int fd = make_map(name, type, key, value);

	CHECK_EQ(srpol_layout_check(fd, name), -EPROTONOSUPPORT, "%s", what);
	close(fd);
}

/* A map of each CPU has a value for each of them, whatever the size of one. */
static void test_other(void)
{
	struct bpf_map *map = skel->maps.limits;
	__u32 key = bpf_map__key_size(map), value = bpf_map__value_size(map);

	check_other("value", "limits", BPF_MAP_TYPE_HASH, key, value + 8);
	check_other("key", "limits", BPF_MAP_TYPE_HASH, key + 4, value);
	check_other("a value for each CPU", "limits",
		    BPF_MAP_TYPE_PERCPU_HASH, key, value);
}

/* An entry of host_addrs for a device that does not exist: all bytes are 1. */
static int pin_host(__u32 value)
{
	int fd = make_map("host_addrs", BPF_MAP_TYPE_HASH, 16, value);
	char path[2 * SRPOL_PATH_LEN], *v = malloc(value), key[16] = { 1 };

	memset(v, 1, value);
	srpol_pins_path(path, st.dir, "host_addrs");
	CHECK_EQ(bpf_map_update_elem(fd, key, v, BPF_ANY), 0, "entry");
	CHECK_EQ(bpf_obj_pin(fd, path), 0, "%s: %m", path);
	free(v);
	return fd;
}

static bool has_entry(int fd)
{
	char key[16];

	return !bpf_map_get_next_key(fd, NULL, key);
}

/* What "srpol dev" does with the addresses of virtual ports. */
static void test_host(void)
{
	__u32 value = bpf_map__value_size(skel->maps.host_addrs);
	int fd = pin_host(value);

	CHECK(srpol_dp_host_stale(), "of this version");
	srpol_dp_host_sweep();
	CHECK(!has_entry(fd), "swept");
	close(fd);
	srpol_pins_remove(st.dir, "host_addrs");

	fd = pin_host(64 * value);
	CHECK(!srpol_dp_host_stale(), "of another version");
	srpol_dp_host_sweep();
	CHECK_EQ(srpol_dp_detach_host(1, NULL), 0, "detached");
	CHECK(has_entry(fd), "left alone");
	close(fd);
	srpol_pins_remove(st.dir, "host_addrs");
}

static int run_tests(void)
{
	static const struct ktap_test tests[] = {
		{ "maps of this version are known as such", test_same },
		{ "keys, values and CPUs of another version", test_other },
		{ "addresses of virtual ports", test_host },
	};
	struct srpol_error err = {};
	int lock;

	if (mount("proc", "/proc", "proc", 0, NULL) ||
	    mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL))
		ktap_skip_all("no namespaces");
	skel = srpol_bpf__open();
	lock = srpol_pins_lock(&err);
	if (!skel || lock < 0 || srpol_dp_status(&st, &err) ||
	    srpol_pins_make_dir(st.dir, &err)) {
		fprintf(stderr, "layout: %s\n", err.text);
		return 1;
	}
	return ktap_main(tests, sizeof(tests) / sizeof(tests[0]));
}

int main(void)
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		ktap_skip_all("no namespaces");
	pid = fork();
	if (!pid)
		exit(run_tests());
	return pid < 0 || waitpid(pid, &status, 0) != pid ||
	       !WIFEXITED(status) ? 1 : WEXITSTATUS(status);
}
