/* SPDX-License-Identifier: GPL-2.0 */
/* Error numbers, which vmlinux.h has no names for. */
#ifndef _SRPOL_KERRNO_H
#define _SRPOL_KERRNO_H

#define ENOENT			2
#define E2BIG			7
#define EFAULT			14
#define EINVAL			22
#define ENOSPC			28
#define EALREADY		114
#define ENOTSUPP		524

#endif /* _SRPOL_KERRNO_H */
