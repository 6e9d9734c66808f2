// SPDX-License-Identifier: GPL-2.0
/* What is saved of a plan and of reports, while the disk lets everybody wait. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "follow.h"
#include "srpol_lib.h"
#include "test.h"

#define PATIENCE_S	30

static struct srpol_fabric *fabric;
static struct follow follow;
static sem_t disk;		/* a sync may end */
static atomic_uint synced;
static atomic_uint waited;	/* syncs that gave up */
static atomic_uint errors;

int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	struct timespec until;

	(void)fd;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	if (sem_timedwait(&disk, &until))
		waited++;
	synced++;
	return 0;
}

void log_error(const char *fmt, ...)
{
	(void)fmt;
	errors++;
}

void log_notice(const char *fmt, ...)
{
	(void)fmt;
}

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

static void begin(struct follow *f, const char *folder)
{
	*f = (struct follow){
		.fabric = fabric,
		.links = VEC_INIT(struct follow_link),
		.suspicions = VEC_INIT(struct follow_suspicion),
	};
	snprintf(f->config.file, sizeof(f->config.file), "%s/A.plan", folder);
	f->saver = saver_start(f->config.file);
}

static void end(struct follow *f)
{
	saver_end(f->saver);
	vec_free(&f->links);
	vec_free(&f->suspicions);
}

static char folder[] = "/tmp/srpol-last-XXXXXX";

static int set_up(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 1, 2, 400000000000ull);

	(void)state;
	fabric = srpol_fabric_generate(&shape, NULL);
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	sem_init(&disk, 0, 0);
	synced = waited = errors = 0;
	begin(&follow, folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(follow.config.file);
	rmdir(folder);
	srpol_fabric_free(fabric);
	sem_destroy(&disk);
	return 0;
}

/* The disk is as quick as it can be. */
static void hurry(void)
{
	unsigned int i;

	for (i = 0; i < 1000; i++)
		sem_post(&disk);
}

/* What the next one finds in the file: the number of the report. */
static uint64_t saved(void)
{
	struct follow next;
	uint64_t number;

	begin(&next, folder);
	last_load(&next);
	number = next.number;
	assert_int_equal(next.links.n, number ? 1 : 0);
	end(&next);
	return number;
}

/* Nobody waits for the disk, which is asked for no more than it can do. */
static void test_slow_disk(void **state)
{
	struct follow_link *link = vec_add(&follow.links);

	(void)state;
	link->cable = 1;
	while (follow.number < 1000) {
		follow.number++;
		last_save(&follow);
	}
	assert_int_equal(waited, 0);
	assert_int_equal(saved(), 0);
	hurry();
	end(&follow);
	assert_int_equal(waited, 0);
	assert_int_equal(saved(), 1000);
	/* the first one and the newest, with their folder */
	assert_in_range(synced, 2, 4);
	assert_int_equal(errors, 0);
}

/* One after the other, each is written. */
static void test_quick_disk(void **state)
{
	(void)state;
	*(struct follow_link *)vec_add(&follow.links) = (struct follow_link){ };
	hurry();
	while (follow.number < 100) {
		follow.number++;
		last_save(&follow);
		saver_end(follow.saver);
		assert_int_equal(saved(), follow.number);
		follow.saver = saver_start(follow.config.file);
	}
	assert_int_equal(synced, 200);
	end(&follow);
}

/* It is told that the file cannot be written. */
static void test_no_folder(void **state)
{
	(void)state;
	rmdir(folder);
	last_save(&follow);
	end(&follow);
	assert_int_equal(errors, 1);
	assert_int_equal(synced, 0);
}

/* Nothing was ever saved. */
static void test_nothing(void **state)
{
	(void)state;
	end(&follow);
	assert_int_equal(saved(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_slow_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_quick_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_folder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
