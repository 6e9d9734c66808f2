// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "srpol_lib.h"
#include "store_config.h"
#include "words.h"

#define PREFIX_DEFAULT	"/srpol/"
#define SOCKET_DEFAULT	"/run/srpol-fabricd/store.sock"

/**
 * store_config_read() - read the configuration of the store
 * @o: JSON object, NULL: all defaults
 * @config: result
 * @err: error message
 *
 * Return: 0 or a negative errno.
 */
int store_config_read(const json_t *o, struct store_config *config,
		      struct srpol_error *err)
{
	static const char * const keys[] = {
		"kind", "prefix", "socket", "endpoints", SERVERS_KEYS, NULL
	};
	int ret;

	*config = (struct store_config){};
	if (o && !json_is_object(o))
		return srpol_error_set(err, -EINVAL, "\"store\" is not an object");
	ret = (o ? words_check(o, keys, " in \"store\"", err) : 0) ?:
	      words_text(o, "kind", "embedded", config->kind,
			 sizeof(config->kind), err) ?:
	      words_text(o, "prefix", PREFIX_DEFAULT, config->prefix,
			 sizeof(config->prefix), err) ?:
	      words_text(o, "socket", SOCKET_DEFAULT, config->socket,
			 sizeof(config->socket), err) ?:
	      servers_read(o, "endpoints", "http://", "https://",
			   &config->servers, err);
	if (ret)
		return ret;
	if (strcmp(config->kind, "etcd") && strcmp(config->kind, "embedded"))
		return srpol_error_set(err, -EINVAL,
				       "\"kind\" is neither \"embedded\" nor \"etcd\"");
	if (!strcmp(config->kind, "etcd") && !config->servers.n)
		return srpol_error_set(err, -EINVAL,
				       "etcd needs \"endpoints\"");
	if (!config->prefix[0])
		return srpol_error_set(err, -EINVAL, "\"prefix\" is empty");
	return 0;
}
