// SPDX-License-Identifier: LGPL-2.1
#include <stdlib.h>

#include "fabric.h"

/**
 * srpol_rate_parse() - read a rate
 * @text: bit/s, with a unit of thousands or without: "400G", "25G", "1.6T"
 * @rate: result, 1 to SRPOL_RATE_MAX
 *
 * Return: false if it is no rate.
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
