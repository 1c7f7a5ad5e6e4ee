//! The options of `gristmill sort`.

use std::path::PathBuf;

use clap::Args;

use super::choices::{ExchangeName, IoName, PlanName, StartName, TuneName};
use crate::progress;
use crate::size::{Memory, memory, threads};

const EXAMPLES: &str = "\
Examples:
  gristmill sort --format gensort input.dat -o output.dat
  gristmill sort --format fixed:16 --key 8+8:u64le:desc pairs.bin -o sorted.bin
  gristmill sort --format gensort -S 64M --verify input.dat -o output.dat
  gristmill sort --format gensort input.dat -o sorted/     # a set of files
  cat input.dat | gristmill sort --format gensort > output.dat
  mpirun -n 4 gristmill sort --format gensort 'in-{rank}' -o 'out-{rank}'";

/// Sort fixed-length records.
///
/// Text is not supported yet, except lines of equal length: `--format fixed:LEN`, where LEN counts
/// the newline.
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
/// Sizes: K M G T are powers of 1024, KB MB GB TB of 1000.
#[derive(Args, Clone)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files to sort together; - is standard input
    #[arg(value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,

    /// Record format: gensort (100 bytes, key 0+10) or fixed:LEN (LEN bytes)
    #[arg(long, value_name = "FORMAT", help_heading = "Records")]
    pub(super) format: String,
    /// Sort key, OFFSET+LENGTH[:TYPE][:desc]; repeat it for further keys
    ///
    /// The first key decides first. TYPE is bytes (the default), u8, i8, u16le, u16be ... u128be,
    /// i16le ... i128be, f32le, f32be, f64le or f64be. With :desc the largest comes first. Without
    /// --key, fixed:LEN sorts by the whole record.
    #[arg(long = "key", value_name = "KEY", help_heading = "Records")]
    pub(super) keys: Vec<String>,
    /// Keep the input order of records with equal keys
    ///
    /// Otherwise the whole record decides between them.
    #[arg(long, help_heading = "Records")]
    pub(super) stable: bool,

    /// Memory limit, such as 2G or 50% [default: 75% of the available memory]
    #[arg(short = 'S', long, value_name = "SIZE|PCT", value_parser = memory)]
    #[arg(help_heading = "Memory and disks")]
    pub(super) memory: Option<Memory>,
    /// Directory for data that does not fit in memory [default: that of the output]
    ///
    /// Repeat it to spread the data over several disks.
    #[arg(short = 'T', long = "tmp", value_name = "DIR")]
    #[arg(help_heading = "Memory and disks")]
    pub(super) temporary: Vec<PathBuf>,
    /// Cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = threads, help_heading = "Memory and disks")]
    pub(super) parallel: Option<u16>,
    /// Save progress on disk, so that the same command continues after a failure
    ///
    /// The job may continue with as many ranks or with fewer.
    #[arg(long, help_heading = "Memory and disks")]
    pub(super) resume: bool,

    /// Where the sorted records go: a file, a device, a named pipe, or directories
    #[arg(
        short,
        long = "output",
        value_name = "OUTPUT",
        help_heading = "Output and checks"
    )]
    pub(super) outputs: Vec<PathBuf>,
    /// Read the output again and check its order and checksum
    #[arg(long, help_heading = "Output and checks")]
    pub(super) verify: bool,
    /// Write a report as JSON to FILE, and print a table of the stages on standard error
    #[arg(long, value_name = "FILE", help_heading = "Output and checks")]
    pub(super) report: Option<PathBuf>,
    /// Print the report as JSON on standard output
    #[arg(long, help_heading = "Output and checks")]
    pub(super) json: bool,
    /// Show progress on standard error
    #[arg(long, value_enum, default_value_t, help_heading = "Output and checks")]
    pub(super) progress: progress::Mode,

    /// How ranks exchange records
    #[arg(long, value_enum, default_value_t, help_heading = "Cluster")]
    pub(super) exchange: ExchangeName,

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
}
