/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_FOLDER_H
#define _SRPOL_FOLDER_H

void folder_of(const char *path);

#endif /* _SRPOL_FOLDER_H */
