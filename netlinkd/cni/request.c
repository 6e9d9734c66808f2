// SPDX-License-Identifier: GPL-2.0
/* Reads the environment variables in which the runtime passes its request. */
#include <ctype.h>
#include <net/if.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "cni.h"

static const char *variable(const char *name)
{
	return getenv(name) ?: "";
}

static bool is_container(const char *s)
{
	if (!isalnum((unsigned char)*s))
		return false;
	while (isalnum((unsigned char)*s) || (*s && strchr("_.-", *s)))
		s++;
	return !*s;
}

static bool is_ifname(const char *s)
{
	size_t len = strlen(s);

	if (!len || len >= IF_NAMESIZE || !strcmp(s, ".") || !strcmp(s, ".."))
		return false;
	while (*s && *s != '/' && *s != ':' && !isspace((unsigned char)*s))
		s++;
	return !*s;
}

/* Are these pairs KEY=VALUE, separated by semicolons? */
static bool are_args(const char *s)
{
	size_t len;

	for (; *s; s += len, s += *s == ';') {
		len = strcspn(s, ";");
		if (!memchr(s, '=', len) || *s == '=')
			return false;
	}
	return true;
}

static int wrong(struct cni_error *err, const char *name, const char *value)
{
	if (!*value)
		return cni_fail(err, CNI_ENVIRONMENT, NULL, "%s is missing",
				name);
	return cni_fail(err, CNI_ENVIRONMENT, value, "%s is invalid", name);
}

/**
 * cni_request_read() - read and check the environment variables
 * @request: result
 * @err: error
 */
int cni_request_read(struct cni_request *request, struct cni_error *err)
{
	static const char *const commands[] = {
		"ADD", "DEL", "CHECK", "VERSION"
	};
	size_t i;

	*request = (struct cni_request){
		.command = variable("CNI_COMMAND"),
		.container = variable("CNI_CONTAINERID"),
		.netns = variable("CNI_NETNS"),
		.ifname = variable("CNI_IFNAME"),
		.args = variable("CNI_ARGS"),
	};
	for (i = 0; i < 4 && strcmp(request->command, commands[i]); i++)
		;
	if (i == 4)
		return wrong(err, "CNI_COMMAND", request->command);
	if (!strcmp(request->command, "VERSION"))
		return 0;
	if (!is_container(request->container))
		return wrong(err, "CNI_CONTAINERID", request->container);
	if (!is_ifname(request->ifname))
		return wrong(err, "CNI_IFNAME", request->ifname);
	if (!are_args(request->args))
		return wrong(err, "CNI_ARGS", request->args);
	if (!*request->netns && strcmp(request->command, "DEL"))
		return wrong(err, "CNI_NETNS", request->netns);
	return 0;
}

/**
 * cni_request_arg() - read a value of CNI_ARGS
 * @request: the request
 * @key: its key
 * @value: result, truncated if it is too long
 * @len: size of @value in bytes
 *
 * Return: whether the key is present.
 */
bool cni_request_arg(const struct cni_request *request, const char *key,
		     char *value, size_t len)
{
	size_t n = strlen(key);
	const char *s;

	for (s = request->args; *s; s += strcspn(s, ";"), s += *s == ';') {
		if (strncmp(s, key, n) || s[n] != '=')
			continue;
		s += n + 1;
		snprintf(value, len, "%.*s", (int)strcspn(s, ";"), s);
		return true;
	}
	return false;
}

/**
 * cni_request_name() - make the name of the rules of a pod's device
 * @request: the request
 * @network: name of the network
 * @name: result, SRPOL_NAME_MAX + 1 bytes
 *
 * The name follows from network, container and device only, as DEL gets nothing
 * else. Together these may be longer than a name may be, so it has a digest of
 * them.
 */
void cni_request_name(const struct cni_request *request, const char *network,
		      char *name)
{
	const char *const parts[] = { network, request->container,
				      request->ifname };
	unsigned char digest[crypto_generichash_BYTES_MIN];
	crypto_generichash_state state;
	size_t i;

	crypto_generichash_init(&state, NULL, 0, sizeof(digest));
	for (i = 0; i < 3; i++)
		crypto_generichash_update(&state,
					  (const unsigned char *)parts[i],
					  strlen(parts[i]) + 1);
	crypto_generichash_final(&state, digest, sizeof(digest));
	name += sprintf(name, SRPOL_POD_RULE);
	sodium_bin2hex(name, SRPOL_POD_DIGITS + 1, digest,
		       SRPOL_POD_DIGITS / 2);
}
