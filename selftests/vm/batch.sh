#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# batch.sh GUEST LIST SECONDS: run in a guest by selftests/run.sh. Works through
# the test programs listed in $SRPOL_OUT/LIST, together with the other guests that
# share this $SRPOL_OUT: who makes the program's folder there runs it. What
# happened is left in the folder: guest, log, status, tally. A folder without
# a tally tells run.sh that the guest died of this program. After so many SECONDS
# a guest begins nothing more: another one goes on with the list, so that the time
# a guest has does not depend on how many programs there are. The file
# guest-GUEST/program says what it does, and when it began that. SRPOL_CHECKER is
# called with "prepare" before the first program, and with "after" when one has
# ended.

set -euo pipefail

# shellcheck source=selftests/report.sh
. selftests/report.sh

guest=$1
list=$2
seconds=$3
shared=$SRPOL_OUT
cgroup=/sys/fs/cgroup/srpol-test

# What no test may leave in the kernel's log. Stalls are missing on purpose:
# a busy host is enough to cause them in an emulated guest.
trouble='WARNING:|BUG:|Oops|ODEBUG|UBSAN|KASAN|refcount_t:|INFO: task|INFO: trying'
trouble+='|general protection fault|suspicious RCU|possible (circular|recurs)'
trouble+='|unregister_netdevice: waiting|kmemleak'

# Kernel messages since the last line that holds $1
kernel_log() {
	dmesg | awk -v marker="$1" '
		index($0, marker) { text = ""; next }
		{ text = text $0 "\n" }
		END { printf "%s", text }'
}

links() {
	ip -o link show | awk -F ': ' '{ sub(/@.*/, "", $2); print $2 }' | sort
}

# End what the program has left behind. False, with where they are in the kernel, if
# there are processes that cannot be killed.
end_processes() {
	local tries pid

	echo 1 >$cgroup/cgroup.kill
	for ((tries = 0; tries < 1200; tries++)); do
		if grep -q '^populated 0' $cgroup/cgroup.events; then
			rmdir $cgroup
			return 0
		fi
		sleep 0.05
	done
	echo "not ok - its processes can be killed"
	while read -r pid; do
		echo "# $pid $(</proc/"$pid"/comm)"
		sed 's/^/#   /' "/proc/$pid/stack"
	done <$cgroup/cgroup.procs
	return 1
}

# Put the guest back to how a test expects to find it. Says what it found, and
# fails when the guest is not fit for another test.
tidy() {
	local left name

	left=$(ip netns list | awk '{ print $1 }')
	for name in $left; do
		echo "# left behind: netns $name"
		ip netns del "$name"
	done
	for name in $(links | comm -23 - "$links_before"); do
		echo "# left behind: link $name"
		ip link del "$name" 2>/dev/null || :
	done
	rm -rf /sys/fs/bpf/srpol
	if [ -d /sys/module/srpol ]; then
		echo "# left behind: module srpol"
		rmmod srpol || return 1
	fi
	if [ "$(rules)" != "$rules_before" ]; then
		echo "# left behind: routing rules"
		return 1
	fi
}

rules() {
	ip -4 rule show
	ip -6 rule show
}

# is_about_rates PROGRAM: its own checks say nothing on the checker's kernel, which
# takes many times as long for everything: the kernel is what counts there
is_about_rates() {
	[ -n "${SRPOL_CHECKER:-}" ] && grep -qx '# SRPOL_DEBUG=kernel' "$1"
}

# set_aside LOG: what failed of its own checks
set_aside() {
	local log=$1 failed

	failed=$(grep -cE '^not ok( |$)' "$log" || :)
	sed -i -E 's/^(not ok|1\.\.)/# &/' "$log"
	echo "# not counted here: $failed failed checks" >>"$log"
}

# run_program PROGRAM FOLDER: false when the guest has to go
run_program() {
	local program=$1 dir=$2 name=${2##*/} start=$EPOCHREALTIME
	local status=0 fit=0 patience=${SRPOL_SLOWER:-1} limit log counts messages

	log=$dir/log
	# it may wait in vain
	! is_about_rates "$program" || patience=$(((patience + 2) / 3))
	echo "srpol-test: $name" >/dev/kmsg
	limit=$((${SRPOL_SLOWER:-1} * $(time_limit "$program")))
	mkdir $cgroup
	(
		echo 0 >$cgroup/cgroup.procs
		export SRPOL_OUT=$dir SRPOL_SLOWER=$patience
		exec timeout -k 10 "$limit" "$program"
	) >"$log" 2>&1 || status=$?
	end_processes >>"$log" 2>&1 || fit=1
	if is_about_rates "$program"; then
		set_aside "$log"
		# unless it was cut off
		[ $status -eq 124 ] || [ $status -eq 137 ] || status=0
	fi
	tidy >>"$log" 2>&1 || fit=1
	[ -z "${SRPOL_CHECKER:-}" ] || "$SRPOL_CHECKER" after >>"$log" 2>&1 ||
		fit=1

	counts=$(tally "$log" "$status")
	messages=$(kernel_log "srpol-test: $name")
	if grep -qE "$trouble" <<<"$messages"; then
		{
			echo "not ok - kernel log is clean"
			echo "$messages"
		} >>"$log"
		counts=$(tally "$log" "$status")
		fit=1
	fi
	report "$name" "$log" "$(elapsed_ms "$start")" "$counts"
	echo "$status" >"$dir/status"
	echo "$counts" >"$dir/tally"
	return $fit
}

# began FOLDER: when it was made, by the clock of the machine that has it: the guest's
# may count instructions
began() {
	stat -c %Y "$shared/$1"
}

[ -z "${SRPOL_CHECKER:-}" ] || "$SRPOL_CHECKER" prepare

# it is told sooner that a device is held after its end
# shellcheck disable=SC2031
sysctl -qw net.core.netdev_unregister_timeout_secs=$((5 * ${SRPOL_SLOWER:-1}))

links_before=$(mktemp)
links >"$links_before"
rules_before=$(rules)

while read -r name program; do
	mkdir "$shared/$name" 2>/dev/null || continue
	if [ $(($(began "$name") - $(began "guest-$guest"))) -gt "$seconds" ]; then
		rmdir "$shared/$name"
		exit 0
	fi
	echo "$guest" >"$shared/$name/guest"
	echo "$name" >"$shared/guest-$guest/program"
	run_program "$program" "$shared/$name" || exit 0
done <"$shared/$list"
