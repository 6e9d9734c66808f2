// SPDX-License-Identifier: GPL-2.0
/*
 * Forecasts: as text and back, what is refused, what is left out of too many, and
 * how demands of owners become those of a host.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demand.h"
#include "forecast.h"
#include "srpol_lib.h"
#include "test.h"

#define G	1000000000ull
#define NOW	1800000000000ull
#define DAY	86400000ull
#define MS	1000000ull

static const char topology[] = "0123";

static struct srpol_fabric *fabric(void)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(3, 2, 2, 100 * G);
	struct srpol_error err;
	struct srpol_fabric *f = srpol_fabric_generate(&shape, &err);

	assert_non_null(f);
	return f;
}

static const char *name(const struct srpol_fabric *f, u32 gpu)
{
	return f->nodes[f->gpus[gpu].host].name;
}

static int read(const struct srpol_fabric *f, u32 host, const char *text,
		struct srpol_forecasts *to)
{
	struct srpol_error err = {};
	int ret = srpol_forecasts_read(f, topology, host, NOW, text,
				       strlen(text), to, &err);

	assert_true(!ret == !err.text[0]);
	return ret;
}

static void test_round(void **state)
{
	struct srpol_fabric *f = fabric();
	struct srpol_forecast list[2] = {
		{ .src = 0, .dst = 1, .bytes = (1ull << 53) - 1,
		  .start_ms = NOW, .end_ms = NOW + DAY, .period_ms = 7 },
		{ .src = 0, .dst = 2, .bytes = 1, .start_ms = NOW + DAY,
		  .end_ms = NOW + DAY + 1 },
	};
	struct srpol_forecasts from = { 2, list, 3, 44 }, to;
	u32 host = f->gpus[0].host;
	char *text = srpol_forecasts_write(f, topology, host, &from);

	(void)state;
	assert_non_null(text);
	assert_int_equal(read(f, host, text, &to), 0);
	assert_int_equal(to.n, 2);
	assert_memory_equal(to.list, list, sizeof(list));
	assert_int_equal(to.n_rest, 3);
	assert_int_equal(to.rest, 44);
	srpol_forecasts_free(&to);
	/* another's word */
	assert_int_equal(read(f, f->gpus[1].host, text, &to), -EPERM);
	assert_int_equal(read(f, SRPOL_NONE, text, &to), -EPERM);
	assert_null(to.list);
	free(text);
	srpol_fabric_free(f);
}

/* As demands with one that has @one; %s is another host. */
static int try(const struct srpol_fabric *f, const char *one)
{
	char demand[256], text[1024];
	struct srpol_forecasts to;
	int ret;

	snprintf(demand, sizeof(demand), one, name(f, 1));
	snprintf(text, sizeof(text),
		 "{\"version\":1,\"host\":\"%s\",\"topology\":\"%s\",\"demands\":[%s],"
		 "\"rest\":{\"demands\":0,\"bytes\":0}}", name(f, 0), topology,
		 demand);
	ret = read(f, f->gpus[0].host, text, &to);
	srpol_forecasts_free(&to);
	return ret;
}

#define TIMES	"\"start_ms\":1800000000000,\"duration_ms\":9"

static void test_wrong(void **state)
{
	static const struct {
		const char *demand;
		int ret;
	} cases[] = {
		{ "", 0 },
		{ "{\"dst\":\"%s\",\"bytes\":5," TIMES "}", 0 },
		/* what is not known is passed over */
		{ "{\"dst\":\"%s\",\"bytes\":5,\"more\":[]," TIMES "}", 0 },
		{ "{\"dst\":\"%s\",\"bytes\":0," TIMES "}", -EINVAL },
		{ "{\"dst\":\"%s\",\"bytes\":-1," TIMES "}", -EINVAL },
		{ "{\"dst\":\"%s\",\"bytes\":9007199254740992," TIMES "}", -EINVAL },
		{ "{\"dst\":\"%s\",\"bytes\":1.5," TIMES "}", -EINVAL },
		{ "{\"dst\":\"%s\",\"bytes\":\"5\"," TIMES "}", -EINVAL },
		{ "{\"dst\":\"nobody\",\"bytes\":5," TIMES "}", -ENOENT },
		{ "{\"dst\":\"%s\",\"rail\":1,\"bytes\":5," TIMES "}", -ENOENT },
		{ "{\"dst\":\"%s\",\"rail\":-1,\"bytes\":5," TIMES "}", -ENOENT },
		{ "{\"dst\":\"%s\",\"dst_rail\":-1,\"bytes\":5," TIMES "}", -ENOENT },
		{ "{\"dst\":\"%s\",\"dst_rail\":64,\"bytes\":5," TIMES "}", -ENOENT },
		{ "{\"dst\":\"%s\",\"bytes\":5}", -EINVAL },
		{ "{\"dst\":\"%s\",\"bytes\":5,\"start_ms\":0,\"duration_ms\":1}", -EINVAL },
		/* a day ahead, by a clock that is a minute fast; and more than that */
		{ "{\"dst\":\"%s\",\"bytes\":5,\"start_ms\":1800086460000,\"duration_ms\":1}",
		  0 },
		{ "{\"dst\":\"%s\",\"bytes\":5,\"start_ms\":1800086460001,\"duration_ms\":1}",
		  -EINVAL },
		{ "{\"dst\":\"%s\",\"bytes\":5,\"start_ms\":1,\"duration_ms\":0}", -EINVAL },
		{ "{\"dst\":\"%s\",\"bytes\":5,\"start_ms\":1,\"duration_ms\":86400001}",
		  -EINVAL },
		{ "{\"dst\":\"%s\",\"bytes\":5,\"period_ms\":-1," TIMES "}", -EINVAL },
		{ "{\"dst\":\"%s\",\"bytes\":5,\"period_ms\":86400001," TIMES "}", -EINVAL },
		{ "{\"dst\":\"%s\",\"bytes\":5,\"bytes\":6," TIMES "}", -EINVAL },
		{ "5", -EINVAL },
	};
	struct srpol_fabric *f = fabric();
	char twice[512], itself[128];
	struct srpol_forecasts to;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (try(f, cases[i].demand) != cases[i].ret)
			fail_msg("%s: not %d", cases[i].demand, cases[i].ret);
	}
	snprintf(twice, sizeof(twice),
		 "{\"dst\":\"%1$s\",\"bytes\":5," TIMES "},{\"dst\":\"%1$s\",\"bytes\":6," TIMES "}",
		 name(f, 1));
	assert_int_equal(try(f, twice), -EINVAL);
	snprintf(itself, sizeof(itself), "{\"dst\":\"%s\",\"bytes\":5," TIMES "}",
		 name(f, 0));
	assert_int_equal(try(f, itself), -ENOENT);
	assert_int_equal(read(f, 0, "", &to), -EINVAL);
	assert_int_equal(read(f, 0, "[]", &to), -EINVAL);
	srpol_fabric_free(f);
}

static void test_frame(void **state)
{
	static const char frame[] =
		"{\"version\":%d,\"host\":\"%s\",\"topology\":\"%s\",\"demands\":%s,"
		"\"rest\":{\"demands\":%lld,\"bytes\":0}}";
	struct srpol_fabric *f = fabric();
	u32 host = f->gpus[0].host;
	struct srpol_forecasts to;
	char text[1024], *many;
	size_t i;

	(void)state;
	snprintf(text, sizeof(text), frame, 1, name(f, 0), topology, "[]", 0ll);
	assert_int_equal(read(f, host, text, &to), 0);
	srpol_forecasts_free(&to);
	snprintf(text, sizeof(text), frame, 2, name(f, 0), topology, "[]", 0ll);
	assert_int_equal(read(f, host, text, &to), -EINVAL);
	snprintf(text, sizeof(text), frame, 1, name(f, 0), "4567", "[]", 0ll);
	assert_int_equal(read(f, host, text, &to), -EINVAL);
	snprintf(text, sizeof(text), frame, 1, name(f, 0), topology, "{}", 0ll);
	assert_int_equal(read(f, host, text, &to), -E2BIG);
	snprintf(text, sizeof(text), frame, 1, name(f, 0), topology, "[]", -1ll);
	assert_int_equal(read(f, host, text, &to), -EINVAL);
	snprintf(text, sizeof(text), frame, 1, name(f, 0), topology, "[]",
		 1ll << 53);
	assert_int_equal(read(f, host, text, &to), -EINVAL);
	/* too many, whatever they are */
	many = calloc(1, 2 * SRPOL_FORECASTS_MAX + 1024);
	strcpy(text, "[0");
	for (i = 0; i < SRPOL_FORECASTS_MAX; i++)
		strcat(text, ",0");
	strcat(text, "]");
	sprintf(many, frame, 1, name(f, 0), topology, text, 0ll);
	assert_int_equal(read(f, host, many, &to), -E2BIG);
	free(many);
	many = calloc(1, SRPOL_FORECAST_TEXT_MAX + 2);
	memset(many, ' ', SRPOL_FORECAST_TEXT_MAX + 1);
	assert_int_equal(read(f, host, many, &to), -E2BIG);
	free(many);
	srpol_fabric_free(f);
}

static void test_cut(void **state)
{
	struct srpol_forecast list[4] = {
		{ .dst = 1, .bytes = 5 }, { .dst = 2, .bytes = 9 },
		{ .dst = 4, .bytes = 7 }, { .dst = 3, .bytes = 7 },
	};
	struct srpol_forecasts all = { 4, list, 1, 10 };

	(void)state;
	srpol_forecasts_cut(&all, 4);
	assert_int_equal(all.n, 4);
	assert_int_equal(list[0].dst, 2);
	assert_int_equal(list[1].dst, 3);
	assert_int_equal(list[2].dst, 4);
	assert_int_equal(all.rest, 10);
	srpol_forecasts_cut(&all, 2);
	assert_int_equal(all.n, 2);
	assert_int_equal(all.n_rest, 3);
	assert_int_equal(all.rest, 22);
	srpol_forecasts_cut(&all, 0);
	assert_int_equal(all.n, 0);
	assert_int_equal(all.rest, 38);
}

static void test_rate(void **state)
{
	(void)state;
	assert_int_equal(srpol_forecast_rate(1000, 1000, 0), 8000);
	assert_int_equal(srpol_forecast_rate(1000, 60000, 500), 16000);
	assert_int_equal(srpol_forecast_rate(1000, 0, 0), 0);
	assert_int_equal(srpol_forecast_rate((1ull << 53) - 1, 1, 1),
			 (1ull << 53) - 1);
	assert_int_equal(srpol_forecast_rate(1ull << 53, 8000, 0),
			 (1ull << 53) - 1);
}

static void say(struct demands *ds, const struct srpol_fabric *f,
		const char *owner, u32 src, u32 dst, u64 bytes, u64 from,
		u64 until, u64 period)
{
	struct demand d = {
		.demand = { .bytes = bytes }, .from_ns = from * MS,
		.until_ns = until * MS, .period_ms = period,
	};
	struct srpol_error err;

	strcpy(d.src, name(f, src));
	strcpy(d.dst, name(f, dst));
	assert_int_equal(demand_resolve(f, &d, &err), 0);
	assert_int_equal(demands_replace(ds, owner, 0, &d, 1, &err), 0);
}

static void test_sum(void **state)
{
	struct demands ds = { .all = VEC_INIT(struct demand) };
	struct srpol_fabric *f = fabric();
	struct srpol_forecasts sum;

	(void)state;
	/* at 1000 ms of the host's clock */
	say(&ds, f, "a", 0, 1, 10, 500, 2000, 0);
	say(&ds, f, "b", 0, 1, 20, 1500, 3000, 0);
	say(&ds, f, "later", 0, 1, 40, 5000, 6000, 0);
	say(&ds, f, "again", 0, 1, 80, 500, 2000, 100);
	say(&ds, f, "other", 0, 2, 7, 1000, 1001, 0);
	say(&ds, f, "itself", 0, 0, 1, 500, 2000, 0);
	say(&ds, f, "not-ours", 1, 2, 1, 500, 2000, 0);
	demands_sum(&ds, f, f->gpus[0].host, 1000 * MS, NOW, &sum);
	assert_int_equal(sum.n, 4);
	assert_int_equal(sum.list[0].bytes, 30);
	assert_int_equal(sum.list[0].start_ms, NOW - 500);
	assert_int_equal(sum.list[0].end_ms, NOW + 2001);
	assert_int_equal(sum.list[1].bytes, 40);
	assert_int_equal(sum.list[1].start_ms, NOW + 4000);
	assert_int_equal(sum.list[2].period_ms, 100);
	assert_int_equal(sum.list[2].bytes, 80);
	assert_int_equal(sum.list[3].dst, 2);
	assert_int_equal(sum.list[3].bytes, 7);
	srpol_forecasts_free(&sum);
	/* what is told can be read, also of one that is a day long */
	say(&ds, f, "long", 0, 2, 7, 1000 + DAY, 1000 + 2 * DAY, 0);
	demands_sum(&ds, f, f->gpus[0].host, 1000 * MS, NOW, &sum);
	assert_int_equal(sum.list[4].end_ms - sum.list[4].start_ms, DAY);
	srpol_forecasts_free(&sum);
	vec_free(&ds.all);
	srpol_fabric_free(f);
}

/* Which demands are one, and how long and large it is. */
static void test_joined(void **state)
{
	struct demands ds = { .all = VEC_INIT(struct demand) };
	const u64 most = (1ull << 53) - 1;
	struct srpol_fabric *f = fabric();
	struct srpol_forecasts sum, to;
	char *text;

	(void)state;
	/* one begins when the other one ends; one is over before it */
	say(&ds, f, "first", 0, 1, 10, 2000, 3000, 0);
	say(&ds, f, "next", 0, 1, 20, 3001, 5000, 0);
	say(&ds, f, "within", 0, 1, 1, 3500, 3600, 0);
	/* more than may be told, together longer than that may be */
	say(&ds, f, "much", 0, 2, most, 1000, 1000 + DAY, 0);
	say(&ds, f, "more", 0, 2, 1, 1000 + DAY / 2, 1000 + DAY + DAY / 2, 0);
	demands_sum(&ds, f, f->gpus[0].host, 1000 * MS, NOW, &sum);
	assert_int_equal(sum.n, 2);
	assert_int_equal(sum.list[0].bytes, 31);
	assert_int_equal(sum.list[0].start_ms, NOW + 1000);
	assert_int_equal(sum.list[0].end_ms, NOW + 4001);
	assert_int_equal(sum.list[1].bytes, most);
	assert_int_equal(sum.list[1].end_ms - sum.list[1].start_ms, DAY);
	text = srpol_forecasts_write(f, topology, f->gpus[0].host, &sum);
	assert_int_equal(read(f, f->gpus[0].host, text, &to), 0);
	free(text);
	srpol_forecasts_free(&to);
	srpol_forecasts_free(&sum);
	vec_free(&ds.all);
	srpol_fabric_free(f);
}

/* A rail that is not said is 0, the destination's the source's. */
static void test_rails(void **state)
{
	static const struct {
		const char *rails;
		u32 src, dst;
	} cases[] = {
		{ "", 0, 0 },
		{ "\"rail\":1,", 1, 1 },
		{ "\"rail\":1,\"dst_rail\":0,", 1, 0 },
		{ "\"dst_rail\":1,", 0, 1 },
	};
	struct srpol_shape shape = srpol_shape_rail(1, 2, 2, 2, 100 * G);
	struct srpol_fabric *f = srpol_fabric_generate(&shape, NULL);
	u32 a = f->gpus[0].host, b = f->gpus[f->n_gpus - 1].host;
	struct srpol_forecasts to;
	char text[1024];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text),
			 "{\"version\":1,\"host\":\"%s\",\"topology\":\"%s\",\"demands\":[{%s\"dst\":\"%s\",\"bytes\":5,"
			 TIMES "}],\"rest\":{\"demands\":0,\"bytes\":0}}",
			 f->nodes[a].name, topology, cases[i].rails,
			 f->nodes[b].name);
		assert_int_equal(read(f, a, text, &to), 0);
		assert_int_equal(to.list[0].src,
				 srpol_fabric_gpu(f, a, cases[i].src));
		assert_int_equal(to.list[0].dst,
				 srpol_fabric_gpu(f, b, cases[i].dst));
		srpol_forecasts_free(&to);
	}
	srpol_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round), cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_frame), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_rate), cmocka_unit_test(test_sum),
		cmocka_unit_test(test_joined), cmocka_unit_test(test_rails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
