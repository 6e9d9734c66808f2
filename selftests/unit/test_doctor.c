// SPDX-License-Identifier: GPL-2.0
/*
 * srpol doctor where the module does not tell all: what is not checked does not pass
 * for well. The module is played here, and fails at each of the things that it is
 * asked for, in turn. So is srpold.
 */
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include "test.h"
#undef ARRAY_SIZE
#include "ask.h"
#include "doctor.h"
#include "engine.h"

struct srpol_genl genl;

static unsigned int asked, fails_at;	/* questions; the one that fails, 0: none */
static unsigned int n_unread;		/* reports that something is not checked */
static bool registered;
static uint32_t n_groups;		/* rules by control group */
static unsigned int n_gone;		/* reports that one's is gone */
static uint32_t n_paths;
static uint32_t origin;			/* of the paths */
static int engine_error;		/* why srpold is not asked */
static const char *engine_answer;
static uid_t uid;
static bool has_socket = true;
static unsigned int n_asked;		/* requests to srpold */
static char checks[4096];		/* verdict and text of each report of check "engine"
					 * or "path" */

int __wrap_access(const char *path, int mode);
int __wrap_uname(struct utsname *u);
int __wrap_statfs(const char *path, struct statfs *fs);

/* Of the machine nothing is in the way. */
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

int __wrap_statfs(const char *path, struct statfs *fs)
{
	fs->f_type = BPF_FS_MAGIC;
	return 0;
}

static int answer(void)
{
	return ++asked == fails_at ? EXIT_REFUSED : EXIT_OK;
}

int fetch_paths(struct vec *paths)
{
	struct path_info *path;
	uint32_t i;

	for (i = 0; i < n_paths; i++) {
		path = vec_add(paths);
		memset(path, 0, sizeof(*path));
		path->id = i + 1;
		path->origin = origin;
		path->state = SRPOL_PATH_STATE_UP;
	}
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

bool engine_socket(char *path, size_t len)
{
	snprintf(path, len, "/run/test.sock");
	return has_socket;
}

int srpol_ask(const char *path, json_t *request, unsigned int limit_ms, json_t **answer)
{
	assert_string_equal(path, "/run/test.sock");
	assert_string_equal(json_string_value(json_object_get(request, "request")), "paths");
	assert_true(limit_ms);
	n_asked++;
	*answer = engine_answer ? json_loads(engine_answer, 0, NULL) : NULL;
	return engine_error;
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
	static bool told;

	if (!strcmp(key, "check"))
		told = !strcmp(value, "engine") || !strcmp(value, "path");
	if (told && (!strcmp(key, "verdict") || !strcmp(key, "text"))) {
		strcat(checks, value);
		strcat(checks, !strcmp(key, "text") ? "\n" : " ");
	}
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

	asked = n_unread = n_asked = 0;
	checks[0] = '\0';
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

uid_t __wrap_geteuid(void);
uid_t __wrap_geteuid(void)
{
	return uid;
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

#define SILENT(n)								\
	"warning srpold does not answer: perhaps nobody probes " n " of an engine (/run/test.sock: "
#define PATH(id, full, mtu, narrow)						\
	"{\"path\":" #id ",\"name\":\"p" #id "\",\"mtu_full\":" #full	\
	",\"mtu\":" #mtu ",\"mtu_narrow\":" #narrow "}"

static const struct {
	const char *about;
	uint32_t n_paths;
	uint32_t origin;
	int error;
	const char *answer;
	int status;
	const char *says;
} engines[] = {
	{ "no path", 0, SRPOL_ORIGIN_ENGINE, -ENOENT, NULL, 0, "" },
	{ "paths of the administrator", 2, SRPOL_ORIGIN_STATIC, -ENOENT, NULL, 0, "" },
	{ "it does not run", 1, SRPOL_ORIGIN_ENGINE, -ENOENT, NULL, 1,
	  SILENT("1 path") "No such file or directory)\n" },
	{ "it was killed", 2, SRPOL_ORIGIN_ENGINE, -ECONNREFUSED, NULL, 1,
	  SILENT("2 paths") "Connection refused)\n" },
	{ "it was stopped", 2, SRPOL_ORIGIN_ENGINE, -ETIMEDOUT, NULL, 1,
	  "warning srpold runs, but has not answered for 5 s (/run/test.sock)\n" },
	{ "it ends the connection", 2, SRPOL_ORIGIN_ENGINE, 0, NULL, 1,
	  SILENT("2 paths") "no answer)\n" },
	{ "it says no", 2, SRPOL_ORIGIN_ENGINE, 0, "{\"error\":\"not now\"}", 1,
	  "warning srpold does not tell its paths: not now\n" },
	{ "this user may not ask", 2, SRPOL_ORIGIN_ENGINE, -EACCES, NULL, 0,
	  "note not every user may ask srpold whether its paths carry packets\n" },
	{ "all is well", 2, SRPOL_ORIGIN_ENGINE, 0,
	  "{\"reply\":[" PATH(1, 9000, 9000, false) "," PATH(2, 9000, 0, false) "]}", 0,
	  "ok srpold answers, it has 2 paths\n" },
	{ "a narrow path", 2, SRPOL_ORIGIN_ENGINE, 0,
	  "{\"reply\":[" PATH(1, 9000, 9000, false) "," PATH(2, 9000, 1496, true) "]}", 1,
	  "ok srpold answers, it has 2 paths\n"
	  "warning path 2 (p2) loses packets of 9000 bytes: the largest that came back has 1496\n" },
	{ "narrow paths", 3, SRPOL_ORIGIN_ENGINE, 0,
	  "{\"reply\":[" PATH(1, 9000, 1500, true) "," PATH(2, 9100, 1492, true) ","
	  "{\"path\":3,\"mtu_full\":9000,\"mtu\":1500,\"mtu_narrow\":true}]}", 1,
	  "ok srpold answers, it has 3 paths\n"
	  "warning path 2 (p2) and 2 more lose packets of 9100 bytes: the largest that came back has 1492\n" },
	{ "one without a name", 1, SRPOL_ORIGIN_ENGINE, 0,
	  "{\"reply\":[{\"path\":1,\"mtu_full\":9000,\"mtu\":1500,\"mtu_narrow\":true}]}", 1,
	  "ok srpold answers, it has 1 path\n"
	  "warning path 1 loses packets of 9000 bytes: the largest that came back has 1500\n" },
	{ "of another version, which does not tell what is lost", 1, SRPOL_ORIGIN_ENGINE, 0,
	  "{\"reply\":[{\"path\":1,\"mtu\":1500,\"mtu_narrow\":true}]}", 1,
	  "ok srpold answers, it has 1 path\n"
	  "warning path 1 loses packets as large as the device takes: the largest that came back has 1500\n" },
	{ "the paths are of another engine", 2, SRPOL_ORIGIN_ENGINE, 0, "{\"reply\":[]}", 1,
	  "warning srpold knows 0 of 2 paths of an engine: perhaps nobody probes the others\n" },
	{ "so is one of them", 3, SRPOL_ORIGIN_ENGINE, 0,
	  "{\"reply\":[" PATH(1, 9000, 9000, false) "," PATH(3, 9000, 1496, true) ","
	  PATH(4, 9000, 9000, false) "]}", 1,
	  "warning srpold knows 2 of 3 paths of an engine: perhaps nobody probes the other\n"
	  "warning path 3 (p3) loses packets of 9000 bytes: the largest that came back has 1496\n" },
	{ "paths whose device is not there", 1, SRPOL_ORIGIN_ENGINE, 0,
	  "{\"reply\":[" PATH(1, 9000, 9000, false) "," PATH(2, 0, 0, false) "]}", 0,
	  "ok srpold answers, it has 2 paths\n" },
	{ "numbers that no path has", 1, SRPOL_ORIGIN_ENGINE, 0,
	  "{\"reply\":[" PATH(-1, 0, 0, false) "," PATH(1000000, 0, 0, false) ",7]}", 1,
	  "warning srpold knows 0 of 1 path of an engine: perhaps nobody probes the other\n" },
	{ "an answer that is no list", 2, SRPOL_ORIGIN_ENGINE, 0, "{\"reply\":{}}", 1,
	  "warning srpold does not tell its paths: its answer is no list\n" },
};

static void test_engine(void **state)
{
	unsigned int i;

	n_groups = 0;
	for (i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		print_message("%s\n", engines[i].about);
		n_paths = engines[i].n_paths;
		origin = engines[i].origin;
		engine_error = engines[i].error;
		engine_answer = engines[i].answer;
		assert_int_equal(doctor(), engines[i].status);
		assert_string_equal(checks, engines[i].says);
		assert_int_equal(n_asked, engines[i].says[0] != '\0');
	}
	/* whose namespace it is, and so which socket, others may not see */
	uid = 1000;
	n_paths = 1;
	origin = SRPOL_ORIGIN_ENGINE;
	engine_error = -ENOENT;
	assert_int_equal(doctor(), 0);
	assert_string_equal(checks,
			    "note not every user may ask srpold whether its paths carry packets\n");
	uid = 0;
	/* what network namespace this is was not to be told */
	has_socket = false;
	assert_int_equal(doctor(), 1);
	assert_string_equal(checks, "warning where srpold has its socket is not known\n");
	has_socket = true;
	n_paths = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
