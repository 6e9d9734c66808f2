// SPDX-License-Identifier: GPL-2.0
/* srpol job: traffic for which srpold provides paths of its own. */
#include <jansson.h>
#include <string.h>

#include "srpol.h"
#include "engine.h"

static const char usage[] =
"Usage: srpol job add NAME SELECTOR [ color N ] [ paths SET ]\n"
"                     [ via FUNCTION ] [ backup COLOR ]\n"
"                     [ placement { hash | qp } ] [ socket FILE ]\n"
"       srpol job del NAME [ socket FILE ]\n"
"       srpol job show [ NAME ] [ socket FILE ]\n"
"SELECTOR := { cgroup PATH | src PREFIX | qp QP[-QP] | pid N | comm NAME }\n"
"SET := { disjoint | SWITCH[,SWITCH]... }\n"
"A job has a color, and policies of that color. They have all paths; with SET only\n"
"those whose highest switch is one of SET, or a share that no other disjoint job\n"
"has; with via only those through a function of switches, by name or kind. While none\n"
"of them is up, packets take the policy of color backup to the same peer.\n"
"By cgroup, pid and comm also the QPs of these processes are found. With placement\n"
"qp each QP has a path, by what it sends; else a hash says which.\n";

static void set_string(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, json_string(text));
}

static bool read_qps(struct args *args, json_t *job)
{
	uint32_t lo, hi;

	if (!read_range(args, "qp", 0xffffff, &lo, &hi))
		return false;
	json_object_set_new(job, "qp", json_pack("[ii]", lo, hi));
	return true;
}

static bool set_number(struct args *args, const char *key, uint32_t max, json_t *job)
{
	uint32_t v;

	if (!read_number(args, key, 1, max, &v))
		return false;
	json_object_set_new(job, key, json_integer(v));
	return true;
}

static bool read_set(struct args *args, json_t *job)
{
	const char *word, *end;
	json_t *list;

	if (!read_word(args, "paths", &word))
		return false;
	if (!strcmp(word, "disjoint")) {
		set_string(job, "paths", word);
		return true;
	}
	list = json_array();
	for (;; word = end + 1) {
		end = strchrnul(word, ',');
		json_array_append_new(list, json_stringn(word, end - word));
		if (!*end)
			break;
	}
	json_object_set_new(job, "paths", list);
	return true;
}

static bool read_job(struct args *args, json_t *job)
{
	static const char * const words[] = {
		"cgroup", "src", "comm", "via", "placement"
	};
	const char *word;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (!keyword(args, words[i]))
			continue;
		if (!read_word(args, words[i], &word))
			return false;
		set_string(job, words[i], word);
		return true;
	}
	if (keyword(args, "qp"))
		return read_qps(args, job);
	if (keyword(args, "pid"))
		return set_number(args, "pid", INT32_MAX, job);
	if (keyword(args, "color"))
		return set_number(args, "color", UINT32_MAX, job);
	if (keyword(args, "backup"))
		return set_number(args, "backup", UINT32_MAX, job);
	if (keyword(args, "paths"))
		return read_set(args, job);
	unknown(args);
	return false;
}

static const struct {
	const char *name;
	const char *request;
	bool needs_name;
	bool (*read)(struct args *args, json_t *job);
	void (*print)(const json_t *reply);
} commands[] = {
	{ "add", "job-add", true, read_job, NULL },
	{ "del", "job-del", true, NULL, NULL },
	{ "show", "jobs", false, NULL, print_engine_jobs },
};

static int run(struct args *args, size_t i)
{
	const char *socket_path = NULL, *name;
	json_t *request;
	int ret = EXIT_USAGE;

	request = json_pack("{s:s}", "request", commands[i].request);
	while (more(args)) {
		if (is(args, "socket")) {
			if (!read_word(args, "socket", &socket_path))
				goto out;
		} else if (!json_object_get(request, "name")) {
			if (!read_label(args, "job", &name))
				goto out;
			set_string(request, "name", name);
		} else if (!commands[i].read) {
			unknown(args);
			goto out;
		} else if (!commands[i].read(args, request)) {
			goto out;
		}
	}
	if (commands[i].needs_name && !json_object_get(request, "name"))
		complain("job: a name is missing");
	else
		ret = engine_talk("srpold", socket_path, request,
				  commands[i].print);
out:
	json_decref(request);
	return ret;
}

/**
 * do_job() - srpol job
 * @args: words after "job"
 *
 * Return: an EXIT_*.
 */
int do_job(struct args *args)
{
	const char *word = more(args) ? next(args) : "show";
	size_t i;

	if (!strcmp(word, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(word, commands[i].name))
			return engine_words(args) ? run(args, i) : EXIT_USAGE;
	fputs(usage, stderr);
	return complain("command \"%s\" is unknown", word);
}
