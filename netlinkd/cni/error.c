// SPDX-License-Identifier: GPL-2.0
/* Errors in the form of the CNI specification. */
#include <stdarg.h>
#include <stdio.h>

#include "cni.h"

/**
 * cni_fail() - fill in an error
 * @err: result
 * @code: error code
 * @details: why it failed, as told by others; may be NULL
 * @fmt: what failed, one line, as for printf()
 *
 * Return: @code.
 */
int cni_fail(struct cni_error *err, enum cni_code code, const char *details,
	     const char *fmt, ...)
{
	va_list args;

	err->code = code;
	va_start(args, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, args);
	va_end(args);
	snprintf(err->details, sizeof(err->details), "%s",
		 details ? details : "");
	return code;
}

/**
 * cni_error_print() - print an error as JSON
 * @err: the error
 * @version: version of the CNI specification
 * @to: where to print it
 */
void cni_error_print(const struct cni_error *err, const char *version,
		     FILE *to)
{
	json_t *o = json_pack("{s:s, s:i, s:s*, s:s*}", "cniVersion", version,
			      "code", err->code, "msg", err->msg, "details",
			      err->details[0] ? err->details : NULL);

	/* input that the message quotes may not be valid UTF-8 */
	if (!o)
		o = json_pack("{s:s, s:i, s:s}", "cniVersion", version, "code",
			      err->code, "msg", "not text in UTF-8");
	json_dumpf(o, to, JSON_INDENT(4));
	fputc('\n', to);
	json_decref(o);
}
