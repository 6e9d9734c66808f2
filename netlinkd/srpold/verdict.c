// SPDX-License-Identifier: GPL-2.0
/*
 * Verdicts are state, not configuration: sending one does not wait for a
 * transaction, and a verdict that is not repeated expires. When the engine is
 * gone, the module falls back to what the kernel itself sees.
 */
#include <string.h>

#include "srpold.h"

#define LIFETIME_MS	10000
#define REFRESH_NS	(3000 * NS_PER_MS)

static const struct engine_path *leader_of(struct engine *engine,
					  const struct engine_path *path)
{
	return engine_path(engine, path->leader);
}

/* Nothing is known that could contradict an earlier engine. */
static bool is_silent(struct engine *engine, const struct engine_path *path)
{
	return path->inherited && !leader_of(engine, path)->heard;
}

/* Whether a usable path of the policy takes packets of full size. */
static bool has_wider(struct engine *engine,
		      const struct engine_policy *policy)
{
	const struct engine_path *path, *leader;
	uint32_t i;

	for (i = 0; i < policy->n; i++) {
		path = engine_path(engine, policy->first + i);
		leader = leader_of(engine, path);
		if (path->up && liveness_usable(&leader->live) &&
		    !is_silent(engine, path) &&
		    leader->mtu.good && !leader->mtu.bad)
			return true;
	}
	return false;
}

static int send_verdict(struct engine *engine, const struct engine_path *path,
			bool down, struct srpol_error *err)
{
	const struct engine_path *leader = leader_of(engine, path);
	struct srpol_msg msg;

	srpol_msg_start(&engine->genl, &msg, SRPOL_CMD_PATH_VERDICT, 0);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, path->id);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_OWNER, VERDICT_OWNER);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_VERDICT, down ?
			  SRPOL_PATH_VERDICT_DOWN : SRPOL_PATH_VERDICT_UP);
	if (down)
		srpol_msg_put_u32(&msg, SRPOL_A_PATH_VERDICT_REASON,
				  liveness_usable(&leader->live) &&
				  !is_silent(engine, path) ?
				  SRPOL_PATH_REASON_PROBES_DEGRADED :
				  SRPOL_PATH_REASON_PROBES_LOST);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_LIFETIME, down ? LIFETIME_MS : 0);
	return srpol_genl_talk(&engine->genl, msg.nlh, NULL, NULL, err);
}

static void tell(struct engine *engine, struct engine_path *path, bool down)
{
	struct srpol_error err = {};
	int ret;

	if (!path->installed || (!down && !path->told_ns))
		return;
	ret = send_verdict(engine, path, down, &err);
	if (ret) {
		log_error("verdict on path %u: %s", path->id,
			  err.text[0] ? err.text : strerror(-ret));
		/* once more when it would be repeated */
		path->told_ns = now_ns();
		path->inherited &= down;
		return;
	}
	path->told_ns = down ? now_ns() : 0;
	path->inherited = down && is_silent(engine, path);
}

/*
 * What an earlier engine has said holds until a probe comes back. It expires if no
 * probe can be sent although packets can.
 */
static bool is_down(struct engine *engine, const struct engine_path *path,
		    bool wider)
{
	const struct engine_path *leader = leader_of(engine, path);

	return !liveness_usable(&leader->live) ||
	       (wider && mtu_is_narrow(&leader->mtu)) ||
	       (is_silent(engine, path) && (leader->up || !path->up));
}

/**
 * verdicts_tell() - send new verdicts to the module
 * @engine: the engine
 *
 * A path is down if it does not carry packets, or loses packets of full size
 * while another path carries them: TCP and RDMA would not notice why their
 * packets disappear.
 */
void verdicts_tell(struct engine *engine)
{
	const struct engine_policy *policy = engine->policies.data;
	struct engine_path *path;
	uint64_t now = now_ns();
	bool wider, down, told;
	uint32_t i, k;

	for (i = 0; i < engine->policies.n; i++, policy++) {
		/*
		 * policies of jobs share these paths or have paths of their own
		 */
		if (i >= engine->n_own && policy->first < engine->n_own_paths)
			continue;
		wider = has_wider(engine, policy);
		for (k = 0; k < policy->n; k++) {
			path = engine_path(engine, policy->first + k);
			down = is_down(engine, path, wider);
			/* its own probes say so, too */
			if (down && !is_silent(engine, path))
				path->inherited = false;
			told = path->told_ns &&
			       now - path->told_ns < REFRESH_NS;
			if (down ? !told :
			    path->told_ns && !is_silent(engine, path))
				tell(engine, path, down);
		}
	}
}

/* Has the verdict to be repeated, or an inherited one to be revoked? */
static bool is_due(struct engine *engine, const struct engine_path *path,
		   uint64_t now)
{
	const struct engine_path *leader = leader_of(engine, path);

	if (!path->installed || !path->told_ns)
		return false;
	if (path->inherited && leader->heard)
		return true;
	/* nothing to say, see is_down() */
	if (path->inherited && !leader->up && path->up &&
	    liveness_usable(&leader->live))
		return false;
	return now - path->told_ns >= REFRESH_NS;
}

/**
 * verdicts_refresh() - repeat verdicts before they expire
 * @engine: the engine
 */
void verdicts_refresh(struct engine *engine)
{
	const struct engine_path *path;
	uint64_t now = now_ns();

	vec_for_each(path, &engine->paths) {
		if (!is_due(engine, path, now))
			continue;
		verdicts_tell(engine);
		return;
	}
}

/**
 * verdicts_keep() - what was said is to hold until a probe comes back
 * @engine: the engine, whose probes begin anew
 */
void verdicts_keep(struct engine *engine)
{
	struct engine_path *path;

	vec_for_each(path, &engine->paths) {
		path->inherited |= path->told_ns &&
				   !liveness_usable(&leader_of(engine, path)->live);
		path->heard = false;
	}
}

/**
 * verdicts_renew() - repeat verdicts now, as some time may pass before the next ones
 * @engine: the engine
 */
void verdicts_renew(struct engine *engine)
{
	struct engine_path *path;

	vec_for_each(path, &engine->paths)
		path->told_ns = path->told_ns != 0;
	verdicts_tell(engine);
}
