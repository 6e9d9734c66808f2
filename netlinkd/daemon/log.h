/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_LOG_H
#define _SRPOL_LOG_H

#include <stdbool.h>

__attribute__((format(printf, 1, 2))) void log_error(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_notice(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_info(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_debug(const char *fmt, ...);
extern bool log_verbose;

#endif /* _SRPOL_LOG_H */
