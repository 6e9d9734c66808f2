// SPDX-License-Identifier: LGPL-2.1
/*
 * Finds the line of a value in a JSON text. JSON parsers do not keep the
 * positions of values that they accepted, so this scans the text again; it is
 * called only to report an error.
 */
#include <stdbool.h>
#include <string.h>

#include "json_line.h"

/*
 * Position in a text that a parser has accepted; the end is checked
 * nevertheless.
 */
struct scan {
	const char *at;
	const char *end;
	unsigned int line;
};

static char peek(struct scan *s)
{
	for (; s->at < s->end; s->at++) {
		if (*s->at == '\n')
			s->line++;
		else if (*s->at != ' ' && *s->at != '\t' && *s->at != '\r')
			return *s->at;
	}
	return '\0';
}

/* Skips a string; returns whether it is @want, which must not need escapes. */
static bool skip_string(struct scan *s, const char *want)
{
	const char *from = ++s->at;

	while (s->at < s->end && *s->at != '"')
		s->at += *s->at == '\\' ? 2 : 1;
	if (s->at >= s->end) {
		s->at = s->end;
		return false;
	}
	s->at++;
	return want && (size_t)(s->at - 1 - from) == strlen(want) &&
	       !memcmp(from, want, s->at - 1 - from);
}

/* Skips a value of any type. */
static void skip_value(struct scan *s)
{
	unsigned int depth = 0;
	char c;

	do {
		c = peek(s);
		if (!c)
			return;
		if (c == '"') {
			skip_string(s, NULL);
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		if (c == '}' || c == ']')
			depth--;
		s->at++;
		if (c != '{' && c != '[' && c != '}' && c != ']' &&
		    c != ',' && c != ':')
			while (s->at < s->end && !strchr(" \t\r\n,]}", *s->at))
				s->at++;
	} while (depth);
}

/* Moves to the value of a member or element; false if it does not exist. */
static bool step_into(struct scan *s, const struct srpol_json_step *step)
{
	size_t i = 0;
	bool found;

	if (peek(s) != (step->key ? '{' : '['))
		return false;
	s->at++;
	while (peek(s) && peek(s) != '}' && peek(s) != ']') {
		found = !step->key && i++ == step->index;
		if (step->key) {
			found = skip_string(s, step->key);
			if (peek(s) == ':')
				s->at++;
		}
		if (found) {
			peek(s);
			return true;
		}
		skip_value(s);
		if (peek(s) == ',')
			s->at++;
	}
	return false;
}

/**
 * srpol_json_line() - find the line of a value
 * @text: JSON text that has been parsed without error
 * @len: length of @text in bytes
 * @steps: steps from the outermost value
 * @n: number of @steps
 *
 * O(@len).
 *
 * Return: number of the line, from 1, on which the value starts. If it does not
 * exist, the line of the innermost value that does.
 */
unsigned int srpol_json_line(const char *text, size_t len,
			     const struct srpol_json_step *steps,
			     unsigned int n)
{
	struct scan s = { .at = text, .end = text + len, .line = 1 }, before;
	unsigned int i;

	peek(&s);
	before = s;
	for (i = 0; i < n; i++) {
		if (!step_into(&s, &steps[i]))
			break;
		before = s;
	}
	return before.line;
}
