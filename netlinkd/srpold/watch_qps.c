// SPDX-License-Identifier: GPL-2.0
/*
 * QPs of a job that are placed on paths one by one (job_place.c), and which of
 * them moved. Users are told of QPs of their own processes only: a job is not
 * theirs because a demand of theirs names it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "watchers.h"

/**
 * struct watched_qp - a placed QP as it was when its topic last changed
 * @dst: inner destination, v4-mapped for IPv4
 * @qp: destination QP number
 * @ifindex: network device, 0: not known
 * @path: id of its path
 * @from: id of the path that it had before, 0: none
 * @version: of the topic, in which it moved
 * @because: why it moved
 */
struct watched_qp {
	struct in6_addr dst;
	uint32_t qp;
	uint32_t ifindex;
	uint32_t path;
	uint32_t from;
	uint64_t version;
	uint32_t because;
};

/**
 * struct watched_qps - content of a topic of QPs
 * @shown: slots of watchers that were told of a QP, last time
 * @n: number of @qp
 * @qp: those that have a path
 */
struct watched_qps {
	uint32_t shown;
	uint32_t n;
	struct watched_qp qp[JOB_PLACED];
};

static const struct watched_qp *find(const struct watched_qps *was,
				     const struct placed_qp *qp)
{
	uint32_t i;

	for (i = 0; i < was->n; i++)
		if (was->qp[i].qp == qp->qp &&
		    !memcmp(&was->qp[i].dst, &qp->dst, sizeof(qp->dst)))
			return &was->qp[i];
	return NULL;
}

/* Why QPs of a job leave a path: see place.c. */
static uint32_t why_leave(struct engine *engine, const struct job *job,
			  uint32_t id)
{
	struct vec own = VEC_INIT(const struct engine_policy *);
	const struct engine_policy *const *policy;
	const struct engine_path *path;
	uint32_t because = BECAUSE_OPERATOR, i;

	job_policies(engine, job, &own);
	vec_for_each(policy, &own) {
		for (i = 0; i < (*policy)->n; i++) {
			path = engine_path(engine, (*policy)->first + i);
			if (path->id != id)
				continue;
			because = !path->up || path->stopped ?
				  BECAUSE_FAILURE :
				  (*policy)->planned ?
				  ((*policy)->planned[i] ? BECAUSE_LOAD :
				   BECAUSE_PLAN) :
				  (*policy)->weight[i] ? BECAUSE_LOAD :
				  BECAUSE_BALANCE;
		}
	}
	vec_free(&own);
	return because;
}

/**
 * watch_qps_look() - compare the placed QPs of a job with what they were
 * @engine: the engine
 * @topics: topics
 * @topic: the topic, whose number is the color of the job
 */
void watch_qps_look(struct engine *engine, struct topics *topics,
		    struct topic *topic)
{
	const struct job *job = watch_job(topic->key.number);
	struct watched_qps *was = topic->content, *now;
	const struct watched_qp *before;
	const struct placed_qp *qp;
	uint32_t because = 0;
	bool differs = false;
	struct watched_qp *to;

	now = job ? calloc(1, sizeof(*now)) : NULL;
	if (!now)
		return;
	now->shown = was ? was->shown : 0;
	vec_for_each(qp, job_place_qps(job)) {
		if (!qp->path || now->n == JOB_PLACED)
			continue;
		to = &now->qp[now->n++];
		before = was ? find(was, qp) : NULL;
		if (before)
			*to = *before;
		to->dst = qp->dst;
		to->qp = qp->qp;
		to->ifindex = qp->ifindex;
		differs |= !before;
		if (before && before->path != qp->path) {
			to->from = before->path;
			to->version = topic->version + 1;
			to->because = why_leave(engine, job, before->path);
			because |= to->because;
			differs = true;
		}
		to->path = qp->path;
	}
	differs |= was && was->n != now->n;
	topic->content = now;
	free(was);
	if (was && differs)
		topic_changed(topics, topic, because);
}

static bool is_users(uint32_t pid, uint32_t uid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return !stat(path, &st) && st.st_uid == uid;
}

/*
 * Does the kernel name a process of the user's for it, and none of somebody else's?
 * It does not say to which host a QP sends. QPs of other hosts may have the same
 * number, and everybody can make a QP that is to send to any number.
 */
static bool may_see(const struct watched_qp *qp, const struct watcher *watcher)
{
	const struct srpol_rdma_qp *known;
	bool is_own = false;

	if (watcher->all)
		return true;
	vec_for_each(known, job_qps()) {
		if (known->remote != qp->qp ||
		    (qp->ifindex && known->ifindex != qp->ifindex))
			continue;
		is_own = known->pid && is_users(known->pid, watcher->uid);
		if (!is_own)
			return false;
	}
	return is_own;
}

static json_t *qp_json(const struct watched_qp *qp)
{
	char buf[SRPOL_ADDR_STRLEN];

	return json_pack("{s:I, s:s}", "qp", (json_int_t)qp->qp,
			 "dst", srpol_addr_text(&qp->dst, buf));
}

/**
 * watch_qps_json() - QPs of a job, and those that moved
 * @engine: the engine
 * @topic: the topic
 * @slot: of the watcher
 * @watcher: the watcher
 *
 * Return: NULL if there is none that a user may see, and was none either.
 */
json_t *watch_qps_json(struct engine *engine, const struct topic *topic,
		       uint32_t slot, const struct watcher *watcher)
{
	const struct job *job = watch_job(topic->key.number);
	struct watched_qps *qps = topic->content;
	bool was_shown = topic->told[slot] && qps &&
			 qps->shown & 1u << slot;
	json_t *list = json_array(), *moved = json_array(), *o;
	const struct watched_qp *qp;
	uint32_t i;

	for (i = 0; qps && i < qps->n; i++) {
		qp = &qps->qp[i];
		if (!may_see(qp, watcher))
			continue;
		o = qp_json(qp);
		json_object_set_new(o, "path", json_integer(qp->path));
		json_array_append_new(list, o);
		if (!topic->told[slot] || qp->version <= topic->told[slot])
			continue;
		o = qp_json(qp);
		json_object_set_new(o, "from", json_integer(qp->from));
		json_object_set_new(o, "path", json_integer(qp->path));
		json_object_set_new(o, "because", watch_reasons(qp->because));
		json_array_append_new(moved, o);
	}
	if (qps)
		qps->shown = (qps->shown & ~(1u << slot)) |
			     (uint32_t)!!json_array_size(list) << slot;
	if (!watcher->all && !was_shown && !json_array_size(list)) {
		json_decref(list);
		json_decref(moved);
		return NULL;
	}
	return json_pack("{s:s, s:I, s:o, s:o}", "job", job ? job->name : "",
			 "color", (json_int_t)topic->key.number,
			 "qps", list, "moved", moved);
}
