#!/bin/sh
# The libraries of others: their licenses, their sources, and none that deny.toml bans.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tests/nightly.sh
. tests/nightly.sh
"$cargo" deny --version >/dev/null 2>&1 || skip "cargo-deny is not here (cargo install cargo-deny --locked)"
timeout 120 "$cargo" deny --log-level error check bans licenses sources
