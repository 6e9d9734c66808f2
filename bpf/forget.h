/* SPDX-License-Identifier: GPL-2.0 */
/* What the verifier does not know, it does not check again for each value. */
#ifndef _SRPOL_FORGET_H
#define _SRPOL_FORGET_H

#include "base.h"

/*
 * Make the verifier forget what it knows of a value that is not 0. It remembers
 * what is stored at the start of a stack slot, but not in the middle, unless that
 * is 0.
 */
static __always_inline __u32 srpol_forget(__u32 value)
{
	__u64 slot, word = value;

	asm volatile("*(u32 *)(%[slot] + 4) = %[word];"
		     "%[word] = *(u32 *)(%[slot] + 4);"
		     : [word] "+r" (word)
		     : [slot] "r" (&slot)
		     : "memory");
	return word;
}

#endif /* _SRPOL_FORGET_H */
