// SPDX-License-Identifier: GPL-2.0
/*
 * Servers in configuration files: what is no server, and passwords that would
 * not be the ones that were written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "servers.h"
#include "srpol_lib.h"
#include "test.h"

static struct servers servers;
static struct srpol_error err;

static int read_text(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);
	int ret;

	assert_non_null(o);
	err.text[0] = '\0';
	ret = servers_read(o, "servers", "nats://", "tls://", &servers, &err);
	json_decref(o);
	assert_true(!ret == !err.text[0]);
	return ret;
}

/* @why: what the message has, NULL: it is taken */
static void check_url(const char *url, const char *why)
{
	char text[512];

	snprintf(text, sizeof(text), "{\"servers\": [\"%s\"]}", url);
	if (!why) {
		assert_int_equal(read_text(text), 0);
		assert_int_equal(servers.n, 1);
		return;
	}
	if (!read_text(text) || !strstr(err.text, why))
		fail_msg("%s: %s", url, err.text);
}

static void test_urls(void **state)
{
	char url[256];
	int i;

	(void)state;
	check_url("nats://10.0.0.1:4222", NULL);
	assert_string_equal(servers.url[0], "nats://10.0.0.1:4222");
	check_url("tls://host/", NULL);
	assert_string_equal(servers.url[0], "tls://host");
	check_url("nats://[fd00::1]:4222", NULL);
	check_url("http://host", "not a list");
	check_url("host", "not a list");
	check_url("", "not a list");
	/* no host */
	check_url("nats://", "not a list");
	check_url("tls:///", "not a list");
	check_url("nats://:4222", "not a list");
	/* a password that is sent as it is, and shown by srpol */
	check_url("nats://me:secret@host:4222", "\"password-file\"");
	assert_null(strstr(err.text, "secret"));
	check_url("tls://me@host", "\"password-file\"");
	i = snprintf(url, sizeof(url), "nats://");
	memset(url + i, 'a', 200);
	url[i + 200] = '\0';
	check_url(url, "not a list");
	assert_int_equal(read_text("{\"servers\": \"nats://a\"}") != 0, 1);
	assert_int_equal(read_text("{\"servers\": [1]}") != 0, 1);
	assert_int_equal(read_text("{}"), 0);
	assert_int_equal(servers.n, 0);
}

static void test_many(void **state)
{
	char text[512] = "{\"servers\": [\"nats://a\"";
	int i;

	(void)state;
	for (i = 1; i < SERVERS_MAX; i++)
		strcat(text, ", \"nats://a\"");
	strcat(text, "]}");
	assert_int_equal(read_text(text), 0);
	assert_int_equal(servers.n, SERVERS_MAX);
	text[strlen(text) - 2] = '\0';
	strcat(text, ", \"nats://a\"]}");
	assert_int_not_equal(read_text(text), 0);
}

static void test_secure_only(void **state)
{
	(void)state;
	assert_int_not_equal(read_text("{\"servers\": [\"tls://a\", \"nats://b\"],"
				       " \"cacert\": \"x\"}"), 0);
	assert_int_not_equal(read_text("{\"servers\": [\"tls://a\"], \"cert\": \"x\"}"),
			     0);
	assert_int_not_equal(read_text("{\"servers\": [\"tls://a\"], \"key\": \"x\"}"),
			     0);
	assert_int_equal(read_text("{\"servers\": [\"tls://a\"], \"cert\": \"x\", \"key\": \"y\"}"),
			 0);
	assert_int_not_equal(read_text("{\"servers\": [\"tls://a\"], \"user\": \"x\"}"),
			     0);
	assert_int_not_equal(read_text("{\"servers\": [\"tls://a\"],"
				       " \"password-file\": \"x\"}"), 0);
}

/* @want: NULL if it is refused with @why */
static void check_password(const char *content, size_t len, const char *want,
			   const char *why)
{
	char path[] = "/tmp/srpol-password-XXXXXX", text[256];
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, len), len);
	close(fd);
	snprintf(text, sizeof(text), "{\"servers\": [\"tls://a\"], \"user\": \"me\","
		 " \"password-file\": \"%s\"}", path);
	ret = read_text(text);
	unlink(path);
	if (want) {
		assert_int_equal(ret, 0);
		assert_string_equal(servers.password, want);
		return;
	}
	if (!ret || !strstr(err.text, why) || !strstr(err.text, path))
		fail_msg("%.20s: %s", content, err.text);
}

#define PASSWORD(text, want, why) \
	check_password(text, strlen(text), want, why)

static void test_password(void **state)
{
	char most[sizeof(servers.password) + 2];

	(void)state;
	PASSWORD("secret\n", "secret", NULL);
	PASSWORD("secret", "secret", NULL);
	PASSWORD("with blanks \nsecond line\n", "with blanks ", NULL);
	/* as some editors write it */
	PASSWORD("secret\r\n", "secret", NULL);
	PASSWORD("", NULL, "is empty");
	PASSWORD("\nsecret\n", NULL, "is empty");
	check_password("a\0b\n", 4, NULL, "0 byte");
	/* all of it, or nothing */
	memset(most, 'x', sizeof(most));
	most[sizeof(servers.password) - 1] = '\0';
	PASSWORD(most, most, NULL);
	most[sizeof(servers.password) - 1] = 'x';
	most[sizeof(servers.password)] = '\0';
	PASSWORD(most, NULL, "longer than 127");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_secure_only),
		cmocka_unit_test(test_password),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
