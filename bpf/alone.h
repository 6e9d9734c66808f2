/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is left alone where it came in by a port is left alone at the uplink that
 * the stack sends it by, too: the program there knows nothing of rules for the port.
 *
 * The mark is in the upper half of skb->tc_index, which the stack carries along and
 * does not use (Cilium has flags in the lower half). It counts only if the packet
 * came in by a port, whose program has set or taken away the mark: so nobody else
 * can set it, in this namespace or before. What the stack puts into a tunnel of its
 * own is another packet, and did not come in by any device. Nor does the mark count
 * where the stack takes a device upon the port for the one it came in by, a VRF or
 * VLAN: then the rules of the uplink decide.
 */
#ifndef _SRPOL_ALONE_H
#define _SRPOL_ALONE_H

#include "base.h"
#include "maps.h"

#define SRPOL_ALONE		0x7300
#define SRPOL_ALONE_MASK	0xff00

/* Take the mark away that a packet came in with. */
static __always_inline void srpol_alone_clear(struct __sk_buff *skb)
{
	if ((skb->tc_index & SRPOL_ALONE_MASK) == SRPOL_ALONE)
		skb->tc_index &= ~SRPOL_ALONE_MASK & 0xffff;
}

static __always_inline void srpol_alone_set(struct __sk_buff *skb)
{
	skb->tc_index = (skb->tc_index & ~SRPOL_ALONE_MASK & 0xffff) |
			SRPOL_ALONE;
}

/* Is a packet that leaves to be left alone? */
static __always_inline bool srpol_alone(const struct __sk_buff *skb)
{
	__u32 came = skb->ingress_ifindex;

	return (skb->tc_index & SRPOL_ALONE_MASK) == SRPOL_ALONE &&
	       bpf_map_lookup_elem(&ports, &came);
}

#endif /* _SRPOL_ALONE_H */
