# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# KTAP for bash test programs: source it, report with ok, not_ok, check and
# skip, wait with busywait. There is no plan to keep; run.sh counts the lines.
# The exit status follows the results by itself.

ktap_number=0
ktap_failures=0

echo "KTAP version 1"

ktap_result() {
	ktap_number=$((ktap_number + 1))
	echo "$1 $ktap_number $2"
}

# ok NAME
ok() {
	ktap_result ok "$1"
}

# not_ok NAME [WHY...]
not_ok() {
	local name=$1
	shift

	ktap_failures=$((ktap_failures + 1))
	ktap_result "not ok" "$name"
	[ $# -eq 0 ] || echo "# $*"
}

# skip NAME REASON...
skip() {
	local name=$1
	shift

	ktap_result ok "$name # SKIP $*"
}

# skip_all REASON...: this machine cannot run the program at all
skip_all() {
	echo "1..0 # SKIP $*"
	exit 4
}

# check NAME COMMAND...: ok when the command succeeds; what it printed is
# shown when it does not. The command runs in a subshell.
check() {
	local name=$1 output
	shift

	if output=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "failed: $*"
		[ -z "$output" ] || sed 's/^/#   /' <<<"$output"
	fi
}

# check_fails NAME TEXT COMMAND...: ok when the command fails and says TEXT
# (an extended regular expression) while doing so
check_fails() {
	local name=$1 text=$2 output
	shift 2

	if output=$("$@" 2>&1); then
		not_ok "$name" "did not fail: $*"
	elif ! grep -qE -- "$text" <<<"$output"; then
		not_ok "$name" "failed without saying \"$text\": $*"
		sed 's/^/#   /' <<<"$output"
	else
		ok "$name"
	fi
}

# check_equal NAME EXPECTED GOT
check_equal() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1"
		{ diff -u --label expected --label got <(printf '%s\n' "$2") \
			<(printf '%s\n' "$3") || :; } | sed 's/^/#   /'
	fi
}

# busywait SECONDS COMMAND...: until the command succeeds; false when it has
# not within that time on an idle machine: others may use this one, which takes
# three times as long then, and a guest that is SRPOL_SLOWER takes longer, too
busywait() {
	local end=$((SECONDS + 3 * $1 * ${SRPOL_SLOWER:-1} + 1))
	shift

	until "$@" >/dev/null 2>&1; do
		if [ "$SECONDS" -ge "$end" ]; then
			# once more: the time may be that of a stall since it was looked
			"$@" >/dev/null 2>&1
			return
		fi
		pause 0.05
	done
}

# pause SECONDS: without a process for it, which costs an emulated guest as much as
# some of the commands that are waited for
pause() {
	read -rt "$1" -u "$ktap_never" || :
}
# nobody writes there
exec {ktap_never}<> <(:)

# at_exit COMMAND...: clean-ups, run in the reverse of the order given
ktap_cleanups=()

at_exit() {
	ktap_cleanups+=("$(printf '%q ' "$@")")
}

# relay PREFIX: lines "ok NAME" and "not ok NAME | WHY" of another program, which
# are read, become results of this one
relay() {
	local line

	while read -r line; do
		case $line in
		"ok "*)	ok "$1${line#ok }" ;;
		"not ok "*)
			line=${line#not ok }
			not_ok "$1${line%% | *}" "${line#* | }"
			;;
		esac
	done
}

ktap_finish() {
	local rc=$? i

	set +e
	for ((i = ${#ktap_cleanups[@]} - 1; i >= 0; i--)); do
		eval "${ktap_cleanups[i]}"
	done
	if [ $rc -eq 0 ] && [ $ktap_failures -gt 0 ]; then
		rc=1
	fi
	exit $rc
}
trap ktap_finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
