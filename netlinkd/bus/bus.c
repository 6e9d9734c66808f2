// SPDX-License-Identifier: GPL-2.0
/*
 * A connection to one of several NATS servers, kept by libnats: it looks for
 * another server when one is gone, for ever. What is published meanwhile is
 * lost but for the little that libnats keeps; the user is told when there is a
 * connection again.
 */
#include <errno.h>
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bus_inbox.h"
#include "log.h"
#include "srpol_lib.h"

#define CONNECT_MS	1000
#define AGAIN_MS	500	/* with as much jitter: not all hosts at once */
#define PING_MS		2000	/* a server that is deaf is left after two */
#define WRITE_MS	20	/* no longer does a full socket hold us up */
#define RECONNECT_BYTES	(64 << 10)
#define CLOSE_S		2

/**
 * struct bus - a connection
 * @inbox: what came; the first member
 * @options: how to connect
 * @connection: NULL until the first attempt is over; under @inbox.lock
 * @subscription: of that, or NULL
 * @connector: thread that makes the first attempt, which may take its time
 * @subject: what is listened to, NULL: nothing
 * @said: the last error that was logged; under @inbox.lock
 * @closed: of @connection nothing comes any more; likewise
 * @complete: of @subscription; likewise
 * @over: one of the two became true
 */
struct bus {
	struct inbox inbox;
	natsOptions *options;
	natsConnection *connection;
	natsSubscription *subscription;
	pthread_t connector;
	char *subject;
	char said[256];
	bool closed;
	bool complete;
	pthread_cond_t over;
};

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

/* Such as a subject that this user may not publish, again and again. */
static void on_error(natsConnection *connection, natsSubscription *from,
		     natsStatus status, void *data)
{
	const char *text = NULL;
	struct bus *bus = data;

	natsConnection_GetLastError(connection, &text);
	if (!text || !*text)
		text = natsStatus_GetText(status);
	pthread_mutex_lock(&bus->inbox.lock);
	bus->inbox.stats.errors++;
	if (strncmp(text, bus->said, sizeof(bus->said) - 1)) {
		snprintf(bus->said, sizeof(bus->said), "%s", text);
		log_notice("bus: %s", text);
	}
	pthread_mutex_unlock(&bus->inbox.lock);
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

static void *connect_first(void *data)
{
	natsConnection *connection = NULL;
	struct bus *bus = data;
	natsStatus status;

	status = natsConnection_Connect(&connection, bus->options);
	if (status != NATS_OK && status != NATS_NOT_YET_CONNECTED) {
		log_error("bus: %s", natsStatus_GetText(status));
		return NULL;
	}
	pthread_mutex_lock(&bus->inbox.lock);
	bus->connection = connection;
	pthread_mutex_unlock(&bus->inbox.lock);
	if (bus->subject) {
		status = natsConnection_Subscribe(&bus->subscription, connection,
						  bus->subject, on_message, bus);
		if (status == NATS_OK) {
			natsSubscription_SetPendingLimits(bus->subscription,
							  BUS_INBOX_MAX,
							  BUS_INBOX_BYTES);
			natsSubscription_SetOnCompleteCB(bus->subscription,
							 on_complete, bus);
		} else {
			log_error("bus: %s: %s", bus->subject,
				  natsStatus_GetText(status));
		}
	}
	if (natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED)
		on_connected(connection, bus);
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
		 natsOptions_SetReconnectedCB(o, on_connected, bus) ?:
		 natsOptions_SetRetryOnFailedConnect(o, true, on_connected, bus);
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
	inbox_close(&bus->inbox);
	pthread_cond_destroy(&bus->over);
	free(bus->subject);
	free(bus);
}

/* libnats' threads are in none of our functions any more, nor will be. */
static bool is_over(struct bus *bus)
{
	struct timespec until;
	bool over;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLOSE_S;
	pthread_mutex_lock(&bus->inbox.lock);
	while (!(over = (!bus->connection || bus->closed) &&
			(!bus->subscription || bus->complete)) &&
	       !pthread_cond_timedwait(&bus->over, &bus->inbox.lock, &until))
		;
	pthread_mutex_unlock(&bus->inbox.lock);
	return over;
}

/**
 * bus_open() - begin to connect
 * @config: where to
 * @user: who it is
 * @to: the bus, connected some time later
 * @err: why not
 *
 * Return: 0 or a negative errno.
 */
int bus_open(const struct bus_config *config, const struct bus_user *user,
	     struct bus **to, struct srpol_error *err)
{
	struct bus *bus = calloc(1, sizeof(*bus));
	natsStatus status;
	int ret;

	ret = bus ? inbox_open(&bus->inbox, user) : -ENOMEM;
	if (ret) {
		free(bus);
		return srpol_error_set(err, ret, "bus: %s", strerror(-ret));
	}
	pthread_cond_init(&bus->over, NULL);
	if (user->subject && !(bus->subject = strdup(user->subject)))
		abort();
	status = natsOptions_Create(&bus->options) ?:
		 set_options(bus, config, user);
	ret = status ? srpol_error_set(err, -EINVAL, "bus: %s",
				       natsStatus_GetText(status)) :
		       -pthread_create(&bus->connector, NULL, connect_first, bus);
	if (ret) {
		free_bus(bus);
		return ret;
	}
	*to = bus;
	return 0;
}

/**
 * bus_close() - no more messages
 * @bus: the bus, or NULL
 *
 * It waits for a first attempt to connect that is still under way, and for
 * libnats' threads.
 */
void bus_close(struct bus *bus)
{
	if (!bus)
		return;
	pthread_join(bus->connector, NULL);
	if (bus->connection)
		natsConnection_Close(bus->connection);
	if (!is_over(bus)) {
		log_error("bus: libnats does not let go");
		return;
	}
	natsSubscription_Destroy(bus->subscription);
	natsConnection_Destroy(bus->connection);
	free_bus(bus);
}

/**
 * bus_publish() - say something, if somebody hears it
 * @bus: the bus
 * @subject: subject
 * @data: text
 * @len: bytes of it
 */
void bus_publish(struct bus *bus, const char *subject, const char *data,
		 size_t len)
{
	natsConnection *connection;
	bool done;

	pthread_mutex_lock(&bus->inbox.lock);
	connection = bus->connection;
	pthread_mutex_unlock(&bus->inbox.lock);
	/* not under the lock, which libnats' threads take in our functions */
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
 * bus_stats() - what happened
 * @bus: the bus, or NULL
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
