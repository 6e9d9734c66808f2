/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_SAVE_H
#define _SRPOL_SAVE_H

#include <jansson.h>
#include <stdbool.h>

int store_save(const char *file, const json_t *o, bool *replaced);

#endif /* _SRPOL_SAVE_H */
