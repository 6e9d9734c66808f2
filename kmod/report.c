// SPDX-License-Identifier: GPL-2.0
/*
 * ICMPv6 errors as a failure signal: a switch that has lost its route to the
 * next SID sends Destination Unreachable to the outer source, which is this
 * host, within one round-trip time. The path of the quoted packet is taken out
 * of use and tried again after a retry interval, which is doubled while it
 * keeps failing.
 *
 * A report is accepted only if it came in on an uplink from one of the
 * configured routers, its checksum is right, it quotes an outer header that
 * exactly one path of this host would have written (source, remaining
 * destination, which may be a shifted container, and segment list), and the
 * data plane does not find that it would write another flow label for the
 * quoted packet. With a reduced SRH the first SID is not in the packet after it
 * was visited; if several paths could then be meant, the report is ignored.
 */
#include <linux/icmpv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv6.h>
#include <linux/ratelimit.h>
#include <net/ipv6.h>

#include "config.h"
#include "dataplane.h"
#include "device.h"
#include "path.h"
#include "quote.h"
#include "report.h"

#define SRPOL_REPORT_INTERVAL	(HZ / 10)
#define SRPOL_REPORT_BURST	64

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

/* Ask the data plane whether it would have written this flow label. */
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
 * Checks that cost nothing come first, so that a flood of other packets does
 * not use up the budget. In a VRF, @state->in is the VRF; the control block has
 * the device.
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
	ratelimit_state_init(&sn->report_limit, SRPOL_REPORT_INTERVAL,
			     SRPOL_REPORT_BURST);
	ratelimit_set_flags(&sn->report_limit, RATELIMIT_MSG_ON_RELEASE);
	return nf_register_net_hook(sn->net, &srpol_report_hook);
}

void srpol_report_net_stop(struct srpol_net *sn)
{
	nf_unregister_net_hook(sn->net, &srpol_report_hook);
}
