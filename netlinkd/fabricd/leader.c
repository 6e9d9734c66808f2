// SPDX-License-Identifier: GPL-2.0
/*
 * Leader election. The leader's key exists as long as its lease; the engine
 * that creates it leads, and the key's create revision is the term. Safety
 * comes from transactions that compare the key: here an engine only stops
 * trying when that makes no sense any more.
 *
 * A plan is computed in the loop that renews the lease. Where that takes longer than
 * the lease lasts, the next leader would compute as long, and nobody would ever write
 * a plan. So a leader that was kept from its lease asks for a longer one the next
 * time: it can lead, and after its end the others wait longer. So it has that only for
 * as long as computations were that long lately. But each term begins with a plan, which
 * may be the longest: a lease that this one needs is kept for the whole term, as each
 * term for a shorter lease would end at once.
 */
#include <string.h>

#include "fabricd.h"

#define RETRY_NS	NS_PER_SEC	/* at most */
#define LEAVE_NS	(100 * NS_PER_MS)	/* for the end of the lease to be sent */
#define BUSY_LEASE	4		/* a lease lasts so often as long as a computation */
#define STARVED		10		/* a computation lasts so often as long, at most */
#define LEASE_MAX_S	600		/* of one that is longer than configured */
#define LATELY_NS	(LEASE_MAX_S * NS_PER_SEC)	/* for so long, or twice that */

static struct mirror mirror;
static uint64_t lease;
static uint64_t kept_ns;	/* last time at which the lease was certainly
				 * alive */
static uint64_t asked_ns;
static uint32_t lease_s;	/* how long the lease lasts, or the one asked for */
static uint64_t due_ns;		/* when beat() is to be called */
static uint64_t used_ns;	/* processor time used when that was measured last */
static uint64_t since_ns;	/* begin of the time for which there is @busy_ns */
static uint64_t busy_ns;	/* longest computation that kept the leader from all else */
static uint64_t before_ns;	/* the same, in the time before that */
static uint64_t first_ns;	/* the same, of the first plan of this term, 0: none yet */
static uint64_t plans_before;	/* plans that were made before this term */
static bool has_planned;	/* in this term */
static struct {
	uint64_t end_ns;
	uint64_t late_ns;	/* so late the leader was back to see to its lease */
	uint64_t busy_ns;	/* as long as this it computed */
} delay;			/* longest one since the lease was kept */
static bool too_short;		/* the lease ended while the leader computed */
static bool asking;
static bool leaving;
static uint64_t left;		/* term that it led in and gave up: what it asked
				 * for then may still be under way */
static uint64_t ending;		/* lease that is to end, 0: none */
static uint64_t ending_until_ns;	/* when it is over without that */
static bool revoking;		/* the store has been asked for that */
static bool taken;		/* the leader's key exists */

static void tick(void *data);
static void beat(void *data);
static void revoke(void *data);
static struct alarm ticker = ALARM_INIT(tick, NULL);
static struct alarm beats = ALARM_INIT(beat, NULL);
static struct alarm revokes = ALARM_INIT(revoke, NULL);

static uint64_t lasts_ns(void)
{
	return lease_s * NS_PER_SEC;
}

static void look_in(uint64_t ns)
{
	alarm_stop(&ticker);
	alarm_set(&ticker, ns);
}

/* An answer that is missing is not waited for until the next renewal. */
static void ask_again(void)
{
	uint64_t ns = lasts_ns() / 16;

	if (!leaving)
		look_in(ns < RETRY_NS ? ns : RETRY_NS);
}

static uint64_t processor_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

static void forget(uint64_t now)
{
	if (now - since_ns < LATELY_NS)
		return;
	before_ns = now - since_ns < 2 * LATELY_NS ? busy_ns : 0;
	busy_ns = 0;
	since_ns = now;
}

/*
 * Only what the leader computed counts: one that was stopped learns nothing about how long
 * its plans take, nor does one that only answers. But a lease runs by the clock, and with
 * a part of a processor, as a container's limit leaves it, all computations take longer
 * than the processor time that they use.
 */
static void measure(void)
{
	uint64_t now = now_ns(), used = processor_ns();
	uint64_t late = now > due_ns ? now - due_ns : 0;
	uint64_t most = STARVED * (used - used_ns);
	uint64_t busy = most < late ? most : late;

	used_ns = used;
	/* what was measured is not measured once more, with what is computed next */
	due_ns += late;
	forget(now);
	if (!fabricd.term)
		return;
	if (busy > busy_ns)
		busy_ns = busy;
	/* steps of reservations before that are written, and not repeated in the next term */
	if (!has_planned && fabricd.stats.plans != plans_before) {
		has_planned = true;
		first_ns = busy;
	}
	if (delay.end_ns <= kept_ns || late > delay.late_ns) {
		delay.end_ns = now;
		delay.late_ns = late;
		delay.busy_ns = busy;
	}
}

/*
 * Whether the lease could not be kept as the leader was late. It asks after a quarter of
 * the lease. A delay that begins just then and outlasts the rest is longer than three
 * quarters, of which a beat may not notice one.
 */
static bool was_late(void)
{
	return now_ns() - kept_ns > lasts_ns() && delay.end_ns > kept_ns &&
	       delay.late_ns > lasts_ns() / 2;
}

static bool was_busy(void)
{
	return was_late() && BUSY_LEASE * delay.busy_ns > lasts_ns();
}

/* Often, also while a lease is long: what is late by less is not noticed. */
static void beat(void *data)
{
	uint64_t ns = fabricd.config.lease_s * NS_PER_SEC / 4;

	measure();
	alarm_set(&beats, ns);
	due_ns = now_ns() + ns;
}

static uint64_t longest_ns(void)
{
	uint64_t lately_ns = busy_ns > before_ns ? busy_ns : before_ns;

	return lately_ns > first_ns ? lately_ns : first_ns;
}

/* How long a new lease is to last, in s. */
static uint32_t wanted_s(void)
{
	uint64_t s = BUSY_LEASE * longest_ns() / NS_PER_SEC;

	if (s > LEASE_MAX_S)
		s = LEASE_MAX_S;
	return s > fabricd.config.lease_s ? s : fabricd.config.lease_s;
}

static void revoked(void *data, const struct store_reply *reply)
{
	revoking = false;
	if (leaving)
		return;
	if (!reply->error && *(uint64_t *)data == ending)
		ending = 0;
	if (ending && now_ns() < ending_until_ns)
		alarm_set(&revokes, RETRY_NS);
}

/* Until it is answered: a store that has just come back may be gone once more. */
static void revoke(void *data)
{
	static uint64_t asked;

	alarm_stop(&revokes);
	asked = ending;
	revoking = true;
	fabricd.store.ops->revoke(&fabricd.store, asked, revoked, &asked);
}

static void give_back(void)
{
	ending = lease;
	ending_until_ns = now_ns() + 2 * lasts_ns();
	lease = 0;
	if (!revoking || leaving)
		revoke(NULL);
}

static void step_down(const char *why)
{
	if (!fabricd.term)
		return;
	measure();
	too_short = was_busy();
	/* from now on it is forgotten as all others are */
	if (first_ns > busy_ns)
		busy_ns = first_ns;
	first_ns = 0;
	log_notice("no longer leader of shard %s: %s", fabricd.config.shard,
		   why);
	left = fabricd.term;
	fabricd.term = 0;
	/* that nobody leads it may not hear for long: the store may be away */
	if (!strcmp(fabricd.leader, fabricd.config.name))
		fabricd.leader[0] = '\0';
	plan_stop();
}

static void lead(uint64_t term)
{
	if (fabricd.term == term)
		return;
	/* what it computed before this does not count */
	measure();
	fabricd.term = term;
	plans_before = fabricd.stats.plans;
	has_planned = false;
	fabricd.stats.elected++;
	snprintf(fabricd.leader, sizeof(fabricd.leader), "%s",
		 fabricd.config.name);
	log_notice("leader of shard %s, term %llu", fabricd.config.shard,
		   (unsigned long long)term);
	plan_takeover();
}

/*
 * Its key is still there after it gave up. To lead in the same term once more would
 * be to go on beside what it began before: the key goes, and the term with it.
 */
static void begin_anew(void)
{
	give_back();
	ask_again();
}

static void campaigned(void *data, const struct store_reply *reply)
{
	/* if not by this one, by one whose reply was lost */
	bool is_ours = reply->n && reply->kvs[0].lease == lease && lease;

	asking = false;
	if (leaving)
		return;
	if (reply->error) {
		ask_again();
		return;
	}
	/* it was late: to begin with a lease that is over would be for nothing */
	if ((reply->succeeded || is_ours) && now_ns() - kept_ns > lasts_ns())
		begin_anew();
	else if (reply->succeeded)
		lead(reply->revision);
	else if (is_ours && reply->kvs[0].create == left)
		begin_anew();
	else if (is_ours)
		lead(reply->kvs[0].create);
	else
		taken = reply->n;
}

static void campaign(void)
{
	char key[STORE_KEY_LEN];
	struct store_compare compare = { .key = key_leader(key),
					 .created = true };
	struct store_put put = {
		.key = key, .value = fabricd.config.name,
		.len = strlen(fabricd.config.name), .lease = lease,
	};
	struct store_txn txn = {
		.compare = &compare, .n_compare = 1, .put = &put, .n_put = 1,
	};

	if (asking || leaving || !lease || fabricd.term)
		return;
	/* what is left of the lease has to last for the answer */
	if (now_ns() - kept_ns > lasts_ns() / 2) {
		ask_again();
		return;
	}
	asking = true;
	fabricd.store.ops->txn(&fabricd.store, &txn, campaigned, NULL);
}

static void granted(void *data, const struct store_reply *reply)
{
	asking = false;
	if (reply->error) {
		ask_again();
		return;
	}
	lease = reply->lease;
	kept_ns = asked_ns;
	if (leaving)
		give_back();
	else
		campaign();
}

static void kept(void *data, const struct store_reply *reply)
{
	asking = false;
	if (leaving)
		return;
	if (reply->error) {
		ask_again();
		return;
	}
	if (!reply->lease) {
		step_down("its lease is over");
		lease = 0;
		ask_again();
		return;
	}
	kept_ns = asked_ns;
	/* its own key may still exist after a transaction was refused */
	campaign();
}

/*
 * A lease cannot be made longer, so there will be a new one. What a leader computed
 * without losing its lease needs no longer one.
 */
static void choose_lease(void)
{
	uint32_t wanted = wanted_s();

	if (wanted > lease_s && lease_s && !too_short)
		return;
	if (wanted > lease_s && lease_s)
		log_notice("a computation took %.1f s: its lease will last %u s, as with %u s no engine would lead for long",
			   longest_ns() / 1e9, wanted, lease_s);
	too_short = false;
	lease_s = wanted;
}

static const char *why_over(void)
{
	if (was_busy())
		return "a computation took too long";
	return was_late() ? "it was stopped, or no processor was free" :
			    "the store does not answer";
}

static void tick(void *data)
{
	uint64_t now;

	measure();
	/* a delay that was measured just now comes before what is asked for now */
	now = now_ns();
	/*
	 * If its lease is still there when the store answers again, so is its key:
	 * it has to be renewed, or all would wait for its end.
	 */
	if (lease && now - kept_ns > lasts_ns())
		step_down(why_over());
	/*
	 * Renewals whose answers come too late may take effect all the same: its
	 * key must not keep out others whose store is quicker.
	 */
	if (!asking && lease && !fabricd.term &&
	    (now - kept_ns > 2 * lasts_ns() || too_short))
		give_back();
	/* after a crash all would wait for the end of one that is not needed any more */
	if (!asking && lease && wanted_s() <= lease_s / 2) {
		step_down("a shorter lease will do");
		give_back();
	}
	if (!asking && !lease)
		choose_lease();
	look_in(lasts_ns() / 4);
	if (asking)
		return;
	asking = true;
	asked_ns = now;
	fabricd.store.ops->lease(&fabricd.store, lease_s, lease,
				 lease ? kept : granted, NULL);
}

static void begin(void *data, uint64_t cluster)
{
	taken = false;
}

static void set(void *data, const struct store_kv *kv)
{
	taken = kv->value != NULL;
	if (!taken) {
		fabricd.leader[0] = '\0';
		if (kv->mod > fabricd.term)
			step_down("its key is gone");
		return;
	}
	snprintf(fabricd.leader, sizeof(fabricd.leader), "%.*s", (int)kv->len,
		 kv->value);
	if (fabricd.term && kv->create > fabricd.term)
		step_down("somebody else is");
}

static void end(void *data)
{
	if (!taken) {
		/* a deletion may have been missed */
		if (!fabricd.term)
			fabricd.leader[0] = '\0';
		campaign();
	} else {
		other_topology_look();
	}
}

/**
 * leader_fenced() - a transaction of the leader was refused: step down
 */
void leader_fenced(void)
{
	fabricd.stats.fenced++;
	step_down("a transaction was refused");
	/* its key may still be there, and then nothing else would tell it to begin anew */
	ask_again();
}

/**
 * leader_start() - start trying to become leader
 */
void leader_start(void)
{
	static char key[STORE_KEY_LEN];

	mirror = (struct mirror){
		.store = &fabricd.store, .key = key_leader(key),
		.poll_ns = fabricd.config.lease_s * NS_PER_SEC,
		.begin = begin, .set = set, .end = end,
	};
	mirror_start(&mirror);
	since_ns = due_ns = now_ns();
	used_ns = processor_ns();
	beat(NULL);
	tick(NULL);
}

/**
 * leader_stop() - stop trying, and end the lease, for which others would wait
 */
void leader_stop(void)
{
	bool waits = ending && now_ns() < ending_until_ns;

	leaving = true;
	alarm_stop(&ticker);
	alarm_stop(&beats);
	alarm_stop(&revokes);
	mirror_stop(&mirror);
	step_down("it ends");
	/* the key is still that lease's if the store did not end it when it was asked */
	if (waits)
		revoke(NULL);
	if (lease)
		give_back();
	else if (!waits)
		return;
	loop_run_for(LEAVE_NS);
}
