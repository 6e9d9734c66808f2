/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_BUS_INBOX_H
#define _SRPOL_BUS_INBOX_H

#include <pthread.h>

#include "bus.h"
#include "loop.h"
#include "vec.h"

/**
 * struct inbox - messages that libnats' threads pass to the event loop
 * @wake: eventfd, readable if there is something for the loop
 * @user: user who gets the messages
 * @lock: protects the fields below except @shown
 * @messages: struct bus_message, received and not handed over yet
 * @bytes: total payload of @messages
 * @stats: see struct bus_stats
 * @news: connected since the loop looked last
 * @lost: the connection was lost since inbox_begin()
 * @shown: connected when the loop looked last; only used by the loop
 */
struct inbox {
	struct source wake;
	struct bus_user user;
	pthread_mutex_t lock;
	struct vec messages;
	size_t bytes;
	struct bus_stats stats;
	bool news;
	bool lost;
	bool shown;
};

int inbox_open(struct inbox *inbox, const struct bus_user *user);
void inbox_leave(struct inbox *inbox);
void inbox_free(struct inbox *inbox);
void inbox_put(struct inbox *inbox, const char *subject, const char *data,
	       size_t len);
void inbox_begin(struct inbox *inbox);
void inbox_connected_first(struct inbox *inbox);
void inbox_connected(struct inbox *inbox, bool connected);

#endif /* _SRPOL_BUS_INBOX_H */
