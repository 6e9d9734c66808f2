#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# libsrpol as others have it: installed elsewhere, found by pkg-config, with an
# interface that is written down. vm.library uses it on the module.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

to=$(mktemp -d)
at_exit rm -rf "$to"
library=$to/usr/lib/libsrpol.so.1
export PKG_CONFIG_SYSROOT_DIR=$to PKG_CONFIG_PATH=$to/usr/lib/pkgconfig

flags() {
	pkg-config "$@" libsrpol
}

exported() {
	nm -D --defined-only "$library" | sed -n 's/.* T \([a-z_0-9]*\)@@.*/\1/p' |
		sort
}

declared() {
	grep -oE '\bsrpol_[a-z0-9_]+\(' "$to/usr/include/srpol/client.h" |
		tr -d '(' | sort -u
}

# compiles LANGUAGE COMPILER...: the header by itself
compiles() {
	local language=$1
	shift

	# shellcheck disable=SC2046
	"$@" -x "$language" -Wall -Wextra -Werror -fsyntax-only \
		$(flags --cflags) - <<<'#include <srpol/client.h>'
}

# shellcheck disable=SC2046
builds() {
	"${CC:-cc}" -Wall -Wextra -Wno-unused-parameter -Werror -o "$to/drain" \
		Documentation/examples/drain.c $(flags --cflags --libs)
}

check "make install-lib" make --no-print-directory install-lib \
	DESTDIR="$to" PREFIX=/usr
check_equal "the header declares what the library exports" "$(exported)" \
	"$(declared)"
check_equal "Debian's list of symbols is that of the library" "$(exported)" \
	"$(sed -n 's/^ \(srpol_[a-z0-9_]*\)@.*/\1/p' .debian/libsrpol1.symbols |
		sort)"
check_equal "its name has the version of its interface" libsrpol.so.1 \
	"$(readelf -d "$library" | sed -n 's/.*soname: \[\(.*\)\].*/\1/p')"
check "C99 reads the header" compiles c "${CC:-cc}" -std=c99 -pedantic
check "C++ reads the header" compiles c++ "${CXX:-c++}"
check "the example is built" builds
# nothing of this tree is needed but what was installed
check_equal "without the module it says so" \
	"drain: module srpol is not loaded (modprobe srpol)" \
	"$(LD_LIBRARY_PATH=$to/usr/lib unshare -rn "$to/drain" 2>&1 || :)"
