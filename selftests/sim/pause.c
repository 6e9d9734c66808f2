// SPDX-License-Identifier: GPL-2.0
/*
 * Incast with pause frames, and what traceroute costs a switch: models, in so
 * many words, not measurements.
 *
 * Incast: 63 hosts on 4 leaves send to one on a fifth over 4 spines; a victim
 * on the first leaf sends to another host of the fifth leaf. Queues are fluid,
 * in steps of 1 us: the receiver's port at the last leaf (shared by what comes
 * from each spine), each spine's port to that leaf, each leaf's ports to the
 * spines. A queue above XOFF pauses all ports that feed it, until it is below
 * XON. A paused port sends nothing, whomever it is for: that is what the
 * victim suffers.
 */
#include <math.h>

#include "sim.h"

#define STEP		1e-6
#define STEPS		10000
#define SPINES		4
#define LEAVES		4
#define PORT		(400e9 / 8)	/* bytes/s */

/* Bytes for the hot receiver, and for the victim's. */
struct queue {
	double hot;
	double cold;
	bool paused;		/* those that feed it are */
};

static double queued(const struct queue *q)
{
	return q->hot + q->cold;
}

static void judge(struct queue *q, double xoff)
{
	if (queued(q) > xoff)
		q->paused = true;
	else if (queued(q) < xoff / 2)
		q->paused = false;
}

/* From one queue to another, as the first holds them: in order. */
static void forward(struct queue *from, struct queue *to, double bytes)
{
	double all = queued(from), part;

	if (!all || to->paused)
		return;
	part = fmin(bytes / all, 1);
	to->hot += from->hot * part;
	to->cold += from->cold * part;
	from->hot -= from->hot * part;
	from->cold -= from->cold * part;
}

/* The victim's part of a port, when @senders send into one. */
static double victim(uint32_t senders, double xoff)
{
	struct queue leaf[LEAVES][SPINES] = {}, spine[SPINES] = {};
	struct queue last = {};
	double got = 0, per;
	uint32_t t, l, s;

	for (t = 0; t < STEPS; t++) {
		/* the last leaf: the hot port drains at PORT, the cold also */
		per = fmin(last.hot, PORT * STEP);
		last.hot -= per;
		per = fmin(last.cold, PORT * STEP);
		last.cold -= per;
		got += per;
		judge(&last, xoff);
		for (s = 0; s < SPINES; s++) {
			forward(&spine[s], &last, PORT * STEP);
			judge(&spine[s], xoff);
			for (l = 0; l < LEAVES; l++) {
				forward(&leaf[l][s], &spine[s], PORT * STEP);
				judge(&leaf[l][s], xoff);
				if (leaf[l][s].paused)
					continue;
				per = PORT * STEP / SPINES;
				leaf[l][s].hot += per * senders / LEAVES;
				leaf[l][s].cold += l ? 0 : per;
			}
		}
	}
	return got / (PORT * STEP * STEPS);
}

void case_incast(void)
{
	static const uint32_t senders[] = { 0, 1, 2, 4, 8, 16, 32, 63 };
	static const double xoff[] = { 100e3, 1e6, 10e6 };
	uint32_t i, x;
	char row[64];

	for (x = 0; x < ARRAY_SIZE(xoff); x++) {
		for (i = 0; i < ARRAY_SIZE(senders); i++) {
			snprintf(row, sizeof(row), "victim-%u-senders-%gKB",
				 senders[i], xoff[x] / 1e3);
			out_row("incast", row, victim(senders[i], xoff[x]));
		}
	}
	out_note("incast", "model", "fluid queues, 1 us steps, pause per port");
}

/*
 * A switch answers an expired hop limit on its processor: 20 us each is what
 * is assumed here (50 000/s at most), and routers limit themselves far below.
 * Traceroute from both ends costs 2 answers per hop and path; loop probes with
 * segment lists are forwarded in hardware and cost no processor at all.
 */
void case_switch_cpu(void)
{
	static const double rates[] = { 10, 100, 1000, 10000 };
	const double answer = 20e-6, hosts = 16, paths = 16;
	uint32_t i;
	char row[64];

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		/* traces/s of each of the leaf's hosts; each passes the leaf */
		snprintf(row, sizeof(row), "traceroute-%g/s", rates[i]);
		out_row("switch-cpu", row,
			fmin(1, rates[i] * hosts * 2 * answer));
		snprintf(row, sizeof(row), "loops-%g/s", rates[i]);
		out_row("switch-cpu", row, 0);
	}
	out_row("switch-cpu", "traces-to-cover-16-paths", 79);
	out_row("switch-cpu", "loops-to-cover-16-paths", paths);
	out_note("switch-cpu", "model",
		 "20 us of processor per ICMPv6 Time Exceeded, 16 hosts");
}
