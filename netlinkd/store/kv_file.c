// SPDX-License-Identifier: GPL-2.0
/*
 * The file of the embedded store: one JSON object, replaced as a whole. Keys
 * of leases are not in it: who holds them comes again, and says so again.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "kv.h"
#include "save.h"

/*
 * Revisions that may have gone by after the file was written: keys of leases
 * that ended while the disk took nothing. A term must not come twice. Nor must
 * the number of a lease, and nothing is written when one is granted.
 */
#define UNSAVED		(1u << 20)

/* @revision: that of the store; no key is newer, and none is there twice. */
static int read_keys(struct kv *kv, const json_t *keys, json_int_t revision)
{
	struct store_kv one;
	json_int_t create, mod;
	const json_t *o;
	size_t i;

	json_array_foreach(keys, i, o) {
		if (json_unpack((json_t *)o, "[s, s%, I, I]", &one.key,
				&one.value, &one.len, &create, &mod) ||
		    create <= 0 || mod < create || mod > revision)
			return -EINVAL;
		one.create = create;
		one.mod = mod;
		if (!kv_restore(kv, &one))
			return -EEXIST;
	}
	return 0;
}

/**
 * kv_load() - read a store from its file, if there is one
 * @kv: empty store
 * @file: its name
 * @err: what is wrong
 */
int kv_load(struct kv *kv, const char *file, struct srpol_error *err)
{
	json_int_t cluster, revision, lease;
	json_error_t at;
	json_t *o, *keys;
	int ret;

	if (access(file, F_OK))
		return 0;
	o = json_load_file(file, JSON_REJECT_DUPLICATES, &at);
	if (!o)
		return srpol_error_set(err, -EINVAL, "%s: line %d: %s", file,
				       at.line, at.text);
	ret = json_unpack(o, "{s:I, s:I, s:I, s:o !}", "cluster", &cluster,
			  "revision", &revision, "lease", &lease, "keys",
			  &keys) || cluster <= 0 || revision <= 0 ||
	      revision >> 53 || lease <= 0 || lease >> 53 ||
	      !json_is_array(keys) ? -EINVAL : read_keys(kv, keys, revision);
	if (!ret) {
		kv->cluster = cluster;
		/* what was after it, of leases, is gone */
		kv->revision = revision + UNSAVED;
		kv->compacted = kv->revision;
		/* granted since: who has them may still ask for them */
		kv->next_lease = lease + UNSAVED;
	}
	json_decref(o);
	return ret ? srpol_error_set(err, ret, "%s is no store", file) : 0;
}

static json_t *to_json(const struct kv *kv)
{
	struct vec kvs = VEC_INIT(struct store_kv);
	json_t *keys = json_array();
	const struct store_kv *one;

	kv_range(kv, "", true, 0, &kvs);
	vec_for_each(one, &kvs)
		if (!one->lease)
			json_array_append_new(keys,
				json_pack("[s, s%, I, I]", one->key, one->value,
					  one->len, (json_int_t)one->create,
					  (json_int_t)one->mod));
	vec_free(&kvs);
	return json_pack("{s:I, s:I, s:I, s:o}",
			 "cluster", (json_int_t)kv->cluster,
			 "revision", (json_int_t)kv->revision,
			 "lease", (json_int_t)kv->next_lease, "keys", keys);
}

/**
 * kv_save() - write a store to its file
 * @kv: store
 * @file: its name
 * @err: why not; the file is as before
 *
 * When it returns, it is on the disk.
 */
int kv_save(const struct kv *kv, const char *file, struct srpol_error *err)
{
	json_t *o = to_json(kv);
	int ret;

	ret = o ? store_save(file, o) : -ENOMEM;
	json_decref(o);
	return ret ? srpol_error_set(err, ret, "%s: %s", file, strerror(-ret)) :
	       0;
}
