/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_SERVERS_H
#define _SRPOL_SERVERS_H

#include <jansson.h>
#include <stdint.h>

struct srpol_error;

#define SERVERS_MAX	8

/**
 * struct servers - which servers, and who asks them
 * @n: number of @url
 * @url: such as https://10.0.0.1:2379, without a slash at its end
 * @cacert: file of the authority whose servers are believed; empty: those that
 *	the system believes
 * @cert: file of the certificate that is shown, empty: none
 * @key: file of its key
 * @user: name to log in with, empty: nobody
 * @password: its password
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

/* keys of servers_read(), but for the list's, for words_check() */
#define SERVERS_KEYS	"cacert", "cert", "key", "user", "password-file"

int servers_read(const json_t *o, const char *list, const char *plain,
		 const char *secure, struct servers *servers,
		 struct srpol_error *err);

#endif /* _SRPOL_SERVERS_H */
