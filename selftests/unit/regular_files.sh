#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Files that operators name and engines read: what is no regular file is refused. A
# pipe into which nobody writes would stop an engine that is in force, at a reload.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

bin=${BUILD:-$PWD/build}/bin
work=$(mktemp -d)
at_exit rm -r "$work"

mkfifo "$work/pipe"
: >"$work/empty"
"$bin/srpol" topology generate hosts 2 nic-rate 400G >"$work/topology.json"

# config TOPOLOGY [MORE]
config() {
	echo "{ \"topology\": \"$1\"${2:-} }"
}

# bus PASSWORD-FILE
bus() {
	config "$work/topology.json" ", \"bus\": { \"servers\": [ \"nats://a\" ],
		\"user\": \"u\", \"password-file\": \"$1\" }"
}

# refuses NAME PROGRAM FILE WORDS: it does not take the configuration file, nor waits
refuses() {
	check_fails "$2: $1" "$4" timeout 60 "$bin/$2" --check-config -c "$3"
}

# which KIND: what is said of a file of that name
which() {
	case $1 in
	pipe) echo "$work/pipe: no regular file" ;;
	none) echo "$work/none: No such file or directory" ;;
	empty) echo "$work/empty is empty" ;;
	esac
}

for program in srpold srpol-fabricd; do
	for kind in pipe none; do
		refuses "configuration, $kind" $program "$work/$kind" "^$(which $kind)"
		config "$work/$kind" ', "hosts": [ "host0.0.0" ]' >"$work/config"
		[ $program = srpold ] || config "$work/$kind" >"$work/config"
		refuses "topology, $kind" $program "$work/config" "$(which $kind)"
	done
	refuses "configuration, folder" $program "$work" "^$work: no regular file"
	refuses "configuration, device" $program /dev/zero "^/dev/zero: no regular file"
done

for kind in pipe none empty; do
	bus "$work/$kind" >"$work/config"
	refuses "password-file, $kind" srpol-fabricd "$work/config" \
		"\"password-file\": $(which $kind)"
done
