// SPDX-License-Identifier: GPL-2.0
/* Reads words and values from the command line. */
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "srpol.h"

#define DSCP_MAX	63

/**
 * keyword() - take the next word if it is this keyword
 * @args: words
 * @word: keyword that may be given only once; a literal, as its address is kept
 *
 * If it was given before, an error is printed, and reading its value fails.
 *
 * Return: whether the next word was the keyword.
 */
bool keyword(struct args *args, const char *word)
{
	unsigned int i;

	if (!is(args, word))
		return false;
	for (i = 0; i < args->n_seen; i++) {
		if (strcmp(args->seen[i], word))
			continue;
		complain("\"%s\" is given twice", word);
		args->failed = true;
		return true;
	}
	if (args->n_seen < ARRAY_SIZE(args->seen))
		args->seen[args->n_seen++] = word;
	return true;
}

bool more(const struct args *args)
{
	return args->argc > 0;
}

/* Takes the next word; NULL if there is none. */
const char *next(struct args *args)
{
	if (!more(args))
		return NULL;
	args->argc--;
	return *args->argv++;
}

/* Takes the next word if it is this one. */
bool is(struct args *args, const char *word)
{
	if (!more(args) || strcmp(*args->argv, word))
		return false;
	next(args);
	return true;
}

bool read_word(struct args *args, const char *what, const char **word)
{
	if (args->failed)
		return false;
	*word = next(args);
	if (*word)
		return true;
	complain("%s: a value is missing", what);
	return false;
}

bool parse_u32(const char *text, uint32_t max, uint32_t *value)
{
	unsigned long long v;
	char *end;

	/* neither a sign nor blanks before it */
	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || !isdigit((unsigned char)*text) || *end || v > max)
		return false;
	*value = v;
	return true;
}

bool read_number(struct args *args, const char *what, uint32_t min, uint32_t max,
		 uint32_t *value)
{
	const char *word;

	if (!read_word(args, what, &word))
		return false;
	if (parse_u32(word, max, value) && *value >= min)
		return true;
	complain("%s: \"%s\" is not a number from %u to %u", what, word, min, max);
	return false;
}

bool read_u32(struct args *args, const char *what, uint32_t max,
	      uint32_t *value)
{
	return read_number(args, what, 0, max, value);
}

/* Reads a DSCP: its name or number. */
bool read_dscp(struct args *args, const char *what, uint32_t *dscp)
{
	const char *word;

	if (!read_word(args, what, &word))
		return false;
	if (srpol_value_of(srpol_dscps, word, dscp) ||
	    parse_u32(word, DSCP_MAX, dscp))
		return true;
	complain("%s: \"%s\" is not a DSCP: 0 to %u, cs0 to cs7, af11 to af43, ef, le",
		 what, word, DSCP_MAX);
	return false;
}

/* Reads a number that is not 0. */
bool read_id(struct args *args, const char *what, uint32_t *id)
{
	return read_number(args, what, 1, UINT32_MAX, id);
}

bool read_path_id(struct args *args, const char *what, uint32_t *id)
{
	return read_number(args, what, 1, SRPOL_MAX_PATHS - 1, id);
}

/* Reads a word of at most @max bytes. */
bool read_text(struct args *args, const char *what, size_t max, const char **word)
{
	if (!read_word(args, what, word))
		return false;
	if (strlen(*word) <= max)
		return true;
	complain("%s: \"%s\" is longer than %zu bytes", what, *word, max);
	return false;
}

/* Reads a name of an object of the module, which requires printable UTF-8. */
bool read_label(struct args *args, const char *what, const char **word)
{
	return read_text(args, what, SRPOL_NAME_MAX, word);
}

static void complain_time(const char *what, const char *word,
			  uint64_t unit_ns, const struct time_range *range)
{
	bool in_ms = unit_ns == MSEC;
	const char *unit = in_ms ? "ms" : "ns";

	complain("%s: \"%s\" is not a time from %u%s to %u%s (%gs) in whole %s, such as %s20ms or 1s",
		 what, word, range->min, unit, range->max, unit,
		 (double)range->max * unit_ns / SEC, unit, in_ms ? "" : "500us, ");
}

/* Reads a time. Without a unit, the number has the unit of the result. */
bool read_time(struct args *args, const char *what, uint64_t unit_ns,
	       struct time_range range, uint32_t *value)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", NSEC }, { "us", USEC }, { "ms", MSEC }, { "s", SEC },
	};
	uint64_t ns = unit_ns;
	const char *word;
	uint64_t whole;
	double v;
	char *end;
	size_t i;

	if (!read_word(args, what, &word))
		return false;
	v = strtod(word, &end);
	for (i = 0; *end && i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].name))
			break;
	if (*end && i < ARRAY_SIZE(units))
		ns = units[i].ns;
	v = v * ns / unit_ns;
	whole = v >= 0 && v <= range.max ? v + 0.5 : UINT64_MAX;
	/* what is too fine is not cut off; but 0.29 and the like are not exact */
	if (end != word && i < ARRAY_SIZE(units) && whole >= range.min &&
	    whole <= range.max && v - whole < 1e-6 && whole - v < 1e-6) {
		*value = whole;
		return true;
	}
	complain_time(what, word, unit_ns, &range);
	return false;
}

/* Reads N or N-M. */
bool read_range(struct args *args, const char *what, uint32_t max,
		uint32_t *lo, uint32_t *hi)
{
	char buf[32], *dash;
	const char *word;
	size_t len;

	if (!read_word(args, what, &word))
		return false;
	len = snprintf(buf, sizeof(buf), "%s", word);
	dash = strchr(buf, '-');
	if (dash)
		*dash++ = '\0';
	if (len < sizeof(buf) && parse_u32(buf, max, lo) &&
	    parse_u32(dash ? dash : buf, max, hi) && *lo <= *hi)
		return true;
	complain("%s: \"%s\" is not a number from 0 to %u, nor a range N-M of them",
		 what, word, max);
	return false;
}

bool read_name(struct args *args, const char *what,
	       const struct srpol_name *table, uint32_t *value)
{
	const char *word;
	char names[512];
	size_t len = 0;

	if (!read_word(args, what, &word))
		return false;
	if (srpol_value_of(table, word, value))
		return true;
	for (; table->name && len < sizeof(names); table++)
		len += snprintf(names + len, sizeof(names) - len, " %s",
				table->name);
	complain("%s: \"%s\" is not one of%s", what, word, names);
	return false;
}

bool read_addr(struct args *args, const char *what, struct in6_addr *addr)
{
	const char *word;

	if (!read_word(args, what, &word))
		return false;
	if (srpol_addr_parse(word, addr))
		return true;
	complain("%s: \"%s\" is not an address", what, word);
	return false;
}

bool read_addr6(struct args *args, const char *what, struct in6_addr *addr)
{
	const char *word;

	if (!read_word(args, what, &word))
		return false;
	if (srpol_addr6_parse(word, addr))
		return true;
	complain("%s: \"%s\" is not an IPv6 address", what, word);
	return false;
}

bool read_prefix(struct args *args, const char *what, struct in6_addr *prefix,
		 uint32_t *len)
{
	const char *word;

	if (!read_word(args, what, &word))
		return false;
	if (srpol_prefix_parse(word, prefix, len))
		return true;
	complain("%s: \"%s\" is not a prefix such as fd00:b::/64 or 10.1.0.0/16",
		 what, word);
	return false;
}

bool read_dev(struct args *args, unsigned int *ifindex)
{
	const char *word;

	if (!read_word(args, "dev", &word))
		return false;
	*ifindex = if_nametoindex(word);
	if (*ifindex)
		return true;
	complain("no device \"%s\" in this network namespace", word);
	return false;
}

/* Prints an error for a word that is not a known keyword; always false. */
bool unknown(struct args *args)
{
	complain("\"%s\" is unexpected here", *args->argv);
	return false;
}
