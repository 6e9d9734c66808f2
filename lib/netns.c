// SPDX-License-Identifier: LGPL-2.1
/* Network namespaces: enter one by name, find the name of the present one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "srpol_lib.h"

#define NETNS_DIR	"/run/netns"

/**
 * srpol_netns_enter() - make another namespace the present one of this process
 * @name: a name made by "ip netns add", or a path
 * @err: for the reason
 *
 * Unlike "ip netns exec" this does not change the mount namespace, so that the
 * pins below /sys/fs/bpf stay visible.
 */
int srpol_netns_enter(const char *name, struct srpol_error *err)
{
	char path[SRPOL_PATH_LEN];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s%s%s",
		 strchr(name, '/') ? "" : NETNS_DIR,
		 strchr(name, '/') ? "" : "/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return srpol_error_set(err, -errno,
				       "network namespace %s: %s", name,
				       strerror(errno));
	if (setns(fd, CLONE_NEWNET))
		ret = srpol_error_set(err, -errno,
				      "entering network namespace %s: %s",
				      name, strerror(errno));
	close(fd);
	return ret;
}

static bool same_file(const struct stat *a, const char *path)
{
	struct stat b;

	return !stat(path, &b) && a->st_dev == b.st_dev &&
	       a->st_ino == b.st_ino;
}

/*
 * Is this the namespace of process 1? Looking at ns/net of another process
 * takes the permission to trace it, which srpold gives up. But each namespace
 * has its own files in net/, which can be compared instead.
 */
static bool is_default(void)
{
	struct stat own;

	return !stat("/proc/self/net/dev", &own) &&
	       same_file(&own, "/proc/1/net/dev");
}

/**
 * srpol_netns_name() - name of the present namespace
 * @buf: result: "default" for that of process 1, the name given by "ip
 *	netns", or "netns-INODE" if it has none but "default": what is named by
 *	it, pins, files and sockets, is that of process 1
 * @len: size of @buf
 *
 * Return: 0, -ENAMETOOLONG, or why it cannot be told.
 */
int srpol_netns_name(char *buf, size_t len)
{
	char path[SRPOL_PATH_LEN];
	struct dirent *entry;
	struct stat self;
	bool found = false;
	int ret = 0;
	DIR *dir;

	if (stat("/proc/self/ns/net", &self))
		return -errno;
	if (is_default()) {
		snprintf(buf, len, "%s", SRPOL_NETNS_DEFAULT);
		return 0;
	}
	dir = opendir(NETNS_DIR);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), NETNS_DIR "/%.200s",
			 entry->d_name);
		found = entry->d_name[0] != '.' &&
			strcmp(entry->d_name, SRPOL_NETNS_DEFAULT) &&
			same_file(&self, path);
		if (found && (size_t)snprintf(buf, len, "%s", entry->d_name) >= len)
			ret = -ENAMETOOLONG;
	}
	if (dir)
		closedir(dir);
	if (!found)
		snprintf(buf, len, SRPOL_NETNS_UNNAMED "%lu",
			 (unsigned long)self.st_ino);
	return ret;
}
