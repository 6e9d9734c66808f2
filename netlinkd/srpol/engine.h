/* SPDX-License-Identifier: GPL-2.0 */
/* srpol engine: what srpold answers, as text. */
#ifndef _SRPOL_ENGINE_H
#define _SRPOL_ENGINE_H

#include <jansson.h>

void print_engine_show(const json_t *reply);
void print_engine_paths(const json_t *reply);
void print_engine_topology(const json_t *reply);

#endif /* _SRPOL_ENGINE_H */
