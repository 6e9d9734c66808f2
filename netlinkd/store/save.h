/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_SAVE_H
#define _SRPOL_SAVE_H

#include <jansson.h>

int store_save(const char *file, const json_t *o);

#endif /* _SRPOL_SAVE_H */
