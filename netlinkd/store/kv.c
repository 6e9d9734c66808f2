// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kv.h"

#define HISTORY		1000	/* revisions kept readable */
#define COMPACT_EVERY	100	/* compact after so many revisions */

/**
 * kv_init() - initialize an empty store
 * @kv: result
 * @cluster: random identifier
 */
void kv_init(struct kv *kv, uint64_t cluster)
{
	*kv = (struct kv){
		.cluster = cluster, .revision = 1, .next_lease = 1,
		.keys = VEC_INIT(struct kv_key),
		.leases = VEC_INIT(struct kv_lease),
	};
}

static void free_key(struct kv_key *key)
{
	struct kv_version *v;

	vec_for_each(v, &key->versions)
		free(v->value);
	vec_free(&key->versions);
	free(key->name);
}

/**
 * kv_free() - free the contents of a store
 * @kv: store
 */
void kv_free(struct kv *kv)
{
	struct kv_key *key;

	vec_for_each(key, &kv->keys)
		free_key(key);
	vec_free(&kv->keys);
	vec_free(&kv->leases);
}

static int by_name(const void *a, const void *b)
{
	const struct kv_key *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Position of the first key that is not less than @name. */
static size_t place_of(const struct kv *kv, const char *name)
{
	const struct kv_key want = { .name = (char *)name };

	return vec_place(&kv->keys, &want, by_name);
}

static struct kv_key *find_key(const struct kv *kv, const char *name)
{
	struct kv_key *keys = kv->keys.data;
	size_t at = place_of(kv, name);

	return at < kv->keys.n && !strcmp(keys[at].name, name) ? &keys[at] :
	       NULL;
}

static struct kv_key *make_key(struct kv *kv, const char *name)
{
	struct kv_key *key = find_key(kv, name), *keys;
	size_t at = place_of(kv, name);

	if (key)
		return key;
	vec_add(&kv->keys);
	keys = kv->keys.data;
	memmove(&keys[at + 1], &keys[at],
		(kv->keys.n - 1 - at) * sizeof(*keys));
	keys[at] = (struct kv_key){
		.name = strdup(name),
		.versions = VEC_INIT(struct kv_version),
	};
	if (!keys[at].name)
		abort();
	return &keys[at];
}

static const struct kv_version *last(const struct kv_key *key)
{
	const struct kv_version *v = key->versions.data;

	return &v[key->versions.n - 1];
}

/* Value of a key at a revision, NULL if it did not exist then. */
static const struct kv_version *version_at(const struct kv_key *key,
					   uint64_t revision)
{
	const struct kv_version *v, *found = NULL;

	vec_for_each(v, &key->versions)
		if (v->mod <= revision)
			found = v;
	return found && found->value ? found : NULL;
}

/**
 * kv_matches() - does a key match a key or prefix?
 * @name: the key
 * @key: key or prefix
 * @prefix: @key is a prefix
 */
bool kv_matches(const char *name, const char *key, bool prefix)
{
	return prefix ? !strncmp(name, key, strlen(key)) : !strcmp(name, key);
}

static void add_version(struct vec *out, const struct kv_key *key,
			const struct kv_version *v)
{
	*(struct store_kv *)vec_add(out) = (struct store_kv){
		.key = key->name, .value = v->value, .len = v->len,
		.create = v->create, .mod = v->mod, .lease = v->lease,
	};
}

/**
 * kv_range() - read keys at a revision
 * @kv: store
 * @key: key or prefix
 * @prefix: @key is a prefix
 * @revision: revision, 0: the current one
 * @out: struct store_kv; they point into the store, until it changes
 *
 * Return: 0, or -ERANGE if the revision is compacted or in the future.
 */
int kv_range(const struct kv *kv, const char *key, bool prefix,
	     uint64_t revision, struct vec *out)
{
	const struct kv_key *keys = kv->keys.data;
	const struct kv_version *v;
	size_t i;

	if (!revision)
		revision = kv->revision;
	if (revision < kv->compacted || revision > kv->revision)
		return -ERANGE;
	for (i = place_of(kv, key); i < kv->keys.n; i++) {
		if (!kv_matches(keys[i].name, key, prefix))
			break;
		v = version_at(&keys[i], revision);
		if (v)
			add_version(out, &keys[i], v);
	}
	return 0;
}

static int by_revision(const void *a, const void *b)
{
	const struct store_kv *x = a, *y = b;

	return (x->mod > y->mod) - (x->mod < y->mod);
}

/**
 * kv_changes() - read the changes since a revision
 * @kv: store
 * @key: key or prefix
 * @prefix: @key is a prefix
 * @from: first revision of interest
 * @out: as for kv_range(), in order of revision; deleted keys have value NULL
 *
 * Return: 0, or -ERANGE if that revision is compacted.
 */
int kv_changes(const struct kv *kv, const char *key, bool prefix,
	       uint64_t from, struct vec *out)
{
	const struct kv_key *keys = kv->keys.data;
	const struct kv_version *v;
	size_t i;

	if (from <= kv->compacted)
		return -ERANGE;
	for (i = place_of(kv, key); i < kv->keys.n; i++) {
		if (!kv_matches(keys[i].name, key, prefix))
			break;
		vec_for_each(v, &keys[i].versions)
			if (v->mod >= from)
				add_version(out, &keys[i], v);
	}
	if (out->n)
		qsort(out->data, out->n, out->size, by_revision);
	return 0;
}

static bool holds(const struct kv *kv, const struct store_compare *c)
{
	const struct kv_key *key = find_key(kv, c->key);
	const struct kv_version *v = key ? last(key) : NULL;

	if (!v || !v->value)
		return !c->revision;
	return (c->created ? v->create : v->mod) == c->revision;
}

static bool change(struct kv *kv, const struct store_put *put,
		   uint64_t revision)
{
	struct kv_key *key = find_key(kv, put->key);
	const struct kv_version *before = key ? last(key) : NULL;
	struct kv_version *v, new = { .create = revision, .mod = revision };

	if (before && !before->value)
		before = NULL;
	if (!put->value && !before)
		return false;
	if (before)
		new.create = before->create;
	if (put->value) {
		new.value = store_alloc(put->len + 1);
		memcpy(new.value, put->value, put->len);
		new.len = put->len;
		new.lease = put->lease;
	}
	v = vec_add(&make_key(kv, put->key)->versions);
	*v = new;
	return true;
}

static bool has_lease(const struct kv *kv, uint64_t id)
{
	const struct kv_lease *lease;

	vec_for_each(lease, &kv->leases)
		if (lease->id == id)
			return true;
	return false;
}

/**
 * kv_txn() - carry out a transaction
 * @kv: store
 * @txn: transaction; must not change a key twice
 *
 * Return: true if the comparisons held, the leases exist, and the changes were
 * made.
 */
bool kv_txn(struct kv *kv, const struct store_txn *txn)
{
	bool changed = false;
	size_t i;

	for (i = 0; i < txn->n_compare; i++)
		if (!holds(kv, &txn->compare[i]))
			return false;
	for (i = 0; i < txn->n_put; i++)
		if (txn->put[i].lease && !has_lease(kv, txn->put[i].lease))
			return false;
	for (i = 0; i < txn->n_put; i++)
		changed |= change(kv, &txn->put[i], kv->revision + 1);
	kv->revision += changed;
	if (changed && kv->revision > HISTORY &&
	    kv->revision % COMPACT_EVERY == 0)
		kv_compact(kv, kv->revision - HISTORY);
	return true;
}

/**
 * kv_restore() - add a key with the revisions it had when the store was saved
 * @kv: store
 * @one: key with its revisions; a lease is ignored
 *
 * Return: false if the key exists already.
 */
bool kv_restore(struct kv *kv, const struct store_kv *one)
{
	struct kv_version *v;

	if (find_key(kv, one->key))
		return false;
	v = vec_add(&make_key(kv, one->key)->versions);
	*v = (struct kv_version){
		.create = one->create, .mod = one->mod, .len = one->len,
		.value = store_alloc(one->len + 1),
	};
	memcpy(v->value, one->value, one->len);
	return true;
}

/**
 * kv_undo() - take back all changes after a revision
 * @kv: store, not compacted beyond @revision
 * @revision: revision to return to
 */
void kv_undo(struct kv *kv, uint64_t revision)
{
	struct kv_key *keys = kv->keys.data;
	struct kv_version *v;
	size_t i, kept = 0;

	for (i = 0; i < kv->keys.n; i++) {
		v = keys[i].versions.data;
		while (keys[i].versions.n &&
		       v[keys[i].versions.n - 1].mod > revision)
			free(v[--keys[i].versions.n].value);
		if (keys[i].versions.n)
			keys[kept++] = keys[i];
		else
			free_key(&keys[i]);
	}
	kv->keys.n = kept;
	kv->revision = revision;
}

/*
 * Drops the versions of a key that cannot be read any more. The last one up to
 * @revision stays, unless it is a deletion that nothing follows.
 */
static void compact_key(struct kv_key *key, uint64_t revision)
{
	struct kv_version *v = key->versions.data;
	size_t gone = 0, i;

	while (gone + 1 < key->versions.n && v[gone + 1].mod <= revision)
		gone++;
	if (gone + 1 == key->versions.n && v[gone].mod <= revision &&
	    !v[gone].value)
		gone++;
	for (i = 0; i < gone; i++)
		free(v[i].value);
	key->versions.n -= gone;
	memmove(v, v + gone, key->versions.n * sizeof(*v));
}

/**
 * kv_compact() - forget the history before a revision
 * @kv: store
 * @revision: revision
 */
void kv_compact(struct kv *kv, uint64_t revision)
{
	struct kv_key *keys = kv->keys.data;
	size_t i, kept = 0;

	for (i = 0; i < kv->keys.n; i++) {
		compact_key(&keys[i], revision);
		if (keys[i].versions.n)
			keys[kept++] = keys[i];
		else
			free_key(&keys[i]);
	}
	kv->keys.n = kept;
	kv->compacted = revision;
}

/**
 * kv_lease() - grant or renew a lease
 * @kv: store
 * @id: lease to renew, 0: grant a new one
 * @ns: duration of a new lease
 * @now: current time
 *
 * Return: identifier of the lease, 0 if @id has ended.
 */
uint64_t kv_lease(struct kv *kv, uint64_t id, uint64_t ns, uint64_t now)
{
	struct kv_lease *lease;

	if (!id) {
		lease = vec_add(&kv->leases);
		*lease = (struct kv_lease){
			.id = kv->next_lease++, .ns = ns, .until_ns = now + ns,
		};
		return lease->id;
	}
	vec_for_each(lease, &kv->leases) {
		if (lease->id != id)
			continue;
		lease->until_ns = now + lease->ns;
		lease->excused = false;
		return id;
	}
	return 0;
}

/**
 * kv_revoke() - end a lease and delete its keys
 * @kv: store
 * @id: lease
 */
void kv_revoke(struct kv *kv, uint64_t id)
{
	struct vec puts = VEC_INIT(struct store_put);
	struct kv_lease *lease = kv->leases.data;
	const struct kv_key *key;
	struct store_put *put;
	size_t i;

	/* 0 would match all keys without a lease */
	if (!id)
		return;
	for (i = 0; i < kv->leases.n; i++)
		if (lease[i].id == id)
			lease[i] = lease[--kv->leases.n];
	vec_for_each(key, &kv->keys)
		if (last(key)->value && last(key)->lease == id)
			((struct store_put *)vec_add(&puts))->key = key->name;
	/* no key is added or removed, so the names stay valid */
	vec_for_each(put, &puts)
		change(kv, put, kv->revision + 1);
	kv->revision += puts.n > 0;
	vec_free(&puts);
}

/**
 * kv_excuse() - nobody could be heard: leases that are over last a bit longer
 * @kv: store
 * @now: current time
 * @ns: so long from now, once until they are renewed
 */
void kv_excuse(struct kv *kv, uint64_t now, uint64_t ns)
{
	struct kv_lease *lease;

	vec_for_each(lease, &kv->leases) {
		if (lease->excused || lease->until_ns > now + ns)
			continue;
		lease->excused = true;
		lease->until_ns = now + ns;
	}
}

/**
 * kv_expire() - end the leases that have expired
 * @kv: store
 * @now: current time
 *
 * Return: whether there were any.
 */
bool kv_expire(struct kv *kv, uint64_t now)
{
	const struct kv_lease *lease = kv->leases.data;
	bool any = false;
	size_t i;

	for (i = 0; i < kv->leases.n;) {
		if (lease[i].until_ns > now) {
			i++;
			continue;
		}
		kv_revoke(kv, lease[i].id);
		any = true;
	}
	return any;
}
