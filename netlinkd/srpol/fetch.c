// SPDX-License-Identifier: GPL-2.0
/* Reads objects of the module, and prints an error if that fails. */
#include "srpol.h"

static int fetch(uint8_t cmd, struct vec *vec)
{
	struct srpol_error error = {};
	int err = need_module() ?: batch_flush();

	if (err)
		return err;
	err = srpol_fetch(&genl, cmd, vec, &error);
	return err ? refused(err, &error) : EXIT_OK;
}

int fetch_paths(struct vec *paths)
{
	return fetch(SRPOL_CMD_PATH_GET, paths);
}

int fetch_policies(struct vec *policies)
{
	return fetch(SRPOL_CMD_POLICY_GET, policies);
}

int fetch_rules(struct vec *rules)
{
	return fetch(SRPOL_CMD_RULE_GET, rules);
}

int fetch_endpoints(struct vec *endpoints)
{
	return fetch(SRPOL_CMD_ENDPOINT_GET, endpoints);
}

int fetch_sids(struct vec *sids)
{
	return fetch(SRPOL_CMD_SID_GET, sids);
}

int fetch_devs(struct vec *devs)
{
	return fetch(SRPOL_CMD_DEV_GET, devs);
}

int fetch_config(struct config_info *config)
{
	struct srpol_error error = {};
	int err = need_module() ?: batch_flush();

	if (err)
		return err;
	err = srpol_fetch_config(&genl, config, &error);
	return err ? refused(err, &error) : EXIT_OK;
}
