# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# srpol-fabricd with $work/fabricd.json, whose store is $work/store.json behind
# $work/store.sock and whose socket is $work/control.sock; to be sourced after
# engine_lib.sh. The test calls stop_fabricd at its end.

fabricd=

# start_fabricd [FILE...]: it does not keep these descriptors open
start_fabricd() {
	(
		for file; do
			exec {file}>&-
		done
		exec srpol-fabricd -c "$work/fabricd.json" \
			2>>"$work/fabricd.log"
	) &
	fabricd=$!
}

stop_fabricd() {
	[ -z "$fabricd" ] || kill "$fabricd" 2>/dev/null || :
	wait "$fabricd" 2>/dev/null || :
	fabricd=
}

fabric() {
	srpol -j fabric "$@" socket "$work/control.sock"
}
