/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store that holds all state of the global engine: keys with values, each
 * change of which has a revision; transactions that compare revisions; reads
 * at a revision; watches from a revision; leases. The model is etcd's.
 *
 *	store.c		by name; what both have in common
 *	alloc.c		memory
 *	etcd.c		etcd's v3 JSON gateway: requests
 *	etcd_login.c	likewise: who asks
 *	etcd_watch.c	likewise: watches, each on a connection of its own
 *	etcd_json.c	likewise: JSON and base64
 *	http.c		HTTP in the loop, by libcurl
 *	local.c		the embedded store, as its clients see it
 *	kv.c		keys, revisions, leases of the embedded store; pure
 *	kv_file.c	its file
 *	kv_server.c	its socket
 *	mirror.c	keeps somebody up to date on a prefix, whatever happens
 *
 * Nothing here waits: each request has a function that is called once, from
 * the loop, never before the request returns; after store_close() none is.
 * Who has no memory is ended, as with vec_add().
 */
#ifndef _SRPOL_STORE_H
#define _SRPOL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "servers.h"

struct srpol_error;
struct store;
struct store_watch;

#define STORE_PREFIX_LEN	64
#define STORE_KEY_LEN		256
#define STORE_VALUE_MAX		(1 << 20)	/* etcd takes requests of 1.5 MiB */
#define STORE_PUTS_MAX		64		/* etcd takes 128 per transaction */

/**
 * struct store_config - where it is
 * @kind: "embedded" or "etcd"
 * @prefix: of all keys; keys here are without it
 * @socket: "embedded": its socket
 * @servers: "etcd"
 */
struct store_config {
	char kind[16];
	char prefix[STORE_PREFIX_LEN];
	char socket[108];
	struct servers servers;
};

/**
 * struct store_kv - a key
 * @key: without the store's prefix
 * @value: its value, not 0-terminated; NULL: deleted
 * @len: bytes of it
 * @create: revision at which it came into being
 * @mod: revision of its last change
 * @lease: it ends with that, 0: none
 */
struct store_kv {
	char *key;
	char *value;
	size_t len;
	uint64_t create;
	uint64_t mod;
	uint64_t lease;
};

/**
 * struct store_reply - answer to a request
 * @error: 0; -ERANGE: that revision is compacted; -EIO and others: nobody
 *	knows whether it was done
 * @text: what is wrong
 * @succeeded: transaction: the comparisons held, and the changes were made
 * @cluster: who answers: revisions of another cluster mean nothing
 * @revision: of the store
 * @kvs: range: the keys; transaction that did not succeed: those that were
 *	compared, as far as they exist
 * @n: number of them
 * @lease: lease that was granted or kept, 0: it is over
 */
struct store_reply {
	int error;
	const char *text;
	bool succeeded;
	uint64_t cluster;
	uint64_t revision;
	const struct store_kv *kvs;
	size_t n;
	uint64_t lease;
};

typedef void (*store_reply_fn)(void *data, const struct store_reply *reply);

/**
 * struct store_compare - a key has a revision
 * @key: the key
 * @created: its create revision, else that of its last change
 * @revision: wanted; 0: there is no such key
 */
struct store_compare {
	const char *key;
	bool created;
	uint64_t revision;
};

/**
 * struct store_put - a change
 * @key: the key
 * @value: its value, NULL: delete it
 * @len: bytes of it
 * @lease: it ends with that, 0: none
 */
struct store_put {
	const char *key;
	const char *value;
	size_t len;
	uint64_t lease;
};

/**
 * struct store_txn - changes, if comparisons hold
 * @compare: comparisons
 * @n_compare: number of them
 * @put: changes
 * @n_put: number of them, up to STORE_PUTS_MAX
 */
struct store_txn {
	const struct store_compare *compare;
	size_t n_compare;
	const struct store_put *put;
	size_t n_put;
};

/**
 * typedef store_watch_fn - something changed
 * @data: as given
 * @error: 0; else the watch is over: -ERANGE: it wanted what is compacted
 * @kvs: keys that changed, in order of revision
 * @n: number of them
 */
typedef void (*store_watch_fn)(void *data, int error,
			       const struct store_kv *kvs, size_t n);

/**
 * struct store_ops - a kind of store
 * @name: of the kind
 * @open: ready to take requests, connected or not
 * @close: no function is called any more
 * @range: keys with a prefix, or one key, at a revision or (0) now
 * @txn: transaction
 * @lease: keep @id alive, 0: grant one
 * @revoke: end a lease, with its keys; nobody is told
 * @watch: changes from a revision on
 * @unwatch: no more of them
 */
struct store_ops {
	const char *name;
	int (*open)(struct store *store, const struct store_config *config,
		    struct srpol_error *err);
	void (*close)(struct store *store);
	void (*range)(struct store *store, const char *key, bool prefix,
		      uint64_t revision, store_reply_fn fn, void *data);
	void (*txn)(struct store *store, const struct store_txn *txn,
		    store_reply_fn fn, void *data);
	void (*lease)(struct store *store, uint32_t seconds, uint64_t id,
		      store_reply_fn fn, void *data);
	void (*revoke)(struct store *store, uint64_t id);
	struct store_watch *(*watch)(struct store *store, const char *key,
				     bool prefix, uint64_t revision,
				     store_watch_fn fn, void *data);
	void (*unwatch)(struct store_watch *watch);
};

/**
 * struct store - an open store
 * @ops: its kind
 * @prefix: of all keys
 * @impl: the kind's own
 * @silent: it was said that it does not answer
 */
struct store {
	const struct store_ops *ops;
	char prefix[STORE_PREFIX_LEN];
	void *impl;
	bool silent;
};

extern const struct store_ops store_etcd;
extern const struct store_ops store_embedded;

int store_open(struct store *store, const struct store_config *config,
	       struct srpol_error *err);
void store_close(struct store *store);
void store_heard(struct store *store, const struct store_reply *reply);
void *store_alloc(size_t size);
char *store_key(const struct store *store, const char *key);
void store_kv_free(struct store_kv *kv);

#endif /* _SRPOL_STORE_H */
