/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nameless network namespaces of this process; they and all that is in them
 * end with it.
 */
#ifndef _SRPOL_BENCH_NET_H
#define _SRPOL_BENCH_NET_H

/* Make a namespace and go there. Return: descriptor. */
int net_new(void);

/* Go there. */
void net_enter(int ns);

/* Write a setting below /proc/sys/net of this namespace. */
void net_sysctl(const char *name, const char *value);

/* Run a line of ip -batch in this namespace. */
__attribute__((format(printf, 1, 2)))
void net_ip(const char *fmt, ...);

/*
 * A pair of devices, up, MTU 9000, the first here and the second in @peer_ns,
 * with these interface indexes, named after them.
 */
void net_veth(unsigned int index, unsigned int peer_index, int peer_ns);

/* Let a device take in frames by its NAPI context, as with an XDP program. */
void net_napi(unsigned int index);

#endif /* _SRPOL_BENCH_NET_H */
