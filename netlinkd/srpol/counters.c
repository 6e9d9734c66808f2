// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of objects: packets, bytes, errors by reason.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpol.h"

/**
 * need_maps() - check that the maps may be read
 *
 * It is no error if there is no data plane: nothing was counted then.
 *
 * Return: EXIT_OK, or EXIT_REFUSED after an error message.
 */
int need_maps(void)
{
	struct srpol_error error = {};
	struct srpol_dp_status st;
	int err = srpol_dp_status(&st, &error) ?:
		  srpol_dp_check_layout(&error);

	return err ? refused(err, &error) : EXIT_OK;
}

/**
 * need_data_plane() - check that there is a data plane and its maps may be read
 *
 * Return: EXIT_OK, or EXIT_REFUSED after an error message.
 */
int need_data_plane(void)
{
	struct srpol_error error = {};
	struct srpol_dp_status st;
	int err;

	err = srpol_dp_status(&st, &error);
	if (!err && !st.loaded)
		err = srpol_error_set(&error, -ENOENT,
				      "no data plane is attached in this network namespace, \"srpol dev add\" does that");
	err = err ?: srpol_dp_check_layout(&error);
	return err ? refused(err, &error) : EXIT_OK;
}

/**
 * struct error_info - an entry of map "errors"
 */
struct error_info {
	struct srpol_error_key key;
	uint64_t count;
};

/* A listing reads the same maps for each object. */
static struct {
	char name[32];	/* of the map that @fd is, empty: none */
	int fd;
} counters;
static struct vec errors = VEC_INIT(struct error_info);
static bool errors_are_read;

/**
 * counters_forget() - read what follows anew
 *
 * To be called before each command, and before what changed later is printed.
 */
void counters_forget(void)
{
	if (counters.name[0])
		srpol_map_close(counters.fd);
	counters.name[0] = '\0';
	vec_free(&errors);
	errors_are_read = false;
}

/**
 * print_counter() - print packets and bytes of an object
 * @map: name of the map
 * @id: index of the object
 *
 * To be called inside an object "stats".
 */
void print_counter(const char *map, uint32_t id)
{
	struct srpol_counter c = {};

	if (strcmp(map, counters.name)) {
		if (counters.name[0])
			srpol_map_close(counters.fd);
		snprintf(counters.name, sizeof(counters.name), "%s", map);
		counters.fd = srpol_map_open(map);
	}
	srpol_map_sum(counters.fd, id, &c, sizeof(c));
	out_count("packets", "\n\tpackets %s", c.packets);
	out_count("bytes", " bytes %s", c.bytes);
}

/* Entries of struct error_info begin with their key. */
static int by_key(const void *a, const void *b)
{
	const struct srpol_error_key *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->reason > y->reason) - (x->reason < y->reason);
}

/* All entries, read once and sorted, as a listing asks for every object. */
static const struct vec *fetch_errors(void)
{
	struct srpol_error_key key = {};
	struct error_info *error;
	bool first = true;
	uint64_t count;
	int fd, n;

	if (errors_are_read)
		return &errors;
	errors_are_read = true;
	fd = srpol_map_open("errors");
	for (n = 0; fd >= 0 && n < SRPOL_MAX_ERRORS; n++, first = false) {
		if (srpol_error_next(fd, &key, first, &count))
			break;
		error = vec_add(&errors);
		error->key = key;
		error->count = count;
	}
	srpol_map_close(fd);
	if (errors.n)
		qsort(errors.data, errors.n, sizeof(*error), by_key);
	return &errors;
}

/* The first entry that is not before @key, the end if there is none. */
static const struct error_info *errors_from(const struct srpol_error_key *key,
					    const struct error_info **end)
{
	const struct vec *found = fetch_errors();
	const struct error_info *all = found->data;
	size_t from = 0, to = found->n, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (by_key(&all[mid].key, key) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	*end = all + found->n;
	return all + from;
}

/**
 * print_errors() - print the errors of an object by reason
 * @kind: SRPOL_ERROR_*
 * @id: number of the object
 */
void print_errors(uint16_t kind, uint32_t id)
{
	const struct srpol_error_key key = { .kind = kind, .id = id };
	const struct error_info *error, *end;
	const char *name;

	out_object("errors");
	for (error = errors_from(&key, &end);
	     error != end && error->key.kind == kind && error->key.id == id;
	     error++) {
		if (error->key.reason >= SRPOL_REASON_COUNT)
			continue;
		name = srpol_reason_name(error->key.reason);
		out_text(" %s", name);
		out_uint(name, " %llu", error->count);
	}
	out_object_end();
}

/**
 * find_error() - read how often a reason was counted for an object
 * @kind: SRPOL_ERROR_*
 * @id: number of the object
 * @reason: enum srpol_reason
 */
uint64_t find_error(uint16_t kind, uint32_t id, uint16_t reason)
{
	const struct srpol_error_key key = {
		.kind = kind, .reason = reason, .id = id,
	};
	const struct error_info *error, *end;

	error = errors_from(&key, &end);
	return error != end && !by_key(&error->key, &key) ? error->count : 0;
}
