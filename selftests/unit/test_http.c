// SPDX-License-Identifier: GPL-2.0
/* Requests to etcd carry the whole of what identifies their user. */
#include <string.h>

#include "http.h"
#include "store.h"
#include "test.h"

static struct store_config config;
static struct http http;

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_token, open_http,
						close_http),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
