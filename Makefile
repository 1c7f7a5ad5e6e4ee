# The two commands of the README. Both need git, make and Rust (https://rustup.rs), nothing else; tests over MPI
# are skipped where there is none and none can be installed.

CARGO ?= cargo
BINARY = $(or $(CARGO_TARGET_DIR),target)/release/gristmill

.PHONY: demo test lint unit readme trials hosts build clean figures mpi mpi-if-possible

demo: build
	$(BINARY) demo

build:
	$(CARGO) build --release --locked --package gristmill

# All that must hold: format, lints, every test, that the README's commands run, sorts of simulated nodes that fail, and
# sorts on several hosts.
test: lint unit readme trials hosts

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings

unit: mpi-if-possible
	$(CARGO) test --workspace --locked

# The shim between Gristmill and the MPI that is here; installs one where there is none and it can.
mpi:
	sh crates/node-mpi/shim/build.sh

mpi-if-possible:
	@$(MAKE) --no-print-directory mpi || echo "mpi: tests over MPI will be skipped"

readme: build
	sh tests/readme.sh $(BINARY)

# Two thousand seeds of the sort of several ranks, on simulated nodes to which everything happens: two runs side by
# side, a minute or two.
trials: build
	@$(MAKE) --no-print-directory -j2 trials-1 trials-1001

trials-%:
	$(BINARY) sim sort --cores 4 --keys-per-core 60 --seed $* --runs 1000 --faults late,cut,death,disk

# Hosts made of namespaces, where this machine allows it; says what it skips.
hosts: build
	sh hosts/test.sh
	sh hosts/sort.sh $(BINARY)

# Every figure at the paper's size: judges all claims, and writes the page. Half an hour.
figures: build
	$(BINARY) lab report --full --results target/figures -o target/report.html

clean:
	$(CARGO) clean
