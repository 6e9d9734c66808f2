/* SPDX-License-Identifier: LGPL-2.1 */
/* Functions of switches, as JSON. */
#ifndef _SRPOL_FABRIC_FUNCTION_JSON_H
#define _SRPOL_FABRIC_FUNCTION_JSON_H

#include <jansson.h>

#include "fabric.h"

json_t *srpol_functions_json(const struct srpol_fabric *f, uint32_t node);
json_t *srpol_function_json(const struct srpol_fabric *f, uint32_t function);

#endif /* _SRPOL_FABRIC_FUNCTION_JSON_H */
