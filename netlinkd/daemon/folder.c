// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "folder.h"
#include "log.h"

/**
 * folder_of() - make the folder of a file, if there is none
 * @path: of the file
 *
 * If that fails, whoever opens the file says why.
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
