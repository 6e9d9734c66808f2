#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The examples of Documentation/maps.rst, as they stand there, on the maps of a
# data plane that has steered packets.
#
# SRPOL_TIMEOUT=300

# shellcheck source=selftests/bpf/nodes.sh
. "${0%/*}/nodes.sh"

PATH=$BUILD/tools/sbin:$PATH
doc=${0%/*}/../../Documentation/maps.rst

# example WORD: the commands there that name WORD
example() {
	awk -v word="$1" '
		/^Examples$/ { on = 1 }
		on && /^    / { text = text $0 "\n"; next }
		{ show() }
		END { show() }
		function show() {
			if (index(text, word))
				printf "%s", text
			text = ""
		}' "$doc" | sed "s:/sys/fs/bpf/srpol/default:$pins/a:"
}

# run WORD: all of them; one that fails is a failure
run() {
	local commands

	commands=$(example "$1")
	[ -n "$commands" ] || {
		echo "no example names $1"
		return 1
	}
	bash -o pipefail -ec "$commands"
}

# prints WORD FILTER TEXT: what they print is TEXT after jq's FILTER
prints() {
	local got

	got=$(run "$1") && got=$(jq -c "$2" <<<"$got") || return
	[ "$got" = "$3" ] || {
		echo "printed: $got"
		return 1
	}
}

link c c0 a ac
connect_c
check "packets are steered" eval "steer_a && steer_b && ping_b 2001:db8:b::1"

check "paths that are up" prints /paths . '[1,1]'
check "packets per path" prints /path_stats . '{"path":1,"packets":3}'
check "reasons that occurred: 0 is STEERED" \
	prints /reasons 'select(.reason == 0).n' 3
check "flows" prints /flows 'del(.nr, .qp)' '{"policy":1,"path":1}'
check "congestion of a path" run /path_quality
check "probes: there are none" prints /probes . ''
check "programs" run "bpftool net"
