// SPDX-License-Identifier: LGPL-2.1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vec.h"

/**
 * vec_add() - append a struct
 * @vec: the array
 *
 * Return: the struct, zeroed; the program ends if there is no memory.
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
 * vec_insert() - insert a struct in order
 * @vec: the array, in order
 * @item: the struct, which is copied
 * @compare: the order, as for qsort()
 *
 * Return: the new struct, behind those that are equal; the program ends if
 * there is no memory.
 */
void *vec_insert(struct vec *vec, const void *item,
		 int (*compare)(const void *, const void *))
{
	size_t from = 0, to = vec->n, middle;
	char *at;

	vec_add(vec);
	while (from < to) {
		middle = from + (to - from) / 2;
		if (compare((char *)vec->data + middle * vec->size, item) > 0)
			to = middle;
		else
			from = middle + 1;
	}
	at = (char *)vec->data + from * vec->size;
	memmove(at + vec->size, at, (vec->n - 1 - from) * vec->size);
	return memcpy(at, item, vec->size);
}

/**
 * vec_place() - find where structs begin that are not less than one
 * @vec: the array, in order
 * @item: the struct
 * @compare: the order, as for qsort()
 *
 * Return: index of the first of them, the number of all if there are none.
 */
size_t vec_place(const struct vec *vec, const void *item,
		 int (*compare)(const void *, const void *))
{
	size_t from = 0, to = vec->n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (compare((char *)vec->data + middle * vec->size, item) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
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
