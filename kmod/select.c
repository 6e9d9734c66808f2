// SPDX-License-Identifier: GPL-2.0
/*
 * Selection of the active candidate path, RFC 9256 2.9.
 */
#include "pure.h"

/**
 * srpol_cand_cmp() - compare two candidate paths
 * @a: one
 * @b: the other
 *
 * The optional rule to prefer the installed path is not used, so that the
 * outcome depends only on what is configured and valid, not on history.
 *
 * Return: > 0 if @a is better, < 0 if @b is, 0 if they are the same path or
 * both invalid.
 */
int srpol_cand_cmp(const struct srpol_cand_id *a,
		   const struct srpol_cand_id *b)
{
	int cmp;

	if (a->valid != b->valid)
		return a->valid ? 1 : -1;
	if (!a->valid)
		return 0;
	if (a->preference != b->preference)
		return a->preference > b->preference ? 1 : -1;
	if (a->protocol_origin != b->protocol_origin)
		return a->protocol_origin > b->protocol_origin ? 1 : -1;
	if (a->asn != b->asn)
		return a->asn < b->asn ? 1 : -1;
	cmp = memcmp(&a->node, &b->node, sizeof(a->node));
	if (cmp)
		return cmp < 0 ? 1 : -1;
	if (a->discriminator != b->discriminator)
		return a->discriminator > b->discriminator ? 1 : -1;
	return 0;
}
