/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_NOTIFY_H
#define _SRPOL_NOTIFY_H

void notify(const char *text);

#endif /* _SRPOL_NOTIFY_H */
