#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# deb.sh: the Debian packages of this tree, in a root file system that has
# nothing else: built, held against lintian, installed, upgraded, booted in the
# guest with Debian's systemd, purged. Prints KTAP; needs root and Debian's
# mirror. The root file system stays in build/deb-check/root.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

export BUILD=${BUILD:-$PWD/build}
out=$BUILD/deb-check
root=$out/root
arch=$(dpkg --print-architecture)
old=$(dpkg-parsechangelog -l .debian/changelog -S Version)
new=$old+1

in_root() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

# build VERSION: into $out/VERSION
build() {
	BUILD=$out/$1 .debian/build "$1"
}

# names VERSION: of its packages
packages() {
	find "$out/$1/deb" -name '*.deb' ! -name '*-dbgsym_*' -printf '%f\n'
}

# installed VERSION: its packages, by apt, so that what they depend on comes too
install_version() {
	local package files=()

	mkdir -p "$root/srv"
	for package in $(packages "$1"); do
		cp "$out/$1/deb/$package" "$root/srv/"
		files+=("/srv/$package")
	done
	in_root apt-get -q -y -o Dpkg::Use-Pty=0 install "${files[@]}"
}

# The root file system as a machine would be: with its network, and /proc and
# /dev for what packages run when they are configured.
inhabit() {
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
	mount -t proc proc "$root/proc"
	at_exit umount "$root/proc"
	in_root apt-get -q update
}

has_module() {
	xz -dc "$root/$module" >"$out/srpol.ko" &&
		selftests/has-btf.sh "$out/srpol.ko" &&
		in_root dkms status "srpol/$1" -k "$kver" | grep -q installed
}

# pair DEV PEER: comes at boot
pair() {
	cat >"$root/etc/systemd/network/10-$1.netdev" <<-EOF
	[NetDev]
	Name=$1
	Kind=veth
	[Peer]
	Name=$2
	EOF
}

# What a host has: devices that come at boot, a configuration, a topology.
configure() {
	pair u0 u1
	pair p0 p1
	cat >"$root/etc/systemd/network/20-srpol.network" <<-EOF
	[Match]
	Name=u0 u1 p0 p1
	[Network]
	LinkLocalAddressing=ipv6
	EOF
	cat >"$root/etc/srpol/default.srpol" <<-EOF
	dev add u0 role uplink
	dev add p0 role port
	path add 1 segs fc00:0:1::,fc00:0:2:: dev u0
	policy add color 7 endpoint fd00::7 candidate segment-list 1
	EOF
	cat >"$root/etc/srpol/srpold-default.json" <<-EOF
	{ "topology": "/etc/srpol/topology.json", "hosts": [ "a" ] }
	EOF
	cat >"$root/etc/srpol/topology.json" <<-EOF
	{ "srpol-topology": 1,
	  "switches": [
	   { "name": "leaf", "role": "leaf", "locator": "fc00:0:11::/48" } ],
	  "hosts": [
	   { "name": "a", "locator": "fc00:0:a::/48", "nics": [
	     { "name": "u0", "leaf": "leaf", "rate": "10G",
	       "address": "fd00:a::1", "gateway": "fd00:a::fe" } ] },
	   { "name": "b", "locator": "fc00:0:b::/48", "nics": [
	     { "name": "u0", "leaf": "leaf", "rate": "10G",
	       "address": "fd00:b::1" } ] } ],
	  "links": [] }
	EOF
	in_root systemctl enable systemd-networkd srpol@default srpold@default
}

# in_guest COMMANDS: of bash, on the root file system booted by systemd
in_guest() {
	selftests/vm/vm.sh -t 1200 -o "$out/guest" -r "$root" -- bash -c '
		# settles UNIT: it is up, or will never be
		settles() {
			for n in $(seq 300); do
				case $(systemctl is-active "$1") in
				active|failed) break ;;
				esac
				sleep 1
			done
			systemctl --no-pager status "$1"
		}

		# a device that comes when restore has waited for it, and failed
		comes_late() {
			local folder=/etc/systemd/system/srpol@late.service.d
			local waited=/run/srpol-restore/late/waited

			mkdir -p $folder
			printf "[Service]\nEnvironment=SRPOL_WAIT=3\nRestartSec=1\n" >$folder/soon.conf
			systemctl daemon-reload
			ip netns add late
			echo "dev add p0 role uplink" >/etc/srpol/late.srpol
			! systemctl start srpol@late && [ -e $waited ] &&
			ip -n late link add p0 type veth peer name p1 &&
			settles srpol@late && [ ! -e $waited ] &&
			srpol -n late dev show p0
		}
		'"$1"
}

booted() {
	in_guest '
		settles srpol@default
		modinfo -n srpol && srpol doctor
		srpol path show 1 && srpol policy show color 7 &&
		srpol dev show | grep -q u0 &&
		settles srpol-watch@default &&
		ip link del p0 && ip link add p0 type veth peer name p1 &&
		for n in $(seq 60); do
			! srpol dev show p0 || break
			sleep 1
		done && srpol dev show p0 &&
		settles srpold@default && srpol engine show &&
		srpol engine paths &&
		comes_late'
}

remove_srpold() {
	in_root apt-get -q -y -o Dpkg::Use-Pty=0 remove srpold &&
		in_root apt-get -q -y -o Dpkg::Use-Pty=0 purge srpol
}

# purge: what dpkg knows of them
purge() {
	local packages

	mapfile -t packages < <(in_root dpkg-query -W \
		-f '${db:Status-Status} ${Package}\n' '*srpol*' |
		sed -n 's/^installed //p; s/^config-files //p')
	in_root apt-get -q -y -o Dpkg::Use-Pty=0 purge "${packages[@]}"
}

rm -rf "$out"
mkdir -p "$out/guest"

check "the packages build" build "$old"
check_equal "six packages" "$(printf '%s\n' libsrpol-dev libsrpol1 srpol srpol-cni srpol-dkms srpold)" \
	"$(packages "$old" | sed 's/_.*//' | sort)"
check "lintian has no error and no warning" lintian --allow-root \
	--fail-on error,warning "$out/$old/deb/srpol_${old}_$(dpkg \
	--print-architecture).changes"
check "a later version builds" build "$new"

check "a root file system with nothing but Debian" mmdebstrap --quiet \
	--variant=minbase --include="systemd-sysv,iproute2,linux-image-6.12-$arch,linux-headers-6.12-$arch" \
	bookworm "$root" /etc/apt/sources.list.d/debian.sources
kver=$(cd "$root/lib/modules" && echo *)
export KVER=$kver
module=lib/modules/$kver/updates/dkms/srpol.ko.xz
inhabit >/dev/null
check "the packages install" install_version "$old"
check "DKMS built the module, with types" has_module "$old"
check "the command runs" in_root srpol -V
check "the library is found" in_root sh -c 'ldconfig -p | grep -q libsrpol.so.1'
check "the engine runs" in_root srpold -h
check "the CNI plugin runs" in_root sh -c \
	'CNI_COMMAND=VERSION /usr/lib/cni/srpol </dev/null | grep -q 1.0.0'
check "the manual is there" [ -s "$root/usr/share/man/man8/srpol.8.gz" ]

configure >/dev/null 2>&1
check "an upgrade" install_version "$new"
check "DKMS built the new module" has_module "$new"
check_equal "the configuration stays" 4 \
	"$(wc -l <"$root/etc/srpol/default.srpol")"
check "a host boots with it: configuration, watch and engine" booted

# What daemons keep, whether or not they ran, and the configuration of the other one.
for folder in srpold srpol-fabricd; do
	mkdir -p "$root/var/lib/$folder"
	echo '{}' >"$root/var/lib/$folder/kept"
done
echo '{}' >"$root/etc/srpol/srpol-fabricd.json"
check "srpold is removed, srpol purged" remove_srpold
check_equal "what is srpold's stays" \
	"srpol-fabricd.json srpold-default.json topology.json" \
	"$(find "$root/etc/srpol" -type f -printf '%f\n' | LC_ALL=C sort | xargs)"
check "purged" purge
check_equal "nothing is left" "" "$(find "$root/etc" "$root/usr" "$root/lib/modules" \
	"$root/var/lib" -path '*srpol*' ! -path '*/systemd/network/*' \
	! -path '*/var/lib/dpkg/*' | head)"
