// SPDX-License-Identifier: GPL-2.0
/*
 * Servers of the bus that are silent keep nobody: not the loop, and the end of the
 * process for a while only. The test says what libnats would wait for.
 */
#include <dirent.h>
#include <errno.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "bus.h"
#include "log.h"
#include "loop.h"
#include "srpol_lib.h"
#include "test.h"

#define CONNECTION	((natsConnection *)&config)
#define HELD_MS		5000	/* longer than anybody may wait */
#define LOOK_NS		2100000000ull	/* one look falls into it, or two */

static struct bus_config config = {
	.servers = { .n = 1, .url = { "nats://[2001:db8::1]:4222" } },
};
static natsConnectionHandler on_closed, on_disconnected;
static void *cb_data;
static atomic_bool held, found, failing, connecting, closing, threadless, cleaned;
static atomic_uint destroyed, said, complaints;
static pthread_key_t key;

/* ---- what it needs of the rest */

void log_error(const char *fmt, ...)
{
	complaints++;
}

void log_notice(const char *fmt, ...)
{
	said++;
}

void log_info(const char *fmt, ...)
{
}

/* Servers are silent until the test lets go. */
static void wait_for_servers(void)
{
	unsigned int ms;

	for (ms = 0; held && ms < HELD_MS; ms++)
		usleep(1000);
	held = false;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*run)(void *), void *data);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*run)(void *), void *data);
natsStatus __wrap_natsConnection_Connect(natsConnection **to, natsOptions *options);
void __wrap_natsConnection_Close(natsConnection *connection);
void __wrap_natsConnection_Destroy(natsConnection *connection);
natsStatus __wrap_natsConnection_Publish(natsConnection *connection, const char *subject,
					 const void *data, int len);
natsStatus __wrap_natsOptions_SetClosedCB(natsOptions *options, natsConnectionHandler cb,
					  void *data);
natsStatus __wrap_natsOptions_SetDisconnectedCB(natsOptions *options,
						natsConnectionHandler cb, void *data);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*run)(void *), void *data)
{
	return threadless ? EAGAIN : __real_pthread_create(thread, attr, run, data);
}

/* As OpenSSL and libnats do, at the end of a thread that has used them. */
static void clean_up(void *data)
{
	usleep(100000);
	cleaned = true;
}

natsStatus __wrap_natsConnection_Connect(natsConnection **to, natsOptions *options)
{
	connecting = true;
	if (!found) {
		wait_for_servers();
		return NATS_NO_SERVER;
	}
	*to = CONNECTION;
	/* at once, and told by another thread */
	if (failing)
		on_disconnected(CONNECTION, cb_data);
	return NATS_OK;
}

/* libnats' own attempt to connect again has to end before. */
void __wrap_natsConnection_Close(natsConnection *connection)
{
	closing = true;
	pthread_setspecific(key, "");
	wait_for_servers();
	on_closed(connection, cb_data);
}

void __wrap_natsConnection_Destroy(natsConnection *connection)
{
	destroyed += connection == CONNECTION;
}

/* So it has, for whoever publishes. */
natsStatus __wrap_natsConnection_Publish(natsConnection *connection, const char *subject,
					 const void *data, int len)
{
	wait_for_servers();
	return NATS_OK;
}

natsStatus __wrap_natsOptions_SetDisconnectedCB(natsOptions *options,
						natsConnectionHandler cb, void *data)
{
	on_disconnected = cb;
	return NATS_OK;
}

natsStatus __wrap_natsOptions_SetClosedCB(natsOptions *options, natsConnectionHandler cb,
					  void *data)
{
	on_closed = cb;
	cb_data = data;
	return NATS_OK;
}

/* ---- the bus */

static int set_up_all(void **state)
{
	return pthread_key_create(&key, clean_up);
}

static int set_up(void **state)
{
	found = failing = connecting = closing = threadless = cleaned = false;
	destroyed = said = complaints = 0;
	return loop_init();
}

static int complained(void **state)
{
	return complaints;
}

static unsigned int count(const char *folder)
{
	DIR *d = opendir(folder);
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static unsigned int count_descriptors(void)
{
	return count("/proc/self/fd");
}

static void connected(void *data)
{
	fail();
}

static struct bus *open_bus(void)
{
	const struct bus_user user = { .name = "A", .connected = connected };
	struct srpol_error err = {};
	struct bus *bus;

	assert_int_equal(bus_open(&config, &user, &bus, &err), 0);
	while (!connecting)
		usleep(1000);
	return bus;
}

static struct bus *open_connected(void)
{
	struct bus_stats stats = {};
	struct bus *bus;

	found = true;
	bus = open_bus();
	while (!stats.connected) {
		bus_stats(bus, &stats);
		usleep(1000);
	}
	return bus;
}

/* The servers answer at last, whoever wants to know it or not. */
static void let_go(void)
{
	assert_true(held);
	held = false;
	assert_true(buses_end());
}

/* A few closed buses may be on their way at once: one for each host and reload. */
static void test_connecting(void **state)
{
	unsigned int i, before;

	/* libnats opens descriptors of its own, once */
	bus_close(open_bus());
	assert_true(buses_end());
	before = count_descriptors();
	said = 0;
	held = true;
	for (i = 0; i < 3; i++) {
		connecting = false;
		bus_close(open_bus());
	}
	let_go();
	assert_int_equal(count_descriptors(), before);
	/* whoever has gone does not hear that there was no server */
	assert_int_equal(said, 0);
}

static void test_connected(void **state)
{
	struct bus *bus = open_connected();

	held = true;
	bus_close(bus);
	while (!closing)
		usleep(1000);
	assert_int_equal(destroyed, 0);
	let_go();
	assert_int_equal(destroyed, 1);
}

/* While libnats connects again, what is published is lost. */
static void test_publish(void **state)
{
	struct bus *bus = open_connected();
	struct bus_stats stats;

	bus_publish(bus, "a", "b", 1);
	held = true;
	on_disconnected(CONNECTION, cb_data);
	bus_publish(bus, "a", "b", 1);
	assert_true(held);
	held = false;
	bus_stats(bus, &stats);
	assert_int_equal(stats.published, 1);
	assert_int_equal(stats.unpublished, 1);
	bus_close(bus);
	assert_true(buses_end());
}

/* A connection that is lost before its user was told of it is not there. */
static void test_lost(void **state)
{
	struct bus_stats stats;
	unsigned int ms;
	struct bus *bus;

	found = failing = true;
	bus = open_bus();
	/* as long as the attempt may take to end */
	for (ms = 0; ms < 50; ms++) {
		bus_stats(bus, &stats);
		assert_false(stats.connected);
		usleep(1000);
	}
	bus_close(bus);
	assert_true(buses_end());
	/* the next one is */
	failing = false;
	bus_close(open_connected());
	assert_true(buses_end());
}

/* The process ends although they are silent. */
static void test_end(void **state)
{
	held = true;
	bus_close(open_bus());
	assert_false(buses_end());
	let_go();
}

/* What the libraries clean up in their thread is not cleaned up by exit() meanwhile. */
static void test_cleaned(void **state)
{
	bus_close(open_connected());
	assert_true(buses_end());
	assert_true(cleaned);
}

/* The descriptors of one that is closed by now are the next one's. */
static void test_room(void **state)
{
	unsigned int threads, with_one;
	struct bus *bus;

	/* one that was joined is there for a moment yet */
	do {
		threads = count("/proc/self/task");
		usleep(20000);
	} while (count("/proc/self/task") != threads);
	held = true;
	bus = open_bus();
	with_one = count_descriptors();
	bus_close(bus);
	held = false;
	while (count("/proc/self/task") > threads)
		usleep(1000);
	bus = open_bus();
	assert_int_equal(count_descriptors(), with_one);
	bus_close(bus);
	assert_true(buses_end());
}

/* There are too many threads for now: it is closed with the next one, or at the end. */
static void test_threadless(void **state)
{
	unsigned int before = count_descriptors();
	struct bus *bus = open_bus();

	threadless = true;
	bus_close(bus);
	assert_int_equal(complaints, 1);
	assert_false(buses_end());
	assert_int_not_equal(count_descriptors(), before);
	threadless = false;
	bus_close(open_bus());
	assert_true(buses_end());
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(complaints, 1);
	complaints = 0;
}

/* There are too many when it would connect again: it does at a later look. */
static void test_connectorless(void **state)
{
	struct bus *bus = open_bus();

	threadless = true;
	connecting = false;
	loop_run_for(LOOK_NS);
	assert_false(connecting);
	threadless = false;
	loop_run_for(LOOK_NS);
	assert_true(connecting);
	threadless = true;
	loop_run_for(LOOK_NS);
	threadless = false;
	bus_close(bus);
	assert_true(buses_end());
}

static void test_none(void **state)
{
	bus_close(NULL);
	assert_true(buses_end());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_none, set_up, complained),
		cmocka_unit_test_setup_teardown(test_connecting, set_up, complained),
		cmocka_unit_test_setup_teardown(test_connected, set_up, complained),
		cmocka_unit_test_setup_teardown(test_publish, set_up, complained),
		cmocka_unit_test_setup_teardown(test_lost, set_up, complained),
		cmocka_unit_test_setup_teardown(test_end, set_up, complained),
		cmocka_unit_test_setup_teardown(test_cleaned, set_up, complained),
		cmocka_unit_test_setup_teardown(test_room, set_up, complained),
		cmocka_unit_test_setup_teardown(test_threadless, set_up, complained),
		cmocka_unit_test_setup_teardown(test_connectorless, set_up, complained),
	};

	return cmocka_run_group_tests(tests, set_up_all, NULL);
}
