// SPDX-License-Identifier: GPL-2.0
/*
 * A list that mirrors keys with a prefix: elements that a full read does not
 * contain are removed.
 */
#include <string.h>

#include "tenants.h"

static bool *stale(const struct sweep *s, size_t i)
{
	return (bool *)((char *)s->list->data + i * s->list->size + s->stale);
}

/**
 * sweep_begin() - a full read begins
 * @data: struct sweep
 * @cluster: not used
 */
void sweep_begin(void *data, uint64_t cluster)
{
	struct sweep *s = data;
	size_t i;

	for (i = 0; i < s->list->n; i++)
		*stale(s, i) = true;
}

/**
 * sweep_remove() - remove an element
 * @s: sweep
 * @element: element of its list
 */
void sweep_remove(const struct sweep *s, void *element)
{
	char *end = (char *)s->list->data + --s->list->n * s->list->size;

	s->free(element);
	memmove(element, (char *)element + s->list->size,
		end - (char *)element);
}

/**
 * sweep_gone() - remove elements that the read did not contain
 * @s: sweep, whose prefix has been read
 *
 * Return: number of removed elements.
 */
size_t sweep_gone(struct sweep *s)
{
	size_t n = 0, i;

	for (i = s->list->n; i--;)
		if (*stale(s, i)) {
			sweep_remove(s, (char *)s->list->data +
				     i * s->list->size);
			n++;
		}
	s->is_read = true;
	return n;
}

/**
 * sweep_end() - a full read ended: if something changed, plan and decide again
 * @data: struct sweep
 */
void sweep_end(void *data)
{
	struct sweep *s = data;

	fabricd.stats.events += sweep_gone(s);
	if (s->heard && s->events == fabricd.stats.events)
		return;
	s->heard = true;
	s->events = fabricd.stats.events;
	inputs_changed();
	job_request_kick();
}
