// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd_json.h"

#define BASE64	sodium_base64_VARIANT_ORIGINAL

/**
 * etcd_bytes() - encode bytes as a JSON string in base64
 * @data: bytes
 * @len: number of @data
 */
json_t *etcd_bytes(const void *data, size_t len)
{
	size_t room = sodium_base64_encoded_len(len, BASE64);
	char *text = store_alloc(room);
	json_t *o;

	sodium_bin2base64(text, room, data, len, BASE64);
	o = json_string(text);
	free(text);
	return o;
}

/**
 * etcd_text() - encode a text as a JSON string in base64
 * @text: text
 */
json_t *etcd_text(const char *text)
{
	return etcd_bytes(text, strlen(text));
}

/**
 * etcd_number() - encode a number as a JSON string
 * @number: number
 */
json_t *etcd_number(uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return json_string(text);
}

/**
 * etcd_prefix_end() - the first key after all keys with a prefix, in base64
 * @key: prefix, in ASCII and not empty
 */
json_t *etcd_prefix_end(const char *key)
{
	size_t len = strlen(key);
	char *end = store_alloc(len + 1);
	json_t *o;

	strcpy(end, key);
	end[len - 1]++;
	o = etcd_bytes(end, len);
	free(end);
	return o;
}

/**
 * etcd_read_number() - read a number, which may be encoded as a string
 * @o: object
 * @key: name of the member
 *
 * Return: the number, 0 if there is none, as etcd leaves out zeros.
 */
uint64_t etcd_read_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_integer(v))
		return json_integer_value(v);
	return v ? strtoull(json_string_value(v) ?: "0", NULL, 10) : 0;
}

static char *decode(const json_t *v, size_t *len)
{
	const char *text = json_string_value(v) ?: "";
	size_t room = strlen(text) / 4 * 3 + 1;
	char *data = store_alloc(room + 1);

	if (!sodium_base642bin((unsigned char *)data, room, text, strlen(text),
			       NULL, len, NULL, BASE64))
		return data;
	/* @len is set even after an error */
	*len = 0;
	free(data);
	return NULL;
}

static bool is_wanted(const char *key, const char *wanted, bool prefix)
{
	return prefix ? !strncmp(key, wanted, strlen(wanted)) :
	       !strcmp(key, wanted);
}

/*
 * Whoever may write keys may write one with a zero byte, and an answer that is refused
 * for it would be lost with all other keys in it. A byte that UTF-8 does not have is
 * there instead, so the key alone is refused, like others that are no text.
 */
static void replace_zeros(char *key, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!key[i])
			key[i] = '\xff';
}

/**
 * etcd_read_kv() - read a key from etcd's JSON
 * @o: object
 * @store: the store
 * @wanted: key or prefix that was asked for, without the store's prefix
 * @prefix: @wanted is a prefix
 * @kv: result, to be freed. Its value is empty, not NULL, if etcd left it out
 *	because it is empty or the key was deleted.
 *
 * Return: false if the object is malformed or was not asked for.
 */
bool etcd_read_kv(const json_t *o, const struct store *store,
		  const char *wanted, bool prefix, struct store_kv *kv)
{
	size_t len, skip = strlen(store->prefix);
	char *key = decode(json_object_get(o, "key"), &len);

	*kv = (struct store_kv){};
	if (key)
		replace_zeros(key, len);
	if (!key || len < skip || memcmp(key, store->prefix, skip) ||
	    !is_wanted(key + skip, wanted, prefix)) {
		free(key);
		return false;
	}
	kv->value = decode(json_object_get(o, "value"), &kv->len);
	if (!kv->value) {
		free(key);
		return false;
	}
	memmove(key, key + skip, len - skip);
	key[len - skip] = '\0';
	kv->key = key;
	kv->create = etcd_read_number(o, "create_revision");
	kv->mod = etcd_read_number(o, "mod_revision");
	kv->lease = etcd_read_number(o, "lease");
	return true;
}
