// SPDX-License-Identifier: GPL-2.0
/* Servers in configuration files: where they are, how to log in. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "servers.h"
#include "srpol_lib.h"
#include "words.h"

static bool begins(const char *url, const char *scheme)
{
	return !strncmp(url, scheme, strlen(scheme));
}

static int read_list(const json_t *o, const char *name, const char *plain,
		     const char *secure, struct servers *servers,
		     struct srpol_error *err)
{
	const json_t *list = json_object_get(o, name), *v;
	const char *url;
	size_t i;

	if (list && !json_is_array(list))
		goto wrong;
	json_array_foreach(list, i, v) {
		url = json_string_value(v);
		if (i == SERVERS_MAX || !url ||
		    strlen(url) >= sizeof(servers->url[0]) ||
		    (!begins(url, plain) && !begins(url, secure)))
			goto wrong;
		strcpy(servers->url[i], url);
		/* paths begin with one */
		if (url[strlen(url) - 1] == '/')
			servers->url[i][strlen(url) - 1] = '\0';
	}
	servers->n = json_array_size(list);
	return 0;
wrong:
	return srpol_error_set(err, -EINVAL,
			       "\"%s\" is not a list of up to %u %sHOST:PORT",
			       name, SERVERS_MAX, plain);
}

/* The password is in a file that others cannot read: its first line. */
static int read_login(const json_t *o, struct servers *servers,
		      struct srpol_error *err)
{
	char path[256];
	FILE *file;
	int ret;

	ret = words_text(o, "user", "", servers->user, sizeof(servers->user),
			 err) ?:
	      words_text(o, "password-file", "", path, sizeof(path), err);
	if (ret || (!servers->user[0] && !path[0]))
		return ret;
	if (!servers->user[0] || !path[0])
		return srpol_error_set(err, -EINVAL,
				       "\"user\" and \"password-file\" belong together");
	file = fopen(path, "re");
	if (!file)
		return srpol_error_set(err, -errno, "\"password-file\": %s: %s",
				       path, strerror(errno));
	if (!fgets(servers->password, sizeof(servers->password), file))
		ret = srpol_error_set(err, -EINVAL,
				      "\"password-file\": %s is empty", path);
	servers->password[strcspn(servers->password, "\n")] = '\0';
	fclose(file);
	return ret;
}

static bool all_secure(const struct servers *servers, const char *secure)
{
	uint32_t i;

	for (i = 0; i < servers->n; i++)
		if (!begins(servers->url[i], secure))
			return false;
	return true;
}

/**
 * servers_read() - servers, and how to log in
 * @o: JSON object, NULL: none
 * @list: key of the list of URLs
 * @plain: how they begin, such as "http://"
 * @secure: how those with TLS begin
 * @servers: result
 * @err: what is wrong
 *
 * Certificates and passwords are for servers with TLS only.
 *
 * Return: 0 or a negative errno.
 */
int servers_read(const json_t *o, const char *list, const char *plain,
		 const char *secure, struct servers *servers,
		 struct srpol_error *err)
{
	int ret;

	*servers = (struct servers){};
	ret = read_list(o, list, plain, secure, servers, err) ?:
	      words_text(o, "cacert", "", servers->cacert,
			 sizeof(servers->cacert), err) ?:
	      words_text(o, "cert", "", servers->cert, sizeof(servers->cert),
			 err) ?:
	      words_text(o, "key", "", servers->key, sizeof(servers->key),
			 err) ?:
	      read_login(o, servers, err);
	if (ret)
		return ret;
	if (!servers->cert[0] != !servers->key[0])
		return srpol_error_set(err, -EINVAL,
				       "\"cert\" and \"key\" belong together");
	if ((servers->cacert[0] || servers->cert[0] || servers->user[0]) &&
	    !all_secure(servers, secure))
		return srpol_error_set(err, -EINVAL,
				       "certificates and passwords are for %s",
				       secure);
	return 0;
}
