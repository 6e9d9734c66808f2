// SPDX-License-Identifier: GPL-2.0
/* What the least possible costs: programs bench compares with. */
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define ENCAP_LEN	80	/* three SIDs, reduced */
#define DECAP_LEN	80

char LICENSE[] SEC("license") = "GPL";

/* Ethernet and outer header, ready but for nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8[14 + ENCAP_LEN]);
} header SEC(".maps");

SEC("tcx/egress")
int tc_empty(struct __sk_buff *skb)
{
	return -1;
}

/* adjust_room and one store, no question asked. */
SEC("tcx/egress")
int tc_push(struct __sk_buff *skb)
{
	__u32 zero = 0;
	void *h;

	h = bpf_map_lookup_elem(&header, &zero);
	if (!h || bpf_skb_adjust_room(skb, ENCAP_LEN, BPF_ADJ_ROOM_MAC,
				      BPF_F_ADJ_ROOM_ENCAP_L3_IPV6 |
				      BPF_F_ADJ_ROOM_FIXED_GSO |
				      BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return 2;
	return bpf_skb_store_bytes(skb, 0, h, 14 + ENCAP_LEN, 0) ? 2 : -1;
}

SEC("xdp.frags")
int xdp_empty(struct xdp_md *ctx)
{
	return XDP_PASS;
}

/* The addresses moved, the outer header cut. */
SEC("xdp.frags")
int xdp_pop(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data, keep;

	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	keep = *eth;
	if (bpf_xdp_adjust_head(ctx, DECAP_LEN))
		return XDP_DROP;
	eth = (void *)(long)ctx->data;
	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	*eth = keep;
	return XDP_PASS;
}
