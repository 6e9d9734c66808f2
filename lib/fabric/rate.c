// SPDX-License-Identifier: LGPL-2.1
#include <stdlib.h>

#include "fabric.h"

/**
 * srpol_rate_parse() - parse a rate
 * @text: bit/s, with or without a decimal unit: "400G", "25G", "1.6T"
 * @rate: result in bit/s, 1 to SRPOL_RATE_MAX
 *
 * Return: false if @text is not a valid rate.
 */
bool srpol_rate_parse(const char *text, uint64_t *rate)
{
	static const char units[] = "kMGT";
	double n, scale = 1;
	const char *unit;
	char *end;

	n = strtod(text, &end);
	for (unit = units; *end && *unit && *unit != *end; unit++)
		scale *= 1000;
	if (*end && *unit) {
		scale *= 1000;
		end++;
	}
	if (end == text || *end || !(n * scale >= 1) ||
	    n * scale > (double)SRPOL_RATE_MAX)
		return false;
	*rate = n * scale + 0.5;
	return true;
}
