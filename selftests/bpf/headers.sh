#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each header of the data plane compiles alone: it includes what it uses.

set -uo pipefail

cd "$(dirname "$0")/../../bpf" || exit 1
export BUILD=${BUILD:-$PWD/../build}

# shellcheck source=selftests/ktap.sh
. ../selftests/ktap.sh

clang=${CLANG:-clang-19}
command -v "$clang" >/dev/null || skip_all "no $clang"
flags=$(sed -n 's/^LIBBPF_CFLAGS := //p' "$BUILD/tools/tools.mk")
arch=$(uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')

alone() {
	# shellcheck disable=SC2086
	"$clang" -target bpf -mcpu=v3 -g -O2 "-D__TARGET_ARCH_$arch" \
		-Wall -Wextra -Werror -Wno-unused-parameter \
		-Wno-unused-function -Wno-unused-const-variable \
		-Wno-missing-declarations -I"$BUILD" $flags \
		-I../kmod/include -I../kmod/include/uapi \
		-include "$1" -x c -fsyntax-only /dev/null
}

for header in *.h; do
	# what user space reads, too, which has its own types: the layout of the
	# maps, and the hash of what is in them
	case $header in
	srpol_maps.h|srpol_traffic.h|srpol_probe.h|srpol_reflect.h) continue ;;
	srpol_hash.h) continue ;;
	esac
	check "$header" alone "$header"
done
