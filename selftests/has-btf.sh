#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# has-btf.sh MODULE.ko: does it have type information? kbuild leaves it out
# when it links again because only the command to link with has changed.
readelf -SW "$1" | grep -q '[[:space:]]\.BTF[[:space:]]'
