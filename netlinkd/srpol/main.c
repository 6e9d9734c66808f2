// SPDX-License-Identifier: GPL-2.0
/*
 * srpol: configure and show SR policies.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "srpol.h"

#define VERSION		"0.1"
#define JSON_SCHEMA	1

struct srpol_genl genl;
bool show_stats;
bool show_timestamps;

static const char usage[] =
"Usage: srpol [ OPTIONS ] OBJECT { COMMAND | help }\n"
"       srpol [ -force ] -batch FILENAME\n"
"       srpol replace [ empty ] -f FILENAME\n"
"where  OBJECT := { path | policy | rule | endpoint | sid | dev | config |\n"
"                   flow | stats | metrics | monitor | export | save | doctor |\n"
"                   engine | job | fabric | topology | bug-report }\n"
"       OPTIONS := { -V[ersion] | -s[tatistics] | -h[uman-readable] |\n"
"                    -o[neline] | -br[ief] | -c[olor] | -t[imestamp] |\n"
"                    -j[son] | -p[retty] | -v[erbose] | -n[etns] NAME |\n"
"                    -b[atch] FILENAME | -force }\n";

/*
 * Objects. What a command of an object does @apart is not part of the transaction of
 * a file: it ends that, as do those commands of other objects that show something.
 */
static const struct {
	const char *name;
	int (*run)(struct args *args);
	bool apart;
} objects[] = {
	{ "path", do_path, false },
	{ "policy", do_policy, false },
	{ "rule", do_rule, false },
	{ "endpoint", do_endpoint, false },
	{ "sid", do_sid, false },
	{ "dev", do_dev, false },
	{ "config", do_config, false },
	{ "flow", do_flow, true },
	{ "stats", do_stats, true },
	{ "metrics", do_metrics, true },
	{ "monitor", do_monitor, true },
	{ "export", do_export, true },
	{ "replace", do_replace, false },
	{ "doctor", do_doctor, true },
	{ "engine", do_engine, true },
	{ "job", do_job, true },
	{ "fabric", do_fabric, true },
	{ "topology", do_topology, true },
	{ "save", do_save, true },
	{ "bug-report", do_bug_report, true },
};

/* Has this command said what is wrong with it? */
static bool complained;

/**
 * complain() - print an error of the command line
 * @fmt: one sentence without its period, as for printf()
 *
 * Return: EXIT_USAGE.
 */
int complain(const char *fmt, ...)
{
	va_list args;

	complained = true;
	fputs("Error: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs(".\n", stderr);
	return EXIT_USAGE;
}

/**
 * refused() - print an error of the kernel or the system
 * @err: negative errno
 * @error: its message, may be empty or NULL
 *
 * Return: EXIT_REFUSED.
 */
int refused(int err, const struct srpol_error *error)
{
	if (error && error->text[0])
		fprintf(stderr, "Error: srpol: %s.\n", error->text);
	else
		fprintf(stderr, "Error: srpol: %s.\n",
			strerror(-err));
	return EXIT_REFUSED;
}

/**
 * out_found() - end a list of objects, and report if nothing was found
 * @n: number of objects printed
 * @selected: the user asked for certain objects
 * @fmt: error message if none of these exists, as for printf()
 *
 * Return: EXIT_OK, or EXIT_REFUSED if the objects asked for do not exist.
 */
int out_found(unsigned int n, bool selected, const char *fmt, ...)
{
	struct srpol_error error = {};
	va_list args;

	out_end();
	if (n || !selected)
		return EXIT_OK;
	va_start(args, fmt);
	vsnprintf(error.text, sizeof(error.text), fmt, args);
	va_end(args);
	return refused(-ENOENT, &error);
}

/**
 * need_module() - connect to the module, unless connected
 *
 * Return: EXIT_OK or EXIT_REFUSED.
 */
int need_module(void)
{
	struct srpol_error error = {};
	int err;

	if (genl.nl)
		return EXIT_OK;
	err = srpol_genl_open(&genl, &error);
	return err ? refused(err, &error) : EXIT_OK;
}

/**
 * run_command() - find a command and run it
 * @table: commands of the object
 * @n: number of @table
 * @help: usage of the object
 * @args: words from the command on
 * @fallback: command if none is given, NULL: print the usage
 *
 * Return: an EXIT_*.
 */
int run_command(const struct command *table, size_t n, const char *help,
		struct args *args, const char *fallback)
{
	const char *word = more(args) ? next(args) : fallback;
	size_t i;
	int err;

	if (!word || !strcmp(word, "help")) {
		fputs(help, word ? stdout : stderr);
		return word ? EXIT_OK : EXIT_USAGE;
	}
	/* synonyms of ip(8) */
	if (*word && (!strncmp(word, "list", strlen(word)) ||
		      !strcmp(word, "lst")))
		word = "show";
	for (i = 0; i < n; i++)
		if (*word && !strncmp(word, table[i].name, strlen(word)))
			break;
	if (i == n) {
		fputs(help, stderr);
		return complain("command \"%s\" is unknown", word);
	}
	complained = false;
	err = table[i].run(args, table[i].flags);
	/* the functions that add to a request say nothing where it is full */
	return err != EXIT_USAGE || complained ? err :
	       complain("the line has more than fits into a request");
}

/**
 * run_line() - run one command
 * @args: its words
 *
 * Return: an EXIT_*.
 */
int run_line(struct args *args)
{
	const char *word = next(args);
	size_t i;

	counters_forget();
	if (!word || !strcmp(word, "help")) {
		fputs(usage, word ? stdout : stderr);
		return word ? EXIT_OK : EXIT_USAGE;
	}
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		if (*word && !strncmp(word, objects[i].name, strlen(word)))
			return (objects[i].apart ? batch_flush() : EXIT_OK) ?:
			       objects[i].run(args);
	return complain("object \"%s\" is unknown, try \"srpol help\"", word);
}

/* Reads "always", "auto" or "never", as in ip(8). */
static bool read_color(const char *when)
{
	if (!when || !strcmp(when, "always")) {
		out_options.color = true;
	} else if (!strcmp(when, "auto")) {
		out_options.color = isatty(STDOUT_FILENO);
	} else if (strcmp(when, "never")) {
		complain("-color: \"%s\" is not one of always auto never",
			 when);
		return false;
	}
	return true;
}

/* The number of the JSON schema is incremented when something is removed. */
static void print_version(void)
{
	out_begin();
	out_object(NULL);
	out_string("version", "srpol %s\n", VERSION);
	out_uint("json_schema", NULL, JSON_SCHEMA);
	out_object_end();
	out_end();
}

/* What could not be written was not done, whatever reads it would think so. */
static int written(int err)
{
	struct srpol_error error = {};

	if (!fflush(stdout) && !ferror(stdout))
		return err;
	srpol_error_set(&error, -EIO, "standard output could not be written");
	return refused(-EIO, &error);
}

/*
 * A standard descriptor that the caller has closed would be that of the first
 * socket or file, which would be read or written in its place. What is put there
 * instead fails when it is.
 */
static bool keep_standard(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "statistics", no_argument, NULL, 's' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "Version", no_argument, NULL, 'V' },
		{ "netns", required_argument, NULL, 'n' },
		{ "batch", required_argument, NULL, 'b' },
		{ "force", no_argument, NULL, 'f' },
		{ "human-readable", no_argument, NULL, 'h' },
		{ "help", no_argument, NULL, 'H' },
		{ "oneline", no_argument, NULL, 'o' },
		{ "brief", no_argument, NULL, 'B' },
		{ "br", no_argument, NULL, 'B' },
		{ "color", optional_argument, NULL, 'c' },
		{ "timestamp", no_argument, NULL, 't' },
		{ }
	};
	const char *batch = NULL, *netns = NULL;
	struct srpol_error error = {};
	bool force = false;
	struct args args = {};
	int c, err;

	if (!keep_standard())
		return EXIT_REFUSED;
	/* "+": options end at the object, whose words may begin with a dash */
	while ((c = getopt_long_only(argc, argv, "+jpsvVn:b:hoct", options,
				     NULL)) != -1) {
		switch (c) {
		case 'j':
			out_options.json = true;
			break;
		case 'p':
			out_options.pretty = true;
			break;
		case 'o':
			out_options.oneline = true;
			break;
		case 'B':
			out_options.brief = true;
			break;
		case 'h':
			out_options.human = true;
			break;
		case 't':
			show_timestamps = true;
			break;
		case 'c':
			if (!read_color(optarg))
				return EXIT_USAGE;
			break;
		case 's':
			show_stats = true;
			break;
		case 'v':
			srpol_dp_verbose(true);
			break;
		case 'V':
			print_version();
			return written(EXIT_OK);
		case 'n':
			netns = optarg;
			break;
		case 'b':
			batch = optarg;
			break;
		case 'f':
			force = true;
			break;
		case 'H':
			fputs(usage, stdout);
			return written(EXIT_OK);
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (batch && optind < argc) {
		fputs(usage, stderr);
		return complain("\"%s\" is unexpected after -batch %s",
				argv[optind], batch);
	}
	if (netns) {
		err = srpol_netns_enter(netns, &error);
		if (err)
			return refused(err, &error);
	}
	err = show_stats ? need_maps() : EXIT_OK;
	if (err)
		return err;
	if (batch)
		return written(run_batch(batch, force));
	args.argc = argc - optind;
	args.argv = argv + optind;
	err = run_line(&args);
	srpol_genl_close(&genl);
	return written(err);
}
