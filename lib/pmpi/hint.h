/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Telling srpold what will be sent, from inside of somebody's program: without
 * waiting, without signals, without memory of others.
 */
#ifndef _SRPOL_HINT_H
#define _SRPOL_HINT_H

#include <stddef.h>
#include <stdint.h>

#define HINT_ROOM	(256 * 1024 - 1)	/* what srpold takes in one go */

/**
 * struct hint - the way to srpold
 * @path: of its socket
 * @job: name of srpold's job, NULL: none
 * @slurm: number of Slurm's job, 0: none
 * @fd: connection, -1: none now
 * @pid: process that made it; a child makes its own
 * @lost: announcements that were not taken
 * @len: bytes of @text, more than HINT_ROOM: it does not fit
 * @text: announcement that is being made
 */
struct hint {
	char path[108];
	char *job;
	int slurm;
	int fd;
	int pid;
	uint64_t lost;
	size_t len;
	char *text;
};

#define HINT_INIT	{ .fd = -1 }

void hint_open(struct hint *h);
void hint_close(struct hint *h);
void hint_begin(struct hint *h, const char *what, int number);
void hint_add(struct hint *h, const char *src, const char *dst, uint64_t bytes,
	      uint64_t for_ms);
void hint_send(struct hint *h);

#endif /* _SRPOL_HINT_H */
