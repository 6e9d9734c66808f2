#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Print the folder that holds the guest's vmlinux and initramfs for the kernel
# selftests/kver.sh names; build them first when they are missing or older
# than the kernel package. An uncompressed kernel saves a second per boot
# under TCG.
#
# The kernel is where selftests/kernel.sh says. With SRPOL_ROOT=FOLDER it and busybox
# are those of that root file system, with SRPOL_BOOT=FOLDER only the kernel is.
# With SRPOL_KERNEL in the environment that kernel is booted instead; all of
# what is listed below has to be built into it (see debug-kernel.config).

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=${here%/*/*}
build=${BUILD:-$top/build}
root=${SRPOL_ROOT:-/}
PATH=$PATH:/usr/sbin:/sbin

# what it takes to mount 9p shares and the overlay; virtio is built in
modules=(9p 9pnet_virtio overlay)

if [ -n "${SRPOL_KERNEL:-}" ]; then
	kver=
	modules=()
	vmlinuz=$SRPOL_KERNEL
	kind=own
else
	kver=$("$top/selftests/kver.sh" test)
	kernel=${SRPOL_BOOT:-$root}
	[ -n "${SRPOL_BOOT:-}${SRPOL_ROOT:-}" ] ||
		kernel=$("$top/selftests/kernel.sh")
	vmlinuz=$kernel/boot/vmlinuz-$kver
	kind=image-$kver
fi
if [ ! -r "$vmlinuz" ]; then
	echo "image.sh: cannot read $vmlinuz; run 'make test-deps'" >&2
	exit 1
fi

key=$(stat -Lc '%s-%Y' "$vmlinuz")-$(cat "$0" "$here/initramfs-init" |
	cksum | cut -d ' ' -f 1)
image=$build/vm/$kind-$key

add_modules() {
	local n=10 name source

	[ ${#modules[@]} -gt 0 ] || return 0
	modprobe -d "$kernel/" -S "$kver" -a --show-depends "${modules[@]}" |
		awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
		while read -r source; do
			name=${source##*/}
			name=$1/modules/$n-${name%%.ko*}.ko
			case $source in
			*.xz)	xz -dc "$source" >"$name" ;;
			*.zst)	zstd -qdc "$source" >"$name" ;;
			*)	cp "$source" "$name" ;;
			esac
			n=$((n + 1))
		done
}

build_initramfs() {
	local to=$1 applet

	mkdir -p "$to"/{bin,dev,lower,modules,new,proc,tmp}
	cp "$root/bin/busybox" "$to/bin/"
	for applet in sh insmod mkdir mount switch_root; do
		ln -s busybox "$to/bin/$applet"
	done
	install -m 755 "$here/initramfs-init" "$to/init"
	add_modules "$to"
	(cd "$to" && find . | cpio -o -H newc -R 0:0 --quiet)
}

mkdir -p "$build/vm"
exec 9>"$build/vm/image.lock"
flock 9

if [ ! -d "$image" ]; then
	"$top/selftests/tools.sh" source >&2
	rm -rf "$build/vm/${kind%%-*}"-*/
	new=$(mktemp -d "$build/vm/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	if [ "$kind" = own ] || [ "${SRPOL_ARCH:-$(uname -m)}" != x86_64 ]; then
		cp "$vmlinuz" "$new/vmlinux"
	else
		"$build/ksrc/scripts/extract-vmlinux" "$vmlinuz" \
			>"$new/vmlinux"
	fi
	build_initramfs "$new/root" >"$new/initramfs"
	rm -rf "$new/root"
	chmod 755 "$new"
	mv "$new" "$image"
fi
echo "$image"
