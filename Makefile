# SPDX-License-Identifier: GPL-2.0
#
# srpol: kernel module, BPF programs, library, command line tool, tests.
# "make help" tells what there is; everything that is built lands in build/,
# but for kbuild's objects, which stay beside the module's sources.

BUILD := $(CURDIR)/build
KVER  ?= $(shell selftests/kver.sh)
KDIR  ?= $(shell KVER=$(KVER) selftests/kernel.sh)/lib/modules/$(KVER)/build
CLANG ?= clang-19

PREFIX  ?= /usr/local
SBINDIR ?= $(PREFIX)/sbin
MANDIR  ?= $(PREFIX)/share/man
COMPDIR ?= $(PREFIX)/share/bash-completion/completions
UNITDIR ?= $(PREFIX)/lib/systemd/system
LIBEXECDIR ?= $(PREFIX)/lib/srpol
LIBDIR ?= $(PREFIX)/lib
CNIDIR ?= $(PREFIX)/lib/cni
INCLUDEDIR ?= $(PREFIX)/include

PROGRAMS := srpol srpold srpol-fabricd
PAGES := $(wildcard Documentation/man/*.8)
UNITS := srpol@.service srpol-watch@.service srpold@.service srpol-fabricd.service

YNL_FILES := include/uapi/linux/srpol.h netlink_gen.h netlink_gen.c

# LIBBPF_CFLAGS, LIBBPF_LIBS, BPFTOOL; written by selftests/tools.sh
-include $(BUILD)/tools/tools.mk

export BUILD CLANG BPFTOOL LIBBPF_CFLAGS LIBBPF_LIBS

# Sub-makes in order of dependence.
PRODUCT := bpf lib netlinkd
TESTS := lib/pmpi lib/nccl lib/spank selftests/nccl selftests/mpi selftests/rdma selftests/unit selftests/bpf selftests/bench \
	 selftests/bench/control selftests/sim selftests/engine selftests/vm/mock \
	 selftests/vm/fault
SUBDIRS := $(PRODUCT) $(TESTS)

# As many jobs as there are processors, unless the caller said how many.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc) -Otarget)

.PHONY: all
all: install-deps	## module, programs and command (the default)
	@$(MAKE) --no-print-directory tools
	@$(MAKE) --no-print-directory $(JOBS) product

# Makes of their own, so that they read the tools.mk that "tools" wrote.
.PHONY: product build
product: kmod $(PRODUCT)
build: product $(TESTS)

.PHONY: pmpi
pmpi:			## libsrpol-pmpi.so, for MPI programs; needs mpicc
	@$(MAKE) --no-print-directory -C lib/pmpi

.PHONY: nccl
nccl:			## libnccl-profiler-srpol.so, for NCCL and RCCL programs
	@$(MAKE) --no-print-directory -C lib/nccl

.PHONY: spank
spank:			## spank_srpol.so, for Slurm; needs libslurm-dev
	@$(MAKE) --no-print-directory -C lib/spank

.PHONY: programs
programs: tools		## all but the module; installs nothing
	@$(MAKE) --no-print-directory $(JOBS) $(PRODUCT)

# Guests boot the kernel that "kver.sh test" names, and scripts below ask it, too.
.PHONY: tests
tests: test-deps	## that, for the kernel of the tests, and their programs
	@$(MAKE) --no-print-directory KVER=$$(selftests/kver.sh test) tools
	@$(MAKE) --no-print-directory KVER=$$(selftests/kver.sh test) $(JOBS) build

.PHONY: install-deps test-deps
install-deps:		## install the Debian packages a user lacks
	@selftests/deps.sh user
	@selftests/kernel.sh fetch
test-deps:		## install those of demo, tests and development
	@selftests/deps.sh test
	@selftests/kernel.sh fetch test

.PHONY: tools
tools:			## libbpf, bpftool, ynl and vmlinux.h from linux-source-6.12
	@KVER=$(KVER) selftests/tools.sh

.PHONY: kmod
kmod:			## kmod/srpol.ko for KVER
	@$(MAKE) --no-print-directory -C $(KDIR) M=$(CURDIR) modules
	@selftests/has-btf.sh kmod/srpol.ko || { \
		rm -f kmod/srpol.ko; \
		$(MAKE) --no-print-directory -C $(KDIR) M=$(CURDIR) modules && \
		selftests/has-btf.sh kmod/srpol.ko; } || { \
		echo "kmod/srpol.ko has no BTF: is pahole installed, and $(KDIR)/vmlinux there?" >&2; \
		exit 1; }

.PHONY: $(SUBDIRS)
$(SUBDIRS):
	@mkdir -p $(BUILD)/$@ $(BUILD)/bin
	@$(MAKE) --no-print-directory -C $@

lib netlinkd selftests/bpf: $(filter bpf,$(SUBDIRS))
selftests/bench selftests/sim: $(filter selftests/bpf,$(SUBDIRS))
netlinkd selftests/unit selftests/bpf selftests/bench/control selftests/sim selftests/engine: \
	$(filter lib,$(SUBDIRS))
selftests/engine: $(filter netlinkd,$(SUBDIRS))

.PHONY: check
check: tests		## build all, run all tests; "N passed, N failed, N skipped"
	@selftests/run.sh

# Hours: each has a target of its own.
LONG := long-demo long-check long-e2e long-stalls long-unload long-namespaces \
	long-failure long-silent long-idle long-kill long-deb long-engine \
	long-epochs long-fanout long-whatif long-ecmp long-demand
.PHONY: check-long $(LONG)
check-long: $(LONG) debug-check check-arm64	## campaigns: hours; each has a target, see testing.rst
$(LONG): tests
	@selftests/campaign.sh $(@:long-%=%)

.PHONY: debug-check
debug-check: tests	## tests of the module under KASAN and lockdep; builds a kernel
	@selftests/vm/debug-kernel.sh

.PHONY: check-arm64
check-arm64: tests	## data plane, module, end to end on an emulated arm64; cross build, root
	@selftests/arm64.sh

.PHONY: check-kernels
check-kernels: test-deps	## the module without warnings: W=1, sparse; newest kernel, arm64; root
	@selftests/kernels.sh

.PHONY: sweep
sweep: tests		## mode flowlet: balance and reordering against the gap
	@selftests/sweep/flowlet.sh

# The chart is drawn by matplotlib, which nothing else needs.
.PHONY: bench
bench: tests		## speed beside the kernel's own SRv6, about 7 minutes; root
	@selftests/deps.sh test python3-matplotlib
	@selftests/bench/bench.sh

# ns-3 takes a gigabyte of packages, which nothing else needs.
.PHONY: sim
sim: tests		## path algorithms at scale: flows, packets; about an hour
	@selftests/deps.sh test libns3-dev libgsl-dev libsqlite3-dev \
		python3-matplotlib
	@$(MAKE) --no-print-directory -C selftests/sim packets
	@selftests/sim/sim.sh

.PHONY: demo
demo: tests		## RDMA over an SRv6 fabric in a VM, with a spine failure
	@selftests/demo/demo.sh

.PHONY: ynl
ynl: tools		## regenerate UAPI and netlink glue from the YAML spec
	selftests/ynl-gen.sh $(BUILD)/ksrc kmod

.PHONY: ynl-check
ynl-check: tools	## fail when the committed glue is not what the spec gives
	@rm -rf $(BUILD)/ynl
	@selftests/ynl-gen.sh $(BUILD)/ksrc $(BUILD)/ynl
	@for file in $(YNL_FILES); do \
		diff -u kmod/$$file $(BUILD)/ynl/$$file || exit 1; \
	done

# With DESTDIR nothing of the running system is touched, its modules' index
# included.
INSTALL_MODULE = $(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) \
		 $(if $(DESTDIR),DEPMOD=true) modules_install

.PHONY: install
install: all		## module, programs, library, manual, units (DESTDIR, PREFIX)
	@$(MAKE) --no-print-directory install-module install-programs install-lib
	@[ -n "$(DESTDIR)" ] || [ "$(KVER)" = "$$(uname -r)" ] || \
		echo "srpol.ko is for Linux $(KVER); this machine runs $$(uname -r)"

# Without the kernel's System.map beside the headers kbuild makes no index.
.PHONY: install-module
install-module:		## the module, as it was built
	$(INSTALL_MODULE)
	$(if $(DESTDIR),,depmod $(KVER))

.PHONY: install-programs
install-programs:	## all that but the module, as it was built
	install -D -t $(DESTDIR)$(SBINDIR) $(addprefix $(BUILD)/bin/,$(PROGRAMS))
	install -D -t $(DESTDIR)$(CNIDIR) $(BUILD)/cni/srpol
	install -D -t $(DESTDIR)$(LIBEXECDIR) netlinkd/dist/restore \
		netlinkd/dist/in-netns
	sed -i 's,/usr/sbin,$(SBINDIR),' $(DESTDIR)$(LIBEXECDIR)/restore
	install -D -m 644 netlinkd/dist/srpol.bash-completion \
		$(DESTDIR)$(COMPDIR)/srpol
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(MANDIR)/man8
	for unit in $(UNITS); do \
		sed -e 's,/usr/sbin,$(SBINDIR),' \
			-e 's,/usr/lib/srpol,$(LIBEXECDIR),' \
			netlinkd/dist/$$unit >$(DESTDIR)$(UNITDIR)/$$unit; \
	done
	install -m 644 -t $(DESTDIR)$(MANDIR)/man8 $(PAGES)
	sed -i 's,/usr/sbin,$(SBINDIR),' $(addprefix $(DESTDIR)$(MANDIR)/man8/,$(notdir $(PAGES)))

# Headers in a folder of their own, which libsrpol.pc tells: <linux/srpol.h>
# belongs to whoever ships the kernel's headers.
.PHONY: install-lib
install-lib:		## libsrpol, the client of the module, and its headers
	install -D -m 644 -t $(DESTDIR)$(LIBDIR) $(BUILD)/lib/libsrpol.so.1
	ln -sf libsrpol.so.1 $(DESTDIR)$(LIBDIR)/libsrpol.so
	$(if $(DESTDIR),,ldconfig)
	install -D -m 644 -t $(DESTDIR)$(INCLUDEDIR)/srpol lib/client.h
	install -D -m 644 -t $(DESTDIR)$(INCLUDEDIR)/srpol/uapi/linux \
		kmod/include/uapi/linux/srpol.h
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	sed -e 's,@PREFIX@,$(PREFIX),' -e 's,@LIBDIR@,$(LIBDIR),' \
		-e 's,@INCLUDEDIR@,$(INCLUDEDIR),' \
		-e "s,@VERSION@,$$(sed -n '1s/.*(\(.*\)).*/\1/p' .debian/changelog)," \
		lib/libsrpol.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/libsrpol.pc

.PHONY: uninstall
uninstall:		## remove what install put there (DESTDIR, PREFIX, CNIDIR)
	for module in $(DESTDIR)/lib/modules/*/updates/kmod/srpol.ko* \
			$(DESTDIR)/lib/modules/*/extra/kmod/srpol.ko*; do \
		[ -e "$$module" ] || continue; \
		rm "$$module" || exit; \
		kver=$${module#$(DESTDIR)/lib/modules/}; \
		$(if $(DESTDIR),:,depmod "$${kver%%/*}") || exit; \
	done
	rm -f $(addprefix $(DESTDIR)$(SBINDIR)/,$(PROGRAMS)) \
		$(DESTDIR)$(CNIDIR)/srpol $(DESTDIR)$(COMPDIR)/srpol \
		$(addprefix $(DESTDIR)$(UNITDIR)/,$(UNITS)) \
		$(addprefix $(DESTDIR)$(MANDIR)/man8/,$(notdir $(PAGES))) \
		$(addprefix $(DESTDIR)$(LIBDIR)/,libsrpol.so libsrpol.so.1 \
			pkgconfig/libsrpol.pc)
	rm -rf $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(INCLUDEDIR)/srpol

DEB_PACKAGES := debhelper dh-dkms dpkg-dev fakeroot \
	linux-headers-6.12-$(shell dpkg --print-architecture)

.PHONY: deb
deb:			## Debian packages: command, engine, module by DKMS
	@selftests/deps.sh user $(DEB_PACKAGES)
	@selftests/kernel.sh fetch
	@.debian/build

.PHONY: clean
clean:			## remove all that was built
	@if [ -d $(KDIR) ]; then $(MAKE) -C $(KDIR) M=$(CURDIR) clean; fi
	rm -rf $(BUILD)

.PHONY: help
help:			## this list
	@sed -n 's/^\([a-z0-9-]*\):.*##\s*/\1\t/p' Makefile | expand -t 18
