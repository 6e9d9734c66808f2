#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What srpol@NETNS.service waits for, what it leaves out, and what it runs then: names
# of devices and objects as srpol reads them. ip, modprobe and srpol are played by programs
# of this test.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

work=$(mktemp -d)
at_exit rm -r "$work"
export SRPOL_ETC=$work/etc SRPOL_WAIT=0 SRPOL_CGROUPS=$work/cgroups
export SRPOL_MODULES=$work/modules SRPOL_COMMAND=$work/bin/srpol work
mkdir -p "$work/bin" "$work/etc" "$work/modules/srpol"

cat >"$work/bin/ip" <<'END'
#!/bin/sh
[ "$1 $2 $3 $4 $5" = "-n $netns link show dev" ] || exit 2
printf '%s\n' "$6" >>"$work/waited"
[ "$6" != maker ] || mkdir "$work/cgroups/made"
[ "$6" != missing ]
END
cat >"$work/bin/srpol" <<'END'
#!/bin/sh
printf '%s\n' "$*" >>"$work/ran"
[ "$5" != - ] && [ "$6" != - ] || cat >"$work/read"
# a service that ends at that moment
[ ! -d "$work/cgroups/ends" ] || { rmdir "$work/cgroups/ends"; exit 2; }
# and one that is started anew
[ ! -e "$work/cgroups/again/once" ] || { rm "$work/cgroups/again/once"; exit 2; }
[ ! -e "$work/refuses" ] || exit 1
[ -e "$work/modules/srpol" ] || exit 2
END
cat >"$work/bin/modprobe" <<'END'
#!/bin/sh
echo "modprobe $*" >>"$work/ran"
[ -e "$work/built" ] && mkdir "$work/modules/srpol"
END
cat >"$work/bin/sleep" <<'END'
#!/bin/sh
echo slept >>"$work/waited"
END
chmod +x "$work"/bin/*

# restore NETNS: by the configuration on standard input, in a folder with a file
restore() {
	rm -f "$work"/{waited,ran,read}
	touch "$work"/{waited,ran,ethX}
	cat >"$SRPOL_ETC/$1.srpol"
	(cd "$work" && netns=$1 PATH=$work/bin:$PATH \
		"$OLDPWD/netlinkd/dist/restore" "$1" 2>"$work/why")
}

# waits NAME DEVICES LINES: it waits for these devices, and no others
waits() {
	check "$1: restored" restore A <<<"$3"
	check_equal "$1" "$2" "$(LC_ALL=C sort "$work/waited" | tr '\n' ' ')"
}

waits "devices of all objects" "e1 e2 e3 " "dev add e1 role uplink
path add 1 segs fc00::1 dev e2
rule add prio 1 dev e3 color 1"
waits "not those that the file makes" "e2 " "dev add abcdefghijklm role host
dev add b role host peer c
path add 1 segs fc00::1 dev e2
rule add prio 1 dev abcdefghij-port color 1
rule add prio 2 dev c color 1"
waits "names of objects that are keywords" "e1 e2 e3 " \
	"path add 1 segs fc00::1 name dev dev e1
policy add color 1 endpoint :: name peer candidate candidate-name dev segment-list 1
path add 2 segs fc00::1 name 'role' dev e2
rule add name role prio 2 dev e3 color 1"
waits "names with a number sign" "#x a#b e1 " "path add 1 segs fc00::1 name 'rack #3' dev e1
path add 2 segs fc00::1 dev '#x' # dev nothere
path add 3 segs fc00::1 dev a#b
# dev nothere"
waits "names with quotes" "a\"b c'd " "path add 1 segs fc00::1 dev 'a\"b'
path add 2 segs fc00::1 name 'x'\"'\"'y dev z' dev 'c'\"'\"'d'"
waits "names for a shell" "\$(x) %i -x \\ eth* ~ " "dev add eth* role uplink
dev add \$(x) role uplink
dev add -x role uplink
dev add '\\' role uplink
dev add ~ role uplink
dev add %i role uplink"
waits "lines of a foreign editor" "e1 " $'path add 1 segs fc00::1 dev e1\r'
waits "lines that are continued" "e1 e2 " "path add 1 segs fc00::1 \\
	name \"rack dev seven\" dev \\
	e1
# a comment, too: \\
path add 2 segs fc00::1 dev nothere
dev add \\
	e2 role uplink"

for name in -x 'a b' "q'\"" '$(x)' '*'; do
	check "namespace $name" restore "$name" <<<"dev add e1 role uplink"
	check_equal "namespace $name: what runs" \
		"-n $name replace -f $SRPOL_ETC/$name.srpol" "$(cat "$work/ran")"
done

# A service's control group is there while the service runs, which is later.
mkdir -p "$work/cgroups/system.slice/here.service" "$work/cgroups/a b" "$work/cgroups/1234"
touch "$work/cgroups/file"

# keeps NAME LINES: no rule is left out
keeps() {
	check "$1: restored" restore A <<<"$2"
	check_equal "$1: what runs" "-n A replace -f $SRPOL_ETC/A.srpol" "$(cat "$work/ran")"
	check_equal "$1: nothing is said" "" "$(cat "$work/why")"
}

# leaves_out NAME RULES LINES: lines that begin with "-", which the file does not
# have, are left out, and these rules, each "PRIO GROUP", are named. The other lines keep
# their numbers.
leaves_out() {
	check "$1: restored" restore A <<<"$(sed 's/^-//' <<<"$3")"
	check_equal "$1: they are named" "$2" \
		"$(sed -n 's/^rule prio \([^ ]*\) is left out: no control group /\1 /p' "$work/why")"
	check_equal "$1: what adds them is said once" 1 \
		"$(grep -c '"srpol rule add".* srpol@A.*ExecStartPost=' "$work/why")"
	check_equal "$1: what runs" "-n A replace empty -f -" "$(cat "$work/ran")"
	check_equal "$1: the rest" "$(sed 's/^-.*//' <<<"$3")" "$(cat "$work/read")"
}

keeps "control groups that are there" "rule add prio 1 cgroup system.slice/here.service color 1
rule add prio 2 cgroup /system.slice/here.service color 1
rule add prio 3 cgroup /sys/fs/cgroup/system.slice/here.service color 1
rule add prio 4 cgroup / color 1
rule add prio 5 cgroup 'a b' color 1
rule add prio 6 cgroup $(stat -c %i "$work/cgroups/a b") color 1"
keeps "words that are no control group" "rule add prio 1 name cgroup color 1
rule add prio 2 bypass dev cgroup
# rule add prio 3 cgroup nothere color 1
path add 1 segs fc00::1 name 'rule add prio 4 cgroup nothere'
path add 2 segs fc00::1 name cgroup
rule add prio 5 color 1 # cgroup nothere"
leaves_out "control groups that are not there" "1 /system.slice/train.service
2 system.slice/train.service
3 /sys/fs/cgroup/train.service
9 a  c
10 file" "dev add e1 role uplink
-rule add prio 1 cgroup /system.slice/train.service color 1
-rule add prio 2 dscp 5 cgroup system.slice/train.service color 1
-rule add prio 3 bypass cgroup /sys/fs/cgroup/train.service

rule add prio 4 cgroup system.slice/here.service color 1
-ru a prio 9 name 'cgroup' cgroup 'a  c' color 1
-rule replace prio 10 cgroup file color 1
path add 1 segs fc00::1 dev e1"
leaves_out "control groups by the numbers they had" "1 1234
2 0x10" "-rule add prio 1 cgroup 1234 color 1
-rule add prio 2 cgroup 0x10 color 1
rule add prio 4 color 1"
leaves_out "lines that are continued" "1 nothere" "rule add prio 4 color 1
-rule add \\
-	prio 1 cgroup \\
-	nothere \\
-	color 1
# a comment, too: \\
rule add prio 2 cgroup nothere
rule add prio 5 color 1"
leaves_out "control groups for a shell" '1 $(x)
2 *
3 -e
4 \t
5 a"b' "-rule add prio 1 cgroup \$(x) color 1
-rule add prio 2 cgroup * color 1
-rule add prio 3 cgroup -e color 1
-rule add prio 4 cgroup \\t color 1
-rule add prio 5 cgroup 'a\"b' color 1
path add 1 segs fc00::1"
leaves_out "all that there is" "1 nothere" "# nothing else
-rule add prio 1 cgroup nothere color 1"
keeps "a control group that comes while a device is waited for" \
	"rule add prio 1 dev maker cgroup made color 1"
mkdir "$work/cgroups/ends"
check "a control group that goes after it was looked for" restore A \
	<<<"rule add prio 1 cgroup ends color 1
rule add prio 2 color 1"
check_equal "all but its rule is restored" "
rule add prio 2 color 1" "$(cat "$work/read")"
check_equal "it is named" "rule prio 1 is left out: no control group ends" \
	"$(head -n 1 "$work/why")"
mkdir "$work/cgroups/again"
touch "$work/cgroups/again/once"
check "a control group that goes and is back" restore A <<<"rule add prio 1 cgroup again color 1"
check_equal "all is restored then" "-n A replace -f $SRPOL_ETC/A.srpol" \
	"$(tail -n 1 "$work/ran")"
touch "$work/refuses"
status=0
restore A <<<"rule add prio 1 color 1" || status=$?
check_equal "what is refused is refused once, with that status" \
	"1 -n A replace -f $SRPOL_ETC/A.srpol" "$status $(cat "$work/ran")"
status=0
restore A <<<"rule add prio 1 cgroup nothere color 1" || status=$?
check_equal "or twice, where control groups may come and go" "1 2" \
	"$status $(wc -l <"$work/ran")"
rm "$work/refuses"

# At boot DKMS may be building the module for a new kernel.
rmdir "$work/modules/srpol"
for lines in "rule add prio 1 color 1" "rule add prio 1 cgroup nothere color 1"; do
	status=0
	restore A <<<"$lines" || status=$?
	check_equal "without the module it is to be tried again" "75 modprobe -bq srpol" \
		"$status $(head -n 1 "$work/ran")"
	check_equal "the configuration once: $lines" 2 "$(wc -l <"$work/ran")"
done
touch "$work/built"
check "once it is built it is loaded" restore A <<<"rule add prio 1 color 1"
check_equal "before the configuration" "modprobe -bq srpol
-n A replace -f $SRPOL_ETC/A.srpol" "$(cat "$work/ran")"
check "one that is loaded" restore A <<<"rule add prio 1 color 1"
check_equal "is not loaded again" "-n A replace -f $SRPOL_ETC/A.srpol" "$(cat "$work/ran")"

# Other services are ordered after it, and start while it waits between two attempts.
mkdir "$work/run"
export RUNTIME_DIRECTORY=$work/run SRPOL_WAIT=2
restore A <<<"dev add missing role uplink" || :
check_equal "the first attempt waits" 2 "$(grep -c slept "$work/waited")"
check_fails "a later one" "" restore A <<<"dev add missing role uplink"
check_equal "does not" 0 "$(grep -c slept "$work/waited")"
check "one with all devices" restore A <<<"dev add e1 role uplink"
restore A <<<"dev add missing role uplink" || :
check_equal "after that a start waits again" 2 "$(grep -c slept "$work/waited")"
unset RUNTIME_DIRECTORY
export SRPOL_WAIT=0

check_fails "a device that does not come" "" restore A <<<"dev add missing role uplink"
status=0
restore A <<<"dev add missing role uplink" || status=$?
check_equal "which is tried again, unlike all else" 75 "$status"
check_equal "it is named" "device missing of $SRPOL_ETC/A.srpol does not come" \
	"$(cat "$work/why")"
check_equal "and nothing runs" "" "$(cat "$work/ran")"
