/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Where the data plane of a network namespace is pinned; shared by the files
 * of the library that load, attach and read it.
 */
#ifndef _SRPOL_PINS_H
#define _SRPOL_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include "srpol_lib.h"

int srpol_pins_mount(struct srpol_error *err);
int srpol_pins_dir(char *dir, struct srpol_error *err);
void srpol_pins_path(char *path, const char *dir, const char *name);
int srpol_pins_open(const char *dir, const char *name);
int srpol_pins_missing(const char *dir, const char *name, int ret,
		       struct srpol_error *err);
int srpol_pins_exist(const char *dir, const char *name);
int srpol_pins_remove(const char *dir, const char *name);
int srpol_pins_make_dir(const char *dir, struct srpol_error *err);
void srpol_pins_remove_dir(const char *dir);
int srpol_pins_check(const char *dir);
uint64_t srpol_pins_cookie(void);
void srpol_pins_each(void (*cb)(const char *name, const char *dir, void *data),
		     void *data);
void srpol_pins_sweep(void);

/* layout.c */
int srpol_layout_check(int fd, const char *name);

#endif /* _SRPOL_PINS_H */
