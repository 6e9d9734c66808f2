/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A Unix socket whose clients send and receive lines: the requests of srpol and
 * the embedded store use it. Output that a client does not read is buffered up
 * to a limit; beyond that the client is disconnected. The number of clients is
 * limited as well. A client beyond that limit replaces the one that has been
 * quiet for the longest time, so that nobody can keep others out by doing
 * nothing. It is one of the user who has most of them, so that nobody can
 * disconnect others by coming again and again.
 */
#ifndef _SRPOL_LINES_H
#define _SRPOL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"

struct srpol_error;
struct lines;

#define LINES_COST	8192	/* added to the length of each line */
#define LINES_USERS	64	/* users that may send within a second */
#define LINES_BY_USER	8	/* rate of a user, in rates of a client */
#define LINES_BY_ALL	16	/* rate of all users together, likewise */

/**
 * struct lines_talk - how much was sent within a second
 * @uid: user id
 * @since_ns: start of that second (CLOCK_MONOTONIC), 0: nothing was sent yet
 * @said: bytes, counted as for @rate_max of struct lines
 */
struct lines_talk {
	uint32_t uid;
	uint64_t since_ns;
	size_t said;
};

/**
 * struct lines_client - a connected client
 * @source: its socket
 * @server: server it is connected to
 * @uid: user id of the peer, from SO_PEERCRED
 * @heard_ns: when it last sent something (CLOCK_MONOTONIC)
 * @talk: how much it has sent
 * @in: input that is not a whole line yet
 * @in_len: bytes of @in
 * @in_room: size of @in in bytes
 * @out: output that was not sent yet
 * @out_len: bytes of @out
 * @busy: its lines are being handled, so it is freed only afterwards
 * @kept: no other client replaces it, however quiet it is; for the server's
 *	callbacks, which see to it that there are few
 * @ended: it sends nothing more, and is disconnected once it has read everything that
 *	it is told, also later
 * @gone: disconnected
 * @owed: lines that it will be told later; for the server's callbacks
 * @data: for use by the server's callbacks
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
	bool kept;
	bool ended;
	bool gone;
	unsigned int owed;
	void *data;
};

/**
 * struct lines - a server
 * @path: path of the socket
 * @for_all: every user may connect, instead of only the owner and group of the
 *	socket
 * @clients_max: largest number of clients at a time
 * @line_max: longest line, in bytes
 * @out_max: bytes that may wait to be read by a client
 * @rate_max: bytes that a client may send in a second, where each line counts
 *	LINES_COST bytes more than its length. A client that sends more is
 *	disconnected. All clients of a user share a limit of LINES_BY_USER times
 *	this, as reconnecting would get around a limit per client, and all users
 *	share one of LINES_BY_ALL times this. 0: no limit
 * @line: a line was received; it is 0-terminated instead of its newline, and
 *	may be modified
 * @left: a client is being disconnected; may be NULL
 * @drained: a client that was slow has read everything; may be NULL
 * @listener: the listening socket
 * @clients: @clients_max pointers, NULL: unused
 * @dropped: clients that were disconnected by the server
 * @users: how much each user has sent
 * @all: how much all users have sent
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
	void (*drained)(struct lines_client *client);
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
