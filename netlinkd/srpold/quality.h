/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quality of links: a link that works badly is used less; a link that does not
 * work at all is for liveness.h. The input is what probes counted, the output
 * are levels. Pure.
 *
 *	window	 what the answers to one probe in an interval say about loss,
 *		 delay and congestion marks: good, bad, or neither, so that
 *		 a value close to a limit changes nothing
 *	quality	 level of a link, which changes one step at a time: down after
 *		 some bad intervals in a row, up after some good ones; if an
 *		 ascent did not last, the next one waits twice as long
 *
 * Delay is the least delay of an interval compared with the least ever seen: a
 * burst does not raise it, a standing queue does.
 */
#ifndef _SRPOLD_QUALITY_H
#define _SRPOLD_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

#define QUALITY_LEVELS	9	/* 0 is the best */

/**
 * enum quality_sort - congestion signals
 * @QUALITY_CE: probes that come back with a congestion mark
 * @QUALITY_CNP: notifications for packets that were sent; a peer sends few for
 *	many marks, so a smaller share already counts as bad
 * @QUALITY_PATH_CE: packets that reached the peer with a mark, as the peer
 *	reports in the probes that it reflects
 */
enum quality_sort {
	QUALITY_CE,
	QUALITY_CNP,
	QUALITY_PATH_CE,
	QUALITY_SORTS,
};

/**
 * struct quality_config - when a link works badly
 * @loss_ppm: lost probes per million
 * @delay_ns: lasting delay in excess of that of an idle path
 * @marks_ppm: congestion signals per million, by enum quality_sort
 * @patience: bad intervals in a row that lower the level by one, at least 1
 * @calm: good intervals that raise the level by one, at least 1
 * @calm_max: limit of @calm, which doubles when an ascent does not last
 */
struct quality_config {
	uint32_t loss_ppm;
	uint64_t delay_ns;
	uint32_t marks_ppm[QUALITY_SORTS];
	uint32_t patience;
	uint32_t calm;
	uint32_t calm_max;
};

/**
 * enum quality_word - result of an interval
 * @QUALITY_UNSURE: too few probes, or between good and bad
 * @QUALITY_GOOD: it works well
 * @QUALITY_LOSS: packets are lost
 * @QUALITY_DELAY: packets wait in queues
 * @QUALITY_MARKS: switches mark packets
 */
enum quality_word {
	QUALITY_UNSURE,
	QUALITY_GOOD,
	QUALITY_LOSS,
	QUALITY_DELAY,
	QUALITY_MARKS,
};

/**
 * struct quality_words - results of an interval for one probe
 * @loss: unsure, good or QUALITY_LOSS
 * @delay: unsure, good or QUALITY_DELAY
 * @marks: unsure, good or QUALITY_MARKS
 */
struct quality_words {
	enum quality_word loss;
	enum quality_word delay;
	enum quality_word marks;
};

/**
 * struct quality_share - share of congestion signals of one sort
 * @seen: packets, with older intervals counting less; in 1/256
 * @marked: signals, likewise
 */
struct quality_share {
	uint64_t seen;
	uint64_t marked;
};

/**
 * struct quality_window - statistics of one probe
 * @sent: probes sent, with older intervals counting less; in 1/256
 * @lost: probes lost, likewise
 * @rtt_ns: least round-trip time of this interval, 0: no answers
 * @base_ns: least round-trip time ever, 0: no answers
 * @queue_ns: least round-trip time of the last interval minus @base_ns
 * @share: congestion signals, by enum quality_sort
 */
struct quality_window {
	uint32_t sent;
	uint32_t lost;
	uint64_t rtt_ns;
	uint64_t base_ns;
	uint64_t queue_ns;
	struct quality_share share[QUALITY_SORTS];
};

/**
 * struct quality - quality of a link
 * @level: from 0, the best, to QUALITY_LEVELS - 1
 * @word: result of the last interval, enum quality_word
 * @bad: bad intervals in a row
 * @good: good intervals in a row
 * @wait: good intervals that the next ascent takes, 0: quality_config.calm
 * @ascended: the last ascent was less than @wait good intervals ago
 * @steps: number of changes of @level
 */
struct quality {
	uint8_t level;
	uint8_t word;
	uint32_t bad;
	uint32_t good;
	uint32_t wait;
	bool ascended;
	uint32_t steps;
};

void quality_answer(struct quality_window *w, uint64_t rtt_ns);
void quality_marks(struct quality_window *w, enum quality_sort sort,
		   uint64_t seen, uint64_t marked);
uint32_t quality_marks_ppm(const struct quality_window *w,
			   enum quality_sort sort);
struct quality_words quality_close(struct quality_window *w, uint32_t sent,
				   uint32_t lost,
				   const struct quality_config *config);
enum quality_word quality_all(struct quality_words words);
uint32_t quality_loss_ppm(const struct quality_window *w);
bool quality_step(struct quality *q, enum quality_word word,
		  const struct quality_config *config);
uint32_t quality_percent(const struct quality *q);
uint64_t quality_jitter(uint64_t interval_ns, uint64_t *seed);
const char *quality_name(enum quality_word word);

#endif /* _SRPOLD_QUALITY_H */
