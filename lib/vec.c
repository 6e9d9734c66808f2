// SPDX-License-Identifier: LGPL-2.1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vec.h"

/**
 * vec_add() - room for one more
 * @vec: the array
 *
 * Return: a zeroed struct; the program ends if memory does.
 */
void *vec_add(struct vec *vec)
{
	void *item;

	if (!(vec->n & (vec->n - 1)))
		vec->data = realloc(vec->data,
				    (vec->n ? vec->n * 2 : 1) * vec->size);
	if (!vec->data) {
		fputs("Error: out of memory\n", stderr);
		exit(2);
	}
	item = (char *)vec->data + vec->n++ * vec->size;
	memset(item, 0, vec->size);
	return item;
}

/**
 * vec_free() - free and empty an array
 * @vec: the array
 */
void vec_free(struct vec *vec)
{
	free(vec->data);
	vec->data = NULL;
	vec->n = 0;
}
