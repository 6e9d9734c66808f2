// SPDX-License-Identifier: LGPL-2.1
/*
 * What Slurm calls, in processes of its own:
 *
 *	srun, sbatch, salloc	options are read; one that is wrong or not
 *				allowed ends the command
 *	slurmstepd		the first task of a step is forked, in its
 *				control group, and waits to become the user's
 *				program: srpold is told. As root, once a step,
 *				in the parent, so nothing of it is in the
 *				program, and no packet is sent before. A task
 *				that must not run is killed: if this function
 *				failed, srun would end as if all went well.
 *	slurmd's epilog		the job is over on this node, however it ended
 *
 * Slurm heeds other failures, which have to be less than 0, if the plugin's line
 * in plugstack.conf begins with "required".
 */
#include <errno.h>
#include <signal.h>
#include <slurm/spank.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank_srpol.h"

#define FAILED		(-1)
#define BW_NAME		"SRPOL_BW"	/* SPANK_SRPOL_BW for prologs */

SPANK_PLUGIN(srpol, 1)

static struct config config;
static struct wish wish;
static bool is_refused;		/* words or options that came were not good */
static bool is_told;
static bool is_killed;		/* this step */

/* The node decides; a file of users need not be where jobs are submitted. */
static int check_color(struct srpol_error *err)
{
	struct who who = { .uid = getuid(), .gid = getgid() };
	int n = getgroups(0, NULL), ret = 0;
	uint32_t color;
	gid_t *groups;

	if (n < 0 || (config.users && access(config.users, R_OK)))
		return 0;
	groups = calloc(n + 1, sizeof(*groups));
	who.groups = groups;
	who.n_groups = groups ? getgroups(n, groups) : -1;
	if (who.n_groups >= 0)
		ret = colors_choose(&config, &who, &wish, &color, err);
	free(groups);
	return ret == -EPERM ? ret : 0;
}

static int take_option(int option, const char *text, int remote)
{
	struct srpol_error err = {};
	int ret;

	ret = wish_take(&wish, option, text, &err) ?:
	      wish_check(&wish, &config, &err) ?:
	      (remote ? 0 : check_color(&err));
	if (!ret)
		return 0;
	slurm_error("srpol: %s", err.text);
	is_refused = true;
	return FAILED;
}

static struct spank_option options[] = {
	{ "srpol", "on|off", "srpol: give the job paths of its own, or not",
	  1, WISH_SRPOL, take_option },
	{ "srpol-color", "N", "srpol: color of the job's traffic",
	  1, WISH_COLOR, take_option },
	{ "srpol-paths", "SET",
	  "srpol: disjoint: paths that no other such job of the node has; or names of switches",
	  1, WISH_PATHS, take_option },
	{ "srpol-via", "FUNCTION",
	  "srpol: paths through this function of switches",
	  1, WISH_VIA, take_option },
	{ "srpol-bw", "RATE[/MAX]",
	  "srpol: bandwidth to be reserved for the job's busiest GPU, in bit/s: 400G",
	  1, WISH_BW, take_option },
	SPANK_OPTIONS_TABLE_END
};

static int read_config(int n, char **words)
{
	struct srpol_error err = {};

	if (!config_read(&config, n, words, &err))
		return ESPANK_SUCCESS;
	slurm_error("srpol: %s", err.text);
	is_refused = true;
	return FAILED;
}

int slurm_spank_init(spank_t spank, int n, char **words)
{
	struct spank_option *option;

	if (read_config(n, words))
		return FAILED;
	for (option = options; option->name; option++)
		if (spank_context() != S_CTX_SLURMD &&
		    spank_option_register(spank, option))
			return FAILED;
	return ESPANK_SUCCESS;
}

/* The bandwidth is asked for once a job, where its nodes are known. */
int slurm_spank_init_post_opt(spank_t spank, int n, char **words)
{
	if (spank_context() == S_CTX_REMOTE || !wish.bw[0] || wish.off)
		return ESPANK_SUCCESS;
	if (!spank_job_control_setenv(spank, BW_NAME, wish.bw, 1))
		return ESPANK_SUCCESS;
	slurm_error("srpol: --srpol-bw=%s cannot be handed to Slurm", wish.bw);
	return FAILED;
}

static int find_who(spank_t spank, struct who *who)
{
	gid_t *groups = NULL;
	int ret;

	ret = spank_get_item(spank, S_JOB_UID, &who->uid) ?:
	      spank_get_item(spank, S_JOB_GID, &who->gid) ?:
	      spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups,
			     &who->n_groups);
	who->groups = groups;
	return ret;
}

static int begin(spank_t spank, pid_t pid, struct srpol_error *err)
{
	struct job job = { .wish = &wish };
	struct who who;
	uint32_t id;
	int ret;

	if (is_refused)
		return srpol_error_set(err, -EPERM, "words or options were refused");
	if (find_who(spank, &who) || spank_get_item(spank, S_JOB_ID, &id))
		return srpol_error_set(err, -EINVAL, "Slurm does not say whose job it is");
	if (wish.off)
		return 0;
	ret = colors_choose(&config, &who, &wish, &job.color, err);
	if (ret || (!wish.any && !job.color))
		return ret;
	job_name(id, job.name);
	return cgroup_of_process(pid, id, job.cgroup, sizeof(job.cgroup),
				 err) ?:
	       tell_begin(&config, &job, err);
}

static void begin_step(spank_t spank, pid_t pid)
{
	struct srpol_error err = {};

	is_told = true;
	if (!begin(spank, pid, &err))
		return;
	is_killed = config.required;
	/* errors are told to the user as well, who asked for something */
	if (wish.any || config.required)
		slurm_error("srpol: the job %s: %s", is_killed ? "ends" :
			    "gets no paths of its own", err.text);
	else
		slurm_info("srpol: the job gets no paths of its own: %s",
			   err.text);
}

int slurm_spank_task_post_fork(spank_t spank, int n, char **words)
{
	pid_t pid;

	if (spank_get_item(spank, S_TASK_PID, &pid) || pid <= 0)
		return ESPANK_SUCCESS;
	if (!is_told)
		begin_step(spank, pid);
	if (is_killed)
		kill(pid, SIGKILL);
	return ESPANK_SUCCESS;
}

/*
 * Of any job: which one was told of is not known here, and need not be. Slurm
 * does not call slurm_spank_init() in this process.
 */
int slurm_spank_job_epilog(spank_t spank, int n, char **words)
{
	struct srpol_error err = {};
	char name[JOB_NAME_LEN];
	uint32_t id;

	if (read_config(n, words) || spank_get_item(spank, S_JOB_ID, &id))
		return ESPANK_SUCCESS;
	job_name(id, name);
	if (tell_end(&config, name, &err))
		slurm_verbose("srpol: %s", err.text);
	return ESPANK_SUCCESS;
}
