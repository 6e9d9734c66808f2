/* SPDX-License-Identifier: GPL-2.0 */
/* What the bench's eBPF programs and their driver agree on. */
#ifndef _SRPOL_BENCH_H
#define _SRPOL_BENCH_H

#define BENCH_HEAD	192	/* bytes of a frame that programs change */
#define BENCH_FRAMES	128
#define BENCH_TARGETS	32
#define BENCH_TABLE	131072	/* entries of srpol's flow table */
#define BENCH_ENCAP	80	/* three SIDs, reduced */
#define BENCH_SMALL	1000	/* frames of the bench are longer */

/**
 * struct bench_frame - map "frames": a frame as it was before the program
 * under test changed it
 * @len: its length
 * @target: program to run on it, index of map "targets"
 * @flow_off: where the destination QP stands, in a word of 4 bytes
 * @flows: power of two: so many QPs, from @qp on, are drawn from
 * @qp: first of them
 * @drawn: the one that was drawn last
 * @burst: power of two: so many frames are to a QP before another one is drawn
 * @probe: index in map "probes" + 1 of a probe that is to count again, 0: none
 * @head: its first bytes
 */
struct bench_frame {
	__u32 len;
	__u32 target;
	__u32 flow_off;
	__u32 flows;
	__u32 qp;
	__u32 drawn;
	__u32 burst;
	__u32 probe;
	__u8 head[BENCH_HEAD];
};

/**
 * struct bench_seen - map "seen": what a sink received, by its ifindex
 * @packets: packets; super-packets count as one
 * @super: of those, super-packets
 * @bytes: bytes from the Ethernet header on
 */
struct bench_seen {
	__u64 packets;
	__u64 super;
	__u64 bytes;
};

#endif /* _SRPOL_BENCH_H */
