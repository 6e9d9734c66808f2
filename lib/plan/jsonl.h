/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * JSON lines: text with one object per line. An object has exactly one form:
 * its members are sorted, and there is no white space.
 */
#ifndef _SRPOL_PLAN_JSONL_H
#define _SRPOL_PLAN_JSONL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * typedef srpol_jsonl_fn - handle one line
 * @o: object of the line
 * @nth: number of the line, from 0
 * @data: the caller's argument of srpol_jsonl_read()
 *
 * Return: 0, or a negative errno, which ends the reading.
 */
typedef int (*srpol_jsonl_fn)(json_t *o, uint32_t nth, void *data);

int srpol_jsonl_put(FILE *out, json_t *line);
int srpol_jsonl_read(const char *text, size_t len, srpol_jsonl_fn take,
		     void *data, uint32_t *n);
bool srpol_word_take(char *to, size_t size, const char *from);

#endif
