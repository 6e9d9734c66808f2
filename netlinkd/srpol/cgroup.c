// SPDX-License-Identifier: GPL-2.0
/*
 * Control groups by path. The kernel identifies a control group by a number,
 * the inode of its folder, which changes at a reboot.
 */
#include <errno.h>
#include <ftw.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "srpol.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define OPEN_FOLDERS	16
#define FIRST_NAMESPACE	0xeffffffb	/* PROC_CGROUP_INIT_INO */
#define WALKS		8	/* a folder that goes meanwhile ends a walk */

/**
 * cgroup_id() - find the number of a control group
 * @name: path, absolute or relative to the cgroup2 mount, or a number
 * @id: result
 *
 * Return: false after an error message.
 */
bool cgroup_id(const char *name, uint64_t *id)
{
	size_t root = strlen(CGROUP_ROOT);
	struct statfs fs;
	uint32_t number;
	char path[512];
	struct stat st;

	if (parse_u32(name, UINT32_MAX, &number)) {
		*id = number;
		return true;
	}
	snprintf(path, sizeof(path), "%s%s%s",
		 strncmp(name, CGROUP_ROOT, root) ? CGROUP_ROOT : "",
		 strncmp(name, CGROUP_ROOT, root) && name[0] != '/' ? "/" : "",
		 name);
	if (stat(path, &st)) {
		complain("cgroup: %s: %s", path, strerror(errno));
		return false;
	}
	/* elsewhere the same number is another file, and that of any control group */
	if (!S_ISDIR(st.st_mode) || statfs(path, &fs) ||
	    fs.f_type != CGROUP2_SUPER_MAGIC) {
		complain("cgroup: %s is no control group of cgroup2", path);
		return false;
	}
	*id = st.st_ino;
	return true;
}

static struct {
	uint64_t id;
	char path[512];
	bool is_hidden;	/* it may be in a folder that must not be read */
} wanted;

static int is_wanted(const char *path, const struct stat *st, int type,
		     struct FTW *ftw)
{
	wanted.is_hidden |= type == FTW_DNR;
	if (type != FTW_D || st->st_ino != wanted.id)
		return 0;
	path += strlen(CGROUP_ROOT);
	snprintf(wanted.path, sizeof(wanted.path), "%s", *path ? path : "/");
	return 1;
}

/* Return: whether that was found, or is in no folder. */
static bool look_for(uint64_t id)
{
	int n;

	if (wanted.id == id && wanted.path[0])
		return true;
	wanted.id = id;
	wanted.path[0] = '\0';
	wanted.is_hidden = false;
	for (n = 0; n < WALKS; n++)
		if (nftw(CGROUP_ROOT, is_wanted, OPEN_FOLDERS,
			 FTW_PHYS | FTW_MOUNT) >= 0)
			return wanted.path[0] || !wanted.is_hidden;
	return false;
}

/**
 * cgroup_path() - find the path of a control group below the cgroup2 mount
 * @id: its number
 *
 * Return: a static buffer, or NULL if there is no control group of this number.
 */
const char *cgroup_path(uint64_t id)
{
	look_for(id);
	return wanted.path[0] ? wanted.path : NULL;
}

/* All control groups are below the mount, as the first cgroup namespace sees them. */
static bool sees_all(void)
{
	struct statfs fs;
	struct stat ns;

	return !statfs(CGROUP_ROOT, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC &&
	       !stat("/proc/self/ns/cgroup", &ns) && ns.st_ino == FIRST_NAMESPACE;
}

/**
 * cgroup_is_gone() - whether a control group certainly does not exist any more
 * @id: its number
 *
 * In a container, and where cgroup2 is not mounted at its usual place, as below "ip netns
 * exec", nobody can tell.
 */
bool cgroup_is_gone(uint64_t id)
{
	return sees_all() && look_for(id) && !wanted.path[0];
}
