#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Epochs and packets: host A sends over four kernel SRv6 spines, on the shipped
# eBPF programs, while etcd's leader, the engine's leader, two of three members and
# everything are killed and hosts are lied to, as engine.py does it; each plan that
# host A applies comes to count in its data plane, as the module does it. What it
# applied is held to the record of all that was written, and each packet it sent is
# looked for at B.
#
# SRPOL_EPOCHS: how many (default 24; "make long-epochs" has 100)
# SRPOL_CLOCK=counted
# SRPOL_TIMEOUT=900

set -euo pipefail

cd "$(dirname "$0")/../.."
export BUILD=${BUILD:-$PWD/build}
bpf=$BUILD/selftests/bpf/tools
tools=$BUILD/selftests/sim/tools

# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh
FABRIC_HOSTS=netns
# shellcheck source=selftests/fabric/fabric.sh
. selftests/fabric/fabric.sh
# shellcheck source=selftests/sim/slow_fabric.sh
. selftests/sim/slow_fabric.sh

slow_fabric_up
slow_fabric_topology 100 100 100 100 >"$work/topology.json"
mkdir "$work/pins/a"
export EPOCHS_TOPOLOGY=$work/topology.json
EPOCHS_A=$(fabric_ns hostA)
EPOCHS_B=$(fabric_ns hostB)
EPOCHS_SHARES="$tools/shares -f -p $work/pins/a -s fd00:a::1 -n $(slow_fabric_mac leaf1)"
export EPOCHS_A EPOCHS_B EPOCHS_SHARES
selftests/sim/epochs.py
