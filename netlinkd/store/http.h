/* SPDX-License-Identifier: GPL-2.0 */
/* HTTP requests in the loop. */
#ifndef _SRPOL_HTTP_H
#define _SRPOL_HTTP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "loop.h"

struct http;
struct store_config;

/**
 * struct http_request - a POST of JSON
 * @http: whose it is
 * @next: in its list
 * @easy: libcurl's
 * @headers: likewise
 * @body: what is sent
 * @in: what came
 * @in_len: bytes of it
 * @looked: bytes in which there is no end of a line
 * @line: a stream: a line came; NULL: no stream, all comes at the end
 * @done: it is over: HTTP status, 0 if there is none. It is freed after that.
 * @data: for these
 * @over: libcurl has no more of it
 * @status: likewise
 * @error: libcurl's
 * @dead: cancelled; nothing is called any more
 */
struct http_request {
	struct http *http;
	struct http_request *next;
	CURL *easy;
	struct curl_slist *headers;
	char *body;
	char *in;
	size_t in_len;
	size_t looked;
	void (*line)(void *data, char *line, size_t len);
	void (*done)(void *data, long status, const char *in, size_t len);
	void *data;
	bool over;
	long status;
	char error[CURL_ERROR_SIZE];
	bool dead;
};

/**
 * struct http - requests that are under way
 * @multi: libcurl's
 * @timer: likewise
 * @requests: list
 * @busy: functions of requests are being called
 * @config: certificates
 * @token: shown with each request, NULL: none
 * @error: why the last one that had no answer had none; empty: all had one
 */
struct http {
	CURLM *multi;
	struct alarm timer;
	struct http_request *requests;
	bool busy;
	const struct store_config *config;
	char *token;
	char error[CURL_ERROR_SIZE];
};

int http_open(struct http *http, const struct store_config *config);
void http_close(struct http *http);
struct http_request *http_post(struct http *http, const char *url, char *body,
			       void (*line)(void *data, char *line, size_t len),
			       void (*done)(void *data, long status,
					    const char *in, size_t len),
			       void *data);
void http_cancel(struct http_request *request);

#endif /* _SRPOL_HTTP_H */
