#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Generate the UAPI header and the kernel's netlink glue from the spec, with
# the generator of the kernel tree.
#
# ynl-gen.sh KSRC OUT: reads Documentation/netlink/specs/srpol.yaml of this
# tree, writes OUT/{include/uapi/linux/srpol.h,netlink_gen.h,netlink_gen.c}.
#
# The generator insists on the kernel's own license line in the spec, ours is
# GPL-2.0 OR BSD-2-Clause: it works on a copy, and the line is put back in
# what it wrote. It also looks upwards for a file MAINTAINERS to print short
# paths, and loops for ever without one.

set -euo pipefail

ksrc=$(realpath "$1")
out=$(realpath -m "$2")
top=$(realpath "$(dirname "$0")/..")
spec=Documentation/netlink/specs/srpol.yaml
theirs='((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)'
ours='GPL-2.0 OR BSD-2-Clause'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/${spec%/*}" "$out/include/uapi/linux"
touch "$work/MAINTAINERS"
cp "$ksrc"/Documentation/netlink/*.yaml "$work/Documentation/netlink/"
sed "1s|: .*|: $theirs|" "$top/$spec" > "$work/$spec"

cd "$work"
gen() {
	local to=$1
	shift
	/usr/bin/python3 "$ksrc/tools/net/ynl/ynl-gen-c.py" --spec "$spec" \
		"$@" -o "${to##*/}"
	sed "1s|(.*BSD-3-Clause)|$ours|" "${to##*/}" > "$to"
	rm "${to##*/}"
}

gen "$out/include/uapi/linux/srpol.h" --mode uapi --header
gen "$out/netlink_gen.h" --mode kernel --header
gen "$out/netlink_gen.c" --mode kernel --source
