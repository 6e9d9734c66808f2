/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One print call for text and JSON: a value has a key for JSON and a format for
 * text. If one of these is NULL, the value is left out in that form; values of
 * a JSON array have no key. An empty string is left out in JSON.
 *
 * The text of an object is one line, followed by indented lines. -oneline joins
 * these with backslashes, -brief prints only the first.
 */
#ifndef _SRPOL_OUT_H
#define _SRPOL_OUT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct out_options - output options of the command line
 * @json: print JSON instead of text
 * @pretty: indent JSON
 * @oneline: print each object on one line
 * @brief: print only the first line of an object
 * @color: print states in color
 * @human: print counters with the suffixes k, M, G, T, P and E
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
