// SPDX-License-Identifier: GPL-2.0
/* What is saved of a plan and of reports, while the disk lets everybody wait. */
#include <stdlib.h>
#include <string.h>

#include "follow.h"
#include "srpol_lib.h"
#include "test_disk.h"

static struct srpol_fabric *fabric;
static struct follow follow;
static unsigned int told;

/* Nothing is fetched here. */
void follow_again(struct follow *f)
{
	(void)f;
}

void follow_fetched(struct follow *f, bool decided)
{
	(void)f;
	(void)decided;
}

void follow_plan_free(struct follow_plan *plan)
{
	free(plan);
}

static void saved(void *data)
{
	assert_ptr_equal(data, &told);
	told++;
}

/* @folder_: its name, in any way */
static void begin_in(struct follow *f, const char *folder_)
{
	*f = (struct follow){
		.fabric = fabric,
		.links = VEC_INIT(struct follow_link),
		.suspicions = VEC_INIT(struct follow_suspicion),
	};
	snprintf(f->config.file, sizeof(f->config.file), "%s/A.plan", folder_);
	f->saver = saver_open(f->config.file, saved, &told);
	assert_non_null(f->saver);
}

static void begin(struct follow *f)
{
	begin_in(f, folder);
}

static void end(struct follow *f)
{
	saver_close(f->saver);
	vec_free(&f->links);
	vec_free(&f->suspicions);
}

static int set_up(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 1, 2, 400000000000ull);

	(void)state;
	fabric = srpol_fabric_generate(&shape, NULL);
	disk_begin();
	told = 0;
	begin(&follow);
	*(struct follow_link *)vec_add(&follow.links) = (struct follow_link){ .cable = 1 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	disk_end(follow.config.file);
	srpol_fabric_free(fabric);
	return 0;
}

/* What the next one finds: the number of the report. */
static uint64_t found(void)
{
	struct follow next;
	uint64_t number;

	begin(&next);
	last_load(&next);
	number = next.number;
	assert_int_equal(next.links.n, number ? 1 : 0);
	end(&next);
	return number;
}

/* Nobody waits for the disk, which is asked for no more than it can do. */
static void test_slow_disk(void **state)
{
	(void)state;
	while (follow.number < 1000) {
		follow.number++;
		assert_int_equal(last_save(&follow), follow.number);
	}
	assert_false(saver_has(follow.saver, 1));
	assert_false(turn(0));
	hurry();
	do
		assert_true(turn(PATIENCE_S * 1000));
	while (!saver_has(follow.saver, 1000));
	assert_int_equal(waited, 0);
	/* the first one and the newest, with their folder */
	assert_in_range(synced, 2, 4);
	assert_in_range(told, 1, 2);
	end(&follow);
	savers_end();
	assert_int_equal(found(), 1000);
	assert_int_equal(errors, 0);
}

/* Nor does one that ends; the next one goes on with what is on its way. */
static void test_reload(void **state)
{
	(void)state;
	follow.number = 7;
	last_save(&follow);
	end(&follow);
	assert_int_not_equal(access(follow.config.file, F_OK), 0);
	assert_int_equal(found(), 7);
	/* and so on */
	begin(&follow);
	last_load(&follow);
	follow.number++;
	last_save(&follow);
	end(&follow);
	assert_int_equal(found(), 8);
	assert_int_equal(waited, 0);
	assert_int_equal(synced, 0);
	hurry();
	savers_end();
	assert_int_equal(waited, 0);
	assert_int_equal(access(follow.config.file, F_OK), 0);
	assert_int_equal(found(), 8);
	assert_int_equal(told, 0);
}

/* Nor do they write one file at a time if the folder has another name by then. */
static void test_other_name(void **state)
{
	char *names[] = { "%s/", "%s/.", "/tmp/../%s" }, name[64];
	struct follow next;
	uint32_t i;

	(void)state;
	follow.number = 7;
	last_save(&follow);
	end(&follow);
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), names[i], folder);
		begin_in(&next, name);
		last_load(&next);
		assert_int_equal(next.number, 7 + i);
		next.number++;
		last_save(&next);
		end(&next);
	}
	hurry();
	savers_end();
	assert_int_equal(found(), 10);
	assert_int_equal(errors, 0);
	assert_int_equal(waited, 0);
}

/* One after the other, each is written. */
static void test_quick_disk(void **state)
{
	(void)state;
	hurry();
	while (follow.number < 100) {
		follow.number++;
		last_save(&follow);
		saver_close(follow.saver);
		savers_end();
		assert_int_equal(found(), follow.number);
		follow.saver = saver_open(follow.config.file, saved, &told);
	}
	assert_int_equal(synced, 200);
	end(&follow);
}

/* It is told that the file cannot be written. */
static void test_no_folder(void **state)
{
	uint64_t number;

	(void)state;
	rmdir(folder);
	number = last_save(&follow);
	assert_true(turn(PATIENCE_S * 1000));
	assert_true(saver_has(follow.saver, number));
	end(&follow);
	savers_end();
	assert_int_equal(errors, 1);
	assert_int_equal(synced, 0);
}

/* Nothing was ever saved. */
static void test_nothing(void **state)
{
	(void)state;
	end(&follow);
	assert_int_equal(found(), 0);
}

/* The niceness with which is saved what one of another niceness has put. */
static int niceness_for(int nice)
{
	assert_int_equal(setpriority(PRIO_PROCESS, 0, nice), 0);
	last_save(&follow);
	saver_close(follow.saver);
	/* the thread as well: the next one is to be new */
	savers_end();
	follow.saver = saver_open(follow.config.file, saved, &told);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), nice);
	return niceness;
}

/* The disk is not urgent when probes are. */
static void test_nice(void **state)
{
	int before = getpriority(PRIO_PROCESS, 0);

	(void)state;
	hurry();
	if (setpriority(PRIO_PROCESS, 0, -5)) {
		end(&follow);
		skip();
	}
	assert_int_equal(niceness_for(-5), 0);
	assert_int_equal(niceness_for(5), 5);
	setpriority(PRIO_PROCESS, 0, before);
	end(&follow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_slow_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reload, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_quick_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_folder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nice, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
