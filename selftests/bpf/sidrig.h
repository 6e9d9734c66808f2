/* SPDX-License-Identifier: GPL-2.0 */
/* Packets for local SIDs: what the tests of the endpoint behaviors share. */
#ifndef _SRPOL_TEST_SIDRIG_H
#define _SRPOL_TEST_SIDRIG_H

#include "rig.h"

#define LO		1
#define ELSEWHERE	77
#define NEXTHOP		3
#define FAR		0x100	/* SIDs of other nodes from here on */
#define BLOCK		32
#define CSID		16

/* Where the adjacency's frames go: destination, source. */
extern const __u8 l2[12];

/* Inner packets of either family. */
extern const struct inner v4;
extern const struct inner v6;

/* A SID with an adjacency that is up. */
void set_sid(__u32 id, struct in6_addr a, __u32 behavior, __u32 prefix_len);
void setup(void);

/* Output must be @want, counted as pairs of one each, ended by RIG_END. */
void check(const char *about, const struct pkt *in, int verdict,
	   const struct pkt *want, int reason, int also);
/* It must be left to TC, which is to send @want by a device. */
void check_handoff(const char *about, const struct pkt *in, __u32 ifindex,
		   const struct pkt *want, int reason);
void check_drop(const char *about, const struct pkt *in, int reason, __u32 id);

/* A frame with the inner packet alone, from MACs @macs. */
void plain(struct pkt *p, const struct inner *in, const __u8 *macs);
void use_l2(struct pkt *p);

void encap(struct pkt *p, const struct outer *o, const struct inner *in);

/* A packet to the compressed SIDs in @da. */
void container(struct pkt *p, const char *da, __u8 hop_limit,
	       const struct inner *in);

#endif /* _SRPOL_TEST_SIDRIG_H */
