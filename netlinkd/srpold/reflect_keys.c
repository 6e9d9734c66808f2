// SPDX-License-Identifier: GPL-2.0
/*
 * Keys of pairs of hosts: a host only reflects probes of a host with which it
 * shares a key.
 *
 *	{ "keys": [ { "hosts": [ "A", "B" ], "key": "00112233445566778899aabbccddeeff",
 *	              "also": "ffeeddccbbaa99887766554433221100" } ] }
 *
 * Packets are sent with "key"; "also" is accepted as well, so that keys can be
 * changed on one host after the other.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "probing.h"
#include "srpold.h"
#include "words.h"

static int hex_of(char c)
{
	const char *digits = "0123456789abcdef";

	return isxdigit((unsigned char)c) ?
	       strchr(digits, tolower((unsigned char)c)) - digits : -1;
}

static int get_key(const json_t *o, const char *name, uint8_t *key,
		   struct srpol_error *err)
{
	const char *text = json_string_value(json_object_get(o, name));
	int i, high, low;

	for (i = 0; text && strlen(text) == 2 * REFLECT_KEY_LEN &&
	     i < REFLECT_KEY_LEN; i++) {
		high = hex_of(text[2 * i]);
		low = hex_of(text[2 * i + 1]);
		if (high < 0 || low < 0)
			break;
		key[i] = high << 4 | low;
	}
	if (text && strlen(text) == 2 * REFLECT_KEY_LEN && i == REFLECT_KEY_LEN)
		return 0;
	/* never log the key itself */
	return srpol_error_set(err, -EINVAL, "\"%s\" is not %u hexadecimal digits",
			       name, 2 * REFLECT_KEY_LEN);
}

static int get_host(const struct engine *engine, const json_t *hosts, size_t i,
		    uint32_t *node, struct srpol_error *err)
{
	const char *name = json_string_value(json_array_get(hosts, i));

	if (json_array_size(hosts) != 2 || !name)
		return srpol_error_set(err, -EINVAL,
				       "\"hosts\" is not a list of two names");
	*node = srpol_fabric_node(engine->fabric, name);
	if (*node == SRPOL_NONE ||
	    engine->fabric->nodes[*node].tier != SRPOL_TIER_HOST)
		return srpol_error_set(err, -ENOENT, "no host \"%s\"", name);
	return 0;
}

/*
 * The data plane identifies a peer by its address alone, so all hosts of this
 * namespace need the same key for a peer.
 */
static int add_key(struct engine *engine, uint32_t host, uint32_t peer,
		   const struct host_key *keys, struct srpol_error *err)
{
	const char *name = engine->fabric->nodes[peer].name;
	struct host_key *k;

	if (!engine_is_local(engine, host))
		return 0;
	vec_for_each(k, &engine->keys) {
		if (k->peer != peer)
			continue;
		if (k->host == host)
			return srpol_error_set(err, -EEXIST,
					       "two keys of \"%s\" and \"%s\"",
					       engine->fabric->nodes[host].name,
					       name);
		if (memcmp(k->key, keys->key, sizeof(k->key)) ||
		    k->both != keys->both ||
		    memcmp(k->also, keys->also, sizeof(k->also)))
			return srpol_error_set(err, -EEXIST,
					       "two hosts of this namespace have different keys of \"%s\"",
					       name);
	}
	k = vec_add(&engine->keys);
	*k = *keys;
	k->host = host;
	k->peer = peer;
	return 0;
}

static int read_one(struct engine *engine, const json_t *o,
		    struct srpol_error *err)
{
	static const char * const keys[] = { "hosts", "key", "also", NULL };
	const json_t *hosts = json_object_get(o, "hosts");
	struct host_key key = { .both = json_object_get(o, "also") };
	uint32_t a, b;
	int ret;

	if (!json_is_object(o))
		return srpol_error_set(err, -EINVAL,
				       "\"keys\" is not a list of objects");
	ret = words_check(o, keys, " in \"keys\"", err) ?:
	      get_host(engine, hosts, 0, &a, err) ?:
	      get_host(engine, hosts, 1, &b, err) ?:
	      get_key(o, "key", key.key, err) ?:
	      (key.both ? get_key(o, "also", key.also, err) : 0);
	if (ret)
		return ret;
	if (a == b)
		return srpol_error_set(err, -EINVAL,
				       "a key of host \"%s\" with itself",
				       engine->fabric->nodes[a].name);
	return add_key(engine, a, b, &key, err) ?:
	       add_key(engine, b, a, &key, err);
}

static int read_keys(const json_t *o, void *engine, struct srpol_error *err)
{
	static const char * const keys[] = { "keys", NULL };
	const json_t *list = json_object_get(o, "keys"), *v;
	size_t i;
	int ret;

	ret = words_check(o, keys, "", err);
	if (!ret && !json_is_array(list))
		ret = srpol_error_set(err, -EINVAL, "\"keys\" is not a list");
	if (ret)
		return ret;
	json_array_foreach(list, i, v) {
		ret = read_one(engine, v, err);
		if (ret)
			return ret;
	}
	return 0;
}

/* A reader of the file could make hosts believe anything about their paths. */
static int check_mode(const char *file, struct srpol_error *err)
{
	struct stat st;

	if (stat(file, &st))
		return srpol_error_set(err, -errno, "%s: %m", file);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return srpol_error_set(err, -EACCES,
				       "%s: others than its owner may use it (mode %03o)",
				       file, st.st_mode & 0777);
	return 0;
}

/**
 * reflect_keys_read() - read the keys of the hosts of this namespace
 * @engine: the engine, with topology and configuration
 * @err: message on failure
 */
int reflect_keys_read(struct engine *engine, struct srpol_error *err)
{
	const char *file = engine->config.reflect.keys;
	int ret;

	if (!file[0])
		return 0;
	ret = check_mode(file, err) ?: words_file(file, read_keys, engine, err);
	if (!ret && IN6_IS_ADDR_UNSPECIFIED(&engine->fabric->sids.reflect))
		ret = srpol_error_set(err, -EINVAL,
				      "%s: no \"reflect\" in \"functions\", which is where probes are reflected",
				      engine->config.topology);
	return ret;
}

/**
 * reflect_key() - key that two hosts share
 * @engine: the engine
 * @host: node in this namespace
 * @peer: node of the other host
 *
 * Return: NULL if they have no key.
 */
const struct host_key *reflect_key(const struct engine *engine, uint32_t host,
				   uint32_t peer)
{
	const struct host_key *k;

	vec_for_each(k, &engine->keys)
		if (k->host == host && k->peer == peer)
			return k;
	return NULL;
}
