// SPDX-License-Identifier: GPL-2.0
/*
 * srpol -batch: runs the commands of a file. Requests are collected and sent as
 * one transaction, so that packets see either all of them or, if one is
 * refused, none. A command that shows something, attaches a device or asks an
 * engine ends the transaction, and a new one follows. With -force each command is carried out
 * by itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpol.h"

#define BATCH_WORDS	4096	/* a policy of all segment lists there can be has 2300 */

/**
 * struct collection - requests that wait to be sent
 * @active: requests are collected instead of sent
 * @take: takes each request, NULL: requests are added to @batch
 * @batch: the requests
 * @lines: line of each request in the file
 * @file: name of the file
 * @line: line that is being read
 * @first: first line of the command, which may be continued
 * @undone: before this line all was carried out, apart from the transaction; 0: nothing
 * @is_apart: so will this one be
 */
static struct {
	bool active;
	request_taker take;
	struct srpol_batch batch;
	struct vec lines;
	const char *file;
	unsigned int line;
	unsigned int first;
	unsigned int undone;
	bool is_apart;
} collection = { .lines = VEC_INIT(unsigned int) };

/**
 * batch_add() - add a request to the transaction
 * @nlh: the request
 * @line: its line in the file, 0: none
 *
 * Return: an EXIT_*.
 */
int batch_add(const struct nlmsghdr *nlh, unsigned int line)
{
	int err = srpol_batch_add(&collection.batch, nlh);

	if (err)
		return refused(err, NULL);
	*(unsigned int *)vec_add(&collection.lines) = line;
	/* a command that shows something first may wait for the rest after all */
	collection.is_apart = false;
	return EXIT_OK;
}

/**
 * batch_discard() - forget the transaction, or the part of it that there is
 */
void batch_discard(void)
{
	srpol_batch_free(&collection.batch);
	vec_free(&collection.lines);
}

/**
 * batch_commit() - send the transaction
 *
 * Return: an EXIT_*.
 */
int batch_commit(void)
{
	const unsigned int *line = collection.lines.data;
	char done[64] = "nothing was changed";
	struct srpol_error error = {};
	int err;

	if (!collection.batch.n)
		return EXIT_OK;
	err = srpol_batch_send(&genl, &collection.batch, &error);
	if (err) {
		refused(err, &error);
		if (collection.undone > 1)
			snprintf(done, sizeof(done), "only what is before line %u was carried out",
				 collection.undone);
		if (error.request < collection.lines.n && line[error.request])
			fprintf(stderr, "Command failed %s:%u, %s\n",
				collection.file, line[error.request], done);
	}
	batch_discard();
	return err ? EXIT_REFUSED : EXIT_OK;
}

/**
 * batch_flush() - send the waiting requests, as their result is needed now
 *
 * Return: an EXIT_*.
 */
int batch_flush(void)
{
	int err;

	if (!collection.active)
		return EXIT_OK;
	if (collection.take)
		return complain("this command has no place in such a file");
	err = batch_commit();
	if (!err)
		collection.undone = collection.first;
	collection.is_apart = !err;
	return err;
}

/**
 * batch_collects() - is a file being collected
 */
bool batch_collects(void)
{
	return collection.active;
}

/**
 * batch_line() - line of the file that is being read
 */
unsigned int batch_line(void)
{
	return collection.line;
}

/**
 * send_request() - send a request that has no reply other than success
 * @msg: the request
 *
 * While a file is collected the request is only remembered.
 *
 * Return: EXIT_OK or EXIT_REFUSED.
 */
int send_request(struct srpol_msg *msg)
{
	struct srpol_error error = {};
	int err;

	if (collection.active)
		return collection.take ? collection.take(msg->nlh) :
		       batch_add(msg->nlh, collection.line);
	err = srpol_genl_talk(&genl, msg->nlh, NULL, NULL, &error);
	return err ? refused(err, &error) : EXIT_OK;
}

/*
 * Splits a line at white space, which "..." and '...' preserve. A # at the
 * start of a word begins a comment.
 */
static int split(char *line, char **argv, int max)
{
	char *to = line, quote;
	int argc = 0;

	for (;;) {
		while (*line == ' ' || *line == '\t' || *line == '\n' ||
		       *line == '\r')
			line++;
		if (!*line || *line == '#' || argc == max)
			return *line && *line != '#' ? -E2BIG : argc;
		to = line;
		argv[argc++] = to;
		for (quote = 0; *line; line++) {
			if (quote ? *line == quote :
				    *line == '"' || *line == '\'')
				quote = quote ? 0 : *line;
			else if (!quote && strchr(" \t\r\n", *line))
				break;
			else
				*to++ = *line;
		}
		if (quote)
			return -EINVAL;
		if (*line)
			line++;
		*to = '\0';
	}
}

/*
 * Reads a line and joins those continued by a backslash. What comes before an
 * error may be a part of a line, and is not returned. Return: 1, 0 at the end, or
 * a negative errno, -EILSEQ for a null byte, which would end the line.
 */
static int read_line(FILE *file, char **line, size_t *size,
		     unsigned int *number)
{
	size_t part_size = 0, len = 0;
	char *part = NULL, *joined;
	int err = 0;
	ssize_t n;

	for (;;) {
		n = getline(&part, &part_size, file);
		/* without memory for the line there is no error of the file */
		if (ferror(file) || (n < 0 && !feof(file)))
			err = -errno;
		if (n < 0 || err)
			break;
		++*number;
		if (strlen(part) != (size_t)n) {
			err = -EILSEQ;
			break;
		}
		if (len + n + 1 > *size) {
			joined = realloc(*line, 2 * (len + n + 1));
			if (!joined) {
				err = -ENOMEM;
				break;
			}
			*size = 2 * (len + n + 1);
			*line = joined;
		}
		memcpy(*line + len, part, n + 1);
		len += n;
		if (len < 2 || strcmp(*line + len - 2, "\\\n"))
			break;
		len -= 2;
		(*line)[len] = '\0';
	}
	free(part);
	return err ?: len > 0;
}

/*
 * Runs the commands of a file; without @force, stops at the first that fails. One of
 * them may run another file.
 */
static int run_lines(FILE *file, const char *name, bool force)
{
	char *argv[BATCH_WORDS], *line = NULL;
	unsigned int outer = collection.line;
	int ret = EXIT_OK, err, got;
	size_t size = 0;

	collection.line = 0;
	collection.first = 1;
	for (; (got = read_line(file, &line, &size, &collection.line)) > 0;
	     collection.first = collection.line + 1) {
		struct args args = { .argv = argv };

		collection.is_apart = false;
		args.argc = split(line, argv, BATCH_WORDS);
		if (!args.argc)
			continue;
		err = args.argc < 0 ?
		      complain("unbalanced quotes or too many words") :
		      run_line(&args);
		if (!err) {
			if (collection.is_apart)
				collection.undone = collection.line + 1;
			continue;
		}
		fprintf(stderr, "Command failed %s:%u\n", name,
			collection.line);
		ret = err;
		if (!force)
			break;
	}
	if (got == -EILSEQ)
		ret = complain("%s:%u: a null byte", name, collection.line);
	else if (got < 0)
		ret = complain("reading %s: %s", name, strerror(-got));
	free(line);
	collection.line = outer;
	return ret;
}

/**
 * collect_file() - read a file of commands and collect their requests
 * @name: name of the file, "-" for standard input
 * @take: takes each request, NULL: they are added to the transaction
 *
 * Return: an EXIT_*; batch_commit() has to follow.
 */
int collect_file(const char *name, request_taker take)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	int err;

	if (!file)
		return complain("%s: %s", name, strerror(errno));
	collection.active = true;
	collection.undone = 0;
	collection.take = take;
	collection.file = name;
	err = run_lines(file, name, false);
	collection.active = false;
	if (file != stdin)
		fclose(file);
	return err;
}

/**
 * run_batch() - srpol -batch
 * @name: name of the file, "-" for standard input
 * @force: send each request by itself, and go on after one that fails
 *
 * Return: an EXIT_*.
 */
int run_batch(const char *name, bool force)
{
	FILE *file;
	int err;

	if (!force) {
		err = collect_file(name, NULL);
		if (!err)
			return batch_commit();
		if (collection.undone > 1)
			fprintf(stderr, "What is before line %u was carried out\n",
				collection.undone);
		else
			fputs("The transaction was not carried out\n", stderr);
		return err;
	}
	file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	if (!file)
		return complain("%s: %s", name, strerror(errno));
	err = run_lines(file, name, true);
	if (file != stdin)
		fclose(file);
	return err;
}
