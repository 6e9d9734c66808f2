// SPDX-License-Identifier: GPL-2.0
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

#define DEPTH_MAX	16

struct out_options out_options;

/* JSON: open objects and arrays, the outermost first. */
static json_t *open_items[DEPTH_MAX];
static unsigned int json_depth;

/* Text: buffer for an object whose form is changed by -oneline or -brief. */
static FILE *collector;
static char *collected;
static size_t collected_len;
static unsigned int text_depth;

static FILE *text_stream(void)
{
	return collector ?: stdout;
}

static void die(void)
{
	fputs("Error: out of memory.\n", stderr);
	exit(2);
}

static void json_add(const char *key, json_t *value)
{
	json_t *to = json_depth ? open_items[json_depth - 1] : NULL;

	if (!value)
		die();
	if (json_is_object(to) && key)
		json_object_set_new(to, key, value);
	else if (json_is_array(to))
		json_array_append_new(to, value);
	else
		json_decref(value);
}

static void json_open(const char *key, json_t *value)
{
	if (json_depth == DEPTH_MAX)
		abort();
	if (json_depth)
		json_add(key, value);
	open_items[json_depth++] = value;
}

static void json_close(void)
{
	json_depth--;
}

/*
 * Makes a JSON string. The module only accepts UTF-8, but other texts, such as
 * names of processes, may have any bytes; those outside ASCII are then replaced
 * by question marks.
 */
static json_t *json_text(const char *s)
{
	json_t *value = json_string(s);
	char *copy, *p;

	if (value)
		return value;
	copy = strdup(s);
	for (p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	value = copy ? json_string(copy) : NULL;
	free(copy);
	return value;
}

/* formats of the callers are constants of this program */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/**
 * out_begin() - start a list of objects
 */
void out_begin(void)
{
	json_depth = 0;
	if (out_options.json)
		json_open(NULL, json_array());
}

/**
 * out_begin_object() - start a single object, for JSON in a foreign form
 */
void out_begin_object(void)
{
	json_depth = 0;
	if (out_options.json)
		json_open(NULL, json_object());
}

/**
 * out_end() - end the list or object of out_begin*(), and print it
 */
void out_end(void)
{
	if (out_options.json) {
		json_close();
		json_dumpf(open_items[0], stdout, out_options.pretty ?
			   JSON_INDENT(4) : JSON_COMPACT);
		putchar('\n');
		json_decref(open_items[0]);
	}
	fflush(stdout);
}

static void collect(void)
{
	if (text_depth++ || (!out_options.oneline && !out_options.brief))
		return;
	collector = open_memstream(&collected, &collected_len);
	if (!collector)
		die();
}

/* Prints the buffered text of an object in the form that was asked for. */
static void print_collected(void)
{
	char *line;

	if (--text_depth || !collector)
		return;
	if (fclose(collector))
		die();
	collector = NULL;
	line = strtok(collected, "\n");
	while (line) {
		fputs(line, stdout);
		line = out_options.brief ? NULL : strtok(NULL, "\n");
		if (line)
			putchar('\\');
	}
	putchar('\n');
	free(collected);
}

/**
 * out_object() - start an object
 * @key: its key, NULL in a list
 */
void out_object(const char *key)
{
	if (out_options.json)
		json_open(key, json_object());
	else
		collect();
}

/**
 * out_object_end() - end an object
 */
void out_object_end(void)
{
	if (out_options.json)
		json_close();
	else
		print_collected();
}

/**
 * out_array() - start a list inside an object
 * @key: its key
 */
void out_array(const char *key)
{
	if (out_options.json)
		json_open(key, json_array());
}

/**
 * out_array_end() - end a list inside an object
 */
void out_array_end(void)
{
	if (out_options.json)
		json_close();
}

static const char *color_of(const char *key, const char *value)
{
	if (!out_options.color || !key || strcmp(key, "state"))
		return NULL;
	return !strcmp(value, "up") ? "\033[32m" :
	       !strcmp(value, "down") ? "\033[31m" : "\033[33m";
}

/**
 * out_string() - print a string
 * @key: key in JSON, where an empty string is left out
 * @fmt: format in text, with %s
 * @value: the string
 */
void out_string(const char *key, const char *fmt, const char *value)
{
	const char *color = color_of(key, value);

	if (out_options.json) {
		if (*value)
			json_add(key, json_text(value));
	} else if (fmt) {
		if (color)
			fputs(color, text_stream());
		fprintf(text_stream(), fmt, value);
		if (color)
			fputs("\033[0m", text_stream());
	}
}

/**
 * out_uint() - print a number
 * @key: key in JSON
 * @fmt: format in text, with %llu or %llx
 * @value: the number
 */
void out_uint(const char *key, const char *fmt, uint64_t value)
{
	if (out_options.json)
		json_add(key, json_integer(value));
	else if (fmt)
		fprintf(text_stream(), fmt, (unsigned long long)value);
}

/**
 * out_count() - print a counter; in text with k, M, G, T, P or E if -human is given
 * @key: key in JSON
 * @fmt: format in text, with %s
 * @value: the number
 */
void out_count(const char *key, const char *fmt, uint64_t value)
{
	static const char units[] = " kMGTPE";
	double v = value;
	char buf[32];
	size_t unit = 0;

	if (out_options.json) {
		json_add(key, json_integer(value));
		return;
	}
	if (!fmt)
		return;
	/* three digits are printed, so that 999.5 would be 1000 */
	while (out_options.human && v >= 999.5 && units[unit + 1]) {
		v /= 1000;
		unit++;
	}
	if (unit)
		snprintf(buf, sizeof(buf), "%.3g%c", v, units[unit]);
	else
		snprintf(buf, sizeof(buf), "%llu", (unsigned long long)value);
	fprintf(text_stream(), fmt, buf);
}

/**
 * out_bool() - print a truth value
 * @key: key in JSON
 * @text: printed in text if @value is true
 * @value: the value
 */
void out_bool(const char *key, const char *text, bool value)
{
	if (out_options.json)
		json_add(key, json_boolean(value));
	else if (text && value)
		fputs(text, text_stream());
}

/**
 * out_text() - print something in text only
 * @fmt: like printf()
 */
void out_text(const char *fmt, ...)
{
	va_list args;

	if (out_options.json)
		return;
	va_start(args, fmt);
	vfprintf(text_stream(), fmt, args);
	va_end(args);
}
