#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Manual pages, help and completion know the same words, and the pages are
# without fault.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

srpol=${BUILD:-$PWD/build}/bin/srpol
work=$(mktemp -d)
at_exit rm -r "$work"
man=Documentation/man

# usage OBJECT: the synopsis, without the sentences below it
usage() {
	"$srpol" "$1" help |
		sed -n 's/^Usage: //p; /^       srpol/p; /^             /p; s/^[A-Z]* := //p'
}

# missing OBJECT FILE: words of the synopsis that the file does not have
missing() {
	local word text

	text=$(sed 's/\\-/-/g' "$2")
	usage "$1" | grep -owE '[a-z][a-z0-9-]+' | sort -u |
		while read -r word; do
			grep -qwF -- "$word" <<<"$text" || echo "$word"
		done
}

# untold PAGE: words of its synopsis that the help of its objects does not have
untold() {
	local object word text

	text=$(for object in $objects replace; do
		[ "$(page "$object")" != "$1" ] || "$srpol" "$object" help
	done)
	sed -n '/^\.SH SYNOPSIS/,/^\.fi/p' "$1" | grep -v '^\.' |
		sed 's/\\-/-/g; s/\\f[BIRP]//g' |
		grep -owE '[a-z][a-z0-9-]+' | sort -u |
		while read -r word; do
			grep -qwF -- "$word" <<<"$text" || echo "$word"
		done
}

# page OBJECT: the page that describes it
page() {
	case $1 in
	save|replace) echo $man/srpol-export.8 ;;
	*) echo "$man/srpol-$1.8" ;;
	esac
}

# completed_in LINE: what completion offers for the word that ends there. As bash does,
# a colon is a word of its own (COMP_WORDBREAKS).
completed_in() {
	# shellcheck source=/dev/null
	. netlinkd/dist/srpol.bash-completion
	COMP_LINE=$1
	COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
	read -ra COMP_WORDS <<<"$(sed 's/::*/ & /g' <<<"$1")"
	[[ $1 != *" " ]] || COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_srpol
	printf '%s\n' "${COMPREPLY[@]}"
}

# completed LINE: what completion offers after it
completed() {
	completed_in "$1 "
}

check_equal "mandoc finds nothing wrong" "" \
	"$(mandoc -T lint -W warning $man/*.8 2>&1 || :)"

objects=$("$srpol" help | sed -n '/OBJECT :=/,/}/p' |
	grep -oE '[a-z][a-z-]+' | grep -vx where)
for object in $objects; do
	check_equal "manual: $object" "" "$(missing "$object" "$(page "$object")")"
	check_equal "help: $object" "" "$(untold "$(page "$object")")"
	check "completion: $object" grep -qx -- "$object" <(completed srpol)
done
check_equal "manual: objects" "" "$("$srpol" help | grep -oE '[a-z][a-z-]+' |
	sort -u | while read -r word; do
		grep -qw -- "$word" $man/srpol.8 || echo "$word"
	done | grep -vxE 'where|sage|srpol|empty' || :)"

# commands OBJECT: those that its synopsis has
commands() {
	usage "$1" | grep -oE "srpol $1 (\{[^}]*\}|[a-z-]+)" | cut -d' ' -f3- |
		grep -oE '[a-z][a-z0-9-]+' | sort -u
}

for object in path policy rule endpoint sid dev config flow stats monitor engine job \
	fabric topology metrics; do
	check_equal "completion: commands of $object" "" \
		"$(commands "$object" |
		grep -vxFf <(completed "srpol $object") || :)"
done

# keywords OBJECT COMMAND: of a path, show and trace have some of their own, and
# come last
keywords() {
	case "$1 $2" in
	"path show")	usage path | sed -n '/srpol path show/,/srpol path trace/{/trace/!p}' ;;
	"path trace")	usage path | sed -n '/srpol path trace/,$p' ;;
	*)		usage "$1" | sed '/srpol path show/,$d' ;;
	esac
}

for line in "path add 1" "path show 1" "path trace 1" "policy add" "rule add" "sid add fc00::1" "config set"; do
	# shellcheck disable=SC2086
	check_equal "completion: keywords of $line" "" \
		"$(keywords $line | grep -oE '\[ [a-z][a-z-]+' |
		cut -c3- | sort -u |
		grep -vxFf <(completed "srpol $line") || :)"
done
check_equal "completion: keys of path show --top" "ce id loss rate rtt signals" \
	"$(completed "srpol path show --top sort" | sort | xargs)"
check "completion: path show --top" grep -qx -- --top <(completed "srpol path show")

# line | what is offered at its end
while IFS='|' read -r line offered; do
	check_equal "completion: $line" "$offered" "$(completed "$line" | sort | xargs)"
done <<'END'
srpol rule add prio 5 dscp|af11 af12 af13 af21 af22 af23 af31 af32 af33 af41 af42 af43 cs0 cs1 cs2 cs3 cs4 cs5 cs6 cs7 ef le
srpol config set dscp|pipe uniform
srpol sid add fc00::1 behavior End.DT6 dscp|pipe uniform
srpol dev add p0 role port source|loose none strict
srpol dev add s0 role host source|none strict
srpol job add j comm a placement|hash qp
srpol job add j comm a paths|disjoint
srpol job show j|socket
srpol engine link set a b state|down up
srpol engine show|socket
srpol export gobgp|target
srpol doctor|help
srpol policy add color 1 endpoint :: spray|random round-robin
END
for line in "policy add color 1 endpoint ::" "policy change color 1" "rule add prio 5"; do
	check_equal "completion: $line mode spray: keywords" \
		"$(completed "srpol $line mode flowlet" | sort | xargs)" \
		"$(completed "srpol $line mode spray" | sort | xargs)"
done

# what "srpol -j" says that there is
srpol() {
	echo '[{"id":1,"color":7,"endpoint":"fd00:b::1","prefix":"fd00:c::/64","sid":"fc00::d6"},
{"id":2,"color":8,"endpoint":"fd00:b::2","prefix":"fd00:c:1::/64","sid":"::d6"}]'
}
# line | what is offered in place of what follows its last colon
while IFS='|' read -r line offered; do
	check_equal "completion: $line: addresses" "$offered" \
		"$(completed_in "$line" | sort | xargs)"
done <<'END'
srpol path add 1 segs fc00::1 dev hA via fe80::a|
srpol path add 1 segs fc00::1 dev hA via fe80::|
srpol path add 1 segs fc00::1 dev hA via ::|
srpol path add 1 segs fc00::1 dev hA via fe80::1 a|admin
srpol path add 1 segs ::1,fc00::1 dev hA via :: ad|admin
srpol path add 1 segs fc00::1 origin s|static
srpol policy show color 7 endpoint fd00:b::|1 2
srpol policy show color 7 endpoint fd00:b:|:1 :2
srpol policy show color 7 endpoint fd|fd00:b::1 fd00:b::2
srpol endpoint show fd00:c:|1::/64 :/64
srpol endpoint add fd00:d::/64 to fd00:b::1|1
srpol sid show ::|d6
srpol sid show fc00::d|d6
srpol sid add fc00::d6 beh|behavior
srpol sid add fc00::d6 behavior End.DT|End.DT4 End.DT46 End.DT6
srpol rule add prio 5 src fd00::/64 color |7 8
srpol sid show ::d6|d6
srpol:x|
END
mkdir "$work/rack:1"
check_equal "completion: files with colons" "1" "$(completed_in "srpol save $work/rack:")"
check_equal "completion: opcodes" "" \
	"$(sed -n 's/.*{ 0x.*, "\([a-z-]*\)" },$/\1/p' lib/opcode.c |
	grep -vxFf <(completed "srpol rule add prio 5 opcode") || :)"
check_equal "completion: nothing else" "" \
	"$(completed "srpol rule add prio 5 opcode" |
	grep -vxFf <(grep -oE '"[a-z-]+"' lib/opcode.c | tr -d '"') || :)"
for line in "save" "bug-report" "engine show socket" "job show socket" \
	"fabric plan socket" "replace -f" "topology check"; do
	check "completion: $line: files" grep -qx -- README.md <(completed "srpol $line")
done
for line in save bug-report; do
	check "completion: $line help" grep -qx -- help <(completed "srpol $line")
done

# names that a shell would run or expand; what is offered is to mean them
# shellcheck disable=SC2016
names='a$(>&2;echo;ran)
a`ran`
a*
a;b
plain'
ip() {
	echo "$names"
}
# named COMMAND: what completion offers of the names, read by a shell
named() {
	completed "$1" | while read -r word; do
		printf 'echo %s\n' "$word"
	done | bash
}
check_equal "completion: names of namespaces" "$names" "$(named "srpol -n" 2>&1)"
ls() {
	echo "$names"
}
check_equal "completion: names of devices" "$names" "$(named "srpol dev show" 2>&1)"
# those of the namespace that the command is for, and not its own
ip() {
	[ "$*" = "-n A -j link show" ] || return
	echo '[{"ifindex":1,"ifname":"lo"},{"ifname":"hA","link":"x"},{"ifname":"a@b"}]'
}
for line in "-n A dev add" "-netns A path add 1 dev" "-j -n A rule add prio 1 dev"; do
	check_equal "completion: devices: srpol $line" "a@b hA lo" \
		"$(completed "srpol $line" | sort | xargs)"
done
