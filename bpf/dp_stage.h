/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the methods of struct srpol_dp_ops write the maps, dp_*.h: what all of
 * them need.
 *
 * Arguments are kernel memory of any kind: an object of the module when called
 * through struct_ops, the context of a syscall program in tests. So they are
 * read with bpf_probe_read_kernel() throughout.
 *
 * What packets may be reading is never written: the other copy is, and its
 * version word is then set by an atomic exchange, which is a full barrier.
 * Everything is checked before anything is changed. See srpol_maps.h, DOC:
 * generations.
 */
#ifndef _SRPOL_DP_STAGE_H
#define _SRPOL_DP_STAGE_H

#include "base.h"
#include "state.h"

/* A dense id within a table of @max entries. */
static __always_inline int srpol_id_check(__u32 id, __u32 max)
{
	if (!id)
		return -EINVAL;
	return id < max ? 0 : -ENOSPC;
}

/* Hash and LPM maps have different words for "full". */
static __always_inline int srpol_map_error(long err)
{
	return err == -E2BIG ? -ENOSPC : err;
}

/* Present generation; methods are called one at a time. */
static __always_inline __u32 srpol_gen(void)
{
	struct srpol_state *st = srpol_state_get();

	return st ? st->gen : 0;
}

/* Version word that makes @copy count from the next generation on. */
static __always_inline __u32 srpol_ver_next(__u32 gen, __u32 copy)
{
	return (gen + 1) << 1 | copy;
}

/* Was something staged since the last commit? */
static __always_inline bool srpol_staged(__u32 ver, __u32 gen)
{
	return (ver | 1) == srpol_ver_next(gen, 1);
}

/* The copy to stage into: not in use, so that it is the one staged already. */
static __always_inline __u32 srpol_spare(__u32 ver, __u32 gen)
{
	return !srpol_copy(ver, gen);
}

static __always_inline void srpol_stage(__u32 *ver, __u32 gen, __u32 copy)
{
	__sync_lock_test_and_set(ver, srpol_ver_next(gen, copy));
}

/* Take back what was staged. False if nothing was. */
static __always_inline bool srpol_unstage(__u32 *ver, __u32 gen)
{
	if (!srpol_staged(*ver, gen))
		return false;
	__sync_lock_test_and_set(ver, gen << 1 | !(*ver & 1));
	return true;
}

#endif /* _SRPOL_DP_STAGE_H */
