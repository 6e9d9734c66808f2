// SPDX-License-Identifier: GPL-2.0
/*
 * The state of paths: how events, reports and verdicts change it at once, under
 * srpol_net.state_lock, and what they leave to the work.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "config.h"
#include "dataplane.h"
#include "netlink.h"
#include "nexthop.h"
#include "path.h"
#include "queue.h"

#define SRPOL_RETRY_SHIFT_MAX	4
#define SRPOL_RETRY_SOON	4	/* retry intervals */
#define SRPOL_EXPIRE_BATCH	256	/* entries processed without a break */

/**
 * srpol_path_reason() - why a path is not up
 * @path: the path
 * @cfg: its configuration
 * @resolved: outcome of its resolution
 * @nh: its next hop or NULL
 * @reported: it is held down by a report
 */
enum srpol_path_reason
srpol_path_reason(const struct srpol_path *path,
		  const struct srpol_path_cfg *cfg,
		  enum srpol_path_reason resolved,
		  const struct srpol_nexthop *nh, bool reported)
{
	const struct srpol_verdict *v = path->verdict;

	if (cfg->admin_down)
		return SRPOL_PATH_REASON_ADMIN_DOWN;
	if (resolved)
		return resolved;
	if (nh && nh->reason)
		return nh->reason;
	if (reported)
		return SRPOL_PATH_REASON_UNREACHABLE_REPORTED;
	if (v && v->verdict == SRPOL_PATH_VERDICT_DOWN)
		return v->reason;
	return SRPOL_PATH_REASON_NONE;
}

/**
 * srpol_path_reason_state() - the state that goes with a reason
 * @reason: the reason
 */
enum srpol_path_state srpol_path_reason_state(enum srpol_path_reason reason)
{
	switch (reason) {
	case SRPOL_PATH_REASON_NONE:
		return SRPOL_PATH_STATE_UP;
	case SRPOL_PATH_REASON_NO_ROUTE:
	case SRPOL_PATH_REASON_NO_SOURCE:
	case SRPOL_PATH_REASON_NO_RESOURCES:
	case SRPOL_PATH_REASON_NEIGHBOR_UNRESOLVED:
		return SRPOL_PATH_STATE_UNRESOLVED;
	default:
		return SRPOL_PATH_STATE_DOWN;
	}
}

/* Attributes of a path-event; @sn->state_lock is held. */
static int srpol_path_event_fill(struct srpol_net *sn, struct sk_buff *skb,
				 const struct srpol_obj *obj)
{
	const struct srpol_path_cfg *cfg = srpol_obj_shown(obj);
	const struct srpol_path *path = srpol_path(obj);

	if (nla_put_u32(skb, SRPOL_A_PATH_ID, path->id) ||
	    (cfg->name[0] &&
	     nla_put_string(skb, SRPOL_A_PATH_NAME, cfg->name)) ||
	    nla_put_u32(skb, SRPOL_A_PATH_STATE, path->state) ||
	    nla_put_u32(skb, SRPOL_A_PATH_REASON, path->reason))
		return -EMSGSIZE;
	return 0;
}

static void srpol_path_notify(struct srpol_net *sn, struct srpol_path *path)
{
	WRITE_ONCE(path->event, false);
	srpol_nl_notify(sn, NULL, SRPOL_CMD_PATH_EVENT, SRPOL_NLGRP_EVENTS,
			srpol_path_event_fill, &path->obj);
}

/**
 * srpol_path_enter() - set the state of a path; the caller tells the data plane
 * @sn: namespace; @sn->state_lock is held
 * @path: the path
 * @reason: why it is not up
 *
 * Listeners are notified. If they have not been notified of the path itself
 * yet, that happens later: see srpol_path_announce().
 */
void srpol_path_enter(struct srpol_net *sn, struct srpol_path *path,
		      enum srpol_path_reason reason)
{
	enum srpol_path_state state = srpol_path_reason_state(reason);

	lockdep_assert_held(&sn->state_lock);
	if (path->state == state && path->reason == reason)
		return;
	if (state == SRPOL_PATH_STATE_UP)
		WRITE_ONCE(path->up_since, jiffies);
	WRITE_ONCE(path->state, state);
	path->reason = reason;
	WRITE_ONCE(path->event, true);
	if (path->announced)
		srpol_path_notify(sn, path);
}

/**
 * srpol_path_announce() - listeners have been notified of the path: send its
 * state
 * @sn: namespace; @sn->state_lock is held
 * @path: the path
 */
void srpol_path_announce(struct srpol_net *sn, struct srpol_path *path)
{
	lockdep_assert_held(&sn->state_lock);
	path->announced = true;
	if (path->event)
		srpol_path_notify(sn, path);
}

/**
 * srpol_path_mark() - mark a path for the work
 * @sn: namespace; @sn->state_lock is held
 * @path: the path
 * @what: SRPOL_PATH_* bits
 */
void srpol_path_mark(struct srpol_net *sn, struct srpol_path *path, u8 what)
{
	lockdep_assert_held(&sn->state_lock);
	path->stale |= what;
	if (list_empty(&path->stale_node))
		list_add_tail(&path->stale_node, &sn->stale_paths);
}

/**
 * srpol_path_set_state() - change the state of a path outside of a transaction
 * @sn: namespace; @sn->state_lock is held
 * @path: the path
 * @reason: why it is not up
 *
 * Tells the data plane at once, and notifies listeners.
 */
void srpol_path_set_state(struct srpol_net *sn, struct srpol_path *path,
			  enum srpol_path_reason reason)
{
	bool was_up = path->state == SRPOL_PATH_STATE_UP;
	bool up = !reason;

	if (up != was_up) {
		if (path->compiled)
			srpol_dp_call(sn, path_state, path->id, up);
		srpol_path_mark(sn, path, SRPOL_PATH_POLICIES);
	}
	srpol_path_enter(sn, path, reason);
}

/* A reason that held a path down has ended. */
static void srpol_path_reconsider(struct srpol_net *sn,
				  struct srpol_path *path)
{
	srpol_path_mark(sn, path, SRPOL_PATH_RESOLVE);
	srpol_queue_work(sn);
}

/**
 * srpol_path_follow_nexthop() - the next hop of a path changed
 * @sn: namespace, locked; @sn->state_lock is held
 * @path: the path
 *
 * A next hop that is down is down for all its paths. Only those paths are
 * resolved again that might find another one: a path with a configured device
 * and gateway has no other choice, unless the device itself is gone.
 */
void srpol_path_follow_nexthop(struct srpol_net *sn, struct srpol_path *path)
{
	const struct srpol_path_cfg *cfg = path->obj.cur;
	const struct srpol_nexthop *nh = path->nh;

	lockdep_assert_held(&sn->lock);
	lockdep_assert_held(&sn->state_lock);
	if (nh->up || nh->gone || path->refused || !cfg->ifindex ||
	    ipv6_addr_any(&cfg->via))
		srpol_path_mark(sn, path, SRPOL_PATH_RESOLVE);
	else
		srpol_path_set_state(sn, path,
				     srpol_path_reason(path, cfg,
						       SRPOL_PATH_REASON_NONE,
						       nh, path->reported));
}

/**
 * srpol_path_report() - a router has reported that it cannot reach the next
 * segment
 * @sn: namespace; @sn->state_lock is held
 * @path: the path
 */
void srpol_path_report(struct srpol_net *sn, struct srpol_path *path)
{
	unsigned long hold =
		msecs_to_jiffies(srpol_config_live(sn)->retry_interval_ms);

	lockdep_assert_held(&sn->state_lock);
	if (path->reported || path->state != SRPOL_PATH_STATE_UP)
		return;
	/* failed again soon after a retry: wait longer */
	if (path->retry_at &&
	    time_before(jiffies, path->retry_at + SRPOL_RETRY_SOON *
			(hold << path->retry_shift)))
		path->retry_shift = min(path->retry_shift + 1,
					SRPOL_RETRY_SHIFT_MAX);
	else
		path->retry_shift = 0;
	hold <<= path->retry_shift;
	path->retry_at = jiffies + hold;
	WRITE_ONCE(path->reported, true);
	list_add_tail(&path->report_node, &sn->reported);
	srpol_path_set_state(sn, path,
			     SRPOL_PATH_REASON_UNREACHABLE_REPORTED);
	srpol_queue_work(sn);
	if (hold)
		__srpol_queue_tick(sn, hold);
}

/**
 * srpol_path_forget_report() - end the effect of a report on a path
 * @path: the path; srpol_net.state_lock is held
 */
void srpol_path_forget_report(struct srpol_path *path)
{
	WRITE_ONCE(path->reported, false);
	list_del_init(&path->report_node);
}

/**
 * srpol_path_clear_verdict() - remove the verdict on a path
 * @path: the path; srpol_net.state_lock is held
 */
void srpol_path_clear_verdict(struct srpol_path *path)
{
	if (!path->verdict)
		return;
	list_del(&path->verdict->node);
	kfree(path->verdict);
	path->verdict = NULL;
}

/**
 * srpol_path_set_verdict() - store what user space reports of a path
 * @sn: namespace, not locked
 * @id: id of the path
 * @verdict: the verdict, which is copied; NULL removes the present one
 *
 * Does not wait for a transaction: if a path is found to be down, the next
 * packet does not use it.
 *
 * Return: 0, -ENOENT if there is no such path, or -ENOMEM.
 */
int srpol_path_set_verdict(struct srpol_net *sn, u32 id,
			   const struct srpol_verdict *verdict)
{
	struct srpol_verdict *v = NULL;
	struct srpol_path *path;
	int err = -ENOENT;

	if (verdict) {
		v = kmemdup(verdict, sizeof(*verdict), GFP_KERNEL_ACCOUNT);
		if (!v)
			return -ENOMEM;
	}
	spin_lock_bh(&sn->state_lock);
	/* a path is erased first, and freed only after it took this lock */
	path = xa_load(&sn->paths, id);
	if (!path || !path->obj.cur)
		goto out;
	srpol_path_clear_verdict(path);
	if (v) {
		v->path = path;
		path->verdict = v;
		list_add_tail(&v->node, &sn->verdicts);
		__srpol_queue_tick(sn, max_t(long, 1, v->expires - jiffies));
	}
	if (v && v->verdict == SRPOL_PATH_VERDICT_DOWN &&
	    path->state == SRPOL_PATH_STATE_UP) {
		srpol_path_set_state(sn, path, v->reason);
		srpol_queue_work(sn);
	} else {
		srpol_path_reconsider(sn, path);
	}
	v = NULL;
	err = 0;
out:
	spin_unlock_bh(&sn->state_lock);
	kfree(v);
	return err;
}

static void srpol_path_expire_report(struct srpol_net *sn,
				     struct srpol_path *path, bool ever,
				     unsigned long *next)
{
	unsigned long left = path->retry_at - jiffies;

	if (!ever || (long)left > 0) {
		list_move_tail(&path->report_node, &sn->reported);
		if (ever)
			*next = min(*next, left);
		return;
	}
	srpol_path_forget_report(path);
	path->retry_at = jiffies;
	srpol_path_reconsider(sn, path);
}

static void srpol_path_expire_verdict(struct srpol_net *sn,
				      struct srpol_verdict *v,
				      unsigned long *next)
{
	struct srpol_path *path = v->path;
	unsigned long left = v->expires - jiffies;

	if ((long)left > 0) {
		list_move_tail(&v->node, &sn->verdicts);
		*next = min(*next, left);
		return;
	}
	srpol_path_clear_verdict(path);
	srpol_path_reconsider(sn, path);
}

/**
 * srpol_path_expire() - end reports and verdicts that have lasted long enough
 * @sn: namespace, locked
 *
 * The lists are emptied into lists here, so that each entry is processed once
 * although the lock is released after some: entries that stay go back, and a
 * verdict that is replaced meanwhile leaves the list that it is in.
 *
 * Return: jiffies until the next one ends, %MAX_JIFFY_OFFSET if there is none.
 */
unsigned long srpol_path_expire(struct srpol_net *sn)
{
	bool ever = srpol_config(sn)->retry_interval_ms;
	unsigned long next = MAX_JIFFY_OFFSET;
	struct srpol_verdict *v;
	struct srpol_path *path;
	LIST_HEAD(verdicts);
	LIST_HEAD(reported);
	u32 n = 0;

	lockdep_assert_held(&sn->lock);
	spin_lock_bh(&sn->state_lock);
	list_splice_init(&sn->reported, &reported);
	list_splice_init(&sn->verdicts, &verdicts);
	while (!list_empty(&reported) || !list_empty(&verdicts)) {
		path = list_first_entry_or_null(&reported, struct srpol_path,
						report_node);
		v = list_first_entry_or_null(&verdicts, struct srpol_verdict,
					     node);
		if (path)
			srpol_path_expire_report(sn, path, ever, &next);
		else
			srpol_path_expire_verdict(sn, v, &next);
		if (++n % SRPOL_EXPIRE_BATCH == 0) {
			spin_unlock_bh(&sn->state_lock);
			cond_resched();
			spin_lock_bh(&sn->state_lock);
		}
	}
	spin_unlock_bh(&sn->state_lock);
	return next;
}
