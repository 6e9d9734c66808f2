// SPDX-License-Identifier: GPL-2.0
/* A feed in a folder that others write to: when it is read, and what makes weights be computed. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "srpold.h"
#include "test.h"

static char folder[] = "/tmp/srpol-feed-XXXXXX";
static struct srpol_links links;
static struct link_info cables[1];
static struct engine engine = {
	.links = { .links = &links, .cables = cables, .n = 1 },
};
static struct source *watch;
static struct alarm *next_look;
static unsigned int weighed;
static uint64_t capacity;
static unsigned int errors;
static unsigned int reads;
static unsigned int unwatched;
static int lacking;	/* why nothing can be watched */

void log_error(const char *fmt, ...)
{
	errors++;
}

void balance_soon(void)
{
	weighed++;
}

uint64_t now_ns(void)
{
	return 1;
}

int loop_add(struct source *source, uint32_t events)
{
	watch = source;
	return lacking;
}

void loop_remove(struct source *source)
{
	unwatched++;
}

int alarm_set(struct alarm *which, uint64_t ns)
{
	next_look = which;
	return 0;
}

void alarm_stop(struct alarm *which)
{
	next_look = NULL;
}

int link_read(const struct srpol_fabric *f, const json_t *o, struct link_word *word,
	      struct srpol_error *err)
{
	reads++;
	*word = (struct link_word){
		.capacity = json_integer_value(json_object_get(o, "capacity")),
	};
	return 0;
}

void linkstate_say(struct linkstate *ls, uint32_t cable, enum link_source source,
		   uint64_t bits, uint64_t now)
{
	cables[0].said |= 1u << source;
	links.version += bits != capacity;
	capacity = bits;
}

void linkstate_unsay(struct linkstate *ls, uint32_t cable, enum link_source source)
{
	cables[0].said &= ~(1u << source);
	links.version++;
}

/* ---- the clock: it may stand still while files are written, which get the time of a tick */

static bool is_stopped;
static struct timespec tick;	/* of all files, if it is */
static struct timespec since;	/* time that has passed, for who asks */

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
	int ret = __real_stat(path, st);

	if (!ret && is_stopped)
		st->st_mtim = st->st_ctim = tick;
	return ret;
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = __real_clock_gettime(clock, now);

	if (is_stopped)
		*now = tick;
	now->tv_sec += since.tv_sec;
	now->tv_nsec += since.tv_nsec;
	return ret;
}

/* ---- */

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* As by epoll: nothing is called without an event. */
static void hear(void)
{
	struct pollfd wait = { .fd = watch->fd, .events = POLLIN };

	if (poll(&wait, 1, 0) > 0)
		watch->ready(watch, 0);
}

static void put(const char *name, const char *text)
{
	write_file(name, text);
	hear();
}

/* Seconds pass. */
static void wait_for(unsigned int seconds)
{
	while (next_look && seconds--) {
		since.tv_sec++;
		next_look->ring(next_look->data);
	}
}

static int set_up(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	snprintf(engine.config.weights.feed, sizeof(engine.config.weights.feed), "%s/feed.json",
		 folder);
	weighed = errors = reads = unwatched = 0;
	lacking = 0;
	is_stopped = false;
	since = (struct timespec){};
	capacity = 0;
	cables[0].said = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	feed_stop();
	assert_int_equal(chdir("/"), 0);
	return rmdir(folder);
}

static void test_folder(void **state)
{
	(void)state;
	feed_start(&engine);
	put("feed.json", "{ \"links\": [ { \"capacity\": 5 } ] }");
	assert_int_equal(weighed, 1);
	/* nothing of the feed's */
	put("other", "x");
	put("other", "y");
	/* the same, written again each second, say */
	put("feed.json", "{ \"links\": [ { \"capacity\": 5 } ] }");
	assert_int_equal(weighed, 1);
	put("feed.json", "{ \"links\": [ { \"capacity\": 6 } ] }");
	assert_int_equal(weighed, 2);
	put("feed.json", "{ \"links\": [] }");
	assert_int_equal(weighed, 3);
	/* one that is away is not needed; one that cannot be read is told */
	unlink("feed.json");
	hear();
	assert_int_equal(errors, 0);
	assert_int_equal(symlink("feed.json", "feed.json"), 0);
	hear();
	assert_int_equal(errors, 1);
	unlink("feed.json");
	unlink("other");
}

/* One that is wrong is told when it is there, and not whenever others write. */
static void test_others(void **state)
{
	(void)state;
	feed_start(&engine);
	put("feed.json", "{");
	assert_int_equal(errors, 1);
	put("other", "x");
	assert_int_equal(rename("other", "another"), 0);
	hear();
	unlink("another");
	hear();
	assert_int_equal(errors, 1);
	/* by another name at first, as one does it */
	write_file("new", "{ \"links\": [ { \"capacity\": 5 } ] }");
	assert_int_equal(rename("new", "feed.json"), 0);
	hear();
	assert_int_equal(weighed, 1);
	assert_int_equal(errors, 1);
	unlink("feed.json");
}

/* What it leads to is in a folder, by another link that is replaced, as of a ConfigMap. */
static void test_symlink(void **state)
{
	(void)state;
	mkdir("v1", 0700);
	mkdir("v2", 0700);
	write_file("v1/feed.json", "{ \"links\": [ { \"capacity\": 5 } ] }");
	write_file("v2/feed.json", "{ \"links\": [ { \"capacity\": 6 } ] }");
	assert_int_equal(symlink("v1", "..data"), 0);
	assert_int_equal(symlink("..data/feed.json", "feed.json"), 0);
	feed_start(&engine);
	assert_int_equal(capacity, 5);
	assert_int_equal(symlink("v2", "..tmp"), 0);
	assert_int_equal(rename("..tmp", "..data"), 0);
	hear();
	assert_int_equal(capacity, 6);
	assert_int_equal(weighed, 1);
	unlink("v1/feed.json");
	unlink("v2/feed.json");
	rmdir("v1");
	rmdir("v2");
	unlink("..data");
	unlink("feed.json");
}

/* Links are there as a whole, by whatever name they were made. */
static void test_made(void **state)
{
	mkdir("v1", 0700);
	write_file("v1/feed.json", "{ \"links\": [ { \"capacity\": 5 } ] }");
	write_file("v1/other", "{ \"links\": [ { \"capacity\": 6 } ] }");
	feed_start(&engine);
	assert_int_equal(symlink("v1/feed.json", "feed.json"), 0);
	hear();
	assert_int_equal(capacity, 5);
	unlink("feed.json");
	assert_int_equal(link("v1/other", "feed.json"), 0);
	hear();
	assert_int_equal(capacity, 6);
	assert_int_equal(weighed, 2);
	unlink("feed.json");
	hear();
	/* leads over another one, which is made anew */
	assert_int_equal(symlink("..data/feed.json", "feed.json"), 0);
	hear();
	assert_int_equal(symlink("v1", "..data"), 0);
	hear();
	assert_int_equal(capacity, 5);
	assert_int_equal(errors, 0);
	unlink("feed.json");
	unlink("..data");
	unlink("v1/feed.json");
	unlink("v1/other");
	rmdir("v1");
}

/* One that is written in its place is read when that is done, whatever others do meanwhile. */
static void test_half(void **state)
{
	FILE *f;

	feed_start(&engine);
	f = fopen("feed.json", "w");
	assert_non_null(f);
	hear();
	wait_for(3);
	fputs("{ \"links\": ", f);
	fflush(f);
	hear();
	put("other", "x");
	wait_for(1);
	fputs("[ { \"capacity\": 5 } ]", f);
	fflush(f);
	wait_for(1);
	fputs(" }", f);
	fclose(f);
	hear();
	assert_int_equal(capacity, 5);
	assert_int_equal(errors, 0);
	unlink("feed.json");
	unlink("other");
}

/* What the feed leads to is in another folder, and written there. */
static void test_elsewhere(void **state)
{
	FILE *f;

	mkdir("v1", 0700);
	write_file("v1/feed.json", "{ \"links\": [ { \"capacity\": 5 } ] }");
	assert_int_equal(symlink("v1/feed.json", "feed.json"), 0);
	feed_start(&engine);
	assert_int_equal(capacity, 5);
	write_file("v1/feed.json", "{ \"links\": [ { \"capacity\": 60 } ] }");
	hear();
	wait_for(2);
	assert_int_equal(capacity, 60);
	assert_int_equal(weighed, 1);
	/* slowly */
	f = fopen("v1/feed.json", "w");
	assert_non_null(f);
	wait_for(3);
	fputs("{ \"links\": ", f);
	fflush(f);
	wait_for(1);
	fputs("[ { \"capacity\": 700 } ] }", f);
	fclose(f);
	wait_for(1);
	assert_int_equal(capacity, 60);
	wait_for(1);
	assert_int_equal(capacity, 700);
	assert_int_equal(errors, 0);
	/* it goes, which changes nothing, and another one comes */
	unlink("v1/feed.json");
	wait_for(2);
	assert_int_equal(capacity, 700);
	write_file("v1/feed.json", "{");
	wait_for(5);
	assert_int_equal(errors, 1);
	unlink("v1/feed.json");
	unlink("feed.json");
	rmdir("v1");
}

/* A link in its path leads to another folder, and the one of before stays. */
static void test_switched(void **state)
{
	unsigned int before;

	mkdir("v1", 0700);
	mkdir("v2", 0700);
	write_file("v1/feed.json", "{ \"links\": [ { \"capacity\": 5 } ] }");
	write_file("v2/feed.json", "{ \"links\": [ { \"capacity\": 6 } ] }");
	assert_int_equal(symlink("v1", "current"), 0);
	snprintf(engine.config.weights.feed, sizeof(engine.config.weights.feed),
		 "%s/current/feed.json", folder);
	feed_start(&engine);
	assert_int_equal(capacity, 5);
	assert_int_equal(symlink("v2", "next"), 0);
	assert_int_equal(rename("next", "current"), 0);
	hear();
	wait_for(2);
	assert_int_equal(capacity, 6);
	/* that one is watched now */
	put("v2/feed.json", "{ \"links\": [ { \"capacity\": 7 } ] }");
	assert_int_equal(capacity, 7);
	assert_int_equal(weighed, 2);
	wait_for(2);
	before = reads;
	wait_for(3);
	assert_int_equal(reads, before);
	/* it leads nowhere for a while */
	unlink("current");
	wait_for(3);
	assert_int_equal(capacity, 7);
	assert_int_equal(errors, 1);
	assert_int_equal(symlink("v1", "current"), 0);
	wait_for(1);
	assert_int_equal(capacity, 5);
	unlink("v1/feed.json");
	unlink("v2/feed.json");
	rmdir("v1");
	rmdir("v2");
	unlink("current");
}

/*
 * Where the clock of files stands still for some ms, one that is written twice may look the
 * same: it is read again, once, and what is wrong with it is told once.
 */
static void test_tick(void **state)
{
	unsigned int before;

	tick = (struct timespec){ .tv_sec = 1000, .tv_nsec = 500000000 };
	since = (struct timespec){ .tv_nsec = 2000000 };
	is_stopped = true;
	mkdir("v1", 0700);
	write_file("v1/feed.json", "{ \"links\": [ { \"capacity\": 5 } ] }");
	assert_int_equal(symlink("v1/feed.json", "feed.json"), 0);
	feed_start(&engine);
	write_file("v1/feed.json", "{ \"links\": [ { \"capacity\": 6 } ] }");
	wait_for(1);
	assert_int_equal(capacity, 6);
	before = reads;
	wait_for(3);
	assert_int_equal(reads, before);
	/* so it is if somebody else's file is what makes it be looked at */
	tick.tv_sec = 2000;
	since = (struct timespec){ .tv_nsec = 2000000 };
	write_file("v1/feed.json", "{ \"links\": [ { \"capacity\": 7 } ] }");
	put("other", "x");
	assert_int_equal(capacity, 7);
	write_file("v1/feed.json", "{ \"links\": [ { \"capacity\": 8 } ] }");
	put("other", "x");
	assert_int_equal(capacity, 8);
	/* wrong */
	tick.tv_sec = 3000;
	since = (struct timespec){ .tv_nsec = 2000000 };
	write_file("v1/feed.json", "{");
	put("other", "x");
	put("other", "x");
	wait_for(3);
	assert_int_equal(errors, 1);
	/* as it still is after a reload, which is told */
	feed_stop();
	feed_start(&engine);
	assert_int_equal(errors, 2);
	unlink("v1/feed.json");
	unlink("feed.json");
	unlink("other");
	rmdir("v1");
}

/* A file that is written in its folder is read again as it may look the same, and no more. */
static void test_fresh(void **state)
{
	tick = (struct timespec){ .tv_sec = 1000, .tv_nsec = 500000000 };
	since = (struct timespec){ .tv_nsec = 2000000 };
	is_stopped = true;
	feed_start(&engine);
	put("feed.json", "{ \"links\": [ { \"capacity\": 5 } ] }");
	assert_int_equal(capacity, 5);
	reads = 0;
	wait_for(3);
	assert_int_equal(reads, 1);
	assert_int_equal(unwatched, 0);
	unlink("feed.json");
}

/* No descriptor is left, say: what a look shows to be new is read, once. */
static void test_unwatched(void **state)
{
	lacking = -EMFILE;
	write_file("feed.json", "{ \"links\": [ { \"capacity\": 5 } ] }");
	feed_start(&engine);
	wait_for(3);
	assert_int_equal(capacity, 5);
	write_file("feed.json", "{ \"links\": [ { \"capacity\": 60 } ] }");
	wait_for(3);
	assert_int_equal(capacity, 60);
	reads = 0;
	wait_for(3);
	unlink("feed.json");
	wait_for(3);
	assert_int_equal(reads, 0);
	assert_int_equal(errors, 1);
	lacking = 0;
	wait_for(1);
	put("feed.json", "{ \"links\": [ { \"capacity\": 7 } ] }");
	assert_int_equal(capacity, 7);
	unlink("feed.json");
}

/* What could not be read as there were no more descriptors is read when there are. */
static void test_unread(void **state)
{
	struct rlimit none, before;

	feed_start(&engine);
	put("feed.json", "{ \"links\": [ { \"capacity\": 5 } ] }");
	wait_for(3);
	write_file("feed.json", "{ \"links\": [ { \"capacity\": 60 } ] }");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	/* poll() would take none either */
	watch->ready(watch, 0);
	wait_for(3);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(capacity, 5);
	assert_int_equal(errors, 1);
	wait_for(1);
	assert_int_equal(capacity, 60);
	reads = 0;
	wait_for(3);
	assert_int_equal(reads, 0);
	unlink("feed.json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_folder, set_up, end),
		cmocka_unit_test_setup_teardown(test_others, set_up, end),
		cmocka_unit_test_setup_teardown(test_symlink, set_up, end),
		cmocka_unit_test_setup_teardown(test_made, set_up, end),
		cmocka_unit_test_setup_teardown(test_half, set_up, end),
		cmocka_unit_test_setup_teardown(test_elsewhere, set_up, end),
		cmocka_unit_test_setup_teardown(test_switched, set_up, end),
		cmocka_unit_test_setup_teardown(test_tick, set_up, end),
		cmocka_unit_test_setup_teardown(test_fresh, set_up, end),
		cmocka_unit_test_setup_teardown(test_unwatched, set_up, end),
		cmocka_unit_test_setup_teardown(test_unread, set_up, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
