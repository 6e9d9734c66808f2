/* SPDX-License-Identifier: LGPL-2.1 */
/* Backup colors of an epoch, as part of its index. */
#ifndef _SRPOL_BACKUPS_H
#define _SRPOL_BACKUPS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fabric.h"
#include "plan.h"

uint32_t srpol_backup_tiers(const struct srpol_fabric *f,
			    const struct srpol_backup *b);
bool srpol_backup_allows(const struct srpol_fabric *f,
			 const struct srpol_backup *b, uint32_t tiers,
			 const struct srpol_route *route);
const struct srpol_backup *srpol_backup_find(const struct srpol_index *index,
					     uint32_t color);
bool srpol_backup_equal(const struct srpol_backup *a,
			const struct srpol_backup *b);
bool srpol_backups_equal(const struct srpol_index *a,
			 const struct srpol_index *b);
json_t *srpol_backups_to_json(const struct srpol_index *index);
int srpol_backups_read(const json_t *list, struct srpol_index *index);
void srpol_backups_free(struct srpol_index *index);

#endif /* _SRPOL_BACKUPS_H */
