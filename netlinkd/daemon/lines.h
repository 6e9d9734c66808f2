/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Unix socket whose clients send lines and are sent lines: srpol's requests,
 * the embedded store. What a client does not read is kept up to a limit, then
 * it is let go. So many may be connected at a time; one more takes the place
 * of the one that was quiet for longest, so that nobody can keep others out
 * by doing nothing.
 */
#ifndef _SRPOL_LINES_H
#define _SRPOL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"

struct srpol_error;
struct lines;

#define LINES_COST	8192	/* of any line, however short */
#define LINES_USERS	64	/* that may say something in a second */
#define LINES_BY_USER	8	/* a user may say so many times what a client may */
#define LINES_BY_ALL	16	/* and all of them together */

/**
 * struct lines_talk - what somebody said in a second
 * @uid: user
 * @since_ns: when the second began, 0: never
 * @said: bytes, as @rate_max of struct lines counts them
 */
struct lines_talk {
	uint32_t uid;
	uint64_t since_ns;
	size_t said;
};

/**
 * struct lines_client - one that is connected
 * @source: its socket
 * @server: whose client it is
 * @uid: user
 * @heard_ns: when it last said something
 * @talk: what it said
 * @in: what came and is not a whole line yet
 * @in_len: bytes of it
 * @in_room: of @in
 * @out: what was not sent yet
 * @out_len: bytes of it
 * @busy: lines of it are being read: it is freed afterwards
 * @gone: let go
 * @data: the server's
 */
struct lines_client {
	struct source source;
	struct lines *server;
	uint32_t uid;
	uint64_t heard_ns;
	struct lines_talk talk;
	char *in;
	size_t in_len;
	size_t in_room;
	char *out;
	size_t out_len;
	bool busy;
	bool gone;
	void *data;
};

/**
 * struct lines - a server
 * @path: of its socket
 * @for_all: every user of the machine may connect, not only its own
 * @clients_max: clients at a time
 * @line_max: bytes of a line
 * @out_max: bytes that a client may leave unread
 * @rate_max: bytes that a client may say in a second, of which each line has
 *	LINES_COST more than it has; one that says more is let go. What a user
 *	may say does not depend on the number of his clients, as he could come
 *	and go, and all of them are limited as well. 0: no limit
 * @line: a line came, without its end; it may be written to
 * @left: a client goes, may be NULL
 * @listener: the socket
 * @clients: by place
 * @dropped: clients that were let go
 * @users: what users said
 * @all: what all said
 */
struct lines {
	const char *path;
	bool for_all;
	unsigned int clients_max;
	size_t line_max;
	size_t out_max;
	size_t rate_max;
	void (*line)(struct lines_client *client, char *line, size_t len);
	void (*left)(struct lines_client *client);
	struct source listener;
	struct lines_client **clients;
	uint64_t dropped;
	struct lines_talk users[LINES_USERS];
	struct lines_talk all;
};

int lines_start(struct lines *server, struct srpol_error *err);
void lines_stop(struct lines *server);
bool lines_send(struct lines_client *client, const char *text, size_t len);

#endif /* _SRPOL_LINES_H */
