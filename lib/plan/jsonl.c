// SPDX-License-Identifier: LGPL-2.1
#include <errno.h>
#include <string.h>

#include "jsonl.h"

/**
 * srpol_jsonl_put() - write a line
 * @out: to be written to
 * @line: object, whose reference it takes; NULL fails
 *
 * Return: 0 or -ENOMEM.
 */
int srpol_jsonl_put(FILE *out, json_t *line)
{
	int ret = line ? json_dumpf(line, out, JSON_COMPACT | JSON_SORT_KEYS) :
		  -1;

	json_decref(line);
	putc('\n', out);
	return ret ? -ENOMEM : 0;
}

/**
 * srpol_jsonl_read() - take all lines of a text
 * @text: text
 * @len: bytes of it
 * @take: takes one
 * @data: for @take
 * @n: number of lines that were taken, also after an error
 *
 * Return: 0, -EINVAL if a line is no JSON or has no end, or what @take said.
 */
int srpol_jsonl_read(const char *text, size_t len, srpol_jsonl_fn take,
		     void *data, uint32_t *n)
{
	const char *at = text, *end = text + len, *line_end;
	int ret = 0;
	json_t *o;

	for (*n = 0; at < end; at = line_end + 1, ++*n) {
		line_end = memchr(at, '\n', end - at);
		o = line_end ? json_loadb(at, line_end - at,
					  JSON_REJECT_DUPLICATES, NULL) : NULL;
		ret = o ? take(o, *n, data) : -EINVAL;
		json_decref(o);
		if (ret)
			break;
	}
	return ret;
}

/**
 * srpol_word_take() - copy a word
 * @to: result
 * @size: bytes of it
 * @from: word
 *
 * Return: whether there was room.
 */
bool srpol_word_take(char *to, size_t size, const char *from)
{
	if (strlen(from) >= size)
		return false;
	strcpy(to, from);
	return true;
}
