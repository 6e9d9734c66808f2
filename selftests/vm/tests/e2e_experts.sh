#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A mixture of experts in MPI with libsrpol-pmpi.so, whose all-to-all-v drifts from
# iteration to iteration and is another one from some iteration on. What is
# forecast after each iteration, by srpold and by the global engine, is held to
# what the program then sends in the next one. Then the plan that comes of it is
# held to what spines count, beside the leaf's ECMP.
#
# Ranks are in host A's namespace and told where they are, so their own bytes do
# not cross the fabric: spines count datagrams, as many bytes as are forecast.
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
# shellcheck source=selftests/vm/tests/fabricd_lib.sh
. selftests/vm/tests/fabricd_lib.sh
# shellcheck source=selftests/vm/tests/followers_lib.sh
. selftests/vm/tests/followers_lib.sh

build=${BUILD:-build}
ITERATIONS=14
STEP=8			# the first iteration of the other matrix
BYTES=2000000		# that a rank sends in an iteration

experts() {
	exec ip netns exec "$(fabric_ns hostA)" mpirun --allow-run-as-root \
		--oversubscribe --mca btl self,vader --mca plm isolated \
		-np 2 -x SRPOL_HOST=A "${PRELOADED[@]}" : \
		-np 2 -x SRPOL_HOST=B "${PRELOADED[@]}" \
		>"$work/sent" 2>"$work/mpi.err"
}
PRELOADED=(-x LD_PRELOAD="$build/lib/libsrpol-pmpi.so"
	   -x SRPOL_DEMANDS="$work/demands" -x SRPOL_ITERATION_MS=100000
	   "$build/selftests/mpi/experts" $ITERATIONS $BYTES $STEP "$work")

# truth K: bytes of iteration K to the other host, by rank: "RANK BYTES"
truth() {
	awk -v k="$1" '
		$1 == k && ($2 < 2) != ($3 < 2) { sum[$2] += $4 }
		END { for (i = 0; i < 4; i++) print i, sum[i] + 0 }' "$work/sent"
}

# foreseen: what srpold has been told, likewise
foreseen() {
	on A -j engine demand show | gojq -r '
		sort_by(.owner | split("-")[-1] | tonumber)[] |
		"\(.owner | split("-")[-1]) \(.bytes)"'
}

# a_to_b: bytes of ranks on A, of lines "RANK BYTES"
a_to_b() {
	awk '$1 < 2 { sum += $2 } END { print sum + 0 }'
}

# engine_foresees: what the global engine plans for, from A to B
engine_foresees() {
	fabric why A B | gojq '[ .planes[].forecast_bytes ] | add'
}

sent_all() {
	[ "$(awk -v k="$1" '$1 == k' "$work/sent" | wc -l)" -eq 16 ]
}

# known K: of iteration K all is known to srpold, and of A's part the engine knows
# all but what is too little to be told, a 32nd (fabric-engine.rst)
known() {
	[ "$(foreseen)" = "$(truth "$1")" ] &&
		awk -v is="$(truth "$1" | a_to_b)" -v told="$(engine_foresees)" '
		BEGIN { d = told - is; exit !((d < 0 ? -d : d) <= told / 32) }'
}

# iterate K: let it run, and keep what is forecast then, as that of K + 1
iterate() {
	touch "$work/go-$1"
	patiently 60 sent_all "$1" && patiently 60 known "$1" || {
		paste -d ' ' <(truth "$1") <(foreseen)
		echo "the engine foresees $(engine_foresees)"
		return 1
	}
	foreseen >"$work/foreseen-$(($1 + 1))"
	engine_foresees >"$work/engine-$(($1 + 1))"
}

# errors: "ITERATION PERCENT PERCENT": of the worst rank, and of what the engine
# planned for, beside what was sent then
errors() {
	local k

	for ((k = 2; k <= ITERATIONS; k++)); do
		paste -d ' ' "$work/foreseen-$k" <(truth $k) |
			awk -v k=$k -v engine="$(<"$work/engine-$k")" \
			    -v sent="$(truth $k | a_to_b)" '
			function percent(is, was) {
				return 100 * (is > was ? is - was : was - is) / was
			}
			{ e = percent($2, $4); if (e > worst) worst = e }
			END { printf "%d %.2f %.2f\n", k, worst, percent(engine, sent) }'
	done
}

# within FROM TO: both errors of these iterations are at most 5 percent, and not 0
within() {
	awk -v from="$1" -v to="$2" '
		$1 >= from && $1 <= to {
			n++
			if ($2 > 5 || $3 > 5 || $2 == 0) bad = 1
		}
		END { exit bad || n != to - from + 1 }' "$work/errors"
}

# missed K: both errors are more
missed() {
	awk -v k="$1" '$1 == k { exit !($2 > 5 && $3 > 5) }' "$work/errors"
}

# slowest: of what spines have now, the time of the fullest link from leaf1, in
# units of what a link of 100G has to do with a percent
slowest() {
	awk '{ t = $1 / (NR == 1 ? 0.2 : 1); if (t > most) most = t }
		END { print most }' <<<"$1"
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit unload
at_exit stop_engines
at_exit stop_fabricd
# the first spine's link is a fifth of the others
fabric_topology | gojq '(.links[] | select(.from == "leaf1" and .to == "spine1")).rate = "20G"' \
	>"$work/topology.json"
config A | gojq --arg demands "$work/demands" '.demands = $demands' >"$work/A.json"
config B >"$work/B.json"
cat >"$work/fabricd.json" <<-END
{ "name": "engine", "topology": "$work/topology.json", "lease-s": 60,
  "forecasts": 100,
  "file": "$work/store.json", "socket": "$work/control.sock",
  "store": { "socket": "$work/store.sock" } }
END
start_engine A
start_engine B
start_fabricd
check "four paths, probed and up" patiently 60 usable A 4
check "the global engine leads" patiently 30 eval 'fabric show | gojq -e .leads'

# ---- forecasts
experts &
mpi=$!
for ((k = 1; k <= ITERATIONS; k++)); do
	check "iteration $k: what it sent is what is forecast" iterate $k
done
errors >"$work/errors"
sed 's/^/# forecast off by percent, iteration, srpold, engine: /' "$work/errors"
check "after three iterations forecasts are within 5 %" within 4 $((STEP - 1))
check "that of the step is not: nobody could know" missed $STEP
check "and within three iterations they are again" within $((STEP + 3)) $ITERATIONS

# ---- placement
check "what is forecast has a plan" patiently 30 planned '[3,15,15,15]'
check "as a forecast" eval \
	"fabric plan from leaf1 | gojq -e '.pairs[0].for == [\"forecasts\"]'"
check "both hosts applied it" patiently 60 on_epoch
on A rule add prio 100 dst fd00:b::/64 color 100
check "spines have what the plan gives them, within 5 %" spines_have 6 31 31 31
placed=$(sent)
port=$((port + 2000))
on A rule del prio 100
hops=
for m in 1 2 3 4; do
	hops+=" nexthop via fd00:1:$m::2 dev spine$m"
done
# shellcheck disable=SC2086
ip -n "$(fabric_ns leaf1)" route add fd00:b::/64 $hops
fabric_exec leaf1 sysctl -qw net.ipv6.fib_multipath_hash_policy=1
check "by the leaf's ECMP they have the same" spines_have 25 25 25 25
hashed=$(sent)
echo "# fullest link, time: plan $(slowest "$placed"), ECMP $(slowest "$hashed")"
check "which takes the slow link more than twice as long as the plan" awk -v \
	plan="$(slowest "$placed")" -v ecmp="$(slowest "$hashed")" \
	'BEGIN { exit ecmp < 2 * plan }'

touch "$work/end"
ended=0
wait $mpi || ended=$?
check_equal "the program ends well, all of it right" 0 $ended
check "its forecasts end with it" patiently 30 planned null
[ $ktap_failures -eq 0 ] || sed "s/^/# /" "$work"/*.log "$work/mpi.err" "$work/sent"
