#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Where srpol engine asks srpold, and srpold answers: at a socket by the name of the
# network namespace, which may have up to 255 bytes, while the path of a socket may have
# 107.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

srpol=${BUILD:-$PWD/build}/bin/srpol
srpold=${BUILD:-$PWD/build}/bin/srpold

unshare -rmn true 2>/dev/null ||
	skip_all "user namespaces (unshare -rmn) are not allowed here"

# within LENGTH COMMAND...: in a network namespace with a name of that length
within() {
	# shellcheck disable=SC2016
	unshare -rmn bash -euc '
		mount -t tmpfs none /run
		mkdir /run/netns
		name=$(printf "%*s" "$1" "" | tr " " n)
		touch "/run/netns/$name"
		mount --bind /proc/self/ns/net "/run/netns/$name"
		shift
		"$@"' - "$@"
}

# asks LENGTH WORDS: srpol engine WORDS
asks() {
	within "$1" "$srpol" engine "${@:2}"
}

# checks LENGTH JSON: srpold reads this configuration
checks() {
	echo "$2" >"$config"
	within "$1" "$srpold" --check-config -c "$config"
}

config=$(mktemp)
at_exit rm "$config"

for words in show watch; do
	check_fails "$words: a name of 90 bytes" \
		"^Error: srpol: srpold does not run in this network namespace: /run/srpold/n{90}\.sock: No such file or directory\.$" \
		asks 90 $words
	for n in 91 200; do
		check_fails "$words: one of $n, which does not fit" \
			"^Error: srpol: srpold has no socket by the name of this network namespace, which is too long: " \
			asks "$n" $words
	done
done
check_fails "show: at another socket" "does not run in this .*: /run/other: No such file" \
	asks 91 show socket /run/other
for n in 63 90; do
	check_fails "srpold: a name of $n bytes" "/none: No such file" \
		checks "$n" '{ "topology": "/none" }'
done
check_fails "srpold: one of 91" '"socket" is needed' checks 91 '{ "topology": "/none" }'
check_fails "srpold: with another socket" "/none: No such file" \
	checks 91 '{ "topology": "/none", "socket": "/run/other" }'
