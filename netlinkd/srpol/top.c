// SPDX-License-Identifier: GPL-2.0
/* What views that are shown again and again have in common. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "out.h"
#include "srpol.h"
#include "top.h"

/**
 * read_sort() - read by what lines are sorted
 * @args: from the word after "sort" on
 * @keys: orders there are
 * @cmp: set to the order
 *
 * Return: false after an error message.
 */
bool read_sort(struct args *args, const struct sort_key *keys, sort_cmp *cmp)
{
	const struct sort_key *key;
	const char *word;
	char names[128];
	size_t len = 0;

	if (!read_word(args, "sort", &word))
		return false;
	for (key = keys; key->name; key++) {
		if (!strcmp(word, key->name)) {
			*cmp = key->cmp;
			return true;
		}
		if (len < sizeof(names))
			len += snprintf(names + len, sizeof(names) - len, " %s",
					key->name);
	}
	complain("sort: \"%s\" is not one of%s", word, names);
	return false;
}

/**
 * top_wait() - wait for the next sample
 * @ms: interval in ms
 */
void top_wait(uint32_t ms)
{
	struct timespec ts = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * MSEC,
	};

	nanosleep(&ts, NULL);
}

/**
 * top_clear() - clear the screen for another table, if there is a screen
 */
void top_clear(void)
{
	if (!out_options.json && isatty(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout);
}

/**
 * rate_text() - a rate as text of at most 13 characters
 * @buf: where to write it
 * @len: bytes there
 * @rate: bit/s
 *
 * Return: @buf.
 */
const char *rate_text(char *buf, size_t len, uint64_t rate)
{
	static const char units[] = " KMGT";
	double v = rate;
	size_t i;

	for (i = 0; v >= 1000 && i < sizeof(units) - 2; i++)
		v /= 1000;
	snprintf(buf, len, "%.1f%cbit/s", v, units[i]);
	return buf;
}

/**
 * widest() - width of a table's column
 * @width: of the cells so far
 * @text: another cell
 */
int widest(int width, const char *text)
{
	int len = strlen(text);

	return len > width ? len : width;
}
