// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "loop.h"
#include "signals.h"

static void (*on_hup)(void);

static void take_signal(struct source *source, uint32_t what)
{
	struct signalfd_siginfo info;

	if (read(source->fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP && on_hup)
		on_hup();
	else
		loop_stop();
}

/**
 * signals_watch() - make SIGHUP, SIGINT and SIGTERM end the loop cleanly
 * @hup: handler of SIGHUP, NULL: it ends the loop as well
 *
 * SIGPIPE is ignored: the process goes on when the reader of its output exits.
 *
 * Return: 0 or a negative errno.
 */
int signals_watch(void (*hup)(void))
{
	static struct source signals = { .ready = take_signal };
	sigset_t set;

	on_hup = hup;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals.fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return signals.fd < 0 ? -errno : loop_add(&signals, EPOLLIN);
}
