// SPDX-License-Identifier: GPL-2.0
/*
 * srpol bug-report: makes one archive of what a maintainer asks for first. It
 * has names, addresses and counters, but no packet payload and no keys.
 */
#include <errno.h>
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
"names hosts and addresses: read it before you give it away.\n";

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

/* Saves the output and error messages of a command, which may not exist. */
static void collect(const char *dir, const char *file, const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "{ %s; } >'%s/%s' 2>&1", command, dir,
		 file);
	if (system(line))
		return;
}

static int pack(const char *archive, const char *dir, const char *name)
{
	char line[1024];
	int status;

	snprintf(line, sizeof(line), "tar -czf '%s' -C '%s' '%s'", archive,
		 dir, name);
	status = system(line);
	return status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) ?
	       complain("tar could not write %s", archive) : EXIT_OK;
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

/**
 * do_bug_report() - srpol bug-report
 * @args: name of the archive, optional
 *
 * Return: an EXIT_*.
 */
int do_bug_report(struct args *args)
{
	char dir[] = "/tmp/srpol-XXXXXX", name[64], archive[80], sub[128];
	time_t now = time(NULL);
	const char *to = archive;
	char line[160];
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
	if (strchr(to, '\''))
		return complain("%s: a quote in the name of an archive", to);
	prefer_own();
	if (!mkdtemp(dir))
		return refused(-errno, NULL);
	snprintf(sub, sizeof(sub), "%s/%s", dir, name);
	if (mkdir(sub, 0700)) {
		err = -errno;
		rmdir(dir);
		return refused(err, NULL);
	}
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		collect(sub, parts[i].file, parts[i].command);
	err = pack(to, dir, name);
	snprintf(line, sizeof(line), "rm -rf '%s'", dir);
	if (system(line) || err)
		return EXIT_REFUSED;
	printf("%s\n", to);
	return EXIT_OK;
}
