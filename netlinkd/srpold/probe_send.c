// SPDX-License-Identifier: GPL-2.0
/*
 * Probes leave by the packet socket of their device. Sending several with one
 * call costs a quarter less for each, but the time that a probe carries is
 * early by the time it waits for the rest of its batch. So this is only done
 * when there are many.
 */
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include "probing.h"
#include "srpold.h"

#define FRAME_MAX	(ETH_HLEN + MTU_MAX)
#define BATCH_MAX	8		/* 15 us for the whole batch */
#define BATCHES		4		/* per tick, before batches get
					 * longer */

static struct engine *engine;
static uint32_t batch_size;

/*
 * The kernel did not send a probe: its queue is full or the device goes down.
 */
static void take_back(struct engine_path *path, uint32_t seq)
{
	srpol_probe_slot_of(probe_map_at(path->probe), seq)->sent_ns = 0;
	prober_stats.unsent++;
}

/*
 * @size: bytes of the IPv6 packet, 0: as short as possible. Return: length of
 * the frame.
 */
static size_t make_frame(struct engine_path *path, uint32_t seq, uint32_t size,
			 uint64_t sent_ns, uint8_t *frame)
{
	struct probe probe = { .ssid = path->probe, .seq = seq,
			       .sent_ns = sent_ns };
	struct srpol_probe_slot *slot;

	slot = srpol_probe_slot_of(probe_map_at(path->probe), seq);
	/* set before the probe leaves: it may be back before send() returns */
	__atomic_store_n(&slot->sent_ns, sent_ns, __ATOMIC_RELEASE);
	return probe_make(uplink_of(path->nic), path,
			  &engine->fabric->nics[path->nic].addr, &probe, size,
			  frame);
}

/**
 * probe_send_long() - send the path's next long probe, number long_seq
 * @path: the path
 * @size: bytes of the IPv6 packet
 *
 * Return: false if the kernel did not send it.
 */
bool probe_send_long(struct engine_path *path, uint32_t size)
{
	static uint8_t frame[FRAME_MAX];
	size_t len = make_frame(path, path->long_seq, size, now_ns(), frame);

	if (send(uplink_of(path->nic)->source.fd, frame, len,
		 MSG_DONTWAIT) == (ssize_t)len)
		return true;
	take_back(path, path->long_seq);
	return false;
}

static void unsend(struct engine_path *path, uint32_t seq)
{
	path->sent_ns[seq % IN_FLIGHT] = 0;
	path->stats.sent--;
	take_back(path, seq);
}

/* Frames that wait to be sent together, all by one device. */
static struct {
	struct mmsghdr msg[BATCH_MAX];
	struct iovec iov[BATCH_MAX];
	struct engine_path *path[BATCH_MAX];
	uint32_t seq[BATCH_MAX];
	uint8_t frame[BATCH_MAX][PROBE_MAX];
	uint32_t n;
} batch;

/**
 * probes_flush() - send all waiting frames
 */
void probes_flush(void)
{
	uint32_t at = 0;
	int sent;

	while (at < batch.n) {
		sent = sendmmsg(uplink_of(batch.path[at]->nic)->source.fd,
				&batch.msg[at], batch.n - at, MSG_DONTWAIT);
		if (sent > 0) {
			at += sent;
			continue;
		}
		unsend(batch.path[at], batch.seq[at]);
		at++;
	}
	batch.n = 0;
}

/**
 * probe_send() - queue the path's next probe; probes_flush() sends it at the
 * latest
 * @path: the path
 */
void probe_send(struct engine_path *path)
{
	uint32_t n, seq = path->seq;
	uint64_t now = now_ns();

	if (probes_under_way(path) >= IN_FLIGHT)
		return;
	if (batch.n && batch.path[0]->nic != path->nic)
		probes_flush();
	n = batch.n++;
	batch.path[n] = path;
	batch.seq[n] = seq;
	batch.iov[n].iov_base = batch.frame[n];
	batch.iov[n].iov_len = make_frame(path, seq, 0, now, batch.frame[n]);
	batch.msg[n].msg_hdr.msg_iov = &batch.iov[n];
	batch.msg[n].msg_hdr.msg_iovlen = 1;
	path->sent_ns[seq % IN_FLIGHT] = now;
	path->given_up &= ~probe_slot_bit(seq);
	path->seq = probe_next_seq(seq);
	path->stats.sent++;
	if (batch.n >= batch_size)
		probes_flush();
}

/**
 * probe_send_start() - prepare for sending probes
 * @e: the engine
 * @n: approximate number of probes due in a tick
 */
void probe_send_start(struct engine *e, uint32_t n)
{
	engine = e;
	batch.n = 0;
	batch_size = n < 2 * BATCHES ? 1 :
		     n < BATCH_MAX * BATCHES ? n / BATCHES : BATCH_MAX;
}
