// SPDX-License-Identifier: GPL-2.0
/* An entry of the map "probes": what XDP needs to know to check probes. */
#include <string.h>

#include "probing.h"
#include "srpold.h"

/**
 * probe_map_enter() - set an entry; no probe has come back yet
 * @index: SSID of the probes
 * @ifindex: device on which they come back, 0: none
 * @saddr: source address
 * @list: their segment list, in order of travel
 */
void probe_map_enter(uint32_t index, uint32_t ifindex,
		     const struct in6_addr *saddr,
		     const struct srpol_sid_list *list)
{
	struct srpol_probe *p = probe_map_at(index);
	uint32_t i;

	p->ifindex = 0;
	memset(p, 0, sizeof(*p));
	for (i = 0; i <= SRPOL_PROBE_SLOTS; i++)
		p->slot[i].back = SRPOL_PROBE_NEVER;
	p->last_seq = SRPOL_PROBE_NEVER;
	memcpy(p->saddr, saddr, sizeof(p->saddr));
	p->segs = list->n;
	for (i = 0; i < p->segs; i++)
		memcpy(&p->list[2 * i], &list->sid[p->segs - 1 - i],
		       sizeof(list->sid[0]));
	__atomic_store_n(&p->ifindex, ifindex, __ATOMIC_RELEASE);
}
