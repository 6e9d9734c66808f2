/* SPDX-License-Identifier: GPL-2.0 */
/* srpol path trace: probes, and the answers to them. */
#ifndef _SRPOL_TRACE_H
#define _SRPOL_TRACE_H

#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "objects.h"
#include "srpol_lib.h"
#include "vec.h"

/* a path's headers with an ICMPv6 echo request of 8 bytes behind them */
#define TRACE_FRAME_MAX	(SRPOL_REWRITE_MAX + 16)

/**
 * struct trace_probe - what a probe carries besides its path's headers
 * @id: identifier of the echo requests of this trace
 * @seq: sequence number
 * @hops: hop limit
 * @dscp: outer DSCP
 * @label: outer flow label, 20 bits
 * @last: destination address with which a packet arrives at its end, over which
 *	the checksum is (RFC 8200 8.1)
 * @nonce: data, so that nobody who has not seen a probe can answer it
 */
struct trace_probe {
	uint16_t id;
	uint16_t seq;
	uint8_t hops;
	uint8_t dscp;
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

#define TRACE_HOPS_MAX		64
#define TRACE_ROUNDS_MAX	500
#define TRACE_LABELS_MAX	256
#define TRACE_FORMS		2	/* of a probe, see trace.two_forms */
/* of a path with config path-id label, which leaves the low 6 bits to the flow */
#define TRACE_ID_SHIFT		6
#define TRACE_ID_LABELS		(1u << TRACE_ID_SHIFT)

/**
 * struct trace_options - what was asked for
 * @hops: largest hop limit
 * @rounds: number of rounds
 * @labels: number of flow labels, as many as rounds at most
 * @interval_ms: from round to round
 * @wait_ms: for answers after the last probe of the first and the last round
 */
struct trace_options {
	uint32_t hops;
	uint32_t rounds;
	uint32_t labels;
	uint32_t interval_ms;
	uint32_t wait_ms;
};

/**
 * struct sent - a probe that was sent
 * @hop: its hop limit
 * @label: which of the flow labels
 * @form: which destination its checksum is over, see trace.two_forms
 * @answered: @a and @rtt_ns are there
 * @a: the answer
 * @at_ns: when it was sent, CLOCK_MONOTONIC
 * @rtt_ns: from then to the answer
 */
struct sent {
	uint16_t hop;
	uint16_t label;
	uint16_t form;
	bool answered;
	struct trace_answer a;
	uint64_t at_ns;
	uint64_t rtt_ns;
};

/**
 * struct way - what is known of the way of a flow label
 * @used: probes were sent
 * @reached: least hop limit that came to the last SID, 0: none yet
 * @refused: least hop limit that was answered by an error which says that no
 *	other would do, 0: none yet
 */
struct way {
	bool used;
	uint32_t reached;
	uint32_t refused;
};

/**
 * struct trace - a trace in progress
 * @o: options
 * @path: the path
 * @form: its headers, from the data plane
 * @config: settings that go into the outer header of each packet
 * @probe: the probe sent last
 * @label: first flow label
 * @dev: where probes leave
 * @fd: packet socket that receives
 * @out: packet socket that sends
 * @two_forms: the checksum of a probe may be over two addresses, and it is not known yet
 *	which of them is right
 * @right: the form of which an answer came from the last SID
 * @sent: all probes, by sequence number
 * @ways: by flow label
 */
struct trace {
	struct trace_options o;
	const struct path_info *path;
	struct srpol_path_cfg form;
	struct srpol_dp_config config;
	struct trace_probe probe;
	uint32_t label;
	struct sockaddr_ll dev;
	int fd;
	int out;
	bool two_forms;
	uint32_t right;
	struct vec sent;
	struct way ways[TRACE_LABELS_MAX];
};

/* trace_packet.c */
size_t trace_make(const struct srpol_path_cfg *path,
		  const struct trace_probe *probe, uint8_t *frame);
bool trace_read(const uint8_t *packet, size_t len,
		const struct trace_probe *probe, struct trace_answer *answer);
bool trace_reached(uint8_t type, uint8_t code);

/* trace_rounds.c */
int trace_read_form(struct trace *t);
int trace_open(struct trace *t);
int trace_run(struct trace *t);
bool trace_counts(const struct trace *t, const struct sent *sent);
uint32_t trace_furthest(const struct trace *t);

#endif /* _SRPOL_TRACE_H */
