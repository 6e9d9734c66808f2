// SPDX-License-Identifier: GPL-2.0
/*
 * A plan is acknowledged once it is on the disk: the engine then gives away what the
 * plan before it had, and whoever starts again must not go back to that one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "follow.h"
#include "srpol_lib.h"
#include "test_disk.h"

static struct srpol_fabric *fabric;
static struct follow follow;
static unsigned int reports;		/* that were sent */
static unsigned int acknowledgements;
static uint64_t acknowledged;		/* epoch */
static bool was_there;			/* the file, at that time */
static uint64_t lease_id;
static const char *shard;

static void txn(struct store *store, const struct store_txn *txn, store_reply_fn fn,
		void *data)
{
	struct store_reply reply = { .succeeded = true };
	const struct store_put *put;
	json_t *o;

	for (put = txn->put; put < txn->put + txn->n_put; put++) {
		if (strncmp(put->key, "ack/", 4)) {
			reports++;
			continue;
		}
		o = json_loadb(put->value, put->len, 0, NULL);
		acknowledged = json_integer_value(json_object_get(o, "epoch"));
		json_decref(o);
		acknowledgements++;
		was_there = !access(follow.config.file, F_OK);
	}
	fn(data, &reply);
}

static void lease(struct store *store, uint32_t seconds, uint64_t id, store_reply_fn fn,
		  void *data)
{
	struct store_reply reply = { .succeeded = true, .lease = lease_id };

	fn(data, &reply);
}

static const struct store_ops ops = { .txn = txn, .lease = lease };

int store_open(struct store *store, const struct store_config *config,
	       struct srpol_error *err)
{
	*store = (struct store){ .ops = &ops };
	return 0;
}

void store_close(struct store *store)
{
	*store = (struct store){};
}

int bus_open(const struct bus_config *config, const struct bus_user *user,
	     struct bus **to, struct srpol_error *err)
{
	return 0;
}

void bus_close(struct bus *bus)
{
}

void mirror_start(struct mirror *m)
{
}

void mirror_stop(struct mirror *m)
{
}

uint64_t mirror_jitter(uint64_t ns)
{
	return ns;
}

int alarm_set(struct alarm *alarm, uint64_t ns)
{
	return 0;
}

void alarm_stop(struct alarm *alarm)
{
}

void log_info(const char *fmt, ...)
{
}

void log_debug(const char *fmt, ...)
{
}

void report_init(struct follow *f)
{
	f->links = (struct vec)VEC_INIT(struct follow_link);
	f->suspicions = (struct vec)VEC_INIT(struct follow_suspicion);
}

void report_free(struct follow *f)
{
	vec_free(&f->links);
	vec_free(&f->suspicions);
}

char *report_text(const struct follow *f)
{
	return strdup("{}");
}

void load_init(struct follow *f)
{
	f->loads = (struct vec)VEC_INIT(struct follow_load);
}

void demand_init(struct follow *f)
{
}

void telling_stop(struct telling *t)
{
}

void telling_go_on(struct telling *t)
{
}

void telling_again(struct telling *t)
{
}

/* Plans come from the test, and what was saved of them is complete. */
void fetch_start(struct follow *f)
{
}

bool fetch_index(struct follow *f, struct follow_plan *p, const char *text, size_t len)
{
	p->index_text = strndup(text, len);
	return true;
}

bool fetch_page(struct follow *f, struct follow_plan *p, uint32_t number,
		const char *text, size_t len)
{
	return true;
}

const struct srpol_page *fetch_page_of(const struct follow_plan *p, uint32_t number)
{
	return NULL;
}

const struct srpol_page_entry *fetch_chunk_of(const struct follow *f,
					      const struct follow_plan *p, uint32_t at)
{
	return NULL;
}

bool fetch_chunk(struct follow *f, struct follow_plan *p, uint32_t at, const char *text,
		 size_t len)
{
	return true;
}

bool fetch_check(struct follow *f, struct follow_plan *p)
{
	return true;
}

static int apply(void *data, const struct follow_plan *plan)
{
	return 0;
}

static void start(bool saves)
{
	follow = (struct follow){ .fabric = fabric, .apply = apply };
	while (fabric->nodes[follow.host].tier != SRPOL_TIER_HOST)
		follow.host++;
	strcpy(follow.config.shard, shard);
	if (saves)
		snprintf(follow.config.file, sizeof(follow.config.file), "%s/A.plan",
			 folder);
	assert_int_equal(follow_start(&follow, NULL), 0);
}

/* A plan of this epoch was fetched. */
static void fetched(uint64_t epoch)
{
	struct follow_plan *plan = store_alloc(sizeof(*plan));

	plan->head.epoch = epoch;
	plan->head.term = 1;
	srpol_digest("index", 5, plan->head.digest);
	plan->index_text = strdup("index");
	plan->plan = store_alloc(sizeof(*plan->plan));
	follow.next = plan;
	follow_fetched(&follow, true);
	assert_int_equal(follow.now->head.epoch, epoch);
}

static void until_acknowledged(void)
{
	while (!acknowledgements)
		assert_true(turn(PATIENCE_S * 1000));
}

static int set_up(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 1, 2, 400000000000ull);

	fabric = srpol_fabric_generate(&shape, NULL);
	disk_begin();
	reports = acknowledgements = acknowledged = 0;
	was_there = false;
	lease_id = 1;
	shard = "0";
	return 0;
}

static int tear_down(void **state)
{
	char file[sizeof(follow.config.file)];

	snprintf(file, sizeof(file), "%s/A.plan", folder);
	hurry();
	follow_stop(&follow);
	savers_end();
	disk_end(file);
	srpol_fabric_free(fabric);
	return 0;
}

static void test_disk(void **state)
{
	start(true);
	fetched(5);
	assert_false(turn(0));
	assert_int_equal(acknowledgements, 0);
	hurry();
	until_acknowledged();
	assert_true(was_there);
	assert_int_equal(acknowledged, 5);
	assert_int_equal(acknowledgements, 1);
	assert_int_equal(waited, 0);
}

/* A report does not wait, neither its own turn nor that of a plan. */
static void test_report(void **state)
{
	start(true);
	fetched(5);
	follow.number++;
	follow.said++;
	last_save(&follow);
	tell_soon(&follow);
	assert_int_equal(reports, 1);
	assert_int_equal(acknowledgements, 0);
	hurry();
	until_acknowledged();
	assert_int_equal(acknowledged, 5);
	assert_int_equal(reports, 1);
}

/* What was not on the disk before the next one came never is. */
static void test_newer(void **state)
{
	start(true);
	fetched(5);
	fetched(6);
	fetched(7);
	assert_int_equal(acknowledgements, 0);
	hurry();
	while (acknowledged != 7)
		assert_true(turn(PATIENCE_S * 1000));
	assert_in_range(acknowledgements, 1, 2);
}

static void until_sync(void)
{
	assert_int_equal(sem_wait(&begun), 0);
}

/* The disk ends the write that it has begun: of the file, and of its folder. */
static void one_write(void)
{
	sem_post(&disk);
	until_sync();
	sem_post(&disk);
	assert_true(turn(PATIENCE_S * 1000));
}

/* While there is always a newer plan, those that are on the disk are acknowledged. */
static void test_always_newer(void **state)
{
	uint64_t epoch;

	start(true);
	fetched(1);
	until_sync();
	for (epoch = 2; epoch < 10; epoch++) {
		fetched(epoch);
		one_write();
		assert_int_equal(acknowledged, epoch - 1);
		until_sync();
	}
	assert_int_equal(acknowledgements, 8);
}

/*
 * The engine waits for no host of which there is no acknowledgement. With a new lease
 * there is one of what is on the disk, while the next plan is not.
 */
static void test_lease(void **state)
{
	start(true);
	fetched(5);
	until_sync();
	one_write();
	assert_int_equal(acknowledgements, 1);
	fetched(6);
	until_sync();
	acknowledged = 0;
	lease_id = 2;
	follow.keep.ring(follow.keep.data);
	assert_int_equal(acknowledgements, 2);
	assert_int_equal(acknowledged, 5);
	/* a reload has one as well */
	follow_stop(&follow);
	acknowledged = 0;
	start(true);
	assert_int_equal(follow.now->head.epoch, 6);
	assert_int_equal(acknowledged, 5);
	one_write();
	assert_int_equal(acknowledged, 6);
}

/* Each shard counts its epochs by itself: one that begins is followed at once. */
static void test_other_shard(void **state)
{
	struct store_kv kv = { .mod = 1 };
	struct srpol_head head = { .epoch = 3, .term = 2 };

	hurry();
	start(true);
	fetched(1000);
	until_acknowledged();
	follow_stop(&follow);
	shard = "pod";
	start(true);
	assert_null(follow.now);
	assert_int_equal(acknowledgements, 1);
	srpol_digest("index", 5, head.digest);
	kv.value = srpol_head_write(&head);
	kv.len = strlen(kv.value);
	follow.mirror.set(&follow, &kv);
	free(kv.value);
	assert_int_equal(follow.stats.replayed, 0);
	assert_int_equal(follow.next->head.epoch, 3);
}

/* A host without a disk that works follows plans all the same. */
static void test_no_disk(void **state)
{
	start(true);
	rmdir(folder);
	fetched(5);
	until_acknowledged();
	assert_int_equal(acknowledged, 5);
	assert_int_equal(errors, 1);
}

/* What was acknowledged is not taken back by a reload, though the disk has it not. */
static void test_full_disk(void **state)
{
	char new[sizeof(follow.config.file) + 4];

	hurry();
	start(true);
	fetched(5);
	until_acknowledged();
	snprintf(new, sizeof(new), "%s.new", follow.config.file);
	assert_int_equal(mkdir(new, 0700), 0);
	fetched(6);
	while (acknowledged != 6)
		assert_true(turn(PATIENCE_S * 1000));
	assert_int_equal(errors, 1);
	follow_stop(&follow);
	start(true);
	assert_int_equal(follow.now->head.epoch, 6);
	assert_int_equal(acknowledged, 6);
	/* with room again it is as always */
	rmdir(new);
	fetched(7);
	while (acknowledged != 7)
		assert_true(turn(PATIENCE_S * 1000));
	follow_stop(&follow);
	savers_end();
	start(true);
	assert_int_equal(follow.now->head.epoch, 7);
	assert_int_equal(errors, 1);
}

static void test_no_file(void **state)
{
	start(false);
	fetched(5);
	assert_int_equal(acknowledged, 5);
	fetched(6);
	assert_int_equal(acknowledged, 6);
}

/* A reload waits for no disk, and goes on with the plan that is not there yet. */
static void test_reload(void **state)
{
	start(true);
	fetched(5);
	follow_stop(&follow);
	start(true);
	assert_int_equal(follow.now->head.epoch, 5);
	assert_int_equal(acknowledgements, 0);
	assert_int_equal(waited, 0);
	assert_int_equal(synced, 0);
	hurry();
	until_acknowledged();
	assert_true(was_there);
	assert_int_equal(acknowledged, 5);
	follow_stop(&follow);
	savers_end();
	/* what is there needs no disk */
	acknowledgements = 0;
	start(true);
	assert_int_equal(acknowledgements, 1);
}

/* Nothing is followed if it could not be learned what is on the disk. */
static void test_no_loop(void **state)
{
	struct srpol_error err = {};

	start(true);
	fetched(5);
	follow_stop(&follow);
	loop_fails = -ENOSPC;
	follow = (struct follow){ .fabric = fabric, .apply = apply };
	snprintf(follow.config.file, sizeof(follow.config.file), "%s/A.plan", folder);
	assert_int_equal(follow_start(&follow, &err), -ENOSPC);
	assert_non_null(strstr(err.text, strerror(ENOSPC)));
	assert_int_equal(acknowledgements, 0);
	/* what is on its way is not lost by that */
	loop_fails = 0;
	start(true);
	assert_int_equal(follow.now->head.epoch, 5);
	/* the same with nothing to write */
	hurry();
	until_acknowledged();
	follow_stop(&follow);
	savers_end();
	loop_fails = -ENOSPC;
	strcpy(follow.config.file, "/nowhere");
	follow.fabric = fabric;
	assert_int_equal(follow_start(&follow, &err), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_report, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_newer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_always_newer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lease, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_shard, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reload, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_loop, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
