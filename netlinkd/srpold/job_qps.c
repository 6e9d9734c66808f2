// SPDX-License-Identifier: GPL-2.0
/*
 * Which QPs belong to which job, by the processes that RDMA netlink names. QPs,
 * processes and addresses are read once per look: there may be many QPs, and a
 * query about one of them must not ask the kernel.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srpold.h"

/**
 * struct process - a process that has QPs
 * @pid: its process id
 * @comm: its command name
 * @cgroup: its control group, relative to the mount point; NULL: not known
 */
struct process {
	uint32_t pid;
	char comm[32];
	char *cgroup;
};

/* struct srpol_rdma_qp of all processes, sorted, from the last look. */
static struct vec qps = VEC_INIT(struct srpol_rdma_qp);
static struct vec processes = VEC_INIT(struct process);

/**
 * job_cgroup() - a job's control group, relative to the mount point
 * @job: the job
 */
const char *job_cgroup(const struct job *job)
{
	const char *name = job->cgroup;
	size_t root = strlen(CGROUP_ROOT);

	name += strncmp(name, CGROUP_ROOT, root) ? 0 : root;
	return name + strspn(name, "/");
}

static bool read_proc(uint32_t pid, const char *file, char *buf, size_t len)
{
	char path[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(buf, 1, len - 1, f);
	fclose(f);
	buf[n] = '\0';
	return true;
}

static void read_comm(struct process *process)
{
	if (read_proc(process->pid, "comm", process->comm,
		      sizeof(process->comm)))
		process->comm[strcspn(process->comm, "\n")] = '\0';
	else
		process->comm[0] = '\0';
}

static void read_cgroup(struct process *process)
{
	char text[4096], *at;

	if (!read_proc(process->pid, "cgroup", text, sizeof(text)))
		return;
	at = strstr(text, "0::/");
	if (!at)
		return;
	at += strlen("0::/");
	at[strcspn(at, "\n")] = '\0';
	process->cgroup = strdup(at);
}

/* Is a process in the group or in one below it? */
static bool is_in_cgroup(const struct process *process, const char *name)
{
	const char *at = process->cgroup;
	size_t len = strlen(name);

	while (len && name[len - 1] == '/')
		len--;
	return at && !strncmp(at, name, len) &&
	       (!at[len] || at[len] == '/' || !len);
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static const struct process *process_of(uint32_t pid)
{
	const struct process key = { .pid = pid };

	return processes.n ? bsearch(&key, processes.data, processes.n,
				     processes.size, by_pid) : NULL;
}

static void forget_processes(void)
{
	struct process *process;

	vec_for_each(process, &processes)
		free(process->cgroup);
	vec_free(&processes);
}

/* Read the processes that have QPs, as far as jobs are recognized by them. */
static void read_processes(void)
{
	struct process *process, *last = NULL;
	bool comm = false, cgroup = false;
	const struct srpol_rdma_qp *qp;
	const struct job *job;
	size_t n = 0;

	forget_processes();
	vec_for_each(job, &jobs) {
		comm |= job->comm[0] != '\0';
		cgroup |= job->cgroup[0] != '\0';
	}
	vec_for_each(qp, &qps)
		if (qp->pid)
			((struct process *)vec_add(&processes))->pid = qp->pid;
	if (processes.n)
		qsort(processes.data, processes.n, processes.size, by_pid);
	vec_for_each(process, &processes) {
		if (last && last->pid == process->pid)
			continue;
		last = (struct process *)processes.data + n++;
		last->pid = process->pid;
		if (comm)
			read_comm(last);
		if (cgroup)
			read_cgroup(last);
	}
	processes.n = n;
}

/**
 * job_is_by_process() - whether a job's QPs are found by their processes
 * @job: the job
 */
bool job_is_by_process(const struct job *job)
{
	return job->pid || job->comm[0] || job->cgroup[0];
}

/**
 * job_owns_qp() - whether a QP is one of the job's processes'
 * @qp: the QP
 * @data: struct job
 */
bool job_owns_qp(const struct srpol_rdma_qp *qp, const void *data)
{
	const struct job *job = data;
	const struct process *process;

	if (!qp->pid)
		return false;
	if (job->pid && qp->pid == job->pid)
		return true;
	process = process_of(qp->pid);
	if (!process)
		return false;
	return (job->comm[0] && !strcmp(process->comm, job->comm)) ||
	       (job->cgroup[0] && is_in_cgroup(process, job_cgroup(job)));
}

static int by_number(const void *a, const void *b)
{
	const struct srpol_rdma_qp *x = a, *y = b;

	if (x->ifindex != y->ifindex)
		return x->ifindex < y->ifindex ? -1 : 1;
	return (x->remote > y->remote) - (x->remote < y->remote);
}

static void keep_qp(const struct srpol_rdma_qp *qp, void *data)
{
	*(struct srpol_rdma_qp *)vec_add(data) = *qp;
}

static void forget_qps(void)
{
	vec_free(&qps);
	forget_processes();
}

/*
 * A list that ended early, because a device was removed meanwhile, tells
 * nothing about QPs that are not in it: the previous ones are kept until the
 * next look.
 */
static void read_qps(void)
{
	struct vec found = VEC_INIT(struct srpol_rdma_qp);
	int ret = srpol_rdma_for_each_qp(keep_qp, &found);

	if (ret)
		log_debug("QPs: %s", strerror(-ret));
	if (ret && ret != -EPROTONOSUPPORT) {
		vec_free(&found);
		return;
	}
	vec_free(&qps);
	qps = found;
	if (qps.n)
		qsort(qps.data, qps.n, qps.size, by_number);
}

/**
 * job_qps_read() - read QPs, processes and addresses
 */
void job_qps_read(void)
{
	const struct job *job;
	bool wanted = false;

	srpol_own_addrs_forget();
	vec_for_each(job, &jobs)
		wanted |= job_is_by_process(job);
	if (!wanted) {
		forget_qps();
		return;
	}
	read_qps();
	read_processes();
}

/**
 * job_qps() - QPs as last read
 *
 * Return: struct srpol_rdma_qp, by device and destination QP number.
 */
const struct vec *job_qps(void)
{
	return &qps;
}

/* Index of the first QP that is not less than the given one. */
static size_t first_at(uint32_t ifindex, uint32_t remote)
{
	const struct srpol_rdma_qp key = {
		.ifindex = ifindex, .remote = remote,
	};
	size_t from = 0, to = qps.n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (by_number((struct srpol_rdma_qp *)qps.data + middle,
			      &key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Without processes, the job's own selector decides. */
static bool selects(const struct job *job, uint32_t remote,
		    const struct in6_addr *src)
{
	if (job->src_len)
		return srpol_addr_in_prefix(src, &job->src, job->src_len);
	return remote >= job->qp[0] && remote <= job->qp[1];
}

/**
 * job_has_qp() - whether a flow belongs to one of the job's QPs, as last read
 * @job: the job
 * @remote: destination QP number of the flow
 * @src: source address of the flow
 * @ifindex: network device of the QP, 0: not known; set if it can be found
 *
 * Traffic in the job's color is not always the job's: a rule for a QP that has
 * ended may match another owner's QP, and an operator may steer other traffic
 * into the color.
 */
bool job_has_qp(const struct job *job, uint32_t remote,
		const struct in6_addr *src, uint32_t *ifindex)
{
	const struct srpol_rdma_qp *qp;
	size_t at;

	if (!job_is_by_process(job))
		return selects(job, remote, src);
	at = first_at(*ifindex, remote);
	while (at < qps.n) {
		qp = (const struct srpol_rdma_qp *)qps.data + at;
		if (*ifindex && qp->ifindex != *ifindex)
			break;
		if (qp->remote != remote) {
			at = first_at(qp->ifindex + (qp->remote > remote),
				      remote);
			continue;
		}
		if ((*ifindex || srpol_own_addr_is_of(qp->ifindex, src->s6_addr)) &&
		    job_owns_qp(qp, job)) {
			*ifindex = qp->ifindex;
			return true;
		}
		at++;
	}
	return false;
}
