/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * A SPANK plugin of Slurm: jobs get paths of their own from the srpold of each
 * of their nodes.
 *
 *	spank.c		what Slurm calls
 *	config.c	words of plugstack.conf
 *	wish.c		options of srun, sbatch and salloc
 *	colors.c	who may have which
 *	cgroup.c	the job's control group
 *	tell.c		srpold is told
 */
#ifndef _SPANK_SRPOL_H
#define _SPANK_SRPOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client.h"
#include "fabric.h"

#define JOB_NAME_LEN	24	/* slurm- and a number */
#define CGROUP_LEN	256

/* config.c */

/**
 * struct config - what the administrator said; texts are Slurm's
 * @socket: srpold's
 * @limit_ms: to wait for it
 * @color: of jobs that say nothing, 0: they are left alone
 * @colors: that users may have, NULL: none
 * @users: file of users with their colors, NULL: all have @colors
 * @switches: users may name switches, and functions of them
 * @required: a job that srpold does not take fails
 */
struct config {
	const char *socket;
	unsigned int limit_ms;
	uint32_t color;
	const char *colors;
	const char *users;
	bool switches;
	bool required;
};

int config_read(struct config *config, int n, char **words,
		struct srpol_error *err);

/* wish.c */

enum wish_option {
	WISH_SRPOL,
	WISH_COLOR,
	WISH_PATHS,
	WISH_VIA,
	WISH_BW,
};

#define WISH_TOPS	16	/* switches that a job may name */

/**
 * struct wish - what the user asks for
 * @any: anything at all
 * @off: to be left alone
 * @color: 0: any
 * @paths: "disjoint" or names of switches, empty: all
 * @via: function of switches, empty: none
 * @bw: RATE or RATE/MAX, empty: none
 */
struct wish {
	bool any;
	bool off;
	uint32_t color;
	char paths[WISH_TOPS * SRPOL_NAME_LEN];
	char via[SRPOL_NAME_LEN];
	char bw[64];
};

int wish_take(struct wish *wish, enum wish_option option, const char *text,
	      struct srpol_error *err);
int wish_check(const struct wish *wish, const struct config *config,
	       struct srpol_error *err);

/* colors.c */

/**
 * struct who - whose job it is
 */
struct who {
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	int n_groups;
};

bool color_parse(const char *text, uint32_t *color);
bool colors_are_good(const char *list);
bool colors_have(const char *list, uint32_t color);
int colors_choose(const struct config *config, const struct who *who,
		  const struct wish *wish, uint32_t *color,
		  struct srpol_error *err);

/* cgroup.c */
bool cgroup_of_job(const char *text, uint32_t job, char *path, size_t len);
int cgroup_of_process(pid_t pid, uint32_t job, char *path, size_t len,
		      struct srpol_error *err);

/* tell.c */

/**
 * struct job - what srpold is to know of a job
 */
struct job {
	char name[JOB_NAME_LEN];
	char cgroup[CGROUP_LEN];
	uint32_t color;
	const struct wish *wish;
};

void job_name(uint32_t id, char *name);
int tell_begin(const struct config *config, const struct job *job,
	       struct srpol_error *err);
int tell_end(const struct config *config, const char *name,
	     struct srpol_error *err);

#endif /* _SPANK_SRPOL_H */
