// SPDX-License-Identifier: GPL-2.0
/*
 * A reservation as stored. The record contains everything that an engine needs:
 * what is to be sent, on which paths, and which earlier weights hosts may still
 * use. So a new leader can continue where the previous one stopped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"
#include "words.h"

/* JSON: { LEAF: text of its chunk } */
static json_t *weights_json(const struct srpol_plan *plan)
{
	json_t *o = json_object();
	const char *leaf;
	char *text;
	uint32_t i;

	for (i = 0; i < plan->n; i++) {
		if (i && plan->from[i] == plan->from[i - 1])
			continue;
		leaf = fabricd.fabric->nodes[plan->from[i]].name;
		text = srpol_chunk_write(fabricd.fabric, plan, plan->from[i]);
		json_object_set_new(o, leaf, json_string(text ?: ""));
		free(text);
	}
	return o;
}

static int by_leaf(const void *a, const void *b)
{
	const struct srpol_chunk *x = a, *y = b;

	return (x->leaf > y->leaf) - (x->leaf < y->leaf);
}

static int read_weights(const json_t *o, struct srpol_plan **out,
			struct srpol_error *err)
{
	struct srpol_chunk *chunks = store_alloc((json_object_size(o) + 1) *
						 sizeof(*chunks));
	uint32_t n = 0;
	const char *leaf;
	const json_t *v;
	int ret = 0;

	json_object_foreach((json_t *)o, leaf, v) {
		chunks[n].leaf = srpol_fabric_node(fabricd.fabric, leaf);
		chunks[n].text = json_string_value(v);
		chunks[n].len = json_string_length(v);
		if (chunks[n].leaf == SRPOL_NONE || !chunks[n].text)
			ret = srpol_error_set(err, -EINVAL, "no leaf \"%s\"",
					      leaf);
		n++;
	}
	qsort(chunks, n, sizeof(*chunks), by_leaf);
	ret = ret ?: srpol_chunks_read(fabricd.fabric, chunks, n, out, err);
	free(chunks);
	return ret;
}

/**
 * record_write() - write a reservation as text
 * @r: reservation
 *
 * Return: text, to be freed; NULL without memory.
 */
char *record_write(const struct reservation *r)
{
	json_t *o;
	char *text;

	o = json_pack("{s:I, s:I, s:I, s:I, s:b, s:b, s:s}",
		      "color", (json_int_t)r->color,
		      "guaranteed", (json_int_t)r->guaranteed,
		      "max", (json_int_t)r->max,
		      "until", (json_int_t)r->until,
		      "settled", r->settled, "ends", r->ends,
		      "job", r->job_text);
	/* engines that do not know these words can read all other records */
	if (r->wanted != r->guaranteed)
		json_object_set_new(o, "wanted", json_integer(r->wanted));
	if (r->least != r->wanted)
		json_object_set_new(o, "least", json_integer(r->least));
	if (r->priority != PRIORITY_DEFAULT)
		json_object_set_new(o, "priority", json_integer(r->priority));
	if (r->deadline)
		json_object_set_new(o, "deadline", json_integer(r->deadline));
	if (r->guaranteed_before)
		json_object_set_new(o, "guaranteed_before",
				    json_integer(r->guaranteed_before));
	if (r->waits)
		json_object_set_new(o, "waits", json_true());
	if (r->lost[0])
		json_object_set_new(o, "lost", json_string(r->lost));
	if (r->weights)
		json_object_set_new(o, "weights", weights_json(r->weights));
	if (r->before)
		json_object_set_new(o, "before", weights_json(r->before));
	text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(o);
	return text;
}

/* What reservations have that are elastic, or not of the default priority. */
static int read_elastic(const json_t *o, struct reservation *r,
			struct srpol_error *err)
{
	json_int_t wanted, least, priority, deadline, before;
	int ret;

	ret = words_number(o, "wanted", r->guaranteed, SRPOL_RATE_MAX,
			   r->guaranteed, &wanted, err) ?:
	      words_number(o, "least", 1, r->guaranteed, wanted, &least, err) ?:
	      words_number(o, "priority", 0, PRIORITY_MAX, PRIORITY_DEFAULT,
			   &priority, err) ?:
	      words_number(o, "deadline", 0, INT64_MAX, 0, &deadline, err) ?:
	      words_number(o, "guaranteed_before", 0, SRPOL_RATE_MAX, 0,
			   &before, err) ?:
	      words_bool(o, "waits", &r->waits, err);
	if (ret)
		return ret;
	if (least > (json_int_t)r->guaranteed)
		return srpol_error_set(err, -EINVAL,
				       "\"guaranteed\" is below \"least\"");
	r->wanted = wanted;
	r->least = least;
	r->priority = priority;
	r->deadline = deadline;
	r->guaranteed_before = before;
	if (r->waits && (r->settled || r->ends || !json_object_get(o, "weights") ||
			 json_object_get(o, "before")))
		return srpol_error_set(err, -EINVAL,
				       "\"waits\" is of weights that hosts were not told");
	return 0;
}

/*
 * What the weights are of is no more, also for hosts: a leaf has another number of
 * spines, or is gone, or a host of the job is. So it is lost, and like any that is,
 * placed anew when there is room, but for one whose hosts are not there. If it were left
 * out, so would be its bandwidth, and nobody could delete it or reserve anything for a
 * job of its name. The leader writes that it is lost: with weights its record would count
 * again, before what was admitted meanwhile, if they were of the topology once more.
 */
static void lose(struct reservation *r, const char *why)
{
	r->unwritten = true;
	srpol_plan_free(r->weights);
	srpol_plan_free(r->before);
	r->weights = r->before = NULL;
	r->guaranteed_before = 0;
	r->settled = false;
	r->waits = false;
	strcpy(r->lost, why);
}

static int read_all(const json_t *o, struct reservation *r,
		    struct srpol_error *err)
{
	static const char * const keys[] = {
		"color", "guaranteed", "max", "until", "settled", "ends", "job",
		"lost", "weights", "before", "wanted", "least", "priority",
		"deadline", "guaranteed_before", "waits", NULL
	};
	const json_t *weights = json_object_get(o, "weights");
	const json_t *before = json_object_get(o, "before");
	const char *job = json_string_value(json_object_get(o, "job"));
	json_int_t color, guaranteed, max, until;
	int ret;

	ret = words_check(o, keys, "", err) ?:
	      words_number(o, "color", 1, UINT32_MAX, 0, &color, err) ?:
	      words_number(o, "guaranteed", 1, SRPOL_RATE_MAX, 0, &guaranteed,
			   err) ?:
	      words_number(o, "max", 0, SRPOL_RATE_MAX, 0, &max, err) ?:
	      words_number(o, "until", 0, INT64_MAX, 0, &until, err) ?:
	      words_bool(o, "settled", &r->settled, err) ?:
	      words_bool(o, "ends", &r->ends, err) ?:
	      words_text(o, "lost", "", r->lost, sizeof(r->lost), err);
	if (!ret && (!color || !guaranteed || !job))
		ret = srpol_error_set(err, -EINVAL,
				      "color, bandwidth or job is missing");
	if (ret)
		return ret;
	r->color = color;
	r->guaranteed = guaranteed;
	ret = read_elastic(o, r, err);
	if (ret)
		return ret;
	r->max = max;
	r->until = until;
	r->job_text = strdup(job) ?: (abort(), NULL);
	ret = srpol_demands_read(fabricd.fabric, job, strlen(job), &r->demands,
				 err);
	if (ret == -ENOENT && (weights || before || !r->lost[0]))
		lose(r, "its hosts, or the function that it passes, are not of this topology");
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	ret = (weights ? read_weights(weights, &r->weights, err) : 0) ?:
	      (before ? read_weights(before, &r->before, err) : 0);
	if (ret != -EINVAL)
		return ret;
	lose(r, "its paths are not of this topology");
	return 0;
}

/**
 * record_read() - read a reservation
 * @text: text of the reservation
 * @len: length of @text in bytes
 * @r: result, to be freed; its names and revisions are not set
 * @err: message on failure, and if it is lost, as its weights or hosts are of another
 *	topology
 *
 * Return: 0 or a negative errno.
 */
int record_read(const char *text, size_t len, struct reservation *r,
		struct srpol_error *err)
{
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	int ret;

	*r = (struct reservation){};
	ret = json_is_object(o) ? read_all(o, r, err) :
	      srpol_error_set(err, -EINVAL, "not a JSON object");
	json_decref(o);
	if (ret)
		record_free(r);
	return ret;
}

/**
 * record_free() - free the contents of a reservation
 * @r: the reservation
 */
void record_free(struct reservation *r)
{
	free(r->job_text);
	srpol_demands_free(&r->demands);
	srpol_plan_free(r->weights);
	srpol_plan_free(r->before);
	r->job_text = NULL;
	r->weights = r->before = NULL;
}

/**
 * record_is_moving() - whether some hosts may still use other weights
 * @r: the reservation
 */
bool record_is_moving(const struct reservation *r)
{
	return r->before || (r->weights && !r->settled);
}

/**
 * record_told() - weights that hosts may use
 * @r: the reservation
 *
 * Return: those of before if some hosts may still use them; NULL: none.
 */
struct srpol_plan *record_told(const struct reservation *r)
{
	return r->before ?: r->waits ? NULL : r->weights;
}

/**
 * record_changed() - a reservation with other weights or another rate, as it is
 *	until hosts have acknowledged them
 * @r: the reservation
 * @rate: bit/s that it has then
 * @weights: weights that it has then, NULL: none
 *
 * Return: a copy that refers to the contents of @r.
 */
struct reservation record_changed(const struct reservation *r, uint64_t rate,
				  struct srpol_plan *weights)
{
	struct reservation now = *r;

	now.before = record_told(r);
	now.guaranteed_before = !now.before ? 0 :
		r->guaranteed_before ?: r->guaranteed;
	now.guaranteed = rate;
	now.weights = weights;
	now.settled = false;
	now.waits = false;
	return now;
}

/**
 * record_state() - state of a reservation
 * @r: the reservation
 *
 * Return: "waiting" (for others that were lowered for it), "admitted" (not yet
 * acknowledged by all hosts), "reserved", "moving", "ending" or "lost".
 */
const char *record_state(const struct reservation *r)
{
	if (r->ends)
		return "ending";
	if (!r->weights)
		return "lost";
	if (r->waits)
		return "waiting";
	if (r->before)
		return "moving";
	return r->settled ? "reserved" : "admitted";
}
