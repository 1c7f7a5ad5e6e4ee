//! The options of `gristmill sort`.

mod order;

use std::path::{Path, PathBuf};

use ::sort::{Choice, ExchangeKind, IoChoice, Pack, Shares, SpillLayout, SplitterChoice};
use clap::{ArgAction, Args, Command, FromArgMatches};
use node::Decompress;

use super::choices::{
    CheckName, EXCHANGES, FORMATS, IO, LAYOUTS, PACKS, PLANS, SPLITTERS, one_of, shares,
};
use super::memory::{Asked, asked};
use terminal::progress::{self, Mode};
use units::{size, threads};

pub(super) use order::{Kept, Order};

/// The name of standard output, as a file of reports.
const STANDARD: &str = "-";

/// The value of `--batch-size`.
fn batch(text: &str) -> Result<usize, String> {
    use std::num::IntErrorKind::PosOverflow;
    match text.parse::<usize>() {
        Ok(count) if count >= 2 => Ok(count),
        // As for GNU, no number is too large.
        Err(wrong) if *wrong.kind() == PosOverflow => Ok(usize::MAX),
        _ => Err("give a number from 2 on".to_owned()),
    }
}

/// The value of `--stripe`: its blocks of data.
fn stripe(text: &str) -> Result<usize, String> {
    let blocks = text
        .strip_suffix("+1")
        .and_then(|blocks| blocks.parse().ok());
    let blocks = blocks.filter(|blocks| (1..=MOST_STRIPE_BLOCKS).contains(blocks));
    blocks.ok_or_else(|| "give K+1, as in 3+1 for four directories".to_owned())
}

/// More disks fail too often for one parity.
const MOST_STRIPE_BLOCKS: usize = 64;

const EXAMPLES: &str = "\
Examples:
  gristmill sort names.txt -o sorted.txt
  gristmill sort -t, -k3,3nr -k1,1 sales.csv   # a number, then a name
  gristmill sort --format csv --no-header --key '#2:num' sales.csv
  cat *.log | gristmill sort -u -S 64M > all.txt
  gristmill sort --format gensort --verify input.dat -o output.dat
  gristmill sort --format fixed:16 --key 8+8:u64le:desc pairs.bin -o sorted.bin
  mpirun -n 4 gristmill sort --format gensort 'in-{rank}' -o 'out-{rank}'";

/// Sort lines of text, rows of CSV, TSV or JSON Lines, or binary records.
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
/// Sizes: K M G T and KiB MiB GiB TiB are powers of 1024, KB MB GB TB of 1000; small letters mean
/// the same. For -S a number alone counts KiB, if records are lines.
///
/// If standard error is a terminal, sort shows progress there, and after a sort into a file a line
/// with its records and seconds.
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
    /// Inputs to decompress: auto tells compressed files by their first bytes
    #[arg(
        long,
        value_parser = one_of(FORMATS),
        default_value = "auto",
        value_name = "FORMAT",
        help_heading = "Input and output"
    )]
    pub(super) decompress: Decompress,
    /// Compress the output: auto if its name ends in .gz, .zst, .lz4, .bz2 or .xz
    #[arg(
        long,
        value_parser = one_of(FORMATS),
        default_value = "auto",
        value_name = "FORMAT",
        help_heading = "Input and output"
    )]
    pub(super) compress_output: Decompress,
    /// Lines end with NUL, not with a newline
    #[arg(short, long, help_heading = "Input and output")]
    pub(super) zero_terminated: bool,
    /// Set rows or lines with mistakes aside in FILE, instead of ending the sort at the first
    #[arg(long, value_name = "FILE", help_heading = "Input and output")]
    pub(super) bad_records: Option<PathBuf>,
    /// Merge inputs that are sorted: each must be in order, as -c tells
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
    /// Directory for data that does not fit in memory [default: directory of the output; without
    /// -o, $TMPDIR or the current directory]
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
    /// Most bytes of temporary files at any time, such as 100G; a sort that needs more fails
    ///
    /// If the sizes of the inputs show that it needs more, it fails before it begins.
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Memory and disks")]
    pub(super) tmp_limit: Option<u64>,
    /// Go on if one of the K+1 directories of -T is lost: temporary data gets parity, as 3+1
    ///
    /// Stripes of K blocks have a block of parity. So with 3+1 a third more is written. The report says what was
    /// rebuilt.
    #[arg(long, value_name = "K+1", value_parser = stripe, help_heading = "Memory and disks")]
    pub(super) stripe: Option<usize>,
    /// Compress temporary data [default: auto, which now and then tries which way is the fastest]
    #[arg(
        long,
        value_parser = one_of(PACKS),
        value_name = "FORMAT",
        help_heading = "Memory and disks"
    )]
    pub(super) compress: Option<Pack>,
    /// Compress temporary data in the format of PROG, which is not run: lz4, or else zstd
    #[arg(long, value_name = "PROG", hide = true)]
    pub(super) compress_program: Option<PathBuf>,
    /// Merge at most N inputs or temporary files at once [default: as many as memory has room for]
    #[arg(long, value_name = "N", value_parser = batch, help_heading = "Memory and disks")]
    pub(super) batch_size: Option<usize>,
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
    /// Check like -c, but print nothing
    #[arg(short = 'C', help_heading = "Checks")]
    pub(super) check_quietly: bool,
    /// Read the output again and check its order and checksum
    #[arg(long, help_heading = "Checks")]
    pub(super) verify: bool,
    /// Show the keys of each line, row or record of the output, and warn of doubtful options
    #[arg(long, help_heading = "Checks")]
    pub(super) debug: bool,
    /// Write a report as JSON to FILE, and print a table of the stages on standard error
    ///
    /// If FILE is -, the report goes to standard output.
    #[arg(long, value_name = "FILE", help_heading = "Checks")]
    pub(super) report: Option<PathBuf>,
    /// Print the report as JSON on standard output
    #[arg(long, help_heading = "Checks")]
    pub(super) json: bool,
    /// Show progress on standard error
    #[arg(long, value_enum, default_value_t, help_heading = "Checks")]
    pub(super) progress: progress::Mode,
    /// Show no progress, print no warnings and no line at the end
    #[arg(short, long, help_heading = "Checks")]
    pub(super) quiet: bool,

    /// How ranks exchange records
    #[arg(long, value_parser = one_of(EXCHANGES), default_value = "streams", help_heading = "Cluster")]
    pub(super) exchange: ExchangeKind,
    /// How much of the output each rank sorts: even, auto (as fast as its disks write), or a list as 3,1,1
    #[arg(long, value_name = "even|auto|LIST", value_parser = shares, default_value = "even", help_heading = "Cluster")]
    pub(super) shares: Shares,

    /// Longest line that buffers have room for [default: what the input and the memory suggest]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Expert")]
    pub(super) max_line: Option<u64>,
    /// How to sort
    #[arg(long, value_parser = one_of(PLANS), default_value = "auto", help_heading = "Expert")]
    pub(super) plan: Choice,
    /// Whether to bypass the page cache; auto measures how much of the input is in it
    #[arg(long, value_parser = one_of(IO), default_value = "auto", help_heading = "Expert")]
    pub(super) io: IoChoice,
    /// Where the chunks of a sort in two passes lie in temporary files
    #[arg(long, value_parser = one_of(LAYOUTS), default_value = "log", help_heading = "Expert")]
    pub(super) spill_layout: SpillLayout,
    /// How the keys are divided among ranks and partitions
    #[arg(long, value_parser = one_of(SPLITTERS), default_value = "sampled", help_heading = "Expert")]
    pub(super) splitters: SplitterChoice,

    /// Print help
    #[arg(long, action = ArgAction::HelpLong, help_heading = "Help")]
    pub(super) help: Option<bool>,
    /// Print the version
    #[arg(long, action = ArgAction::Version, help_heading = "Help")]
    pub(super) version: Option<bool>,
}

impl Arguments {
    /// A command line without words.
    pub(super) fn plain() -> Arguments {
        let command = Arguments::augment_args(Command::new("sort").no_binary_name(true));
        let no_words: [&str; 0] = [];
        let found = command.try_get_matches_from(no_words);
        let plain = found.and_then(|found| Arguments::from_arg_matches(&found));
        plain.expect("no option is required")
    }

    /// The command line without progress, if it asks for quiet.
    pub(super) fn hushed(&self) -> Arguments {
        let progress = match (self.quiet, self.progress) {
            (true, Mode::Auto) => Mode::Never,
            (_, progress) => progress,
        };
        Arguments {
            progress,
            ..self.clone()
        }
    }

    /// Whether the report goes to standard output.
    pub(super) fn report_is_printed(&self) -> bool {
        self.json || self.report.as_deref() == Some(Path::new(STANDARD))
    }

    /// The file of the report.
    pub(super) fn report_file(&self) -> Option<&Path> {
        let report = self.report.as_deref();
        report.filter(|path| *path != Path::new(STANDARD))
    }
}
