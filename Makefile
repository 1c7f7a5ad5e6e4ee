# `make demo` and `make test` need git, make and Rust (https://rustup.rs), nothing else. Tests over
# MPI are skipped where there is no MPI and none can be installed.

CARGO ?= cargo
TARGET = $(or $(CARGO_TARGET_DIR),target)
BINARY = $(TARGET)/release/gristmill
DEBUG_BINARY = $(TARGET)/debug/gristmill

RELEASE = $(CARGO) build --release --locked

.PHONY: demo build bench library release wheel test lint unit readme programs python test-long test-all beyond long \
	fio instructions pages site trials hosts slurm hostile drawn fuzz sanitizer miri machines deny attacks installed python-installed published \
	distributed docs install install-command \
	install-library uninstall mpi mpi-if-possible built dist dist-musl dist-deb dist-rpm dist-wheel dist-image dist-recipes \
	dist-crates dist-sbom table publish figures mutants clean

demo: build
	$(BINARY) demo

build:
	$(RELEASE) --package gristmill-cli

# The command and `gristmill-bench`, which measures it.
bench:
	$(RELEASE) --package gristmill-cli --package gristmill-bench

# The shared and the static library for programs in C.
library:
	$(CARGO) build --release --locked --package gristmill-c

# All that `make install` installs. In one command, cargo compiles the libraries beneath once, with the
# features that `make bench` chooses.
release:
	$(RELEASE) --package gristmill-cli --package gristmill-bench --package gristmill-c

# The Python module, for all versions from 3.9. Installs maturin, which builds it, below the target
# directory.
wheel:
	sh tests/python.sh wheel

# --- tests: `make test` before every commit, `make test-long` before a change lands

test: lint unit readme programs python

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings

unit: mpi-if-possible
	$(CARGO) test --workspace --locked

# The commands and links of all pages, by the binary of the tests. `cargo build` would choose other
# features than the tests do, and compile most crates again.
readme:
	$(CARGO) test --workspace --locked --no-run --quiet
	sh tests/links.sh
	sh tests/readme.sh $(DEBUG_BINARY)

# A program of one's own, in a crate outside of the workspace.
programs:
	sh tests/programs.sh

# The Python module, where Python 3.9 or later is there.
python:
	sh tests/python.sh

# The same tests of the wheel, installed.
python-installed:
	sh tests/python.sh installed

test-long: long beyond

# Tests that cargo does not run.
BEYOND = build sanitizer pages attacks drawn site instructions published trials installed deny

# Both, and each test once: `unit` runs the cases of `long` here, and `pages` the commands of `readme`,
# with the binary that others get. Only that one is built again, which takes minutes: what is installed,
# documented and attacked from are the BUILT ones of the tests, so `unit` comes before them. Around it parts
# run in pairs, since most of them leave a core idle. Each part says how long it took.
test-all: export GRISTMILL_LONG = 1
test-all: export BUILT = $(DEBUG_BINARY)
# What is built once needs no record of its parts for the next time: a third less work of the compiler.
test-all: export CARGO_INCREMENTAL = 0
test-all:
	@$(MAKE) --no-print-directory -j2 timed-lint timed-build
	@$(MAKE) --no-print-directory timed-unit
	@$(MAKE) --no-print-directory -j2 $(addprefix timed-,programs python $(filter-out build,$(BEYOND)))

# `make python-installed distributed` builds all of a release, twice in part, and is run by hand for the time it
# takes. So are `miri` and `machines`, which take too long, and `fuzz`, until an hour of it has found nothing.
beyond: $(BEYOND)

# Without the flags of a `make -j2` above: cargo, called by a script, would warn that it cannot join it.
timed-%:
	@began=$$(date +%s); MAKEFLAGS= $(MAKE) --no-print-directory $*; ended=$$?; \
		echo "seconds of $*: $$(($$(date +%s) - began))"; exit $$ended

# Hosts wait most of the time, so both take little longer than one.
attacks: build
	@$(MAKE) --no-print-directory -j2 --output-sync=target hosts hostile

# Every test with all of its cases: `make test` runs a few of those that kill, fail or limit sorts
# hundreds of times.
long: mpi-if-possible
	GRISTMILL_LONG=1 $(CARGO) test --workspace --locked --tests

pages: build
	sh tests/readme.sh $(BINARY)

# Instructions of fixed commands, where there is valgrind and the compiler of the table.
instructions: build
	sh tests/instructions.sh $(BINARY)

# Every link and every place that it leads to, in the built site.
site: docs
	sh tests/links.sh $(TARGET)/site

# Installs into a temporary directory, and runs the installed commands.
installed: $(if $(BUILT),build,release)
	sh tests/install.sh $(BUILT)

# Tries the files of `make dist`, which it builds, in a root directory that has nothing else.
distributed:
	sh tests/dist.sh
	sh tests/published.sh command

# The library as others get it. `cargo install cargo-semver-checks` adds a check of its changes.
published:
	sh tests/published.sh

# A thousand seeds of the sort of several ranks on simulated nodes that fail, in two processes.
trials: build
	@$(MAKE) --no-print-directory -j2 trials-1 trials-501

trials-%:
	$(BINARY) sim sort --cores 4 --keys-per-core 60 --seed $* --runs 500 --faults late,cut,death,disk

# Sorts on several hosts made of namespaces, where this machine allows them; says what it skips.
hosts: build
	sh hosts/test.sh
	sh hosts/sort.sh $(BINARY)

# Jobs of Slurm on such hosts, where Slurm is installed. It waits for Slurm at fixed times, which a busy machine
# exceeds, and is run by hand.
slurm: build
	sh hosts/slurm.sh $(BINARY)

# Attacks on the command: hostile files and directories, faults, kills. Another SEED is another run.
# `make hostile FROM=N CASES=1 KILLS=0` repeats case N.
SEED ?= 1
FROM ?= 0
CASES ?= 900
KILLS ?= 200
hostile:
	$(if $(BUILT),,$(RELEASE) --package gristmill-cli --package gristmill-hostile)
	$(ATTACK) --seed $(SEED) --from $(FROM) --cases $(CASES) --kills $(KILLS)

# In memory where possible: the attacks are on names, texts and moments, and syncs of a disk would
# take most of the time.
ATTACK = $(dir $(or $(BUILT),$(BINARY)))hostile --binary $(BINARY) \
	--place $$(findmnt -no OPTIONS /dev/shm 2>/dev/null | grep -qv noexec && echo /dev/shm || echo "$${TMPDIR:-/tmp}")

# Sorts of which everything is drawn, beside a plain reference, with the binary that others get; one of
# 200 is of several ranks. `make drawn CASES=100000 SEED=2` tries more, `make drawn FROM=N CASES=1`
# repeats case N.
drawn: CASES = 4000
drawn: build
	GRISTMILL_BINARY="$$(realpath $(BINARY))" GRISTMILL_SEED=$(SEED) GRISTMILL_FROM=$(FROM) GRISTMILL_CASES=$(CASES) \
		$(CARGO) test --workspace --locked --quiet --test suite -- \
		drawn_sorts_are_those drawn_sorts_of_ranks --nocapture

# Fuzzes each parser for that many seconds: inputs that are drawn, and changed by what they reach.
SECONDS ?= 20
fuzz:
	sh fuzz/run.sh $(SECONDS)

# The tests of the crates with `unsafe` code under AddressSanitizer, some of them under Miri. Like `fuzz` they
# say what they skip where a tool is missing.
sanitizer:
	sh tests/sanitizer.sh

miri:
	sh tests/miri.sh

# The tests of kernel, record, codec and sort on s390x and aarch64, by qemu-user, and sorts that go on there. By
# hand, since it builds both for each. `sh tests/machines.sh all` runs those of sort that are slow there, too.
machines:
	sh tests/machines.sh

# The model of a disk beside fio, on a loop device with limits. By hand, since it times requests for five minutes.
fio:
	sh tests/fio.sh

# The libraries of others: their licenses and sources.
deny:
	sh tests/deny.sh

# Mutation tests: draws COUNT=100 changes of the code by SEED, lists those that no test notices, and fails if
# they are more than 5 %. Ends within MINUTES=60 (mutants/run.sh). Installs cargo-mutants if missing.
mutants:
	sh mutants/run.sh

# --- MPI

# The shim between Gristmill and the MPI of this machine; installs an MPI if there is none.
mpi:
	sh crates/node/node-mpi/shim/build.sh

mpi-if-possible:
	@$(MAKE) --no-print-directory mpi || echo "mpi: tests over MPI will be skipped"

# --- the rest

# Both commands, man pages, completions, the library for C, and the MPI shim if `make mpi` has built it.
# Packages set DESTDIR.
PREFIX ?= /usr/local
INSTALLED = $(DESTDIR)$(PREFIX)
SHIM = $(TARGET)/mpi/libgristmill_mpi.so
MANUAL = $(INSTALLED)/share/man/man1
BASH = $(INSTALLED)/share/bash-completion/completions
ZSH = $(INSTALLED)/share/zsh/site-functions
FISH = $(INSTALLED)/share/fish/vendor_completions.d
LIBRARY = $(dir $(BINARY))libgristmill
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
# The name that programs are linked with, as crates/sorter/c/build.rs writes it into the library.
SONAME = libgristmill.so.$(if $(filter 0.%,$(VERSION)),$(basename $(VERSION)),$(firstword $(subst ., ,$(VERSION))))

install: built
	@$(MAKE) --no-print-directory install-command install-library
	install -m 755 "$(BINARY)-bench" "$(INSTALLED)/bin"
	strip "$(INSTALLED)/bin/gristmill-bench"
	"$(BINARY)-bench" manual "$(MANUAL)"
	"$(BINARY)-bench" completions bash > "$(BASH)/gristmill-bench"
	"$(BINARY)-bench" completions zsh > "$(ZSH)/_gristmill-bench"
	"$(BINARY)-bench" completions fish > "$(FISH)/gristmill-bench.fish"
	if [ -e "$(SHIM)" ]; then install -D -m 755 -t "$(INSTALLED)/lib/gristmill" "$(SHIM)"; fi

# Files may be older than the sources, so cargo looks at them. It does not where they are of another
# user: `make release && sudo make install` runs no cargo as root. It builds no BINARY that is named.
built:
ifeq ($(origin BINARY),file)
	@{ [ ! -O "$(TARGET)" ] && ls "$(BINARY)" "$(BINARY)-bench" "$(LIBRARY).so" "$(LIBRARY).a" >/dev/null 2>&1; } || \
		$(MAKE) --no-print-directory release
endif

# Only `gristmill`, its man pages and completions, for the static archive.
install-command:
	install -d "$(INSTALLED)/bin" "$(MANUAL)" "$(BASH)" "$(ZSH)" "$(FISH)"
	install -m 755 "$(BINARY)" "$(INSTALLED)/bin"
	strip "$(INSTALLED)/bin/gristmill"
	"$(BINARY)" manual "$(MANUAL)"
	"$(BINARY)" completions bash > "$(BASH)/gristmill"
	"$(BINARY)" completions zsh > "$(ZSH)/_gristmill"
	"$(BINARY)" completions fish > "$(FISH)/gristmill.fish"

# Only the library for programs in C, as `make library` has built it.
install-library:
	install -D -m 644 -t "$(INSTALLED)/include" crates/sorter/c/include/gristmill.h
	install -D -m 644 "$(LIBRARY).so" "$(INSTALLED)/lib/libgristmill.so.$(VERSION)"
	ln -sf libgristmill.so.$(VERSION) "$(INSTALLED)/lib/$(SONAME)"
	ln -sf $(SONAME) "$(INSTALLED)/lib/libgristmill.so"
	install -m 644 "$(LIBRARY).a" "$(INSTALLED)/lib"
	strip --strip-debug "$(INSTALLED)/lib/libgristmill.a" "$(INSTALLED)/lib/libgristmill.so.$(VERSION)"
	install -d "$(INSTALLED)/lib/pkgconfig"
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' crates/sorter/c/gristmill.pc.in \
		> "$(INSTALLED)/lib/pkgconfig/gristmill.pc"

uninstall:
	rm -f "$(INSTALLED)/bin/gristmill" "$(INSTALLED)/bin/gristmill-bench" \
		"$(BASH)/gristmill" "$(ZSH)/_gristmill" "$(FISH)/gristmill.fish" \
		"$(BASH)/gristmill-bench" "$(ZSH)/_gristmill-bench" "$(FISH)/gristmill-bench.fish"
	rm -f "$(MANUAL)/gristmill.1" "$(MANUAL)/gristmill-"*.1
	rm -rf "$(INSTALLED)/lib/gristmill"
	rm -f "$(INSTALLED)/include/gristmill.h" "$(INSTALLED)/lib/libgristmill.a" \
		"$(INSTALLED)/lib/libgristmill.so"* "$(INSTALLED)/lib/pkgconfig/gristmill.pc"

# The documentation as a site, target/site/index.html: pages, the help of each command, rustdoc. mdBook
# is built into target/tools unless it is on PATH.
docs: $(if $(BUILT),,bench)
	sh docs/site/build.sh $(or $(BUILT),$(BINARY))

# All that a release has, in target/dist; docs/install.md tells more. The wheels, the image and the recipes
# are made from the static archives, the RPM package from the Debian one. What needs nothing of this machine is
# built for the OTHER one, too.
OTHER ?= $(if $(filter aarch64,$(shell uname -m)),x86_64,aarch64)
dist: dist-musl dist-deb dist-rpm dist-wheel dist-image dist-recipes dist-crates dist-sbom
	@$(MAKE) --no-print-directory table

table:
	sh dist/table.sh

dist-musl:
	sh dist/musl.sh
	$(if $(OTHER),MACHINE=$(OTHER) sh dist/musl.sh)

dist-deb: release mpi-if-possible
	sh dist/deb.sh

dist-rpm: dist-deb
	sh dist/rpm.sh

dist-wheel: dist-musl
	sh dist/wheel.sh
	$(if $(OTHER),MACHINE=$(OTHER) sh dist/wheel.sh)

dist-image: dist-musl
	sh dist/image.sh
	$(if $(OTHER),MACHINE=$(OTHER) sh dist/image.sh)

# The Homebrew formula and the conda recipe.
dist-recipes: dist-musl
	sh dist/recipes.sh

dist-crates:
	sh dist/crates.sh

dist-sbom:
	sh dist/sbom.sh

# Prints the commands that publish target/dist; with PUBLISH=yes, runs them.
publish:
	sh dist/publish.sh

# Every figure at the paper's size: judges all claims and writes the page, in one to two hours.
figures: build
	$(BINARY) lab report --full --results target/figures -o target/report.html

clean:
	$(CARGO) clean
