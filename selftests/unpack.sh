#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# unpack.sh PACKAGE FILE: one program out of a Debian package that must not be
# installed, as it would start a service, into build/tools/bin
# unpack.sh -t FOLDER PACKAGE...: all that is in such packages, into FOLDER
#
# Nothing is done if it is there.

set -euo pipefail

cd "$(dirname "$0")/.."
top=$PWD
tools=${BUILD:-$PWD/build}/tools

# download PACKAGE...: into this folder
download() {
	apt-get -q download "$@" >/dev/null 2>&1 || {
		"$top/selftests/apt-update.sh" >/dev/null &&
			apt-get -q download "$@" >/dev/null
	} || {
		echo "unpack: cannot download $*" >&2
		exit 1
	}
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
if [ "$1" = -t ]; then
	folder=$2
	shift 2
	[ ! -d "$folder" ] || exit 0
	mkdir -p "${folder%/*}"
	cd "$work"
	download "$@"
	for package in ./*.deb; do
		dpkg-deb --fsys-tarfile "$package" |
			tar -x --one-top-level=unpacked
	done
	# nobody takes it for the folder if this is interrupted
	new=${folder%/*}/.${folder##*/}.new
	rm -rf "$new"
	cp -a unpacked "$new"
	mv "$new" "$folder"
else
	file=$2
	[ ! -x "$tools/bin/${file##*/}" ] || exit 0
	mkdir -p "$tools/bin"
	cd "$work"
	download "$1"
	dpkg-deb --fsys-tarfile ./*.deb | tar -x "./$file"
	install "$file" "$tools/bin/"
fi
