// SPDX-License-Identifier: GPL-2.0
/* Tenants as operators defined them: keys cfg/tenant/NAME. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"
#include "words.h"

#define PREFIX		"cfg/tenant/"
#define POLL_NS		(60 * NS_PER_SEC)
#define COLOR_MIN	2		/* 1 is for demands without a tenant */

/* What all tenants may take of an epoch's index; the rest is for its pages. */
#define INDEX_BYTES	(STORE_VALUE_MAX / 4 * 3)
#define LIMIT_BYTES	32		/* [COLOR,RATE], */
#define BACKUP_BYTES	64		/* {"backup":C,"color":C,"paths":[]}, */
#define SWITCH_BYTES	11		/* NODE, */

static struct mirror mirror;
static struct vec tenants = VEC_INIT(struct tenant);

/* What cannot be read, where nothing was said before: name and revision only. */
static struct vec unread = VEC_INIT(struct tenant);

static void free_one(void *data)
{
	tenant_free(data);
}

static struct sweep sweep = {
	.list = &tenants, .stale = offsetof(struct tenant, stale),
	.free = free_one,
};

static struct sweep sweep_unread = {
	.list = &unread, .stale = offsetof(struct tenant, stale),
	.free = free_one,
};

/**
 * tenants_ready() - whether all tenants were read at least once
 */
bool tenants_ready(void)
{
	return sweep.is_read;
}

/**
 * tenants_heard() - revision of the store up to which all changes were heard of
 */
uint64_t tenants_heard(void)
{
	return mirror.revision;
}

/**
 * key_tenant() - key of a tenant
 * @buf: result
 * @name: name of the tenant
 */
const char *key_tenant(char *buf, const char *name)
{
	snprintf(buf, STORE_KEY_LEN, PREFIX "%s", name);
	return buf;
}

/**
 * tenant_free() - free the contents of a tenant
 * @tenant: the tenant
 */
void tenant_free(struct tenant *tenant)
{
	json_decref(tenant->paths);
	free(tenant->allowed);
	tenant->paths = NULL;
	tenant->allowed = NULL;
}

static bool names(const json_t *paths, uint32_t node)
{
	const json_t *v;
	size_t i;

	json_array_foreach(paths, i, v)
		if (!strcmp(json_string_value(v),
			    fabricd.fabric->nodes[node].name))
			return true;
	return false;
}

/*
 * Set the switches that paths may use. Those of a stored tenant that the topology
 * does not have any more are left out, as long as there are others: with the tenant
 * its limit and its backup would go.
 */
static int read_switches(const json_t *paths, bool is_stored,
			 struct tenant *tenant, struct srpol_error *err)
{
	const struct srpol_fabric *f = fabricd.fabric;
	const char *unknown = NULL;
	uint32_t node;
	json_t *v;
	size_t i;

	if (!json_is_array(paths) || !json_array_size(paths))
		return srpol_error_set(err, -EINVAL,
				       "\"paths\" is not a list of switches");
	tenant->paths = json_array();
	json_array_foreach(paths, i, v) {
		node = json_is_string(v) ?
		       srpol_fabric_node(f, json_string_value(v)) : SRPOL_NONE;
		if (node != SRPOL_NONE &&
		    f->nodes[node].tier >= SRPOL_TIER_SPINE) {
			json_array_append(tenant->paths, v);
			continue;
		}
		unknown = unknown ?: json_string_value(v) ?: "";
		if (node != SRPOL_NONE || !json_is_string(v))
			is_stored = false;
	}
	if (!unknown)
		return 0;
	if (!is_stored || !json_array_size(tenant->paths))
		return srpol_error_set(err, -ENOENT,
				       "\"paths\": no spine or super-spine \"%s\"",
				       unknown);
	log_notice("tenant \"%s\": \"paths\": no spine or super-spine \"%s\"; others that are there stay",
		   tenant->name, unknown);
	return 0;
}

/*
 * The list contains spines, super-spines, or both: if it contains switches of a
 * tier, no others of that tier may be used.
 */
static int read_paths(const json_t *list, bool is_stored, struct tenant *tenant,
		      struct srpol_error *err)
{
	int ret = read_switches(list, is_stored, tenant, err);
	const struct srpol_fabric *f = fabricd.fabric;
	const json_t *paths = tenant->paths, *v;
	bool limited[SRPOL_TIERS] = {};
	const struct srpol_node *from, *to;
	uint32_t l;
	size_t i;

	if (ret)
		return ret;
	json_array_foreach(paths, i, v)
		limited[f->nodes[srpol_fabric_node(f, json_string_value(v))]
			.tier] = true;
	tenant->allowed = calloc(f->n_links + 1UL, sizeof(bool));
	if (!tenant->allowed)
		return -ENOMEM;
	for (l = 0; l < f->n_links; l++) {
		from = &f->nodes[f->links[l].from];
		to = &f->nodes[f->links[l].to];
		tenant->allowed[l] =
			(!limited[from->tier] ||
			 names(paths, f->links[l].from)) &&
			(!limited[to->tier] || names(paths, f->links[l].to));
	}
	return 0;
}

/**
 * tenant_read() - read a tenant's value
 * @name: name of the tenant
 * @text: the value, JSON
 * @len: length of @text in bytes
 * @is_stored: it is in the store: some of its switches may be no more
 * @tenant: result, to be freed with tenant_free(); @mod is not set
 * @err: message on failure
 */
int tenant_read(const char *name, const char *text, size_t len, bool is_stored,
		struct tenant *tenant, struct srpol_error *err)
{
	static const char * const keys[] = {
		"color", "paths", "guaranteed", "max", "priority", "backup",
		NULL
	};
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	json_int_t color = 0, guaranteed = 0, max = 0, priority = 0, backup = 0;
	json_t *paths = json_object_get(o, "paths");
	int ret;

	*tenant = (struct tenant){};
	ret = !*name || strlen(name) >= sizeof(tenant->name) ||
	      strchr(name, '/') || !json_is_object(o) ?
	      srpol_error_set(err, -EINVAL, "no tenant's name and object") :
	      words_check(o, keys, "", err) ?:
	      words_number(o, "color", COLOR_MIN, UINT32_MAX, 0, &color, err) ?:
	      words_number(o, "guaranteed", 0, SRPOL_RATE_MAX, 0, &guaranteed,
			   err) ?:
	      words_number(o, "max", 1, SRPOL_RATE_MAX, 0, &max, err) ?:
	      words_number(o, "priority", 0, PRIORITY_MAX, PRIORITY_DEFAULT,
			   &priority, err) ?:
	      words_number(o, "backup", 1, UINT32_MAX, 0, &backup, err);
	if (!ret && !color)
		ret = srpol_error_set(err, -EINVAL,
				      "\"color\" is missing: a number from %u",
				      COLOR_MIN);
	if (!ret && max && guaranteed > max)
		ret = srpol_error_set(err, -EINVAL,
				      "\"guaranteed\" is more than \"max\"");
	if (!ret && backup == color)
		ret = srpol_error_set(err, -EINVAL,
				      "\"backup\" is the tenant's own color");
	if (!ret)
		strcpy(tenant->name, name);
	if (!ret && paths)
		ret = read_paths(paths, is_stored, tenant, err);
	json_decref(o);
	if (ret) {
		tenant_free(tenant);
		return ret;
	}
	tenant->color = color;
	tenant->guaranteed = guaranteed;
	tenant->max = max;
	tenant->priority = priority;
	tenant->backup = backup;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tenant *)a)->name,
		      ((const struct tenant *)b)->name);
}

/* Asked for each job and reservation, of as many tenants. */
static struct tenant *find(const struct vec *list, const char *name)
{
	struct tenant want;

	if (!list->n || strlen(name) >= sizeof(want.name))
		return NULL;
	strcpy(want.name, name);
	return bsearch(&want, list->data, list->n, sizeof(want), by_name);
}

/**
 * tenant_find() - find a tenant
 * @name: name of the tenant
 *
 * Return: valid until control returns to the event loop; NULL: no such tenant.
 */
const struct tenant *tenant_find(const char *name)
{
	return find(&tenants, name);
}

/**
 * tenant_revision() - revision of a tenant's key, for whoever replaces it
 * @name: name of the tenant
 *
 * Return: 0 if there is no such key; that of a key that cannot be read, too.
 */
uint64_t tenant_revision(const char *name)
{
	const struct tenant *t = find(&tenants, name) ?: find(&unread, name);

	return t ? t->mod : 0;
}

/**
 * tenants_all() - all struct tenant
 */
const struct vec *tenants_all(void)
{
	return &tenants;
}

/* Bytes that a tenant takes of an index at most. */
static size_t index_bytes(const struct tenant *t)
{
	size_t switches = json_array_size(t->paths);

	if (!t->backup)
		return LIMIT_BYTES;
	if (switches > fabricd.fabric->n_nodes)
		switches = fabricd.fabric->n_nodes;
	return LIMIT_BYTES + BACKUP_BYTES + switches * SWITCH_BYTES;
}

/**
 * tenants_have_room() - whether hosts can still be told of all tenants
 * @new: one that is added, or takes the place of that of its name
 */
bool tenants_have_room(const struct tenant *new)
{
	size_t bytes = index_bytes(new);
	const struct tenant *t;

	vec_for_each(t, &tenants)
		if (strcmp(t->name, new->name))
			bytes += index_bytes(t);
	return bytes <= INDEX_BYTES;
}

static int by_color(const void *a, const void *b)
{
	const struct tenant *x = *(const struct tenant **)a;
	const struct tenant *y = *(const struct tenant **)b;

	return (x->color > y->color) - (x->color < y->color) ?:
	       strcmp(x->name, y->name);
}

/**
 * tenants_by_color() - one tenant of each color, in the order of colors
 * @n: result: number of tenants
 *
 * Several may have a color, by keys that somebody writes himself, or by engines
 * that are asked at the same moment. The first by name has it then: hosts refuse
 * an index that says two things of a color.
 *
 * Return: array of pointers, to be freed; they are valid until control returns to
 * the event loop.
 */
const struct tenant **tenants_by_color(size_t *n)
{
	const struct tenant **list, *t;
	size_t i, all = 0;

	list = store_alloc((tenants.n + 1) * sizeof(*list));
	vec_for_each(t, &tenants)
		list[all++] = t;
	qsort(list, all, sizeof(*list), by_color);
	for (i = 0, *n = 0; i < all; i++)
		if (!*n || list[*n - 1]->color != list[i]->color)
			list[(*n)++] = list[i];
	return list;
}

/* So that it can be replaced or deleted. */
static void note_unread(const char *name, uint64_t mod)
{
	struct tenant new = { .mod = mod };
	struct tenant *t = find(&unread, name);

	if (strlen(name) >= sizeof(new.name))
		return;
	strcpy(new.name, name);
	if (t)
		*t = new;
	else
		vec_insert(&unread, &new, by_name);
}

static void begin(void *data, uint64_t cluster)
{
	sweep_begin(&sweep, cluster);
	sweep_begin(&sweep_unread, cluster);
}

static void end(void *data)
{
	sweep_gone(&sweep_unread);
	sweep_end(&sweep);
}

static void set(void *data, const struct store_kv *kv)
{
	const char *name = kv->key + strlen(PREFIX);
	struct tenant *t = find(&tenants, name), *bad = find(&unread, name), new;
	struct srpol_error err = {};

	if (t)
		t->stale = false;
	if (t && t->mod == kv->mod)
		return;
	/* if it still cannot be read, that is noted below */
	if (bad)
		sweep_remove(&sweep_unread, bad);
	if (!kv->value) {
		fabricd.stats.events++;
		if (t)
			sweep_remove(&sweep, t);
		return;
	}
	if (tenant_read(name, kv->value, kv->len, true, &new, &err)) {
		/* so that the invalid value can be replaced */
		if (t)
			t->mod = kv->mod;
		else
			note_unread(name, kv->mod);
		if (!mirror_is_news(&mirror, kv))
			return;
		fabricd.stats.events++;
		fabricd.stats.refused++;
		log_notice("%s: %s; what was said before stays", kv->key,
			   err.text);
		return;
	}
	fabricd.stats.events++;
	new.mod = kv->mod;
	if (t) {
		tenant_free(t);
		*t = new;
	} else {
		vec_insert(&tenants, &new, by_name);
	}
}

/**
 * tenants_start() - start following tenants
 */
void tenants_start(void)
{
	mirror = (struct mirror){
		.store = &fabricd.store, .key = PREFIX, .prefix = true,
		.poll_ns = POLL_NS, .begin = begin, .set = set, .end = end,
	};
	mirror_start(&mirror);
}

/**
 * tenants_stop() - stop following tenants
 */
void tenants_stop(void)
{
	struct tenant *t;

	mirror_stop(&mirror);
	vec_for_each(t, &tenants)
		tenant_free(t);
	vec_free(&tenants);
	vec_free(&unread);
}
