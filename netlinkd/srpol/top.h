/* SPDX-License-Identifier: GPL-2.0 */
/* What views that are shown again and again have in common. */
#ifndef _SRPOL_CMD_TOP_H
#define _SRPOL_CMD_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct args;

#define TOP_LINES	20	/* unless a limit is given */
#define TOP_MS		1000	/* unless an interval is given */

typedef int (*sort_cmp)(const void *a, const void *b);

/**
 * struct sort_key - an order of lines, by its name; the last of a table has none
 * @name: word after "sort"
 * @cmp: as for qsort()
 */
struct sort_key {
	const char *name;
	sort_cmp cmp;
};

bool read_sort(struct args *args, const struct sort_key *keys, sort_cmp *cmp);
void top_wait(uint32_t ms);
void top_clear(void);
const char *rate_text(char *buf, size_t len, uint64_t rate);
int widest(int width, const char *text);

#endif /* _SRPOL_CMD_TOP_H */
