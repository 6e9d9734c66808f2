// SPDX-License-Identifier: GPL-2.0
/*
 * Names of objects are printable UTF-8. Any other name could not be written
 * into a configuration file, might act as a command of a terminal, and makes
 * netlink clients fail that decode strings.
 */
#include "pure.h"

/* Bytes of the UTF-8 character at @s, 0 if it is not well-formed. */
static u32 utf8_len(const u8 *s, u32 left)
{
	u32 len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4, i;

	if (len > left || (len > 1 && s[0] < 0xc2) || s[0] > 0xf4)
		return 0;
	for (i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

/**
 * srpol_name_valid() - is a name printable UTF-8
 * @name: the name
 * @len: its length in bytes
 *
 * Control characters are not: U+0000 to U+001F, U+007F to U+009F, nor the line
 * and paragraph separators U+2028 and U+2029.
 */
bool srpol_name_valid(const char *name, u32 len)
{
	const u8 *s = (const u8 *)name;
	u32 n;

	for (; len; s += n, len -= n) {
		n = utf8_len(s, len);
		if (!n || s[0] < 0x20 || s[0] == 0x7f)
			return false;
		if (n == 2 && s[0] == 0xc2 && s[1] < 0xa0)
			return false;
		if (n == 3 && s[0] == 0xe2 && s[1] == 0x80 &&
		    (s[2] == 0xa8 || s[2] == 0xa9))
			return false;
	}
	return true;
}
