// SPDX-License-Identifier: GPL-2.0
/*
 * The feed: a file that another program maintains, with the present capacity of
 * links, { "links": [ { "from": NODE, "to": NODE, "capacity": RATE }, ... ] }.
 * A link that is not in it has the capacity that the topology says. The file is
 * read again when it changes; a file that cannot be read changes nothing, nor does it
 * at a reload.
 *
 * Events of its folder tell that it has changed, and not before it is whole. But links may
 * lead to it, and to its folder, from elsewhere, where nobody is asked for events: so it is
 * looked at each second, too.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "srpold.h"
#include "words.h"

#define SIZE_MAX_BYTES	(16 << 20)
#define LOOK_NS		(1000 * NS_PER_MS)
#define FRESH_NS	(20 * NS_PER_MS)	/* two ticks of the slowest kernel */

/**
 * struct look - what a look at the file shows
 * @error: errno, 0: it is there
 * @st: the file, if it is
 * @is_fresh: it has just been changed, and may look the same when it is changed again:
 *	its times are those of the kernel's last tick
 */
struct look {
	int error;
	struct stat st;
	bool is_fresh;
};

static void look(void *data);

static struct source watch = { .fd = -1 };
static struct alarm next_look = ALARM_INIT(look, NULL);
static struct engine *engine;
static int told;	/* errno of the last attempt to watch the folder */
static struct look seen;	/* when the file was last read */
static struct look last;	/* then, or a second ago */

static int read_links(struct engine *e, const json_t *links,
		      struct vec *words, struct srpol_error *err)
{
	const json_t *o;
	size_t i;
	int ret;

	if (!json_is_array(links))
		return srpol_error_set(err, -EINVAL, "\"links\" is not a list");
	json_array_foreach(links, i, o) {
		struct srpol_error why = {};

		ret = link_read(e->fabric, o, vec_add(words), &why);
		if (ret)
			return srpol_error_set(err, ret, "links[%zu]: %s", i,
					       why.text);
	}
	return 0;
}

static void take(struct engine *e, const struct vec *words)
{
	bool *said = calloc(e->links.n + 1, sizeof(*said));
	const struct link_word *word;
	uint64_t now = now_ns();
	uint32_t i;

	vec_for_each(word, words) {
		linkstate_say(&e->links, word->cable, LINK_FEED,
			      word->capacity, now);
		if (said)
			said[word->cable] = true;
	}
	for (i = 0; said && i < e->links.n; i++)
		if (!said[i] && e->links.cables[i].said & 1u << LINK_FEED)
			linkstate_unsay(&e->links, i, LINK_FEED);
	free(said);
}

/**
 * feed_read() - read the feed, if there is one
 * @e: the engine; unchanged if the feed is wrong
 * @err: message on failure
 *
 * Return: 0 or a negative errno: -EINVAL or -EFBIG if the file will not be read as it is.
 */
int feed_read(struct engine *e, struct srpol_error *err)
{
	const char *file = e->config.weights.feed;
	struct vec words = VEC_INIT(struct link_word);
	struct srpol_error why = {};
	struct stat st;
	json_t *o;
	int ret;

	if (!file[0])
		return 0;
	if (stat(file, &st))
		return errno == ENOENT ? 0 :
		       srpol_error_set(err, -errno, "%s: %s", file,
				       strerror(errno));
	if (st.st_size > SIZE_MAX_BYTES)
		return srpol_error_set(err, -EFBIG, "%s: more than %u bytes",
				       file, SIZE_MAX_BYTES);
	o = words_load(file, err);
	if (!o)
		return -errno;
	ret = read_links(e, json_object_get(o, "links"), &words, &why);
	if (!ret)
		take(e, &words);
	vec_free(&words);
	json_decref(o);
	return ret ? srpol_error_set(err, -EINVAL, "%s: %s", file, why.text) : 0;
}

/* By its ctime, which others cannot set. */
static bool is_fresh(const struct stat *st)
{
	struct timespec now;
	int64_t s, ns;

	clock_gettime(CLOCK_REALTIME, &now);
	s = now.tv_sec - st->st_ctim.tv_sec;
	ns = now.tv_nsec - st->st_ctim.tv_nsec;
	return s >= -1 && s <= 1 && llabs(1000 * (int64_t)NS_PER_MS * s + ns) < (int64_t)FRESH_NS;
}

static struct look see(void)
{
	struct look now = {};

	if (stat(engine->config.weights.feed, &now.st))
		now = (struct look){ .error = errno };
	else
		now.is_fresh = is_fresh(&now.st);
	return now;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_same(const struct look *now, const struct look *then)
{
	const struct stat *a = &now->st, *b = &then->st;

	return now->error == then->error && a->st_dev == b->st_dev &&
	       a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       is_same_time(a->st_mtim, b->st_mtim) &&
	       is_same_time(a->st_ctim, b->st_ctim);
}

static bool is_seen(const struct look *now)
{
	return is_same(now, &seen) && !seen.is_fresh;
}

/*
 * The same file may be read once more, in vain: what is wrong with it is told once. It was
 * not seen if it could not be read, for want of a descriptor, say.
 */
static void read_or_tell(void)
{
	static struct srpol_error said;
	const struct look before = seen;
	struct srpol_error err = {};
	int ret;

	/* before it is read: a change meanwhile is one */
	seen = see();
	last = seen;
	ret = feed_read(engine, &err);
	if (ret && !(is_same(&seen, &before) && !strcmp(err.text, said.text)))
		log_error("%s; what was in force stays", err.text);
	said = err;
	seen.is_fresh |= ret && ret != -EINVAL && ret != -EFBIG;
}

static void unwatch(void)
{
	if (watch.fd < 0)
		return;
	loop_remove(&watch);
	close(watch.fd);
	watch.fd = -1;
}

/* Where in its path the name of the file is. */
static const char *name_in(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* Is a name in its folder that of a link, symbolic or not? */
static bool is_link(const char *name)
{
	const char *file = engine->config.weights.feed;
	char path[sizeof(engine->config.weights.feed) + NAME_MAX + 1];
	struct stat st;

	snprintf(path, sizeof(path), "%.*s%s", (int)(name_in(file) - file), file, name);
	return !lstat(path, &st) &&
	       (S_ISLNK(st.st_mode) || (S_ISREG(st.st_mode) && st.st_nlink > 1));
}

/* Is an event about the file itself? Those that do not say are. */
static bool is_named(const struct inotify_event *event)
{
	return !event->len || !strcmp(event->name, name_in(engine->config.weights.feed));
}

/*
 * Take what has happened; true if the folder is gone. Who makes a file is about to write
 * it, which is the event that counts then; a link has all that it will have.
 */
static bool take_events(int fd, bool *named, bool *others)
{
	_Alignas(struct inotify_event) char buf[4096];
	const struct inotify_event *event;
	bool is_gone = false;
	const char *p;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (p = buf; p < buf + n; p += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)p;
			if (event->mask & (IN_IGNORED | IN_MOVE_SELF))
				is_gone = true;
			if (event->mask & IN_CREATE && !is_link(event->name))
				continue;
			if (is_named(event))
				*named = true;
			else
				*others = true;
		}
	}
	return is_gone;
}

/*
 * Something has changed in its folder: files are replaced by others of the same
 * name. A folder that is gone may be made again, by a service manager for instance,
 * and is another one then. Others may write to that folder all the time; but where
 * the file is a link, that may be what it leads to.
 */
static void changed(struct source *source, uint32_t events)
{
	uint64_t version = engine->links.links->version;
	bool named = false, others = false;
	struct look now;

	if (take_events(source->fd, &named, &others)) {
		unwatch();
		look(NULL);
		return;
	}
	now = see();
	if (named || (others && is_link(name_in(engine->config.weights.feed)) && !is_seen(&now)))
		read_or_tell();
	/* the same may be written again and again */
	if (engine->links.links->version != version)
		balance_soon();
}

static int watch_folder(const char *file)
{
	char folder[sizeof(engine->config.weights.feed)];
	char *slash;
	int ret;

	strcpy(folder, file);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	watch.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch.fd < 0)
		return -errno;
	watch.ready = changed;
	ret = loop_add(&watch, EPOLLIN);
	if (!ret && inotify_add_watch(watch.fd, slash ? folder : ".",
				      IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO |
				      IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF) < 0)
		ret = -errno;
	if (ret)
		unwatch();
	return ret;
}

/* What the folder has by the time when it is watched is read, too. */
static void begin_to_watch(bool is_new)
{
	const char *file = engine->config.weights.feed;
	int ret = watch_folder(file);

	if (ret && ret != told)
		log_error("%s: its folder: %s; what was in force stays until it can be read",
			  file, strerror(-ret));
	told = ret;
	if (!ret || is_new)
		read_or_tell();
}

/*
 * Has the file changed without an event? Not that it is just being written: it is as it was
 * a second ago, and there is something in it.
 */
static bool is_missed(void)
{
	const struct look now = see(), then = last;

	last = now;
	return is_same(&now, &then) && !is_seen(&now) && (now.error || now.st.st_size);
}

/*
 * Its folder may be there again, or another one by now. For a file that was just written when
 * it was read, and is as it was, it is not: that one is read, and its folder watched, as it is.
 */
static void look(void *data)
{
	uint64_t version = engine->links.links->version;
	bool is_new = is_missed();

	alarm_set(&next_look, LOOK_NS);
	if (watch.fd >= 0 && is_new && is_same(&last, &seen)) {
		read_or_tell();
	} else if (watch.fd < 0 || is_new) {
		unwatch();
		begin_to_watch(is_new && !last.error);
	}
	if (engine->links.links->version != version)
		balance_soon();
}

/**
 * feed_start() - read the feed now and whenever it changes
 * @e: the engine
 */
void feed_start(struct engine *e)
{
	engine = e;
	told = 0;
	/* what is wrong with it is told anew, too */
	seen = (struct look){};
	if (!e->config.weights.feed[0])
		return;
	begin_to_watch(false);
	alarm_set(&next_look, LOOK_NS);
}

/**
 * feed_stop() - stop watching the feed
 */
void feed_stop(void)
{
	alarm_stop(&next_look);
	unwatch();
}
