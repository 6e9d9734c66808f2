/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One print call for text and JSON: a value has a key for JSON and a format
 * for text; either may be NULL to leave it out there. A string that is empty
 * is absent from JSON.
 *
 * Text of an object is one line and indented lines after it. -oneline joins
 * them by backslashes, -brief keeps the first.
 */
#ifndef _SRPOL_OUT_H
#define _SRPOL_OUT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct out_options - how to print, from the command line
 * @json: JSON instead of text
 * @pretty: JSON with white space
 * @oneline: an object takes one line
 * @brief: only the first line of an object
 * @color: states in color
 * @human: counters with k, M, G
 */
struct out_options {
	bool json;
	bool pretty;
	bool oneline;
	bool brief;
	bool color;
	bool human;
};

extern struct out_options out_options;

void out_begin(void);
void out_begin_object(void);
void out_end(void);
void out_object(const char *key);
void out_object_end(void);
void out_array(const char *key);
void out_array_end(void);
void out_string(const char *key, const char *fmt, const char *value);
void out_uint(const char *key, const char *fmt, uint64_t value);
void out_count(const char *key, const char *fmt, uint64_t value);
void out_bool(const char *key, const char *text, bool value);
__attribute__((format(printf, 1, 2)))
void out_text(const char *fmt, ...);

#endif /* _SRPOL_OUT_H */
