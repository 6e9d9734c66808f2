// SPDX-License-Identifier: GPL-2.0
/*
 * The data plane's maps "fars" and "pairs": what peers report about the probes
 * that they reflect, and the peers with which a key is shared.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "probing.h"
#include "srpold.h"

#define TABLE_LEN	(SRPOL_MAX_PROBES * sizeof(struct srpol_far))

static struct srpol_far *table;

/**
 * reflect_map_open() - map the maps, if the data plane has them
 */
void reflect_map_open(void)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int fd = srpol_map_open("fars");
	void *at = MAP_FAILED;

	if (fd >= 0 && probe_map_is_xdp() &&
	    !bpf_map_get_info_by_fd(fd, &info, &len) &&
	    info.value_size == sizeof(struct srpol_far) &&
	    info.max_entries == SRPOL_MAX_PROBES)
		at = mmap(NULL, TABLE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd, 0);
	srpol_map_close(fd);
	table = at == MAP_FAILED ? NULL : at;
}

/**
 * reflect_map_close() - unmap them
 */
void reflect_map_close(void)
{
	if (table)
		munmap(table, TABLE_LEN);
	table = NULL;
}

/**
 * reflect_map_is_there() - whether the data plane can reflect probes
 */
bool reflect_map_is_there(void)
{
	return table;
}

/**
 * reflect_map_is_lost() - whether there is a data plane whose keys nobody can set or
 *	delete any more
 */
bool reflect_map_is_lost(void)
{
	int pairs = srpol_map_open("pairs");

	srpol_map_close(pairs);
	return pairs == -ENOENT && probe_map_is_whole();
}

/**
 * reflect_map_at() - what the peer reports about a probe
 * @index: its SSID, below SRPOL_MAX_PROBES
 */
struct srpol_far *reflect_map_at(uint32_t index)
{
	static struct srpol_far none;

	return table ? &table[index] : &none;
}

/* Whether there is a key of the peer with an address. */
static bool has_key(const struct engine *engine, const struct in6_addr *addr)
{
	uint32_t nic = srpol_fabric_nic_at(engine->fabric, addr);
	const struct host_key *k;

	if (nic == SRPOL_NONE)
		return false;
	vec_for_each(k, &engine->keys)
		if (engine->fabric->nics[nic].host == k->peer)
			return true;
	return false;
}

/* Delete the addresses that have no key any more, each of which is met once. */
static void delete_old(const struct engine *engine, int fd)
{
	struct in6_addr key, next;
	int ret = bpf_map_get_next_key(fd, NULL, &next);

	while (!ret) {
		key = next;
		/* before the key may be gone */
		ret = bpf_map_get_next_key(fd, &key, &next);
		if (!has_key(engine, &key))
			bpf_map_delete_elem(fd, &key);
	}
}

static int put_pair(const struct engine *engine, int fd,
		    const struct host_key *k, const struct in6_addr *addr)
{
	struct in6_addr sid = engine_sid(engine, k->peer,
					 &engine->fabric->sids.probe);
	struct srpol_pair pair = { .rate = engine->config.reflect.rate };

	memcpy(pair.k, k->key, sizeof(pair.k));
	memcpy(pair.also, k->also, sizeof(pair.also));
	pair.both = k->both;
	memcpy(pair.sid, &sid, sizeof(pair.sid));
	return bpf_map_update_elem(fd, addr, &pair, BPF_ANY) ? -errno : 0;
}

/**
 * reflect_map_pairs() - set the keys in the data plane, and delete all others
 * @engine: the engine
 * @err: message on failure
 */
int reflect_map_pairs(const struct engine *engine, struct srpol_error *err)
{
	int fd = srpol_map_open("pairs"), ret = 0;
	const struct srpol_nic *nic;
	const struct host_key *k;
	uint32_t i;

	if (fd < 0)
		return srpol_error_set(err, fd, "map of keys: %s",
				       strerror(-fd));
	delete_old(engine, fd);
	vec_for_each(k, &engine->keys) {
		for (i = 0; !ret && i < engine->fabric->n_nics; i++) {
			nic = &engine->fabric->nics[i];
			if (nic->host == k->peer)
				ret = put_pair(engine, fd, k, &nic->addr);
		}
	}
	srpol_map_close(fd);
	return ret ? srpol_error_set(err, ret, "map of keys, which has room for %u addresses: %s",
				     SRPOL_MAX_PAIRS, strerror(-ret)) : 0;
}
