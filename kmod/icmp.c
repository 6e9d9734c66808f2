// SPDX-License-Identifier: GPL-2.0
/*
 * ICMPv6 errors as a failure signal: a switch that has lost the way to the
 * next SID answers Destination Unreachable to the outer source, this host,
 * within one round trip. The path the quoted packet took is taken out of use
 * and tried again after a retry interval, doubled while it keeps failing.
 *
 * What arrives is believed only if it came in on an uplink, its checksum is
 * right, and it quotes an outer header that exactly one of our paths would
 * have written: source, remaining destination, which may be a container that
 * was shifted, and segment list. With a
 * reduced SRH the first SID is lost once it was visited; if several paths
 * could then be meant, the report is ignored.
 */
#include <linux/icmpv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv6.h>
#include <linux/ratelimit.h>
#include <linux/seg6.h>
#include <net/ipv6.h>

#include "srpol.h"

#define SRPOL_ICMP_INTERVAL	(HZ / 10)
#define SRPOL_ICMP_BURST	64
#define SRPOL_RETRY_SHIFT_MAX	4
#define SRPOL_RETRY_SOON	4	/* retry interval */

static struct ratelimit_state srpol_icmp_limit =
	RATELIMIT_STATE_INIT_FLAGS(srpol_icmp_limit, SRPOL_ICMP_INTERVAL,
				   SRPOL_ICMP_BURST, RATELIMIT_MSG_ON_RELEASE);

/**
 * struct srpol_quote - outer header quoted by an ICMPv6 error
 * @ip6: IPv6 header
 * @srh: segment routing header, @n_segs is 0 if there is none
 * @segs: its segment list
 * @n_segs: number of segments
 */
struct srpol_quote {
	struct ipv6hdr ip6;
	struct ipv6_sr_hdr srh;
	struct in6_addr segs[SRPOL_SIDS_MAX];
	u32 n_segs;
};

static bool srpol_quote_read(const struct sk_buff *skb, int off,
			     struct srpol_quote *q)
{
	q->n_segs = 0;
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
	off += sizeof(q->srh);
	return !skb_copy_bits(skb, off, q->segs,
			      q->n_segs * sizeof(q->segs[0]));
}

/* Is this the destination that @sid leads to, or was when it was shifted? */
static bool srpol_quote_at(const struct srpol_quote *q,
			   const struct srpol_path_cfg *cfg,
			   const struct in6_addr *sid)
{
	if (ipv6_addr_equal(&q->ip6.daddr, sid))
		return true;
	return cfg->block_len &&
	       srpol_csid_in_block(sid, &cfg->hdr.sids[0], cfg->block_len) &&
	       srpol_csid_shifted(sid, &q->ip6.daddr, cfg->block_len,
				  cfg->csid_len);
}

/* Would @path have written this, and been left at this segment? */
static bool srpol_quote_matches(const struct srpol_quote *q,
				const struct srpol_path *path)
{
	const struct srpol_header *hdr;
	u32 in_srh, n, left = 0, i;

	if (!path->compiled)
		return false;
	hdr = &path->cfg->hdr;
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
	if (left >= n ||
	    !srpol_quote_at(q, path->cfg, &hdr->sids[n - 1 - left]))
		return false;
	for (i = 0; i < in_srh; i++)
		if (!ipv6_addr_equal(&q->segs[i], &hdr->sids[n - 1 - i]))
			return false;
	return true;
}

/*
 * Safe without @sn->lock: a path is erased before it waits for @state_lock to
 * be freed, so one found under RCU and @state_lock stays.
 */
static struct srpol_path *srpol_quote_find(struct srpol_net *sn,
					   const struct srpol_quote *q)
{
	struct srpol_path *path, *found = NULL;
	unsigned long id;

	lockdep_assert_held(&sn->state_lock);
	xa_for_each(&sn->paths, id, path) {
		if (!srpol_quote_matches(q, path))
			continue;
		if (found)
			return NULL;
		found = path;
	}
	return found;
}

static void srpol_path_report(struct srpol_net *sn, struct srpol_path *path)
{
	unsigned long hold = msecs_to_jiffies(sn->cfg.retry_interval_ms);

	if (path->reported || path->state != SRPOL_PATH_STATE_UP)
		return;
	/* failed again soon after it was tried: wait longer */
	if (path->retry_at &&
	    time_before(jiffies, path->retry_at + SRPOL_RETRY_SOON *
			(hold << path->retry_shift)))
		path->retry_shift = min(path->retry_shift + 1,
					SRPOL_RETRY_SHIFT_MAX);
	else
		path->retry_shift = 0;
	hold <<= path->retry_shift;
	path->retry_at = jiffies + hold;
	path->reported = true;
	sn->n_reported++;
	srpol_path_set_state(sn, path,
			     SRPOL_PATH_REASON_UNREACHABLE_REPORTED);
	srpol_events_kick(sn);
	if (hold)
		srpol_events_retry_at(sn, hold);
}

static unsigned int srpol_icmp_in(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	struct srpol_net *sn = srpol_net(state->net);
	struct srpol_path *path;
	struct icmp6hdr icmp;
	struct srpol_quote q;
	int off = skb_network_offset(skb) + sizeof(struct ipv6hdr);

	if (ipv6_hdr(skb)->nexthdr != NEXTHDR_ICMP ||
	    !READ_ONCE(sn->n_paths) ||
	    skb_copy_bits(skb, off, &icmp, sizeof(icmp)) ||
	    icmp.icmp6_type != ICMPV6_DEST_UNREACH ||
	    icmp.icmp6_code == ICMPV6_PORT_UNREACH ||
	    !state->in || !srpol_dev_is_uplink(sn, state->in->ifindex) ||
	    !srpol_quote_read(skb, off + sizeof(icmp), &q) ||
	    !__ratelimit(&srpol_icmp_limit) ||
	    nf_ip6_checksum(skb, state->hook, off, IPPROTO_ICMPV6))
		return NF_ACCEPT;

	spin_lock_bh(&sn->state_lock);
	path = srpol_quote_find(sn, &q);
	if (path)
		srpol_path_report(sn, path);
	spin_unlock_bh(&sn->state_lock);
	return NF_ACCEPT;
}

static const struct nf_hook_ops srpol_icmp_hook = {
	.hook		= srpol_icmp_in,
	.pf		= NFPROTO_IPV6,
	.hooknum	= NF_INET_LOCAL_IN,
	.priority	= NF_IP6_PRI_FILTER + 1,	/* after the firewall */
};

int srpol_icmp_net_init(struct srpol_net *sn)
{
	return nf_register_net_hook(sn->net, &srpol_icmp_hook);
}

void srpol_icmp_net_exit(struct srpol_net *sn)
{
	nf_unregister_net_hook(sn->net, &srpol_icmp_hook);
}
