// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "tenants.h"
#include "srpol_lib.h"
#include "store_config.h"
#include "web.h"
#include "words.h"

#define ALG_DEFAULT		"wecmp"
#define SETTLE_MS_DEFAULT	20
#define LEASE_S_DEFAULT		5
#define FORECASTS_MAX		(1 << 20)

static int check_page(const char *page, struct srpol_error *err)
{
	struct sockaddr_storage addr;
	socklen_t len;

	return *page ? web_address(page, &addr, &len, err) : 0;
}

static int read_all(const json_t *o, void *config, struct srpol_error *err)
{
	struct fabricd_config *c = config;
	static const char * const keys[] = {
		"name", "shard", "topology", "algorithm", "settle-ms",
		"lease-s", "store", "bus", "file", "socket", "page", "reservable",
		"users", "forecasts", NULL
	};
	json_int_t settle, lease, reservable, forecasts;
	char host[HOST_NAME_MAX + 1] = "engine", alg[SRPOL_ALG_NAME_LEN];
	int ret;

	gethostname(host, sizeof(host) - 1);
	host[SRPOL_NAME_LEN - 1] = '\0';
	ret = words_check(o, keys, "", err) ?:
	      words_text(o, "name", host, c->name, sizeof(c->name), err) ?:
	      words_text(o, "shard", "0", c->shard, sizeof(c->shard), err) ?:
	      words_text(o, "topology", "/etc/srpol/topology.json", c->topology,
			 sizeof(c->topology), err) ?:
	      words_text(o, "algorithm", ALG_DEFAULT, alg, sizeof(alg), err) ?:
	      words_text(o, "file", "/var/lib/srpol-fabricd/store.json",
			 c->file, sizeof(c->file), err) ?:
	      words_text(o, "socket", "/run/srpol-fabricd/control.sock",
			 c->socket, sizeof(c->socket), err) ?:
	      words_text(o, "page", "", c->page, sizeof(c->page), err) ?:
	      check_page(c->page, err) ?:
	      words_number(o, "settle-ms", 1, 60000, SETTLE_MS_DEFAULT, &settle,
			   err) ?:
	      words_number(o, "lease-s", 1, 600, LEASE_S_DEFAULT, &lease, err) ?:
	      words_number(o, "reservable", 1, 100, 100, &reservable, err) ?:
	      words_number(o, "forecasts", 0, FORECASTS_MAX, 0, &forecasts,
			   err) ?:
	      store_config_read(json_object_get(o, "store"), &c->store, err) ?:
	      bus_config_read(json_object_get(o, "bus"), &c->bus, err);
	if (ret)
		return ret;
	c->settle_ns = settle * NS_PER_MS;
	c->lease_s = lease;
	c->alg = srpol_alg_find(alg);
	if (!c->alg)
		return srpol_error_set(err, -EINVAL,
				       "\"algorithm\": no algorithm \"%s\"",
				       alg);
	c->reservable = reservable;
	c->forecasts = forecasts;
	if (!c->shard[0] || strchr(c->shard, '/'))
		return srpol_error_set(err, -EINVAL,
				       "\"shard\" is empty or has a slash");
	return access_read(json_object_get(o, "users"), c, err);
}

/**
 * config_serves_store() - whether the store is embedded in this engine
 */
bool config_serves_store(void)
{
	return !strcmp(fabricd.config.store.kind, "embedded");
}

/**
 * config_read() - read the configuration file
 * @file: its name
 * @config: result, set only if the whole file is valid
 * @err: message on failure
 */
int config_read(const char *file, struct fabricd_config *config,
		struct srpol_error *err)
{
	struct fabricd_config new = {};
	int ret = words_file(file, read_all, &new, err);

	if (!ret)
		*config = new;
	return ret;
}
