/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_FABRICD_CAUSES_H
#define _SRPOL_FABRICD_CAUSES_H

#include <jansson.h>

#include "fabricd.h"

void causes_begin(const struct srpol_links *links);
void causes_end(uint32_t pairs, uint32_t flows);
json_t *causes_json(void);
void causes_forget(void);
void causes_free(void);

#endif /* _SRPOL_FABRICD_CAUSES_H */
