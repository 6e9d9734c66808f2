#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Maintainer scripts of the Debian packages: what each of them purges, and which units
# are restarted and stopped. They run in a mount namespace with an /etc, /var/lib and
# /run of its own; dpkg-query and systemd are played by programs of this test.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

work=$(mktemp -d)
at_exit rm -r "$work"
export work
mkdir "$work/bin"

# the state of packages is in files of their names
cat >"$work/bin/dpkg-query" <<'END'
#!/bin/sh
[ "$1 $2 $3" = '-W -f ${db:Status-Status}' ] && cat "$work/$4"
END
cat >"$work/bin/deb-systemd-invoke" <<'END'
#!/bin/sh
printf '%s\n' "$*" >>"$work/invoked"
END
cat >"$work/bin/systemctl" <<'END'
#!/bin/sh
END
chmod +x "$work"/bin/*

# script NAME WORD...: runs it on what both packages and their operator leave behind, and
# puts what is left of that into $work/left
script() {
	local folder

	for folder in /etc /var/lib /run; do
		mount -t tmpfs tmpfs "$folder"
	done
	mkdir -p /etc/srpol /var/lib/srpold /var/lib/srpol-fabricd /run/systemd/system \
		/etc/systemd/system/multi-user.target.wants
	cd /etc/srpol
	touch default.srpol a.b.srpol srpold.json srpold-default.json srpol-fabricd.json \
		topology.json other /var/lib/srpold/plan /var/lib/srpol-fabricd/store.json \
		/etc/systemd/system/multi-user.target.wants/{srpol,srpold}@default.service
	cd "$OLDPWD"
	PATH=$work/bin:$PATH sh ".debian/$1" "${@:2}"
	find /etc /var/lib ! -type d -printf '%f\n' >"$work/left"
	[ ! -d /etc/srpol ] || echo folder >>"$work/left"
}
export -f script

as_root=
[ "$(id -u)" -eq 0 ] || as_root=-r

# runs NAME SCRIPT WORD...
runs() {
	: >"$work/invoked"
	: >"$work/left"
	check "$1" unshare -m $as_root bash -euc 'script "$@"' - "${@:2}"
}

srpol=(a.b.srpol default.srpol srpol@default.service)
srpold=(plan srpol-fabricd.json srpold-default.json srpold.json srpold@default.service
	store.json topology.json)

# leaves NAME WORD...: files, and the word "folder" if /etc/srpol is there
leaves() {
	check_equal "$1" "$(printf '%s\n' "${@:2}" | LC_ALL=C sort | xargs)" \
		"$(LC_ALL=C sort "$work/left" | xargs)"
}

for state in installed config-files; do
	rm -f "$work"/srpol{,d}
	echo $state >"$work/srpold"
	runs "srpol is purged, srpold is $state" srpol.postrm purge
	leaves "what is srpold's stays" folder other "${srpold[@]}"
	rm "$work/srpold"
	echo $state >"$work/srpol"
	runs "srpold is purged, srpol is $state" srpold.postrm purge
	leaves "what is srpol's stays" folder other "${srpol[@]}"
done
for state in not-installed unknown; do
	rm -f "$work"/srpol{,d}
	[ $state = unknown ] || tee "$work/srpol" >"$work/srpold" <<<$state
	runs "srpol is purged, srpold is $state" srpol.postrm purge
	leaves "the folder goes" plan srpold@default.service store.json
	runs "srpold is purged, srpol is $state" srpold.postrm purge
	leaves "the folder goes, and the state" srpol@default.service
done
for package in srpol srpold; do
	for word in remove upgrade; do
		runs "$package: postrm $word" $package.postrm $word
		leaves "all files stay" folder other "${srpol[@]}" "${srpold[@]}"
	done
done

# invokes NAME COMMANDS SCRIPT WORD...: these of deb-systemd-invoke
invokes() {
	runs "$1" "${@:3}"
	check_equal "$1: units" "$2" "$(cat "$work/invoked")"
}

invokes "srpol is upgraded" "try-restart srpol-watch@*.service" \
	srpol.postinst configure 0.1
invokes "srpol is removed" "stop srpol-watch@*.service srpol@*.service" srpol.prerm remove
invokes "srpold is upgraded" "try-restart srpold@*.service" srpold.postinst configure 0.1
invokes "srpold is removed" "stop srpold@*.service" srpold.prerm remove
for package in srpol srpold; do
	invokes "$package is new" "" $package.postinst configure
	invokes "$package: an upgrade begins" "" $package.prerm upgrade 0.2
done
