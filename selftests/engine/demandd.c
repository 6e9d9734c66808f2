// SPDX-License-Identifier: GPL-2.0
/*
 * demandd TOPOLOGY SOCKET: srpold's own code that takes demands, behind a socket
 * as srpold has it, without a module. There is a job "train".
 */
#include <stdio.h>
#include <string.h>

#include "requests.h"
#include "srpold.h"

static struct job train = { .name = "train", .color = 1000 };
struct vec jobs = { .data = &train, .n = 1, .size = sizeof(train) };

static struct engine engine;
static struct request_server server;

void balance_demanded(void)
{
}

static json_t *take(const json_t *o, struct srpol_error *err)
{
	return demand_request(&engine, server.asks, o, err);
}

static json_t *show(const json_t *o, struct srpol_error *err)
{
	return demand_show_request(&engine, o, err);
}

static const struct request requests[] = {
	{ "demands", take },
	{ "demands-show", show },
	{ }
};

static struct request_server server = {
	.requests = requests, .line_max = 262144,
};

int main(int argc, char **argv)
{
	struct srpol_error err = {};

	if (argc != 3 || loop_init())
		return 2;
	engine.fabric = srpol_topology_read(argv[1], &err);
	if (!engine.fabric || requests_start(&server, argv[2], &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return loop_run();
}
