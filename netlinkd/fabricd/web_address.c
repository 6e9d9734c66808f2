// SPDX-License-Identifier: GPL-2.0
/* The address that the page is served at: a numeric address and a port. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "web.h"

/* Split "[::1]:80" or "127.0.0.1:80" into host and port; @text is modified. */
static bool split(char *text, char **host, char **port)
{
	char *colon = strrchr(text, ':'), *end;

	if (!colon || colon == text || !colon[1])
		return false;
	end = colon - 1;
	*colon = '\0';
	*port = colon + 1;
	*host = text;
	if (*text != '[')
		return !strchr(text, ':');
	*host = text + 1;
	if (*end != ']')
		return false;
	*end = '\0';
	return true;
}

/* getaddrinfo() accepts any number and truncates it. */
static bool is_port(const char *text)
{
	return strlen(text) <= 5 && strspn(text, "0123456789") == strlen(text) &&
	       atoi(text) > 0 && atoi(text) <= UINT16_MAX;
}

/**
 * web_address() - read an address
 * @text: "[ADDRESS6]:PORT" or "ADDRESS4:PORT"
 * @addr: result
 * @len: result: length of @addr
 * @err: message on failure
 */
int web_address(const char *text, struct sockaddr_storage *addr,
		socklen_t *len, struct srpol_error *err)
{
	static const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *found = NULL;
	char copy[64], *host, *port;

	if (strlen(text) < sizeof(copy) &&
	    split(strcpy(copy, text), &host, &port) && is_port(port) &&
	    !getaddrinfo(host, port, &hints, &found)) {
		*len = found->ai_addrlen;
		memcpy(addr, found->ai_addr, *len);
		freeaddrinfo(found);
		return 0;
	}
	return srpol_error_set(err, -EINVAL,
			       "\"page\" is not an address with a port, such as \"[::1]:8080\"");
}

/**
 * web_is_loopback() - whether only this machine can reach an address
 * @addr: the address
 */
bool web_is_loopback(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *four = (const struct sockaddr_in *)addr;

	if (addr->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/**
 * web_host_is_local() - whether a request was for an address or "localhost"
 * @host: the request's Host header, with or without a port
 *
 * A browser that sends another name was led here by the owner of that name (DNS
 * rebinding), who could then read what is meant for this machine only.
 */
bool web_host_is_local(const char *host)
{
	struct in6_addr six;
	struct in_addr four;
	char name[64];
	size_t len;

	if (*host == '[')
		len = strcspn(++host, "]");
	else
		len = strcspn(host, ":");
	if (len >= sizeof(name))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	return !strcmp(name, "localhost") ||
	       inet_pton(AF_INET, name, &four) == 1 ||
	       inet_pton(AF_INET6, name, &six) == 1;
}
