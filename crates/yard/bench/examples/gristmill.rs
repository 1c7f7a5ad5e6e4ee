//! The `gristmill` command, built with this package's tests, which measure it.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
