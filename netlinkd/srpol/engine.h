/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srpol engine, job and fabric: requests to engines, and their replies as text.
 */
#ifndef _SRPOL_ENGINE_H
#define _SRPOL_ENGINE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/un.h>

struct args;

/* for an answer: that of srpol-fabricd may wait for hosts 10 s, and then for etcd */
#define ENGINE_LIMIT_S	30

/* for the path of a socket, with the null byte at its end */
#define ENGINE_SOCKET_LEN sizeof(((struct sockaddr_un *)NULL)->sun_path)

/**
 * struct engine_request - a request that an engine answers
 * @name: word of the command; also the name of the request, unless @read sets
 *	another
 * @read: reads the rest of the line into the request; NULL: there is nothing to
 *	be read. Returns false after an error message.
 * @print: prints the reply, NULL: nothing is printed
 */
struct engine_request {
	const char *name;
	bool (*read)(struct args *args, json_t *request);
	void (*print)(const json_t *reply);
};

/**
 * struct engine_commands - commands of an engine
 * @who: name of its daemon
 * @usage: usage of the command
 * @socket: path of its socket, NULL: that of srpold in this network namespace
 * @requests: table of requests; the last row has no name
 */
struct engine_commands {
	const char *who;
	const char *usage;
	const char *socket;
	const struct engine_request *requests;
};

bool engine_words(const struct args *args);
bool engine_bytes(struct args *args, json_t *demand);
int engine_command(const struct engine_commands *e, struct args *args);
int engine_talk(const char *who, const char *socket_path, json_t *request,
		void (*print)(const json_t *reply));
json_t *engine_reply(const char *name);
bool engine_socket(char *path, size_t len);
int engine_missing(const char *who, const char *path, int ret);
int engine_watch(struct args *args);

void print_engine_show(const json_t *reply);
void print_engine_paths(const json_t *reply);
void print_engine_topology(const json_t *reply);
void print_engine_why(const json_t *reply);
void print_engine_jobs(const json_t *reply);
void print_engine_demands(const json_t *reply);

void print_fabric_show(const json_t *reply);
void print_fabric_plan(const json_t *reply);
void print_fabric_diff(const json_t *reply);
void print_fabric_what_if(const json_t *reply);
void print_fabric_why(const json_t *reply);
void print_fabric_horizons(const json_t *reply);
void print_fabric_job(const json_t *reply);
void print_fabric_jobs(const json_t *reply);
void print_fabric_tenants(const json_t *reply);
void print_functions(const json_t *reply);
void print_fabric_advise(const json_t *reply);
bool read_fabric_job(struct args *args, json_t *request);
bool read_fabric_jobs(struct args *args, json_t *request);
bool read_fabric_tenant(struct args *args, json_t *request);

#endif /* _SRPOL_ENGINE_H */
