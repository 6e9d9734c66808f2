// SPDX-License-Identifier: GPL-2.0
/*
 * Comparison of candidate paths: the vectors of RFC 9256 2.9, one rule each,
 * and the properties that selection by any order of visits relies on.
 */
#include "test.h"

#define CFG	SRPOL_PROTOCOL_ORIGIN_CONFIG
#define BGP	SRPOL_PROTOCOL_ORIGIN_BGP
#define PCEP	SRPOL_PROTOCOL_ORIGIN_PCEP

#define NODE(first, last)						\
	{ .s6_addr = { [0] = (first), [15] = (last) } }

struct vector {
	const char *rule;
	struct srpol_cand_id better;
	struct srpol_cand_id worse;
};

static const struct vector vectors[] = {
	{
		"a higher preference beats the origin",
		{ .preference = 200, .protocol_origin = BGP, .valid = true },
		{ .preference = 100, .protocol_origin = CFG, .valid = true },
	}, {
		"preference is not signed",
		{ .preference = UINT32_MAX, .valid = true },
		{ .preference = 0, .valid = true },
	}, {
		"preference is not signed, in the middle",
		{ .preference = 0x80000000, .valid = true },
		{ .preference = 0x7fffffff, .valid = true },
	}, {
		"configuration beats PCEP",
		{ .preference = 100, .protocol_origin = CFG, .valid = true },
		{ .preference = 100, .protocol_origin = PCEP, .valid = true },
	}, {
		"configuration beats BGP",
		{ .preference = 100, .protocol_origin = CFG, .valid = true },
		{ .preference = 100, .protocol_origin = BGP, .valid = true },
	}, {
		"BGP beats PCEP, whatever the originator",
		{ .protocol_origin = BGP, .asn = 9, .valid = true },
		{ .protocol_origin = PCEP, .asn = 1, .valid = true },
	}, {
		"the lower AS number wins, whatever the node",
		{ .asn = 65000, .node = NODE(9, 9), .valid = true },
		{ .asn = 65001, .node = NODE(1, 1), .valid = true },
	}, {
		"AS numbers have 32 bits and no sign",
		{ .asn = 1, .valid = true },
		{ .asn = UINT32_MAX, .valid = true },
	}, {
		"the lower node wins, first byte first",
		{ .asn = 1, .node = NODE(1, 9), .valid = true },
		{ .asn = 1, .node = NODE(2, 1), .valid = true },
	}, {
		"bytes of a node have no sign",
		{ .node = NODE(0x7f, 0), .valid = true },
		{ .node = NODE(0x80, 0), .valid = true },
	}, {
		"the last byte of the node counts",
		{ .node = NODE(1, 1), .valid = true },
		{ .node = NODE(1, 2), .valid = true },
	}, {
		"the lower node beats the discriminator",
		{ .node = NODE(0, 1), .discriminator = 1, .valid = true },
		{ .node = NODE(0, 2), .discriminator = 9, .valid = true },
	}, {
		"the higher discriminator wins",
		{ .discriminator = 9, .valid = true },
		{ .discriminator = 5, .valid = true },
	}, {
		"discriminators have no sign",
		{ .discriminator = UINT32_MAX, .valid = true },
		{ .discriminator = 0, .valid = true },
	}, {
		"an invalid one loses whatever it has",
		{ .preference = 100, .protocol_origin = PCEP, .valid = true },
		{ .preference = 300, .protocol_origin = CFG },
	},
};

static void test_vectors(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		const struct vector *v = &vectors[i];

		if (srpol_cand_cmp(&v->better, &v->worse) <= 0 ||
		    srpol_cand_cmp(&v->worse, &v->better) >= 0 ||
		    srpol_cand_cmp(&v->better, &v->better))
			fail_msg("%s", v->rule);
	}
}

static void test_both_invalid(void **state)
{
	struct srpol_cand_id a = { .preference = 9 }, b = { .preference = 1 };

	(void)state;
	assert_int_equal(srpol_cand_cmp(&a, &b), 0);
}

static struct srpol_cand_id random_id(u64 *seed)
{
	struct srpol_cand_id id = {
		.preference = test_random(seed) % 3,
		.protocol_origin = 10 + test_random(seed) % 3 * 10,
		.asn = test_random(seed) % 3,
		.discriminator = test_random(seed) % 3,
		.valid = test_random(seed) % 4 != 0,
	};

	id.node.s6_addr[test_random(seed) % 16] = test_random(seed) % 3;
	return id;
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* A strict weak order: the outcome does not depend on who is looked at first */
static void test_order(void **state)
{
	u64 seed = 1;
	int i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		struct srpol_cand_id a = random_id(&seed);
		struct srpol_cand_id b = random_id(&seed);
		struct srpol_cand_id c = random_id(&seed);
		int ab = sign(srpol_cand_cmp(&a, &b));
		int bc = sign(srpol_cand_cmp(&b, &c));
		int ac = sign(srpol_cand_cmp(&a, &c));

		assert_int_equal(ab, -sign(srpol_cand_cmp(&b, &a)));
		if (ab == bc)
			assert_int_equal(ac, ab);
		if (!ab)
			assert_int_equal(ac, bc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_both_invalid),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
