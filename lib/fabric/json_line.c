// SPDX-License-Identifier: LGPL-2.1
/*
 * Where a value stands in a JSON text. Parsers keep no positions of what they
 * accepted; this walks the text once more, only when there is something to
 * complain about.
 */
#include <stdbool.h>
#include <string.h>

#include "json_line.h"

/* Text that a parser has accepted; every step checks the end all the same. */
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

/* Past a string; true if it is @want, which has no escapes. */
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

/* Past a value of any kind. */
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

/* To the value of a member or element; false when it is not there. */
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
 * srpol_json_line() - line of a value
 * @text: JSON text that has been parsed without error
 * @len: bytes of it
 * @steps: way from the outermost value
 * @n: number of steps
 *
 * O(@len).
 *
 * Return: number of the line, from 1, on which the value starts; of the
 * innermost one that was found, if it is not there.
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
