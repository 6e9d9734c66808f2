// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of the module: whether it is as the engine wants, by what becomes of
 * transactions and by what is heard from it. The module itself is the test.
 */
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path_ids.h"
#include "probing.h"
#include "srpold.h"
#include "test.h"
#include "watchers.h"

#define OWN	5	/* netlink port of the engine */
#define OTHER	7

static struct srpol_fabric fabric;
static struct engine engine = { .fabric = &fabric };
static struct source *events, *settle;
static struct alarm *later;
static struct nlmsghdr heard;
static uint8_t heard_cmd;
static int heard_ret;
static int event_end[2];	/* what is heard is read here: a byte for each event */
static bool others_go_on;	/* there is another one whenever one was read */
static bool refused;		/* what the engine wants */
static bool is_loaded;
static bool timerless;
static uint16_t family;
static unsigned int retried;
static unsigned int transactions;

/* paths that the module has, and what a transaction does to paths */
#define PATHS	4
#define FIRST	(SRPOL_MAX_PATHS - PATHS)	/* there are no more ids */

static struct srpol_nic nic = { .name = "eth0" };
static struct uplink uplink;
static struct vec there = VEC_INIT(struct path_info);

struct sent {
	uint8_t cmd;
	uint16_t flags;
	uint32_t path;
	uint32_t ifindex;
};

static struct sent sent[2 * PATHS];
static unsigned int n_sent;

/* ---- the module */

int srpol_genl_open(struct srpol_genl *g, struct srpol_error *err)
{
	*g = (struct srpol_genl){ .portid = OWN, .family = family };
	return is_loaded ? 0 : -ENOENT;
}

void srpol_genl_close(struct srpol_genl *g)
{
}

int srpol_genl_listen(struct srpol_genl *g, struct srpol_error *err)
{
	return 0;
}

int srpol_genl_fd(const struct srpol_genl *g)
{
	return event_end[0];
}

/* The real one waits until there is one. */
int srpol_genl_receive(struct srpol_genl *g, srpol_msg_cb cb, void *data)
{
	char byte;

	if (!others_go_on)
		assert_int_equal(read(event_end[0], &byte, 1), 1);
	return heard_ret ?: cb(&heard, data);
}

uint8_t srpol_msg_cmd(const struct nlmsghdr *nlh)
{
	return heard_cmd;
}

void read_path(const struct nlmsghdr *nlh, struct path_info *path)
{
	*path = (struct path_info){};
}

int srpol_fetch(struct srpol_genl *g, uint8_t cmd, struct vec *vec, struct srpol_error *err)
{
	const struct path_info *path;

	if (!is_loaded || g->family != family)
		return -EOPNOTSUPP;
	if (cmd == SRPOL_CMD_PATH_GET)
		vec_for_each(path, &there)
			*(struct path_info *)vec_add(vec) = *path;
	return 0;
}

int srpol_fetch_config(struct srpol_genl *g, struct config_info *config,
		       struct srpol_error *err)
{
	config->limits.paths = SRPOL_MAX_PATHS;
	transactions++;
	return 0;
}

int policies_make(struct engine *e, const struct vec *there, struct srpol_batch *batch,
		  unsigned int *made)
{
	return refused ? -EINVAL : 0;
}

int policies_delete(struct engine *e, const struct vec *there, struct srpol_batch *batch,
		    unsigned int *deleted)
{
	return 0;
}

bool policies_keep(const struct vec *there, uint32_t path)
{
	return false;
}

int endpoints_make(struct engine *e, const struct vec *there, struct srpol_batch *batch,
		   unsigned int *made, unsigned int *deleted)
{
	return 0;
}

int rules_make(struct engine *e, const struct vec *there, uint32_t max,
	       struct srpol_batch *batch, unsigned int *made)
{
	return 0;
}

int rules_delete(struct engine *e, const struct vec *there, struct srpol_batch *batch,
		 unsigned int *deleted)
{
	return 0;
}

/* The fabric has no nodes: nothing is sent but paths. */

void srpol_batch_free(struct srpol_batch *batch)
{
}

int srpol_batch_add(struct srpol_batch *batch, const struct nlmsghdr *nlh)
{
	batch->n++;
	return 0;
}

int srpol_batch_send(struct srpol_genl *g, struct srpol_batch *batch, struct srpol_error *err)
{
	return 0;
}

void srpol_msg_start(struct srpol_genl *g, struct srpol_msg *msg, uint8_t cmd, uint16_t flags)
{
	assert_in_range(n_sent, 0, ARRAY_SIZE(sent) - 1);
	sent[n_sent++] = (struct sent){ .cmd = cmd, .flags = flags };
}

bool srpol_msg_put(struct srpol_msg *msg, uint16_t type, size_t len, const void *data)
{
	return true;
}

bool srpol_msg_put_u32(struct srpol_msg *msg, uint16_t type, uint32_t value)
{
	if (type == SRPOL_A_PATH_ID)
		sent[n_sent - 1].path = value;
	else if (type == SRPOL_A_PATH_IFINDEX)
		sent[n_sent - 1].ifindex = value;
	return true;
}

struct nlattr *srpol_msg_nest(struct srpol_msg *msg, uint16_t type)
{
	return NULL;
}

void srpol_msg_nest_end(struct srpol_msg *msg, struct nlattr *nest)
{
}

const struct path_info *find_path(const struct vec *paths, uint32_t id)
{
	const struct path_info *path;

	vec_for_each(path, paths)
		if (path->id == id)
			return path;
	return NULL;
}

/* ---- what it needs of the rest */

bool engine_is_local(const struct engine *e, uint32_t node)
{
	return false;
}

struct in6_addr engine_sid(const struct engine *e, uint32_t node, const struct in6_addr *function)
{
	return *function;
}

bool probe_map_is_xdp(void)
{
	return false;
}

bool reflect_map_is_there(void)
{
	return false;
}

bool reflect_map_is_lost(void)
{
	return false;
}

void prober_follow(void)
{
}

struct uplink *uplink_of(uint32_t nic)
{
	return &uplink;
}

void uplinks_undo(struct engine *e)
{
}

void verdicts_tell(struct engine *e)
{
}

void watchers_path_event(uint32_t path, uint32_t state, uint32_t reason)
{
}

void plan_retry(void)
{
	retried++;
}

void log_error(const char *fmt, ...)
{
}

void log_notice(const char *fmt, ...)
{
}

void log_info(const char *fmt, ...)
{
}

int loop_add(struct source *source, uint32_t what)
{
	events = source;
	return 0;
}

void loop_remove(struct source *source)
{
}

int timer_open(struct source *source, uint64_t first_ns, uint64_t every_ns)
{
	if (timerless)
		return -EMFILE;
	source->fd = open("/dev/null", O_RDONLY);
	settle = source;
	return source->fd < 0 ? -errno : 0;
}

int alarm_set(struct alarm *alarm, uint64_t ns)
{
	later = alarm;
	return 0;
}

/* ---- */

static void hear(uint8_t cmd, uint32_t port, int ret)
{
	heard_cmd = cmd;
	heard.nlmsg_pid = port;
	heard_ret = ret;
	assert_int_equal(write(event_end[1], "", 1), 1);
	events->ready(events, 0);
}

/* Time passes until it looks; false if it does not want to. */
static bool look(void)
{
	struct source *source = settle;

	if (!source)
		return false;
	settle = NULL;
	source->ready(source, 0);
	return true;
}

static int set_up(void **state)
{
	struct srpol_error err = {};

	engine.paths = (struct vec)VEC_INIT(struct engine_path);
	fabric.nics = &nic;
	is_loaded = true;
	refused = others_go_on = false;
	n_sent = there.n = 0;
	if (pipe2(event_end, O_NONBLOCK | O_CLOEXEC))
		return -1;
	settle = NULL;
	later = NULL;
	if (watch_start(&engine, &err) || reconcile(&engine, &err))
		return -1;
	retried = transactions = 0;
	return 0;
}

static int tear_down(void **state)
{
	close(event_end[0]);
	close(event_end[1]);
	return 0;
}

static void test_refused(void **state)
{
	struct srpol_error err = {};

	assert_true(reconcile_done());
	refused = true;
	assert_int_equal(reconcile(&engine, &err), -EINVAL);
	assert_false(reconcile_done());
	refused = false;
	assert_int_equal(reconcile(&engine, &err), 0);
	assert_true(reconcile_done());
}

/* What the module has told, but nobody has read yet. */
static void test_behind(void **state)
{
	struct srpol_error err = {};

	heard_cmd = SRPOL_CMD_POLICY_DEL;
	heard_ret = 0;
	heard.nlmsg_pid = OTHER;
	watch_hear();
	assert_true(reconcile_done());
	/* nor do its own changes count */
	heard.nlmsg_pid = OWN;
	assert_int_equal(write(event_end[1], "", 1), 1);
	watch_hear();
	assert_true(reconcile_done());
	heard.nlmsg_pid = OTHER;
	assert_int_equal(write(event_end[1], "", 1), 1);
	watch_hear();
	assert_false(reconcile_done());
	assert_true(look());
	/* there is an end where there is no end to events, and what comes next is not known */
	heard.nlmsg_pid = OWN;
	others_go_on = true;
	assert_int_equal(write(event_end[1], "", 1), 1);
	watch_hear();
	assert_false(reconcile_done());
	others_go_on = false;
	watch_hear();
	assert_int_equal(reconcile(&engine, &err), 0);
	/* the loop's round began before that: there is nothing any more to be waited for */
	events->ready(events, 0);
	assert_true(reconcile_done());
}

/* Others have deleted objects, and what restores them is refused. */
static void test_changed(void **state)
{
	hear(SRPOL_CMD_POLICY_DEL, OTHER, 0);
	assert_false(reconcile_done());
	refused = true;
	assert_true(look());
	assert_false(reconcile_done());
	assert_int_equal(retried, 0);
	assert_non_null(later);
	refused = false;
	later->ring(later->data);
	assert_true(look());
	assert_true(reconcile_done());
	assert_int_equal(retried, 1);
}

/*
 * Others change what the engine does not mind, again and again: plans that the module refused
 * for another reason are not read again for that.
 */
static void test_others(void **state)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		hear(SRPOL_CMD_POLICY_NEW, OTHER, 0);
		assert_true(look());
		assert_true(reconcile_done());
	}
	assert_int_equal(retried, 0);
}

/* What the engine did itself, and states of paths, change nothing of it. */
static void test_same(void **state)
{
	hear(SRPOL_CMD_POLICY_NEW, OWN, 0);
	assert_true(reconcile_done());
	assert_false(look());
	hear(SRPOL_CMD_PATH_EVENT, 0, 0);
	assert_true(reconcile_done());
	assert_true(look());
	assert_true(reconcile_done());
	assert_int_equal(transactions, 0);
	assert_int_equal(retried, 0);
}

/* There is no descriptor for the timer of the look. */
static void test_timerless(void **state)
{
	timerless = true;
	hear(SRPOL_CMD_POLICY_DEL, OTHER, 0);
	watch_try();
	assert_false(look());
	timerless = false;
	watch_try();
	assert_true(look());
	assert_true(reconcile_done());
	watch_try();
	assert_false(look());
}

static void test_lost(void **state)
{
	hear(0, 0, -ENOBUFS);
	assert_false(reconcile_done());
	assert_true(look());
	assert_true(reconcile_done());
}

/* It went, and all objects with it: they are made again once it is back. */
static void test_unloaded(void **state)
{
	is_loaded = false;
	hear(0, 0, -ENODEV);
	assert_false(reconcile_done());
	assert_true(look());
	assert_false(reconcile_done());
	assert_non_null(later);
	is_loaded = true;
	family++;
	later->ring(later->data);
	assert_true(look());
	assert_false(reconcile_done());
	assert_true(look());
	assert_true(reconcile_done());
	/* at a reload, which may be given up then */
	family++;
	assert_true(watch_reconnect());
	assert_false(reconcile_done());
	assert_true(look());
	assert_true(reconcile_done());
}

/* Another one is there at once, which may take plans that the one before has refused. */
static void test_replaced(void **state)
{
	family++;
	hear(0, 0, -ENODEV);
	assert_true(look());
	assert_true(look());
	assert_true(reconcile_done());
	assert_int_equal(retried, 1);
}

/* Paths that are wanted, whose names begin with @name, and as many that are there. */
static void have_paths(char name, uint32_t origin)
{
	struct path_info *have;
	struct engine_path *path;
	uint32_t i;

	engine.config.first_path = FIRST;
	for (i = 0; i < PATHS; i++) {
		path = vec_add(&engine.paths);
		*path = (struct engine_path){ .segs = { .n = 1 } };
		snprintf(path->name, sizeof(path->name), "%c%u", name, i);
		have = vec_add(&there);
		*have = (struct path_info){
			.id = FIRST + i, .origin = origin, .n_sids = 1, .has_src = true,
			.has_via = true, .ifindex = 5, .ifname = "eth0",
		};
		snprintf(have->name, sizeof(have->name), "a%u", i);
	}
}

static void assert_replaced(uint32_t ifindex, uint16_t flags)
{
	unsigned int i;

	assert_int_equal(n_sent, PATHS);
	for (i = 0; i < PATHS; i++) {
		assert_int_equal(sent[i].cmd, SRPOL_CMD_PATH_NEW);
		assert_int_equal(sent[i].flags, flags);
		assert_int_equal(sent[i].path, FIRST + i);
		assert_int_equal(sent[i].ifindex, ifindex);
	}
}

/* Its paths keep their ids, of which there may be no others. */
static void test_device_again(void **state)
{
	struct srpol_error err = {};

	uplink.ifindex = 6;
	have_paths('a', SRPOL_ORIGIN_ENGINE);
	assert_int_equal(reconcile(&engine, &err), 0);
	assert_replaced(6, NLM_F_REPLACE);
	vec_free(&engine.paths);
}

/*
 * Ids of paths that are not wanted any more, where there are no others: nothing of these
 * paths stays, and one that is wanted is not taken for that.
 */
static void test_ids_again(void **state)
{
	struct engine_path *path;
	struct srpol_error err = {};

	uplink.ifindex = 5;
	have_paths('b', SRPOL_ORIGIN_ENGINE);
	assert_int_equal(reconcile(&engine, &err), 0);
	assert_replaced(5, NLM_F_CREATE | NLM_F_REPLACE);
	/* the last one takes the way of the first object, by another list */
	path = (struct engine_path *)engine.paths.data + PATHS - 1;
	strcpy(path->name, "a0");
	path->segs.sid[0].s6_addr[0] = 0xfc;
	n_sent = 0;
	assert_int_equal(reconcile(&engine, &err), 0);
	assert_int_equal(n_sent, PATHS);
	assert_int_equal(sent[0].path, FIRST);
	assert_int_equal(sent[0].flags, NLM_F_REPLACE);
	assert_int_equal(path->id, FIRST);
	vec_free(&engine.paths);
}

static void test_ids_of_others(void **state)
{
	struct srpol_error err = {};

	uplink.ifindex = 5;
	have_paths('b', SRPOL_ORIGIN_STATIC);
	assert_int_equal(reconcile(&engine, &err), -ENOSPC);
	vec_free(&engine.paths);
}

/* What a reload may count on: paths in force give their ids to others. */
static void test_ids_check(void **state)
{
	struct vec paths = VEC_INIT(struct engine_path);
	struct engine next = { .fabric = &fabric, .paths = paths }, now = next;
	struct srpol_error err = {};
	struct engine_path *path;
	uint32_t i;

	for (i = 0; i < 2 * PATHS; i++)
		((struct engine_path *)vec_add(&next.paths))->segs.n = 1;
	for (i = 0; i < PATHS; i++)
		((struct engine_path *)vec_add(&now.paths))->id = FIRST + i;
	next.config.first_path = FIRST - PATHS;
	assert_int_equal(path_ids_check(&next, NULL, &err), 0);
	next.config.first_path++;
	assert_int_equal(path_ids_check(&next, NULL, &err), -ENOSPC);
	/* these are among those that are left anyway */
	assert_int_equal(path_ids_check(&next, &now, &err), -ENOSPC);
	path = now.paths.data;
	path->id = FIRST - PATHS;
	assert_int_equal(path_ids_check(&next, &now, &err), 0);
	/* it has none, as its NIC is away */
	path->id = 0;
	assert_int_equal(path_ids_check(&next, &now, &err), -ENOSPC);
	vec_free(&next.paths);
	vec_free(&now.paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_behind, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_timerless, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unloaded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_device_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ids_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ids_of_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ids_check, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
