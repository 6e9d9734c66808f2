#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Documents are without fault, and the tests, targets and files that they name are
# there.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=selftests/ktap.sh
. selftests/ktap.sh

documents=(README.md Documentation/*.rst)

# is_there NAME: run.sh knows a test program of that name, by source if it is built
is_there() {
	local folder=${1%%.*} name=${1#*.} path

	[ "$folder" != vm ] || folder=vm/tests
	for path in selftests/"$folder"/{,test_}"$name".{sh,py,c}; do
		[ ! -e "$path" ] || return 0
	done
	return 1
}

check_equal "tests that are named" "" \
	"$(grep -ohE '`(unit|bpf|vm|engine|sim|fabric|nccl|boot|bench)\.[a-z0-9_-]+`' \
		"${documents[@]}" | tr -d '`' | grep -v '\.py$' | sort -u |
		while read -r name; do
			is_there "$name" || echo "$name"
		done)"
check_equal "targets that are named" "" \
	"$(grep -ohE '`(make )?(long|debug|check)-[a-z0-9]+`' "${documents[@]}" |
		tr -d '`' | sed 's/^make //' | sort -u |
		while read -r name; do
			grep -qE "(^|\s)$name(\s|:|\$)" Makefile || echo "$name"
		done)"
check_equal "documents that are named" "" \
	"$(grep -ohE '\b[a-z][a-z-]+\.rst\b' "${documents[@]}" | sort -u |
		while read -r name; do
			[ -e "Documentation/$name" ] || echo "$name"
		done)"
check_equal "files that are named" "" \
	"$(grep -ohE '`(selftests|kmod|bpf|lib|netlinkd|Documentation)/[a-zA-Z0-9_/.-]+`' \
		"${documents[@]}" | tr -d '`' | grep -v NAME | sort -u |
		while read -r name; do
			[ -e "$name" ] || echo "$name"
		done)"
check_equal "docutils finds nothing wrong" "" \
	"$(for document in Documentation/*.rst; do
		/usr/bin/python3 -m docutils "$document" /dev/null 2>&1 || :
	done)"
