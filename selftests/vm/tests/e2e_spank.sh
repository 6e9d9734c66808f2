#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Jobs of a real Slurm: srpold is told of each by the SPANK plugin, with its
# control group, and packets of a job take its paths only; jobs that end, are
# killed, ask for what is not allowed; no srpold; a bandwidth that the global
# engine is asked for.
#
# SRPOL_CLOCK=counted
# SRPOL_TIMEOUT=600

set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=init
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/vm/tests/engine_lib.sh
. selftests/vm/tests/engine_lib.sh
# shellcheck source=selftests/vm/tests/slurm_lib.sh
. selftests/vm/tests/slurm_lib.sh

examples=Documentation/examples/slurm
fabricd=
user=()

# both hosts are in this namespace
on() {
	shift
	srpol "$@"
}

start() {
	srpold -c "$work/both.json" 2>>"$work/both.log" &
	engine[both]=$!
}

down() {
	srpol dev del hA 2>/dev/null || :
	srpol dev del hB 2>/dev/null || :
	rmmod srpol 2>/dev/null || :
	rm -f /run/srpold/*.jobs
	rm -rf "$work"
}

# plugin WORD...: its line in plugstack.conf
plugin() {
	echo "$1 $BUILD/lib/spank_srpol.so ${*:2}" >/etc/slurm/plugstack.conf
}

# as USER: whose jobs are begun from now on
as() {
	user=(setpriv --reuid="$1" --regid=nogroup --clear-groups)
}

# run OPTION... COMMAND...: on node A
run() {
	"${user[@]}" srun -D / -w A -N 1 -t 10 "$@"
}

# run_job OPTION...: one task that waits for $work/go
run_job() {
	# shellcheck disable=SC2016
	run "$@" sh -c \
		'echo $SLURM_JOB_ID; cut -d : -f 3 /proc/self/cgroup
		until [ -e "$0" ]; do sleep 0.2; done' "$work/go"
}

# begin_job OPTION...: run it in the background; $id and $cgroup are the job's
begin_job() {
	rm -f "$work/go"
	run_job "$@" >"$work/job.out" 2>"$work/job.err" &
	srun=$!
	id=
	cgroup=
	patiently 60 eval '[ "$(wc -l <"$work/job.out")" -ge 2 ]' || return 0
	id=$(sed -n 1p "$work/job.out")
	cgroup=$(sed -n 2p "$work/job.out")
	cgroup=${cgroup%/step_*}
}

end_job() {
	touch "$work/go"
	ended=0
	wait "$srun" || ended=$?
}

# known: the job, as srpold has it
known() {
	srpol -j job show "slurm-$id" | gojq -c \
		'.[0] | [ .name, .cgroup, .color, .paths ]'
}

is_gone() {
	srpol -j job show | gojq -e length==0
}

is_over() {
	[ -z "$(squeue -h)" ]
}

# logged TEXT: by slurmd or slurmstepd of node A
logged() {
	grep -q "$1" "$work/A.log"
}

# What an own step of a job runs: five datagrams of each of 64 flows
write_sender() {
	cat >"$work/send.py" <<-'END'
	import socket, sys
	for port in range(int(sys.argv[1]), int(sys.argv[1]) + 64):
	    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	    s.bind(("fd00:a::1", port))
	    for _ in range(5):
	        s.sendto(b"x" * 100, ("fd00:b::1", 9))
	END
}

# send ID PORT: from another step of that job
send() {
	srun --jobid="$1" --overlap -w A -N 1 -n 1 python3 "$work/send.py" "$2"
}

# spines NAME: those that the job's flows have, by the data plane
spines() {
	srpol -j job show "$1" | gojq -c '[ .[0].use[] | select(.bytes > 0) |
		.name | ltrimstr("A-") | rtrimstr("-B") ] | sort'
}

# what to look at when a check failed
report() {
	local log

	[ $ktap_failures -gt 0 ] || return 0
	for log in "$work"/{slurmctld,A.log,both.log,fabricd.log,job.err}; do
		tail -n 40 "$log" | sed "s,^,# ${log##*/}: ,"
	done
}

start_fabricd() {
	cat >"$work/fabricd.json" <<-END
	{ "name": "engine", "topology": "$work/topology.json",
	  "file": "$work/store.json", "socket": "$work/control.sock",
	  "store": { "socket": "$work/store.sock" } }
	END
	srpol-fabricd -c "$work/fabricd.json" 2>>"$work/fabricd.log" &
	fabricd=$!
}

stop_fabricd() {
	[ -z "$fabricd" ] || kill "$fabricd" 2>/dev/null || :
	wait "$fabricd" 2>/dev/null || :
}

fabric() {
	srpol -j fabric "$@" socket "$work/control.sock"
}

at_exit fabric_down
fabric_up
insmod kmod/srpol.ko
at_exit down
at_exit report
at_exit stop_engines
at_exit stop_fabricd
chmod 755 "$work"
fabric_topology >"$work/topology.json"
cat >"$work/both.json" <<END
{ "topology": "$work/topology.json", "hosts": [ "A", "B" ],
  "probes": { "interval-ms": 1000, "multiplier": 5, "timeout-ms": 1000,
              "wait-to-restore-ms": 1000 },
  "weights": { "delay-us": 1000000 } }
END
start
check "paths of both hosts are probed and up" patiently 60 usable A 8

write_sender
slurm_unpack
slurm_configure
for script in prolog epilog; do
	sed -e "s,^socket=.*,socket=$work/control.sock," \
		-e "s,^PATH=.*,PATH=$PATH," \
		$examples/$script-slurmctld >/etc/slurm/$script-slurmctld
	chmod +x /etc/slurm/$script-slurmctld
done
plugin optional colors=100-199,300 timeout=60
at_exit slurm_down
slurm_up
check "Slurm runs" patiently 120 slurm_is_idle

# ---- jobs with paths of their own
begin_job --srpol-color=110 --srpol-paths=disjoint
one=$id
check_equal "srpold knows a job with its control group" \
	"[\"slurm-$one\",\"/system.slice/A_slurmstepd.scope/job_$one\",110,\"disjoint\"]" \
	"$(known)"
check_equal "that is where Slurm has it" \
	"/system.slice/A_slurmstepd.scope/job_$one" "$cgroup"
begin_job --srpol-paths=disjoint
two=$id
check "another step of the first one sends" send "$one" 20000
check "and one of a second job" send "$two" 30000
check_equal "the first one's packets take two spines" \
	'["spine1","spine3"]' "$(spines "slurm-$one")"
check_equal "the second one's the other two" '["spine2","spine4"]' \
	"$(spines "slurm-$two")"
end_job
check_equal "the second one ended well" 0 $ended
check "and srpold knows them no more" patiently 60 is_gone

# ---- a batch job, and one that is killed
rm -f "$work/go"
# shellcheck disable=SC2016
check "a batch job is taken" sbatch -w A -N 1 --srpol-color=101 -o "$work/batch.out" \
	--wrap "srun sleep 1; srun sh -c 'echo \$SLURM_JOB_ID; sleep 1000'"
check "its second step runs" patiently 60 test -s "$work/batch.out"
id=$(<"$work/batch.out")
check_equal "all its steps are one job" \
	"[[\"slurm-$id\",101]]" \
	"$(srpol -j job show | gojq -c '[ .[] | [ .name, .color ] ]')"
check "it is killed" scancel -s KILL "$id"
check "killed, it is known no more" patiently 60 is_gone
check "and over" patiently 60 is_over
begin_job --srpol-color=102
check "a job begins, and slurmstepd is killed" eval \
	'known | grep -q 102 && kill -9 "$(pgrep -f "slurmstepd: \[$id[.]")"'
scancel "$id" || :
wait "$srun" || :
check "that one is known no more as well" patiently 120 is_gone
check "and over" patiently 120 is_over

# ---- what was not taken back
check "a job that was left behind has a color" srpol job add slurm-9999 \
	cgroup /system.slice/A_slurmstepd.scope/job_9999 color 150
begin_job --srpol-color=150
check_equal "it goes when that is in the way" "[[\"slurm-$id\",150]]" \
	"$(srpol -j job show | gojq -c '[ .[] | [ .name, .color ] ]')"
end_job
check "an operator's job has a color" srpol job add mine src fd00:a::1/128 color 151
begin_job --srpol-color=151
check_equal "that stays" '["mine"]' "$(srpol -j job show | gojq -c '[ .[].name ]')"
end_job
check_equal "the job runs to its end" 0 $ended
check "and why it has no paths of its own is told to the user" \
	grep -q "color 151 belongs to somebody else" "$work/job.err"
check "the operator deletes it" srpol job del mine

# ---- what is wrong
check_fails "no color" "a number from 1 to 4294967295 is wanted" \
	run --srpol-color=red true
check_fails "no rate" "RATE or RATE/MAX in bit/s is wanted" \
	run --srpol-bw=fast true
check_fails "sbatch: neither on nor off" "on or off is wanted" \
	sbatch --srpol=maybe --wrap true
check_fails "salloc: no names" "disjoint, or up to 16 names" \
	salloc --srpol-paths=,a true
check_fails "a color that is not allowed" \
	"color 555 is not allowed to user 0 here: these are: 100-199,300" \
	run --srpol-color=555 true
check_fails "switches by name" "users may not name switches here" \
	run --srpol-paths=spine1 true
check_equal "nothing of it was submitted" "" "$(squeue -h)"

# whoever has another plugstack.conf than the nodes
mkdir "$work/mine"
cp /etc/slurm/*.conf "$work/mine/"
echo "optional $BUILD/lib/spank_srpol.so colors=1-999 timeout=60" >"$work/mine/plugstack.conf"
check "a color that only the user's own configuration allows" eval \
	"SLURM_CONF=$work/mine/slurm.conf begin_job --srpol-color=555;
	 [ -n \"\$id\" ] && is_gone; none=\$?; touch $work/go; [ \$none -eq 0 ]"
check "over" patiently 60 is_over
check "is not given, which slurmd's log has" logged \
	"color 555 is not allowed to user 0 here"
plugin optional colors=100-199,300 required timeout=60
check_fails "and ends the job where it is required" \
	"Killed" \
	env SLURM_CONF="$work/mine/slurm.conf" srun -D / -w A --srpol-color=555 true
check "and slurmd's log says why" logged "the job ends: color 555 is not allowed"

# ---- colors of users, and of jobs that say nothing
plugin optional color=300 timeout=60
begin_job
check_equal "a job that says nothing has the default color" \
	"[\"slurm-$id\",\"$cgroup\",300,null]" "$(known)"
end_job
check "over" patiently 60 is_gone
begin_job --srpol=off
check_equal "but for one that is to be left alone" 0 \
	"$(srpol -j job show | gojq length)"
end_job
printf '%s\n' "nobody 50" "# all others" "* 7,100-199 # and these" \
	>/etc/slurm/srpol-users
plugin optional users=/etc/slurm/srpol-users switches timeout=60
begin_job --srpol-paths=spine2,spine3
check_equal "a user has the first of the user's colors, and named switches" \
	"[\"slurm-$id\",\"$cgroup\",7,[\"spine2\",\"spine3\"]]" "$(known)"
end_job
check "over" patiently 60 is_gone
as nobody
check_fails "a color of others" \
	"color 120 is not allowed to user 65534 here: these are: 50" \
	run --srpol-color=120 true
begin_job --srpol-color=50
check_equal "a color of one's own" \
	"[\"slurm-$id\",\"$cgroup\",50,null]" "$(known)"
end_job
user=()
check "over" patiently 60 is_gone

# ---- no srpold, and one that does not answer
plugin optional colors=100-199 timeout=1
kill -STOP "${engine[both]}"
check "srpold does not answer: the job runs" run --srpol-color=120 true
check "and slurmd's log says so" logged "no answer in time"
check "over" patiently 60 is_over
kill -CONT "${engine[both]}"
kill "${engine[both]}"
wait "${engine[both]}" || :
check "no srpold: the job runs" run --srpol-color=101 true
check "and slurmd's log says so" logged "srpold does not run here"
check "over" patiently 60 is_over
plugin optional colors=100-199 required
check_fails "required: it does not" "Killed" run --srpol-color=101 true
check "and slurmd's log says why" logged "the job ends: srpold does not run here"
check_fails "nor does it without a word" "have to be known to srpold" \
	run --srpol=off true
check "over" patiently 60 is_over

# ---- a bandwidth
plugin optional
start_fabricd
check "the engine leads" patiently 30 eval 'fabric show | gojq -e .leads'
check "a tenant, which is an account" fabric tenant add red color 7 \
	guaranteed 10G max 20G
srun -D / -N 2 -A red --srpol-bw=4G sh -c \
	'until [ -e "$0" ]; do sleep 0.2; done' "$work/never" \
	>"$work/job.out" 2>&1 &
srun=$!
check "a job's bandwidth is reserved" patiently 60 eval \
	'fabric jobs | gojq -e ".[0] |
		.tenant == \"red\" and .reservation.guaranteed == 4000000000"'
check_fails "no more than there is" "PrologSlurmctld failed" \
	timeout 60 srun -D / -N 2 -A red --srpol-bw=9G true
check_equal "nothing of that is reserved" 4000000000 \
	"$(fabric tenants | gojq '.[0].reserved')"
scancel -u root
wait "$srun" || :
check "with the job, its reservation ends" patiently 60 eval \
	'fabric jobs | gojq -e length==0'
