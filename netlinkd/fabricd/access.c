// SPDX-License-Identifier: GPL-2.0
/*
 * Who asks. The kernel says which user is at the other end of the socket
 * (SO_PEERCRED); the configuration says whose tenant that is. Root, the
 * engine's own user and, without any "users", whoever may open the socket, are
 * operators, who see and change everything.
 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "requests.h"
#include "srpol_lib.h"
#include "tenants.h"

static int read_uid(const char *name, uint32_t *uid)
{
	const struct passwd *pw;
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(name, &end, 10);
	if (!errno && end != name && !*end && n < UINT32_MAX) {
		*uid = n;
		return 0;
	}
	pw = getpwnam(name);
	if (!pw)
		return -ENOENT;
	*uid = pw->pw_uid;
	return 0;
}

static int read_user(const char *name, const json_t *v, struct user *user,
		     struct srpol_error *err)
{
	const char *tenant = json_string_value(v);

	if (read_uid(name, &user->uid))
		return srpol_error_set(err, -ENOENT,
				       "\"users\": no user \"%s\"", name);
	if (!tenant || !*tenant || strlen(tenant) >= SRPOL_NAME_LEN ||
	    strchr(tenant, '/'))
		return srpol_error_set(err, -EINVAL,
				       "\"users\": the tenant of \"%s\" is no name",
				       name);
	strcpy(user->tenant, tenant);
	return 0;
}

/**
 * access_read() - whose users are whose
 * @users: object of users, by number or name, and tenants; NULL: none
 * @config: result
 * @err: what is wrong
 */
int access_read(const json_t *users, struct fabricd_config *config,
		struct srpol_error *err)
{
	const char *name;
	const json_t *v;
	int ret = 0;

	if (users && (!json_is_object(users) ||
		      json_object_size(users) > USERS_MAX))
		return srpol_error_set(err, -EINVAL,
				       "\"users\" is not an object of up to %u users",
				       USERS_MAX);
	config->users = calloc(json_object_size(users) + 1,
			       sizeof(*config->users));
	if (!config->users)
		return -ENOMEM;
	json_object_foreach((json_t *)users, name, v) {
		ret = ret ?: read_user(name, v,
				       &config->users[config->n_users], err);
		config->n_users++;
	}
	if (ret) {
		free(config->users);
		config->users = NULL;
	}
	return ret;
}

/**
 * access_is_operator() - may this user see and change everything?
 * @uid: user
 */
bool access_is_operator(uint32_t uid)
{
	return !fabricd.config.n_users || !uid || uid == geteuid();
}

/**
 * access_may_ask() - may this user ask this?
 * @request: name of a request; those that are not for operators only look at
 *	whose user it is themselves
 * @uid: user
 */
bool access_may_ask(const char *request, uint32_t uid)
{
	static const char * const names[] = {
		"jobs", "job-add", "job-del", "tenants", "advise",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(request, names[i]))
			return true;
	return access_is_operator(uid);
}

/**
 * access_tenant() - whose user asks
 *
 * Return: its tenant, NULL for an operator and for one who has none.
 */
const char *access_tenant(void)
{
	uint32_t uid = control_server()->asks, i;

	if (access_is_operator(uid))
		return NULL;
	for (i = 0; i < fabricd.config.n_users; i++)
		if (fabricd.config.users[i].uid == uid)
			return fabricd.config.users[i].tenant;
	return NULL;
}

/**
 * access_check() - may this user ask anything?
 * @err: why not
 */
int access_check(struct srpol_error *err)
{
	uint32_t uid = control_server()->asks;

	if (access_is_operator(uid) || access_tenant())
		return 0;
	control_server()->denied++;
	return srpol_error_set(err, -EPERM, "user %u has no tenant", uid);
}

/**
 * access_may() - is this tenant the user's own?
 * @tenant: name
 * @err: why not; whether there is such a tenant is not told
 */
int access_may(const char *tenant, struct srpol_error *err)
{
	const char *own = access_tenant();
	int ret = access_check(err);

	if (ret || !own || !strcmp(own, tenant))
		return ret;
	control_server()->denied++;
	return srpol_error_set(err, -EPERM,
			       "tenant \"%s\" is not this user's", tenant);
}
