// SPDX-License-Identifier: GPL-2.0
/*
 * A connection to one of several NATS servers, maintained by libnats, which
 * connects to another server when one fails. What is published in between is
 * lost; the user is told when the connection is back.
 *
 * libnats gives up for good when a server refuses the login twice, for instance
 * while passwords are being changed. Its own option to retry the first attempt
 * would hide the reason of a failure. So a timer checks whether libnats still
 * works at a connection, and otherwise starts a new one.
 */
#include <errno.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bus_inbox.h"
#include "log.h"
#include "srpol_lib.h"

#define CONNECT_MS	1000
#define AGAIN_MS	500	/* plus jitter: not all hosts at once */
#define PING_MS		2000	/* a silent server is left after two */
#define WRITE_MS	20	/* longest block on a full socket */
#define RECONNECT_BYTES	(64 << 10)	/* before we know that it connects again */
#define END_S		2	/* that the end of the process waits */
#define LOOK_MS		1000	/* plus up to as much jitter */
#define NS_PER_MS	1000000ull

/**
 * struct bus - a connection
 * @inbox: received messages; must be the first member
 * @options: libnats options of the connection
 * @connection: NULL until the first attempt has succeeded; under @inbox.lock
 * @subscription: subscription of @connection, or NULL
 * @connector: thread that makes the first attempt, which may block
 * @has_connector: there is that thread
 * @attempted: the first attempt is over; under @inbox.lock
 * @look: timer to check whether the connection has to be started again
 * @subject: subject to subscribe to, NULL: none
 * @said: the last error that was logged; under @inbox.lock
 * @closed: libnats has closed @connection and makes no more callbacks for it;
 *	under @inbox.lock
 * @complete: likewise for @subscription; under @inbox.lock
 * @over: signaled when @closed or @complete becomes true
 * @left: the user is gone, and wants to hear of no errors; under @inbox.lock
 * @next: another one whose user is gone
 * @closer: thread that closes it then
 * @is_closing: there is that thread
 */
struct bus {
	struct inbox inbox;
	natsOptions *options;
	natsConnection *connection;
	natsSubscription *subscription;
	pthread_t connector;
	bool has_connector;
	bool attempted;
	struct alarm look;
	char *subject;
	char said[256];
	bool closed;
	bool complete;
	pthread_cond_t over;
	bool left;
	struct bus *next;
	pthread_t closer;
	bool is_closing;
};

/* Those whose user has gone, but not all that they need; only the loop's thread knows. */
static struct bus *leaving;

static void on_message(natsConnection *connection, natsSubscription *from,
		       natsMsg *message, void *data)
{
	struct bus *bus = data;

	inbox_put(&bus->inbox, natsMsg_GetSubject(message),
		  natsMsg_GetData(message), natsMsg_GetDataLength(message));
	natsMsg_Destroy(message);
}

static void on_connected(natsConnection *connection, void *data)
{
	struct bus *bus = data;

	inbox_connected(&bus->inbox, true);
}

static void on_disconnected(natsConnection *connection, void *data)
{
	struct bus *bus = data;

	inbox_connected(&bus->inbox, false);
}

/* What libnats says, without its source file and line, or else the status. */
static const char *text_of(const char *text, natsStatus status)
{
	const char *what;

	if (!text || !*text)
		return natsStatus_GetText(status);
	what = strstr(text, "): ");
	return *text == '(' && what ? what + strlen("): ") : text;
}

/* Logs an error unless it was the last one logged. */
static void complain(struct bus *bus, const char *text, natsStatus status)
{
	text = text_of(text, status);
	pthread_mutex_lock(&bus->inbox.lock);
	bus->inbox.stats.errors++;
	if (!bus->left && strncmp(text, bus->said, sizeof(bus->said) - 1)) {
		snprintf(bus->said, sizeof(bus->said), "%s", text);
		log_notice("bus: %s", text);
	}
	pthread_mutex_unlock(&bus->inbox.lock);
}

/* Errors such as a subject that this user may not publish; they may repeat. */
static void on_error(natsConnection *connection, natsSubscription *from,
		     natsStatus status, void *data)
{
	const char *text = NULL;

	natsConnection_GetLastError(connection, &text);
	complain(data, text, status);
}

static void set_over(struct bus *bus, bool *which)
{
	pthread_mutex_lock(&bus->inbox.lock);
	*which = true;
	pthread_cond_signal(&bus->over);
	pthread_mutex_unlock(&bus->inbox.lock);
}

static void on_closed(natsConnection *connection, void *data)
{
	struct bus *bus = data;

	set_over(bus, &bus->closed);
}

static void on_complete(void *data)
{
	struct bus *bus = data;

	set_over(bus, &bus->complete);
}

static void subscribe(struct bus *bus, natsConnection *connection)
{
	natsSubscription *subscription = NULL;
	natsStatus status;

	status = natsConnection_Subscribe(&subscription, connection,
					  bus->subject, on_message, bus);
	if (status != NATS_OK) {
		complain(bus, nats_GetLastError(NULL), status);
		return;
	}
	natsSubscription_SetPendingLimits(subscription, BUS_INBOX_MAX,
					  BUS_INBOX_BYTES);
	natsSubscription_SetOnCompleteCB(subscription, on_complete, bus);
	bus->subscription = subscription;
}

static void *connect_first(void *data)
{
	natsConnection *connection = NULL;
	struct bus *bus = data;
	natsStatus status;

	inbox_begin(&bus->inbox);
	status = natsConnection_Connect(&connection, bus->options);
	if (status != NATS_OK)
		complain(bus, nats_GetLastError(NULL), status);
	pthread_mutex_lock(&bus->inbox.lock);
	bus->connection = connection;
	pthread_mutex_unlock(&bus->inbox.lock);
	if (connection && bus->subject)
		subscribe(bus, connection);
	if (connection)
		inbox_connected_first(&bus->inbox);
	pthread_mutex_lock(&bus->inbox.lock);
	bus->attempted = true;
	pthread_mutex_unlock(&bus->inbox.lock);
	return NULL;
}

static natsStatus set_options(struct bus *bus, const struct bus_config *config,
			      const struct bus_user *user)
{
	const struct servers *s = &config->servers;
	natsOptions *o = bus->options;
	const char *urls[SERVERS_MAX];
	bool secure = false;
	natsStatus status;
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		urls[i] = s->url[i];
		secure |= !strncmp(s->url[i], "tls://", 6);
	}
	status = natsOptions_SetServers(o, urls, s->n) ?:
		 natsOptions_SetName(o, user->name) ?:
		 natsOptions_SetTimeout(o, CONNECT_MS) ?:
		 natsOptions_SetMaxReconnect(o, -1) ?:
		 natsOptions_SetReconnectWait(o, AGAIN_MS) ?:
		 natsOptions_SetReconnectJitter(o, AGAIN_MS, AGAIN_MS) ?:
		 natsOptions_SetReconnectBufSize(o, RECONNECT_BYTES) ?:
		 natsOptions_SetPingInterval(o, PING_MS) ?:
		 natsOptions_SetMaxPingsOut(o, 1) ?:
		 natsOptions_SetWriteDeadline(o, WRITE_MS) ?:
		 natsOptions_SetErrorHandler(o, on_error, bus) ?:
		 natsOptions_SetDisconnectedCB(o, on_disconnected, bus) ?:
		 natsOptions_SetClosedCB(o, on_closed, bus) ?:
		 natsOptions_SetReconnectedCB(o, on_connected, bus);
	if (!status && secure)
		status = natsOptions_SetSecure(o, true);
	if (!status && s->cacert[0])
		status = natsOptions_LoadCATrustedCertificates(o, s->cacert);
	if (!status && s->cert[0])
		status = natsOptions_LoadCertificatesChain(o, s->cert, s->key);
	if (!status && s->user[0])
		status = natsOptions_SetUserInfo(o, s->user, s->password);
	return status;
}

static void free_bus(struct bus *bus)
{
	natsOptions_Destroy(bus->options);
	inbox_free(&bus->inbox);
	pthread_cond_destroy(&bus->over);
	free(bus->subject);
	free(bus);
}

/*
 * No thread of libnats is in one of our callbacks, or will be. Needs
 * inbox.lock.
 */
static bool is_over(const struct bus *bus)
{
	return (!bus->connection || bus->closed) &&
	       (!bus->subscription || bus->complete);
}

static void wait_until_over(struct bus *bus)
{
	pthread_mutex_lock(&bus->inbox.lock);
	while (!is_over(bus))
		pthread_cond_wait(&bus->over, &bus->inbox.lock);
	pthread_mutex_unlock(&bus->inbox.lock);
}

static void destroy_connection(struct bus *bus)
{
	natsSubscription_Destroy(bus->subscription);
	natsConnection_Destroy(bus->connection);
	bus->subscription = NULL;
	bus->connection = NULL;
}

static int connect_anew(struct bus *bus)
{
	int ret;

	bus->attempted = bus->closed = bus->complete = false;
	ret = pthread_create(&bus->connector, NULL, connect_first, bus);
	bus->has_connector = !ret;
	/* nobody attempts it now, so it may be begun */
	if (ret)
		bus->attempted = true;
	return -ret;
}

static void join_connector(struct bus *bus)
{
	if (bus->has_connector)
		pthread_join(bus->connector, NULL);
	bus->has_connector = false;
}

static void look_again(struct bus *bus)
{
	alarm_set(&bus->look, NS_PER_MS * (LOOK_MS +
					   arc4random_uniform(LOOK_MS)));
}

static void look(void *data)
{
	struct bus *bus = data;
	bool begin;

	pthread_mutex_lock(&bus->inbox.lock);
	begin = bus->attempted && is_over(bus);
	pthread_mutex_unlock(&bus->inbox.lock);
	if (begin) {
		join_connector(bus);
		destroy_connection(bus);
		/* without a thread: at the next look */
		if (connect_anew(bus))
			complain(bus, "no thread to connect", NATS_OK);
	}
	look_again(bus);
}

static int make_options(struct bus *bus, const struct bus_config *config,
			const struct bus_user *user, struct srpol_error *err)
{
	natsStatus status = natsOptions_Create(&bus->options) ?:
			    set_options(bus, config, user);

	return status ? srpol_error_set(err, -EINVAL, "bus: %s",
					text_of(nats_GetLastError(NULL), status)) : 0;
}

/**
 * bus_check() - whether a configuration can be used, with the files that it names
 * @config: configuration
 * @err: error message
 *
 * Return: 0 or -EINVAL.
 */
int bus_check(const struct bus_config *config, struct srpol_error *err)
{
	const struct bus_user user = { .name = "check" };
	struct bus bus = {};
	int ret;

	ret = make_options(&bus, config, &user, err);
	natsOptions_Destroy(bus.options);
	return ret;
}

/*
 * The user has gone. An attempt to connect ends when all servers were asked, and
 * libnats closes a connection when its own attempt to connect again has ended: a
 * second for each server, and as long as names are resolved.
 */
static void *leave(void *data)
{
	struct bus *bus = data;

	join_connector(bus);
	if (bus->connection)
		natsConnection_Close(bus->connection);
	wait_until_over(bus);
	destroy_connection(bus);
	return NULL;
}

static bool begin_to_leave(struct bus *bus)
{
	if (!bus->is_closing)
		bus->is_closing = !pthread_create(&bus->closer, NULL, leave, bus);
	return bus->is_closing;
}

/*
 * Begin to close what is left, and free what is closed until then. Threads are joined,
 * as libraries clean up in them after their functions have returned.
 */
static void buses_free(const struct timespec *until)
{
	struct bus **at = &leaving, *bus;

	while ((bus = *at)) {
		if (begin_to_leave(bus) && !pthread_clockjoin_np(bus->closer, NULL,
								 CLOCK_MONOTONIC, until)) {
			*at = bus->next;
			free_bus(bus);
		} else {
			at = &bus->next;
		}
	}
}

/**
 * bus_open() - start to connect in the background
 * @config: servers to connect to
 * @user: user and callbacks
 * @to: the bus, which is connected some time later
 * @err: error message
 *
 * Return: 0 or a negative errno.
 */
int bus_open(const struct bus_config *config, const struct bus_user *user,
	     struct bus **to, struct srpol_error *err)
{
	struct bus *bus = calloc(1, sizeof(*bus));
	struct timespec now = {};
	int ret;

	/* it may need the descriptors of one that is closed by now */
	buses_free(&now);
	ret = bus ? inbox_open(&bus->inbox, user) : -ENOMEM;
	if (ret) {
		free(bus);
		return srpol_error_set(err, ret, "bus: %s", strerror(-ret));
	}
	pthread_cond_init(&bus->over, NULL);
	if (user->subject && !(bus->subject = strdup(user->subject)))
		abort();
	ret = make_options(bus, config, user, err) ?: connect_anew(bus);
	if (ret) {
		inbox_leave(&bus->inbox);
		free_bus(bus);
		return ret;
	}
	bus->look = (struct alarm)ALARM_INIT(look, bus);
	look_again(bus);
	*to = bus;
	return 0;
}

/**
 * bus_close() - close the connection; no callback is made after that
 * @bus: the bus, or NULL
 *
 * Nobody waits for servers that are silent: a thread does what is left to do. Before the
 * process ends, buses_end() is to be called.
 */
void bus_close(struct bus *bus)
{
	struct timespec now = {};

	if (!bus)
		return;
	alarm_stop(&bus->look);
	inbox_leave(&bus->inbox);
	pthread_mutex_lock(&bus->inbox.lock);
	bus->left = true;
	pthread_mutex_unlock(&bus->inbox.lock);
	if (!begin_to_leave(bus))
		log_error("bus: no thread to close it; it stays connected for now");
	bus->next = leaving;
	leaving = bus;
	buses_free(&now);
}

/**
 * buses_end() - wait for what is left of buses that were closed, up to END_S seconds
 *
 * Return: whether nothing is left of them. Otherwise the process has to end with
 * _exit(): what exit() cleans up, such as OpenSSL, their threads may still use.
 */
bool buses_end(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += END_S;
	buses_free(&until);
	return !leaving;
}

/**
 * bus_publish() - publish a message; it may be lost
 * @bus: the bus
 * @subject: subject
 * @data: payload
 * @len: bytes of @data
 */
void bus_publish(struct bus *bus, const char *subject, const char *data,
		 size_t len)
{
	natsConnection *connection;
	bool done;

	pthread_mutex_lock(&bus->inbox.lock);
	/* libnats locks a connection for as long as it asks a server for another one */
	connection = bus->inbox.stats.connected ? bus->connection : NULL;
	pthread_mutex_unlock(&bus->inbox.lock);
	/* without the lock: callbacks in libnats' threads take it */
	done = connection && natsConnection_Publish(connection, subject, data,
						    len) == NATS_OK;
	pthread_mutex_lock(&bus->inbox.lock);
	if (done)
		bus->inbox.stats.published++;
	else
		bus->inbox.stats.unpublished++;
	pthread_mutex_unlock(&bus->inbox.lock);
}

/**
 * bus_stats() - read state and counters
 * @bus: the bus, or NULL: all zero
 * @stats: result
 */
void bus_stats(struct bus *bus, struct bus_stats *stats)
{
	*stats = (struct bus_stats){};
	if (!bus)
		return;
	pthread_mutex_lock(&bus->inbox.lock);
	*stats = bus->inbox.stats;
	pthread_mutex_unlock(&bus->inbox.lock);
}
