// SPDX-License-Identifier: GPL-2.0
/*
 * srpol fabric: what srpol-fabricd, the global engine, plans and why.
 */
#include <jansson.h>
#include <string.h>

#include "srpol.h"
#include "engine.h"

static const char usage[] =
"Usage: srpol fabric show [ socket FILE ]\n"
"       srpol fabric plan [ from LEAF ] [ socket FILE ]\n"
"       srpol fabric plan what-if link-down FROM TO [ socket FILE ]\n"
"       srpol fabric diff [ socket FILE ]\n"
"       srpol fabric why SRC DST [ socket FILE ]\n"
"show  who leads, the epoch, jobs, what hosts reported and applied\n"
"plan  weights of the paths between leaves; what-if: when all jobs would end\n"
"      with a link down, and which weights would change\n"
"diff  what the last change of the plan changed\n"
"why   weights of the paths between two hosts, and what they follow from\n";

#define SOCKET_DEFAULT	"/run/srpol-fabricd/control.sock"

/* Two words to members of the request. */
static bool read_two(struct args *args, json_t *request, const char *first,
		     const char *second, const char *what)
{
	const char *word;

	if (!more(args)) {
		complain("%s", what);
		return false;
	}
	word = next(args);
	json_object_set_new(request, first, json_string(word));
	if (!more(args)) {
		complain("%s", what);
		return false;
	}
	word = next(args);
	json_object_set_new(request, second, json_string(word));
	return true;
}

static bool read_plan(struct args *args, json_t *request)
{
	const char *leaf;

	if (is(args, "from")) {
		if (!read_word(args, "from", &leaf))
			return false;
		json_object_set_new(request, "from", json_string(leaf));
		return true;
	}
	if (!is(args, "what-if"))
		return true;
	next(args);
	if (!is(args, "link-down")) {
		complain("what-if: link-down is wanted");
		return false;
	}
	next(args);
	json_object_set_new(request, "request", json_string("what-if"));
	return read_two(args, request, "from", "to",
			"a link is given by two nodes");
}

static bool read_why(struct args *args, json_t *request)
{
	return read_two(args, request, "src", "dst", "two hosts are wanted");
}

static void print_plan_or_what_if(const json_t *reply)
{
	if (json_object_get(reply, "pairs"))
		print_fabric_plan(reply);
	else
		print_fabric_what_if(reply);
}

static const struct engine_request requests[] = {
	{ "show", NULL, print_fabric_show },
	{ "plan", read_plan, print_plan_or_what_if },
	{ "diff", NULL, print_fabric_diff },
	{ "why", read_why, print_fabric_why },
	{ }
};

/**
 * do_fabric() - srpol fabric
 * @args: what to ask
 *
 * Return: an EXIT_*.
 */
int do_fabric(struct args *args)
{
	static const struct engine_commands fabricd = {
		.who = "srpol-fabricd", .usage = usage, .requests = requests,
		.socket = SOCKET_DEFAULT,
	};

	return engine_command(&fabricd, args);
}
