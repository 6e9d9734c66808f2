// SPDX-License-Identifier: GPL-2.0
/* Reads from a configuration file which servers to use and how to log in. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "servers.h"
#include "srpol_lib.h"
#include "words.h"

static bool begins(const char *url, const char *scheme)
{
	return !strncmp(url, scheme, strlen(scheme));
}

/* Does the URL have this scheme, followed by a host? */
static bool is_server(const char *url, const char *scheme)
{
	return begins(url, scheme) && url[strlen(scheme)] &&
	       !strchr(":/", url[strlen(scheme)]);
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
		    (!is_server(url, plain) && !is_server(url, secure)))
			goto wrong;
		/* credentials in a URL would end up in logs */
		if (strchr(url, '@'))
			return srpol_error_set(err, -EINVAL,
				"\"%s\": who logs in is \"user\" and \"password-file\", not part of a server",
				name);
		strcpy(servers->url[i], url);
		/* the paths appended to it begin with a slash */
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

/* Reads the password, which is the first line of the file. */
static int read_password(const char *path, struct servers *servers,
			 struct srpol_error *err)
{
	struct srpol_error why = {};
	FILE *file = srpol_file_open(path, &why);
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int ret = 0;

	if (!file)
		return srpol_error_set(err, -EINVAL, "\"password-file\": %s: %s",
				       path, why.text);
	len = getline(&line, &size, file);
	while (len > 0 && strchr("\r\n", line[len - 1]))
		line[--len] = '\0';
	if (len <= 0)
		ret = srpol_error_set(err, -EINVAL,
				      "\"password-file\": %s is empty", path);
	else if (strlen(line) != (size_t)len)
		ret = srpol_error_set(err, -EINVAL,
				      "\"password-file\": %s: 0 byte in its first line",
				      path);
	else if ((size_t)len >= sizeof(servers->password))
		ret = srpol_error_set(err, -EINVAL,
				      "\"password-file\": %s: first line is longer than %zu bytes",
				      path, sizeof(servers->password) - 1);
	else
		strcpy(servers->password, line);
	if (line)
		explicit_bzero(line, size);
	free(line);
	fclose(file);
	return ret;
}

static int read_login(const json_t *o, struct servers *servers,
		      struct srpol_error *err)
{
	char path[256];
	int ret;

	ret = words_text(o, "user", "", servers->user, sizeof(servers->user),
			 err) ?:
	      words_text(o, "password-file", "", path, sizeof(path), err);
	if (ret || (!servers->user[0] && !path[0]))
		return ret;
	if (!servers->user[0] || !path[0])
		return srpol_error_set(err, -EINVAL,
				       "\"user\" and \"password-file\" belong together");
	return read_password(path, servers, err);
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
 * servers_read() - read a list of servers, and how to log in
 * @o: JSON object, NULL: no servers
 * @list: key of the list of URLs
 * @plain: URL scheme without TLS, such as "http://"
 * @secure: URL scheme with TLS
 * @servers: result
 * @err: error message
 *
 * Certificates and passwords are only accepted if all servers use TLS.
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
