/* SPDX-License-Identifier: GPL-2.0 */
/* Ids of the engine's paths: from "first-path" to the last that the data plane has. */
#ifndef _SRPOLD_PATH_IDS_H
#define _SRPOLD_PATH_IDS_H

#include "srpold.h"

int path_ids_lack(const struct engine *engine, uint32_t end, struct srpol_error *err);
int path_ids_check(const struct engine *engine, const struct engine *now,
		   struct srpol_error *err);
void path_ids_warn(const struct engine *engine);

#endif /* _SRPOLD_PATH_IDS_H */
