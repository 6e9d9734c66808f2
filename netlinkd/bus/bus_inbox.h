/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_BUS_INBOX_H
#define _SRPOL_BUS_INBOX_H

#include <pthread.h>

#include "bus.h"
#include "loop.h"
#include "vec.h"

/**
 * struct inbox - what came from other threads and the loop has not taken
 * @wake: eventfd, readable if there is something
 * @user: whom it is given to
 * @lock: for what follows
 * @messages: struct bus_message
 * @bytes: of them
 * @stats: see there
 * @news: connected since the loop looked last
 * @shown: connected when the loop looked last
 */
struct inbox {
	struct source wake;
	struct bus_user user;
	pthread_mutex_t lock;
	struct vec messages;
	size_t bytes;
	struct bus_stats stats;
	bool news;
	bool shown;
};

int inbox_open(struct inbox *inbox, const struct bus_user *user);
void inbox_close(struct inbox *inbox);
void inbox_put(struct inbox *inbox, const char *subject, const char *data,
	       size_t len);
void inbox_connected(struct inbox *inbox, bool connected);

#endif /* _SRPOL_BUS_INBOX_H */
