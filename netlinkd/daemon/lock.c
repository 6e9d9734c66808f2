// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "folder.h"
#include "lock.h"
#include "srpol_lib.h"

/**
 * lock_file() - lock a file so that no other process can
 * @path: path of the file, which is created if necessary, and not removed
 * @fd: result: descriptor to be closed to release the lock, -1 after an error
 * @err: error message
 *
 * Return: 0, -EBUSY if another process has the lock, or another negative errno.
 */
int lock_file(const char *path, int *fd, struct srpol_error *err)
{
	int ret;

	folder_of(path);
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0)
		return srpol_error_set(err, -errno, "%s: %s", path,
				       strerror(errno));
	if (!flock(*fd, LOCK_EX | LOCK_NB))
		return 0;
	ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(*fd);
	*fd = -1;
	return srpol_error_set(err, ret, "%s: %s", path, ret == -EBUSY ?
			       "another process has it locked" :
			       strerror(-ret));
}
