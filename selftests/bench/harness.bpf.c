// SPDX-License-Identifier: GPL-2.0
/*
 * Around the programs under test: who makes their packets anew, who sends
 * them, who counts what comes out.
 */
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "bench.h"
#include "words.h"
#include "../../bpf/srpol_probe.h"

char LICENSE[] SEC("license") = "GPL";

__u32 frame_nr;		/* entry of "frames" that is being measured */
__u64 draw = 0x9e3779b97f4a7c15;
__u32 psn;

/* Of "again": times to run, from which on they count, times run, and when. */
__u32 runs_wanted;
__u32 runs_warm;
__u32 runs;
__u64 first_ns;
__u64 last_ns;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BENCH_FRAMES);
	__type(key, __u32);
	__type(value, struct bench_frame);
} frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, BENCH_TARGETS);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * BENCH_FRAMES);
	__type(key, __u32);
	__type(value, struct bench_seen);
} seen SEC(".maps");

/* That of srpol, where there is one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_MAX_PROBES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct srpol_probe);
} probes SEC(".maps");

/* xorshift64: one of @flows QPs, for @burst frames. */
static __always_inline __u32 draw_qp(struct bench_frame *f)
{
	__u64 x = draw;

	if (psn & (f->burst - 1))
		return f->drawn;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	draw = x;
	f->drawn = f->qp + ((x >> 32) & (f->flows - 1));
	return f->drawn;
}

static __always_inline int renew(struct xdp_md *ctx, struct bench_frame *f)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__be32 *at = (void *)data + (f->flow_off & 0xff);

	if (data + BENCH_HEAD > end || (__u8 *)(at + 2) > end)
		return -1;
	bench_copy(data, f->head, BENCH_HEAD);
	at[0] = bpf_htonl(draw_qp(f));
	at[1] = bpf_htonl(psn++ & 0xffffff);
	return 0;
}

/*
 * Time is taken here, before the first run that counts and before the last: the
 * system call makes itself ready for as long as thousands of runs take, and
 * leaves caches cold.
 */
static __always_inline void take_time(void)
{
	if (runs == runs_warm)
		first_ns = bpf_ktime_get_ns();
	if (++runs == runs_wanted)
		last_ns = bpf_ktime_get_ns();
}

/* As if the probe had not come yet. */
static __always_inline void renew_probe(const struct bench_frame *f)
{
	__u32 nr = f->probe - 1;
	struct srpol_probe *p = bpf_map_lookup_elem(&probes, &nr);

	if (p)
		p->slot[0].back = SRPOL_PROBE_NEVER;
}

/* Run the target on the frame as it was before the last run. */
SEC("xdp.frags")
int again(struct xdp_md *ctx)
{
	__u32 nr = frame_nr;
	struct bench_frame *f = bpf_map_lookup_elem(&frames, &nr);
	int more;

	if (!f)
		return XDP_ABORTED;
	take_time();
	more = (int)bpf_xdp_get_buff_len(ctx) - (int)f->len;
	if (bpf_xdp_adjust_head(ctx, more) || renew(ctx, f))
		return XDP_ABORTED;
	if (f->probe)
		renew_probe(f);
	bpf_tail_call(ctx, &targets, f->target);
	return XDP_ABORTED;
}

/* Live frames: out of the device they are said to have come in by. */
SEC("xdp.frags")
int generate(struct xdp_md *ctx)
{
	__u32 nr = frame_nr;
	struct bench_frame *f = bpf_map_lookup_elem(&frames, &nr);

	if (!f || renew(ctx, f))
		return XDP_ABORTED;
	return XDP_TX;
}

/* The same, but it goes nowhere: what making the frames costs. */
SEC("xdp.frags")
int generate_only(struct xdp_md *ctx)
{
	__u32 nr = frame_nr;
	struct bench_frame *f = bpf_map_lookup_elem(&frames, &nr);

	if (!f || renew(ctx, f))
		return XDP_ABORTED;
	return XDP_DROP;
}

static __always_inline void count(__u32 ifindex, __u32 bytes, bool super)
{
	struct bench_seen *s = bpf_map_lookup_elem(&seen, &ifindex);

	if (!s)
		return;
	s->packets++;
	s->super += super;
	s->bytes += bytes;
}

/* The sinks do not count what hosts say to keep their link alive. */
SEC("xdp.frags")
int sink_xdp(struct xdp_md *ctx)
{
	__u32 len = bpf_xdp_get_buff_len(ctx);

	if (len > BENCH_SMALL)
		count(ctx->ingress_ifindex, len, false);
	return XDP_DROP;
}

SEC("tcx/ingress")
int sink_tc(struct __sk_buff *skb)
{
	if (skb->len > BENCH_SMALL)
		count(skb->ifindex, skb->len, skb->gso_size);
	return 2;
}

/* Counts, and lets it go on. */
SEC("tcx/ingress")
int look_tc(struct __sk_buff *skb)
{
	count(skb->ifindex, skb->len, skb->gso_size);
	return -1;
}
