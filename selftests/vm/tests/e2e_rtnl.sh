#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A driver holds the RTNL, as one does for seconds that resets its NIC: what srpold
# wants to know of NICs waits, and probes go on. A spine that falls silent meanwhile
# is not used any more before the RTNL is free again.
#
# SRPOL_CLOCK=counted

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh

# waits: a thread of srpold waits in the kernel, and not for something that may end it
waits() {
	grep -lE '^[0-9]+ \(.*\) D ' "/proc/${engine[A]}"/task/*/stat >/dev/null 2>&1
}

# what ends below needs the RTNL
release() {
	[ -z "${hold:-}" ] || exec {hold}>&-
	hold=
}

told() {
	grep -q "$1" "$work/A.log"
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
start_both
check "host A: four paths, probed and up" patiently 60 usable A 4
check "host B: likewise" patiently 60 usable B 4

# which loads its module, for that needs the RTNL
nft list tables
mkfifo "$work/hold"
ip netns exec "$(fabric_ns hostA)" python3 selftests/vm/tests/e2e_rtnl.py hA \
	<"$work/hold" >"$work/held" &
holder=$!
exec {hold}>"$work/hold"
at_exit release
check "the RTNL is held" patiently 30 grep -q held "$work/held"
check "srpold waits for it" patiently 30 waits
ip netns exec "$(fabric_ns spine1)" nft -f - <<-'END'
	table ip6 silent {
		chain nothing { type filter hook prerouting priority raw; policy drop; }
	}
END
check "a spine falls silent, which srpold notices" patiently 30 told "spine1-B is down"
check "the module, too" patiently 30 state_of A "$(path_over A spine1)" down
check "it still waits" waits
ip netns exec "$(fabric_ns spine1)" nft delete table ip6 silent
check "the spine is back, and so is the path" patiently 60 told "spine1-B answers again"
check "the RTNL was held until now" kill -0 "$holder"
release
wait "$holder" || not_ok "the RTNL is released"
check "nothing waits any more" patiently 30 eval '! waits'
check_equal "no other path was down" 1 "$(grep -c 'is down' "$work/A.log")"
kill "${engine[A]}"
wait "${engine[A]}" || not_ok "it ends with status 0"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
