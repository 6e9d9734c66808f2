#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make install DESTDIR= puts everything below that folder and nothing
# elsewhere; make uninstall takes all of it away again. With another PREFIX,
# too, what is installed runs what was installed.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

to=$(mktemp -d)
at_exit rm -rf "$to"
mark=$to.mark
touch "$mark"
at_exit rm -f "$mark"

files() {
	find "$to" -type f | sed "s,^$to,," | sort
}

check "make install DESTDIR=" make --no-print-directory install \
	DESTDIR="$to" PREFIX=/usr
for file in /usr/sbin/srpol /usr/sbin/srpold /usr/sbin/srpol-fabricd \
	/usr/lib/systemd/system/srpol-fabricd.service /usr/lib/srpol/restore \
	/usr/lib/cni/srpol /usr/share/man/man8/srpol-cni.8 \
	/usr/share/man/man8/srpol.8 /usr/share/man/man8/srpold.8 \
	/usr/share/bash-completion/completions/srpol \
	/usr/lib/systemd/system/srpol@.service \
	/usr/lib/systemd/system/srpol-watch@.service \
	/usr/lib/systemd/system/srpold@.service; do
	check "$file" [ -s "$to$file" ]
done
# Without DESTDIR, in a mount namespace with a /lib/modules of its own.
kver=$(selftests/kver.sh test)
kdir=$(readlink -f "$(selftests/kernel.sh)/lib/modules/$kver/build")
over=$to.over
mkdir "$over"
at_exit rmdir "$over"
indexed() {
	mount -t tmpfs tmpfs "$over" &&
		mkdir "$over/upper" "$over/work" &&
		mount -t overlay -o "lowerdir=/lib,upperdir=$over/upper,workdir=$over/work" \
			overlay /lib &&
		mkdir -p /lib/modules &&
		mount -t tmpfs tmpfs /lib/modules &&
		make --no-print-directory install-module KVER="$kver" KDIR="$kdir" &&
		modprobe -S "$kver" --show-depends srpol
}
export -f indexed
export kver kdir over
# Root of a user namespace could not read what another user keeps to himself.
as_root=
[ "$(id -u)" -eq 0 ] || as_root=-r
check "modprobe finds the module" unshare -m $as_root bash -c indexed
check "the module" grep -q 'srpol\.ko' <<<"$(files)"
check_equal "the system's modules and their index were left alone" "" \
	"$(find /lib/modules /usr/local /etc/srpol -newer "$mark" \
		-type f 2>/dev/null || :)"
# systemd gives up for good after five attempts in ten seconds.
for unit in srpold@ srpol-watch@ srpol-fabricd srpol@; do
	check_equal "$unit is tried for as long as it takes" \
		"Restart=on-failure StartLimitIntervalSec=0" \
		"$(grep -E '^(Restart|StartLimitIntervalSec)=' \
		"$to/usr/lib/systemd/system/$unit.service" | sort | xargs)"
done
check "but not with a configuration that was refused" grep -q '^RestartPreventExitStatus=1 2$' \
	"$to/usr/lib/systemd/system/srpol@.service"
check_equal "a later attempt knows of the first" \
	"RuntimeDirectory=srpol-restore/%i RuntimeDirectoryPreserve=restart" \
	"$(grep ^RuntimeDirectory "$to/usr/lib/systemd/system/srpol@.service" | xargs)"
check "srpold has the module loaded" grep -q '^Wants=modprobe@srpol' \
	"$to/usr/lib/systemd/system/srpold@.service"
check "units name what was installed" grep -q '^ExecStart=/usr/lib/srpol' \
	"$to/usr/lib/systemd/system/srpol@.service"
# of a kernel that "make" is not for any more
mkdir -p "$to/lib/modules/6.12.1/updates/kmod"
touch "$to/lib/modules/6.12.1/updates/kmod/srpol.ko.xz"
check "make uninstall DESTDIR=" make --no-print-directory uninstall \
	DESTDIR="$to" PREFIX=/usr
# what kbuild itself writes beside modules stays
check_equal "nothing is left" "" "$(files | grep -v '/lib/modules/' || :)"
check_equal "nor the module" "" "$(files | grep 'srpol\.ko' || :)"

# all that runs srpol or a script runs what was installed with it
check "another PREFIX" make --no-print-directory install-programs \
	DESTDIR="$to" PREFIX=/opt/x
check_equal "no path of /usr is left" "" "$(grep -rE '/usr/(sbin|lib/srpol)' \
	"$to/opt/x/lib" "$to/opt/x/share" || :)"
check "restore can be run" [ -x "$to/opt/x/lib/srpol/restore" ]
for file in lib/systemd/system/srpol@.service:/opt/x/lib/srpol/restore \
	lib/systemd/system/srpol-watch@.service:/opt/x/sbin/srpol \
	lib/srpol/restore:/opt/x/sbin/srpol; do
	check "${file%:*} names ${file#*:}" \
		grep -qw "${file#*:}" "$to/opt/x/${file%:*}"
done
check "make uninstall PREFIX=" make --no-print-directory uninstall \
	DESTDIR="$to" PREFIX=/opt/x
check_equal "nothing is left there" "" "$(find "$to/opt" -type f)"
