//! Binary output is not for a terminal, whose state it would change. It is refused before anything
//! is read, as other programs do.

use std::io::{self, IsTerminal};

use super::first_input;
use crate::sort::options::Arguments;
use host::glance::Glance;
use node::Decompress;
use record::FormatKind;
use terminal::ending::failure::CliFailure;
use terminal::ending::say;

/// Says that standard input is a terminal, where no input is named: otherwise it looks as if
/// nothing happened.
pub(crate) fn say_terminal(names_input: bool) {
    if !names_input && io::stdin().is_terminal() {
        say::err("gristmill: reads the terminal; Ctrl-D ends it; help: --help");
    }
}

/// Refuses to show binary records, or lines with control bytes, on a terminal. An output that `-o`
/// names may be any device.
pub(super) fn check(arguments: &Arguments) -> Result<(), CliFailure> {
    let is_shown = arguments.outputs.is_empty() && !arguments.debug;
    if !is_shown || !io::stdout().is_terminal() {
        return Ok(());
    }
    let order = &arguments.order;
    let binary = match order.kind() {
        _ if matches!(arguments.compress_output, Decompress::From(_)) => {
            Some("compressed data is binary".to_owned())
        }
        FormatKind::Binary => Some(format!("records of --format {} are binary", order.format)),
        _ => control_byte(arguments),
    };
    binary.map_or(Ok(()), |binary| {
        Err(CliFailure::usage(format!(
            "{binary}, and standard output is a terminal; write them to a file with -o, or add `| cat` to see them"
        )))
    })
}

/// A control byte among the first lines of the first input, in words. Compressed inputs are not
/// shown as they are.
fn control_byte(arguments: &Arguments) -> Option<String> {
    let input = first_input(arguments);
    let (at, byte) = Glance::at(input)?.control_byte(arguments.zero_terminated)?;
    let is_compressed = Glance::at(input)?.is_compressed();
    let input = input.display();
    let told = || format!("lines of {input} have control bytes (0x{byte:02x} at byte {at})");
    (!is_compressed).then(told)
}
