# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# srpol on the fabric, to be sourced after ktap.sh and fabric.sh: both hosts'
# ports are uplinks, each host has one local SID in either notation.

e2e_down() {
	printf 'dev del hA\ndev del hB\n' | srpol -force -b - 2>/dev/null || :
	rmmod srpol 2>/dev/null || :
}

# What goes from B to A, and the endpoints of both directions; srpol commands
# on stdin come after that.
e2e_up() {
	at_exit fabric_down
	fabric_up || return
	insmod kmod/srpol.ko || return
	at_exit e2e_down
	{
		cat <<-END
		dev add hA role uplink
		dev add hB role uplink
		sid add fc00:0:b::d6 behavior End.DT46
		sid add fc00:0:a::d6 behavior End.DT46
		sid add fcbb:bb00:b:: behavior End.DT46
		path add 11 segs fc00:0:21::1,fc00:0:11::1,fc00:0:a::d6 dev hB via fd00:b::fe
		policy add color 100 endpoint fd00:a::1 candidate segment-list 11
		endpoint add fd00:a::/64 to fd00:a::1
		endpoint add fd00:b::/64 to fd00:b::1
		endpoint add 10.0.10.0/24 to fd00:a::1
		endpoint add 10.0.20.0/24 to fd00:b::1
		rule add prio 9000 color 100
		END
		cat
	} | srpol -b - || return
	busywait 20 e2e_paths_up
}

e2e_paths_up() {
	srpol -j path show | gojq -e 'length > 0 and all(.state == "up")' >/dev/null
}

# e2e_reason NAME: packets counted under it
e2e_reason() {
	srpol -j stats show all | tr '}' '\n' |
		sed -n "s/.*\"reason\":\"$1\".*\"packets\":\([0-9]*\).*/\1/p"
}

# e2e_verdicts PROGRAM...: it prints lines "ok NAME" and "not ok NAME | WHY"
e2e_verdicts() {
	local line rc=0 output

	output=$("$@") || rc=$?
	while read -r line; do
		case $line in
		"ok "*)	ok "${line#ok }" ;;
		"not ok "*)
			line=${line#not ok }
			not_ok "${line%% | *}" "${line#* | }"
			;;
		*)	echo "# $line" ;;
		esac
	done <<<"$output"
	[ $rc -eq 0 ] || not_ok "$1 ran to its end" "status $rc"
}

# e2e_capture SWITCH DEV in|out|inout FILE [FILTER]: packets that go there, until
# e2e_captured
e2e_dumps=()
e2e_files=()

e2e_capture() {
	local node=$1 dev=$2 way=$3 file=$4
	shift 4

	# not fabric_exec: $! has to be tcpdump itself. What that writes it writes as
	# another user, unless told not to.
	ip netns exec "$(fabric_ns "$node")" tcpdump -Z root -U -B 16384 -p -i "$dev" -Q "$way" \
		-s 0 -w "$file" "$@" 2>"$file.log" &
	e2e_dumps+=($!)
	e2e_files+=("$file")
	busywait 30 grep -q listening "$file.log"
}

# Written out: the sizes stay the same for longer than packets wait in tcpdump's
# buffer for more to come, which is a second
e2e_written() {
	local sizes

	sizes=$(stat -c %s "${e2e_files[@]}")
	sleep 1.5
	[ "$sizes" = "$(stat -c %s "${e2e_files[@]}")" ]
}

e2e_captured() {
	busywait 20 e2e_written || :
	e2e_enough
}

# e2e_enough: no more is captured; what came last may be missing
e2e_enough() {
	kill "${e2e_dumps[@]}" 2>/dev/null || :
	wait "${e2e_dumps[@]}" || :
	e2e_dumps=()
	e2e_files=()
}

# RoCEv2 from A to B takes a policy over all four spines; the names of both, and
# the commands for e2e_up.
e2e_policy=(color 200 endpoint fd00:b::1)
e2e_roce=(dst fd00:b::/64 proto udp dport 4791)
e2e_lists="candidate segment-list 1 segment-list 2 segment-list 3 segment-list 4"

e2e_spines() {
	local m

	for m in 1 2 3 4; do
		echo "path add $m segs fc00:0:2$m::1,fc00:0:12::1,fc00:0:b::d6 dev hA via fd00:a::fe"
	done
	echo "policy add ${e2e_policy[*]} $e2e_lists"
	echo "rule add prio 100 ${e2e_roce[*]} color 200"
}
