/* SPDX-License-Identifier: GPL-2.0 */
/* Policy -> mode -> path. */
#ifndef _SRPOL_SELECT_H
#define _SRPOL_SELECT_H

static __always_inline bool srpol_select_backup(__u32 policy, __u32 gen,
						__u32 place,
						struct srpol_choice *c)
{
	__u32 path = srpol_path_other(policy, gen, place, SRPOL_REHASH_TRIES);

	if (!path || !srpol_path_take(gen, path, c))
		return false;
	c->policy = policy;
	c->reason = SRPOL_REASON_BACKUP;
	return true;
}

/* By place on the table; @tries: see srpol_path_other(). */
static __always_inline bool srpol_select_place(const struct srpol_ask *ask,
					       __u32 place, __u32 tries,
					       struct srpol_choice *c)
{
	__u32 path = srpol_place_path(ask->cfg, place);

	if (srpol_path_take(ask->gen, path, c)) {
		c->found = ask->version;
		return true;
	}
	path = srpol_path_other(ask->policy, ask->gen, place, tries);
	if (!path || !srpol_path_take(ask->gen, path, c))
		return false;
	c->reason = SRPOL_REASON_DOWN_SKIPPED;
	return true;
}

/* Mode on-congestion: was there a congestion signal lately? */
static __always_inline bool srpol_congested(__u32 policy,
					    __u32 wait_to_restore_ms)
{
	struct srpol_contention *v = bpf_map_lookup_elem(&contention, &policy);
	__u64 last = v ? READ_ONCE(v->last_ns) : 0;

	return last && (__s64)(bpf_ktime_get_coarse_ns() - last) <
		       (__s64)(wait_to_restore_ms * SRPOL_NS_PER_MS);
}

/* True if there is a live path in the policy itself. */
static __always_inline bool srpol_select_mode(const struct srpol_pkt *pkt,
					      const struct srpol_ask *ask,
					      struct srpol_choice *c)
{
	struct srpol_flow *flow = ask->flow;
	__u32 tries = SRPOL_REHASH_TRIES, place = ask->d->hash;

	switch (c->mode) {
	case SRPOL_LB_MODE_FLOWLET:
		return srpol_mode_flowlet(ask, c);
	case SRPOL_LB_MODE_ADAPTIVE:
		return srpol_mode_adaptive(ask, c);
	case SRPOL_LB_MODE_ACTIVE_BACKUP:
		/* The table is the order of trial, from its beginning. */
		place = 0;
		tries = 0;
		break;
	case SRPOL_LB_MODE_SPRAY:
		place = srpol_spray_place(pkt, ask, &c->unsafe);
		srpol_flow_tick(flow);
		return srpol_select_place(ask, place, tries, c);
	}
	srpol_flow_tick(flow);
	/* Where the last packet went, if that is what the table says still. */
	if (ask->d->stay.chosen == ask->version &&
	    srpol_path_take(ask->gen, ask->d->stay.path, c)) {
		c->found = ask->version;
		return true;
	}
	return srpol_select_place(ask, place, tries, c);
}

/**
 * srpol_select - choose the path of a packet
 * @pkt: packet
 * @gen: generation
 * @flow: its flow, the packet counted already; notes when it was seen and what
 *	its mode has to remember, but not the path
 * @d: what was decided about it
 * @c: result
 *
 * Return: 0, or the enum srpol_reason why there is none: NOT_CONGESTED, or what
 * drop-upon-invalid asks for.
 */
static __always_inline int srpol_select(const struct srpol_pkt *pkt, __u32 gen,
					struct srpol_flow *flow,
					const struct srpol_decision *d,
					struct srpol_choice *c)
{
	__u32 id = d->policy, ver, backup, drop_upon_invalid;
	struct srpol_ask ask = {
		.flow = flow, .d = d, .policy = id, .gen = gen,
	};
	struct srpol_policy *policy;

	policy = bpf_map_lookup_elem(&policies, &id);
	if (!policy)
		return SRPOL_REASON_NO_POLICY;
	ver = READ_ONCE(policy->ver);
	ask.version = srpol_version(ver, gen);
	ask.cfg = &policy->cfg[srpol_copy(ver, gen)];
	c->policy = id;
	c->reason = SRPOL_REASON_STEERED;
	c->unsafe = 0;
	c->found = ~ask.version;
	c->mode = d->mode == SRPOL_MODE_INHERIT ? ask.cfg->mode : d->mode;
	if (c->mode == SRPOL_LB_MODE_ON_CONGESTION &&
	    !srpol_congested(id, ask.cfg->wait_to_restore_ms)) {
		srpol_flow_tick(flow);
		return SRPOL_REASON_NOT_CONGESTED;
	}
	backup = ask.cfg->backup;
	drop_upon_invalid = ask.cfg->drop_upon_invalid;
	if (ask.cfg->n_buckets && srpol_select_mode(pkt, &ask, c))
		return 0;
	if (backup && srpol_select_backup(backup, gen, d->hash, c))
		return 0;
	return drop_upon_invalid ? SRPOL_REASON_INVALID_DROP :
					       SRPOL_REASON_INVALID_PASSTHROUGH;
}

#endif /* _SRPOL_SELECT_H */
