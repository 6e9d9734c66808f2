// SPDX-License-Identifier: GPL-2.0
/* What waits for the loop has an end, in messages and in bytes. */
#include <poll.h>
#include <string.h>

#include "bus_inbox.h"
#include "test.h"

static struct inbox inbox;
static uint64_t taken, connections;

static void take(void *data, const struct bus_message *message)
{
	(void)data;
	assert_string_equal(message->subject, "a");
	assert_int_equal(strlen(message->data), message->len);
	taken++;
}

static void connected(void *data)
{
	(void)data;
	connections++;
}

static int open_inbox(void **state)
{
	const struct bus_user user = { .take = take, .connected = connected };

	(void)state;
	taken = connections = 0;
	return loop_init() ?: inbox_open(&inbox, &user);
}

static int close_inbox(void **state)
{
	(void)state;
	inbox_leave(&inbox);
	inbox_free(&inbox);
	return 0;
}

/* What the loop does when it comes to it. */
static void run_loop(void)
{
	struct pollfd ready = { .fd = inbox.wake.fd, .events = POLLIN };

	assert_int_equal(poll(&ready, 1, 0), 1);
	inbox.wake.ready(&inbox.wake, 0);
	assert_int_equal(poll(&ready, 1, 0), 0);
}

static void test_messages(void **state)
{
	uint64_t i;

	(void)state;
	for (i = 0; i < BUS_INBOX_MAX + 5; i++)
		inbox_put(&inbox, "a", "b", 1);
	assert_int_equal(inbox.stats.dropped, 5);
	run_loop();
	assert_int_equal(taken, BUS_INBOX_MAX);
	inbox_put(&inbox, "a", "", 0);
	run_loop();
	assert_int_equal(taken, BUS_INBOX_MAX + 1);
	assert_int_equal(inbox.stats.received, taken);
}

static void test_bytes(void **state)
{
	static char text[BUS_MESSAGE_MAX + 1];
	const uint64_t room = BUS_INBOX_BYTES / BUS_MESSAGE_MAX;
	uint64_t i;
	int round;

	(void)state;
	memset(text, 'x', sizeof(text));
	inbox_put(&inbox, "a", text, sizeof(text));
	assert_int_equal(inbox.stats.dropped, 1);
	for (round = 1; round <= 2; round++) {
		for (i = 0; i < room + 3; i++)
			inbox_put(&inbox, "a", text, BUS_MESSAGE_MAX);
		assert_int_equal(inbox.stats.dropped, 1 + 3 * round);
		run_loop();
		assert_int_equal(taken, round * room);
	}
}

static void test_connections(void **state)
{
	(void)state;
	inbox_connected(&inbox, true);
	inbox_connected(&inbox, false);
	inbox_connected(&inbox, true);
	run_loop();
	assert_int_equal(connections, 1);
	assert_true(inbox.stats.connected);
	inbox_connected(&inbox, false);
	run_loop();
	assert_int_equal(connections, 1);
	assert_false(inbox.stats.connected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_messages, open_inbox,
						close_inbox),
		cmocka_unit_test_setup_teardown(test_bytes, open_inbox,
						close_inbox),
		cmocka_unit_test_setup_teardown(test_connections, open_inbox,
						close_inbox),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
