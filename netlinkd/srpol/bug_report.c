// SPDX-License-Identifier: GPL-2.0
/*
 * srpol bug-report: makes one archive of what a maintainer asks for first. It
 * has names, addresses and counters, but no packet payload and no keys.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol bug-report [ FILE.tar.gz ]\n"
"Collects versions, what srpol doctor says, the configuration, states and\n"
"counters, up to 1000 flows, the maps and programs of BPF, links, addresses,\n"
"neighbors, routes, offloads and drivers of devices, what srpold says of itself\n"
"and of paths, some of sysctl, the loaded modules, RDMA links and queue pairs with\n"
"the names of their processes, and what the kernel said of srpol and of faults. It\n"
"names hosts and addresses: read it before you give it away.\n"
"It is made in TMPDIR, or /tmp.\n";

/* With counters, but without them if the data plane is of another version. */
#define WITH_STATS(object) \
	"srpol -j -p -s " object " show || srpol -j -p " object " show"

static const struct {
	const char *file;
	const char *command;
} parts[] = {
	{ "version", "srpol -V; uname -a; cat /etc/os-release; modinfo srpol" },
	{ "doctor", "srpol doctor" },
	{ "config.srpol", "srpol export srpol" },
	{ "config", "srpol config show" },
	{ "path.json", WITH_STATS("path") },
	{ "policy.json", WITH_STATS("policy") },
	{ "rule.json", WITH_STATS("rule") },
	{ "endpoint.json", "srpol -j -p endpoint show" },
	{ "sid.json", WITH_STATS("sid") },
	{ "dev.json", "srpol -j -p dev show" },
	{ "stats", "srpol stats show all" },
	{ "flows", "srpol flow show sort bytes limit 1000" },
	{ "pins", "ls -lR /sys/fs/bpf/srpol" },
	{ "maps", "bpftool map show; bpftool prog show; bpftool net show; bpftool link show" },
	{ "links", "ip -d -s link show; ip rule show; ip -6 rule show" },
	{ "addresses", "ip addr show" },
	{ "neighbors", "ip neigh show; ip -6 neigh show" },
	{ "routes", "ip route show table all; ip -6 route show table all" },
	{ "offloads", "for d in $(ip -o link show | sed 's/^[0-9]*: //; s/[:@].*//'); do ethtool -i \"$d\"; ethtool -k \"$d\"; done" },
	{ "engine", "srpol engine show; srpol engine paths" },
	{ "rdma", "rdma link show; rdma resource show qp" },
	{ "sysctl", "sysctl -a -r 'net.ipv[46]\\.(conf\\.all|ip_forward|route|neigh\\.default)'" },
	{ "dmesg", "dmesg | grep -iE 'srpol|bpf|BUG|WARNING|Oops|Call Trace' | tail -n 500" },
	{ "modules", "lsmod" },
};

#define LIMIT_MS	60000	/* of a part, whose tool may hang */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

static int write_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	for (; len; data += n, len -= n) {
		n = write(fd, data, len);
		if (n < 0)
			return -errno;
	}
	return 0;
}

/* Starts a program in a process group of its own, which ends with all it started. */
static int start(pid_t *pid, int out, char *const argv[])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int ret;

	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	ret = -posix_spawnp(pid, argv[0], &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return ret;
}

/* No signal comes between the question whether one has come and the wait. */
static int wait_for(int fd, const struct timespec *limit)
{
	struct pollfd in = { .fd = fd, .events = POLLIN };
	sigset_t ending, before;
	size_t i;
	int n;

	sigemptyset(&ending);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&ending, signals[i]);
	sigprocmask(SIG_BLOCK, &ending, &before);
	n = stopped ? -EINTR : ppoll(&in, 1, limit, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (stopped)
		return -EINTR;
	return n < 0 ? -errno : n;
}

/* Until the end of what is written: 0, -EINTR after a signal, -ETIMEDOUT, others. */
static int copy(int from, int to, int limit_ms)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + limit_ms * (uint64_t)MSEC, now;
	struct timespec left;
	char buf[4096];
	int ret = 0;
	ssize_t n;

	while (!ret) {
		now = clock_ns(CLOCK_MONOTONIC);
		if (limit_ms && now >= end)
			return -ETIMEDOUT;
		left.tv_sec = (end - now) / SEC;
		left.tv_nsec = (end - now) % SEC;
		ret = wait_for(from, limit_ms ? &left : NULL);
		if (ret <= 0)
			continue;
		n = read(from, buf, sizeof(buf));
		if (n <= 0)
			return n ? -errno : 0;
		ret = write_all(to, buf, n);
	}
	return ret;
}

/*
 * Writes the output of a program to a file. It comes by a pipe: a program that writes
 * to a full disk by itself need not say so. @limit_ms: 0 for none. @status: of the
 * program, if it has ended, or NULL.
 */
static int run_to(int fd, char *const argv[], int limit_ms, int *status)
{
	int out[2], ret;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		return -errno;
	ret = start(&pid, out[1], argv);
	close(out[1]);
	if (!ret) {
		ret = copy(out[0], fd, limit_ms);
		if (ret)
			kill(-pid, SIGKILL);
		/* one that waits for hardware does not even end then */
		waitpid(pid, status, ret ? WNOHANG : 0);
	}
	close(out[0]);
	return ret;
}

/* Saves the output and error messages of a command, which may not exist. */
static int collect(int dir, const char *file, const char *command)
{
	static const char late[] = "\nended, as it took longer than 60 s\n";
	char line[1024];
	char *argv[] = { "sh", "-c", line, NULL };
	int fd, ret;

	fd = openat(dir, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	snprintf(line, sizeof(line), "{ %s; } 2>&1", command);
	ret = run_to(fd, argv, LIMIT_MS, NULL);
	if (ret == -ETIMEDOUT)
		ret = write_all(fd, late, sizeof(late) - 1);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int refused_at(int err, const char *path)
{
	struct srpol_error error = {};

	srpol_error_set(&error, err, "%s: %s", path, strerror(-err));
	return refused(err, &error);
}

static int refused_stopped(void)
{
	struct srpol_error error = {};

	srpol_error_set(&error, -EINTR, "stopped by a signal; there is no archive");
	return refused(-EINTR, &error);
}

static int collect_all(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	struct srpol_error error = {};
	size_t i;

	if (dir < 0)
		return refused_at(-errno, path);
	for (i = 0; !ret && i < ARRAY_SIZE(parts); i++)
		ret = collect(dir, parts[i].file, parts[i].command);
	close(dir);
	if (!ret)
		return EXIT_OK;
	if (stopped)
		return refused_stopped();
	srpol_error_set(&error, ret,
			"part \"%s\" cannot be written to %s: %s; there is no archive; TMPDIR may name another folder",
			parts[i - 1].file, path, strerror(-ret));
	return refused(ret, &error);
}

static void discard(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t i;

	for (i = 0; dir >= 0 && i < ARRAY_SIZE(parts); i++)
		unlinkat(dir, parts[i].file, 0);
	if (dir >= 0)
		close(dir);
	rmdir(path);
}

/* What was written of an archive is removed if it is not all: it could pass for that. */
static int pack(const char *archive, char *dir, char *name)
{
	char *argv[] = { "tar", "-cz", "-C", dir, name, NULL };
	struct srpol_error error = {};
	int fd, ret, status = -1;
	struct stat st;
	bool is_file;

	/* some of it only root can read */
	fd = open(archive, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return refused_at(-errno, archive);
	ret = !fstat(fd, &st) && S_ISREG(st.st_mode) && fchmod(fd, 0600) ? -errno :
	      run_to(fd, argv, 0, &status);
	if (!ret && status)
		ret = -EIO;
	is_file = !fstat(fd, &st) && S_ISREG(st.st_mode);
	/* the name may be a link to it, and then that is what is removed */
	if (ret && is_file && ftruncate(fd, 0))
		is_file = false;
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret)
		return EXIT_OK;
	if (is_file)
		unlink(archive);
	if (stopped)
		return refused_stopped();
	srpol_error_set(&error, ret, "%s: %s; there is no archive", archive,
			ret == -EIO ? "tar failed" : strerror(-ret));
	return refused(ret, &error);
}

/*
 * Puts the folder of this program first in PATH, so that the commands run this
 * srpol even if another one is installed.
 */
static void prefer_own(void)
{
	const char *path = getenv("PATH");
	char self[PATH_MAX], *joined;
	ssize_t len;

	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len <= 0)
		return;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	if (asprintf(&joined, "%s:%s", self, path ?: "/usr/sbin:/usr/bin:/sbin:/bin") < 0)
		return;
	setenv("PATH", joined, 1);
	free(joined);
}

/* @name: of the folder in the archive */
static int make(const char *archive, char *name)
{
	char dir[PATH_MAX], sub[PATH_MAX + 80];
	const char *tmp = getenv("TMPDIR");
	int err;

	tmp = tmp && *tmp ? tmp : "/tmp";
	if (snprintf(dir, sizeof(dir), "%s/srpol-XXXXXX", tmp) >= (int)sizeof(dir))
		return refused_at(-ENAMETOOLONG, tmp);
	if (!mkdtemp(dir))
		return refused_at(-errno, dir);
	snprintf(sub, sizeof(sub), "%s/%s", dir, name);
	err = mkdir(sub, 0700) ? refused_at(-errno, sub) : collect_all(sub);
	err = err ?: pack(archive, dir, name);
	discard(sub);
	rmdir(dir);
	return err;
}

static void take_signals(struct sigaction *before)
{
	struct sigaction on_signal = { .sa_handler = stop };
	size_t i;

	stopped = 0;
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], NULL, &before[i]);
		/* nohup's */
		if (before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &on_signal, NULL);
	}
}

/* One that came ends the program now, or what else it has to end. */
static void give_signals(const struct sigaction *before)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &before[i], NULL);
	if (stopped)
		raise(stopped);
}

/**
 * do_bug_report() - srpol bug-report
 * @args: name of the archive, optional
 *
 * Return: an EXIT_*.
 */
int do_bug_report(struct args *args)
{
	struct sigaction before[ARRAY_SIZE(signals)];
	char name[64], archive[80];
	const char *to = archive;
	time_t now = time(NULL);
	struct tm tm;
	int err;

	if (is(args, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	gmtime_r(&now, &tm);
	strftime(name, sizeof(name), "srpol-bug-report-%Y%m%d-%H%M%S", &tm);
	snprintf(archive, sizeof(archive), "%s.tar.gz", name);
	if (more(args))
		to = next(args);
	if (more(args))
		return unknown(args), EXIT_USAGE;
	prefer_own();
	take_signals(before);
	err = make(to, name);
	give_signals(before);
	if (!err)
		printf("%s\n", to);
	return err;
}
