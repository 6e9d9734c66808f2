/* SPDX-License-Identifier: GPL-2.0 */
/* JSON form of keys, as the embedded store and its clients exchange them. */
#ifndef _SRPOL_KV_JSON_H
#define _SRPOL_KV_JSON_H

#include <jansson.h>

#include "objects.h"
#include "store.h"

json_t *kv_to_json(const struct store_kv *kv, size_t n);
struct store_kv *kv_from_json(const json_t *list, size_t *n);

#endif /* _SRPOL_KV_JSON_H */
