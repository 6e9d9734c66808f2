/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bus carries messages that may be lost from hosts to engines. It uses NATS
 * (core NATS, without JetStream). What must not be lost is in the store. Which
 * client may publish which subject is decided by the NATS servers: each host
 * has a user there, with a list of permitted subjects.
 *
 *	bus.c		the connection
 *	bus_inbox.c	hands messages from libnats' threads to the event loop
 *	bus_subject.c	converts keys of the store to subjects and back
 *	bus_config.c	configuration by the operator
 *
 * libnats has threads of its own; all functions here have to be called from the
 * event loop, and all callbacks of the user run there. bus_publish() blocks for
 * at most 20 ms, when the socket is full; only buses_end() may take longer.
 */
#ifndef _SRPOL_BUS_H
#define _SRPOL_BUS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "servers.h"

struct bus;
struct srpol_error;

#define BUS_SUBJECT_LEN	512
#define BUS_MESSAGE_MAX	(64 << 10)	/* bytes; larger ones are dropped */
#define BUS_INBOX_MAX	16384		/* messages waiting for the loop */
#define BUS_INBOX_BYTES	(16 << 20)	/* total bytes of these */

/**
 * struct bus_config - where the bus is
 * @prefix: first token of all subjects
 * @servers: NATS servers; if there are none, the bus is not used
 */
struct bus_config {
	char prefix[32];
	struct servers servers;
};

/**
 * struct bus_message - a received message
 * @subject: its subject
 * @data: its payload, which may contain 0 bytes
 * @len: bytes of @data
 */
struct bus_message {
	char *subject;
	char *data;
	size_t len;
};

/**
 * struct bus_user - a user of the bus and its callbacks
 * @name: client name, shown by the NATS servers
 * @subject: subject to subscribe to, NULL: none
 * @take: a message was received; may be NULL if @subject is
 * @connected: the bus has connected or reconnected, so what was published
 *	before may be lost; may be NULL
 * @data: argument for the callbacks
 */
struct bus_user {
	const char *name;
	const char *subject;
	void (*take)(void *data, const struct bus_message *message);
	void (*connected)(void *data);
	void *data;
};

/**
 * struct bus_stats - state and counters of the bus
 * @connected: there is a connection
 * @published: messages handed to libnats
 * @unpublished: messages that could not be handed to libnats
 * @received: messages handed to the user
 * @dropped: messages that were too large, or came while the inbox was full
 * @errors: errors, such as a refused connection or a subject that this user may
 *	not publish
 */
struct bus_stats {
	bool connected;
	uint64_t published;
	uint64_t unpublished;
	uint64_t received;
	uint64_t dropped;
	uint64_t errors;
};

int bus_config_read(const json_t *o, struct bus_config *config,
		    struct srpol_error *err);
int bus_check(const struct bus_config *config, struct srpol_error *err);
int bus_open(const struct bus_config *config, const struct bus_user *user,
	     struct bus **to, struct srpol_error *err);
void bus_close(struct bus *bus);
bool buses_end(void);
void bus_publish(struct bus *bus, const char *subject, const char *data,
		 size_t len);
void bus_stats(struct bus *bus, struct bus_stats *stats);

bool bus_subject(const struct bus_config *config, const char *key, char *subject,
		 size_t size);
bool bus_key(const struct bus_config *config, const char *subject, char *key,
	     size_t size);

#endif /* _SRPOL_BUS_H */
