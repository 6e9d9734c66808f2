// SPDX-License-Identifier: GPL-2.0
/*
 * Passes messages from libnats' threads to the event loop. The number and size
 * of waiting messages is limited.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bus_inbox.h"
#include "log.h"

static void wake_up(struct inbox *inbox)
{
	uint64_t one = 1;

	/* this only fails if the eventfd is readable already */
	if (write(inbox->wake.fd, &one, sizeof(one)) < 0)
		return;
}

static void free_messages(struct vec *messages)
{
	struct bus_message *m;

	vec_for_each(m, messages) {
		free(m->subject);
		free(m->data);
	}
	vec_free(messages);
}

/* The user must not close the bus from its callbacks. */
static void take_all(struct source *source, uint32_t events)
{
	struct inbox *inbox = (struct inbox *)source;
	const struct bus_message *m;
	struct vec messages;
	bool news, connected;
	uint64_t count;

	if (read(source->fd, &count, sizeof(count)) < 0)
		return;
	pthread_mutex_lock(&inbox->lock);
	messages = inbox->messages;
	inbox->messages = (struct vec)VEC_INIT(struct bus_message);
	inbox->bytes = 0;
	inbox->stats.received += messages.n;
	news = inbox->news;
	inbox->news = false;
	connected = inbox->stats.connected;
	pthread_mutex_unlock(&inbox->lock);

	if (news)
		log_info("bus: connected");
	if (!connected && (news || inbox->shown))
		log_notice("bus: connection lost");
	inbox->shown = connected;
	if (news && inbox->user.connected)
		inbox->user.connected(inbox->user.data);
	vec_for_each(m, &messages)
		inbox->user.take(inbox->user.data, m);
	free_messages(&messages);
}

/**
 * inbox_open() - initialize an empty inbox
 * @inbox: result
 * @user: user who gets the messages
 *
 * Return: 0 or a negative errno.
 */
int inbox_open(struct inbox *inbox, const struct bus_user *user)
{
	int ret;

	*inbox = (struct inbox){
		.wake = { .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
			  .ready = take_all },
		.user = *user,
		.messages = VEC_INIT(struct bus_message),
	};
	if (inbox->wake.fd < 0)
		return -errno;
	ret = loop_add(&inbox->wake, EPOLLIN);
	if (ret)
		close(inbox->wake.fd);
	else
		pthread_mutex_init(&inbox->lock, NULL);
	return ret;
}

/**
 * inbox_leave() - hand nothing over any more; called by the event loop
 * @inbox: inbox; other threads may still use it
 */
void inbox_leave(struct inbox *inbox)
{
	loop_remove(&inbox->wake);
}

/**
 * inbox_free() - drop waiting messages and free the inbox; called from any thread
 * @inbox: inbox that was left; no other thread may use it any more
 */
void inbox_free(struct inbox *inbox)
{
	close(inbox->wake.fd);
	free_messages(&inbox->messages);
	pthread_mutex_destroy(&inbox->lock);
}

static char *copy(const char *data, size_t len)
{
	char *p = malloc(len + 1);

	if (!p)
		abort();
	memcpy(p, data, len);
	p[len] = '\0';
	return p;
}

/**
 * inbox_put() - add a received message; called from any thread
 * @inbox: inbox
 * @subject: subject of the message
 * @data: payload
 * @len: bytes of @data
 */
void inbox_put(struct inbox *inbox, const char *subject, const char *data,
	       size_t len)
{
	struct bus_message *m;

	pthread_mutex_lock(&inbox->lock);
	if (len > BUS_MESSAGE_MAX || inbox->messages.n >= BUS_INBOX_MAX ||
	    inbox->bytes + len > BUS_INBOX_BYTES) {
		inbox->stats.dropped++;
	} else {
		inbox->bytes += len;
		m = vec_add(&inbox->messages);
		m->subject = copy(subject, strlen(subject));
		m->data = copy(data, len);
		m->len = len;
	}
	pthread_mutex_unlock(&inbox->lock);
	wake_up(inbox);
}

/**
 * inbox_begin() - the first attempt to connect begins
 * @inbox: inbox; nobody else calls anything for a connection of before any more
 */
void inbox_begin(struct inbox *inbox)
{
	pthread_mutex_lock(&inbox->lock);
	inbox->lost = false;
	pthread_mutex_unlock(&inbox->lock);
}

/**
 * inbox_connected_first() - the first attempt has made a connection; called from any thread
 * @inbox: inbox
 *
 * Another thread may have told already that it was lost again, and made anew.
 */
void inbox_connected_first(struct inbox *inbox)
{
	pthread_mutex_lock(&inbox->lock);
	if (!inbox->lost)
		inbox->stats.connected = inbox->news = true;
	pthread_mutex_unlock(&inbox->lock);
	wake_up(inbox);
}

/**
 * inbox_connected() - the connection was made or lost; called from any thread
 * @inbox: inbox
 * @connected: there is a connection
 */
void inbox_connected(struct inbox *inbox, bool connected)
{
	pthread_mutex_lock(&inbox->lock);
	inbox->stats.connected = connected;
	inbox->news |= connected;
	inbox->lost |= !connected;
	pthread_mutex_unlock(&inbox->lock);
	wake_up(inbox);
}
