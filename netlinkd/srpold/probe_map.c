// SPDX-License-Identifier: GPL-2.0
/*
 * The data plane's map "probes", mapped into memory: the prober writes what it
 * sends, XDP writes what came back. If there is no such map or no XDP program,
 * private memory replaces the map, and the prober records probes that come by
 * packet sockets itself.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probing.h"
#include "srpold.h"

#define TABLE_LEN	(SRPOL_MAX_PROBES * sizeof(struct srpol_probe))
#define FIRST_REASON	SRPOL_REASON_PROBE
#define REASONS		SRPOL_PROBE_REASONS

static const char no_map[] =
"no map of probes in the data plane: they are read from packet sockets";

static struct srpol_probe *table;
static uint32_t map_id;			/* 0: private memory */
static int reasons = -1;
static uint64_t base[REASONS];		/* counts when srpold began */
static struct ring_buffer *ring;
static int ring_map = -1;		/* must stay open while @ring is
					 * polled */
static struct source events = { .fd = -1 };

static uint32_t id_of(int fd)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	return fd < 0 || bpf_map_get_info_by_fd(fd, &info, &len) ||
	       info.value_size != sizeof(struct srpol_probe) ||
	       info.max_entries != SRPOL_MAX_PROBES ? 0 : info.id;
}

static uint64_t count_of(enum srpol_reason reason)
{
	uint64_t n = 0;

	srpol_map_sum(reasons, reason, &n, sizeof(n));
	return n;
}

static int take_event(void *ctx, void *record, size_t size)
{
	if (size >= sizeof(struct srpol_probe_event))
		prober_anomaly(record);
	return 0;
}

static void read_events(struct source *source, uint32_t what)
{
	ring_buffer__consume(ring);
}

static int set_key(void)
{
	struct srpol_probe_key key = { .set = 1 };
	int fd = srpol_map_open("probe_key"), ret;
	uint32_t zero = 0;

	memcpy(key.k, probe_key(), sizeof(key.k));
	ret = srpol_map_update(fd, &zero, &key);
	srpol_map_close(fd);
	return ret;
}

static int watch_events(void)
{
	ring_map = srpol_map_open("probe_events");
	if (ring_map < 0)
		return ring_map;
	ring = ring_buffer__new(ring_map, take_event, NULL, NULL);
	if (!ring)
		return -errno;
	events.fd = ring_buffer__epoll_fd(ring);
	events.ready = read_events;
	return loop_add(&events, EPOLLIN);
}

/* Map the map of the current data plane. */
static int open_map(void)
{
	int fd = srpol_map_open("probes"), i;
	void *at = MAP_FAILED;
	uint32_t id = id_of(fd);

	if (id)
		at = mmap(NULL, TABLE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd, 0);
	srpol_map_close(fd);
	if (at == MAP_FAILED)
		return -ENOENT;
	table = at;
	map_id = id;
	if (set_key() || watch_events()) {
		probe_map_close();
		return -ENOENT;
	}
	reasons = srpol_map_open("reasons");
	for (i = 0; i < REASONS; i++)
		base[i] = count_of(FIRST_REASON + i);
	return 0;
}

/**
 * probe_map_open() - map the data plane's map, or allocate a replacement
 * @err: message on failure
 */
int probe_map_open(struct srpol_error *err)
{
	void *at;

	if (!open_map())
		return 0;
	log_notice("%s", no_map);
	at = mmap(NULL, TABLE_LEN, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return srpol_error_set(err, -errno, "memory for probes: %m");
	table = at;
	return 0;
}

static void stop_events(void)
{
	if (events.fd >= 0)
		loop_remove(&events);
	events.fd = -1;
	ring_buffer__free(ring);
	ring = NULL;
	srpol_map_close(ring_map);
	ring_map = -1;
	srpol_map_close(reasons);
	reasons = -1;
	memset(base, 0, sizeof(base));
}

/**
 * probe_map_close() - unmap the map and stop reading events
 */
void probe_map_close(void)
{
	stop_events();
	if (table)
		munmap(table, TABLE_LEN);
	table = NULL;
	map_id = 0;
}

/**
 * probe_map_is_whole() - is there a data plane, all of which is pinned
 *
 * This pin is the last one to come, and the first one to go.
 */
bool probe_map_is_whole(void)
{
	int fd = srpol_map_open("link_dp");

	srpol_map_close(fd);
	return fd >= 0;
}

static bool is_renewed(void)
{
	int fd = srpol_map_open("probes");
	uint32_t id = id_of(fd);

	srpol_map_close(fd);
	return id != map_id && probe_map_is_whole();
}

/**
 * probe_map_follow() - switch to the data plane's map, if it has another one by now
 *
 * This is so after the data plane was unloaded and loaded again. If that map cannot
 * be used, the memory of the former one replaces it.
 *
 * Return: whether the table is another one, or is used in another way.
 */
bool probe_map_follow(void)
{
	struct srpol_probe *former = table;
	bool was_map = map_id;

	if (!is_renewed())
		return false;
	stop_events();
	table = NULL;
	map_id = 0;
	if (!open_map()) {
		munmap(former, TABLE_LEN);
		return true;
	}
	table = former;
	if (was_map)
		log_notice("%s", no_map);
	return was_map;
}

/**
 * probe_map_is_xdp() - whether XDP takes the probes
 */
bool probe_map_is_xdp(void)
{
	return map_id;
}

/**
 * probe_map_at() - entry of a probe
 * @index: its SSID, below SRPOL_MAX_PROBES
 */
struct srpol_probe *probe_map_at(uint32_t index)
{
	static struct srpol_probe none;

	/* without a table after a failed reload, srpold is about to end */
	return table ? &table[index] : &none;
}

/**
 * probe_map_count() - probes that XDP counted since srpold began
 * @reason: SRPOL_REASON_PROBE or a later reason of probes
 */
uint64_t probe_map_count(enum srpol_reason reason)
{
	return count_of(reason) - base[reason - FIRST_REASON];
}
