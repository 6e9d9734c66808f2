// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of the SPANK plugin: control groups as Slurm names them, words, options,
 * colors of users.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/spank/spank_srpol.h"
#include "test.h"

static struct srpol_error err;

static void check_cgroup(const char *text, uint32_t job, const char *want)
{
	char path[64] = "";

	assert_int_equal(cgroup_of_job(text, job, path, sizeof(path)), want != NULL);
	if (want)
		assert_string_equal(path, want);
}

static void cgroups(void **state)
{
	(void)state;
	check_cgroup("0::/system.slice/slurmstepd.scope/job_5/step_0/user/task_0\n",
		     5, "/system.slice/slurmstepd.scope/job_5");
	check_cgroup("0::/a/job_5\n", 5, "/a/job_5");
	check_cgroup("0::/job_5", 5, "/job_5");
	check_cgroup("0::/job_55/job_5/x\n", 5, "/job_55/job_5");
	check_cgroup("0::/slice/job_4294967295/step_batch\n", 4294967295u,
		     "/slice/job_4294967295");
	check_cgroup("12:memory:/slurm/uid_0/job_5/step_0\n0::/x/job_5/y\n", 5,
		     "/x/job_5");
	/* another job, the system's, version 1, too long */
	check_cgroup("0::/job_55/step_5\n", 5, NULL);
	check_cgroup("0::/my_job_5/x\n", 5, NULL);
	check_cgroup("0::/system.slice/slurmd.service\n", 5, NULL);
	check_cgroup("0::/\n", 5, NULL);
	check_cgroup("", 5, NULL);
	check_cgroup("0::/x\n1:cpu:/job_5/step_0\n", 5, NULL);
	check_cgroup("9:freezer:/slurm/uid_0/job_5/step_0\n", 5, NULL);
	check_cgroup("0::/0123456789012345678901234567890123456789012345678901234567/job_5\n",
		     5, NULL);
}

static void color_lists(void **state)
{
	static const char * const bad[] = {
		"", ",", "0", "1,", ",1", "1-", "-1", "2-1", "1--2", "1-2-3",
		"x", "1 ", " 1", "+1", "4294967296", "1,4294967296", "0-5",
		"99999999999999999999999",
	};
	uint32_t color;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(colors_are_good(bad[i]));
	assert_true(colors_are_good("1,5-7,4294967295"));
	assert_true(colors_have("1,5-7,9", 1) && colors_have("1,5-7,9", 6) &&
		    colors_have("1,5-7,9", 7) && colors_have("1,5-7,9", 9));
	assert_false(colors_have("1,5-7,9", 2) || colors_have("1,5-7,9", 8) ||
		     colors_have("1,5-7,9", 10) || colors_have(NULL, 1) ||
		     colors_have("1,5-7,9", 0));
	assert_true(color_parse("4294967295", &color));
	assert_false(color_parse("1x", &color) || color_parse("0", &color));
}

static int config_of(struct config *c, const char *a, const char *b)
{
	char *words[] = { (char *)a, (char *)b };

	return config_read(c, !!a + !!b, words, &err);
}

static void words(void **state)
{
	static const char * const bad[] = {
		"socket=run/x", "socket=", "timeout=0", "timeout=61", "timeout",
		"color=0", "color=x", "colors=", "colors=1-", "users=x",
		"requires", "required=1", "switch", "", "=",
	};
	struct config c;
	size_t i;

	(void)state;
	assert_int_equal(config_of(&c, NULL, NULL), 0);
	assert_string_equal(c.socket, "/run/srpold/default.sock");
	assert_true(c.limit_ms == 3000 && !c.color && !c.colors && !c.users &&
		    !c.switches && !c.required);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err.text[0] = '\0';
		assert_int_equal(config_of(&c, "required", bad[i]), -EINVAL);
		assert_non_null(strstr(err.text, bad[i]));
	}
	assert_int_equal(config_of(&c, "timeout=60", "required"), 0);
	assert_true(c.limit_ms == 60000 && c.required);
	assert_int_equal(config_of(&c, "switches", "color=9"), 0);
	assert_true(c.switches && c.color == 9);
}

static int take(struct wish *wish, enum wish_option option, const char *text)
{
	err.text[0] = '\0';
	return wish_take(wish, option, text, &err);
}

static void options(void **state)
{
	static const char * const bad_bw[] = {
		"", "0", "G", "4 G", "-4G", "0x4", "inf", "nan", "1e3", "4G/",
		"/4G", "4G/3G", "4G/5G/6G", "$(x)", "4G;x", "2000T",
	};
	struct wish w = {};
	size_t i;

	(void)state;
	assert_int_equal(take(&w, WISH_SRPOL, "off"), 0);
	assert_true(w.any && w.off);
	assert_int_equal(take(&w, WISH_SRPOL, "on"), 0);
	assert_false(w.off);
	assert_int_equal(take(&w, WISH_SRPOL, "no"), -EINVAL);
	assert_int_equal(take(&w, WISH_COLOR, "7"), 0);
	assert_int_equal(w.color, 7);
	assert_int_equal(take(&w, WISH_COLOR, ""), -EINVAL);
	assert_int_equal(take(&w, WISH_COLOR, NULL), -EINVAL);
	assert_int_equal(take(&w, WISH_PATHS, "spine1,spine2"), 0);
	assert_string_equal(w.paths, "spine1,spine2");
	assert_int_equal(take(&w, WISH_PATHS, "spine1,"), -EINVAL);
	assert_int_equal(take(&w, WISH_PATHS,
			      "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"),
			 -EINVAL);
	assert_int_equal(take(&w, WISH_VIA, ""), -EINVAL);
	assert_int_equal(take(&w, WISH_BW, "1.6T"), 0);
	assert_int_equal(take(&w, WISH_BW, "100G/200G"), 0);
	assert_string_equal(w.bw, "100G/200G");
	for (i = 0; i < sizeof(bad_bw) / sizeof(*bad_bw); i++)
		assert_int_equal(take(&w, WISH_BW, bad_bw[i]), -EINVAL);
	assert_string_equal(w.bw, "100G/200G");
}

static void allowed(void **state)
{
	struct config c = {};
	struct wish w = {};

	(void)state;
	take(&w, WISH_PATHS, "disjoint");
	assert_int_equal(wish_check(&w, &c, &err), 0);
	take(&w, WISH_PATHS, "spine1");
	assert_int_equal(wish_check(&w, &c, &err), -EPERM);
	c.switches = true;
	assert_int_equal(wish_check(&w, &c, &err), 0);
	take(&w, WISH_SRPOL, "off");
	assert_int_equal(wish_check(&w, &c, &err), 0);
	c.required = true;
	assert_int_equal(wish_check(&w, &c, &err), -EPERM);
}

/* @want: color, or -errno */
static void check_color(const struct config *c, uid_t uid, gid_t group,
			uint32_t asked, int want)
{
	struct who who = { .uid = uid, .gid = 12345, .groups = &group,
			   .n_groups = 1 };
	struct wish wish = { .color = asked };
	uint32_t color = 0;
	int ret;

	ret = colors_choose(c, &who, &wish, &color, &err);
	assert_int_equal(ret < 0 ? ret : (int)color, want);
}

static void users(void **state)
{
	char file[] = "/tmp/srpol-users-XXXXXX";
	struct config c = { .colors = "5-6", .color = 9 };
	const struct passwd *daemon = getpwnam("daemon");
	const struct group *tty = getgrnam("tty");
	FILE *f = fdopen(mkstemp(file), "w");

	(void)state;
	assert_true(f && daemon && tty);
	check_color(&c, 1000, 0, 0, 9);
	check_color(&c, 1000, 0, 5, 5);
	check_color(&c, 1000, 0, 9, 9);
	check_color(&c, 1000, 0, 7, -EPERM);
	fputs("# all\n\ndaemon 20,21 # its\n%tty\t30\n4242 40-41\n0 50\n* 60\n", f);
	fflush(f);
	c = (struct config){ .users = file, .colors = "5-6" };
	check_color(&c, daemon->pw_uid, 0, 0, 20);
	check_color(&c, daemon->pw_uid, tty->gr_gid, 21, 21);
	check_color(&c, daemon->pw_uid, tty->gr_gid, 30, -EPERM);
	check_color(&c, 7777, tty->gr_gid, 0, 30);
	check_color(&c, 4242, 0, 41, 41);
	check_color(&c, 0, 0, 0, 50);
	check_color(&c, 7777, 7777, 0, 60);
	check_color(&c, 7777, 7777, 5, -EPERM);
	fputs("x\n", f);
	fflush(f);
	check_color(&c, 0, 0, 0, 50);
	rewind(f);
	fputs("daemon 20-,x", f);
	fflush(f);
	check_color(&c, 0, 0, 0, -EINVAL);
	assert_non_null(strstr(err.text, ":1:"));
	fclose(f);
	unlink(file);
	check_color(&c, 0, 0, 0, -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cgroups),
		cmocka_unit_test(color_lists),
		cmocka_unit_test(words),
		cmocka_unit_test(options),
		cmocka_unit_test(allowed),
		cmocka_unit_test(users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
