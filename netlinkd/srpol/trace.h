/* SPDX-License-Identifier: GPL-2.0 */
/* Probes of "srpol path trace", and the answers to them. */
#ifndef _SRPOL_TRACE_H
#define _SRPOL_TRACE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "srpol_lib.h"

/* a path's headers with an ICMPv6 echo request of 8 bytes behind them */
#define TRACE_FRAME_MAX	(SRPOL_REWRITE_MAX + 16)

/**
 * struct trace_probe - what a probe carries besides its path's headers
 * @id: identifier of the echo requests of this trace
 * @seq: sequence number
 * @hops: hop limit
 * @label: outer flow label, 20 bits
 * @last: destination address with which a packet arrives at its end, over which
 *	the checksum is (RFC 8200 8.1)
 * @nonce: data, so that nobody who has not seen a probe can answer it
 */
struct trace_probe {
	uint16_t id;
	uint16_t seq;
	uint8_t hops;
	uint32_t label;
	struct in6_addr last;
	uint64_t nonce;
};

/**
 * struct trace_answer - an ICMPv6 message about a probe
 * @seq: sequence number of the probe
 * @type: ICMPv6 type: echo reply, or an error
 * @code: ICMPv6 code
 * @from: who sent it
 * @to: errors: destination address that the probe had there
 */
struct trace_answer {
	uint16_t seq;
	uint8_t type;
	uint8_t code;
	struct in6_addr from;
	struct in6_addr to;
};

size_t trace_make(const struct srpol_path_cfg *path,
		  const struct trace_probe *probe, uint8_t *frame);
bool trace_read(const uint8_t *packet, size_t len,
		const struct trace_probe *probe, struct trace_answer *answer);
bool trace_reached(uint8_t type, uint8_t code);

#endif /* _SRPOL_TRACE_H */
