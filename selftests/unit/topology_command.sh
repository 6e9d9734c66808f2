#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# srpol topology: what it makes is what both daemons take, and each mistake is
# told with its word, and the range or what to do.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

bin=${BUILD:-$PWD/build}/bin
work=$(mktemp -d)
at_exit rm -r "$work"

# generate WORDS
generate() {
	# shellcheck disable=SC2086
	"$bin/srpol" topology generate $1
}

# of FILTER: of the file that was generated last
of() {
	gojq -r "$1" "$work/topology.json"
}

# daemons HOST: take the file
daemons() {
	echo "{ \"topology\": \"$work/topology.json\", \"hosts\": [ \"$1\" ] }" \
		>"$work/srpold.json"
	echo "{ \"topology\": \"$work/topology.json\" }" >"$work/fabricd.json"
	"$bin/srpold" --check-config -c "$work/srpold.json" &&
		"$bin/srpol-fabricd" --check-config -c "$work/fabricd.json"
}

# words | what check says of the file
while IFS='|' read -r words says; do
	if ! generate "$words" >"$work/topology.json"; then
		not_ok "generate $words"
		continue
	fi
	check_equal "generate $words" "$says" \
		"$("$bin/srpol" topology check "$work/topology.json")"
	check "srpold and srpol-fabricd take it" daemons host0.0.0
done <<'END'
hosts 2 nic-rate 400G|hosts 2 leaves 1 spines 0 supers 0 nics 2 links 0
hosts 64 planes 4 nic-rate 400G nic-cables 2|hosts 64 leaves 4 spines 0 supers 0 nics 256 links 0
hosts 16 groups 8 spines 4 nic-rate 100G rate 400G|hosts 128 leaves 8 spines 4 supers 0 nics 128 links 32
hosts 4 groups 2 rails 8 spines 4 nic-rate 400G|hosts 8 leaves 16 spines 4 supers 0 nics 64 links 64
hosts 2 groups 2 planes 2 spines 3 nic-rate 400G|hosts 4 leaves 4 spines 6 supers 0 nics 8 links 12
hosts 2 groups 2 pods 2 spines 2 supers 2 nic-rate 1.6T|hosts 8 leaves 4 spines 4 supers 4 nics 8 links 16
END

# on_host NAME: srpold takes that name, as the configuration has none
on_host() {
	local as_root=-r

	[ "$(id -u)" -ne 0 ] || as_root=
	echo "{ \"topology\": \"$work/topology.json\" }" >"$work/srpold.json"
	unshare $as_root --uts sh -c 'hostname "$1" && shift && exec "$@"' sh \
		"$1" "$bin/srpold" --check-config -c "$work/srpold.json"
}
check_fails "a host with a long name has to be told by \"hosts\"" \
	'name of this host has more than 47 characters: "hosts" has to say' \
	on_host "$(printf 'h%.0s' {1..50})"

generate "hosts 2 rails 2 planes 4 nic-rate 400G nic-cables 2 nic eth" >"$work/topology.json"
check_equal "NICs: names, rails, planes, cables" \
	"eth0 0 0 2 eth3 0 3 2 eth4 1 0 2 eth7 1 3 2" \
	"$(of '[ .hosts[1].nics | .[0, 3, 4, 7] |
		"\(.name) \(.rail // 0) \(.plane // 0) \(.cables)" ] | join(" ")')"
check "commands may be abbreviated" "$bin/srpol" topo ch "$work/topology.json"
check_equal "in JSON" '[{"hosts":2,"leaves":8,"spines":0,"supers":0,"nics":16,"links":0,"nics_without_address":0,"nics_without_gateway":0}]' \
	"$("$bin/srpol" -j topology check "$work/topology.json")"
of 'del(.hosts[].nics[0].address)' >"$work/bare.json"
mv "$work/bare.json" "$work/topology.json"
check_equal "NICs without an address are told, which srpold refuses" \
	'2 NICs have no "address", which srpold needs' \
	"$("$bin/srpol" topology check "$work/topology.json" | sed 1d)"
check_fails "so it does" "has no \"address\"" daemons host0.0.0
generate "hosts 2 nic-rate 400G" >"$work/whole.json"
gojq 'del(.hosts[1].nics[0].gateway)' "$work/whole.json" >"$work/topology.json"
check_equal "NICs without a gateway are told" \
	'1 NICs have no "gateway", which srpold needs at its own host' \
	"$("$bin/srpol" topology check "$work/topology.json" | sed 1d)"
check "it is needed at other hosts only" daemons host0.0.0
check_fails "and by that host" \
	"^$work/topology.json: NIC nic0 of host host0.0.1 has no \"gateway\"" \
	daemons host0.0.1

gojq '.hosts[1].nics += [ .hosts[1].nics[0] | .name = "nic1" | .rail = 1 |
	.address = "fd00::77" | del(.gateway) ]' "$work/whole.json" >"$work/topology.json"
check "nor at a NIC that no other host can be reached by" daemons host0.0.1

# a host that the topology does not have
cp "$work/whole.json" "$work/topology.json"
check_fails "a host that is wrong in the configuration" \
	'no host "gpu1", which is named in "hosts"$' daemons gpu1
check_fails "one that is not named there" 'no host "gpu1"; name it in "hosts"$' on_host gpu1
check "the name of this host is enough" on_host host0.0.1

# first_path ID: of a host with one path to its neighbor, and four to each of two others
generate "hosts 2 groups 2 spines 4 nic-rate 400G" >"$work/topology.json"
first_path() {
	echo "{ \"topology\": \"$work/topology.json\", \"hosts\": [ \"host0.0.0\" ],
		\"first-path\": $1 }" >"$work/srpold.json"
	"$bin/srpold" --check-config -c "$work/srpold.json"
}
check_equal "paths that have the last ids" "9 paths to 3 endpoints" "$(first_path 16375)"
check_fails "one path more than ids" \
	'9 paths to 3 endpoints, and no room.* 16383, .*"first-path", 16376' first_path 16376
check_fails "a first id that no path can have" '"first-path".* from 1 to 16383' \
	first_path 16384

# what is collected of a file that cannot be read whole; the shell may not end by it
long_line() {
	(ulimit -v 100000
	{ echo "topology generate hosts 1 nic-rate 1G"; head -c 90000000 /dev/zero |
		tr '\0' x; } 2>/dev/null | "$bin/srpol" -batch -)
}
check_fails "a batch whose line is longer than memory" "reading -: Cannot allocate" long_line

# words after generate | what is said
while IFS='|' read -r words says; do
	check_fails "refused: generate $words" "^Error: $says" generate "$words"
done <<'END'
|hosts is missing: .* such as hosts 32
hosts|hosts: a value is missing
hosts 0 nic-rate 1G|hosts: "0" is not a number from 1 to 65535
hosts 65536 nic-rate 1G|hosts: "65536" is not a number from 1 to 65535
hosts -1 nic-rate 1G|hosts: "-1" is not a number from 1 to 65535
hosts 2x nic-rate 1G|hosts: "2x" is not
hosts 2 hosts 2|"hosts" is given twice
hosts 2|nic-rate is missing: .* such as nic-rate 400G
hosts 2 nic-rate fast|nic-rate: "fast" is not a rate of 1 to 2\^50 bit/s, such as 400G
hosts 2 nic-rate 0|nic-rate: "0" is not a rate
hosts 2 nic-rate 1G rate 9999999T spines 1|rate: "9999999T" is not a rate
hosts 2 nic-rate 1G planes 17|planes: "17" is not a number from 1 to 16
hosts 2 nic-rate 1G rails 65|rails: "65" is not a number from 1 to 64
hosts 2 nic-rate 1G nic-cables 65|nic-cables: "65" is not a number from 1 to 64
hosts 2 nic-rate 1G nic abcdefghijkl|nic: "abcdefghijkl" is not .* 1 to 11 characters
hosts 2 nic-rate 1G nic a/b|nic: "a/b" is not
hosts 2 nic-rate 1G nic a%d|nic: "a%d" is not
hosts 2 nic-rate 1G cables 8|cables: there are no links between switches
hosts 2 nic-rate 1G groups 2|groups: nothing joins their leaves; give spines
hosts 2 nic-rate 1G spines 2 pods 2|pods: nothing joins them; give supers
hosts 2 nic-rate 1G supers 2|srpol: super-spines without spines
hosts 2 nic-rate 1G rate 1G|rate: there are no links between switches; give spines
hosts 60000 groups 60000 spines 1 nic-rate 1G|srpol: more than 8388608 hosts
hosts 2 nic-rate 1G plane 4|"plane" is unexpected here
END
check_fails "refused: check" "check: a value is missing" "$bin/srpol" topology check
check_fails "a file that is not there is named" "^Error: srpol: /nonexistent: No such file" \
	"$bin/srpol" topology check /nonexistent
generate "hosts 2 nic-rate 400G" | sed 's/400000000000/"fast"/' >"$work/topology.json"
wrong='topology.json: line [0-9]*: hosts\[0\].nics\[0\].rate: "fast" is no rate'
check_fails "a wrong file: with its line" "^Error: srpol: $work/$wrong" \
	"$bin/srpol" topology check "$work/topology.json"
check_fails "so says srpold, and names it once" "^$work/$wrong" daemons host0.0.0
