/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store that holds all state of the global engine: keys with values, where
 * each change has a revision. It has transactions that compare revisions, reads
 * at a revision, watches from a revision on, and leases. The model is that of
 * etcd.
 *
 *	store.c		opens a store by its kind; common functions
 *	alloc.c		memory
 *	etcd.c		requests to etcd's v3 JSON gateway
 *	etcd_login.c	authentication to etcd
 *	etcd_watch.c	watches of etcd, each on a connection of its own
 *	etcd_json.c	etcd's JSON and base64
 *	http.c		HTTP in the event loop, by libcurl
 *	local.c		client of the embedded store
 *	kv.c		keys, revisions, leases of the embedded store
 *	kv_file.c	file of the embedded store
 *	kv_server.c	socket of the embedded store
 *	mirror.c	follows a prefix across failures
 *
 * Nothing here blocks. The callback of a request is called once, from the event
 * loop, never before the request returns, and not any more after store_close().
 * When memory runs out the process ends, as with vec_add().
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
#define STORE_TXN_MAX		(1400 << 10)	/* values of a transaction */
#define STORE_PUTS_MAX		64		/* etcd takes 128 per transaction */

/**
 * struct store_config - configuration of a store
 * @kind: "embedded" or "etcd"
 * @prefix: prefix of all keys in the store; the API takes and returns keys
 *	without it
 * @socket: kind "embedded": path of its socket
 * @servers: kind "etcd": members of the cluster
 */
struct store_config {
	char kind[16];
	char prefix[STORE_PREFIX_LEN];
	char socket[108];
	struct servers servers;
};

/**
 * struct store_kv - a key and its value
 * @key: key without the store's prefix
 * @value: its value, not 0-terminated; NULL: deleted
 * @len: bytes of @value
 * @create: revision at which the key was created
 * @mod: revision of its last change
 * @lease: the key is deleted when this lease ends; 0: none
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
 * struct store_reply - reply to a request
 * @error: 0; -ERANGE: the wanted revision is compacted; -EIO and others: it is
 *	unknown whether the request was carried out
 * @text: error message
 * @refused: there is an @error, but it is known that the request was not carried out
 * @succeeded: transaction: the comparisons held, and the changes were made
 * @cluster: identifier of the store. Revisions of different stores cannot be
 *	compared.
 * @revision: current revision of the store
 * @kvs: range: the keys; failed transaction: the compared keys that exist
 * @n: number of @kvs
 * @lease: lease that was granted or renewed, 0: it has ended
 */
struct store_reply {
	int error;
	const char *text;
	bool refused;
	bool succeeded;
	uint64_t cluster;
	uint64_t revision;
	const struct store_kv *kvs;
	size_t n;
	uint64_t lease;
};

typedef void (*store_reply_fn)(void *data, const struct store_reply *reply);

/**
 * struct store_compare - condition of a transaction: a key has a revision
 * @key: the key
 * @created: compare the create revision instead of that of the last change
 * @revision: expected revision; 0: the key must not exist
 */
struct store_compare {
	const char *key;
	bool created;
	uint64_t revision;
};

/**
 * struct store_put - change of a key
 * @key: the key
 * @value: new value, NULL: delete the key
 * @len: bytes of @value
 * @lease: the key is deleted when this lease ends; 0: none
 */
struct store_put {
	const char *key;
	const char *value;
	size_t len;
	uint64_t lease;
};

/**
 * struct store_txn - changes that are made if all comparisons hold
 * @compare: comparisons
 * @n_compare: number of @compare
 * @put: changes
 * @n_put: number of @put, up to STORE_PUTS_MAX
 */
struct store_txn {
	const struct store_compare *compare;
	size_t n_compare;
	const struct store_put *put;
	size_t n_put;
};

/**
 * typedef store_watch_fn - keys have changed, or the watch has ended
 * @data: as given to watch()
 * @error: 0; else the watch has ended and must not be unwatched; -ERANGE: the
 *	wanted revision is compacted
 * @kvs: changed keys, in order of revision
 * @n: number of @kvs
 */
typedef void (*store_watch_fn)(void *data, int error,
			       const struct store_kv *kvs, size_t n);

/**
 * struct store_ops - operations of a kind of store
 * @name: name of the kind
 * @open: make it ready to take requests; it need not be connected yet
 * @close: end all requests and watches without calling their callbacks
 * @range: read a key, or all keys with a prefix, at a revision or (0) now
 * @keys: read names and revisions of all keys with a prefix now, without values,
 *	which together may be too large for one reply
 * @txn: transaction
 * @lease: renew lease @id of @seconds, or grant a new one if @id is 0
 * @revoke: end a lease and delete its keys; that it is over already is no error
 * @watch: report changes from a revision on
 * @unwatch: end a watch
 */
struct store_ops {
	const char *name;
	int (*open)(struct store *store, const struct store_config *config,
		    struct srpol_error *err);
	void (*close)(struct store *store);
	void (*range)(struct store *store, const char *key, bool prefix,
		      uint64_t revision, store_reply_fn fn, void *data);
	void (*keys)(struct store *store, const char *prefix,
		     store_reply_fn fn, void *data);
	void (*txn)(struct store *store, const struct store_txn *txn,
		    store_reply_fn fn, void *data);
	void (*lease)(struct store *store, uint32_t seconds, uint64_t id,
		      store_reply_fn fn, void *data);
	void (*revoke)(struct store *store, uint64_t id, store_reply_fn fn,
		       void *data);
	struct store_watch *(*watch)(struct store *store, const char *key,
				     bool prefix, uint64_t revision,
				     store_watch_fn fn, void *data);
	void (*unwatch)(struct store_watch *watch);
};

/**
 * struct store - an open store
 * @ops: its operations
 * @prefix: prefix of all keys
 * @impl: data of the kind
 * @silent: a failed read was logged, and none has succeeded since
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
void store_undone(const struct store_reply *reply, const char *see,
		  struct srpol_error *err);
void *store_alloc(size_t size);
char *store_key(const struct store *store, const char *key);
void store_kv_free(struct store_kv *kv);

#endif /* _SRPOL_STORE_H */
