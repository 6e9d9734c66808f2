// SPDX-License-Identifier: LGPL-2.1
#include <errno.h>
#include <string.h>

#include "jsonl.h"

/**
 * srpol_jsonl_put() - write a line
 * @out: stream to write to
 * @line: object; this function takes over the reference. NULL is an error
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
 * srpol_jsonl_read() - handle all lines of a text
 * @text: text
 * @len: length of @text in bytes
 * @take: called for each line
 * @data: argument for @take
 * @n: result: number of lines that @take accepted, also after an error
 *
 * Return: 0, -EINVAL if a line is not JSON or has no newline, or an error of
 * @take.
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
 * srpol_word_take() - copy a string into an array
 * @to: result
 * @size: size of @to in bytes
 * @from: string
 *
 * Return: whether @from fits with its NUL; if not, @to is unchanged.
 */
bool srpol_word_take(char *to, size_t size, const char *from)
{
	if (strlen(from) >= size)
		return false;
	strcpy(to, from);
	return true;
}
