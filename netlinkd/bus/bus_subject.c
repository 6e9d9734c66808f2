// SPDX-License-Identifier: GPL-2.0
/*
 * Converts keys of the store to NATS subjects and back. The parts of a key,
 * separated by slashes, become tokens, separated by dots. All bytes of a name
 * other than ASCII letters, digits, '-' and '_' are escaped as =XX, because
 * some have a meaning in subjects.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "bus.h"

static bool is_plain(unsigned char c)
{
	return c < 0x80 && (isalnum(c) || c == '-' || c == '_');
}

/**
 * bus_subject() - convert a key to a subject
 * @config: configuration with the prefix
 * @key: such as load/0/leaf1/A; no part of it may be empty
 * @subject: result, such as srpol.load.0.leaf1.A
 * @size: size of @subject in bytes
 *
 * Return: false if @subject is too small.
 */
bool bus_subject(const struct bus_config *config, const char *key, char *subject,
		 size_t size)
{
	size_t n = snprintf(subject, size, "%s.", config->prefix);
	const unsigned char *c;

	for (c = (const unsigned char *)key; *c; c++) {
		if (n + 4 > size)
			return false;
		if (*c == '/' || is_plain(*c))
			subject[n++] = *c == '/' ? '.' : *c;
		else
			n += sprintf(subject + n, "=%02X", *c);
	}
	subject[n] = '\0';
	return true;
}

static int hex(char c)
{
	const char *digits = "0123456789ABCDEF", *at = c ? strchr(digits, c) :
							   NULL;

	return at ? at - digits : -1;
}

/**
 * bus_key() - convert a subject back to a key
 * @config: configuration with the prefix
 * @subject: subject of a message
 * @key: result
 * @size: size of @key in bytes
 *
 * Return: false if bus_subject() does not make such a subject, or @key is too
 * small.
 */
bool bus_key(const struct bus_config *config, const char *subject, char *key,
	     size_t size)
{
	size_t skip = strlen(config->prefix), n = 0;
	int high, low;

	if (strncmp(subject, config->prefix, skip) || subject[skip] != '.')
		return false;
	for (subject += skip + 1; *subject; subject++) {
		if (n + 1 >= size)
			return false;
		if (*subject == '.' || is_plain(*subject)) {
			key[n++] = *subject == '.' ? '/' : *subject;
			continue;
		}
		high = *subject == '=' ? hex(subject[1]) : -1;
		low = high < 0 ? -1 : hex(subject[2]);
		if (low < 0 || is_plain(high << 4 | low) ||
		    (high << 4 | low) == '/' || !(high | low))
			return false;
		key[n++] = high << 4 | low;
		subject += 2;
	}
	key[n] = '\0';
	return true;
}
