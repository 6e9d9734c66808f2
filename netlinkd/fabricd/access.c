// SPDX-License-Identifier: GPL-2.0
/*
 * Access control. The kernel tells the user id of the peer of a socket
 * (SO_PEERCRED), and the configuration maps it to a tenant. Operators may see
 * and change everything: these are root, the engine's own user and, without
 * "users" in the configuration, everybody who may open the socket.
 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "requests.h"
#include "srpol_lib.h"
#include "tenants.h"

/* A fifth of the time for users of a tenant, two fifths for those of all: see divide(). */
#define TENANT_NS	(NS_PER_SEC / 5)
#define TENANTS_NS	(2 * TENANT_NS)
#define STRANGERS_NS	(NS_PER_SEC / 50)	/* for users who are told that they have no tenant */
#define OWED_S		5	/* no answer is paid for longer */
#define PART_OWED_S	60	/* ... from a user's part */

static struct share all_users = { .per_s = TENANTS_NS, .owed_s = OWED_S };
static struct share strangers = { .per_s = STRANGERS_NS, .owed_s = OWED_S };
static struct share_begin begun;

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

/* @users: @n that were read already, behind which it is put */
static int read_user(const char *name, const json_t *v, struct user *users,
		     uint32_t n, struct srpol_error *err)
{
	const char *tenant = json_string_value(v);
	struct user *user = &users[n];

	if (read_uid(name, &user->uid))
		return srpol_error_set(err, -ENOENT,
				       "\"users\": no user \"%s\"", name);
	/* by name and by number, say: which of them would count? */
	while (n--)
		if (users[n].uid == user->uid)
			return srpol_error_set(err, -EEXIST,
					       "\"users\": \"%s\" is user %u, who is there twice",
					       name, user->uid);
	if (!tenant || !*tenant || strlen(tenant) >= SRPOL_NAME_LEN ||
	    strchr(tenant, '/'))
		return srpol_error_set(err, -EINVAL,
				       "\"users\": the tenant of \"%s\" is no name",
				       name);
	strcpy(user->tenant, tenant);
	return 0;
}

/* What users of a tenant have in common is with the first of them. */
static struct user *first_of(struct user *users, const char *tenant)
{
	while (strcmp(users->tenant, tenant))
		users++;
	return users;
}

/*
 * Whoever asks all the time is the first to see that there is time again, and takes it.
 * So each user has a part that nobody else can take, not even of the same tenant; all
 * parts together are no more than what tenants' users may have.
 */
static void divide(struct user *users, uint32_t n)
{
	uint32_t i, tenants = 0;
	uint64_t most;

	for (i = 0; i < n; i++)
		tenants += !first_of(users, users[i].tenant)->colleagues++;
	for (i = 0; i < n; i++) {
		users[i].share = (struct share){ .per_s = TENANT_NS, .owed_s = OWED_S };
		most = TENANTS_NS / tenants;
		if (most > TENANT_NS)
			most = TENANT_NS;
		users[i].part = (struct share){
			.per_s = most / first_of(users, users[i].tenant)->colleagues,
			.owed_s = PART_OWED_S,
		};
	}
}

/**
 * access_read() - read the users of tenants
 * @users: JSON object that maps user names or ids to tenants, NULL: none
 * @config: result
 * @err: message on failure
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
		ret = read_user(name, v, config->users, config->n_users, err);
		if (ret)
			break;
		config->n_users++;
	}
	if (ret) {
		free(config->users);
		config->users = NULL;
		return ret;
	}
	divide(config->users, config->n_users);
	return 0;
}

/**
 * access_is_operator() - whether a user may see and change everything
 * @uid: user id
 */
bool access_is_operator(uint32_t uid)
{
	return !fabricd.config.n_users || !uid || uid == geteuid();
}

/**
 * access_may_ask() - whether a user may send a request
 * @request: name of the request; requests that are open to all check the user's
 *	tenant themselves
 * @uid: user id
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

/* NULL: an operator, or a user without a tenant. */
static struct user *user_of(uint32_t uid)
{
	uint32_t i;

	if (access_is_operator(uid))
		return NULL;
	for (i = 0; i < fabricd.config.n_users; i++)
		if (fabricd.config.users[i].uid == uid)
			return &fabricd.config.users[i];
	return NULL;
}

/* Users without a tenant have one in common, as their lines are read; NULL: an operator. */
static struct share *part_of(uint32_t uid)
{
	struct user *user = user_of(uid);

	if (access_is_operator(uid))
		return NULL;
	return user ? &user->part : &strangers;
}

/**
 * access_has_time() - whether there is time for a user's request
 * @uid: user id
 *
 * For an operator there always is. If so, access_end() follows when the request was
 * dealt with.
 */
bool access_has_time(uint32_t uid)
{
	struct share *part = part_of(uid);
	struct user *user = user_of(uid);
	bool own, tenant, all;

	begun = share_begin();
	if (!part)
		return true;
	own = share_is_left(part, &begun);
	if (!user)
		return own;
	tenant = share_is_left(&first_of(fabricd.config.users, user->tenant)->share,
			       &begun);
	all = share_is_left(&all_users, &begun);
	return own || (tenant && all);
}

/**
 * access_refuse() - refuse a request for which there is no time
 * @uid: user id of a user for whom access_has_time() is false
 * @err: message, with the time after which it would be answered whatever others ask
 *
 * Return: -EBUSY.
 */
int access_refuse(uint32_t uid, struct srpol_error *err)
{
	control_server()->denied++;
	return srpol_error_set(err, -EBUSY,
			       "too much is asked for: there is time for this user in %u s at the latest",
			       share_wait_s(part_of(uid), &begun));
}

/**
 * access_begin() - begin to answer a user's request
 * @uid: user id
 * @err: message if this user has asked for more than its part of the engine's time, and
 *	others have taken the rest
 */
int access_begin(uint32_t uid, struct srpol_error *err)
{
	return access_has_time(uid) ? 0 : access_refuse(uid, err);
}

/**
 * access_end() - that request was answered
 * @uid: user id
 */
void access_end(uint32_t uid)
{
	struct share *part = part_of(uid);
	struct user *user = user_of(uid);

	if (part)
		share_take(part, &begun);
	if (!user)
		return;
	share_take(&first_of(fabricd.config.users, user->tenant)->share, &begun);
	share_take(&all_users, &begun);
}

/**
 * access_tenant() - tenant of the user whose request is being handled
 *
 * Return: its name, NULL for an operator or a user without a tenant.
 */
const char *access_tenant(void)
{
	const struct user *user = user_of(control_server()->asks);

	return user ? user->tenant : NULL;
}

/**
 * access_check() - check that the user is an operator or has a tenant
 * @err: message on failure
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
 * access_may() - check that a tenant is the user's own
 * @tenant: name of the tenant
 * @err: message on failure, which does not tell whether the tenant exists
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
