// SPDX-License-Identifier: LGPL-2.1
/*
 * The control group of all of a job's steps on this node. Slurm's names are the
 * same in both versions of its plugin:
 *
 *	v2	/system.slice/slurmstepd.scope/job_N/step_N/user/task_N
 *	v1	/slurm/uid_N/job_N/step_N/task_N, in a hierarchy per controller
 *
 * The kernel knows a socket's group in the hierarchy of version 2 only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "spank_srpol.h"

#define V2	"0::/"

/**
 * cgroup_of_job() - path of a job's control group below the mount
 * @text: /proc/PID/cgroup of one of its processes
 * @job: its number
 * @path: result
 * @len: of it
 *
 * Return: false if Slurm made none of version 2 for it.
 */
bool cgroup_of_job(const char *text, uint32_t job, char *path, size_t len)
{
	char level[32];
	const char *at;
	size_t n, end;

	while (strncmp(text, V2, strlen(V2))) {
		text = strchr(text, '\n');
		if (!text++)
			return false;
	}
	text += strlen(V2) - 1;
	end = strcspn(text, "\n");
	n = snprintf(level, sizeof(level), "/job_%" PRIu32, job);
	for (at = text; (at = memmem(at, text + end - at, level, n)); at += n)
		if (at + n == text + end || at[n] == '/')
			break;
	if (!at || at + n - text >= (ptrdiff_t)len)
		return false;
	snprintf(path, len, "%.*s", (int)(at + n - text), text);
	return true;
}

/**
 * cgroup_of_process() - likewise
 * @pid: of one of its processes
 * @job: its number
 * @path: result
 * @len: of it
 * @err: why there is none
 */
int cgroup_of_process(pid_t pid, uint32_t job, char *path, size_t len,
		      struct srpol_error *err)
{
	char file[32], text[4096];
	size_t n;
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	f = fopen(file, "re");
	if (!f)
		return srpol_error_set(err, -errno, "%s: %m", file);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	if (cgroup_of_job(text, job, path, len))
		return 0;
	return srpol_error_set(err, -ENOENT,
			       "Slurm made no control group of version 2 for job %u: CgroupPlugin=cgroup/v2 and ProctrackType=proctrack/cgroup are wanted",
			       job);
}
