// SPDX-License-Identifier: GPL-2.0
/*
 * The page: read-only requests, handled in the engine's event loop. The engine
 * waits for no client: one that neither reads nor sends is dropped after
 * IDLE_S. Memory per client is bounded, as is the time for all of them
 * together, because the engine has to renew its lease.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "causes.h"
#include "share.h"
#include "srpol_lib.h"
#include "web.h"

#define CLIENTS_MAX	256
#define CLIENT_BYTES	16384	/* of requests and unsent data */
#define URL_MAX		512
#define IDLE_S		20
#define FULL_MS		100
#define OWED_S		5	/* no answer is paid for longer */
#define WORK_NS		(NS_PER_SEC / 5)	/* of the CPU, per second, for
						 * all replies together */

static struct MHD_Daemon *server;
static struct source source = { .fd = -1 };
static bool local;
static struct share share = {
	.per_s = WORK_NS, .owed_s = OWED_S, .clock_part = 3,
};

static void ring(void *data);
static struct alarm alarm_clock = ALARM_INIT(ring, NULL);

/* Headers that every reply needs for browsers. */
static const char * const headers[][2] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; "
	  "img-src 'self'; connect-src 'self'; base-uri 'none'; "
	  "form-action 'none'; frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },
};

static enum MHD_Result send_response(struct MHD_Connection *connection,
				     unsigned int status, const char *type,
				     struct MHD_Response *response)
{
	enum MHD_Result ret;
	size_t i;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		MHD_add_response_header(response, headers[i][0],
					headers[i][1]);
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER,
					"1");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					"GET, HEAD");
	ret = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result refuse(struct MHD_Connection *connection,
			      unsigned int status, const char *why)
{
	return send_response(connection, status, "text/plain; charset=utf-8",
			     MHD_create_response_from_buffer(strlen(why),
				(void *)why, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result send_text(struct MHD_Connection *connection,
				 const char *type, const char *text, size_t len)
{
	return send_response(connection, MHD_HTTP_OK, type,
			     MHD_create_response_from_buffer(len, (void *)text,
				MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result send_state(struct MHD_Connection *connection)
{
	size_t len;
	const char *text = web_stream_state(&len);

	return text ? send_text(connection, "application/json", text, len) :
	       MHD_NO;
}

/* Accepts digits only, and only what fits. */
static bool read_number(const char *text, uint32_t *number)
{
	size_t len = text ? strspn(text, "0123456789") : 0;

	if (!len || len > 9 || text[len])
		return false;
	*number = strtoul(text, NULL, 10);
	return true;
}

static enum MHD_Result send_block(struct MHD_Connection *connection)
{
	const char *tier, *number;
	enum MHD_Result ret;
	uint32_t which;
	json_t *block;
	char *text;

	tier = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND,
					   "tier");
	number = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND,
					     "block");
	block = tier && read_number(number, &which) ? view_block(tier, which) :
		NULL;
	if (!block)
		return refuse(connection, MHD_HTTP_NOT_FOUND,
			      "no such block\n");
	text = json_dumps(block, JSON_COMPACT | JSON_REAL_PRECISION(5));
	json_decref(block);
	ret = text ? send_text(connection, "application/json", text,
			       strlen(text)) : MHD_NO;
	free(text);
	return ret;
}

static enum MHD_Result send_stream(struct MHD_Connection *connection,
				   const char *type, bool lines)
{
	struct MHD_Response *response = web_stream_new(connection, lines);

	return response ? send_response(connection, MHD_HTTP_OK, type,
					response) :
	       refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
		      "too many listen already\n");
}

static enum MHD_Result send_events(struct MHD_Connection *connection)
{
	return send_stream(connection, "text/event-stream", false);
}

static enum MHD_Result send_lines(struct MHD_Connection *connection)
{
	return send_stream(connection, "application/jsonl", true);
}

static enum MHD_Result send_metrics(struct MHD_Connection *connection)
{
	const char *accept = MHD_lookup_connection_value(connection,
		MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	bool openmetrics = accept && strstr(accept,
					    "application/openmetrics-text");
	enum MHD_Result ret;
	size_t len;
	char *text;

	text = web_metrics(openmetrics, &len);
	ret = text ? send_text(connection, openmetrics ?
		"application/openmetrics-text; version=1.0.0; charset=utf-8" :
		"text/plain; version=0.0.4; charset=utf-8", text, len) : MHD_NO;
	free(text);
	return ret;
}

/**
 * struct answer - a URL that is not a file
 * @url: the URL
 * @send: sends the reply
 */
struct answer {
	const char *url;
	enum MHD_Result (*send)(struct MHD_Connection *connection);
};

static const struct answer answers[] = {
	{ "/api/state", send_state },
	{ "/api/block", send_block },
	{ "/api/events", send_events },
	{ "/stream", send_lines },
	{ "/metrics", send_metrics },
};

static enum MHD_Result work(struct MHD_Connection *connection,
			    enum MHD_Result (*send)(struct MHD_Connection *c))
{
	struct share_begin begin = share_begin();
	enum MHD_Result ret;

	if (!share_is_left(&share, &begin))
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "too much is asked for\n");
	ret = send(connection);
	share_take(&share, &begin);
	return ret;
}

static bool is_misled(struct MHD_Connection *connection)
{
	const char *host = MHD_lookup_connection_value(connection,
						       MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_HOST);

	return local && host && !web_host_is_local(host);
}

static enum MHD_Result answer(void *data, struct MHD_Connection *connection,
			      const char *url, const char *method,
			      const char *version, const char *upload,
			      size_t *upload_len, void **state)
{
	static int heard;
	const struct web_file *file;
	size_t i;

	if (strcmp(method, MHD_HTTP_METHOD_GET) &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "this page is for reading\n");
	/*
	 * replying in the first call would make libmicrohttpd close the
	 * connection
	 */
	if (!*state || *upload_len) {
		*state = &heard;
		*upload_len = 0;
		return MHD_YES;
	}
	if (strlen(url) > URL_MAX)
		return refuse(connection, MHD_HTTP_URI_TOO_LONG,
			      "this URL is too long\n");
	if (is_misled(connection))
		return refuse(connection, MHD_HTTP_MISDIRECTED_REQUEST,
			      "ask by address, or as localhost\n");
	file = web_file(url);
	if (file)
		return send_response(connection, MHD_HTTP_OK, file->type,
			MHD_create_response_from_buffer(file->end - file->begin,
				(void *)file->begin, MHD_RESPMEM_PERSISTENT));
	for (i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (!strcmp(answers[i].url, url))
			return work(connection, answers[i].send);
	return refuse(connection, MHD_HTTP_NOT_FOUND, "there is no such page\n");
}

static bool is_full(void)
{
	return MHD_get_daemon_info(server, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
		       ->num_connections >= CLIENTS_MAX;
}

/**
 * web_run() - handle connections that are ready
 *
 * With CLIENTS_MAX connections, libmicrohttpd stops listening; it resumes in
 * the run after the one in which some of them closed, but does not ask for that
 * run. The timer makes sure that it happens.
 */
void web_run(void)
{
	static bool full;
	MHD_UNSIGNED_LONG_LONG ms;
	bool was_full = full;

	MHD_run(server);
	full = is_full();
	alarm_stop(&alarm_clock);
	if (full || was_full)
		alarm_set(&alarm_clock, FULL_MS * NS_PER_MS);
	else if (MHD_get_timeout(server, &ms) == MHD_YES)
		alarm_set(&alarm_clock, ms * NS_PER_MS);
}

static void ring(void *data)
{
	web_run();
}

static void ready(struct source *source, uint32_t events)
{
	web_run();
}

/* Ignore messages of libmicrohttpd about errors of clients. */
static void ignore(void *data, const char *fmt, va_list args)
{
}

static int open_socket(struct srpol_error *err)
{
	struct sockaddr_storage addr = {};
	int fd, ret, on = 1;
	socklen_t len;

	ret = web_address(fabricd.config.page, &addr, &len, err);
	if (ret)
		return ret;
	local = web_is_loopback(&addr);
	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&addr, len) &&
	    !listen(fd, CLIENTS_MAX))
		return fd;
	ret = srpol_error_set(err, -errno, "page %s: %s", fabricd.config.page,
			      strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

static int start_server(int fd)
{
	const union MHD_DaemonInfo *info;

	server = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME |
				  MHD_USE_ERROR_LOG, 0, NULL, NULL, answer,
				  NULL, MHD_OPTION_EXTERNAL_LOGGER, ignore,
				  NULL, MHD_OPTION_LISTEN_SOCKET, fd,
				  MHD_OPTION_CONNECTION_LIMIT, CLIENTS_MAX,
				  MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				  (size_t)CLIENT_BYTES, MHD_OPTION_END);
	if (!server) {
		close(fd);
		return -EIO;
	}
	info = MHD_get_daemon_info(server, MHD_DAEMON_INFO_EPOLL_FD);
	source.fd = info->epoll_fd;
	source.ready = ready;
	return loop_add(&source, EPOLLIN);
}

/**
 * web_start() - serve the page, if configured
 * @err: message on failure
 */
int web_start(struct srpol_error *err)
{
	int fd, ret;

	if (!fabricd.config.page[0])
		return 0;
	fd = open_socket(err);
	if (fd < 0)
		return fd;
	ret = start_server(fd);
	if (!ret)
		log_notice("page at http://%s/%s", fabricd.config.page,
			   local ? "" : ": whoever reaches it may read it");
	return ret;
}

/**
 * web_stop() - stop serving the page
 */
void web_stop(void)
{
	if (!server)
		return;
	loop_remove(&source);
	if (web_stream_stop())
		MHD_run(server);
	alarm_stop(&alarm_clock);
	MHD_stop_daemon(server);
	server = NULL;
	view_jobs_free();
	view_blocks_free();
	loads_free();
}
