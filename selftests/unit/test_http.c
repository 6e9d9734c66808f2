// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to etcd carry the whole of what identifies their user; and nobody waits for
 * whoever resolves the names of its members.
 */
#include <netdb.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "http.h"
#include "store.h"
#include "test.h"

static struct store_config config;
static struct http http;
static atomic_bool held;
static atomic_uint asked, answered;
static bool failed;

static int open_http(void **state)
{
	(void)state;
	return loop_init() ?: http_open(&http, &config);
}

static int close_http(void **state)
{
	(void)state;
	http_close(&http);
	return 0;
}

static void done(void *data, long status, const char *in, size_t len)
{
	(void)data;
	(void)status;
	(void)in;
	(void)len;
	fail();
}

/* The value of a header of a request, NULL: there is none. */
static const char *header(const char *name)
{
	const struct curl_slist *h;
	struct http_request *r;

	r = http_post(&http, "http://[::1]:1/", strdup("{}"), 1000, NULL, done,
		      NULL);
	for (h = r->headers; h; h = h->next)
		if (!strncmp(h->data, name, strlen(name)))
			return h->data + strlen(name);
	return NULL;
}

static void test_token(void **state)
{
	static const size_t lengths[] = { 1, 32, 496, 497, 498, 683, 8000 };
	size_t i;

	(void)state;
	assert_null(header("Authorization:"));
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		free(http.token);
		http.token = malloc(lengths[i] + 1);
		memset(http.token, 't', lengths[i]);
		http.token[lengths[i]] = '\0';
		assert_string_equal(header("Authorization: "), http.token);
	}
}

/* The resolver, which libcurl asks in a thread, is silent until the test lets go. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **to)
{
	unsigned int ms;

	(void)name;
	(void)service;
	(void)hints;
	(void)to;
	asked++;
	for (ms = 0; held && ms < 5000; ms++)
		usleep(1000);
	held = false;
	answered++;
	return EAI_AGAIN;
}

static void no_answer(void *data, long status, const char *in, size_t len)
{
	(void)data;
	(void)in;
	(void)len;
	assert_int_equal(status, 0);
	failed = true;
	loop_stop();
}

static struct http_request *resolve(void)
{
	struct http_request *r;
	unsigned int before = asked;

	r = http_post(&http, "http://store.example:2379/", strdup("{}"), 300, NULL,
		      no_answer, NULL);
	/* libcurl starts when its timer fires */
	while (asked == before)
		loop_run_for(1000000);
	return r;
}

/* Neither who gives up, nor who is told that there is no answer in time. */
static void test_resolver(void **state)
{
	(void)state;
	held = true;
	failed = false;
	http_cancel(resolve());
	assert_true(held);
	assert_false(failed);
	resolve();
	loop_run_for(4000000000ull);
	assert_true(held);
	assert_true(failed);
	resolve();
	http_close(&http);
	assert_true(held);
	held = false;
	while (answered < asked)
		usleep(1000);
	assert_int_equal(http_open(&http, &config), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_token, open_http,
						close_http),
		cmocka_unit_test_setup_teardown(test_resolver, open_http,
						close_http),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
