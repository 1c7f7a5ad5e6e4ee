//! The options of `gristmill sort`.

mod order;

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::choices::{CheckName, ExchangeName, IoName, PlanName, StartName, TuneName};
use super::memory::{Asked, asked};
use crate::progress;
use crate::size::{size, threads};

pub(super) use order::Order;

const EXAMPLES: &str = "\
Examples:
  gristmill sort names.txt -o sorted.txt
  gristmill sort -t, -k3,3nr -k1,1 sales.csv   # a number, then a name
  cat *.log | gristmill sort -u -S 64M > all.txt
  gristmill sort --format gensort --verify input.dat -o output.dat
  gristmill sort --format fixed:16 --key 8+8:u64le:desc pairs.bin -o sorted.bin
  mpirun -n 4 gristmill sort --format gensort 'in-{rank}' -o 'out-{rank}'";

/// Sort lines of text, or fixed-length records.
///
/// Lines are compared as bytes, as by GNU sort in the C locale, and its options mean the same here.
///
/// Without INPUT, or where it is -, sort reads standard input; without -o it writes standard
/// output. Inputs are only read, and -o may name one of them: a file shows its old content until
/// the new content is complete.
///
/// If OUTPUT is a directory or ends in /, the output is a set of files in key order, which
/// manifest.json lists. With several directories the files are spread over all, and the manifest is
/// in the first. As INPUT such a directory stands for the files in its manifest.
///
/// Under mpirun or srun all ranks sort together. {rank} in a path stands for the number of the
/// rank. Each rank reads the inputs that carry its number, or its share of the inputs that all
/// ranks name. Each rank writes one range of the keys, to its own output or to its part of one file
/// that all hosts see. -S applies to each rank.
///
/// Sizes: K M G T are powers of 1024, KB MB GB TB of 1000. For lines a number alone counts KiB.
#[derive(Args, Clone)]
#[command(before_long_help = EXAMPLES, args_override_self = true, infer_long_args = true)]
#[command(disable_help_flag = true, version = crate::VERSION, disable_version_flag = true)]
pub(crate) struct Arguments {
    /// Files to sort together; - is standard input
    #[arg(value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) order: Order,

    /// Where the sorted records go: a file, a device, a named pipe, or directories
    #[arg(
        short,
        long = "output",
        value_name = "OUTPUT",
        allow_hyphen_values = true
    )]
    #[arg(help_heading = "Input and output")]
    pub(super) outputs: Vec<PathBuf>,
    /// Read the names of the inputs, each followed by a NUL, from FILE; - is standard input
    #[arg(
        long,
        value_name = "FILE",
        allow_hyphen_values = true,
        help_heading = "Input and output"
    )]
    pub(super) files0_from: Option<PathBuf>,
    /// Lines end with NUL, not with a newline
    #[arg(short, long, help_heading = "Input and output")]
    pub(super) zero_terminated: bool,
    /// Set rows with mistakes aside in FILE, instead of ending the sort at the first
    #[arg(long, value_name = "FILE", help_heading = "Input and output")]
    pub(super) bad_records: Option<PathBuf>,
    /// The inputs are sorted: merge them
    #[arg(short, long, help_heading = "Input and output")]
    pub(super) merge: bool,

    /// Memory limit, such as 2G or 50% [default: 75% of the available memory]
    #[arg(
        short = 'S',
        long,
        visible_alias = "buffer-size",
        value_name = "SIZE|PCT"
    )]
    #[arg(value_parser = asked, allow_hyphen_values = true, help_heading = "Memory and disks")]
    pub(super) memory: Vec<Asked>,
    /// Directory for data that does not fit in memory [default: that of the output]
    ///
    /// Repeat it to spread the data over several disks.
    #[arg(
        short = 'T',
        long = "tmp",
        visible_alias = "temporary-directory",
        value_name = "DIR"
    )]
    #[arg(allow_hyphen_values = true, help_heading = "Memory and disks")]
    pub(super) temporary: Vec<PathBuf>,
    /// Cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = threads, help_heading = "Memory and disks")]
    pub(super) parallel: Option<u16>,
    /// Save progress on disk, so that the same command continues after a failure
    ///
    /// The job may continue with as many ranks or with fewer.
    #[arg(long, help_heading = "Memory and disks")]
    pub(super) resume: bool,

    /// Check that the input is in order, and do not sort; exit with 1 if it is not
    ///
    /// HOW is diagnose-first, which prints the first line that is out of order, or quiet or silent,
    /// which print nothing.
    #[arg(short, long, value_name = "HOW", num_args = 0..=1, require_equals = true)]
    #[arg(value_parser = CheckName::read, default_missing_value = "diagnose-first")]
    #[arg(help_heading = "Checks")]
    pub(super) check: Option<CheckName>,
    /// The same, and do not say where it is out of order
    #[arg(short = 'C', help_heading = "Checks")]
    pub(super) check_quietly: bool,
    /// Read the output again and check its order and checksum
    #[arg(long, help_heading = "Checks")]
    pub(super) verify: bool,
    /// Underline what the keys are in each line of the output, and warn of doubtful options
    #[arg(long, help_heading = "Checks")]
    pub(super) debug: bool,
    /// Write a report as JSON to FILE, and print a table of the stages on standard error
    #[arg(long, value_name = "FILE", help_heading = "Checks")]
    pub(super) report: Option<PathBuf>,
    /// Print the report as JSON on standard output
    #[arg(long, help_heading = "Checks")]
    pub(super) json: bool,
    /// Show progress on standard error
    #[arg(long, value_enum, default_value_t, help_heading = "Checks")]
    pub(super) progress: progress::Mode,

    /// How ranks exchange records
    #[arg(long, value_enum, default_value_t, help_heading = "Cluster")]
    pub(super) exchange: ExchangeName,

    /// Longest line that buffers have room for [default: what the input and the memory suggest]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Expert")]
    pub(super) max_line: Option<u64>,
    /// How to sort
    #[arg(long, value_enum, default_value_t, help_heading = "Expert")]
    pub(super) plan: PlanName,
    /// Whether to bypass the page cache; auto measures how much of the input is in it
    #[arg(long, value_enum, default_value_t, help_heading = "Expert")]
    pub(super) io: IoName,
    /// Whether to move threads and requests to the slowest stage during the sort
    #[arg(long, value_enum, default_value_t, help_heading = "Expert")]
    pub(super) tune: TuneName,
    /// Where tuning begins: `worst` has one worker per stage, one request in flight, small units
    #[arg(long, value_enum, default_value_t, hide = true)]
    pub(super) start: StartName,

    /// Print help
    #[arg(long, action = ArgAction::HelpLong, help_heading = "Help")]
    pub(super) help: Option<bool>,
    /// Print the version
    #[arg(long, action = ArgAction::Version, help_heading = "Help")]
    pub(super) version: Option<bool>,
}
