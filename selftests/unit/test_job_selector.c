// SPDX-License-Identifier: GPL-2.0
/* How jobs say what their traffic is: what is wrong is told with its key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srpold.h"
#include "test.h"

#define G	1000000000ull

static struct engine engine = { .config = { .color = 100, .job_color = 1000 } };

/* ---- what the rest of a job needs */

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

uint64_t now_ns(void)
{
	return 1;
}

void log_error(const char *fmt, ...)
{
	(void)fmt;
}

const struct srpol_backup *plan_backup(const struct engine_policy *policy)
{
	(void)policy;
	return NULL;
}

bool plan_weigh(void)
{
	return false;
}

void job_qps_read(void)
{
}

void job_rules(struct engine *e)
{
	(void)e;
}

static int up(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 1, 2, 400 * G);

	(void)state;
	engine.fabric = srpol_fabric_generate(&shape, NULL);
	return !engine.fabric;
}

static int down(void **state)
{
	(void)state;
	srpol_fabric_free(engine.fabric);
	return 0;
}

/* ---- */

/* The reason for which a job with these members is refused, empty: it is not. */
static const char *refused(const char *members, struct job *job)
{
	static struct srpol_error err;
	char text[512];
	json_t *o;
	int ret;

	snprintf(text, sizeof(text), "{ \"name\": \"t\", %s }", members);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	err.text[0] = '\0';
	*job = (struct job){};
	ret = job_from_json(&engine, o, NULL, job, &err);
	json_decref(o);
	assert_int_equal(!ret, !err.text[0]);
	return err.text;
}

static void test_wrong(void **state)
{
	static const struct {
		const char *members;
		const char *why;
	} rows[] = {
		{ "\"color\": 7", "exactly one of " },
		{ "\"pid\": 1, \"comm\": \"a\"", "exactly one of " },
		{ "\"comm\": \"sendrecv_perf_mp\"", "\"comm\" is not a name of 1 to 15 bytes" },
		{ "\"comm\": \"\"", "\"comm\" is not" },
		{ "\"qp\": [0, 5]", "\"qp\" is not a range of QPs from 1 to 16777215" },
		{ "\"qp\": [5, 4]", "\"qp\" is not" },
		{ "\"qp\": [1, 16777216]", "\"qp\" is not" },
		{ "\"src\": \"::/0\"", "\"src\" is not a prefix of at least one bit" },
		{ "\"src\": \"fd00::x\"", "\"src\" is not" },
		{ "\"pid\": 0", "\"pid\" is not a number from 1 to 2147483647" },
		{ "\"pid\": 2147483648", "\"pid\" is not" },
	};
	char cgroup[300] = "\"cgroup\": \"";
	struct job job;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_ptr_equal(strstr(refused(rows[i].members, &job), rows[i].why),
				 refused(rows[i].members, &job));
	memset(cgroup + strlen(cgroup), 'x', 256);
	strcat(cgroup, "\"");
	assert_string_equal(refused(cgroup, &job), "\"cgroup\" is not a path of 1 to 255 bytes");
}

static void test_good(void **state)
{
	struct job job;

	(void)state;
	assert_string_equal(refused("\"comm\": \"sendrecv_perf_m\"", &job), "");
	assert_string_equal(job.comm, "sendrecv_perf_m");
	assert_string_equal(refused("\"qp\": [1, 16777215]", &job), "");
	assert_int_equal(job.qp[0], 1);
	assert_int_equal(job.qp[1], 16777215);
	assert_string_equal(refused("\"src\": \"8000::/1\"", &job), "");
	assert_int_equal(job.src_len, 1);
	assert_string_equal(refused("\"pid\": 2147483647", &job), "");
	assert_int_equal(job.pid, 2147483647);
	assert_string_equal(refused("\"cgroup\": \"system.slice/x\"", &job), "");
	assert_string_equal(job.cgroup, "system.slice/x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_wrong, up, down),
		cmocka_unit_test_setup_teardown(test_good, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
