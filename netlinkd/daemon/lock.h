/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_LOCK_H
#define _SRPOL_LOCK_H

struct srpol_error;

int lock_file(const char *path, int *fd, struct srpol_error *err);

#endif /* _SRPOL_LOCK_H */
