#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs of real QPs: by the name of a program, by process, by numbers. QPs get
# rules before they have sent anything and lose them when they end; QPs that are
# under way change over to the paths of the job that they get into, and back;
# those of other programs stay where they are. QPs that are placed are spread as
# weights are, also when a spine falls silent and when it is back.
#
# SRPOL_CLOCK=counted
# SRPOL_DEBUG=kernel
# SRPOL_TIMEOUT=900

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=init
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/fabric/rdma.sh
. selftests/fabric/rdma.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh
# shellcheck source=selftests/vm/tests/jobs_lib.sh
. selftests/vm/tests/jobs_lib.sh
BYTES=262144		# of each QP, in packets of 1024
QPS=8
# shellcheck source=selftests/vm/tests/qps_lib.sh
. selftests/vm/tests/qps_lib.sh

# leaves JOB SPINE: all its QPs are placed, and none there
leaves() {
	paths_of "$1" | gojq -e --argjson qps $QPS --argjson spine "$2" '
		length == $qps and all(.spine != $spine)'
}

# moved BEFORE JOB SPINE: QPs that were on another spine, and took a new one
moved() {
	gojq -r -n --argjson before "$1" --argjson now "$(paths_of "$2")" \
		--argjson spine "$3" '
		$before - $now | map(select(.spine != $spine) | .qp) | join(" ")'
}

# evenly BEFORE: no spine took a tenth more or less from A than it should
evenly() {
	paste -d ' ' <(echo "$1") <(fabric_spine_bytes) | awk '
		{ by[$1] = $5 - $2; all += by[$1] }
		END {
			for (m in by) {
				print m, by[m]
				if (by[m] * 4 > all * 1.1 || by[m] * 4 < all * 0.9)
					exit 1
			}
		}'
}

# goes_evenly NAME: it sends; again if much of it had to be sent twice
goes_evenly() {
	local before try

	for try in 1 2 3; do
		before=$(fabric_spine_bytes)
		send "$1" || return
		evenly "$before" && return
		echo "not even at try $try"
	done
	return 1
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit down
at_exit stop_engines
at_exit stop_programs
rdma_up
start_both '"interval-ms": 500'
check "paths of both hosts are probed and up" patiently 60 usable A 8

# ---- by the name of a program
check "a job by name" srpol job add train comm train paths spine1,spine2
check "and one by another name" srpol job add other comm other paths spine3
check_equal "no QP, no rule" '[] [] []' \
	"$(ruled train hA) $(ruled train hB) $(ruled other hA)"
begin first train || not_ok "QPs of a program" "$(<"$work/first.out")"
there=$(qps '.comm == "train"' rxeA)
back=$(qps '.comm == "train"' rxeB)
check_equal "the kernel names its QPs" "$QPS $QPS" \
	"$(gojq length <<<"$there") $(gojq length <<<"$back")"
check "they get rules before they send" patiently 60 ruled_is train hA "$there"
check "the other end's too" patiently 60 ruled_is train hB "$back"
check_equal "the other job has none" '[] []' \
	"$(ruled other hA) $(ruled other hB)"
before=$(fabric_spine_packets)
check "it sends" send first
check "all of it by the job's spines" went "$before" 1 2
check "by its own count too" used_only train spine1 spine2
check "of so many bytes" right "$(sent train)"
check_equal "the other job sent nothing" 0 "$(sent other)"

# ---- by process: under way, and one of two of the same name
begin second train threads || not_ok "QPs of another process" "$(<"$work/second.out")"
check "it sends, by the rules of the first job" send second
check "that job goes" srpol job del train
before=$(fabric_spine_packets)
check "it sends again" send second
check_fails "without a job not by these two alone" "by other spines" \
	went "$before" 1 2
check_equal "of its threads the kernel names one, and one no more" '["async",null]' \
	"$(rdma -j -d resource show qp | gojq -c "[ .[] | select(.rqpn > 1 and
		.pid != ${pid[first]}) | .comm ] | unique | reverse")"
check "a job by process" srpol job add proc pid "${pid[second]}" paths spine3
there=$(qps ".pid == ${pid[second]}" rxeA)
check "its QPs get rules, those of the first process none" patiently 60 \
	ruled_is proc hA "$there"
check "at the other device too, where the thread that made them has ended" \
	patiently 60 holds_as_many proc hB
check_equal "none is without" 0 "$(srpol -j job show proc | gojq '.[0].qps_without_rule')"
before=$(fabric_spine_packets)
check "it goes on sending" send second
check "flows that were under way changed over" went "$before" 3
check "its count" right "$(sent proc)"
before=$(sent proc)
check "the first process sends" send first
check_equal "which is not this job's" "$before" "$(sent proc)"

# ---- by numbers: those of the first process
there=$(qps ".pid == ${pid[first]}" rxeA)
check_equal "its numbers are in a row" $QPS "$(gojq '.[-1] - .[0] + 1' <<<"$there")"
check "a job by numbers" srpol job add range qp \
	"$(gojq -r '"\(.[0])-\(.[-1])"' <<<"$there")" paths spine4
check_equal "has a rule with them, for any device" "$there" "$(ruled range)"
before=$(fabric_spine_packets)
check "the first process sends" send first
check "by the spine of that job" went "$before" 4
check "its count" right "$(sent range)"
before=$(fabric_spine_packets)
check "the other one sends" send second
check "by its own still" went "$before" 3

# ---- ends
end second "a process ends"
check "and so do its rules" patiently 60 ruled_is proc hA '[]'
check "at the other device too" patiently 60 ruled_is proc hB '[]'
check "the job stays" srpol job show proc
end first "the first one ends"
check_equal "numbers are no process: that rule stays" "$there" "$(ruled range)"
check_fails "a range that is none" "." srpol job add bad qp 9-3
check_fails "a process that cannot be" "." srpol job add bad pid 0
check "all go" eval 'for j in other proc range; do srpol job del $j; done'

# ---- placed: each QP has a path, as evenly as weights are
begin third train || not_ok "QPs of a third process" "$(<"$work/third.out")"
check "a job whose QPs are placed" srpol job add placed comm train placement qp
check_equal "it says so" qp "$(srpol -j job show placed | gojq -r '.[0].placement')"
check "its QPs have rules before they send" patiently 60 holds_as_many placed hA
check "they send" send third
check "QPs of both ends are placed" patiently 60 placed_is placed $((2 * QPS))
check "two on each spine" patiently 60 spread_is placed '2 2 2 2'
check "what they send is as even" goes_evenly third

# the engine is killed and started anew: nothing of that is seen
before=$(rules_with_path)
watch_config "$work/events" || not_ok "the monitor runs"
kill -9 "${engine[both]}"
wait "${engine[both]}" 2>/dev/null || :
# it is not to keep the pipe of the third process open
eval "start_both '\"interval-ms\": 500' ${fd[third]}>&-"
check "killed and started anew: probed and up" patiently 60 usable A 8
check_equal "QPs of both ends are placed" $((2 * QPS)) \
	"$(srpol -j job show placed | gojq '.[0].placed')"
check "they send" send third
check_equal "each has its rule and its path" "$before" "$(rules_with_path)"
kill -HUP "${engine[both]}"
sleep 1
check "its files read anew: probed and up" patiently 60 usable A 8
check "they send" send third
check_equal "each still has" "$before" "$(rules_with_path)"
watched_config || not_ok "the monitor ran all the while"
check_equal "no rule was touched" "" "$(grep -w rule "$work/events" || :)"

before=$(paths_of placed)
srpol -j engine watch >"$work/watched" &
watcher=$!
check "who watches is told where QPs are" patiently 30 eval \
	'gojq -es "any(.event == \"qps\" and (.qps | length) == 2 * $QPS)" \
		"$work/watched" >/dev/null'
fabric_silence spine3 on
check "a spine falls silent: its QPs are elsewhere" patiently 60 leaves placed 3
check "and that they moved from there, because of a failure" patiently 30 eval \
	'gojq -es --argjson from "$(srpol -j engine paths | gojq -c "[ .[] |
			select(.name | contains(\"spine3\")) | .path ]")" "
		[ .[] | select(.event == \"qps\") | .moved[] ] | length > 0 and
		all(.because == [ \"failure\" ] and
		    (.from as \$path | \$from | index(\$path)))" \
		"$work/watched" >/dev/null'
kill $watcher
wait $watcher || :
check_equal "others stayed where they were" "" "$(moved "$before" placed 3)"
check "they send" send third
check_equal "nobody went back" 0 "$(spread placed | cut -d ' ' -f 3)"
fabric_silence spine3 off
check "it speaks again: two on each spine" patiently 120 spread_is placed '2 2 2 2'
check "what they send is as even" goes_evenly third
check "the job goes" srpol job del placed
check "a job whose QPs are hashed" srpol job add hashed comm train placement hash
check "its QPs have rules" patiently 60 holds_as_many hashed hA
check "they send" send third
check_equal "none is placed" '0 null' \
	"$(srpol -j job show hashed | gojq -r '.[0] | "\(.placed) \(.placement)"')"
check_equal "no rule has a path" '[]' "$(paths_of hashed)"
check_fails "another placement" "." srpol job add bad comm x placement best
check "its job goes" srpol job del hashed
check "a job by source, placed" srpol job add source src fd00:a::/64 \
	placement qp
check "it sends" send third
check "its QPs are placed, those of B are not" patiently 60 placed_is source $QPS
check_equal "and are its own by their source" '["fd00:a::/64"]' \
	"$(rules_with_path | gojq -c '[ .[].match.src ] | unique')"
end third "the third process ends"
check "its job goes" srpol job del source

check_equal "rules are as without jobs" 1 "$(srpol -j rule show | gojq length)"
check_equal "srpol dropped nothing" "" \
	"$(srpol stats show | awk '$2 == "drop"')"
[ $ktap_failures -eq 0 ] || sed 's/^/# /' "$work"/*.log
