/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quality: a link that works badly is used less, a link that does not work is
 * liveness.h's business. Pure: what probes counted comes in, levels go out.
 *
 *	window	 what one probe's answers of an interval say, of loss, of
 *		 delay and of congestion marks: good, bad, or neither, so that
 *		 what hovers at a limit changes nothing
 *	quality	 level of a link, one step at a time: down after some bad
 *		 intervals in a row, up after some good ones; an ascent that did
 *		 not last makes the next one wait twice as long
 *
 * The delay that counts is the least one of an interval beside the least one
 * ever: a burst does not raise it, a queue that stays does.
 */
#ifndef _SRPOLD_QUALITY_H
#define _SRPOLD_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

#define QUALITY_LEVELS	9	/* 0 is the best */

/**
 * enum quality_sort - congestion signals
 * @QUALITY_CE: probes that come back with a mark
 * @QUALITY_CNP: notifications for packets that were sent; a peer sends few for
 *	many marks, so that less of them is bad already
 * @QUALITY_PATH_CE: packets that were sent and reached the peer with a mark, as
 *	it tells by probes that it turns round
 */
enum quality_sort {
	QUALITY_CE,
	QUALITY_CNP,
	QUALITY_PATH_CE,
	QUALITY_SORTS,
};

/**
 * struct quality_config - what is bad
 * @loss_ppm: lost probes in a million
 * @delay_ns: delay that stays, beside that of an idle path
 * @marks_ppm: congestion signals in a million, by enum quality_sort
 * @patience: bad intervals in a row that cost a level, 1 at least
 * @calm: good intervals that give one back, 1 at least
 * @calm_max: limit of the former, which doubles when an ascent does not last
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
 * enum quality_word - what an interval says
 * @QUALITY_UNSURE: too little, or between good and bad
 * @QUALITY_GOOD: it works well
 * @QUALITY_LOSS: packets are lost
 * @QUALITY_DELAY: packets wait
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
 * struct quality_words - what an interval says of one probe
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
 * struct quality_share - congestion signals of one sort
 * @seen: packets, of an interval of long ago ever less; in 1/256
 * @marked: signals, likewise
 */
struct quality_share {
	uint64_t seen;
	uint64_t marked;
};

/**
 * struct quality_window - answers to one probe
 * @sent: probes, of an interval of long ago ever less; in 1/256
 * @lost: of these, likewise
 * @rtt_ns: least of this interval, 0 without answers
 * @base_ns: least ever, 0 without answers
 * @queue_ns: by how much the last interval's least was more than @base_ns
 * @share: congestion signals
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
 * struct quality - of a link
 * @level: 0 the best to QUALITY_LEVELS - 1
 * @word: what the last interval said, enum quality_word
 * @bad: bad intervals in a row
 * @good: good intervals in a row
 * @wait: good intervals that the next ascent takes, 0: quality_config.calm
 * @ascended: an ascent is younger than @wait intervals
 * @steps: changes of @level
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
