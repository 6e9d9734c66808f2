// SPDX-License-Identifier: GPL-2.0
/* Names of the objects that srpold makes in the module. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "srpold.h"

#define NAME_BEGIN	(SRPOL_NAME_MAX - 9)	/* "~" and 8 digits follow */

/**
 * engine_name() - name an object in the module
 * @name: result, SRPOL_NAME_MAX + 1 bytes
 * @text: what it is to be called; if that is too long, its beginning, "~" and a
 *	hash of it, as names tell objects from each other
 */
void engine_name(char *name, const char *text)
{
	uint32_t hash = 2166136261;	/* FNV-1a */
	size_t n = NAME_BEGIN;
	const char *p;

	if (strlen(text) <= SRPOL_NAME_MAX) {
		strcpy(name, text);
		return;
	}
	for (p = text; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619;
	/* whole characters of UTF-8 */
	while (n && ((uint8_t)text[n] & 0xc0) == 0x80)
		n--;
	snprintf(name, SRPOL_NAME_MAX + 1, "%.*s~%08x", (int)n, text, hash);
}
