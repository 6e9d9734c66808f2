/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys, revisions and leases of the embedded store. The functions of kv.c do no
 * input or output, and get the time as an argument.
 */
#ifndef _SRPOL_KV_H
#define _SRPOL_KV_H

#include "objects.h"
#include "store.h"

/**
 * struct kv_version - value of a key from a revision on
 * @create: revision at which the key was created
 * @mod: revision from which the key has this value
 * @value: NULL: the key was deleted
 * @len: bytes of @value
 * @lease: the key is deleted when this lease ends; 0: none
 */
struct kv_version {
	uint64_t create;
	uint64_t mod;
	char *value;
	size_t len;
	uint64_t lease;
};

/**
 * struct kv_key - a key and its history
 * @name: name of the key, with the store's prefix
 * @versions: struct kv_version, oldest first; never empty
 */
struct kv_key {
	char *name;
	struct vec versions;
};

/**
 * struct kv_lease - a lease
 * @id: identifier
 * @ns: duration in nanoseconds
 * @until_ns: time at which it expires unless it is renewed
 * @excused: it has been given more time since it was renewed
 */
struct kv_lease {
	uint64_t id;
	uint64_t ns;
	uint64_t until_ns;
	bool excused;
};

/**
 * struct kv - an embedded store
 * @cluster: random identifier, by which clients notice that a store was
 *	replaced by a new one
 * @revision: revision of the last change; at least 1
 * @compacted: reads at older revisions are refused
 * @keys: struct kv_key, sorted by name
 * @leases: struct kv_lease
 * @next_lease: identifier of the next lease
 */
struct kv {
	uint64_t cluster;
	uint64_t revision;
	uint64_t compacted;
	struct vec keys;
	struct vec leases;
	uint64_t next_lease;
};

void kv_init(struct kv *kv, uint64_t cluster);
void kv_free(struct kv *kv);
int kv_range(const struct kv *kv, const char *key, bool prefix,
	     uint64_t revision, struct vec *out);
int kv_changes(const struct kv *kv, const char *key, bool prefix,
	       uint64_t from, struct vec *out);
bool kv_matches(const char *name, const char *key, bool prefix);
bool kv_txn(struct kv *kv, const struct store_txn *txn);
bool kv_restore(struct kv *kv, const struct store_kv *one);
void kv_undo(struct kv *kv, uint64_t revision);
void kv_compact(struct kv *kv, uint64_t revision);
uint64_t kv_lease(struct kv *kv, uint64_t id, uint64_t ns, uint64_t now);
void kv_revoke(struct kv *kv, uint64_t id);
void kv_excuse(struct kv *kv, uint64_t now, uint64_t ns);
bool kv_expire(struct kv *kv, uint64_t now);

/* kv_file.c */
int kv_load(struct kv *kv, const char *file, struct srpol_error *err);
int kv_save(const struct kv *kv, const char *file, bool *replaced, struct srpol_error *err);

/* kv_server.c */
int kv_server_start(const char *socket, const char *file,
		    struct srpol_error *err);
void kv_server_stop(void);

#endif /* _SRPOL_KV_H */
