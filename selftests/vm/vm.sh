#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boot Debian's 6.12 kernel (see kernel.sh) on this machine's own root file system, run a
# command in the repository's folder, return its status.
#
#	     host				guest
#	/ (read-only, 9p)	->	/ (under a tmpfs overlay)
#	OUTDIR (9p)		<->	$SRPOL_OUT, at the same path
#	stdout			<-	stdout and stderr of COMMAND
#	OUTDIR/console.log	<-	kernel console, when the guest dies
#
# Everything else the guest writes is gone with it. Any number of guests may
# run at a time. With another root file system (-r) its own systemd is process 1
# and COMMAND a service, started when multi-user.target is reached.
#
# With SRPOL_ROOT=FOLDER that is the root file system, without systemd; the
# repository has to be mounted in it (see selftests/arm64.sh).

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=${here%/*/*}
build=${BUILD:-$top/build}

timeout=300
grace=60		# seconds, for a guest that is late to say why
memory=2G
cpus=2
append=
counted=0
cpu=max
beat=
silence=
root=${SRPOL_ROOT:-/}
systemd=
out=$build/vm/out
extra=()

usage() {
	cat <<-EOF
	usage: vm.sh [-i] [-t SECONDS] [-b SECONDS:FILE] [-m MEM] [-c CPUS]
	             [-o OUTDIR] [-a KERNEL_CMDLINE] [-q QEMU_ARG]...
	             [-r ROOT] -- COMMAND [ARG...]

	  -i  guest time does not depend on the host's load: where KVM does not
	      work, a busy guest's clock counts instructions, one a nanosecond
	  -t  give up after this many seconds of host time (default $timeout);
	      the guest is asked what it does before it is ended
	  -b  likewise when COMMAND has not written to this file for so long
	  -m  memory (default $memory)
	  -c  processors (default $cpus)
	  -o  folder shared with the guest as \$SRPOL_OUT (default build/vm/out)
	  -a  words added to the kernel's command line
	  -q  one more argument for qemu; may be repeated
	  -r  boot the root file system in this folder, with its systemd; it has
	      to hold the modules of the kernel

	COMMAND runs as root in the repository; variables SRPOL_* are handed on.
	With SRPOL_ACCEL=kvm or tcg in the environment KVM is not probed for,
	with SRPOL_KERNEL=FILE that kernel is booted instead of Debian's.

	Status: that of COMMAND; 124 timeout, 125 guest died (the end of its
	console is printed), 126 the guest could not be started.
	EOF
}

die() {
	echo "vm: $*" >&2
	exit 126
}

while getopts it:b:m:c:o:a:q:r:h option; do
	case $option in
	i)	counted=1 ;;
	t)	timeout=$OPTARG ;;
	b)	silence=${OPTARG%%:*}
		beat=${OPTARG#*:}
		;;
	m)	memory=$OPTARG ;;
	c)	cpus=$OPTARG ;;
	o)	out=$OPTARG ;;
	a)	append=$OPTARG ;;
	q)	extra+=("$OPTARG") ;;
	r)	root=$(cd "$OPTARG" && pwd)
		systemd=1
		;;
	h)	usage; exit ;;
	*)	usage >&2; exit 126 ;;
	esac
done
shift $((OPTIND - 1))
[ -z "$systemd" ] ||
	append+=" systemd.unit=multi-user.target systemd.wants=srpol-guest.service"
[ $# -gt 0 ] || { usage >&2; exit 126; }

# what differs between the machines that are emulated
arch=${SRPOL_ARCH:-$(uname -m)}
case $arch in
x86_64)
	emulator="qemu-system-x86_64"
	machine=(-M q35 -device "isa-debug-exit,iobase=0xf4,iosize=4")
	# no_timer_check: that check spins for some ticks, and panics if the host lets
	# the guest have none meanwhile
	append="console=ttyS0 mitigations=off nmi_watchdog=0 unknown_nmi_panic=1 no_timer_check $append"
	;;
aarch64)
	emulator="qemu-system-aarch64"
	machine=(-M "virt,gic-version=max")
	append="console=ttyAMA0 mitigations=off $append"
	;;
*)	die "no machine to emulate for $arch" ;;
esac
command -v $emulator >/dev/null || die "no $emulator; run 'make test-deps'"
# a root file system with its own systemd has its own kernel
image=$(SRPOL_BOOT=${systemd:+$root} "$here/image.sh") || die "no kernel to boot"
# where its modules are, if not in the guest's root file system
modules=
if [ "$root" = / ] && [ -z "${SRPOL_KERNEL:-}" ]; then
	kernel=$("$top/selftests/kernel.sh")
	modules=${kernel:+$kernel/lib/modules}
fi

mkdir -p "$out" "$build/vm"
out=$(cd "$out" && pwd)

control=$(mktemp -d "$build/vm/control.XXXXXX")
qemu=
reader=
asker=

stop() {
	if [ -n "$1" ]; then
		kill "$1" 2>/dev/null || :
		wait "$1" 2>/dev/null || :
	fi
}

cleanup() {
	stop "$asker"
	stop "$qemu"
	stop "$reader"
	rm -rf "$control" "$control.probe"
}
ulimit -c 0
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# write_control OUTDIR COMMAND...: what guest-init finds in its control share
write_control() {
	local shared=$1
	shift

	rm -f "$control"/*
	cp "$here/guest-init" "$control/"
	{
		declare -px | grep -E '^declare -x SRPOL_' || :
		printf 'export SRPOL_OUT=%q\n' "$shared"
		[ -z "$modules" ] || printf 'modules=%q\n' "$modules"
		if [ -z "$systemd" ]; then
			printf 'export BUILD=%q\n' "$build"
			printf 'export PATH=%q:%q:$PATH\n' \
				"$build/bin" "$build/tools/sbin"
			printf 'cd %q\n' "$top"
		fi
	} >"$control/environment"
	[ -z "$systemd" ] || : >"$control/systemd"
	{
		printf '%q ' "$@"
		echo
	} >"$control/command"
	mkfifo "$control/output" "$control/monitor.in" \
		"$control/monitor.out" "$control/never"
}

# monitor COMMAND: what qemu's monitor says to it; it need not answer at all
monitor() {
	local line

	echo "$1" 1<>"$control/monitor.in"
	while read -rt 2 line; do
		echo "${line%$'\r'}"
	done <>"$control/monitor.out"
}

# is_silent: COMMAND has begun to write to the file of -b, and has ceased to
is_silent() {
	[ -n "$beat" ] && [ -e "$beat" ] &&
		[ $(($(date +%s) - $(stat -c %Y "$beat"))) -gt "$silence" ]
}

# ask_late SECONDS QEMU: once the guest is late, what it does: qemu's threads and
# the processors' registers, twice; then an NMI, by which its kernel panics, with
# all tasks on the console. If it does not, it is ended from outside.
ask_late() {
	local end=$((SECONDS + $1))

	until [ "$SECONDS" -ge "$end" ] || is_silent; do
		# No child that would be left behind: nobody writes there.
		read -rt 5 <>"$control/never" || :
	done
	: >"$control/late"
	for _ in 1 2; do
		ps -L -o tid,stat,pcpu,time,wchan:20,comm --ppid "$2" || :
		monitor "info registers -a"
	done >"$control/monitor.log" 2>&1
	monitor nmi >/dev/null
	read -rt "$grace" <>"$control/never" || :
	kill "$2" 2>/dev/null || :
}

# boot ACCEL SECONDS OUTDIR COMMAND...: sets $verdict to the command's status,
# or to "timeout", "died" or "nostart"
boot() {
	local accel=$1 seconds=$2 shared=$3
	local share=security_model=none,multidevs=remap
	shift 3

	write_control "$shared" "$@"

	# A FIFO, because qemu makes the description it writes to
	# non-blocking, which our caller's stdout must not become.
	cat "$control/output" &
	reader=$!

	# A guest that hangs says where it hangs (hung_task, softlockup), with
	# limits that a busy host does not reach.
	# pdeathsig: not even SIGKILL for this script leaves a guest behind.
	setpriv --pdeathsig TERM timeout -k 5 $((seconds + grace)) \
		setpriv --pdeathsig KILL $emulator \
		-name srpol "${machine[@]}" -cpu "$cpu" -accel "$accel" \
		-smp "$cpus" -m "$memory" \
		-nodefaults -display none -no-reboot \
		-chardev file,id=console,path="$control/console.log" \
		-serial chardev:console \
		-chardev pipe,id=monitor,path="$control/monitor" \
		-mon chardev=monitor \
		-device virtio-serial-pci \
		-chardev file,id=output,path="$control/output" \
		-device virtserialport,chardev=output,name=srpol.out \
		-fsdev local,id=root,path="$root",readonly=on,$share \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev local,id=control,path="$control",$share \
		-device virtio-9p-pci,fsdev=control,mount_tag=control \
		-fsdev local,id=out,path="$shared",$share \
		-device virtio-9p-pci,fsdev=out,mount_tag=out \
		-kernel "$image/vmlinux" -initrd "$image/initramfs" \
		-append "loglevel=5 panic=-1 oops=panic watchdog_thresh=60 softlockup_panic=1 \
hung_task_panic=1 sysctl.kernel.hung_task_timeout_secs=60 panic_print=0x41 \
random.trust_cpu=on $append" \
		"${extra[@]}" </dev/null >"$control/qemu.log" 2>&1 &
	qemu=$!
	ask_late "$seconds" "$qemu" &
	asker=$!
	# the braces keep bash's own "Aborted ..." off the screen
	{ wait "$qemu" || :; } 2>/dev/null
	qemu=
	stop "$asker"
	asker=

	# Lets the reader go even if qemu never opened its end.
	: 1<>"$control/output"
	wait "$reader" || :
	reader=

	if [ -f "$control/status" ]; then
		verdict=$(<"$control/status")
	elif [ -e "$control/late" ]; then
		verdict=timeout
	elif [ -s "$control/console.log" ]; then
		verdict=died
	else
		verdict=nostart
	fi
}

# last_words: the end of the console; where the kernel panics all tasks follow, of
# which those that are no sleeping threads of its own; of a guest that was late where
# its processors were, seen from outside
last_words() {
	sed '/ task:/,$d' "$out/console.log" | tail -n 100
	awk '/ task:/ { tell = !/state:[SI].* ppid:2 / }
	     /Sched Debug/ { exit }
	     tell && !/ \? /' "$out/console.log"
	[ -s "$control/monitor.log" ] || return 0
	cp "$control/monitor.log" "$out/monitor.log"
	grep -E '^ *[0-9]+ |^CPU#|RIP=|HLT=|^PC=' "$out/monitor.log" |
		sed 's/^/qemu: /'
} >&2

# /dev/kvm may be there and yet kill or hang a stock guest (nested
# virtualisation), so only a boot tells. The answer holds until this machine or
# the image changes.
choose_accel() {
	local cache=$image/accel key

	key="$(</proc/sys/kernel/random/boot_id) $(id -u)"
	if [ -n "${SRPOL_ACCEL:-}" ]; then
		accel=$SRPOL_ACCEL
	elif [ -f "$cache" ] && [ "$(sed 1d "$cache")" = "$key" ]; then
		accel=$(sed -n 1p "$cache")
	else
		accel=tcg
		if [ "$arch" = "$(uname -m)" ] && [ -r /dev/kvm ] &&
			[ -w /dev/kvm ]; then
			mkdir -p "$control.probe"
			grace=1 boot kvm 20 "$control.probe" true
			rmdir "$control.probe"
			if [ "$verdict" = 0 ]; then
				accel=kvm
			fi
		fi
		printf '%s\n%s\n' "$accel" "$key" >"$control/accel"
		mv "$control/accel" "$cache"
	fi

	# One thread for all processors: with one each, TCG now and then
	# trips over the text patching of a kernel for x86.
	#
	# QEMU 7.2 computes the flags after cmpxchg16b from a stale cc_op. An
	# interrupt between it and the next instruction (-icount makes that
	# likely) then saves and restores garbage, TF included: a debug trap
	# in the middle of a kmalloc(). The kernel has a substitute.
	#
	# QEMU goes round a loop for each byte of "rep stosb", by which the kernel
	# would clear pages: without it guests take an eighth less of this
	# machine's time. With programs at random addresses it translates the same
	# code again and again: another ninth.
	if [ "$accel" = tcg ]; then
		accel=tcg,thread=single
		append+=" norandmaps"
		if [ "$arch" = x86_64 ]; then
			cpu=max,-cx16
			append+=" clearcpuid=erms,rep_good"
		else
			cpu=neoverse-n1
		fi
		# sleep=on: the clock of an idle guest is the host's, so that
		# time-outs do not fire during I/O
		[ $counted -eq 0 ] ||
			extra+=(-icount "shift=0,sleep=on" -rtc clock=vm)
	fi
}

choose_accel
boot "$accel" "$timeout" "$out" "$@"

case $verdict in
timeout)
	echo "vm: no end after $timeout s${beat:+, or nothing new for $silence};" \
		"the end of the console:" >&2
	status=124
	;;
died)
	echo "vm: the guest died; the end of its console:" >&2
	status=125
	;;
nostart)
	cat "$control/qemu.log" >&2
	die "qemu did not start"
	;;
*)
	exit "$verdict"
	;;
esac
tr -d '\r' <"$control/console.log" >"$out/console.log"
last_words
exit $status
