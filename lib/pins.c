// SPDX-License-Identifier: LGPL-2.1
/*
 * Pins: one folder of the BPF file system per network namespace.
 *
 * DOC: whose pins
 *
 * A folder has the name of its namespace, and names are used again: after "ip
 * netns del A; ip netns add A" the folder of the first A is in the way of the
 * second. So each folder holds a map "netns" with the cookie of the namespace
 * that it was made for, a number that the kernel never uses twice. A folder
 * whose cookie is not that of the present namespace is stale: its programs are
 * on devices that are gone, and its registration with the module ended with the
 * namespace. Whoever makes a folder removes stale ones first.
 *
 * The BPF file system takes no name with a dot: in the folder's name that is
 * "%2e", and "%" itself "%25".
 *
 * DOC: which BPF file system
 *
 * "ip netns exec" gives its command a mount namespace with a /sys of its own.
 * What is pinned there is gone when the command ends, and the programs with it.
 * So pins are made only in the BPF file system that process 1 sees.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "pins.h"

#define BPFFS		"/sys/fs/bpf"
#define BPFFS_MAGIC	0xcafe4a11
#define COOKIE		"netns"
#define NETNS_DIR	"/run/netns"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

static bool is_bpffs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == BPFFS_MAGIC;
}

/*
 * Are two paths the same file? If that cannot be told, for lack of permission,
 * yes.
 */
static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) || stat(b, &sb) ||
	       (sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino);
}

/**
 * srpol_pins_mount() - ensure a BPF file system that outlives this process
 * @err: for the reason
 *
 * It is mounted if /sys/fs/bpf exists and has none.
 *
 * Return: 0, -ENOENT without a mount point, -EXDEV in a mount namespace that
 * process 1 does not share, or the error of mount(2).
 */
int srpol_pins_mount(struct srpol_error *err)
{
	bool there = is_bpffs(BPFFS);

	if (there ? !same_file(BPFFS, "/proc/1/root" BPFFS) :
		    !same_file("/proc/self/ns/mnt", "/proc/1/ns/mnt"))
		return srpol_error_set(err, -EXDEV,
				       "what is pinned in this mount namespace ends with it; instead of \"ip netns exec NAME srpol\" use \"srpol -n NAME\"");
	if (there)
		return 0;
	if (access(BPFFS, F_OK))
		return srpol_error_set(err, -ENOENT,
				       "there is no " BPFFS ": mount sysfs, or build a kernel with CONFIG_BPF_SYSCALL");
	if (getenv("SRPOL_NO_BPFFS_MOUNT") ||
	    mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return srpol_error_set(err, -errno ? -errno : -ENOENT,
				       "no BPF file system: mount -t bpf bpf "
				       BPFFS);
	return 0;
}

/*
 * Open and lock the root, and make it if needed; it may have been removed by
 * then. @how: operation of flock(2)
 */
static int lock_root(int how)
{
	int fd, ret;

	if (mkdir(SRPOL_PIN_ROOT, 0700) && errno != EEXIST)
		return -errno;
	fd = open(SRPOL_PIN_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!flock(fd, how))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static bool is_root(int fd)
{
	struct stat locked, there;

	return !fstat(fd, &locked) && !stat(SRPOL_PIN_ROOT, &there) &&
	       locked.st_ino == there.st_ino;
}

static int lock(int how, struct srpol_error *err)
{
	int fd, ret;

	ret = srpol_pins_mount(err);
	if (ret)
		return ret;
	for (;;) {
		fd = lock_root(how);
		if (fd >= 0 && is_root(fd))
			return fd;
		/*
		 * the previous holder of the lock has removed the folder that
		 * it is on
		 */
		if (fd >= 0)
			close(fd);
		else if (fd == -EAGAIN)
			return srpol_error_set(err, fd, "another process has locked %s: it attaches or detaches programs, or was stopped while it did",
					       SRPOL_PIN_ROOT);
		else if (fd != -ENOENT)
			return srpol_error_set(err, fd, "locking %s: %s",
					       SRPOL_PIN_ROOT, strerror(-fd));
	}
}

/**
 * srpol_pins_lock() - take the lock for loading, attaching and removing
 * @err: for the reason
 *
 * Who has it is waited for, without an end.
 *
 * Return: the lock, for srpol_pins_unlock(), or a negative errno.
 */
int srpol_pins_lock(struct srpol_error *err)
{
	return lock(LOCK_EX, err);
}

/**
 * srpol_pins_trylock() - take that lock if nobody has it
 * @err: for the reason
 *
 * Return: the lock, -EAGAIN if somebody has it, or another negative errno.
 */
int srpol_pins_trylock(struct srpol_error *err)
{
	return lock(LOCK_EX | LOCK_NB, err);
}

/**
 * srpol_pins_unlock() - release the lock
 * @lock: from srpol_pins_lock()
 *
 * The root folder is removed if it has no folder of a namespace.
 */
void srpol_pins_unlock(int lock)
{
	rmdir(SRPOL_PIN_ROOT);
	close(lock);
}

/* Write the name that the folder of a namespace has. Return: 0 or -ENAMETOOLONG. */
static int write_folder(char *to, size_t len, const char *name)
{
	static const char escaped[] = ".%";
	size_t n = 0;

	for (; *name && n < len; name++)
		n += snprintf(to + n, len - n, strchr(escaped, *name) ? "%%%02x" :
			      "%c", (unsigned char)*name);
	return *name || n >= len ? -ENAMETOOLONG : 0;
}

/* Write the name of the namespace that a folder is of. */
static void read_folder(char *to, size_t len, const char *folder)
{
	unsigned int c;
	size_t n;

	for (n = 0; *folder && n < len - 1; n++) {
		c = (unsigned char)*folder;
		folder += c == '%' && sscanf(folder, "%%%2x", &c) == 1 ? 3 : 1;
		to[n] = c;
	}
	to[n] = '\0';
}

/**
 * srpol_pins_dir() - folder of the present namespace
 * @dir: result, SRPOL_PATH_LEN bytes
 * @err: for the reason
 */
int srpol_pins_dir(char *dir, struct srpol_error *err)
{
	char name[SRPOL_PATH_LEN - sizeof(SRPOL_PIN_ROOT) - 64];
	char folder[sizeof(name)];
	int ret = srpol_netns_name(name, sizeof(name)) ?:
		  write_folder(folder, sizeof(folder), name);

	if (ret)
		return srpol_error_set(err, ret, "network namespace: %s",
				       strerror(-ret));
	snprintf(dir, SRPOL_PATH_LEN, SRPOL_PIN_ROOT "/%s", folder);
	return 0;
}

/**
 * srpol_pins_path() - path of a pin
 * @path: result, 2 * SRPOL_PATH_LEN bytes
 * @dir: folder
 * @name: the pin
 */
void srpol_pins_path(char *path, const char *dir, const char *name)
{
	snprintf(path, 2 * SRPOL_PATH_LEN, "%s/%s", dir, name);
}

/**
 * srpol_pins_open() - open a pinned object
 * @dir: folder
 * @name: the pin
 *
 * Return: file descriptor or a negative errno.
 */
int srpol_pins_open(const char *dir, const char *name)
{
	char path[2 * SRPOL_PATH_LEN];

	srpol_pins_path(path, dir, name);
	return bpf_obj_get(path);
}

/**
 * srpol_pins_missing() - say why a pin of the data plane cannot be opened
 * @dir: folder
 * @name: the pin
 * @ret: negative errno of opening it; one that is not there is of another
 * version than this
 * @err: for the reason
 *
 * Return: @ret
 */
int srpol_pins_missing(const char *dir, const char *name, int ret,
		       struct srpol_error *err)
{
	if (ret != -ENOENT)
		return srpol_error_set(err, ret, "%s/%s: %s", dir, name,
				       strerror(-ret));
	return srpol_error_set(err, ret,
			       "%s was loaded by another version of srpol and has no %s: \"srpol dev del\" of all devices that \"srpol dev show\" names, then add them again",
			       dir, name);
}

/**
 * srpol_pins_exist() - is there such a pin
 * @dir: folder
 * @name: the pin
 *
 * Return: 1, 0, or a negative errno if it cannot be told, such as -EACCES.
 */
int srpol_pins_exist(const char *dir, const char *name)
{
	char path[2 * SRPOL_PATH_LEN];

	srpol_pins_path(path, dir, name);
	if (!access(path, F_OK))
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

/**
 * srpol_pins_remove() - remove a pin
 * @dir: folder
 * @name: the pin
 */
int srpol_pins_remove(const char *dir, const char *name)
{
	char path[2 * SRPOL_PATH_LEN];

	srpol_pins_path(path, dir, name);
	return unlink(path) ? -errno : 0;
}

/**
 * srpol_pins_cookie() - cookie of the present namespace
 *
 * Return: a number that the kernel never uses twice, 0 if it cannot be told.
 */
uint64_t srpol_pins_cookie(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	if (fd < 0)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len))
		cookie = 0;
	close(fd);
	return cookie;
}

static int pin_cookie(const char *dir)
{
	uint64_t cookie = srpol_pins_cookie();
	char path[2 * SRPOL_PATH_LEN];
	uint32_t key = 0;
	int fd, ret;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "srpol_netns", sizeof(key),
			    sizeof(cookie), 1, NULL);
	if (fd < 0)
		return fd;
	srpol_pins_path(path, dir, COOKIE);
	ret = bpf_map_update_elem(fd, &key, &cookie, BPF_ANY) ?:
	      bpf_obj_pin(fd, path);
	close(fd);
	return ret;
}

/* Cookie of the namespace that a folder was made for, 0 if there is none. */
static uint64_t pinned_cookie(const char *dir)
{
	int fd = srpol_pins_open(dir, COOKIE);
	uint64_t cookie = 0;
	uint32_t key = 0;

	if (fd < 0)
		return 0;
	if (bpf_map_lookup_elem(fd, &key, &cookie))
		cookie = 0;
	close(fd);
	return cookie;
}

/**
 * srpol_pins_check() - does a folder belong to the present namespace
 * @dir: folder
 *
 * Return: 0, -ENOENT if there is no folder, -ESTALE if it belongs to a former
 * namespace of the same name, -EACCES if that cannot be told.
 */
int srpol_pins_check(const char *dir)
{
	int ret = srpol_pins_exist(dir, COOKIE);

	if (ret == 1)
		return pinned_cookie(dir) == srpol_pins_cookie() ? 0 : -ESTALE;
	if (ret)
		return ret;
	return access(dir, F_OK) ? -ENOENT : -ESTALE;
}

/**
 * srpol_pins_make_dir() - make the folder of the present namespace
 * @dir: folder
 * @err: for the reason
 *
 * What a former namespace or an interrupted attempt has left there is removed
 * first.
 */
int srpol_pins_make_dir(const char *dir, struct srpol_error *err)
{
	int ret;

	srpol_pins_remove_dir(dir);
	if (mkdir(dir, 0700))
		return srpol_error_set(err, -errno, "%s: %s", dir,
				       strerror(errno));
	ret = pin_cookie(dir);
	if (!ret)
		return 0;
	rmdir(dir);
	return srpol_error_set(err, ret, "pinning below %s: %s", dir,
			       strerror(-ret));
}

/**
 * srpol_pins_remove_dir() - remove a folder and all its pins
 * @dir: folder
 *
 * That of the registration goes first: as long as it is there, all others are.
 */
void srpol_pins_remove_dir(const char *dir)
{
	struct dirent *entry;
	DIR *d = opendir(dir);

	srpol_pins_remove(dir, "link_dp");
	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			srpol_pins_remove(dir, entry->d_name);
	if (d)
		closedir(d);
	rmdir(dir);
}

/* Cookie of a namespace by its file, 0 if it cannot be entered. */
static uint64_t cookie_of(const char *path)
{
	int self = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t cookie = 0;

	if (self >= 0 && fd >= 0 && !setns(fd, CLONE_NEWNET)) {
		cookie = srpol_pins_cookie();
		/* the caller continues in its own namespace, or not at all */
		if (setns(self, CLONE_NEWNET))
			abort();
	}
	if (fd >= 0)
		close(fd);
	if (self >= 0)
		close(self);
	return cookie;
}

/* Is it the folder of a namespace that has no name? */
static bool is_unnamed(const char *folder)
{
	const size_t len = strlen(SRPOL_NETNS_UNNAMED);

	return !strncmp(folder, SRPOL_NETNS_UNNAMED, len) &&
	       strspn(folder + len, "0123456789") == strlen(folder + len);
}

/*
 * Has the namespace of a folder ended? A namespace without a name cannot be
 * looked up, so its folder is an orphan only if a namespace with that name has
 * another cookie.
 */
static bool is_orphan(const char *folder, const char *dir)
{
	char name[SRPOL_PATH_LEN - 56], path[SRPOL_PATH_LEN];
	uint64_t cookie, now;

	read_folder(name, sizeof(name), folder);
	snprintf(path, sizeof(path), NETNS_DIR "/%s", name);
	if (!strcmp(name, SRPOL_NETNS_DEFAULT))
		snprintf(path, sizeof(path), "/proc/1/ns/net");
	cookie = pinned_cookie(dir);
	if (access(path, F_OK))
		return errno == ENOENT && !is_unnamed(folder) &&
		       !srpol_dp_dir_in_use(dir);
	now = cookie_of(path);
	return now && now != cookie;
}

/**
 * srpol_pins_each() - visit the folders of all namespaces
 * @cb: called for each of them
 * @data: for @cb
 */
void srpol_pins_each(void (*cb)(const char *name, const char *dir, void *data),
		     void *data)
{
	char dir[SRPOL_PATH_LEN];
	struct dirent *entry;
	DIR *d;

	d = opendir(SRPOL_PIN_ROOT);
	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(dir, sizeof(dir), SRPOL_PIN_ROOT "/%.200s",
			 entry->d_name);
		cb(entry->d_name, dir, data);
	}
	if (d)
		closedir(d);
}

struct orphans {
	unsigned int n;
	void (*cb)(const char *dir, void *data);
	void *data;
};

static void visit_orphan(const char *name, const char *dir, void *data)
{
	struct orphans *orphans = data;

	if (!is_orphan(name, dir))
		return;
	orphans->n++;
	orphans->cb(dir, orphans->data);
}

/**
 * srpol_pins_orphans() - find folders of namespaces that have ended
 * @cb: called for each of them
 * @data: for @cb
 *
 * Return: how many there are.
 */
unsigned int srpol_pins_orphans(void (*cb)(const char *dir, void *data),
				void *data)
{
	struct orphans orphans = { .cb = cb, .data = data };

	srpol_pins_each(visit_orphan, &orphans);
	return orphans.n;
}

static void remove_orphan(const char *dir, void *data)
{
	srpol_pins_remove_dir(dir);
}

/**
 * srpol_pins_sweep() - remove the folders of namespaces that have ended
 *
 * To be called with the lock held.
 */
void srpol_pins_sweep(void)
{
	srpol_pins_orphans(remove_orphan, NULL);
}
