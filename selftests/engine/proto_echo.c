// SPDX-License-Identifier: GPL-2.0
/*
 * proto_echo: messages of Documentation/interface/srpol.proto by libprotobuf-c: for
 * each line of standard input, NAME and a message in hexadecimal digits, the same
 * message as unpacked and packed again, or "none".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srpol.pb-c.h"

#define ONE(name, field)	{ name, &srpol__v1__##field##__descriptor }

static const struct {
	const char *name;
	const ProtobufCMessageDescriptor *of;
} messages[] = {
	ONE("DemandRequest", demand_request),
	ONE("DemandResponse", demand_response),
	ONE("WatchRequest", watch_request),
	ONE("WatchResponse", watch_response), ONE("WatchEvent", watch_event),
	ONE("Forecasts", forecasts), ONE("JobRequest", job_request),
	ONE("JobResponse", job_response), ONE("Job", job),
	ONE("Topology", topology), ONE("Ack", ack), ONE("Load", load),
	ONE("Report", report), ONE("Head", head), ONE("Index", index),
	ONE("IndexLine", index_line), ONE("Page", page),
	ONE("Chunk", chunk), ONE("Pair", pair), ONE("Flows", flows),
};

static const ProtobufCMessageDescriptor *find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(messages) / sizeof(*messages); i++)
		if (!strcmp(messages[i].name, name))
			return messages[i].of;
	return NULL;
}

static void echo(const ProtobufCMessageDescriptor *of, const uint8_t *in,
		 size_t len)
{
	ProtobufCMessage *m = of ? protobuf_c_message_unpack(of, NULL, len, in) :
			      NULL;
	uint8_t *out;
	size_t n, i;

	if (!m) {
		puts("none");
		return;
	}
	n = protobuf_c_message_get_packed_size(m);
	out = malloc(n + 1);
	if (!out || protobuf_c_message_pack(m, out) != n)
		abort();
	for (i = 0; i < n; i++)
		printf("%02x", out[i]);
	putchar('\n');
	free(out);
	protobuf_c_message_free_unpacked(m, NULL);
}

int main(void)
{
	char *line = NULL, *hex;
	unsigned int byte;
	uint8_t *in;
	size_t room = 0, n;

	while (getline(&line, &room, stdin) > 0) {
		hex = strchr(line, ' ');
		if (!hex)
			return 1;
		*hex++ = '\0';
		in = malloc(strlen(hex) / 2 + 1);
		for (n = 0; in && sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
			in[n] = byte;
		echo(find(line), in, n);
		free(in);
		fflush(stdout);
	}
	free(line);
	return 0;
}
