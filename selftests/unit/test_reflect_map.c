// SPDX-License-Identifier: GPL-2.0
/* Keys in the data plane's map of peers, when the file of keys has others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "probing.h"
#include "srpold.h"
#include "test.h"

#define G	1000000000ull
#define HOSTS	600
#define PAIRS	512	/* in the map */

static struct engine engine;

/* ---- the map */

static struct {
	struct in6_addr key;
	struct srpol_pair pair;
} map[PAIRS];
static uint32_t n_map;
static unsigned int asked;	/* for the next key */

static uint32_t place_of(const void *key)
{
	uint32_t i;

	for (i = 0; i < n_map && memcmp(&map[i].key, key, sizeof(map[i].key)); i++)
		;
	return i;
}

/* As the kernel: the first one if the key is not there. */
int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	uint32_t i = key ? place_of(key) : n_map;

	(void)fd;
	asked++;
	i = i == n_map ? 0 : i + 1;
	if (i >= n_map)
		return -ENOENT;
	memcpy(next, &map[i].key, sizeof(map[i].key));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	uint32_t i = place_of(key);

	(void)fd;
	assert_in_range(i, 0, n_map - 1);
	memmove(&map[i], &map[i + 1], (--n_map - i) * sizeof(map[0]));
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	uint32_t i = place_of(key);

	(void)fd;
	(void)flags;
	if (i == PAIRS) {
		errno = E2BIG;
		return -1;
	}
	memcpy(&map[i].key, key, sizeof(map[i].key));
	memcpy(&map[i].pair, value, sizeof(map[i].pair));
	n_map += i == n_map;
	return 0;
}

int bpf_map_get_info_by_fd(int fd, struct bpf_map_info *info, __u32 *len)
{
	(void)fd;
	(void)info;
	(void)len;
	return -1;
}

int srpol_map_open(const char *name)
{
	assert_string_equal(name, "pairs");
	return 7;
}

void srpol_map_close(int fd)
{
	(void)fd;
}

/* ---- of the rest */

bool probe_map_is_xdp(void)
{
	return true;
}

bool probe_map_is_whole(void)
{
	return true;
}

struct in6_addr engine_sid(const struct engine *e, uint32_t node,
			   const struct in6_addr *function)
{
	struct in6_addr sid = e->fabric->nodes[node].locator;

	(void)function;
	return sid;
}

/* ---- the test's side */

static uint32_t host(uint32_t i)
{
	return engine.fabric->gpus[i].host;
}

/* Host 0 shares keys with these peers, and with no others. */
static void share(uint32_t from, uint32_t to)
{
	struct host_key *k;

	engine.keys.n = 0;
	for (; from < to; from++) {
		k = vec_add(&engine.keys);
		k->host = host(0);
		k->peer = host(from);
		k->key[0] = from;
		k->key[1] = from >> 8;
	}
}

static bool is_in_map(uint32_t peer)
{
	const uint8_t key[REFLECT_KEY_LEN] = { peer, peer >> 8 };
	uint32_t i = place_of(&engine.fabric->nics[engine.fabric->gpus[peer].nic].addr);

	return i < n_map && !memcmp(map[i].pair.k, key, sizeof(key));
}

static int up(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(HOSTS, 1, 1, 400 * G);

	(void)state;
	engine.fabric = srpol_fabric_generate(&shape, NULL);
	engine.keys = (struct vec)VEC_INIT(struct host_key);
	n_map = 0;
	return 0;
}

static int down(void **state)
{
	(void)state;
	vec_free(&engine.keys);
	srpol_fabric_free(engine.fabric);
	return 0;
}

/* What is not shared any more is gone, in one pass; what is has its key of now. */
static void test_others(void **state)
{
	struct srpol_error err = {};
	struct in6_addr strange = { .s6_addr = { 0xfe } };
	struct srpol_pair pair = {};
	uint32_t i;

	(void)state;
	share(1, PAIRS);
	assert_int_equal(reflect_map_pairs(&engine, &err), 0);
	assert_int_equal(n_map, PAIRS - 1);
	/* of a topology of before */
	bpf_map_update_elem(7, &strange, &pair, 0);
	share(300, 400);
	asked = 0;
	assert_int_equal(reflect_map_pairs(&engine, &err), 0);
	assert_in_range(asked, 1, PAIRS + 1);
	assert_int_equal(n_map, 100);
	for (i = 1; i < HOSTS; i++)
		assert_int_equal(is_in_map(i), i >= 300 && i < 400);
	share(0, 0);
	assert_int_equal(reflect_map_pairs(&engine, &err), 0);
	assert_int_equal(n_map, 0);
}

/* More than there is room for is refused. */
static void test_too_many(void **state)
{
	struct srpol_error err = {};

	(void)state;
	share(1, PAIRS + 2);
	assert_int_equal(reflect_map_pairs(&engine, &err), -E2BIG);
	assert_non_null(strstr(err.text, "map of keys, which has room for"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_others, up, down),
		cmocka_unit_test_setup_teardown(test_too_many, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
