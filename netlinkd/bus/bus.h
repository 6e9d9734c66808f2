/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bus: messages that may be lost, from hosts to engines, by NATS (core,
 * without JetStream). What must not be lost is in the store. Who may publish
 * which subject is the servers' business: a user of each host, with a list of
 * what it may.
 *
 *	bus.c		the connection
 *	bus_inbox.c	messages, from libnats' threads to the loop
 *	bus_subject.c	keys as subjects
 *	bus_config.c	what the operator wrote
 *
 * Nothing here waits. libnats has threads of its own; all functions are called
 * from the loop, and what they are given is called from there.
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
#define BUS_MESSAGE_MAX	(64 << 10)	/* bytes; what is larger is dropped */
#define BUS_INBOX_MAX	16384		/* messages that the loop has not taken */
#define BUS_INBOX_BYTES	(16 << 20)	/* and bytes of them */

/**
 * struct bus_config - where it is
 * @prefix: first word of all subjects
 * @servers: none: there is no bus
 */
struct bus_config {
	char prefix[32];
	struct servers servers;
};

/**
 * struct bus_message - what came
 * @subject: its subject
 * @data: not 0-terminated
 * @len: bytes of it
 */
struct bus_message {
	char *subject;
	char *data;
	size_t len;
};

/**
 * struct bus_user - who uses the bus
 * @name: shown by the servers
 * @subject: what is listened to, NULL: nothing
 * @take: a message came
 * @connected: connected, or again: what was published may be lost
 * @data: for both
 */
struct bus_user {
	const char *name;
	const char *subject;
	void (*take)(void *data, const struct bus_message *message);
	void (*connected)(void *data);
	void *data;
};

/**
 * struct bus_stats - what happened
 * @connected: there is a connection
 * @published: messages handed to it
 * @unpublished: messages that could not be
 * @received: messages taken
 * @dropped: messages that were too large, or too many
 * @errors: what servers complained of, such as a subject that is not ours
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
int bus_open(const struct bus_config *config, const struct bus_user *user,
	     struct bus **to, struct srpol_error *err);
void bus_close(struct bus *bus);
void bus_publish(struct bus *bus, const char *subject, const char *data,
		 size_t len);
void bus_stats(struct bus *bus, struct bus_stats *stats);

bool bus_subject(const struct bus_config *config, const char *key, char *subject,
		 size_t size);
bool bus_key(const struct bus_config *config, const char *subject, char *key,
	     size_t size);

#endif /* _SRPOL_BUS_H */
