// SPDX-License-Identifier: GPL-2.0
#include "alg.h"
#include "quality.h"

#define ONE		256	/* one probe, in the units of a window */
#define FADE_SHIFT	3	/* old intervals fade by 1/8 each interval */
#define LOST_MIN	3	/* fewer are chance; also used for marks */
#define MILLION		1000000ull

/* Each level is a quarter less than the one before. */
static const uint8_t percent[QUALITY_LEVELS] = {
	100, 75, 56, 42, 32, 24, 18, 13, 10
};

static const char * const names[] = {
	[QUALITY_UNSURE] = "unsure",
	[QUALITY_GOOD] = "good",
	[QUALITY_LOSS] = "loss",
	[QUALITY_DELAY] = "delay",
	[QUALITY_MARKS] = "congestion",
};

/**
 * quality_answer() - a probe came back
 * @w: its window
 * @rtt_ns: its round-trip time
 */
void quality_answer(struct quality_window *w, uint64_t rtt_ns)
{
	if (!w->rtt_ns || rtt_ns < w->rtt_ns)
		w->rtt_ns = rtt_ns;
	if (!w->base_ns || rtt_ns < w->base_ns)
		w->base_ns = rtt_ns;
}

/**
 * quality_loss_ppm() - recent loss of probes per million
 * @w: the window
 */
uint32_t quality_loss_ppm(const struct quality_window *w)
{
	return w->sent ? w->lost * MILLION / w->sent : 0;
}

/**
 * quality_marks() - record congestion signals of the interval
 * @w: the window
 * @sort: sort of the signals
 * @seen: packets that could have brought a signal
 * @marked: signals; reported by a peer, so possibly any number
 */
void quality_marks(struct quality_window *w, enum quality_sort sort,
		   uint64_t seen, uint64_t marked)
{
	struct quality_share *s = &w->share[sort];

	s->seen += seen * ONE;
	s->marked += marked * ONE;
	if (s->marked > s->seen)
		s->marked = s->seen;
}

/**
 * quality_marks_ppm() - recent congestion signals per million
 * @w: the window
 * @sort: sort of the signals
 */
uint32_t quality_marks_ppm(const struct quality_window *w,
			   enum quality_sort sort)
{
	const struct quality_share *s = &w->share[sort];

	if (!s->seen)
		return 0;
	return s->marked >= s->seen ? MILLION : s->marked * MILLION / s->seen;
}

static enum quality_word of_loss(const struct quality_window *w,
				 const struct quality_config *config)
{
	uint32_t ppm = quality_loss_ppm(w);

	if (w->lost >= LOST_MIN * ONE && ppm >= config->loss_ppm)
		return QUALITY_LOSS;
	return ppm < config->loss_ppm / 2 ? QUALITY_GOOD : QUALITY_UNSURE;
}

static enum quality_word of_delay(const struct quality_window *w,
				  const struct quality_config *config)
{
	uint64_t limit = config->delay_ns > w->base_ns ? config->delay_ns :
			 w->base_ns;

	if (w->queue_ns >= limit)
		return QUALITY_DELAY;
	return w->queue_ns < limit / 2 ? QUALITY_GOOD : QUALITY_UNSURE;
}

/*
 * Bad if one sort is bad; good only if all are, and probes are a sort that
 * always exists.
 */
static enum quality_word of_marks(const struct quality_window *w,
				  const struct quality_config *config)
{
	enum quality_word word = QUALITY_GOOD;
	uint32_t sort, ppm;

	for (sort = 0; sort < QUALITY_SORTS; sort++) {
		ppm = quality_marks_ppm(w, sort);
		if (w->share[sort].marked >= LOST_MIN * ONE &&
		    ppm >= config->marks_ppm[sort])
			return QUALITY_MARKS;
		/* a share of less than one packet says nothing */
		if (w->share[sort].seen >= ONE &&
		    ppm >= config->marks_ppm[sort] / 2)
			word = QUALITY_UNSURE;
	}
	return word;
}

static void fade(struct quality_share *s)
{
	s->seen -= s->seen >> FADE_SHIFT;
	s->marked -= s->marked >> FADE_SHIFT;
}

/**
 * quality_close() - evaluate an interval
 * @w: the window; the next interval begins
 * @sent: probes sent in the interval
 * @lost: probes of it that never came back
 * @config: when a link works badly
 *
 * An interval without answers has no result: failed paths are not a matter of
 * quality.
 */
struct quality_words quality_close(struct quality_window *w, uint32_t sent,
				   uint32_t lost,
				   const struct quality_config *config)
{
	bool answered = w->rtt_ns;
	struct quality_words words = {};
	uint32_t sort;

	w->sent += sent * ONE - (w->sent >> FADE_SHIFT);
	w->lost += lost * ONE - (w->lost >> FADE_SHIFT);
	w->queue_ns = answered ? w->rtt_ns - w->base_ns : 0;
	w->rtt_ns = 0;
	if (answered)
		words = (struct quality_words){
			.loss = of_loss(w, config),
			.delay = of_delay(w, config),
			.marks = of_marks(w, config),
		};
	for (sort = 0; sort < QUALITY_SORTS; sort++)
		fade(&w->share[sort]);
	return words;
}

/**
 * quality_all() - combine results of an interval
 * @words: results for loss, delay and marks
 *
 * Loss is the worst. The total is good only if all three are good.
 */
enum quality_word quality_all(struct quality_words words)
{
	if (words.loss == QUALITY_LOSS)
		return words.loss;
	if (words.delay == QUALITY_DELAY)
		return words.delay;
	if (words.marks == QUALITY_MARKS)
		return words.marks;
	return words.loss == QUALITY_GOOD && words.delay == QUALITY_GOOD &&
	       words.marks == QUALITY_GOOD ? QUALITY_GOOD : QUALITY_UNSURE;
}

static bool descend(struct quality *q, const struct quality_config *config)
{
	q->good = 0;
	if (++q->bad < config->patience || q->level == QUALITY_LEVELS - 1)
		return false;
	if (q->ascended && q->wait < config->calm_max)
		q->wait = 2 * q->wait < config->calm_max ? 2 * q->wait :
			  config->calm_max;
	q->ascended = false;
	q->bad = 0;
	q->level++;
	return true;
}

static bool ascend(struct quality *q, const struct quality_config *config)
{
	q->bad = 0;
	if (++q->good < q->wait)
		return false;
	q->good = 0;
	/* @wait good intervals have passed since the last ascent: it lasted */
	q->ascended = q->level > 0;
	if (!q->level) {
		q->wait = q->wait / 2 > config->calm ? q->wait / 2 :
			  config->calm;
		return false;
	}
	q->level--;
	return true;
}

/**
 * quality_step() - update a link's level after an interval
 * @q: the link
 * @word: result of the interval
 * @config: when a link works badly
 *
 * Return: true if the level changed.
 */
bool quality_step(struct quality *q, enum quality_word word,
		  const struct quality_config *config)
{
	bool changed;

	q->word = word;
	if (!q->wait)
		q->wait = config->calm;
	if (word == QUALITY_UNSURE)
		return false;
	changed = word == QUALITY_GOOD ? ascend(q, config) :
		  descend(q, config);
	q->steps += changed;
	return changed;
}

/**
 * quality_percent() - percentage of a link's capacity that is used
 * @q: the link
 */
uint32_t quality_percent(const struct quality *q)
{
	return percent[q->level];
}

/**
 * quality_jitter() - time to the next check of the links
 * @interval_ns: mean of the times
 * @seed: random state, different on each host
 *
 * Hosts that see the same link must not all move at the same time.
 */
uint64_t quality_jitter(uint64_t interval_ns, uint64_t *seed)
{
	*seed += 0x9e3779b97f4a7c15ull;
	return interval_ns - interval_ns / 4 +
	       srpol_mix(*seed) % (interval_ns / 2 + 1);
}

/**
 * quality_name() - name of a result
 * @word: enum quality_word
 */
const char *quality_name(enum quality_word word)
{
	return names[word];
}
