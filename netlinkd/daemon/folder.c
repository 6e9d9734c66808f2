// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "folder.h"
#include "log.h"

/**
 * folder_of() - create the folder of a file, unless it exists
 * @path: path of the file
 *
 * A failure is only logged for debugging, as opening the file will fail as
 * well.
 */
void folder_of(const char *path)
{
	char folder[PATH_MAX];
	char *slash;

	if (strlen(path) >= sizeof(folder))
		return;
	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (!slash || slash == folder)
		return;
	*slash = '\0';
	if (mkdir(folder, 0755) && errno != EEXIST)
		log_debug("%s: %s", folder, strerror(errno));
}
