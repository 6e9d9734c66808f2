// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "kv_json.h"

/**
 * kv_to_json() - convert keys to [ KEY, VALUE or null, CREATE, MOD, LEASE ]
 * @kv: keys
 * @n: number of @kv
 */
json_t *kv_to_json(const struct store_kv *kv, size_t n)
{
	json_t *list = json_array(), *value;
	size_t i;

	for (i = 0; i < n; i++) {
		value = kv[i].value ? json_stringn(kv[i].value, kv[i].len) :
			json_null();
		json_array_append_new(list, json_pack("[s, o, I, I, I]",
			kv[i].key, value, (json_int_t)kv[i].create,
			(json_int_t)kv[i].mod, (json_int_t)kv[i].lease));
	}
	return list;
}

/**
 * kv_from_json() - convert keys from the form of kv_to_json()
 * @list: JSON array
 * @n: result: number of keys; malformed ones are skipped
 *
 * Return: array to be freed, which points to strings of @list.
 */
struct store_kv *kv_from_json(const json_t *list, size_t *n)
{
	struct store_kv *kv = store_alloc((json_array_size(list) + 1) *
					  sizeof(*kv));
	json_int_t create, mod, lease;
	json_t *o, *value;
	size_t i;

	*n = 0;
	json_array_foreach(list, i, o) {
		if (json_unpack(o, "[s, o, I, I, I]", &kv[*n].key, &value,
				&create, &mod, &lease))
			continue;
		kv[*n].value = (char *)json_string_value(value);
		kv[*n].len = json_string_length(value);
		kv[*n].create = create;
		kv[*n].mod = mod;
		kv[(*n)++].lease = lease;
	}
	return kv;
}
