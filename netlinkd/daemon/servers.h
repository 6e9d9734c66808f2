/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_SERVERS_H
#define _SRPOL_SERVERS_H

#include <jansson.h>
#include <stdint.h>

struct srpol_error;

#define SERVERS_MAX	8

/**
 * struct servers - a list of servers, and how to log in to them
 * @n: number of @url
 * @url: such as https://10.0.0.1:2379, without a trailing slash
 * @cacert: file with the CA certificates that servers are verified against;
 *	empty: those of the system
 * @cert: file with the client certificate, empty: none
 * @key: file with the private key of @cert
 * @user: user name to log in with, empty: none
 * @password: password of @user
 */
struct servers {
	uint32_t n;
	char url[SERVERS_MAX][128];
	char cacert[256];
	char cert[256];
	char key[256];
	char user[64];
	char password[128];
};

/* keys that servers_read() takes besides the list, for words_check() */
#define SERVERS_KEYS	"cacert", "cert", "key", "user", "password-file"

int servers_read(const json_t *o, const char *list, const char *plain,
		 const char *secure, struct servers *servers,
		 struct srpol_error *err);

#endif /* _SRPOL_SERVERS_H */
