/* SPDX-License-Identifier: GPL-2.0 */
/* What views that are shown again and again have in common. */
#ifndef _SRPOL_CMD_TOP_H
#define _SRPOL_CMD_TOP_H

#include <stddef.h>
#include <stdint.h>

#define TOP_LINES	20	/* unless a limit is given */
#define TOP_MS		1000	/* unless an interval is given */

void top_wait(uint32_t ms);
void top_clear(void);
const char *rate_text(char *buf, size_t len, uint64_t rate);
int widest(int width, const char *text);

#endif /* _SRPOL_CMD_TOP_H */
