// SPDX-License-Identifier: LGPL-2.1
#include <stdarg.h>
#include <stdio.h>

#include "srpol_lib.h"

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
	va_list args;

	if (err) {
		va_start(args, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, args);
		va_end(args);
	}
	return code;
}
