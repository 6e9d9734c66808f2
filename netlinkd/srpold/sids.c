// SPDX-License-Identifier: GPL-2.0
/*
 * SIDs of this namespace's hosts: they end where others' segment lists and probes do.
 * Somebody else's are never touched.
 */
#include <errno.h>
#include <string.h>

#include "probing.h"
#include "sids.h"

/* The object that has this SID to itself, NULL if there is none. */
static const struct sid_info *find_sid(const struct vec *there, const struct in6_addr *sid)
{
	const struct sid_info *have;

	vec_for_each(have, there)
		if (have->prefix_len == 128 &&
		    !memcmp(&have->sid, sid, sizeof(*sid)))
			return have;
	return NULL;
}

/* SIDs of which it was told that they are somebody else's */
static struct vec conflicts = VEC_INIT(struct in6_addr);

static struct in6_addr *conflict_find(const struct in6_addr *sid)
{
	struct in6_addr *told;

	vec_for_each(told, &conflicts)
		if (!memcmp(told, sid, sizeof(*sid)))
			return told;
	return NULL;
}

/*
 * Every change of anybody's makes the engine look: that is told once. Without a
 * behavior none is wanted.
 */
static void conflict_tell(const struct in6_addr *sid,
			  enum srpol_behavior behavior)
{
	char text[SRPOL_ADDR_STRLEN];

	if (conflict_find(sid))
		return;
	*(struct in6_addr *)vec_add(&conflicts) = *sid;
	srpol_addr_text(sid, text);
	if (behavior)
		log_error("SID %s is there with another behavior than %s", text,
			  srpol_name_of(srpol_behaviors, behavior));
	else
		log_error("SID %s is somebody else's: probes to it are dropped, as there is no map for them",
			  text);
}

/**
 * sids_forget() - tell of each SID that is somebody else's once more
 */
void sids_forget(void)
{
	conflicts.n = 0;
}

static void conflict_forget(const struct in6_addr *sid)
{
	struct in6_addr *told = conflict_find(sid);

	if (told)
		*told = ((struct in6_addr *)conflicts.data)[--conflicts.n];
}

/* Binding SIDs come and go with their policies. */
static bool is_own_sid(const struct sid_info *have)
{
	return have->origin == SRPOL_ORIGIN_ENGINE && !have->color;
}

/*
 * Have a SID that is wanted. What is there with the origin of the engine and is not
 * marked is not.
 */
static int make_sid(struct sids *s, const struct in6_addr *sid,
		    enum srpol_behavior behavior, bool now)
{
	const struct sid_info *have = find_sid(&s->there, sid);
	struct srpol_msg msg;

	if (have)
		s->wanted[have - (const struct sid_info *)s->there.data] = true;
	if (now && have && have->behavior != behavior && !is_own_sid(have)) {
		conflict_tell(sid, behavior);
		return 0;
	}
	conflict_forget(sid);
	if (!now || (have && have->behavior == behavior))
		return 0;
	srpol_msg_start(&s->engine->genl, &msg, SRPOL_CMD_SID_NEW,
			NLM_F_CREATE | (have ? NLM_F_REPLACE : NLM_F_EXCL));
	srpol_msg_put(&msg, SRPOL_A_SID_SID, sizeof(*sid), sid);
	srpol_msg_put_u32(&msg, SRPOL_A_SID_BEHAVIOR, behavior);
	srpol_msg_put_u32(&msg, SRPOL_A_SID_PREFIX_LEN, 128);
	if (behavior == SRPOL_BEHAVIOR_UDT46)
		srpol_msg_put_u32(&msg, SRPOL_A_SID_BLOCK_LEN,
				  s->engine->fabric->sids.block_len);
	srpol_msg_put_u32(&msg, SRPOL_A_SID_ORIGIN, SRPOL_ORIGIN_ENGINE);
	s->made++;
	return srpol_batch_add(s->batch, msg.nlh);
}

/*
 * The compressed SID of a host, if it has one: what peers end their lists with,
 * whether or not lists of this host are compressed. Of its locator only this one
 * address: others may be addresses of the host. It may be the one at which full
 * lists end, whose behavior does for it, too.
 */
static int make_usid(struct sids *s, const struct srpol_node *host,
		     const struct in6_addr *decap)
{
	const struct srpol_sid_plan *sids = &s->engine->fabric->sids;
	struct in6_addr sid;

	if (!host->csid ||
	    srpol_usid_pack(&sids->block, sids->block_len, sids->csid_len,
			    &host->csid, 1, &sid, 1) != 1 ||
	    !memcmp(&sid, decap, sizeof(sid)))
		return 0;
	return make_sid(s, &sid, SRPOL_BEHAVIOR_UDT46, true);
}

/*
 * Whether a SID is somebody else's, as such or by a prefix: whatever its behavior, XDP
 * keeps probes to it from the packet sockets.
 */
static bool is_taken(struct sids *s, const struct in6_addr *sid)
{
	const struct sid_info *have;

	vec_for_each(have, &s->there)
		if (!is_own_sid(have) &&
		    srpol_addr_in_prefix(sid, &have->sid, have->prefix_len))
			return true;
	return false;
}

/**
 * sids_make() - have the SIDs of the hosts of this namespace
 * @s: what is there; those that are wanted are marked
 *
 * They are for decapsulation, for returning probes, and for probes of peers to reflect.
 * A data plane without a map of probes would refuse the latter two.
 *
 * Return: 0 or a negative errno.
 */
int sids_make(struct sids *s)
{
	const struct srpol_fabric *f = s->engine->fabric;
	struct in6_addr decap, probe, reflect;
	int ret = 0;
	uint32_t i;

	for (i = 0; !ret && i < f->n_nodes; i++) {
		if (f->nodes[i].tier != SRPOL_TIER_HOST ||
		    !engine_is_local(s->engine, i))
			continue;
		decap = engine_sid(s->engine, i, &f->sids.decap);
		probe = engine_sid(s->engine, i, &f->sids.probe);
		ret = make_sid(s, &decap, SRPOL_BEHAVIOR_END_DT46, true) ?:
		      make_usid(s, &f->nodes[i], &decap);
		if (ret)
			break;
		/* without a map XDP would keep probes from the packet sockets, and drop them */
		if (probe_map_is_xdp())
			ret = make_sid(s, &probe, SRPOL_BEHAVIOR_PROBE, true);
		else if (is_taken(s, &probe))
			conflict_tell(&probe, 0);
		else
			conflict_forget(&probe);
		if (ret || IN6_IS_ADDR_UNSPECIFIED(&f->sids.reflect))
			continue;
		/* XDP would go on by keys of before, which nobody could revoke */
		if (reflect_map_is_lost())
			continue;
		/* stays without keys, so that probes that come are counted */
		reflect = engine_sid(s->engine, i, &f->sids.reflect);
		ret = make_sid(s, &reflect, SRPOL_BEHAVIOR_REFLECT,
			       s->engine->keys.n && reflect_map_is_there());
	}
	return ret;
}

/**
 * sids_delete() - delete those of the engine that nobody wants
 * @s: as sids_make() leaves it
 *
 * Return: 0 or a negative errno.
 */
int sids_delete(struct sids *s)
{
	const struct sid_info *have = s->there.data;
	struct srpol_msg msg;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < s->there.n; i++) {
		if (!is_own_sid(&have[i]) || s->wanted[i])
			continue;
		srpol_msg_start(&s->engine->genl, &msg, SRPOL_CMD_SID_DEL, 0);
		srpol_msg_put(&msg, SRPOL_A_SID_SID, sizeof(have[i].sid),
			      &have[i].sid);
		srpol_msg_put_u32(&msg, SRPOL_A_SID_PREFIX_LEN,
				  have[i].prefix_len);
		srpol_msg_put_u32(&msg, SRPOL_A_SID_ORIGIN,
				  SRPOL_ORIGIN_ENGINE);
		s->deleted++;
		ret = srpol_batch_add(s->batch, msg.nlh);
	}
	return ret;
}
