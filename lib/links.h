/* SPDX-License-Identifier: LGPL-2.1 */
/* Pinned links of the programs on devices. */
#ifndef _SRPOL_LINKS_H
#define _SRPOL_LINKS_H

#include <stdbool.h>

#include "srpol_lib.h"

/* The hooks of a device that a program may be at. */
enum srpol_link {
	SRPOL_LINK_XDP,
	SRPOL_LINK_TC_INGRESS,
	SRPOL_LINK_TC_EGRESS,
};

int srpol_link_pin(const char *dir, enum srpol_link hook, unsigned int ifindex,
		   int fd, struct srpol_error *err);
bool srpol_link_alive(const char *dir, enum srpol_link hook,
		      unsigned int ifindex);
bool srpol_link_has_xdp(unsigned int ifindex);
void srpol_link_remove(const char *dir, enum srpol_link hook,
		       unsigned int ifindex);
void srpol_link_remove_all(const char *dir, unsigned int ifindex);
void srpol_link_make_room(const char *dir, unsigned int ifindex);

#endif /* _SRPOL_LINKS_H */
