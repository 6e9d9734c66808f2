// SPDX-License-Identifier: LGPL-2.1
/* Files that an operator names. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "srpol_lib.h"

/**
 * srpol_file_open() - open a file that is to be read to its end
 * @path: its name
 * @err: why not, without the name
 *
 * A pipe, a terminal or another device may make its reader wait, or never end: they
 * are refused, and opening them does not wait either.
 *
 * Return: a stream for fclose(), or NULL with errno, of which EINVAL means that it is
 * no regular file.
 */
FILE *srpol_file_open(const char *path, struct srpol_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st = {};
	FILE *file = NULL;
	int code;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		file = fdopen(fd, "r");
	if (file)
		return file;
	code = errno;
	if (fd >= 0 && st.st_mode && !S_ISREG(st.st_mode)) {
		code = EINVAL;
		srpol_error_set(err, -code, "no regular file");
	} else {
		srpol_error_set(err, -code, "%s", strerror(code));
	}
	if (fd >= 0)
		close(fd);
	errno = code;
	return NULL;
}
