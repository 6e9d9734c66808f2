/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One call prints a value as text and as JSON. In JSON mode only keys and
 * values count; in text mode only formats do, and a NULL format prints
 * nothing. A command's output is always one JSON array.
 */
#ifndef _SRPOL_OUT_H
#define _SRPOL_OUT_H

#include <stdbool.h>
#include <stdint.h>

extern bool out_json;
extern bool out_pretty;

void out_begin(void);
void out_end(void);
void out_object(const char *key);
void out_object_end(void);
void out_array(const char *key);
void out_array_end(void);
void out_string(const char *key, const char *fmt, const char *value);
void out_uint(const char *key, const char *fmt, uint64_t value);
void out_bool(const char *key, const char *text, bool value);
__attribute__((format(printf, 1, 2)))
void out_text(const char *fmt, ...);

#endif /* _SRPOL_OUT_H */
