// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <time.h>

#include "stamp.h"

uint64_t stamp_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * STAMP_SEC + ts.tv_nsec;
}

void stamp_add(struct pkt *p, uint32_t len, uint32_t seq, uint64_t sent_ns,
	       uint16_t ssid)
{
	uint32_t i;

	pkt_add16(p, 862);
	pkt_add16(p, 862);
	pkt_add16(p, len);
	pkt_add16(p, 0);
	pkt_add32(p, seq);
	pkt_add32(p, sent_ns / STAMP_SEC);
	pkt_add32(p, sent_ns % STAMP_SEC);
	pkt_add16(p, 0x4001);
	pkt_add16(p, ssid);
	for (i = 16; i < 44; i++)
		pkt_add8(p, 0);
}

void stamp_enter(struct srpol_probe *probe, const char *src, uint32_t ifindex,
		 unsigned int n)
{
	struct in6_addr a = addr(src);
	unsigned int i;

	memset(probe, 0, sizeof(*probe));
	for (i = 0; i <= SRPOL_PROBE_SLOTS; i++)
		probe->slot[i].back = SRPOL_PROBE_NEVER;
	probe->last_seq = SRPOL_PROBE_NEVER;
	probe->ifindex = ifindex;
	probe->segs = n;
	memcpy(probe->saddr, &a, 16);
}
