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

/* Bytes of the UTF-8 character at @s; 0 if it is not well-formed. */
static unsigned int utf8_len(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned int len, i;

	if (u[0] < 0x80)
		return 1;
	len = u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return 0;
	for (i = 1; i < len; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, beyond U+10FFFF */
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
	    (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0;
	return len;
}

/* A name may hold any bytes, JSON is UTF-8. */
static void json_string(const char *s)
{
	unsigned int len;

	putchar('"');
	for (; *s; s += len) {
		len = utf8_len(s);
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", *s);
		else if (len)
			fwrite(s, 1, len, stdout);
		else
			fputs("\\ufffd", stdout);
		len += !len;
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
