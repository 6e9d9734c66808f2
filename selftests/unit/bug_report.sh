#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# srpol bug-report: an archive of all parts, or none and the reason. Disks that are
# full are file systems in a mount namespace of its own, without the module.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

srpol=${BUILD:-$PWD/build}/bin/srpol
work=$(mktemp -d)
at_exit rm -rf "$work"

unshare -rmn true 2>/dev/null ||
	skip_all "user namespaces (unshare -rmn) are not allowed here"

# disks TEMP TARGET COMMAND: with file systems of these sizes below $work; what is
# left there is listed in $work/left
export work
disks() {
	mkdir -p "$work"/{temp,target}
	status=0
	# shellcheck disable=SC2016
	unshare -rmn bash -c '
		mount -t tmpfs -o "size=$1" none "$work/temp"
		mount -t tmpfs -o "size=$2" none "$work/target"
		cd "$work/target"
		export TMPDIR=$work/temp
		status=0
		eval "$3" || status=$?
		find "$work/temp" "$work/target" -mindepth 1 -printf "%P\n" >"$work/left"
		exit $status' - "$@" >"$work/said" 2>"$work/why" || status=$?
}

# fails NAME PATTERN: status 2, that message, and nothing is left
fails() {
	check_equal "$1: the status" 2 "$status"
	check "$1: it says so" grep -qE "^Error: srpol: $2" "$work/why"
	check_equal "$1: no archive is named" "" "$(cat "$work/said")"
	check_equal "$1: nothing is left" "" "$(cat "$work/left")"
}

# a name that tar would take for one on another host
disks 16m 16m "umask 022; : >\"-1:a'b.tar.gz\"; $srpol bug-report \"-1:a'b.tar.gz\" && tar -tz --force-local -f -1:* && stat -c %a -- *.gz"
check_equal "an archive: the status" 0 "$status"
check_equal "it is named" "-1:a'b.tar.gz" "$(head -n 1 "$work/said")"
check_equal "all parts are in it" 25 "$(sed '1d;$d' "$work/said" | wc -l)"
check_equal "only its owner may read it" 600 "$(tail -n 1 "$work/said")"
check_equal "nothing else is left" "-1:a'b.tar.gz" "$(cat "$work/left")"

# a tool that is far behind in a long PATH
mkdir "$work/tools"
printf '#!/bin/sh\necho played\n' >"$work/tools/rdma"
chmod +x "$work/tools/rdma"
export srpol
# shellcheck disable=SC2016
disks 16m 16m '
	for i in {1..99}; do long=${long-}/long/folder/$i:; done
	PATH=$long$work/tools:$PATH
	"$srpol" bug-report r.tar.gz && tar -xOzf r.tar.gz --wildcards "*/rdma"'
check_equal "a long PATH: the tool is found" "played" "$(sed -n '2p' "$work/said")"

disks 16k 16m "$srpol bug-report r.tar.gz"
fails "a full folder for parts" \
	"part \"[a-z.]+\" cannot be written to .*/temp/.*: No space left on device; there is no archive; TMPDIR "

disks 16m 4k "( head -c 4096 /dev/zero >fill; trap 'rm fill' EXIT; $srpol bug-report r.tar.gz )"
fails "a full folder for the archive" \
	"r.tar.gz: No space left on device; there is no archive\.$"

disks 16m 16m "$srpol bug-report missing/r.tar.gz"
fails "no such folder" "missing/r.tar.gz: No such file or directory\.$"
