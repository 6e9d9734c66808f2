# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Soft-RoCE on the fabric's hosts, to be sourced: devices rxeA on RDMA_DEV_A,
# rxeB on RDMA_DEV_B, by default hA and hB. In the guest only, with
# FABRIC_HOSTS=init.

# GIDs of A and B, as sysfs writes them
rdma_a=fd00:000a:0000:0000:0000:0000:0000:0001
rdma_b=fd00:000b:0000:0000:0000:0000:0000:0001

rdma_up() {
	modprobe rdma_rxe && modprobe rdma_ucm || return
	printf 'link add rxe%s type rxe netdev %s\n' A "${RDMA_DEV_A:-hA}" \
		B "${RDMA_DEV_B:-hB}" | rdma -b -
}

rdma_down() {
	printf 'link del rxe%s\n' A B | rdma -b - 2>/dev/null || :
}

# rdma_gid DEVICE ADDRESS: index of the GID that is this address; addresses as
# sysfs writes them, fd00:000a:0000:... or 0000:...:ffff:0a00:0a01
rdma_gid() {
	local file

	for file in "/sys/class/infiniband/$1/ports/1/gids/"*; do
		if [ "$(<"$file")" = "$2" ]; then
			echo "${file##*/}"
			return
		fi
	done 2>/dev/null
	return 1
}

# rdma_listens PORT: a server of perftest accepts its client
rdma_listens() {
	ss -Hltn "sport = :$1" | grep -q .
}

# rdma_bw LOG TOOL PORT FAMILY ARG...: run TOOL (ib_write_bw, ib_send_bw, ...)
# from A to B with these arguments over IPv6 (6) or IPv4 (4) and wait for it;
# the parameters are exchanged over TCP on lo. Output of both sides: LOG.client,
# LOG.server. Nothing of it outlives RDMA_TIMEOUT seconds (default 120), times
# SRPOL_SLOWER. -N: perftest finds the peak of the rate by comparing all pairs of
# messages, which takes longer than the transfer if there are many of them.
rdma_bw() {
	local log=$1 tool=$2 port=$3 family=$4 server client rc=0
	local a=$rdma_a b=$rdma_b
	local limit=$((${RDMA_TIMEOUT:-120} * ${SRPOL_SLOWER:-1}))
	shift 4

	if [ "$family" = 4 ]; then
		a=0000:0000:0000:0000:0000:ffff:0a00:0a01
		b=0000:0000:0000:0000:0000:ffff:0a00:1401
	fi
	a=$(rdma_gid rxeA $a) && b=$(rdma_gid rxeB $b) || return

	timeout "$limit" "$tool" -d rxeB -x "$b" -p "$port" -F -N "$@" \
		>"$log.server" 2>&1 &
	server=$!
	# busywait: see ktap.sh
	busywait 30 rdma_listens "$port" || rc=1
	timeout "$limit" "$tool" -d rxeA -x "$a" -p "$port" -F -N "$@" localhost \
		>"$log.client" 2>&1 &
	client=$!
	wait $client || rc=$?
	[ $rc -eq 0 ] || kill $server 2>/dev/null || :
	wait $server || rc=$?
	return $rc
}
