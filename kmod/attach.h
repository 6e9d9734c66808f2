/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_ATTACH_H
#define _SRPOL_ATTACH_H

struct srpol_net;

int srpol_attach_init(void);
void srpol_attach_net_exit(struct srpol_net *sn);

#endif /* _SRPOL_ATTACH_H */
