// SPDX-License-Identifier: GPL-2.0
/*
 * The CNI plugin without a module: variables and configuration, which color a
 * pod gets, whose addresses are its own, what is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cni.h"
#include "test.h"

#define HEAD	"{\"cniVersion\": \"1.0.0\", \"name\": \"pods\""

static struct cni_config config;
static struct cni_request request;
static struct cni_error err;

static int read_text(const char *text)
{
	int ret;

	cni_config_free(&config);
	memset(&err, 0, sizeof(err));
	ret = cni_config_read(text, strlen(text), &config, &err) ?:
	      cni_config_check(&config, &err);
	assert_int_equal(ret, err.code);
	assert_true(!ret == !err.msg[0]);
	return ret;
}

/* With what every configuration has, and a result. */
static int read_members(const char *members)
{
	char text[2048];

	snprintf(text, sizeof(text), HEAD ", \"prevResult\": {}%s%s}",
		 *members ? ", " : "", members);
	return read_text(text);
}

static int read_request(const char *command, const char *container,
			const char *netns, const char *ifname,
			const char *args)
{
	setenv("CNI_COMMAND", command, 1);
	setenv("CNI_CONTAINERID", container, 1);
	setenv("CNI_NETNS", netns, 1);
	setenv("CNI_IFNAME", ifname, 1);
	setenv("CNI_ARGS", args, 1);
	memset(&err, 0, sizeof(err));
	return cni_request_read(&request, &err);
}

static void test_variables(void **state)
{
	static const char *const bad_containers[] = {
		"", ".x", "-x", "a/b", "a b", "../a"
	};
	static const char *const bad_names[] = {
		"", ".", "..", "a/b", "a:b", "a b", "0123456789abcdef"
	};
	static const char *const bad_args[] = { "x", "=", "a=1;x", "=1" };
	size_t i;

	assert_int_equal(read_request("ADD", "a-B_0.9", "/n", "eth0", ""), 0);
	assert_int_equal(read_request("CHECK", "a", "/n", "eth0", "a=;b=1;"),
			 0);
	assert_int_equal(read_request("DEL", "a", "", "0123456789abcde", ""),
			 0);
	assert_int_equal(read_request("VERSION", "", "", "", ""), 0);
	assert_int_equal(read_request("", "a", "/n", "eth0", ""),
			 CNI_ENVIRONMENT);
	assert_string_equal(err.msg, "CNI_COMMAND is missing");
	assert_int_equal(read_request("add", "a", "/n", "eth0", ""),
			 CNI_ENVIRONMENT);
	assert_string_equal(err.details, "add");
	assert_int_equal(read_request("CHECK", "a", "", "eth0", ""),
			 CNI_ENVIRONMENT);
	for (i = 0; i < ARRAY_SIZE(bad_containers); i++)
		assert_int_equal(read_request("DEL", bad_containers[i], "",
					      "eth0", ""), CNI_ENVIRONMENT);
	for (i = 0; i < ARRAY_SIZE(bad_names); i++)
		assert_int_equal(read_request("DEL", "a", "", bad_names[i],
					      ""), CNI_ENVIRONMENT);
	for (i = 0; i < ARRAY_SIZE(bad_args); i++)
		assert_int_equal(read_request("DEL", "a", "", "eth0",
					      bad_args[i]), CNI_ENVIRONMENT);
}

static void test_args(void **state)
{
	char value[4];

	read_request("DEL", "a", "", "eth0", "XY=1;Y=22;Z=;LONG=12345;Y=3");
	assert_true(cni_request_arg(&request, "Y", value, sizeof(value)));
	assert_string_equal(value, "22");
	assert_true(cni_request_arg(&request, "Z", value, sizeof(value)));
	assert_string_equal(value, "");
	assert_true(cni_request_arg(&request, "LONG", value, sizeof(value)));
	assert_string_equal(value, "123");
	assert_false(cni_request_arg(&request, "X", value, sizeof(value)));
}

static void test_names(void **state)
{
	static const char *const other[][3] = {
		{ "n", "c", "eth1" }, { "n", "d", "eth0" },
		{ "m", "c", "eth0" }, { "nc", "eth0", "x" },
		{ "n", "ceth0", "x" },
	};
	char name[SRPOL_NAME_MAX + 1], second[SRPOL_NAME_MAX + 1];
	struct rule_info rule = {};
	size_t i;

	read_request("DEL", "c", "", "eth0", "");
	cni_request_name(&request, "n", name);
	cni_request_name(&request, "n", second);
	assert_string_equal(name, second);
	strcpy(rule.name, name);
	assert_true(rule_is_pods(&rule));
	for (i = 0; i < ARRAY_SIZE(other); i++) {
		read_request("DEL", other[i][1], "", other[i][2], "");
		cni_request_name(&request, other[i][0], second);
		assert_string_not_equal(name, second);
	}
	/* an operator's */
	rule.name[SRPOL_NAME_MAX - 2] = '\0';
	assert_false(rule_is_pods(&rule));
	strcpy(rule.name, "cni-0123456789abcdef0123456789g");
	assert_false(rule_is_pods(&rule));
	strcpy(rule.name, "cni-eth0");
	assert_false(rule_is_pods(&rule));
}

static void test_config(void **state)
{
	static const char *const wrong[] = {
		"\"color\": 0", "\"color\": \"1\"", "\"color\": 4294967296",
		"\"color\": 1.0", "\"colors\": 1", "\"colors\": [0]",
		"\"colors\": [\"1\"]", "\"bridge\": 1", "\"prio\": 1",
		"\"prio\": []", "\"prio\": [1]", "\"prio\": [2, 1]",
		"\"prio\": [1, 2, 3]", "\"prio\": [-1, 2]",
		"\"namespaces\": 1", "\"namespaces\": {\"a\": 1}",
		"\"namespaces\": {\"a\": {\"color\": 0}}",
		"\"namespaces\": {\"a\": {\"colour\": 1}}",
	};
	size_t i;

	assert_int_equal(read_members(""), 0);
	assert_int_equal(config.prio[0], 20000);
	assert_int_equal(config.prio[1], 29999);
	assert_false(config.bridge);
	assert_int_equal(read_members("\"prio\": [0, 4294967295], "
				      "\"bridge\": true, \"type\": \"srpol\", "
				      "\"capabilities\": {}, \"color\": 1"),
			 0);
	assert_int_equal(config.prio[1], UINT32_MAX);
	assert_true(config.bridge);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		if (read_members(wrong[i]) != CNI_CONFIG)
			fail_msg("%s: %d %s", wrong[i], err.code, err.msg);
	assert_int_equal(read_members("\"colour\": 1"), CNI_FIELD);
	assert_non_null(strstr(err.details, "colour"));
	assert_int_equal(read_members("\"color\": 1, \"color\": 2"),
			 CNI_DECODE);
	assert_int_equal(read_text(""), CNI_DECODE);
	assert_int_equal(read_text("[]"), CNI_DECODE);
	assert_int_equal(read_text("{}"), CNI_VERSION);
	assert_int_equal(read_text("{\"cniVersion\": \"0.2.0\"}"),
			 CNI_VERSION);
	assert_string_equal(err.details, "0.2.0");
	assert_int_equal(read_text("{\"cniVersion\": 1}"), CNI_VERSION);
	assert_int_equal(read_text("{\"cniVersion\": \"0.4.0\"}"),
			 CNI_CONFIG);
	assert_string_equal(config.version, "0.4.0");
	assert_int_equal(read_text(HEAD "}"), CNI_CONFIG);
	assert_non_null(strstr(err.msg, "prevResult"));
}

/* @color: 0: none, -1: refused */
static void check_color(const char *members, const char *args,
			long long color)
{
	uint32_t chosen = 0;
	int ret;

	assert_int_equal(read_request("DEL", "a", "", "eth0", args), 0);
	assert_int_equal(read_members(members), 0);
	ret = cni_color_choose(&config, &request, &chosen, &err);
	if (ret != (color < 0 ? CNI_COLOR : 0) ||
	    (color >= 0 && chosen != color))
		fail_msg("%s, %s: %d %s, color %u", members, args, ret,
			 err.msg, chosen);
}

#define POD_ASKS(color)	"\"runtimeConfig\": " \
	"{\"io.kubernetes.cri.pod-annotations\": {\"srpol/color\": " color "}}, "

static void test_colors(void **state)
{
	const char *tenants = "\"color\": 1, \"colors\": [2, 3], "
		"\"namespaces\": {\"a\": {\"color\": 4, \"colors\": [5]}, "
		"\"b\": {\"colors\": [1]}}";
	char members[1024];

	check_color("", "", 0);
	check_color("\"color\": 7", "", 7);
	check_color("\"colors\": [7]", "", 0);
	check_color("\"colors\": [7]", "SRPOL_COLOR=7", 7);
	check_color("", "SRPOL_COLOR=7", -1);
	check_color(tenants, "", 1);
	check_color(tenants, "SRPOL_COLOR=3", 3);
	check_color(tenants, "SRPOL_COLOR=1", 1);
	check_color(tenants, "SRPOL_COLOR=4", -1);
	check_color(tenants, "K8S_POD_NAMESPACE=a", 4);
	check_color(tenants, "K8S_POD_NAMESPACE=a;SRPOL_COLOR=5", 5);
	check_color(tenants, "K8S_POD_NAMESPACE=a;SRPOL_COLOR=1", -1);
	check_color(tenants, "K8S_POD_NAMESPACE=b", 0);
	check_color(tenants, "K8S_POD_NAMESPACE=b;SRPOL_COLOR=2", -1);
	check_color(tenants, "K8S_POD_NAMESPACE=c", 1);
	check_color(tenants, "SRPOL_COLOR=", -1);
	check_color(tenants, "SRPOL_COLOR=+1", -1);
	check_color(tenants, "SRPOL_COLOR=0x1", -1);
	check_color(tenants, "SRPOL_COLOR=4294967297", -1);
	check_color(tenants, "SRPOL_COLOR=18446744073709551617", -1);
	snprintf(members, sizeof(members), POD_ASKS("\"2\"") "%s", tenants);
	check_color(members, "", 2);
	check_color(members, "SRPOL_COLOR=2", 2);
	check_color(members, "SRPOL_COLOR=3", -1);
	check_color(members, "K8S_POD_NAMESPACE=a", -1);
	snprintf(members, sizeof(members), POD_ASKS("null") "%s", tenants);
	check_color(members, "", -1);
	snprintf(members, sizeof(members),
		 "\"args\": {\"cni\": {\"color\": 3}}, %s", tenants);
	check_color(members, "", 3);
	snprintf(members, sizeof(members),
		 "\"args\": {\"cni\": {\"color\": -3}}, %s", tenants);
	check_color(members, "", -1);
}

static int read_addrs(const char *interfaces, const char *ips,
		      struct cni_addrs *addrs)
{
	char text[2048];

	snprintf(text, sizeof(text), HEAD ", \"prevResult\": "
		 "{\"interfaces\": [%s], \"ips\": [%s]}}", interfaces, ips);
	assert_int_equal(read_text(text), 0);
	return cni_result_addrs(&config, "eth0", addrs, &err);
}

static void test_addrs(void **state)
{
	const char *both = "{\"name\": \"eth0\"}, "
		"{\"name\": \"eth0\", \"sandbox\": \"/n\"}, "
		"{\"name\": \"eth1\", \"sandbox\": \"/n\"}";
	char buf[SRPOL_ADDR_STRLEN], many[1024] = "";
	struct cni_addrs addrs;
	int i;

	assert_int_equal(read_addrs(both,
		"{\"address\": \"10.0.0.1/24\", \"interface\": 0}, "
		"{\"address\": \"10.0.0.2/24\", \"interface\": 1}, "
		"{\"address\": \"10.0.0.3/24\", \"interface\": 2}, "
		"{\"address\": \"10.0.0.4/24\", \"interface\": 3}, "
		"{\"address\": \"10.0.0.5/24\", \"interface\": -1}, "
		"{\"address\": \"fd00::6/64\", \"interface\": 1, \"version\": \"6\"}, "
		"{\"address\": \"10.0.0.7\"}", &addrs), 0);
	assert_int_equal(addrs.n, 3);
	assert_string_equal(srpol_addr_text(&addrs.addr[0], buf), "10.0.0.2");
	assert_string_equal(srpol_addr_text(&addrs.addr[1], buf), "fd00::6");
	assert_string_equal(srpol_addr_text(&addrs.addr[2], buf), "10.0.0.7");
	assert_int_equal(read_addrs(both, "", &addrs), CNI_CONFIG);
	assert_int_equal(read_addrs("", "{\"address\": \"10.0.0.1/24\", "
				    "\"interface\": 0}", &addrs), CNI_CONFIG);
	assert_int_equal(read_addrs("", "{\"address\": \"/24\"}", &addrs),
			 CNI_CONFIG);
	assert_int_equal(read_addrs("", "{\"address\": 1}", &addrs),
			 CNI_CONFIG);
	for (i = 0; i <= CNI_ADDRS_MAX; i++)
		sprintf(many + strlen(many), "%s{\"address\": \"10.0.0.%d\"}",
			i ? ", " : "", i);
	assert_int_equal(read_addrs("", many, &addrs), CNI_CONFIG);
}

/* What a function prints, compact and in order of members. */
static void check_printed(FILE *f, char **text, const char *expected)
{
	json_t *o;
	char *s;

	fclose(f);
	o = json_loads(*text, 0, NULL);
	assert_non_null(o);
	s = json_dumps(o, JSON_COMPACT);
	assert_string_equal(s, expected);
	free(s);
	json_decref(o);
	free(*text);
}

static void test_printed(void **state)
{
	size_t len;
	char *text;
	FILE *f;

	read_text(HEAD ", \"prevResult\": {\"z\": 1, \"a\": [1.5]}}");
	f = open_memstream(&text, &len);
	assert_int_equal(cni_result_print(&config, f, &err), 0);
	check_printed(f, &text,
		      "{\"z\":1,\"a\":[1.5],\"cniVersion\":\"1.0.0\"}");

	cni_fail(&err, CNI_COLOR, "why", "what %d", 7);
	f = open_memstream(&text, &len);
	cni_error_print(&err, "0.4.0", f);
	check_printed(f, &text, "{\"cniVersion\":\"0.4.0\",\"code\":100,"
		      "\"msg\":\"what 7\",\"details\":\"why\"}");

	cni_fail(&err, CNI_ENVIRONMENT, "\xff", "not \xc3 text");
	f = open_memstream(&text, &len);
	cni_error_print(&err, "1.0.0", f);
	check_printed(f, &text, "{\"cniVersion\":\"1.0.0\",\"code\":4,"
		      "\"msg\":\"not text in UTF-8\"}");

	f = open_memstream(&text, &len);
	cni_versions_print("nothing", 7, f);
	check_printed(f, &text, "{\"cniVersion\":\"1.0.0\","
		      "\"supportedVersions\":[\"0.3.0\",\"0.3.1\",\"0.4.0\","
		      "\"1.0.0\"]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_args),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_colors),
		cmocka_unit_test(test_addrs),
		cmocka_unit_test(test_printed),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	cni_config_free(&config);
	return failed;
}
