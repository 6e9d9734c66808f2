// SPDX-License-Identifier: GPL-2.0
/*
 * ICMPv6 errors as a failure signal: a switch that has lost the way to the
 * next SID answers Destination Unreachable to the outer source, this host,
 * within one round trip. The path the quoted packet took is taken out of use
 * and tried again after a retry interval, doubled while it keeps failing.
 *
 * What arrives is believed only if it came in on an uplink from one of the
 * configured routers, its checksum is right, it quotes an outer header that
 * exactly one of our paths would have written (source, remaining destination,
 * which may be a container that was shifted, and segment list), and the data
 * plane does not find that the flow label is another one than it writes for
 * the quoted packet. With a reduced SRH the first SID is lost once it was
 * visited; if several paths could then be meant, the report is ignored.
 */
#include <linux/icmpv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv6.h>
#include <linux/random.h>
#include <linux/ratelimit.h>
#include <linux/seg6.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "config.h"
#include "dataplane.h"
#include "device.h"
#include "path.h"
#include "report.h"

#define SRPOL_REPORT_INTERVAL	(HZ / 10)
#define SRPOL_REPORT_BURST	64

#define SRPOL_QUOTE_BUCKETS	1024
#define SRPOL_QUOTE_CHAIN	256	/* entries of a bucket that are looked at */

/**
 * struct srpol_quote - outer header quoted by an ICMPv6 error
 * @ip6: IPv6 header
 * @srh: segment routing header, @n_segs is 0 if there is none
 * @segs: its segment list
 * @n_segs: number of segments
 * @inner: offset of the inner packet
 */
struct srpol_quote {
	struct ipv6hdr ip6;
	struct ipv6_sr_hdr srh;
	struct in6_addr segs[SRPOL_SIDS_MAX];
	u32 n_segs;
	int inner;
};

static bool srpol_quote_read(const struct sk_buff *skb, int off,
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
	if (q->srh.type != IPV6_SRCRT_TYPE_4 || q->n_segs > SRPOL_SIDS_MAX ||
	    q->srh.hdrlen < q->n_segs * 2)
		return false;
	q->inner += 8 * (q->srh.hdrlen + 1);
	off += sizeof(q->srh);
	return !skb_copy_bits(skb, off, q->segs,
			      q->n_segs * sizeof(q->segs[0]));
}

/* Hash of a segment list, or where there is none of a destination. */
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

/* Is this the destination that @sid leads to, or was when it was shifted? */
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

/* Would @path have written this, and been left at this segment? */
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

/*
 * The only path that could be meant. A bucket with very many entries has them
 * from paths that differ in nothing but the first SID.
 */
static struct srpol_path *srpol_quote_find(struct srpol_net *sn,
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
 * srpol_report_stage() - prepare how reports will find a path
 * @sn: namespace, locked, in a transaction
 * @path: a path that is to have another configuration
 *
 * Return: 0 or -ENOMEM.
 */
int srpol_report_stage(struct srpol_net *sn, struct srpol_path *path)
{
	const struct srpol_path_cfg *cfg = srpol_path_cfg(path);
	const struct srpol_header *hdr = &cfg->hdr;
	struct in6_addr segs[SRPOL_SIDS_MAX], dst;
	u32 in_srh = srpol_encap_sids(hdr), n, i;
	struct srpol_quote_node *nodes;
	bool shifts;

	for (i = 0; i < in_srh; i++)
		segs[i] = hdr->sids[hdr->n_sids - 1 - i];
	/* without an SRH each address that a container takes on the way */
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
	path->stage.quotes = nodes;
	path->stage.n_quotes = n;
	return 0;
}

/**
 * srpol_report_unstage() - forget what was prepared
 * @path: the path
 */
void srpol_report_unstage(struct srpol_path *path)
{
	kfree(path->stage.quotes);
	path->stage.quotes = NULL;
}

/**
 * srpol_report_unlink() - reports find a path no more
 * @path: the path; srpol_net.state_lock is held
 */
void srpol_report_unlink(struct srpol_path *path)
{
	u32 i;

	for (i = 0; i < path->n_quotes; i++)
		hlist_del(&path->quotes[i].node);
	path->n_quotes = 0;
}

/**
 * srpol_report_link() - reports find a path as it is from now on
 * @sn: namespace; @sn->state_lock is held
 * @path: the path
 *
 * Return: what is to be freed.
 */
struct srpol_quote_node *srpol_report_link(struct srpol_net *sn,
					   struct srpol_path *path)
{
	struct srpol_quote_node *old = path->quotes;
	u32 i;

	lockdep_assert_held(&sn->state_lock);
	srpol_report_unlink(path);
	path->quotes = path->stage.quotes;
	path->n_quotes = path->stage.n_quotes;
	for (i = 0; i < path->n_quotes; i++)
		hlist_add_head(&path->quotes[i].node,
			       srpol_quote_bucket(sn, path->quotes[i].key));
	return old;
}

static bool srpol_report_trusted(const struct srpol_config *config,
				 const struct in6_addr *router)
{
	const struct srpol_prefix_set *set = &config->report_from;
	u32 i;

	for (i = 0; i < set->n; i++)
		if (!ipv6_masked_addr_cmp(router, &set->entry[i].mask,
					  &set->entry[i].prefix))
			return true;
	return false;
}

/* Let the data plane see whether the flow label is of its making. */
static bool srpol_report_label(struct srpol_net *sn,
			       const struct sk_buff *skb,
			       const struct srpol_quote *q,
			       const struct srpol_path *path)
{
	struct srpol_dp_quote quote = {
		.path = path->id,
		.flow_label = be32_to_cpu(ip6_flowlabel(&q->ip6)),
	};

	lockdep_assert_held(&sn->state_lock);
	if (!sn->dp || !sn->dp->quote_check)
		return true;
	quote.len = min_t(int, skb->len - q->inner, sizeof(quote.inner));
	if (quote.len <= 0 ||
	    skb_copy_bits(skb, q->inner, quote.inner, quote.len))
		return false;
	return !sn->dp->quote_check(&quote);
}

/*
 * What costs nothing first: then a flood of something else leaves the budget
 * alone. In a VRF @state->in is the VRF; the control block has the device.
 */
static unsigned int srpol_report_in(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	struct srpol_net *sn = srpol_net(state->net);
	const struct ipv6hdr *ip6 = ipv6_hdr(skb);
	int off = skb_network_offset(skb) + sizeof(*ip6);
	struct srpol_path *path;
	struct icmp6hdr icmp;
	struct srpol_quote q;

	if (ip6->nexthdr != NEXTHDR_ICMP || !READ_ONCE(sn->n_paths) ||
	    skb_copy_bits(skb, off, &icmp, sizeof(icmp)) ||
	    icmp.icmp6_type != ICMPV6_DEST_UNREACH ||
	    icmp.icmp6_code == ICMPV6_PORT_UNREACH ||
	    !srpol_dev_is_uplink(sn, IP6CB(skb)->iif) ||
	    !srpol_report_trusted(srpol_config_live(sn), &ip6->saddr) ||
	    !srpol_quote_read(skb, off + sizeof(icmp), &q) ||
	    !ipv6_addr_equal(&ip6->daddr, &q.ip6.saddr) ||
	    !__ratelimit(&sn->report_limit) ||
	    nf_ip6_checksum(skb, state->hook, off, IPPROTO_ICMPV6))
		return NF_ACCEPT;

	spin_lock_bh(&sn->state_lock);
	path = srpol_quote_find(sn, &q);
	if (path && srpol_report_label(sn, skb, &q, path))
		srpol_path_report(sn, path);
	spin_unlock_bh(&sn->state_lock);
	return NF_ACCEPT;
}

static const struct nf_hook_ops srpol_report_hook = {
	.hook		= srpol_report_in,
	.pf		= NFPROTO_IPV6,
	.hooknum	= NF_INET_LOCAL_IN,
	.priority	= NF_IP6_PRI_FILTER + 1,	/* after the firewall */
};

int srpol_report_net_start(struct srpol_net *sn)
{
	int err;

	sn->quotes = kcalloc(SRPOL_QUOTE_BUCKETS, sizeof(*sn->quotes),
			     GFP_KERNEL_ACCOUNT);
	if (!sn->quotes)
		return -ENOMEM;
	get_random_bytes(&sn->quote_key, sizeof(sn->quote_key));
	ratelimit_state_init(&sn->report_limit, SRPOL_REPORT_INTERVAL,
			     SRPOL_REPORT_BURST);
	ratelimit_set_flags(&sn->report_limit, RATELIMIT_MSG_ON_RELEASE);
	err = nf_register_net_hook(sn->net, &srpol_report_hook);
	if (err)
		srpol_report_net_free(sn);
	return err;
}

void srpol_report_net_stop(struct srpol_net *sn)
{
	nf_unregister_net_hook(sn->net, &srpol_report_hook);
}

void srpol_report_net_free(struct srpol_net *sn)
{
	kfree(sn->quotes);
	sn->quotes = NULL;
}
