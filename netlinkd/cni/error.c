// SPDX-License-Identifier: GPL-2.0
/* Errors, as the specification wants them. */
#include <stdarg.h>
#include <stdio.h>

#include "cni.h"

/**
 * cni_fail() - say why it failed
 * @err: where to say it
 * @code: of the error
 * @details: what somebody else says of it, may be NULL
 * @fmt: what failed, one line
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
 * cni_error_print() - an error as JSON
 * @err: the error
 * @version: of the specification
 * @to: where
 */
void cni_error_print(const struct cni_error *err, const char *version,
		     FILE *to)
{
	json_t *o = json_pack("{s:s, s:i, s:s*, s:s*}", "cniVersion", version,
			      "code", err->code, "msg", err->msg, "details",
			      err->details[0] ? err->details : NULL);

	/* what a file or variable held need not be UTF-8 */
	if (!o)
		o = json_pack("{s:s, s:i, s:s}", "cniVersion", version, "code",
			      err->code, "msg", "not text in UTF-8");
	json_dumpf(o, to, JSON_INDENT(4));
	fputc('\n', to);
	json_decref(o);
}
