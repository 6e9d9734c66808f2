/* SPDX-License-Identifier: LGPL-2.1 */
/* An array that grows. */
#ifndef _SRPOL_VEC_H
#define _SRPOL_VEC_H

#include <stddef.h>

/**
 * struct vec - a growing array of structs
 * @data: the structs
 * @n: number of them
 * @size: size of one
 */
struct vec {
	void *data;
	size_t n;
	size_t size;
};

#define VEC_INIT(type)	{ .size = sizeof(type) }
#define vec_for_each(item, vec)						\
	for ((item) = (vec)->data;					\
	     (item) && (size_t)((item) - (typeof(item))(vec)->data) <	\
	     (vec)->n; (item)++)

void *vec_add(struct vec *vec);
void *vec_insert(struct vec *vec, const void *item,
		 int (*compare)(const void *, const void *));
size_t vec_place(const struct vec *vec, const void *item,
		 int (*compare)(const void *, const void *));
void vec_free(struct vec *vec);

#endif /* _SRPOL_VEC_H */
