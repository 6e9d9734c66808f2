#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The module has type information, and the build would notice if it had not.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

copy=$(mktemp)
at_exit rm -f "$copy"

check "srpol.ko has BTF" selftests/has-btf.sh kmod/srpol.ko
objcopy --remove-section .BTF kmod/srpol.ko "$copy"
check_fails "a module without is told" "" selftests/has-btf.sh "$copy"
