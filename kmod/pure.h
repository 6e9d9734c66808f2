/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for select.c, pin.c, bucket.c, csid.c, encap.c and name.c: types
 * only, no sk_buff, no locks. selftests/unit compiles these files for user
 * space with a shim of its own.
 */
#ifndef _SRPOL_PURE_H
#define _SRPOL_PURE_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/string.h>
#include <linux/in6.h>
#include <linux/if_ether.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/unaligned.h>
#else
#include "kernel_shim.h"
#endif

#include <srpol/dp.h>
#include <uapi/linux/srpol.h>

/* csid.c */

bool srpol_csid_valid(const struct in6_addr *sid, u32 block_len, u32 csid_len);
bool srpol_csid_in_block(const struct in6_addr *sid,
			 const struct in6_addr *block, u32 block_len);
bool srpol_csid_shift(struct in6_addr *sid, u32 block_len, u32 csid_len);
bool srpol_csid_shifted(const struct in6_addr *sid,
			const struct in6_addr *dst, u32 block_len,
			u32 csid_len);

/* encap.c */

/**
 * struct srpol_tlv - an opaque TLV of the SRH
 * @type: RFC 8754 2.1
 * @len: bytes of @value
 * @value: the bytes
 */
struct srpol_tlv {
	u8 type;
	u8 len;
	u8 value[SRPOL_TLV_MAX];
};

/**
 * struct srpol_header - what an outer header is to carry
 * @n_sids: 1..SRPOL_SIDS_MAX
 * @encap: enum srpol_encap: form of the header
 * @n_tlvs: number of TLVs
 * @timestamp: add the TLV that packets fill in
 * @sids: segment list in order of travel
 * @tlvs: in the order in which they are written
 */
struct srpol_header {
	u32 n_sids;
	u32 encap;
	u32 n_tlvs;
	u32 timestamp;
	struct in6_addr sids[SRPOL_SIDS_MAX];
	struct srpol_tlv tlvs[SRPOL_TLVS_MAX];
};

/**
 * struct srpol_outer - the fields of an outer header that resolution finds
 * @src: outer source
 * @smac: source Ethernet address
 * @dmac: destination Ethernet address
 * @hop_limit: outer hop limit
 * @tag: non-zero: the tag of the SRH is the id of the path
 * @pad: 0, so that memcmp() can compare
 */
struct srpol_outer {
	struct in6_addr src;
	u8 smac[ETH_ALEN];
	u8 dmac[ETH_ALEN];
	u8 hop_limit;
	u8 tag;
	u8 pad[2];
};

u32 srpol_encap_sids(const struct srpol_header *hdr);
u32 srpol_encap_len(const struct srpol_header *hdr);
void srpol_encap_build(struct srpol_dp_path *out,
		       const struct srpol_header *hdr,
		       const struct srpol_outer *outer);

/* select.c */

/**
 * struct srpol_cand_id - what RFC 9256 2.9 compares of candidate paths
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

/* pin.c */

#define SRPOL_NO_LIST	0xff	/* also in a bucket table: not assigned */

/**
 * struct srpol_pin - a segment list for mode active-backup
 * @usable: it is up and has a weight
 * @wait: time until it may be returned to, in any unit, 0: at once
 */
struct srpol_pin {
	bool usable;
	u32 wait;
};

u8 srpol_pin_select(const struct srpol_pin *pin, u32 n, u8 current_list,
		    u32 *wait);
u32 srpol_pin_order(u8 *order, const bool *known, u32 n, u8 first);

/* name.c */

bool srpol_name_valid(const char *name, u32 len);

/* bucket.c */

void srpol_bucket_primary(u8 *primary, u32 n, const u32 *weight, u32 n_lists);
void srpol_bucket_live(u8 *live, const u8 *primary, u32 n, const u32 *weight,
		       const bool *up, u32 n_lists);

#endif /* _SRPOL_PURE_H */
