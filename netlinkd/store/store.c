// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "srpol_lib.h"
#include "store.h"

static const struct store_ops * const kinds[] = {
	&store_embedded, &store_etcd,
};

/**
 * store_open() - open a store, which need not be reachable yet
 * @store: result
 * @config: kind and address of the store
 * @err: error message
 *
 * Return: 0 or a negative errno.
 */
int store_open(struct store *store, const struct store_config *config,
	       struct srpol_error *err)
{
	size_t i;
	int ret;

	*store = (struct store){};
	strcpy(store->prefix, config->prefix);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i]->name, config->kind))
			continue;
		ret = kinds[i]->open(store, config, err);
		store->ops = ret ? NULL : kinds[i];
		return ret;
	}
	return srpol_error_set(err, -EINVAL, "there is no store \"%s\"",
			       config->kind);
}

/**
 * store_close() - close a store; no callback is made after that
 * @store: open or not
 */
void store_close(struct store *store)
{
	if (store->ops)
		store->ops->close(store);
	*store = (struct store){};
}

/**
 * store_heard() - log once that a store cannot be read, and when it can again
 * @store: the store
 * @reply: reply to a read
 */
void store_heard(struct store *store, const struct store_reply *reply)
{
	if (store->silent == !!reply->error)
		return;
	store->silent = reply->error;
	if (reply->error)
		log_notice("the store (%s) cannot be read: %s; it is tried again and again",
			   store->ops->name, reply->text);
	else
		log_notice("the store (%s) is read again", store->ops->name);
}

/**
 * store_undone() - say what became of a change that failed
 * @reply: reply to the transaction, with an error
 * @see: command that shows whether it was done
 * @err: result
 */
void store_undone(const struct store_reply *reply, const char *see,
		  struct srpol_error *err)
{
	if (reply->refused)
		srpol_error_set(err, reply->error, "the store refused it: %s",
				reply->text);
	else
		srpol_error_set(err, reply->error,
				"the store did not say whether it was done: see %s (%s)",
				see, reply->text);
}

/**
 * store_key() - put the store's prefix before a key
 * @store: the store
 * @key: key
 *
 * Return: the full key, to be freed.
 */
char *store_key(const struct store *store, const char *key)
{
	char *full = store_alloc(strlen(store->prefix) + strlen(key) + 1);

	strcpy(full, store->prefix);
	strcat(full, key);
	return full;
}

/**
 * store_kv_free() - free key and value, but not @kv itself
 * @kv: the key
 */
void store_kv_free(struct store_kv *kv)
{
	free(kv->key);
	free(kv->value);
}
