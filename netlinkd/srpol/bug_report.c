// SPDX-License-Identifier: GPL-2.0
/*
 * srpol bug-report: makes one archive of what a maintainer asks for first. It
 * has names, addresses and counters, but no packet payload and no keys.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
"Collects versions, the configuration, states and counters, the maps' sizes,\n"
"links, addresses, neighbors, routes and what the kernel said of srpol. It\n"
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
	{ "offloads", "for d in /sys/class/net/*; do ethtool -i \"${d##*/}\"; ethtool -k \"${d##*/}\"; done" },
	{ "rdma", "rdma link show; rdma resource show qp" },
	{ "sysctl", "sysctl -a -r 'net.ipv[46]\\.(conf\\.all|ip_forward|route|neigh\\.default)'" },
	{ "dmesg", "dmesg | grep -iE 'srpol|bpf|BUG|WARNING|Oops|Call Trace' | tail -n 500" },
	{ "modules", "lsmod" },
};

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

/*
 * Saves the output and error messages of a command, which may not exist. They come by
 * a pipe: a command that writes to a full disk by itself need not say so.
 */
static int collect(int dir, const char *file, const char *command)
{
	char line[1024], buf[4096];
	int fd, ret = 0;
	FILE *said;
	size_t n;

	fd = openat(dir, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	snprintf(line, sizeof(line), "{ %s; } 2>&1", command);
	said = popen(line, "re");
	if (!said)
		ret = -errno;
	while (!ret && !stopped && (n = fread(buf, 1, sizeof(buf), said)) > 0)
		ret = write_all(fd, buf, n);
	if (said)
		pclose(said);
	if (close(fd) && !ret)
		ret = -errno;
	return stopped ? -EINTR : ret;
}

static int refused_at(int err, const char *path)
{
	struct srpol_error error = {};

	srpol_error_set(&error, err, "%s: %s", path, strerror(-err));
	return refused(err, &error);
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

/* Runs tar, which writes the folder @name of @dir to a file. */
static int run_tar(int fd, char *dir, char *name)
{
	char *argv[] = { "tar", "-cz", "-C", dir, name, NULL };
	posix_spawn_file_actions_t actions;
	int ret, status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	ret = -posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret)
		return ret;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EIO : 0;
}

/* What was written of an archive is removed if it is not all: it could pass for that. */
static int pack(const char *archive, char *dir, char *name)
{
	struct srpol_error error = {};
	struct stat st;
	bool is_file;
	int fd, ret;

	fd = open(archive, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return refused_at(-errno, archive);
	ret = run_tar(fd, dir, name);
	is_file = !fstat(fd, &st) && S_ISREG(st.st_mode);
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret)
		return EXIT_OK;
	if (is_file)
		unlink(archive);
	srpol_error_set(&error, ret, "tar could not write %s; there is no archive",
			archive);
	return refused(ret, &error);
}

/*
 * Puts the folder of this program first in PATH, so that the commands run this
 * srpol even if another one is installed.
 */
static void prefer_own(void)
{
	const char *path = getenv("PATH");
	char self[256], joined[1024];
	ssize_t len;

	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len <= 0)
		return;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(joined, sizeof(joined), "%s:%s", self,
		 path ?: "/usr/sbin:/usr/bin:/sbin:/bin");
	setenv("PATH", joined, 1);
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

/**
 * do_bug_report() - srpol bug-report
 * @args: name of the archive, optional
 *
 * Return: an EXIT_*.
 */
int do_bug_report(struct args *args)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction on_signal = { .sa_handler = stop };
	struct sigaction before[ARRAY_SIZE(signals)];
	char name[64], archive[80];
	const char *to = archive;
	time_t now = time(NULL);
	struct tm tm;
	size_t i;
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
	stopped = 0;
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &on_signal, &before[i]);
	err = make(to, name);
	/* a file of commands may go on, with a monitor that a signal ends */
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &before[i], NULL);
	if (!err)
		printf("%s\n", to);
	return err;
}
