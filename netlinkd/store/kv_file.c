// SPDX-License-Identifier: GPL-2.0
/*
 * The file of the embedded store: one JSON object, replaced as a whole. Keys
 * with a lease are not saved: after a restart their holders get a new lease and
 * write them again.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "kv.h"
#include "save.h"
#include "words.h"

/*
 * Added to the saved revision when the file is loaded. Changes may have
 * happened that are not in the file: when keys are deleted with their leases,
 * this takes effect even if the file cannot be written. Skipping ahead makes
 * sure that no revision, and no term derived from it, is used twice. The same
 * holds for identifiers of leases, as granting a lease does not write the file.
 */
#define UNSAVED		(1u << 20)

/*
 * Reads the keys. None may be newer than the store's @revision or occur twice.
 */
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
 * kv_load() - load a store from its file, if there is one
 * @kv: empty store
 * @file: name of the file
 * @err: error message
 *
 * Return: 0 or a negative errno.
 */
int kv_load(struct kv *kv, const char *file, struct srpol_error *err)
{
	json_int_t cluster, revision, lease;
	json_t *o, *keys;
	int ret;

	if (access(file, F_OK))
		return 0;
	o = words_load(file, err);
	if (!o)
		return -EINVAL;
	ret = json_unpack(o, "{s:I, s:I, s:I, s:o !}", "cluster", &cluster,
			  "revision", &revision, "lease", &lease, "keys",
			  &keys) || cluster <= 0 || revision <= 0 ||
	      revision >> 53 || lease <= 0 || lease >> 53 ||
	      !json_is_array(keys) ? -EINVAL : read_keys(kv, keys, revision);
	if (!ret) {
		kv->cluster = cluster;
		/* changes of keys with leases after it are lost */
		kv->revision = revision + UNSAVED;
		kv->compacted = kv->revision;
		/* holders may still ask for leases granted since */
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
 * @file: name of the file
 * @replaced: result: the file is the new one, also after an error; may be NULL
 * @err: error message
 *
 * Return: 0 once it is on the disk, or a negative errno; see store_save().
 */
int kv_save(const struct kv *kv, const char *file, bool *replaced, struct srpol_error *err)
{
	json_t *o = to_json(kv);
	int ret;

	if (replaced)
		*replaced = false;
	ret = o ? store_save(file, o, replaced) : -ENOMEM;
	json_decref(o);
	return ret ? srpol_error_set(err, ret, "%s: %s", file, strerror(-ret)) :
	       0;
}
