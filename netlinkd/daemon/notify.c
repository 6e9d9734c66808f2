// SPDX-License-Identifier: GPL-2.0
/*
 * Notifies the service manager by the protocol of sd_notify(3): a datagram to
 * the socket that NOTIFY_SOCKET names.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"
#include "notify.h"

/**
 * notify() - notify the service manager, if there is one
 * @text: such as "READY=1"
 */
void notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len;
	int fd;

	if (!path || (path[0] != '/' && path[0] != '@') ||
	    strlen(path) >= sizeof(addr.sun_path))
		return;
	len = strlen(path);
	memcpy(addr.sun_path, path, len);
	if (path[0] == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* a missing receiver is no error */
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL,
		   (struct sockaddr *)&addr,
		   offsetof(struct sockaddr_un, sun_path) + len) < 0)
		log_debug("NOTIFY_SOCKET does not listen");
	close(fd);
}
