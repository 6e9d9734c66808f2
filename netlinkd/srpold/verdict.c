// SPDX-License-Identifier: GPL-2.0
/*
 * Verdicts: state, not configuration. Telling one does not wait for a
 * transaction, and one that is not repeated expires: when the engine is gone
 * the module falls back to what the kernel itself sees.
 */
#include <string.h>

#include "srpold.h"

#define OWNER		1		/* the local engine */
#define LIFETIME_MS	10000
#define REFRESH_NS	(3000 * NS_PER_MS)

static int send_verdict(struct engine *engine, const struct engine_path *path,
			bool down, struct srpol_error *err)
{
	struct srpol_msg msg;

	srpol_msg_start(&engine->genl, &msg, SRPOL_CMD_PATH_VERDICT, 0);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_ID, path->id);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_OWNER, OWNER);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_VERDICT, down ?
			  SRPOL_PATH_VERDICT_DOWN : SRPOL_PATH_VERDICT_UP);
	if (down)
		srpol_msg_put_u32(&msg, SRPOL_A_PATH_VERDICT_REASON,
				  SRPOL_PATH_REASON_PROBES_LOST);
	srpol_msg_put_u32(&msg, SRPOL_A_PATH_LIFETIME, down ? LIFETIME_MS : 0);
	return srpol_genl_talk(&engine->genl, msg.nlh, NULL, NULL, err);
}

static void tell(struct engine *engine, struct engine_path *path,
		 const struct liveness *live)
{
	bool down = !liveness_usable(live);
	struct srpol_error err = {};

	if (!path->id || (!down && !path->told_ns))
		return;
	if (send_verdict(engine, path, down, &err)) {
		log_error("verdict on path %u: %s", path->id, err.text);
		return;
	}
	path->told_ns = down ? now_ns() : 0;
}

/**
 * verdict_tell() - tell the module what the probes of a path say now
 * @engine: the engine
 * @path: the path that is probed; others that share its probe go with it
 */
void verdict_tell(struct engine *engine, struct engine_path *path)
{
	uint32_t leader = path - engine_path(engine, 0);
	struct engine_path *other;

	vec_for_each(other, &engine->paths)
		if (other->leader == leader)
			tell(engine, other, &path->live);
}

/**
 * verdicts_refresh() - repeat those that would expire
 * @engine: the engine
 */
void verdicts_refresh(struct engine *engine)
{
	struct engine_path *path;
	uint64_t now = now_ns();

	vec_for_each(path, &engine->paths)
		if (path->told_ns && now - path->told_ns >= REFRESH_NS)
			tell(engine, path,
			     &engine_path(engine, path->leader)->live);
}
