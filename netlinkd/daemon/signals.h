/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_SIGNALS_H
#define _SRPOL_SIGNALS_H

int signals_watch(void (*hup)(void));

#endif /* _SRPOL_SIGNALS_H */
