/* SPDX-License-Identifier: LGPL-2.1 */
/* Functions for reading a topology file, see topology.c. */
#ifndef _SRPOL_FABRIC_READER_H
#define _SRPOL_FABRIC_READER_H

#include <jansson.h>

#include "fabric.h"
#include "json_line.h"

/**
 * struct reader - state while a topology file is read
 * @f: fabric that is being built
 * @text: content of the file
 * @len: length of @text in bytes
 * @at: present position: names of members and numbers of elements
 * @depth: number of entries in @at
 * @err: reason of a failure
 */
struct reader {
	struct srpol_fabric *f;
	const char *text;
	size_t len;
	struct srpol_json_step at[8];
	unsigned int depth;
	struct srpol_error *err;
};

void reader_push(struct reader *r, const char *key);
void reader_push_index(struct reader *r, size_t index);
void reader_pop(struct reader *r);
__attribute__((format(printf, 3, 4)))
int reader_bad(struct reader *r, int code, const char *fmt, ...);
int reader_bad_as(struct reader *r, int code, const struct srpol_error *why);
int reader_check_keys(struct reader *r, json_t *object,
		      const char *const *known);
int reader_string(struct reader *r, json_t *object, const char *key, bool must,
		  const char **text);
int reader_uint(struct reader *r, json_t *object, const char *key, uint32_t max,
		uint32_t *n);
int reader_addr(struct reader *r, json_t *object, const char *key,
		struct in6_addr *addr);
int reader_rate(struct reader *r, json_t *object, uint64_t *rate);
int reader_node(struct reader *r, json_t *object, const char *key,
		uint32_t *node);
int reader_csid(struct reader *r, json_t *object, uint64_t *result);

/* topology_function.c */
int reader_functions(struct reader *r, json_t *object, uint32_t node);

#endif /* _SRPOL_FABRIC_READER_H */
