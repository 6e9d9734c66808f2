// SPDX-License-Identifier: GPL-2.0
/*
 * Replaces a file atomically: after a crash it has the old or the new contents,
 * never a part of them.
 */
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

/* Buffered: json_dumpfd() makes a system call per escaped character. */
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
 * @file: name of the file
 * @o: JSON
 * @replaced: result: the file has the new contents, also after an error; may be NULL
 *
 * Return: 0 once the new contents are on the disk, or a negative errno. The old
 * file is unchanged after an error, unless only the final sync of its folder
 * failed.
 */
int store_save(const char *file, const json_t *o, bool *replaced)
{
	char new[PATH_MAX];
	int fd, ret;

	if (replaced)
		*replaced = false;
	if ((size_t)snprintf(new, sizeof(new), "%s.new", file) >= sizeof(new))
		return -ENAMETOOLONG;
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = write_json(fd, o);
	if (!ret && rename(new, file))
		ret = -errno;
	if (ret)
		return ret;
	if (replaced)
		*replaced = true;
	return sync_folder(file);
}
