// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "srpol_lib.h"
#include "store_config.h"
#include "words.h"

#define PREFIX_DEFAULT	"/srpol/"
#define SOCKET_DEFAULT	"/run/srpol-fabricd/store.sock"

static int read_endpoints(const json_t *list, struct store_config *config,
			  struct srpol_error *err)
{
	const json_t *v;
	const char *url;
	size_t i;

	json_array_foreach(list, i, v) {
		url = json_string_value(v);
		if (i == STORE_ENDPOINTS || !url ||
		    strlen(url) >= sizeof(config->endpoints[0]) ||
		    (strncmp(url, "http://", 7) && strncmp(url, "https://", 8)))
			return srpol_error_set(err, -EINVAL,
					       "\"endpoints\" is not a list of up to %u http://HOST:PORT",
					       STORE_ENDPOINTS);
		strcpy(config->endpoints[i], url);
		/* paths begin with one */
		if (url[strlen(url) - 1] == '/')
			config->endpoints[i][strlen(url) - 1] = '\0';
	}
	config->n_endpoints = json_array_size(list);
	return 0;
}

/* The password is in a file that others cannot read: its first line. */
static int read_login(const json_t *o, struct store_config *config,
		      struct srpol_error *err)
{
	char path[256];
	FILE *file;
	int ret;

	ret = words_text(o, "user", "", config->user, sizeof(config->user),
			 err) ?:
	      words_text(o, "password-file", "", path, sizeof(path), err);
	if (ret || (!config->user[0] && !path[0]))
		return ret;
	if (!config->user[0] || !path[0])
		return srpol_error_set(err, -EINVAL,
				       "\"user\" and \"password-file\" belong together");
	file = fopen(path, "re");
	if (!file)
		return srpol_error_set(err, -errno, "\"password-file\": %s: %s",
				       path, strerror(errno));
	if (!fgets(config->password, sizeof(config->password), file))
		ret = srpol_error_set(err, -EINVAL,
				      "\"password-file\": %s is empty", path);
	config->password[strcspn(config->password, "\n")] = '\0';
	fclose(file);
	return ret;
}

static bool is_https(const struct store_config *config)
{
	uint32_t i;

	for (i = 0; i < config->n_endpoints; i++)
		if (strncmp(config->endpoints[i], "https://", 8))
			return false;
	return true;
}

/**
 * store_config_read() - where the store is
 * @o: JSON, NULL: all defaults
 * @config: result
 * @err: what is wrong
 */
int store_config_read(const json_t *o, struct store_config *config,
		      struct srpol_error *err)
{
	static const char * const keys[] = {
		"kind", "prefix", "socket", "endpoints", "cacert", "cert",
		"key", "user", "password-file", NULL
	};
	const json_t *list = json_object_get(o, "endpoints");
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
	      read_endpoints(list, config, err) ?:
	      words_text(o, "cacert", "", config->cacert,
			 sizeof(config->cacert), err) ?:
	      words_text(o, "cert", "", config->cert, sizeof(config->cert),
			 err) ?:
	      words_text(o, "key", "", config->key, sizeof(config->key), err) ?:
	      read_login(o, config, err);
	if (ret)
		return ret;
	if (strcmp(config->kind, "etcd") && strcmp(config->kind, "embedded"))
		return srpol_error_set(err, -EINVAL,
				       "\"kind\" is neither \"embedded\" nor \"etcd\"");
	if (!strcmp(config->kind, "etcd") && !config->n_endpoints)
		return srpol_error_set(err, -EINVAL,
				       "etcd needs \"endpoints\"");
	if (!config->prefix[0])
		return srpol_error_set(err, -EINVAL, "\"prefix\" is empty");
	if (!config->cert[0] != !config->key[0])
		return srpol_error_set(err, -EINVAL,
				       "\"cert\" and \"key\" belong together");
	if ((config->cacert[0] || config->cert[0] || config->user[0]) &&
	    !is_https(config))
		return srpol_error_set(err, -EINVAL,
				       "certificates and passwords are for https:// endpoints");
	return 0;
}
