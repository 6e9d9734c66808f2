/* SPDX-License-Identifier: GPL-2.0 */
/* JSON of etcd's gateway: numbers are strings, keys and values are base64. */
#ifndef _SRPOL_ETCD_JSON_H
#define _SRPOL_ETCD_JSON_H

#include <jansson.h>

#include "store.h"

json_t *etcd_bytes(const void *data, size_t len);
json_t *etcd_text(const char *text);
json_t *etcd_number(uint64_t number);
json_t *etcd_prefix_end(const char *key);
uint64_t etcd_read_number(const json_t *o, const char *key);
bool etcd_read_kv(const json_t *o, const struct store *store,
		  const char *wanted, bool prefix, struct store_kv *kv);

#endif /* _SRPOL_ETCD_JSON_H */
