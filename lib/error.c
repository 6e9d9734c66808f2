// SPDX-License-Identifier: LGPL-2.1
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "srpol_lib.h"

/* Cut the text, but not inside a UTF-8 character, which JSON would refuse. */
static void cut(char *text, size_t len)
{
	while (len && (text[len] & 0xc0) == 0x80)
		len--;
	text[len] = '\0';
}

/**
 * srpol_error_set() - say why something failed
 * @err: where to say it, may be NULL
 * @code: negative errno
 * @fmt: one line
 *
 * Return: @code.
 */
int srpol_error_set(struct srpol_error *err, int code, const char *fmt, ...)
{
	char text[sizeof(err->text) + 1];
	va_list args;
	int len;

	if (err) {
		va_start(args, fmt);
		len = vsnprintf(text, sizeof(text), fmt, args);
		va_end(args);
		if (len >= (int)sizeof(err->text))
			cut(text, sizeof(err->text) - 1);
		memcpy(err->text, text, sizeof(err->text));
	}
	return code;
}
