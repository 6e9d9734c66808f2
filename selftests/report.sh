# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# How the outcome of one test program is counted and shown. Used by run.sh for
# native programs, by vm/batch.sh in the guest for the others.

# tally LOG STATUS: print "passed failed skipped [reason]" from the top-level
# KTAP results in LOG. A program that prints no result, fewer than it planned,
# or fails without a "not ok" counts as one failure more. Status 4 is that of one
# that cannot run here, which says so as its plan; after other results it is that of
# a command that the program ended with.
tally() {
	awk -v status="$2" '
	/^ok( |$)/ {
		if (tolower($0) ~ /# *skip/) skipped++; else passed++
	}
	/^not ok( |$)/ { failed++ }
	/^1\.\.[0-9]+/ {
		planned = substr($1, 4) + 0; has_plan = 1
		if (planned == 0) skipped++
	}
	END {
		results = passed + failed + (planned || !has_plan ? skipped : 0)
		if (status == 124 || status == 137)
			why = "timed out"
		else if (passed + failed + skipped == 0 && status == 4)
			skipped++
		else if (passed + failed + skipped == 0)
			why = "no result, exit status " status
		else if (has_plan && results != planned)
			why = "planned " planned " tests, ran " results
		else if (status != 0 && !failed &&
			 !(status == 4 && results == 0))
			why = "exit status " status
		if (why)
			failed++
		print passed + 0, failed + 0, skipped + 0, why
	}' "$1"
}

# report NAME LOG MILLISECONDS "PASSED FAILED SKIPPED [REASON]": one line for
# the program; its whole output when something in it failed
report() {
	local name=$1 log=$2 ms=$3 passed failed skipped why mark=ok

	read -r passed failed skipped why <<<"$4"
	if [ "$failed" -gt 0 ]; then
		mark=FAIL
		echo "---- $name: ${why:-$failed failed}"
		cat "$log"
		echo "----"
	elif [ "$skipped" -gt 0 ]; then
		mark=skip
		grep -iE '^(ok|1\.\.0).*# *skip' "$log" | sed "s|^|  # $name: |"
	fi
	printf '%-5s %-36s %4d passed, %d failed, %d skipped %6d.%d s\n' \
		"$mark" "$name" "$passed" "$failed" "$skipped" \
		$((ms / 1000)) $((ms % 1000 / 100))
}

# milliseconds since START (a value of $EPOCHREALTIME)
elapsed_ms() {
	local now=$EPOCHREALTIME

	echo $(((${now/./} - ${1/./}) / 1000))
}

# time_limit PROGRAM: seconds after which it is taken to hang. That is three times
# what an idle machine may need, as others may use this one: 300, or N where the
# program has "SRPOL_TIMEOUT=N" (a comment will do)
time_limit() {
	local seconds

	seconds=$(grep -aom1 'SRPOL_TIMEOUT=[0-9]*' "$1" || :)
	seconds=${seconds#*=}
	echo $((3 * ${seconds:-300}))
}
