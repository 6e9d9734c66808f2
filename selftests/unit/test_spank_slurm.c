// SPDX-License-Identifier: GPL-2.0
/*
 * The SPANK plugin without Slurm: what is said to a srpold that this test plays,
 * and the plugin as a whole, called by this test in the order that Slurm does.
 */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/spank/spank_srpol.h"
#include "test.h"

static struct srpol_error err;

/* srpold: each connection has one request, and gets the next answer */
static struct {
	int fd;
	char path[64];
	const char *answers[8];
	char asked[8][1024];
	unsigned int n;
} srpold;

static void *serve(void *data)
{
	const char *answer;
	ssize_t n;
	int fd;

	while ((fd = accept(srpold.fd, NULL, NULL)) >= 0) {
		n = read(fd, srpold.asked[srpold.n],
			 sizeof(srpold.asked[0]) - 1);
		assert_true(n > 0);
		answer = srpold.answers[srpold.n++];
		if (answer)
			assert_true(write(fd, answer, strlen(answer)) > 0);
		else
			read(fd, &n, 1);	/* until the other one leaves */
		close(fd);
	}
	return data;
}

static pthread_t thread;

static void srpold_start(const char * const *answers)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	unsigned int i;

	memset(&srpold, 0, sizeof(srpold));
	for (i = 0; i < 8 && answers[i]; i++)
		srpold.answers[i] = strcmp(answers[i], "deaf") ? answers[i] :
				    NULL;
	snprintf(srpold.path, sizeof(srpold.path), "/tmp/srpol-spank-%d",
		 (int)getpid());
	strcpy(addr.sun_path, srpold.path);
	srpold.fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(srpold.fd, (void *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(srpold.fd, 8), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
}

static void srpold_stop(void)
{
	shutdown(srpold.fd, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(srpold.fd);
	unlink(srpold.path);
}

static int begin(const char * const *answers, const struct wish *wish,
		 uint32_t color)
{
	struct config c = { .limit_ms = 60000, .socket = srpold.path };
	struct job job = { .cgroup = "/s/job_5", .color = color, .wish = wish };
	unsigned int i;
	int ret;

	/* what comes before has time, on a machine that is busy as well */
	for (i = 0; answers[i]; i++)
		if (!strcmp(answers[i], "deaf"))
			c.limit_ms = i ? 3000 : 200;
	job_name(5, job.name);
	srpold_start(answers);
	err.text[0] = '\0';
	ret = tell_begin(&c, &job, &err);
	srpold_stop();
	return ret;
}

#define GOOD	"{\"version\":1,\"reply\":{}}\n"
#define TAKEN	"{\"version\":1,\"error\":\"color 7 is taken\"}\n"
#define ANSWERS(...)	((const char * const []){ __VA_ARGS__, NULL })

static void check_asked(unsigned int i, const char *want)
{
	json_t *got = json_loads(srpold.asked[i], 0, NULL);
	json_t *o = json_loads(want, 0, NULL);

	assert_true(got && o && strchr(srpold.asked[i], '\n'));
	json_object_set_new(o, "version", json_integer(1));
	assert_true(json_equal(got, o));
	json_decref(got);
	json_decref(o);
}

static void told(void **state)
{
	struct wish wish = { .via = "sum", .paths = "a,b" };

	(void)state;
	assert_int_equal(begin(ANSWERS(GOOD), &wish, 7), 0);
	assert_int_equal(srpold.n, 1);
	check_asked(0, "{\"request\": \"job-add\", \"name\": \"slurm-5\", \"cgroup\": \"/s/job_5\", \"color\": 7, \"paths\": [\"a\", \"b\"], \"via\": \"sum\"}");
	wish = (struct wish){ .paths = "disjoint" };
	assert_int_equal(begin(ANSWERS(GOOD), &wish, 0), 0);
	check_asked(0, "{\"request\": \"job-add\", \"name\": \"slurm-5\", \"cgroup\": \"/s/job_5\", \"paths\": \"disjoint\"}");
}

static void refused(void **state)
{
	struct config c = { .limit_ms = 200, .socket = "/tmp/srpol-none" };
	struct wish wish = {};

	(void)state;
	/* nobody is over */
	assert_int_equal(begin(ANSWERS(TAKEN,
		"{\"version\":1,\"reply\":[{\"name\":\"mine\",\"cgroup\":\"/none\"},{\"name\":\"slurm-4\",\"cgroup\":\"/\"}]}\n"),
		&wish, 7), -EREMOTEIO);
	assert_int_equal(srpold.n, 2);
	assert_non_null(strstr(err.text, "color 7 is taken"));
	/* a job is, and its color is free */
	assert_int_equal(begin(ANSWERS(TAKEN,
		"{\"version\":1,\"reply\":[{\"name\":\"slurm-4\",\"cgroup\":\"/none/job_4\"}]}\n",
		GOOD, GOOD), &wish, 7), 0);
	assert_int_equal(srpold.n, 4);
	check_asked(2, "{\"request\": \"job-del\", \"name\": \"slurm-4\"}");
	/* another step was there before */
	assert_int_equal(begin(ANSWERS(TAKEN,
		"{\"version\":1,\"reply\":[{\"name\":\"slurm-5\"}]}\n"), &wish,
		7), 0);
	assert_int_equal(srpold.n, 2);
	/* with the color that is asked for, or with another one */
	wish.color = 7;
	assert_int_equal(begin(ANSWERS(TAKEN,
		"{\"version\":1,\"reply\":[{\"name\":\"slurm-5\",\"color\":7}]}\n"),
		&wish, 7), 0);
	assert_int_equal(begin(ANSWERS(TAKEN,
		"{\"version\":1,\"reply\":[{\"name\":\"slurm-5\",\"color\":8}]}\n"),
		&wish, 7), -EREMOTEIO);
	assert_non_null(strstr(err.text, "color 7"));
	wish.color = 0;
	/* with the paths that are asked for, or with others */
	strcpy(wish.paths, "a,b");
	strcpy(wish.via, "sum");
	assert_int_equal(begin(ANSWERS(TAKEN,
		"{\"version\":1,\"reply\":[{\"name\":\"slurm-5\",\"color\":7,\"via\":\"sum\",\"paths\":[\"a\",\"b\"]}]}\n"),
		&wish, 7), 0);
	assert_int_equal(begin(ANSWERS(TAKEN,
		"{\"version\":1,\"reply\":[{\"name\":\"slurm-5\",\"color\":7,\"via\":\"sum\",\"paths\":\"disjoint\"}]}\n"),
		&wish, 7), -EREMOTEIO);
	assert_non_null(strstr(err.text, "options of a step have to be those of its job"));
	assert_int_equal(begin(ANSWERS(TAKEN,
		"{\"version\":1,\"reply\":[{\"name\":\"slurm-5\",\"color\":7,\"paths\":[\"a\",\"b\"]}]}\n"),
		&wish, 7), -EREMOTEIO);
	wish = (struct wish){};
	/* several are over, and srpold does not answer: the others are left */
	assert_int_equal(begin(ANSWERS(TAKEN,
		"{\"version\":1,\"reply\":[{\"name\":\"slurm-1\",\"cgroup\":\"/none/job_1\"},{\"name\":\"slurm-2\",\"cgroup\":\"/none/job_2\"},{\"name\":\"slurm-3\",\"cgroup\":\"/none/job_3\"}]}\n",
		GOOD, "deaf", GOOD), &wish, 7), 0);
	assert_int_equal(srpold.n, 5);
	check_asked(3, "{\"request\": \"job-del\", \"name\": \"slurm-2\"}");
	/* no answer, none that is one, nobody */
	assert_int_equal(begin(ANSWERS("deaf"), &wish, 7), -ETIMEDOUT);
	assert_int_equal(srpold.n, 1);
	assert_non_null(strstr(err.text, "no answer in time"));
	assert_int_equal(begin(ANSWERS("what?\n"), &wish, 7), -ETIMEDOUT);
	assert_int_equal(begin(ANSWERS("[]\n"), &wish, 7), -ETIMEDOUT);
	assert_int_equal(tell_end(&c, "slurm-5", &err), -ENOENT);
	assert_non_null(strstr(err.text, "srpold does not run here"));
}

/* Slurm: processes of one after the other, with the state that the first left */
static struct {
	enum spank_context context;
	char said[1024];	/* errors, then what is not one */
	char env[64];
	struct spank_option *options[8];
	unsigned int n;
} slurm;

static pid_t task;

static void say(const char *level, const char *format, va_list args)
{
	char text[700];

	vsnprintf(text, sizeof(text), format, args);
	snprintf(slurm.said, sizeof(slurm.said), "%s: %s", level, text);
}

#define SAY(name, level)				\
	void name(const char *format, ...)		\
	{						\
		va_list args;				\
							\
		va_start(args, format);			\
		say(level, format, args);		\
		va_end(args);				\
	}

SAY(slurm_error, "error")
SAY(slurm_info, "info")
SAY(slurm_verbose, "verbose")

enum spank_context spank_context(void)
{
	return slurm.context;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	(void)spank;
	slurm.options[slurm.n++] = option;
	return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_setenv(spank_t spank, const char *name,
				     const char *value, int overwrite)
{
	(void)spank;
	(void)overwrite;
	snprintf(slurm.env, sizeof(slurm.env), "%s=%s", name, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	static gid_t groups[] = { 0 };
	va_list args;

	(void)spank;
	va_start(args, item);
	if (item == S_JOB_UID)
		*va_arg(args, uid_t *) = 4242;
	else if (item == S_JOB_GID)
		*va_arg(args, gid_t *) = 4242;
	else if (item == S_JOB_ID)
		*va_arg(args, uint32_t *) = 5;
	else if (item == S_TASK_PID)
		*va_arg(args, pid_t *) = task;
	if (item == S_JOB_SUPPLEMENTARY_GIDS) {
		*va_arg(args, gid_t **) = groups;
		*va_arg(args, int *) = 1;
	}
	va_end(args);
	return ESPANK_SUCCESS;
}

/* Whoever submits is in so many groups, the last of which is "tty". */
static int groups_of_user;

int __wrap_getgroups(int size, gid_t *list);

int __wrap_getgroups(int size, gid_t *list)
{
	int i;

	if (size && size < groups_of_user) {
		errno = EINVAL;
		return -1;
	}
	for (i = 0; size && i < groups_of_user; i++)
		list[i] = i == groups_of_user - 1 ? getgrnam("tty")->gr_gid :
			  (gid_t)100000 + i;
	return groups_of_user;
}

static int give(const char *name, const char *text, int remote)
{
	unsigned int i;

	for (i = 0; i < slurm.n; i++)
		if (!strcmp(slurm.options[i]->name, name))
			return slurm.options[i]->cb(slurm.options[i]->val,
						    text, remote);
	fail();
	return 0;
}

static void begin_process(enum spank_context context)
{
	memset(&slurm, 0, sizeof(slurm));
	slurm.context = context;
}

/* The first one here, as nothing is called before in that process. */
static void epilog(void **state)
{
	char word[80];
	char *list[] = { word, "timeout=60" };

	(void)state;
	begin_process(S_CTX_JOB_SCRIPT);
	srpold_start(ANSWERS(GOOD));
	snprintf(word, sizeof(word), "socket=%s", srpold.path);
	assert_int_equal(slurm_spank_job_epilog(NULL, 2, list), 0);
	srpold_stop();
	check_asked(0, "{\"request\": \"job-del\", \"name\": \"slurm-5\"}");
	assert_string_equal(slurm.said, "");
	assert_int_equal(slurm_spank_job_epilog(NULL, 2, list), 0);
	assert_non_null(strstr(slurm.said, "verbose: srpol: srpold does not run"));
}

/* This process is in no control group of a job; a child is its task. */
static void check_step(int n, char **words, const char *want, int status)
{
	int got;

	slurm.said[0] = '\0';
	task = fork();
	if (!task) {
		pause();
		_exit(0);
	}
	assert_int_equal(slurm_spank_task_post_fork(NULL, n, words), 0);
	assert_true(want ? !!strstr(slurm.said, want) : !slurm.said[0]);
	if (!status)
		kill(task, SIGTERM);
	assert_int_equal(waitpid(task, &got, 0), task);
	assert_true(WIFSIGNALED(got));
	assert_int_equal(WTERMSIG(got), status ?: SIGTERM);
}

/* Each in a process of its own, as steps are. */
static void step(void **state)
{
	char *words[] = { "color=9", "required" };
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		begin_process(S_CTX_REMOTE);
		assert_int_equal(slurm_spank_init(NULL, 2, words), 0);
		assert_int_equal(slurm.n, 5);
		check_step(2, words, "error: srpol: the job ends: Slurm made no control group of version 2 for job 5",
			   SIGKILL);
		check_step(2, words, NULL, SIGKILL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	begin_process(S_CTX_REMOTE);
	assert_int_equal(slurm_spank_init(NULL, 1, words), 0);
	check_step(1, words, "info: srpol: the job gets no paths of its own", 0);
	check_step(1, words, NULL, 0);
}

static void submit(void **state)
{
	char *list[] = { "colors=5", "bad" };

	(void)state;
	begin_process(S_CTX_ALLOCATOR);
	assert_true(slurm_spank_init(NULL, 2, list) < 0);
	assert_non_null(strstr(slurm.said, "error: srpol: plugstack.conf: \"bad\""));
	assert_int_equal(slurm_spank_init(NULL, 1, list), 0);
	assert_int_equal(give("srpol-color", "5", 0), 0);
	assert_int_equal(slurm_spank_init_post_opt(NULL, 1, list), 0);
	assert_string_equal(slurm.env, "");
	assert_int_equal(give("srpol-bw", "4G/8G", 0), 0);
	assert_int_equal(slurm_spank_init_post_opt(NULL, 1, list), 0);
	assert_string_equal(slurm.env, "SRPOL_BW=4G/8G");
	assert_int_equal(give("srpol-color", "6", 0), -1);
	assert_non_null(strstr(slurm.said, "error: srpol: color 6 is not allowed"));
	assert_int_equal(give("srpol-paths", "spine1", 0), -1);
	assert_int_equal(give("srpol", "perhaps", 0), -1);
}

/* Groups of a directory service may be many. */
static void submit_of_group(void **state)
{
	char users[] = "/tmp/srpol-users-XXXXXX", word[64];
	FILE *f = fdopen(mkstemp(users), "w");
	char *list[] = { word };

	(void)state;
	assert_non_null(f);
	assert_true(fputs("%tty 5\n* 6\n", f) > 0 && !fclose(f));
	snprintf(word, sizeof(word), "users=%s", users);
	begin_process(S_CTX_ALLOCATOR);
	assert_int_equal(slurm_spank_init(NULL, 1, list), 0);
	for (groups_of_user = 1; groups_of_user < 5000; groups_of_user += 999) {
		assert_int_equal(give("srpol-color", "5", 0), 0);
		assert_int_equal(give("srpol-color", "6", 0), -1);
	}
	groups_of_user = 0;
	assert_int_equal(give("srpol-color", "5", 0), -1);
	assert_int_equal(give("srpol-color", "6", 0), 0);
	unlink(users);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(told),
		cmocka_unit_test(refused),
		cmocka_unit_test(epilog),
		cmocka_unit_test(step),
		cmocka_unit_test(submit_of_group),
		cmocka_unit_test(submit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
