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
 * lock_file() - be the only process that has a file locked
 * @path: of the file, which is made if there is none, and stays
 * @fd: result: to be closed at the end, -1 after an error
 * @err: why not: -EBUSY if another process has it
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
