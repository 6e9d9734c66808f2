// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include "path_ids.h"
#include "srpol_lib.h"

/**
 * path_ids_lack() - say that there are not enough ids for all paths
 * @engine: the engine
 * @end: the first number that is no id any more
 * @err: the message
 *
 * Return: -ENOSPC.
 */
int path_ids_lack(const struct engine *engine, uint32_t end, struct srpol_error *err)
{
	return srpol_error_set(err, -ENOSPC,
			       "%zu paths to %zu endpoints, and no room for them: ids end with %u, and begin with \"first-path\", %u",
			       engine->paths.n, engine->policies.n, end - 1,
			       engine->config.first_path);
}

/**
 * path_ids_check() - could all paths have an id, if nobody else had one from
 *	"first-path"?
 * @engine: the engine, as engine_build() leaves it
 * @err: message if they could not
 */
int path_ids_check(const struct engine *engine, struct srpol_error *err)
{
	return engine->paths.n <= SRPOL_MAX_PATHS - engine->config.first_path ? 0 :
	       path_ids_lack(engine, SRPOL_MAX_PATHS, err);
}
