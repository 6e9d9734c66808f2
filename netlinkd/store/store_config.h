/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_STORE_CONFIG_H
#define _SRPOL_STORE_CONFIG_H

#include <jansson.h>

#include "store.h"

int store_config_read(const json_t *o, struct store_config *config,
		      struct srpol_error *err);

#endif /* _SRPOL_STORE_CONFIG_H */
