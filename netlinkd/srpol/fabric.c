// SPDX-License-Identifier: GPL-2.0
/*
 * srpol fabric: asks srpol-fabricd, the global engine, what it plans and why.
 */
#include <jansson.h>
#include <string.h>

#include "plan.h"
#include "srpol.h"
#include "engine.h"

static const char usage[] =
"Usage: srpol fabric show [ socket FILE ]\n"
"       srpol fabric plan [ from LEAF ] [ socket FILE ]\n"
"       srpol fabric plan what-if link-down FROM TO [ socket FILE ]\n"
"       srpol fabric diff [ socket FILE ]\n"
"       srpol fabric why SRC DST [ rail N [ to-rail N ] ] [ tenant T ]\n"
"                        [ socket FILE ]\n"
"       srpol fabric horizons [ socket FILE ]\n"
"       srpol fabric job add NAME [ tenant T ] TRAFFIC [ bandwidth RATE[/MAX] ]\n"
"                        [ least RATE ] [ priority N ] [ deadline TIME ]\n"
"                        [ for TIME ] [ in TIME ] [ lasts TIME ] [ every TIME ]\n"
"                        [ via FUNCTION ] [ flows N ] [ what-if ] [ socket FILE ]\n"
"       srpol fabric job del NAME [ tenant T ] [ socket FILE ]\n"
"       srpol fabric jobs [ NAME ] [ socket FILE ]\n"
"       srpol fabric tenant add NAME color N [ paths SWITCH[,SWITCH]... ]\n"
"                           [ guaranteed RATE ] [ max RATE ] [ priority N ]\n"
"                           [ backup COLOR ] [ socket FILE ]\n"
"       srpol fabric tenant del NAME [ socket FILE ]\n"
"       srpol fabric tenants [ socket FILE ]\n"
"       srpol fabric functions [ socket FILE ]\n"
"       srpol fabric advise [ socket FILE ]\n"
"TRAFFIC := { [ collective KIND ] hosts HOST,HOST[,HOST]... bytes N [ rail N ] |\n"
"             demand SRC DST BYTES [ demand SRC DST BYTES ]... }\n"
"KIND := { all-reduce | all-gather | reduce-scatter | broadcast | all-to-all }\n"
"show    the leader, the epoch, jobs, what hosts reported and applied\n"
"plan    weights of the paths between leaves; what-if: when jobs would end with\n"
"        a link down, and which weights would change\n"
"diff    what the last change of the plan changed\n"
"why     weights of the paths between two hosts, or GPUs on these rails, the\n"
"        reasons for them, and segment lists; with tenant for packets of that\n"
"        tenant\n"
"horizons what links will carry in 1, 5 and 10 s, and which one will be overloaded\n"
"        first\n"
"job     announce what will be sent: by all hosts to all others, by a collective,\n"
"        of whose buffer N is the size, in the order of hosts, or by demands.\n"
"        With bandwidth it is reserved; the answer says whether it was accepted,\n"
"        and if not, why, and what would be. least: what is enough, if there is\n"
"        not more; then jobs of higher priority (0 to 7) may lower it. deadline:\n"
"        when all has to have arrived. what-if: only answer. via: through a\n"
"        function of switches, by name or kind\n"
"jobs    state of each job and its most loaded link; with NAME all its links\n"
"tenant  give a tenant a color for its jobs, a maximum for all its reservations\n"
"        and for each job, the greatest priority of its jobs, the spines or\n"
"        super-spines that its paths use, and a color whose paths its packets take\n"
"        while none of its own is up\n"
"functions  of switches, as the topology says: opaque SIDs and a model\n"
"advise  problems, what to do about them, and the evidence\n";

#define SOCKET_DEFAULT	"/run/srpol-fabricd/control.sock"

/* Reads two words into members of the request. */
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
	if (!is(args, "link-down"))
		return !complain("what-if: \"%s\" is not link-down",
				 more(args) ? *args->argv : "");
	json_object_set_new(request, "request", json_string("what-if"));
	return read_two(args, request, "from", "to",
			"a link is given by two nodes");
}

static bool read_rail(struct args *args, const char *word, const char *key, json_t *request)
{
	uint32_t rail;

	if (!read_number(args, word, 0, SRPOL_RAILS_MAX - 1, &rail))
		return false;
	json_object_set_new(request, key, json_integer(rail));
	return true;
}

static bool read_why(struct args *args, json_t *request)
{
	const char *tenant;

	if (!read_two(args, request, "src", "dst", "two hosts are wanted") ||
	    (keyword(args, "rail") && !read_rail(args, "rail", "rail", request)) ||
	    (keyword(args, "to-rail") && !read_rail(args, "to-rail", "dst_rail", request)))
		return false;
	if (!keyword(args, "tenant"))
		return true;
	if (!read_word(args, "tenant", &tenant))
		return false;
	json_object_set_new(request, "tenant", json_string(tenant));
	return true;
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
	{ "horizons", NULL, print_fabric_horizons },
	{ "job", read_fabric_job, print_fabric_job },
	{ "jobs", read_fabric_jobs, print_fabric_jobs },
	{ "tenant", read_fabric_tenant, NULL },
	{ "tenants", NULL, print_fabric_tenants },
	{ "functions", NULL, print_functions },
	{ "advise", NULL, print_fabric_advise },
	{ }
};

/**
 * do_fabric() - srpol fabric
 * @args: words after "fabric"
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
