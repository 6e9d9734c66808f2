// SPDX-License-Identifier: GPL-2.0
/*
 * Find the path that wrote an outer header which an error quotes: a hash table
 * of paths, by segment list or, if there is no SRH, by destination.
 */
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "path.h"
#include "quote.h"

#define SRPOL_QUOTE_BUCKETS	1024
/* entries of a bucket that are compared */
#define SRPOL_QUOTE_CHAIN	256

/**
 * srpol_quote_read() - read the outer header that an error quotes
 * @skb: the error
 * @off: offset of the quoted packet
 * @q: set to the outer header
 *
 * Return: false if the quoted packet is not encapsulated.
 */
bool srpol_quote_read(const struct sk_buff *skb, int off,
		      struct srpol_quote *q)
{
	q->n_segs = 0;
	q->inner = off + sizeof(q->ip6);
	if (skb_copy_bits(skb, off, &q->ip6, sizeof(q->ip6)))
		return false;
	if (q->ip6.version != 6)
		return false;
	if (q->ip6.nexthdr != NEXTHDR_ROUTING)
		return q->ip6.nexthdr == NEXTHDR_IPV6 ||
		       q->ip6.nexthdr == IPPROTO_IPIP;
	off += sizeof(q->ip6);
	if (skb_copy_bits(skb, off, &q->srh, sizeof(q->srh)))
		return false;
	q->n_segs = q->srh.first_segment + 1;
	/* what is sent to the SIDs themselves says nothing about packets */
	if (q->srh.nexthdr != NEXTHDR_IPV6 && q->srh.nexthdr != IPPROTO_IPIP)
		return false;
	if (q->srh.type != IPV6_SRCRT_TYPE_4 || q->n_segs > SRPOL_SIDS_MAX ||
	    q->srh.hdrlen < q->n_segs * 2)
		return false;
	q->inner += 8 * (q->srh.hdrlen + 1);
	off += sizeof(q->srh);
	return !skb_copy_bits(skb, off, q->segs,
			      q->n_segs * sizeof(q->segs[0]));
}

/* Hash of a segment list or, if there is none, of a destination. */
static u64 srpol_quote_hash(const struct srpol_net *sn,
			    const struct in6_addr *segs, u32 n_segs,
			    const struct in6_addr *daddr)
{
	return n_segs ? siphash(segs, n_segs * sizeof(*segs), &sn->quote_key) :
			siphash(daddr, sizeof(*daddr), &sn->quote_key);
}

static struct hlist_head *srpol_quote_bucket(const struct srpol_net *sn,
					     u64 key)
{
	return &sn->quotes[key % SRPOL_QUOTE_BUCKETS];
}

/* Is this SID a container of the path's compressed SIDs? */
static bool srpol_quote_container(const struct srpol_path_cfg *cfg,
				  const struct in6_addr *sid)
{
	return cfg->block_len &&
	       srpol_csid_in_block(sid, &cfg->block, cfg->block_len);
}

/* Is this the destination for @sid, or @sid after it has been shifted? */
static bool srpol_quote_at(const struct srpol_quote *q,
			   const struct srpol_path_cfg *cfg,
			   const struct in6_addr *sid)
{
	if (ipv6_addr_equal(&q->ip6.daddr, sid))
		return true;
	return srpol_quote_container(cfg, sid) &&
	       srpol_csid_shifted(sid, &q->ip6.daddr, cfg->block_len,
				  cfg->csid_len);
}

/*
 * Could @path have written this header, and the packet be on the way to this
 * segment?
 */
static bool srpol_quote_matches(const struct srpol_quote *q,
				const struct srpol_path *path)
{
	const struct srpol_path_cfg *cfg = path->obj.cur;
	const struct srpol_header *hdr = &cfg->hdr;
	u32 in_srh, n, left = 0, i;

	if (!path->compiled)
		return false;
	in_srh = srpol_encap_sids(hdr);
	n = hdr->n_sids;
	if (q->n_segs != in_srh ||
	    !ipv6_addr_equal(&q->ip6.saddr, &path->bytes.outer.src))
		return false;
	if (in_srh) {
		left = q->srh.segments_left;
		if (sizeof(q->ip6) + 8 * (q->srh.hdrlen + 1) !=
		    srpol_encap_len(hdr))
			return false;
	}
	if (left >= n || !srpol_quote_at(q, cfg, &hdr->sids[n - 1 - left]))
		return false;
	for (i = 0; i < in_srh; i++)
		if (!ipv6_addr_equal(&q->segs[i], &hdr->sids[n - 1 - i]))
			return false;
	return true;
}

/**
 * srpol_quote_find() - find the only path that a report can mean
 * @sn: namespace; @sn->state_lock is held
 * @q: quoted outer header
 *
 * A bucket with very many entries has them from paths that differ in nothing
 * but the first SID; then it cannot be told which path is meant.
 *
 * Return: the path, or NULL if there is none or several.
 */
struct srpol_path *srpol_quote_find(struct srpol_net *sn,
				    const struct srpol_quote *q)
{
	u64 key = srpol_quote_hash(sn, q->segs, q->n_segs, &q->ip6.daddr);
	struct srpol_path *found = NULL;
	struct srpol_quote_node *node;
	u32 looked = 0;

	lockdep_assert_held(&sn->state_lock);
	hlist_for_each_entry(node, srpol_quote_bucket(sn, key), node) {
		if (++looked > SRPOL_QUOTE_CHAIN)
			return NULL;
		if (node->key != key || !srpol_quote_matches(q, node->path))
			continue;
		if (found)
			return NULL;
		found = node->path;
	}
	return found;
}

/**
 * srpol_quote_stage() - prepare the entries by which reports will find a path
 * @sn: namespace, locked, in a transaction
 * @path: a path whose configuration changes
 * @stage: what is prepared for the path
 *
 * Return: 0 or -ENOMEM.
 */
int srpol_quote_stage(struct srpol_net *sn, struct srpol_path *path,
		      struct srpol_path_stage *stage)
{
	const struct srpol_path_cfg *cfg = srpol_path_cfg(path);
	const struct srpol_header *hdr = &cfg->hdr;
	struct in6_addr segs[SRPOL_SIDS_MAX], dst;
	u32 in_srh = srpol_encap_sids(hdr), n, i;
	struct srpol_quote_node *nodes;
	bool shifts;

	for (i = 0; i < in_srh; i++)
		segs[i] = hdr->sids[hdr->n_sids - 1 - i];
	/*
	 * without an SRH, there is an entry for each form that a container
	 * takes
	 */
	dst = hdr->sids[0];
	shifts = !in_srh && srpol_quote_container(cfg, &dst);
	n = 1;
	if (shifts)
		while (srpol_csid_shift(&dst, cfg->block_len, cfg->csid_len))
			n++;
	nodes = kcalloc(n, sizeof(*nodes), GFP_KERNEL_ACCOUNT);
	if (!nodes)
		return -ENOMEM;
	dst = hdr->sids[0];
	for (i = 0; i < n; i++) {
		nodes[i].key = srpol_quote_hash(sn, segs, in_srh, &dst);
		nodes[i].path = path;
		if (shifts)
			srpol_csid_shift(&dst, cfg->block_len, cfg->csid_len);
	}
	stage->quotes = nodes;
	stage->n_quotes = n;
	return 0;
}

/**
 * srpol_quote_unlink() - remove the entries by which reports find a path
 * @path: the path; srpol_net.state_lock is held
 */
void srpol_quote_unlink(struct srpol_path *path)
{
	u32 i;

	for (i = 0; i < path->n_quotes; i++)
		hlist_del(&path->quotes[i].node);
	path->n_quotes = 0;
}

/**
 * srpol_quote_link() - replace the entries of a path by those that were
 * prepared
 * @sn: namespace; @sn->state_lock is held
 * @path: the path
 *
 * Return: the old entries, for the caller to free.
 */
struct srpol_quote_node *srpol_quote_link(struct srpol_net *sn,
					  struct srpol_path *path)
{
	struct srpol_quote_node *old = path->quotes;
	u32 i;

	lockdep_assert_held(&sn->state_lock);
	srpol_quote_unlink(path);
	path->quotes = path->stage->quotes;
	path->n_quotes = path->stage->n_quotes;
	for (i = 0; i < path->n_quotes; i++)
		hlist_add_head(&path->quotes[i].node,
			       srpol_quote_bucket(sn, path->quotes[i].key));
	return old;
}

int srpol_quote_init(struct srpol_net *sn)
{
	sn->quotes = kcalloc(SRPOL_QUOTE_BUCKETS, sizeof(*sn->quotes),
			     GFP_KERNEL_ACCOUNT);
	if (!sn->quotes)
		return -ENOMEM;
	get_random_bytes(&sn->quote_key, sizeof(sn->quote_key));
	return 0;
}

void srpol_quote_exit(struct srpol_net *sn)
{
	kfree(sn->quotes);
	sn->quotes = NULL;
}
