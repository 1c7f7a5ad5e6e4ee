//! Programs of tiny tasks of your own, on simulated machines of thousands of cores.
//!
//! A program is one struct: its fields are its options, [`Program::run`] is the task of one core, and
//! [`Program::check`] compares the answers of all cores with naive code. [`main`] gives it the command
//! line of `gristmill sim`: machines by name or file, cores, seeds, the report, and traces.
//!
//! ```no_run
//! use gristmill_sim::prelude::*;
//!
//! /// Pass a message once around all cores.
//! #[derive(Args, Clone, Debug, Serialize)]
//! #[serde(crate = "gristmill_sim::serde")]
//! struct Token {
//!     /// Words of the message
//!     #[arg(long, default_value_t = 1, value_parser = count)]
//!     words: u32,
//!     #[arg(skip)]
//!     #[serde(skip)]
//!     seed: u64,
//! }
//!
//! described! { Token is "token" on 64 cores; "--words 8" }
//!
//! impl Program for Token {
//!     type Answer = usize;
//!
//!     async fn run(self, node: Node) -> usize {
//!         let port = node.bind(Port(1));
//!         let rank = Rank((node.rank().0 + 1) % node.nodes());
//!         let next = Address { rank, port: Port(1) };
//!         if node.rank() == Rank(0) {
//!             node.send(next, &vec![7; self.words as usize]).await;
//!             return port.next(&node).await.words.len();
//!         }
//!         let message = port.next(&node).await;
//!         node.forward(next, &message).await;
//!         message.words.len()
//!     }
//!
//!     fn check(&self, answers: &[usize]) -> Verdict {
//!         let wrong = answers.iter().position(|words| *words != self.words as usize);
//!         let fault = wrong.map(|core| format!("core {core} received another message"));
//!         Verdict::new(format!("once around {} cores", answers.len()), fault)
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     gristmill_sim::main::<Token>()
//! }
//! ```
//!
//! [`simulate`] runs a program from code, for tests and for measurements of one's own.
//!
//! The same code runs on threads (`--machine threads`), where times are real. A program may use its
//! [`Node`], its options and its seed, and nothing else: no clock, thread, file or random number of the
//! system, so that a seed decides every tick.

pub mod command;
#[cfg(feature = "experiments")]
pub mod experiments;
pub mod prelude;

pub use command::main;
pub use grain::{Described, Program, ReorderBy, Span, Timing, Verdict, count, described, from_0};
pub use lab::{LabError, RunReport, Seeds, SimReport, Simulated, Spread, StageReport, join};
pub use node::{
    Address, Group, MESSAGE_WORDS, Message, MessagePort, Node, Port, Random, Rank, Time, Words,
    Work,
};
pub use {clap, serde};

use lab::{Changes, Job, Listing, Observer, Parameters, Place};

/// Runs a program on a machine, once per seed; `options` are those of its command line, with `cores`.
///
/// A failed check is in the verdict of its run, and [`SimReport::is_right`] tells it for all.
///
/// ```
/// use gristmill_sim::prelude::*;
/// use gristmill_sim::{Seeds, simulate};
///
/// #[derive(Args, Clone, Debug, Serialize)]
/// #[serde(crate = "gristmill_sim::serde")]
/// struct Scan {
///     #[arg(long, default_value_t = 100, value_parser = count)]
///     words: u32,
///     #[arg(skip)]
///     #[serde(skip)]
///     seed: u64,
/// }
///
/// described! { Scan is "scan" on 4 cores; }
///
/// impl Program for Scan {
///     type Answer = ();
///
///     async fn run(self, node: Node) {
///         node.work(Work::Scan { words: self.words.into() });
///     }
///
///     fn check(&self, answers: &[()]) -> Verdict {
///         Verdict::new(format!("{} cores scanned", answers.len()), None)
///     }
/// }
///
/// let report = simulate::<Scan>("nanopu", &[("words", "800")], Seeds { first: 1, runs: 2 })?;
/// assert!(report.is_right());
/// // A word takes four cycles of 312.5 ps.
/// assert_eq!(report.time_us.mean, 1.0);
/// # Ok::<(), gristmill_sim::LabError>(())
/// ```
///
/// # Errors
/// If the machine, its file or an option is wrong, or a run does not end.
pub fn simulate<P: Program + Described>(
    machine: &str,
    options: &[(&str, &str)],
    seeds: Seeds,
) -> Result<SimReport, LabError> {
    let options = options.iter().copied();
    let parameters = Parameters::with_options(&Listing::of::<P>(), options)?;
    let place = Place::named(machine, &Changes::default())?;
    Job::new(parameters, place, seeds)?.run(&Observer::default())
}
