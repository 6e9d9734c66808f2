/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_QUOTE_H
#define _SRPOL_QUOTE_H

#include <linux/seg6.h>
#include <net/ipv6.h>

#include "netns.h"

struct srpol_path;
struct srpol_path_stage;
struct srpol_quote_node;

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

/* Create and free the table of a namespace. */
int srpol_quote_init(struct srpol_net *sn);
void srpol_quote_exit(struct srpol_net *sn);

/*
 * Find the path of a quoted packet; the second with srpol_net.state_lock held.
 */
bool srpol_quote_read(const struct sk_buff *skb, int off,
		      struct srpol_quote *q);
struct srpol_path *srpol_quote_find(struct srpol_net *sn,
				    const struct srpol_quote *q);

/* Enter a path; the last two are called with srpol_net.state_lock held. */
int srpol_quote_stage(struct srpol_net *sn, struct srpol_path *path,
		      struct srpol_path_stage *stage);
struct srpol_quote_node *srpol_quote_link(struct srpol_net *sn,
					  struct srpol_path *path);
void srpol_quote_unlink(struct srpol_path *path);

#endif /* _SRPOL_QUOTE_H */
