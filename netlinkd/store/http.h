/* SPDX-License-Identifier: GPL-2.0 */
/* HTTP requests, asynchronous in the event loop. */
#ifndef _SRPOL_HTTP_H
#define _SRPOL_HTTP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "loop.h"

struct http;
struct store_config;

/**
 * struct http_request - a POST request with a JSON body
 * @http: context that the request belongs to
 * @next: next request in the list of @http
 * @easy: libcurl's handle
 * @headers: request headers, in libcurl's form
 * @body: request body
 * @in: part of the response not handled yet
 * @in_len: bytes of @in
 * @in_room: bytes that @in has room for
 * @too_long: more than IN_MAX came
 * @looked: bytes at the start of @in known to contain no newline
 * @line: called for each line of a stream; NULL: not a stream, the whole
 *	response goes to @done
 * @done: called when the request has ended, with the HTTP status, or 0 if there
 *	was no response. The request is freed afterwards.
 * @data: argument of the callbacks
 * @over: libcurl has finished the request
 * @status: HTTP status, 0: no response
 * @error: error message of libcurl
 * @dead: cancelled or done; no callback is made any more
 */
struct http_request {
	struct http *http;
	struct http_request *next;
	CURL *easy;
	struct curl_slist *headers;
	char *body;
	char *in;
	size_t in_len;
	size_t in_room;
	bool too_long;
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
 * struct http - context of HTTP requests
 * @multi: libcurl's multi handle
 * @timer: timer that libcurl has asked for
 * @requests: list of requests under way
 * @busy: callbacks of requests are running, so no request may be freed
 * @config: certificates
 * @token: value of the Authorization header, NULL: none
 * @error: why the last request without a response failed; empty: none failed
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
			       long ms,
			       void (*line)(void *data, char *line, size_t len),
			       void (*done)(void *data, long status,
					    const char *in, size_t len),
			       void *data);
void http_cancel(struct http_request *request);

#endif /* _SRPOL_HTTP_H */
