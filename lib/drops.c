// SPDX-License-Identifier: LGPL-2.1
/*
 * The ring buffer in which the data plane reports dropped packets. Each record
 * goes to one reader only.
 */
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "srpol_lib.h"

/**
 * struct srpol_drops - a reader of the ring buffer
 * @ring: libbpf's reader
 * @map: the ring buffer
 * @cb: for each record
 * @data: for @cb
 */
struct srpol_drops {
	struct ring_buffer *ring;
	int map;
	srpol_drop_cb cb;
	void *data;
};

static int on_record(void *ctx, void *record, size_t size)
{
	struct srpol_drops *drops = ctx;

	return size < sizeof(struct srpol_drop_event) ? 0 :
	       drops->cb(record, drops->data);
}

/**
 * srpol_drops_open() - begin to read
 * @cb: for each dropped packet
 * @data: for @cb
 *
 * Return: the reader, NULL if there is no data plane.
 */
struct srpol_drops *srpol_drops_open(srpol_drop_cb cb, void *data)
{
	struct srpol_drops *drops = calloc(1, sizeof(*drops));

	if (!drops)
		return NULL;
	drops->cb = cb;
	drops->data = data;
	drops->map = srpol_map_open("drops");
	if (drops->map >= 0)
		drops->ring = ring_buffer__new(drops->map, on_record, drops,
					       NULL);
	if (drops->ring)
		return drops;
	srpol_drops_close(drops);
	return NULL;
}

/**
 * srpol_drops_fd() - file descriptor to poll
 * @drops: the reader
 */
int srpol_drops_fd(const struct srpol_drops *drops)
{
	return ring_buffer__epoll_fd(drops->ring);
}

/**
 * srpol_drops_read() - call the callback for each record that is there
 * @drops: the reader
 *
 * Return: number of records, or the negative errno of the callback.
 */
int srpol_drops_read(struct srpol_drops *drops)
{
	return ring_buffer__consume(drops->ring);
}

/**
 * srpol_drops_close() - stop reading
 * @drops: the reader
 */
void srpol_drops_close(struct srpol_drops *drops)
{
	if (drops->ring)
		ring_buffer__free(drops->ring);
	srpol_map_close(drops->map);
	free(drops);
}
