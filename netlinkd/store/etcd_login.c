// SPDX-License-Identifier: GPL-2.0
/*
 * Who asks etcd. A certificate lets one connect; what one may read and write
 * follows from a user's roles. Through the JSON gateway a user is known by a
 * token only (etcd does not take the certificate's name there), which is had
 * for name and password, and ends some time after its last use. Requests that
 * have none yet are refused; who asks asks again.
 */
#include <stdlib.h>
#include <string.h>

#include "etcd.h"
#include "log.h"

#define NS_PER_SEC	1000000000ull
#define AGAIN_NS	(NS_PER_SEC / 5)
#define RENEW_NS	(60 * NS_PER_SEC)	/* a token lasts 5 min */

static void answered(void *data, long status, const char *in, size_t len)
{
	json_t *o = in ? json_loadb(in, len, 0, NULL) : NULL;
	const char *token = json_string_value(json_object_get(o, "token"));
	struct etcd *etcd = data;

	etcd->logging_in = NULL;
	alarm_stop(&etcd->login);
	if (status == 200 && token) {
		free(etcd->http.token);
		etcd->http.token = strdup(token);
		alarm_set(&etcd->login, RENEW_NS);
	} else {
		log_debug("etcd: login of user %s: %s", etcd->config.servers.user,
			  json_string_value(json_object_get(o, "error")) ?:
			  status && in ? in : etcd->http.error);
		etcd_elsewhere(etcd, etcd->at);
		alarm_set(&etcd->login, AGAIN_NS);
	}
	json_decref(o);
}

static void log_in(void *data)
{
	struct etcd *etcd = data;

	if (etcd->logging_in)
		return;
	etcd->logging_in = etcd_post(etcd, "/v3/auth/authenticate",
		json_pack("{s:s, s:s}", "name", etcd->config.servers.user,
			  "password", etcd->config.servers.password), NULL, answered,
		etcd);
}

/**
 * etcd_login_start() - get a token, if there is a user
 * @etcd: cluster
 */
void etcd_login_start(struct etcd *etcd)
{
	etcd->login = (struct alarm)ALARM_INIT(log_in, etcd);
	if (etcd->config.servers.user[0])
		log_in(etcd);
}

/**
 * etcd_login_stop() - no more of that
 * @etcd: cluster, before its requests are freed
 */
void etcd_login_stop(struct etcd *etcd)
{
	alarm_stop(&etcd->login);
	if (etcd->logging_in)
		http_cancel(etcd->logging_in);
	etcd->logging_in = NULL;
}

/**
 * etcd_login_check() - a request was refused: was it for want of a token?
 * @etcd: cluster
 * @error: what etcd said
 */
void etcd_login_check(struct etcd *etcd, const char *error)
{
	if (!etcd->config.servers.user[0] || !error ||
	    (!strstr(error, "auth token") &&
	     !strstr(error, "user name is empty")) || etcd->logging_in)
		return;
	/* a login with a token that is void is refused */
	free(etcd->http.token);
	etcd->http.token = NULL;
	alarm_stop(&etcd->login);
	alarm_set(&etcd->login, 1);
}
