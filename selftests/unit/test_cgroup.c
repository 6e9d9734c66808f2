// SPDX-License-Identifier: GPL-2.0
/*
 * Control groups by number: which is certainly gone, while others come and go.
 */
#include <errno.h>
#include <ftw.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "srpol.h"
#include "test.h"

#define GROUP	7

static unsigned int walks, lost;	/* of these, the first end before the group */
static bool is_there, is_hidden;

int complain(const char *fmt, ...)
{
	fail();
	return 1;
}

bool parse_u32(const char *text, uint32_t max, uint32_t *value)
{
	return false;
}

int __wrap_statfs(const char *path, struct statfs *fs);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_nftw(const char *root, __nftw_func_t found, int n, int flags);

int __wrap_statfs(const char *path, struct statfs *fs)
{
	*fs = (struct statfs){ .f_type = CGROUP2_SUPER_MAGIC };
	return 0;
}

int __wrap_stat(const char *path, struct stat *st)
{
	*st = (struct stat){ .st_ino = 0xeffffffb };
	return 0;
}

/* As that of glibc does where a folder goes between its name and its content. */
int __wrap_nftw(const char *root, __nftw_func_t found, int n, int flags)
{
	struct stat other = { .st_ino = GROUP + 1 }, wanted = { .st_ino = GROUP };
	struct FTW at = {};

	if (found("/sys/fs/cgroup/other", &other, FTW_D, &at))
		return 1;
	if (walks++ < lost) {
		errno = ENOENT;
		return -1;
	}
	if (is_hidden && found("/sys/fs/cgroup/hidden", &other, FTW_DNR, &at))
		return 1;
	if (is_there)
		return found("/sys/fs/cgroup/wanted", &wanted, FTW_D, &at);
	return 0;
}

static int set_up(void **state)
{
	/* what was found last is remembered */
	cgroup_path(GROUP + 1);
	walks = lost = 0;
	is_there = is_hidden = false;
	return 0;
}

static void test_gone(void **state)
{
	assert_true(cgroup_is_gone(GROUP));
	assert_null(cgroup_path(GROUP));
	lost = walks + 1;
	assert_true(cgroup_is_gone(GROUP));
}

static void test_there(void **state)
{
	is_there = true;
	lost = 3;
	assert_false(cgroup_is_gone(GROUP));
	assert_string_equal(cgroup_path(GROUP), "/wanted");
}

/* Too much comes and goes, or there are too few file descriptors. */
static void test_unknown(void **state)
{
	is_there = true;
	lost = 1000;
	assert_false(cgroup_is_gone(GROUP));
	assert_null(cgroup_path(GROUP));
	/* nor is it searched for ever */
	assert_in_range(walks, 1, 100);
	/* or there is one in which it may be, and that must not be read */
	walks = lost = 0;
	is_there = false;
	is_hidden = true;
	assert_false(cgroup_is_gone(GROUP));
	is_there = true;
	assert_string_equal(cgroup_path(GROUP), "/wanted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_gone, set_up),
		cmocka_unit_test_setup(test_there, set_up),
		cmocka_unit_test_setup(test_unknown, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
