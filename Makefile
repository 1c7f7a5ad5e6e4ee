# The two commands of the README. Both need git, make and Rust (https://rustup.rs), nothing else; tests over MPI
# are skipped where there is none and none can be installed.

CARGO ?= cargo
BINARY = $(or $(CARGO_TARGET_DIR),target)/release/gristmill

.PHONY: demo test test-long lint unit readme trials hosts hostile build bench clean figures mutants mpi mpi-if-possible

demo: build
	$(BINARY) demo

build:
	$(CARGO) build --release --locked --package gristmill

# The command and `gristmill-bench`, which measures it.
bench:
	$(CARGO) build --release --locked --package gristmill --package gristmill-bench

# All that must hold: format, lints, every test, that the README's commands run, sorts of simulated nodes that fail,
# sorts on several hosts, and a few attacks.
test: lint unit readme trials hosts hostile

# Every attack, a thousand times over: some minutes. SEED is another run; FROM=N CASES=1 is case N again.
SEED ?= 1
FROM ?= 0
CASES ?= 2000
KILLS ?= 500
test-long: build
	$(ATTACK) --seed $(SEED) --from $(FROM) --cases $(CASES) --kills $(KILLS)

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

# Attacks on the command: hostile files and directories, faults, kills.
hostile: build
	$(ATTACK) --cases 60 --kills 10

# In memory where that is possible: the attacks are on names, texts and moments, and a disk's syncs take most of the time.
ATTACK = $(CARGO) run --release --locked --quiet --package gristmill-hostile -- --binary $(BINARY) \
	--place $$(findmnt -no OPTIONS /dev/shm 2>/dev/null | grep -qv noexec && echo /dev/shm || echo "$${TMPDIR:-/tmp}")

# Every figure at the paper's size: judges all claims, and writes the page. Half an hour.
figures: build
	$(BINARY) lab report --full --results target/figures -o target/report.html

# Lists changes of the code that no test notices. It tries a drawn part of each crate's changes, for
# an hour or two (mutants/run.sh says how to try all of a crate). Installs cargo-mutants where it is
# missing.
mutants:
	sh mutants/run.sh

clean:
	$(CARGO) clean
