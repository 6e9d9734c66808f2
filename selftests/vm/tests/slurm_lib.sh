# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Slurm in the guest, to be sourced after engine_lib.sh: slurmctld, and slurmd of nodes
# A and B, from build/tools/slurm, which is unpacked into the guest's own root
# file system. The test writes /etc/slurm/plugstack.conf.

slurm_spool=/var/spool/slurm
declare -A slurm_pid=()

slurm_unpack() {
	local program

	tar -C "$BUILD/tools/slurm" -c . | tar -x -C / --keep-directory-symlink
	for program in slurmctld slurmd slurmstepd; do
		ln -sf $program-wlm /usr/sbin/$program
	done
	grep -q guest /etc/hosts || echo "127.0.0.1 guest" >>/etc/hosts
}

slurm_configure() {
	mkdir -p /etc/munge /run/munge /var/log/munge /var/lib/munge /etc/slurm \
		$slurm_spool/{ctld,A,B} /sys/fs/cgroup/system.slice
	chown root: /etc/munge /run/munge /var/log/munge /var/lib/munge
	chmod 755 /run/munge
	head -c 128 /dev/urandom >/etc/munge/munge.key
	chmod 400 /etc/munge/munge.key
	cat >/etc/slurm/slurm.conf <<-END
	ClusterName=test
	SlurmctldHost=guest(127.0.0.1)
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	CredType=cred/munge
	StateSaveLocation=$slurm_spool/ctld
	SlurmdSpoolDir=$slurm_spool/%n
	SlurmdLogFile=$work/%n.log
	SlurmctldPidFile=/run/slurmctld.pid
	SlurmdPidFile=/run/slurmd-%n.pid
	ProctrackType=proctrack/cgroup
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	MpiDefault=none
	ReturnToService=2
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU
	SlurmdParameters=config_overrides
	SlurmctldTimeout=600
	SlurmdTimeout=600
	KillWait=3
	PrologSlurmctld=/etc/slurm/prolog-slurmctld
	EpilogSlurmctld=/etc/slurm/epilog-slurmctld
	NodeName=A NodeHostname=guest NodeAddr=127.0.0.1 Port=17001 CPUs=8
	NodeName=B NodeHostname=guest NodeAddr=127.0.0.1 Port=17002 CPUs=8
	PartitionName=all Nodes=A,B Default=YES State=UP
	END
	# without a systemd to ask for a scope
	cat >/etc/slurm/cgroup.conf <<-END
	CgroupPlugin=cgroup/v2
	CgroupAutomount=no
	IgnoreSystemd=yes
	END
}

# slurm_start PROGRAM LOG [ARG...]: in the root's control group, as slurmd makes
# its own from there
slurm_start() {
	local program=$1 log=$2
	shift 2

	(
		echo 0 >/sys/fs/cgroup/cgroup.procs
		exec "$program" -D "$@"
	) >>"$work/$log" 2>&1 &
	slurm_pid[$log]=$!
}

slurm_up() {
	munged --force 2>/dev/null
	slurm_start slurmctld slurmctld
	slurm_start slurmd slurmd-A -N A
	slurm_start slurmd slurmd-B -N B
}

slurm_is_idle() {
	[ "$(sinfo -h -o '%T %D')" = "idle 2" ]
}

# slurmstepd leaves processes and groups of its own
slurm_down() {
	local pid scope

	scancel -u root 2>/dev/null || :
	for pid in "${slurm_pid[@]}" "$(cat /run/munge/munged.pid)"; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	for scope in /sys/fs/cgroup/system.slice/*_slurmstepd.scope; do
		echo 1 >"$scope/cgroup.kill"
		busywait 10 grep -q '^populated 0' "$scope/cgroup.events"
		find "$scope" -depth -type d -exec rmdir {} +
	done
	rmdir /sys/fs/cgroup/system.slice 2>/dev/null || :
}
