// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net.h"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void run(const char *command, const char *input)
{
	FILE *f = popen(command, "w");

	if (!f || fputs(input, f) < 0 || pclose(f)) {
		fprintf(stderr, "%s failed: %s\n", command, input);
		exit(1);
	}
}

int net_new(void)
{
	int fd;

	if (unshare(CLONE_NEWNET))
		die("unshare");
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("/proc/self/ns/net");
	return fd;
}

void net_enter(int ns)
{
	if (setns(ns, CLONE_NEWNET))
		die("setns");
}

void net_sysctl(const char *name, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		die(path);
	close(fd);
}

void net_ip(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	run("ip -batch -", line);
}

void net_veth(unsigned int index, unsigned int peer_index, int peer_ns)
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	net_ip("link add v%u index %u mtu 9000 type veth peer name v%u index %u mtu 9000 netns /proc/%d/fd/%d",
	       index, index, peer_index, peer_index, getpid(), peer_ns);
	net_ip("link set v%u up", index);
	net_enter(peer_ns);
	net_ip("link set v%u up", peer_index);
	net_enter(here);
	close(here);
}

void net_napi(unsigned int index)
{
	char command[64];

	snprintf(command, sizeof(command), "ethtool -K v%u gro on", index);
	run(command, "");
}
