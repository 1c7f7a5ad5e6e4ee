//! `gristmill gensort`: makes the records of the sort benchmark, as the reference gensort 1.5 does.

use ::sort::{Generate, Target, generate};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::Args;
use pipeline::Control;
use record::{Generator, Style};

use host::machine;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::{launcher, progress};
use units::{threads, whole};

const EXAMPLES: &str = "\
Examples:
  gristmill gensort 1000000 input.dat             # 100 MB of binary records
  gristmill gensort -a 1000 lines.txt             # lines of 100 bytes
  gristmill gensort -c 1000 input.dat             # prints their checksum, too
  gristmill gensort -b 500 500 second-half.dat    # records 500 to 999";

/// Make records for sorting, byte for byte those of gensort 1.5.
///
/// Parts that were made with -b equal one large run when they are concatenated.
#[derive(Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Make ASCII records instead of binary ones
    #[arg(short = 'a')]
    ascii: bool,
    /// Print the sum of the records' CRC-32 on standard error
    #[arg(short = 'c')]
    checksum: bool,
    /// Number of the first record
    #[arg(short = 'b', value_name = "STARTING_REC_NUM", default_value_t = 0, value_parser = first)]
    begin: u128,
    /// Make skewed keys
    #[arg(short = 's')]
    skewed: bool,
    /// Threads to use [default: all cores]
    #[arg(short = 't', value_name = "N", value_parser = threads)]
    threads: Option<u16>,
    /// Number of records
    #[arg(value_name = "NUM_RECS", value_parser = whole)]
    records: u64,
    /// Output file
    ///
    /// The reference's I/O options may follow (,buf ,dir ,trans=SIZE ,count=N). As with the
    /// reference, - is a file of that name.
    #[arg(value_name = "FILE_NAME[,opts]")]
    file: OsString,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    progress: progress::Mode,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let (path, io) = split_options(&arguments.file);
    let control = Control::default();
    let style = if arguments.ascii {
        Style::Ascii
    } else {
        Style::Binary
    };
    let job = Generate {
        generator: Generator {
            style,
            skewed: arguments.skewed,
        },
        first: arguments.begin,
        records: arguments.records,
        target: Target::Path(path.into()),
        checksum: arguments.checksum,
        cores: arguments.threads.map_or_else(launcher::cores, usize::from),
        io: io.unwrap_or(::sort::IoChoice::Direct),
        control: control.clone(),
    };
    if job
        .records
        .checked_mul(record::RECORD_BYTES as u64)
        .is_none()
    {
        let message = format!("{} records are more than a file holds", job.records);
        return Err(CliFailure::usage(message).with_code(1));
    }
    let checksum = machine::run(&control, arguments.progress, move |node| {
        let job = job.clone();
        async move { generate(&node, &job).await }
    })?;
    if arguments.checksum {
        say::err(checksum);
    }
    Ok(Exit::Done)
}

/// Reads the number of the first record.
fn first(text: &str) -> Result<u128, String> {
    text.parse()
        .map_err(|_| format!("must be a whole number from 0 to {}", u128::MAX))
}

/// Splits the reference's I/O options from a file name. Only direct and buffered have an effect:
/// request sizes are derived.
pub(crate) fn split_options(file: &OsStr) -> (&OsStr, Option<::sort::IoChoice>) {
    let (mut name, mut io) = (file.as_bytes(), None);
    while let Some(comma) = name.iter().rposition(|&byte| byte == b',') {
        match &name[comma + 1..] {
            b"buf" => io = Some(::sort::IoChoice::Buffered),
            b"dir" => io = Some(::sort::IoChoice::Direct),
            option if option.starts_with(b"trans=") || option.starts_with(b"count=") => {}
            _ => break,
        }
        name = &name[..comma];
    }
    (OsStr::from_bytes(name), io)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::sort::IoChoice;

    #[test]
    fn options_behind_the_name_are_taken_off() {
        let cases = [
            ("data", "data", None),
            ("a,b", "a,b", None),
            ("a,b,buf", "a,b", Some(IoChoice::Buffered)),
            ("a,dir,trans=4m,count=8", "a", Some(IoChoice::Direct)),
        ];
        for (given, name, io) in cases {
            assert_eq!(split_options(OsStr::new(given)), (OsStr::new(name), io));
        }
    }
}
