// SPDX-License-Identifier: GPL-2.0
/*
 * srpol as a chained CNI plugin: makes the devices of pods ports, and gives a
 * color to what they send.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cni.h"

#define INPUT_MAX	(4 << 20)

/* Reads standard input up to its end. */
static int read_input(char **text, size_t *len, struct cni_error *err)
{
	size_t size = 0;
	ssize_t n = 1;

	*len = 0;
	while (n > 0 && *len < INPUT_MAX) {
		if (*len == size) {
			size = size ? 2 * size : 16384;
			*text = realloc(*text, size);
			if (!*text)
				return cni_fail(err, CNI_IO, NULL,
						"out of memory");
		}
		n = read(STDIN_FILENO, *text + *len, size - *len);
		*len += n > 0 ? n : 0;
	}
	if (n)
		return cni_fail(err, CNI_IO, NULL,
				"the configuration cannot be read");
	return 0;
}

static int run_add(struct cni_config *config,
		   const struct cni_request *request, struct cni_error *err)
{
	struct cni_error ignored;
	int ret;

	ret = cni_config_check(config, err) ?:
	      cni_pod_add(config, request, err);
	if (ret)
		return ret;
	ret = cni_result_print(config, stdout, err);
	if (ret)
		cni_pod_del(config, request, &ignored);
	return ret;
}

static int run_check(struct cni_config *config,
		     const struct cni_request *request, struct cni_error *err)
{
	return cni_config_check(config, err) ?:
	       cni_pod_check(config, request, err);
}

static int run_del(struct cni_config *config,
		   const struct cni_request *request, struct cni_error *err)
{
	return cni_pod_del(config, request, err);
}

static int run(const struct cni_request *request, const char *text,
	       size_t len, struct cni_config *config, struct cni_error *err)
{
	static const struct {
		const char *name;
		int (*run)(struct cni_config *config,
			   const struct cni_request *request,
			   struct cni_error *err);
	} commands[] = {
		{ "ADD", run_add },
		{ "DEL", run_del },
		{ "CHECK", run_check },
	};
	int ret = cni_config_read(text, len, config, err);
	size_t i;

	for (i = 0; i < 3 && !ret; i++)
		if (!strcmp(request->command, commands[i].name))
			ret = commands[i].run(config, request, err);
	return ret;
}

int main(void)
{
	struct cni_config config = { .version = "1.0.0" };
	struct cni_request request;
	struct cni_error err = {};
	char *text = NULL;
	size_t len;
	int ret;

	/* if nobody reads the result, ADD has to be undone */
	signal(SIGPIPE, SIG_IGN);
	ret = cni_request_read(&request, &err) ?:
	      read_input(&text, &len, &err);
	if (!ret && !strcmp(request.command, "VERSION"))
		cni_versions_print(text, len, stdout);
	else if (!ret)
		ret = run(&request, text, len, &config, &err);
	if (ret)
		cni_error_print(&err, config.version, stdout);
	cni_config_free(&config);
	free(text);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
