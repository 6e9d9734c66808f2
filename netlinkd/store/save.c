// SPDX-License-Identifier: GPL-2.0
/* A file that is whole, as before or as after, whatever happens. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "save.h"

static int sync_folder(const char *file)
{
	char folder[PATH_MAX];
	char *slash;
	int fd, ret;

	strcpy(folder, file);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fsync(fd) ? -errno : 0;
	close(fd);
	return ret;
}

/**
 * store_save() - replace a file by a JSON text
 * @file: its name
 * @o: JSON
 *
 * Return: 0: it is on the disk; a negative errno: it is as it was.
 */
int store_save(const char *file, const json_t *o)
{
	char new[PATH_MAX];
	int fd, ret = 0;

	if ((size_t)snprintf(new, sizeof(new), "%s.new", file) >= sizeof(new))
		return -ENAMETOOLONG;
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (json_dumpfd(o, fd, JSON_COMPACT) || fsync(fd))
		ret = errno ? -errno : -EIO;
	close(fd);
	if (!ret && rename(new, file))
		ret = -errno;
	return ret ? ret : sync_folder(file);
}
