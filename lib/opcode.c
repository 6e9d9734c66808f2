// SPDX-License-Identifier: LGPL-2.1
/*
 * Words for BTH opcodes.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"

/* BTH operations (IBTA A9): low five bits, which transports have them. */
#define RC	(1u << 0)
#define UC	(1u << 1)
#define RD	(1u << 2)
#define UD	(1u << 3)
#define XRC	(1u << 5)

static const struct {
	uint8_t op;
	uint8_t transports;
	const char *name;
} operations[] = {
	{ 0x00, RC | UC | RD | XRC, "send-first" },
	{ 0x01, RC | UC | RD | XRC, "send-middle" },
	{ 0x02, RC | UC | RD | XRC, "send-last" },
	{ 0x03, RC | UC | RD | XRC, "send-last-imm" },
	{ 0x04, RC | UC | RD | UD | XRC, "send-only" },
	{ 0x05, RC | UC | RD | UD | XRC, "send-only-imm" },
	{ 0x06, RC | UC | RD | XRC, "write-first" },
	{ 0x07, RC | UC | RD | XRC, "write-middle" },
	{ 0x08, RC | UC | RD | XRC, "write-last" },
	{ 0x09, RC | UC | RD | XRC, "write-last-imm" },
	{ 0x0a, RC | UC | RD | XRC, "write-only" },
	{ 0x0b, RC | UC | RD | XRC, "write-only-imm" },
	{ 0x0c, RC | RD | XRC, "read-request" },
	{ 0x0d, RC | RD | XRC, "read-response-first" },
	{ 0x0e, RC | RD | XRC, "read-response-middle" },
	{ 0x0f, RC | RD | XRC, "read-response-last" },
	{ 0x10, RC | RD | XRC, "read-response-only" },
	{ 0x11, RC | RD | XRC, "ack" },
	{ 0x12, RC | RD | XRC, "atomic-ack" },
	{ 0x13, RC | RD | XRC, "compare-swap" },
	{ 0x14, RC | RD | XRC, "fetch-add" },
	{ 0x16, RC | XRC, "send-last-inv" },
	{ 0x17, RC | XRC, "send-only-inv" },
	{ 0x1c, RC, "flush" },
	{ 0x1d, RC, "atomic-write" },
};

#define CNP_OPCODE	0x81

/*
 * Groups of operations; a group's name is a prefix of the names of its
 * operations.
 */
static const struct {
	const char *group;
	const char *prefix;
} groups[] = {
	{ "send", "send-" },
	{ "write", "write-" },
	{ "read-response", "read-response-" },
};

static const char *operation_name(uint8_t opcode)
{
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (operations[i].op == (opcode & 0x1f) &&
		    operations[i].transports & 1u << (opcode >> 5))
			return operations[i].name;
	return NULL;
}

/**
 * srpol_opcode_name() - operation of a BTH opcode
 * @opcode: the opcode
 *
 * Return: its name without the transport, NULL if it has none.
 */
const char *srpol_opcode_name(uint8_t opcode)
{
	return opcode == CNP_OPCODE ? "cnp" : operation_name(opcode);
}

static void add_operations(const char *name, bool prefix, uint64_t *set,
			   bool *found)
{
	unsigned int opcode;
	const char *op;

	for (opcode = 0; opcode < SRPOL_OPCODES; opcode++) {
		op = srpol_opcode_name(opcode);
		if (!op || (prefix ? strncmp(op, name, strlen(name)) :
				     strcmp(op, name)))
			continue;
		set[opcode / 64] |= 1ull << opcode % 64;
		*found = true;
	}
}

/* Add all opcodes that have no name of their own. */
static bool add_others(uint64_t *set)
{
	unsigned int opcode;

	for (opcode = 0; opcode < SRPOL_OPCODES; opcode++)
		if (!srpol_opcode_name(opcode))
			set[opcode / 64] |= 1ull << opcode % 64;
	return true;
}

/**
 * srpol_opcodes_of() - opcodes that a word stands for, on any transport
 * @name: operation, group of operations ("send", "write", "read-response"),
 *	"atomic", "other", or a number
 * @set: 256 bits to which they are added
 */
bool srpol_opcodes_of(const char *name, uint64_t *set)
{
	bool found = false;
	unsigned long n;
	char *end;
	size_t i;

	if (isdigit((unsigned char)*name)) {
		n = strtoul(name, &end, 0);
		if (*end || n >= SRPOL_OPCODES)
			return false;
		set[n / 64] |= 1ull << n % 64;
		return true;
	}
	if (!strcmp(name, "atomic")) {
		add_operations("compare-swap", false, set, &found);
		add_operations("fetch-add", false, set, &found);
		add_operations("atomic-write", false, set, &found);
		return found;
	}
	if (!strcmp(name, "other"))
		return add_others(set);
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(name, groups[i].group))
			add_operations(groups[i].prefix, true, set, &found);
	add_operations(name, false, set, &found);
	return found;
}
