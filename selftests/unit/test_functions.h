/* SPDX-License-Identifier: GPL-2.0 */
/* The fabric of the tests of functions of switches. */
#ifndef _SRPOL_TEST_FUNCTIONS_H
#define _SRPOL_TEST_FUNCTIONS_H

#include "plan.h"
#include "srpol_lib.h"
#include "test.h"

/*
 * a, b at leaf1, c, d at leaf2. spine2 and spine3 add up, 4:1, spine3 takes in
 * 5 Gbit/s only; spine1 sends copies to two; leaf1 has something nobody knows.
 */
static const char good[] =
"{\n"							/* line 1 */
" \"srpol-topology\": 1,\n"
" \"usid\": {\"block\": \"fcbb:bb00::/32\"},\n"
" \"switches\": [\n"
"  {\"name\": \"leaf1\", \"role\": \"leaf\", \"locator\": \"fc00:0:11::/48\", \"usid\": \"fcbb:bb00:11::\",\n" /* 5 */
"   \"functions\": [{\"name\": \"box\", \"kind\": \"opaque\", \"function\": \"::b0\"}]},\n"
"  {\"name\": \"leaf2\", \"role\": \"leaf\", \"locator\": \"fc00:0:12::/48\", \"usid\": \"fcbb:bb00:12::\"},\n"
"  {\"name\": \"spine1\", \"role\": \"spine\", \"locator\": \"fc00:0:21::/48\", \"usid\": \"fcbb:bb00:21::\",\n"
"   \"functions\": [{\"name\": \"copy\", \"kind\": \"multicast\", \"function\": \"::c1\", \"ratio\": 0.5}]},\n"
"  {\"name\": \"spine2\", \"role\": \"spine\", \"locator\": \"fc00:0:22::/48\", \"usid\": \"fcbb:bb00:22::\",\n" /* 10 */
"   \"functions\": [\n"
"    {\"name\": \"sum\", \"kind\": \"aggregate\", \"function\": \"::a1\", \"usid\": \"fcbb:bb00:a2::\", \"ratio\": 0.25}]},\n"
"  {\"name\": \"spine3\", \"role\": \"spine\", \"locator\": \"fc00:0:23::/48\", \"usid\": \"fcbb:bb00:23::\",\n"
"   \"functions\": [\n"
"    {\"name\": \"sum\", \"kind\": \"aggregate\", \"function\": \"::a1\", \"usid\": \"fcbb:bb00:a3::\", \"ratio\": 0.25, \"rate\": \"5G\"},\n" /* 15 */
"    {\"name\": \"zip\", \"kind\": \"compress\", \"function\": \"::a2\"}]},\n"
"  {\"name\": \"spine4\", \"role\": \"spine\", \"locator\": \"fc00:0:24::/48\", \"usid\": \"fcbb:bb00:24::\"}\n"
" ],\n"
" \"hosts\": [\n"
"  {\"name\": \"a\", \"locator\": \"fc00:0:a::/48\", \"usid\": \"fcbb:bb00:a::\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf1\", \"rate\": \"80G\"}]},\n"
"  {\"name\": \"b\", \"locator\": \"fc00:0:b::/48\", \"usid\": \"fcbb:bb00:b::\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf1\", \"rate\": \"80G\"}]},\n"
"  {\"name\": \"c\", \"locator\": \"fc00:0:c::/48\", \"usid\": \"fcbb:bb00:c::\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf2\", \"rate\": \"80G\"}]},\n"
"  {\"name\": \"d\", \"locator\": \"fc00:0:d::/48\", \"usid\": \"fcbb:bb00:d::\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf2\", \"rate\": \"80G\"}]}\n"
" ],\n"
" \"links\": [\n"
"  {\"from\": \"leaf1\", \"to\": \"spine1\", \"rate\": \"80G\"}, {\"from\": \"leaf2\", \"to\": \"spine1\", \"rate\": \"80G\"},\n"
"  {\"from\": \"leaf1\", \"to\": \"spine2\", \"rate\": \"80G\"}, {\"from\": \"leaf2\", \"to\": \"spine2\", \"rate\": \"8G\"},\n"
"  {\"from\": \"leaf1\", \"to\": \"spine3\", \"rate\": \"80G\"}, {\"from\": \"leaf2\", \"to\": \"spine3\", \"rate\": \"80G\"},\n"
"  {\"from\": \"leaf1\", \"to\": \"spine4\", \"rate\": \"80G\"}, {\"from\": \"leaf2\", \"to\": \"spine4\", \"rate\": \"80G\"}\n"
" ]\n"
"}\n";

#define A	0
#define B	1
#define C	2
#define D	3
#define GB	UINT64_C(1000000000)

static struct srpol_fabric *f;
static struct srpol_links *links;
static struct srpol_error err;

static int up(void **state)
{
	(void)state;
	f = srpol_topology_parse(good, sizeof(good) - 1, &err);
	if (!f)
		print_error("%s\n", err.text);
	links = f ? srpol_links_new(f) : NULL;
	return links ? 0 : -1;
}

static int down(void **state)
{
	(void)state;
	srpol_links_free(links);
	srpol_fabric_free(f);
	return 0;
}

#endif /* _SRPOL_TEST_FUNCTIONS_H */
