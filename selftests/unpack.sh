#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# unpack.sh PACKAGE FILE: one program out of a Debian package that must not be
# installed, as it would start a service, into build/tools/bin. Nothing is done
# if it is there.

set -euo pipefail

cd "$(dirname "$0")/.."
package=$1
file=$2
bin=${BUILD:-$PWD/build}/tools/bin

[ ! -x "$bin/${file##*/}" ] || exit 0
mkdir -p "$bin"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
apt-get -q download "$package" >/dev/null 2>&1 || {
	apt-get -q update >/dev/null && apt-get -q download "$package" >/dev/null
} || {
	echo "unpack: cannot download package $package" >&2
	exit 1
}
dpkg-deb --fsys-tarfile ./*.deb | tar -x "./$file"
install "$file" "$bin/"
