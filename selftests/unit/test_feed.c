// SPDX-License-Identifier: GPL-2.0
/* A feed in a folder that others write to: what makes weights be computed again. */
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
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
static unsigned int weighed;
static uint64_t capacity;
static unsigned int errors;

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
	return 0;
}

void loop_remove(struct source *source)
{
}

int alarm_set(struct alarm *alarm, uint64_t ns)
{
	return 0;
}

void alarm_stop(struct alarm *alarm)
{
}

int link_read(const struct srpol_fabric *f, const json_t *o, struct link_word *word,
	      struct srpol_error *err)
{
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

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	watch->ready(watch, 0);
}

static void test_folder(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(engine.config.weights.feed, sizeof(engine.config.weights.feed), "%s/feed.json",
		 folder);
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
	assert_int_equal(chdir(folder), 0);
	/* one that is away is not needed; one that cannot be read is told */
	unlink("feed.json");
	watch->ready(watch, 0);
	assert_int_equal(errors, 0);
	assert_int_equal(symlink("feed.json", "feed.json"), 0);
	watch->ready(watch, 0);
	assert_int_equal(errors, 1);
	feed_stop();
	unlink("feed.json");
	unlink("other");
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
