// SPDX-License-Identifier: GPL-2.0
/*
 * srpol doctor where the module does not tell all: what is not checked does not pass
 * for well. The module is played here, and fails at each of the things that it is
 * asked for, in turn.
 */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "test.h"
#undef ARRAY_SIZE
#include "doctor.h"

struct srpol_genl genl;

static unsigned int asked, fails_at;	/* questions; the one that fails, 0: none */
static unsigned int n_unread;		/* reports that something is not checked */
static bool registered;
static uint32_t n_groups;		/* rules by control group */
static unsigned int n_gone;		/* reports that one's is gone */

int __wrap_access(const char *path, int mode);
int __wrap_uname(struct utsname *u);

/* Of the machine nothing is in the way, but perhaps that it has no bpffs. */
int __wrap_access(const char *path, int mode)
{
	return 0;
}

int __wrap_uname(struct utsname *u)
{
	memset(u, 0, sizeof(*u));
	strcpy(u->release, "6.12.0");
	return 0;
}

static int answer(void)
{
	return ++asked == fails_at ? EXIT_REFUSED : EXIT_OK;
}

int fetch_paths(struct vec *paths)
{
	return answer();
}

int fetch_policies(struct vec *policies)
{
	return answer();
}

/* One whose control group is there, and one whose is gone. */
int fetch_rules(struct vec *rules)
{
	struct rule_info *rule;
	uint32_t i;

	for (i = 0; i < n_groups; i++) {
		rule = vec_add(rules);
		memset(rule, 0, sizeof(*rule));
		rule->priority = i;
		rule->match = SRPOL_MATCH_CGROUP;
		rule->cgroup = i;
	}
	return answer();
}

bool cgroup_is_gone(uint64_t id)
{
	return id;
}

int fetch_endpoints(struct vec *endpoints)
{
	return answer();
}

/* One that is up, so that the domain is looked at. */
int fetch_sids(struct vec *sids)
{
	struct sid_info *sid = vec_add(sids);

	memset(sid, 0, sizeof(*sid));
	sid->state = SRPOL_PATH_STATE_UP;
	return answer();
}

int fetch_devs(struct vec *devs)
{
	return answer();
}

int fetch_config(struct config_info *config)
{
	memset(config, 0, sizeof(*config));
	if (registered)
		strcpy(config->data_plane, "test");
	config->domain.n = 1;
	return answer();
}

int srpol_genl_open(struct srpol_genl *g, struct srpol_error *err)
{
	return 0;
}

int srpol_dp_status(struct srpol_dp_status *st, struct srpol_error *err)
{
	memset(st, 0, sizeof(*st));
	st->loaded = registered = true;
	return 0;
}

int srpol_dp_check_layout(struct srpol_error *err)
{
	return 0;
}

bool srpol_dp_dir_in_use(const char *dir)
{
	return false;
}

unsigned int srpol_pins_orphans(void (*cb)(const char *dir, void *data), void *data)
{
	return 0;
}

int srpol_flows_open(struct srpol_flow_table *table)
{
	return -ENOENT;
}

void srpol_flows_close(struct srpol_flow_table *table)
{
}

void check_devices(const struct vec *devs, const struct vec *paths,
		   const struct vec *sids)
{
}

void check_forwarding(const struct vec *sids, const struct vec *devs)
{
}

void check_kernel_sids(const struct vec *sids)
{
}

void check_ip_rules(const struct vec *devs)
{
}

void check_firewall(const struct vec *devs)
{
}

bool more(const struct args *args)
{
	return false;
}

bool is(struct args *args, const char *word)
{
	return false;
}

bool unknown(struct args *args)
{
	return false;
}

void out_begin(void)
{
}

void out_end(void)
{
}

void out_object(const char *key)
{
}

void out_object_end(void)
{
}

void out_text(const char *fmt, ...)
{
}

void out_string(const char *key, const char *fmt, const char *value)
{
	if (!strcmp(key, "text") && strstr(value, "is not checked"))
		n_unread++;
	if (!strcmp(key, "text") && strstr(value, "control group is gone")) {
		assert_non_null(strstr(value, "rule 1 "));
		n_gone++;
	}
}

static int doctor(void)
{
	struct args args = {};

	asked = n_unread = 0;
	return do_doctor(&args);
}

static void test_unread(void **state)
{
	unsigned int n;

	assert_true(doctor() < 2);
	assert_int_equal(n_unread, 0);
	n = asked;
	/* configuration twice, each type of object once */
	assert_int_equal(n, 8);
	for (fails_at = 1; fails_at <= n; fails_at++) {
		assert_int_equal(doctor(), 2);
		assert_int_equal(n_unread, 1);
	}
	fails_at = 0;
	assert_true(doctor() < 2);
}

static void test_cgroup(void **state)
{
	n_groups = 1;
	doctor();
	assert_int_equal(n_gone, 0);
	n_groups = 2;
	assert_int_equal(doctor(), 1);
	assert_int_equal(n_gone, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
