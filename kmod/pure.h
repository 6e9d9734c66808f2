/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What select.c, bucket.c and encap.c need: types only, no sk_buff, no locks.
 * selftests/unit compiles these files in user space with its own shim.
 */
#ifndef _SRPOL_PURE_H
#define _SRPOL_PURE_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/string.h>
#include <linux/in6.h>
#include <linux/if_ether.h>
#include <linux/minmax.h>
#include <linux/unaligned.h>
#else
#include "kernel_shim.h"
#endif

#include <srpol/dp.h>
#include <uapi/linux/srpol.h>

/* encap.c */

u32 srpol_encap_len(u32 n_sids, enum srpol_encap encap);
void srpol_encap_build(struct srpol_dp_path *out, const struct in6_addr *sids,
		       u32 n_sids, enum srpol_encap encap,
		       const struct in6_addr *src, u8 hop_limit,
		       const u8 *dmac, const u8 *smac);

/* select.c */

/**
 * struct srpol_cand_id - what RFC 9256 2.9 compares
 * @preference: higher wins
 * @protocol_origin: higher wins
 * @asn: originator, with @node; lower wins
 * @node: see @asn
 * @discriminator: higher wins
 * @valid: only valid candidate paths take part
 */
struct srpol_cand_id {
	u32 preference;
	u32 protocol_origin;
	u32 asn;
	struct in6_addr node;
	u32 discriminator;
	bool valid;
};

int srpol_cand_cmp(const struct srpol_cand_id *a,
		   const struct srpol_cand_id *b);

/* bucket.c */

#define SRPOL_NO_LIST	0xff	/* in a bucket table: not assigned */

void srpol_bucket_home(u8 *home, u32 n, const u32 *weight, u32 n_lists);
void srpol_bucket_live(u8 *live, const u8 *home, u32 n, const u32 *weight,
		       const bool *up, u32 n_lists);

#endif /* _SRPOL_PURE_H */
