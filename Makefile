# The two commands of the README. Both need git, make and Rust (https://rustup.rs), nothing else.

CARGO ?= cargo
BINARY = target/release/gristmill

.PHONY: demo test lint unit readme build clean figures

demo: build
	$(BINARY) demo

build:
	$(CARGO) build --release --locked --package gristmill

# All that must hold: format, lints, every test, and that the README's commands run.
test: lint unit readme

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings

unit:
	$(CARGO) test --workspace --locked

readme: build
	sh tests/readme.sh

# Every figure at the paper's size: judges all claims, and writes the page. Half an hour.
figures: build
	$(BINARY) lab report --full --results target/figures -o target/report.html

clean:
	$(CARGO) clean
