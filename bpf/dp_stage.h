/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Staging: what all methods of struct srpol_dp_ops in dp_*.h need to write the
 * maps.
 *
 * Arguments are kernel memory of any kind: an object of the module when a
 * method is called through struct_ops, the context of a syscall program in
 * tests. So they are always read with bpf_probe_read_kernel().
 *
 * A copy that packets may be reading is never written. The other copy is
 * written, and then the version word is set by an atomic exchange, which is a
 * full barrier. Everything is checked before anything is changed. See
 * srpol_maps.h, DOC: generations.
 */
#ifndef _SRPOL_DP_STAGE_H
#define _SRPOL_DP_STAGE_H

#include "base.h"
#include "state.h"

/*
 * Check the id of an entry of a table with @max entries; ids are dense and
 * start at 1.
 */
static __always_inline int srpol_id_check(__u32 id, __u32 max)
{
	if (!id)
		return -EINVAL;
	return id < max ? 0 : -ENOSPC;
}

/* Hash maps say E2BIG when they are full, LPM maps ENOSPC: make it ENOSPC. */
static __always_inline int srpol_map_error(long err)
{
	return err == -E2BIG ? -ENOSPC : err;
}

/*
 * The present generation. Methods are called one at a time, so that it does not
 * change.
 */
static __always_inline __u32 srpol_gen(void)
{
	struct srpol_state *st = srpol_state_get();

	return st ? st->gen : 0;
}

/* Version word that makes @copy valid from the next generation on. */
static __always_inline __u32 srpol_ver_next(__u32 gen, __u32 copy)
{
	return (gen + 1) << 1 | copy;
}

/* Was something staged since the last commit? */
static __always_inline bool srpol_staged(__u32 ver, __u32 gen)
{
	return (ver | 1) == srpol_ver_next(gen, 1);
}

/*
 * The copy to stage into: the one not in use, also if something is staged in it
 * already.
 */
static __always_inline __u32 srpol_spare(__u32 ver, __u32 gen)
{
	return !srpol_copy(ver, gen);
}

static __always_inline void srpol_stage(__u32 *ver, __u32 gen, __u32 copy)
{
	__sync_lock_test_and_set(ver, srpol_ver_next(gen, copy));
}

/* Undo staging. Return: false if nothing was staged since the last commit. */
static __always_inline bool srpol_unstage(__u32 *ver, __u32 gen)
{
	if (!srpol_staged(*ver, gen))
		return false;
	__sync_lock_test_and_set(ver, gen << 1 | !(*ver & 1));
	return true;
}

#endif /* _SRPOL_DP_STAGE_H */
