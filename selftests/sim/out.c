// SPDX-License-Identifier: GPL-2.0
/* Results: a JSON object per line. */
#include <jansson.h>
#include <math.h>

#include "sim.h"

static FILE *out;

void out_open(FILE *to)
{
	out = to;
}

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static void put(json_t *row)
{
	json_dumpf(row, out, JSON_REAL_PRECISION(9));
	fputc('\n', out);
	fflush(out);
	json_decref(row);
}

void out_row(const char *in_case, const char *row, double value)
{
	put(json_pack("{s:s, s:s, s:o}", "case", in_case, "row", row, "value",
		      number(value)));
}

/* Mean and maximum of several seeds, in units of the bound. */
void out_stat(const char *in_case, const char *row, const double *values,
	      uint32_t n, double bound)
{
	double sum = 0, max = 0, min = INFINITY;
	uint32_t i;

	for (i = 0; i < n; i++) {
		sum += values[i];
		max = fmax(max, values[i]);
		min = fmin(min, values[i]);
	}
	put(json_pack("{s:s, s:s, s:o, s:o, s:o, s:i, s:o}", "case", in_case,
		      "row", row, "value", number(sum / n), "max", number(max),
		      "min", number(min), "seeds", (int)n, "bound",
		      number(bound)));
}

void out_note(const char *in_case, const char *key, const char *text)
{
	put(json_pack("{s:s, s:s, s:s}", "case", in_case, "note", key, "text",
		      text));
}
