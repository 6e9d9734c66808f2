/* SPDX-License-Identifier: LGPL-2.1 */
/* Programs on devices; declarations shared by the files that attach them. */
#ifndef _SRPOL_ATTACH_H
#define _SRPOL_ATTACH_H

#include <stdbool.h>

#include "srpol_lib.h"

/* attach.c */
int srpol_attach_port(const char *dir, unsigned int ifindex,
		      enum srpol_xdp_mode mode, struct srpol_error *err);

/* attach_host.c */
int srpol_attach_host(const char *dir, unsigned int ifindex,
		      struct srpol_error *err);

/* devmaps.c */
int srpol_devmaps_add(const char *dir, unsigned int ifindex,
		      enum srpol_dev_role role, struct srpol_error *err);
void srpol_devmaps_forget(const char *dir, unsigned int ifindex);

#endif /* _SRPOL_ATTACH_H */
