/* SPDX-License-Identifier: GPL-2.0 */
/* Exactly one access to what somebody else may be changing or reading. */
#ifndef _SRPOL_ONCE_H
#define _SRPOL_ONCE_H

#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile typeof(x) *)&(x) = (v))

#endif /* _SRPOL_ONCE_H */
