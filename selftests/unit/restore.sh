#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What srpol@NETNS.service waits for, and what it runs then: names of devices and
# objects as srpol reads them. ip and srpol are played by programs of this test.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

work=$(mktemp -d)
at_exit rm -r "$work"
export SRPOL_ETC=$work/etc SRPOL_WAIT=0 work
mkdir "$work/bin" "$work/etc"

cat >"$work/bin/ip" <<'END'
#!/bin/sh
[ "$1 $2 $3 $4 $5" = "-n $netns link show dev" ] || exit 2
printf '%s\n' "$6" >>"$work/waited"
[ "$6" != missing ]
END
cat >"$work/bin/srpol" <<'END'
#!/bin/sh
printf '%s\n' "$*" >"$work/ran"
END
chmod +x "$work"/bin/*

# restore NETNS: by the configuration on standard input, in a folder with a file
restore() {
	rm -f "$work"/{waited,ran}
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

check_fails "a device that does not come" "" restore A <<<"dev add missing role uplink"
check_equal "it is named" "device missing of $SRPOL_ETC/A.srpol does not come" \
	"$(cat "$work/why")"
check_equal "and nothing runs" "" "$(cat "$work/ran")"
