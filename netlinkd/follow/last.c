// SPDX-License-Identifier: GPL-2.0
/*
 * The last plan, saved on disk as the texts that were read from the store, so
 * that it can be verified again when it is loaded. The last link report is
 * saved as well: after a restart, new reports need higher numbers than those
 * that plans have already seen.
 *
 * Nobody waits for the disk (saver.c). A plan is acknowledged once it is there, as the
 * engine then gives away what the plan before it had; until then that one is, also by who
 * goes on after a reload. A report may be sent before. If
 * the machine fails in between, a number may be used again. A plan that has seen the
 * former report is then taken to have seen this one, until the engine has made the next
 * plan of it; paths that lose probes are down all the same.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "follow.h"
#include "log.h"
#include "srpol_lib.h"

static json_t *plan_to_json(const struct follow *f, const struct follow_plan *p)
{
	char *head = srpol_head_write(&p->head);
	json_t *pages = json_object(), *chunks = json_object(), *o;
	char number[16];
	uint32_t i;

	for (i = 0; i < p->n_pages; i++) {
		snprintf(number, sizeof(number), "%u", p->page[i].number);
		json_object_set_new(pages, number, json_string(p->page_text[i]));
	}
	for (i = 0; i < p->n; i++)
		json_object_set_new(chunks, f->fabric->nodes[p->leaf[i]].name,
				    json_string(p->chunk[i]));
	o = json_pack("{s:I, s:s, s:s, s:o, s:o}",
		      "cluster", (json_int_t)p->cluster, "head", head ?: "",
		      "index", p->index_text, "pages", pages, "chunks", chunks);
	free(head);
	return o;
}

/* What was acknowledged when this was put: it may be loaded before it is on the disk. */
static json_t *acked_to_json(const struct follow *f)
{
	char *text = f->acked.epoch ? srpol_head_write(&f->acked) : NULL;
	json_t *o = text ? json_string(text) : NULL;

	free(text);
	return o;
}

static json_t *links_to_json(const struct follow *f)
{
	const struct srpol_link *link;
	const struct follow_link *said;
	json_t *list = json_array();

	vec_for_each(said, &f->links) {
		link = &f->fabric->links[2 * said->cable];
		json_array_append_new(list, json_pack("[s, s, I]",
			f->fabric->nodes[link->from].name,
			f->fabric->nodes[link->to].name,
			(json_int_t)said->capacity));
	}
	return list;
}

static json_t *suspicions_to_json(const struct follow *f)
{
	const struct follow_suspicion *s;
	const struct srpol_link *link;
	json_t *list = json_array(), *o;
	uint32_t i;

	vec_for_each(s, &f->suspicions) {
		o = json_pack("[I]", (json_int_t)s->confidence);
		for (i = 0; i < s->n; i++) {
			link = &f->fabric->links[2 * s->cable[i]];
			json_array_append_new(o, json_pack("[s, s]",
				f->fabric->nodes[link->from].name,
				f->fabric->nodes[link->to].name));
		}
		json_array_append_new(list, o);
	}
	return list;
}

/* SRPOL_NONE if it is not in the topology. */
static uint32_t cable_between(const struct follow *f, const char *from,
			      const char *to)
{
	uint32_t a = srpol_fabric_node(f->fabric, from), link;
	uint32_t b = srpol_fabric_node(f->fabric, to);

	link = a == SRPOL_NONE || b == SRPOL_NONE ? SRPOL_NONE :
	       srpol_fabric_link(f->fabric, a, b);
	return link == SRPOL_NONE ? SRPOL_NONE : link / 2;
}

/* Links that are not in the topology are skipped. */
static void take_links(struct follow *f, const json_t *list)
{
	const char *from, *to;
	struct follow_link *said;
	json_int_t capacity;
	uint32_t cable;
	json_t *o;
	size_t i;

	json_array_foreach(list, i, o) {
		if (json_unpack(o, "[s, s, I]", &from, &to, &capacity) ||
		    capacity < 0)
			continue;
		cable = cable_between(f, from, to);
		if (cable == SRPOL_NONE)
			continue;
		said = vec_add(&f->links);
		said->cable = cable;
		said->capacity = capacity;
	}
}

/* So are suspicions with such a link. */
static bool take_suspicion(struct follow *f, const json_t *o,
			   struct follow_suspicion *s)
{
	const char *from, *to;
	uint32_t i;

	s->confidence = json_integer_value(json_array_get(o, 0));
	s->n = json_array_size(o) - 1;
	if (json_array_size(o) < 2 || s->n > FOLLOW_SUSPECTS ||
	    s->confidence > 100)
		return false;
	for (i = 0; i < s->n; i++) {
		if (json_unpack(json_array_get(o, i + 1), "[s, s]", &from, &to))
			return false;
		s->cable[i] = cable_between(f, from, to);
		if (s->cable[i] == SRPOL_NONE)
			return false;
	}
	return true;
}

static void take_suspicions(struct follow *f, const json_t *list)
{
	json_t *o;
	size_t i;

	json_array_foreach(list, i, o) {
		struct follow_suspicion s = {};

		if (take_suspicion(f, o, &s))
			*(struct follow_suspicion *)vec_add(&f->suspicions) = s;
	}
}

/**
 * last_save() - save the plan in force and the last link report, soon
 * @f: follower
 *
 * Return: number for saver_has(), 0 if nothing will be saved.
 */
uint64_t last_save(struct follow *f)
{
	json_t *o;

	if (!f->saver)
		return 0;
	o = json_pack("{s:I, s:s, s:o, s:o, s:o*, s:o*}", "number",
		      (json_int_t)f->number, "shard", f->config.shard, "links",
		      links_to_json(f), "suspects", suspicions_to_json(f), "acked",
		      acked_to_json(f), "plan",
		      f->now ? plan_to_json(f, f->now) : NULL);
	if (o)
		return saver_put(f->saver, o);
	log_error("%s: no memory to save it", f->config.file);
	return 0;
}

static bool take_pages(struct follow *f, struct follow_plan *p, json_t *pages)
{
	const char *text;
	char number[16];
	uint32_t i;

	for (i = 0; i < f->n_leaves; i++) {
		if (!srpol_index_find(&p->index, p->number[i]) ||
		    fetch_page_of(p, p->number[i]))
			continue;
		snprintf(number, sizeof(number), "%u", p->number[i]);
		text = json_string_value(json_object_get(pages, number));
		if (!text ||
		    !fetch_page(f, p, p->number[i], text, strlen(text)))
			return false;
	}
	return true;
}

static bool take_chunks(struct follow *f, struct follow_plan *p, json_t *chunks)
{
	const struct srpol_page_entry *entry;
	const char *text;
	uint32_t i;

	for (i = 0; i < f->n_leaves; i++) {
		entry = fetch_chunk_of(f, p, i);
		if (!entry)
			continue;
		text = json_string_value(json_object_get(chunks, entry->leaf));
		if (!text || !fetch_chunk(f, p, i, text, strlen(text)))
			return false;
	}
	return true;
}

static bool take_plan(struct follow *f, struct follow_plan *p, json_t *o)
{
	const char *head, *index;
	json_t *pages, *chunks;
	json_int_t cluster;

	if (json_unpack(o, "{s:I, s:s, s:s, s:o, s:o !}", "cluster", &cluster,
			"head", &head, "index", &index, "pages", &pages,
			"chunks", &chunks))
		return false;
	p->cluster = cluster;
	return !srpol_head_read(head, strlen(head), &p->head, NULL) &&
	       fetch_index(f, p, index, strlen(index)) &&
	       take_pages(f, p, pages) && take_chunks(f, p, chunks) &&
	       fetch_check(f, p);
}

/* What was saved last, or is about to be; NULL if there is nothing. */
static json_t *find(const struct follow *f, uint64_t *saving)
{
	json_t *o = saver_pending(f->saver, saving);

	return o || access(f->config.file, F_OK) ? o :
	       json_load_file(f->config.file, JSON_REJECT_DUPLICATES, NULL) ?: json_null();
}

/* @saving: number of @o, 0: it is on the disk */
static void take_acked(struct follow *f, const json_t *o, uint64_t saving)
{
	const char *text = json_string_value(json_object_get(o, "acked"));

	f->saving = f->put = saving;
	f->awaited = f->now->head;
	if (!saving)
		f->acked = f->now->head;
	else if (text && srpol_head_read(text, strlen(text), &f->acked, NULL))
		f->acked = (struct srpol_head){};
}

/**
 * last_load() - load the saved report, and apply the saved plan if it is valid
 * @f: follower
 */
void last_load(struct follow *f)
{
	const char *shard = f->config.shard;
	struct follow_plan *p;
	json_int_t number = 0;
	json_t *o, *plan = NULL;
	uint64_t saving = 0;

	o = f->saver ? find(f, &saving) : NULL;
	if (!o)
		return;
	/* a file of an earlier srpold does not name the shard */
	if (json_unpack(o, "{s:I, s?s, s?o}", "number", &number, "shard", &shard, "plan",
			&plan) || number < 0) {
		log_error("%s is no plan", f->config.file);
		json_decref(o);
		return;
	}
	f->number = number;
	take_links(f, json_object_get(o, "links"));
	take_suspicions(f, json_object_get(o, "suspects"));
	/* each shard counts its epochs by itself */
	if (strcmp(shard, f->config.shard)) {
		log_notice("the plan in %s is of shard %s, and not used", f->config.file, shard);
		plan = NULL;
	}
	p = store_alloc(sizeof(*p));
	if (plan && take_plan(f, p, plan) && !f->apply(f->data, p)) {
		log_notice("epoch %llu is in force, from %s",
			   (unsigned long long)p->head.epoch, f->config.file);
		f->stats.applied++;
		f->now = p;
		take_acked(f, o, saving);
	} else {
		follow_plan_free(p);
	}
	json_decref(o);
}
