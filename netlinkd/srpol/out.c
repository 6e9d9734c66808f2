// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "out.h"

bool out_json;
bool out_pretty;

static unsigned int depth;
static bool first = true;

static void json_item(const char *key)
{
	unsigned int i;

	if (!first)
		putchar(',');
	first = false;
	if (out_pretty && depth) {
		putchar('\n');
		for (i = 0; i < depth; i++)
			putchar('\t');
	}
	if (key)
		printf(out_pretty ? "\"%s\": " : "\"%s\":", key);
}

static void json_open(const char *key, char bracket)
{
	json_item(key);
	putchar(bracket);
	depth++;
	first = true;
}

static void json_close(char bracket)
{
	unsigned int i;

	depth--;
	if (out_pretty && !first) {
		putchar('\n');
		for (i = 0; i < depth; i++)
			putchar('\t');
	}
	putchar(bracket);
	first = false;
}

static void json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

/* Formats come from this program only. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

void out_begin(void)
{
	first = true;
	if (out_json)
		json_open(NULL, '[');
}

void out_end(void)
{
	if (out_json) {
		json_close(']');
		putchar('\n');
	}
	fflush(stdout);
}

void out_object(const char *key)
{
	if (out_json)
		json_open(key, '{');
}

void out_object_end(void)
{
	if (out_json)
		json_close('}');
}

void out_array(const char *key)
{
	if (out_json)
		json_open(key, '[');
}

void out_array_end(void)
{
	if (out_json)
		json_close(']');
}

void out_string(const char *key, const char *fmt, const char *value)
{
	if (out_json) {
		json_item(key);
		json_string(value);
	} else if (fmt) {
		printf(fmt, value);
	}
}

void out_uint(const char *key, const char *fmt, uint64_t value)
{
	if (out_json) {
		json_item(key);
		printf("%" PRIu64, value);
	} else if (fmt) {
		printf(fmt, value);
	}
}

void out_bool(const char *key, const char *text, bool value)
{
	if (out_json) {
		json_item(key);
		fputs(value ? "true" : "false", stdout);
	} else if (text && value) {
		fputs(text, stdout);
	}
}

void out_text(const char *fmt, ...)
{
	va_list args;

	if (out_json)
		return;
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
}
