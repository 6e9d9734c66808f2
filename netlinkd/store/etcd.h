/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_ETCD_H
#define _SRPOL_ETCD_H

#include <jansson.h>

#include "http.h"
#include "store.h"

#define ETCD_REQUEST_MS	3000L	/* for all requests but streams and renewals */

/**
 * struct etcd - client of an etcd cluster
 * @http: HTTP requests to the cluster
 * @config: members of the cluster, and how to log in
 * @at: index of the member that requests go to
 * @watches: list of open watches
 * @logging_in: login request under way, NULL: none
 * @login: timer for the next login
 * @login_refused: why the last login was refused, empty: it was not
 */
struct etcd {
	struct http http;
	struct store_config config;
	uint32_t at;
	struct store_watch *watches;
	struct http_request *logging_in;
	struct alarm login;
	char login_refused[128];
};

struct http_request *etcd_post(struct etcd *etcd, const char *path,
			       json_t *body, long ms,
			       void (*line)(void *data, char *line, size_t len),
			       void (*done)(void *data, long status,
					    const char *in, size_t len),
			       void *data);
const char *etcd_error_text(const json_t *o);
bool etcd_is_refused(const json_t *o, const char *text);
void etcd_login_start(struct etcd *etcd);
void etcd_login_stop(struct etcd *etcd);
void etcd_login_check(struct etcd *etcd, const char *error);
void etcd_elsewhere(struct etcd *etcd, uint32_t from);
struct store_watch *etcd_watch(struct store *store, const char *key,
			       bool prefix, uint64_t revision,
			       store_watch_fn fn, void *data);
void etcd_unwatch(struct store_watch *watch);

#endif /* _SRPOL_ETCD_H */
