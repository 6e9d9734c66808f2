/* SPDX-License-Identifier: GPL-2.0 */
/* Ids of the engine's paths: from "first-path" to the last that the data plane has. */
#ifndef _SRPOLD_PATH_IDS_H
#define _SRPOLD_PATH_IDS_H

#include "srpold.h"

int path_ids_lack(const struct engine *engine, uint32_t end, struct srpol_error *err);
int path_ids_check(const struct engine *engine, size_t kept, struct srpol_error *err);

#endif /* _SRPOLD_PATH_IDS_H */
