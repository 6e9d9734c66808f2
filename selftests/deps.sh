#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# deps.sh user|test [PACKAGE...]: install what is missing of what it takes on
# Debian 12 (with bookworm-security, where linux-source-6.12 lives)
#
#	user	to build srpol and run it on this machine
#	test	that, and what the demo, the tests and development need: a
#		kernel to boot, an emulator, RDMA tools, decoders
#
# and of the packages named. What will be installed, and how much, is said
# first. Nothing to install: return at once, without touching apt.

set -euo pipefail

case ${1:-} in
user|test) set=$1; shift ;;
*)	echo "usage: deps.sh user|test [PACKAGE...]" >&2; exit 2 ;;
esac
also=("$@")

emulated=$(uname -m | sed "s/x86_64/x86/;s/aarch64/arm/")

# Headers of the running kernel, if srpol can run on it: for the module, and for its
# types. In a container it is not this system's; for older ones see kernel.sh.
headers=linux-headers-$(uname -r)
[ "$(printf '6.12\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.12 ] &&
	[ -d "/lib/modules/$(uname -r)/kernel" ] &&
	[ ! -d "/lib/modules/$(uname -r)/build" ] || headers=

# package			why
user_packages() {
	echo "$headers"
	cat <<-EOF
	gcc			# user space, kbuild
	make
	pkg-config
	pahole			# BTF of the module
	clang-19		# BPF programs
	xz-utils		# unpacks linux-source
	zstd			# unpacks vmlinuz
	linux-source-6.12	# libbpf 1.5, bpftool 7.5, ynl, checkpatch, kselftest.h
	libelf-dev		# libbpf, bpftool
	zlib1g-dev		# libbpf, bpftool
	libcap-dev		# bpftool
	libmnl-dev		# lib: generic netlink
	libjansson-dev		# JSON: the command, the topology file
	libnl-3-dev		# daemon: rtnetlink
	libnl-route-3-dev
	libcap-ng-dev		# daemon: fewer capabilities
	libsodium-dev		# daemon: SipHash for the tags of probes; digests of plans
	libcurl4-openssl-dev	# etcd
	libnats-dev		# NATS
	libmicrohttpd-dev	# page of srpol-fabricd
	kmod
	iproute2
	EOF
}

test_packages() {
	cat <<-EOF
	libcmocka-dev		# unit tests
	openssl			# certificates of etcd and its users
	libigraph-dev		# what paths are held to
	g++			# oracle of the simulator
	libsimgrid-dev		# what maxmin is held to
	libglpk-dev		# what placements are held to
	python3-yaml		# ynl
	python3-jsonschema	# ynl validates specs
	protobuf-compiler	# reads Documentation/interface/srpol.proto
	protobuf-c-compiler	# likewise, for C
	libprotobuf-c-dev
	python3-protobuf	# protobuf's JSON mapping
	python3-prometheus-client	# independent parser of OpenMetrics
	python3-scapy		# independent packet builder and decoder
	qemu-system-$emulated	# the guest
	busybox-static		# its initramfs
	cpio
	iputils-ping
	ethtool
	procps
	rdma-core		# rdma_rxe and the verbs stack in the guest
	ibverbs-providers
	ibverbs-utils
	libibverbs-dev		# QPs that send when they are told
	perftest		# ib_write_bw, ib_send_bw
	rdmacm-utils		# rping
	iperf3			# TCP with GSO
	openmpi-bin		# programs that say what they will send
	libopenmpi-dev
	ucx-utils		# ucx_perftest
	libslurm-dev		# lib/spank
	libdbus-1-3		# for Slurm's programs, which unpack.sh fetches
	libhwloc15
	libjson-c5
	libnuma1
	libyaml-0-2
	tcpdump
	nftables		# a firewall in the way
	curl			# gRPC to gobgpd, which unpack.sh fetches
	tshark			# independent decoder, and dumpcap
	gojq			# of a guest's time it takes a 25th of what jq does
	jq			# for what Documentation/maps.rst shows
	socat			# garbage to a Unix socket
	dpdk-dev		# testpmd, which reads rules of rte_flow
	chromium-headless-shell	# a browser for the page
	python3-websocket	# tells it what to do
	mandoc			# lint of the manual pages
	python3-docutils	# likewise, of Documentation
	bc			# make debug-check builds a kernel
	bison
	flex
	sparse			# make C=1
	shellcheck
	EOF
}

packages() {
	printf '%s\n' "${also[@]}" | sed '/^$/d'
	{
		user_packages
		[ "$set" = user ] || test_packages
	} | sed -e 's/[[:space:]]*#.*//' -e '/^$/d'
}

die() {
	echo "deps: $*" >&2
	exit 1
}

missing() {
	local installed

	# dpkg-query fails when it does not know one of them: that is the
	# question, not an error.
	installed=$(packages | xargs dpkg-query -W \
		-f '${db:Status-Status} ${Package}\n' 2>/dev/null || :)
	packages | while read -r package; do
		grep -qxF "installed $package" <<<"$installed" ||
			echo "$package"
	done
}

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

# apt_get ARGUMENT...: when no other apt is at it any more: apt-get waits for the lock
# of dpkg, but not for that of the packages that are downloaded
apt_get() {
	local message status tries

	for ((tries = 0; tries < 120; tries++)); do
		status=0
		{ message=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
			apt-get -q -y -o Dpkg::Use-Pty=0 \
			-o DPkg::Lock::Timeout=600 "$@" 2>&1 >&3); } 3>&1 ||
			status=$?
		[ $status -ne 0 ] && [[ $message == */archives/lock* ]] || break
		[ $tries -gt 0 ] || echo "waiting for another apt" >&2
		sleep 5
	done
	[ -z "$message" ] || echo "$message" >&2
	return "$status"
}

is_known() {
	[ -n "$(apt-cache show "$1" 2>/dev/null)" ]
}

command -v dpkg-query >/dev/null ||
	die "not a Debian system; install these by hand: $(packages | xargs)"

# Headers that Debian does not have, or no longer: there is kernel.sh. Before its
# first time the package lists have to be new.
if [ -n "$headers" ] && ! is_known "$headers"; then
	"${0%/*}/kver.sh" >/dev/null 2>&1 || "${0%/*}/apt-update.sh" || :
	is_known "$headers" || headers=
fi

# New lists may not have them any more.
update() {
	"${0%/*}/apt-update.sh"
	[ -z "$headers" ] || is_known "$headers" || headers=
	mapfile -t want < <(missing)
}

mapfile -t want < <(missing)
[ ${#want[@]} -gt 0 ] || exit 0

[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
	die "not root and no sudo; as root run:" \
		"apt-get install --no-install-recommends ${want[*]}"

install() {
	apt_get install --no-install-recommends "${want[@]}"
}

# How much that is, by apt's own reckoning; with an old list it cannot tell.
announce() {
	echo "deps: installing from Debian, for \"make $set\": ${want[*]}" |
		sed -e 's/make user/make/' -e 's/make test/make check" or "make demo/'
	apt-get install --no-install-recommends --assume-no "${want[@]}" \
		2>/dev/null </dev/null | sed -n \
		-e 's/^[0-9]* upgraded, \([0-9]*\) newly.*/deps: \1 packages with what they need/p' \
		-e 's/^Need to get/deps: to download:/p' \
		-e 's/^After this operation,/deps: on disk:/p' || :
}

announce

# The package lists may be absent (a container), or so old that they name
# versions the mirror has dropped: both are cured by an update.
if ! apt-get -s -qq install "${want[@]}" >/dev/null 2>&1; then
	update
	install || die "apt-get could not install: ${want[*]}" \
		"(is bookworm-security in /etc/apt/sources.list?)"
else
	install || { update && install; } ||
		die "apt-get could not install: ${want[*]}"
fi

mapfile -t want < <(missing)
[ ${#want[@]} -eq 0 ] || die "still not installed: ${want[*]}"
