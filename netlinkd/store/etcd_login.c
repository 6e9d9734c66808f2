// SPDX-License-Identifier: GPL-2.0
/*
 * Authentication to etcd. A client certificate permits to connect; what a
 * client may read and write depends on the roles of a user. Through the JSON
 * gateway a user is identified by a token only (etcd ignores the name in the
 * certificate there). The token is obtained with name and password, and expires
 * some time after its last use. Requests made before there is a token are
 * refused; the caller has to repeat them.
 */
#include <stdlib.h>
#include <string.h>

#include "etcd.h"
#include "log.h"

#define NS_PER_SEC	1000000000ull
#define AGAIN_NS	(NS_PER_SEC / 5)
#define RENEW_NS	(60 * NS_PER_SEC)	/* a token lasts 5 min */

/*
 * Requests without a token fail with a reason that says nothing of a wrong password. A
 * login is tried again and again, so this is said when it is another one.
 */
static void tell_refused(struct etcd *etcd, const char *why)
{
	char text[sizeof(etcd->login_refused)];

	snprintf(text, sizeof(text), "%s", why);
	if (strcmp(text, etcd->login_refused))
		log_notice("etcd: login of user %s is refused: %s; it is tried again and again",
			   etcd->config.servers.user, text);
	strcpy(etcd->login_refused, text);
}

static void answered(void *data, long status, const char *in, size_t len)
{
	json_t *o = status && in ? json_loadb(in, len, 0, NULL) : NULL;
	const char *token = json_string_value(json_object_get(o, "token"));
	const char *error = etcd_error_text(o);
	struct etcd *etcd = data;

	etcd->logging_in = NULL;
	alarm_stop(&etcd->login);
	if (status == 200 && token) {
		free(etcd->http.token);
		etcd->http.token = strdup(token);
		etcd->login_refused[0] = '\0';
		alarm_set(&etcd->login, RENEW_NS);
	} else {
		log_debug("etcd: login of user %s: %s", etcd->config.servers.user,
			  error ?: status && in ? in : etcd->http.error);
		/* other failures are those of all requests */
		if (etcd_is_refused(o, error))
			tell_refused(etcd, error);
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
			  "password", etcd->config.servers.password),
		ETCD_REQUEST_MS, NULL, answered, etcd);
}

/**
 * etcd_login_start() - get a token, if a user is configured
 * @etcd: cluster
 */
void etcd_login_start(struct etcd *etcd)
{
	etcd->login = (struct alarm)ALARM_INIT(log_in, etcd);
	if (etcd->config.servers.user[0])
		log_in(etcd);
}

/**
 * etcd_login_stop() - stop getting tokens
 * @etcd: cluster; before its requests are freed
 */
void etcd_login_stop(struct etcd *etcd)
{
	alarm_stop(&etcd->login);
	if (etcd->logging_in)
		http_cancel(etcd->logging_in);
	etcd->logging_in = NULL;
}

/**
 * etcd_login_check() - log in again if a request failed for lack of a token
 * @etcd: cluster
 * @error: error message of etcd, may be NULL
 */
void etcd_login_check(struct etcd *etcd, const char *error)
{
	if (!etcd->config.servers.user[0] || !error ||
	    (!strstr(error, "auth token") &&
	     !strstr(error, "user name is empty")) || etcd->logging_in)
		return;
	/* etcd refuses a login that carries an invalid token */
	free(etcd->http.token);
	etcd->http.token = NULL;
	alarm_stop(&etcd->login);
	alarm_set(&etcd->login, 1);
}
