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

/* Through a buffer: json_dumpfd() has a system call for each escaped character. */
static int write_json(int fd, const json_t *o)
{
	FILE *out = fdopen(fd, "w");
	int ret;

	if (!out) {
		ret = -errno;
		close(fd);
		return ret;
	}
	errno = 0;
	ret = json_dumpf(o, out, JSON_COMPACT) || fflush(out) || fsync(fd) ?
	      -(errno ?: EIO) : 0;
	fclose(out);
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
	int fd, ret;

	if ((size_t)snprintf(new, sizeof(new), "%s.new", file) >= sizeof(new))
		return -ENAMETOOLONG;
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = write_json(fd, o);
	if (!ret && rename(new, file))
		ret = -errno;
	return ret ? ret : sync_folder(file);
}
