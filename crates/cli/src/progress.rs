//! Progress for people (a bar on a terminal) and for programs (JSON lines on standard error).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pipeline::{Control, Progress as State};
use serde_json::json;

use crate::say;

/// Whether and how to show progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// A bar when standard error is a terminal.
    #[default]
    Auto,
    /// Nothing.
    Never,
    /// JSON lines on standard error.
    Json,
}

/// Often enough to look alive, seldom enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(100);

/// Shorter runs show no bar.
pub const DELAY: Duration = Duration::from_millis(300);

/// A thread that shows progress until it is stopped.
pub struct Progress {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to show.
    pub fn start(control: Control, mode: Mode) -> Progress {
        Progress::with(move |ended| match mode {
            Mode::Never => {}
            Mode::Auto => bar(&control, ended),
            Mode::Json => lines(&control, ended),
        })
    }

    /// Shows by a thread of its own, until [`wait`] says that it is over.
    pub fn with(show: impl FnOnce(&AtomicBool) + Send + 'static) -> Progress {
        let ended = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ended);
        // Progress is a courtesy: without a thread for it the run goes on unseen.
        let thread = std::thread::Builder::new().spawn(move || show(&seen)).ok();
        Progress { ended, thread }
    }

    /// Stops and clears the bar.
    pub fn stop(mut self) {
        self.ended.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Waits for the next moment to show something; `false` when there is none.
pub fn wait(ended: &AtomicBool) -> bool {
    if !ended.load(Ordering::SeqCst) {
        std::thread::park_timeout(INTERVAL);
    }
    !ended.load(Ordering::SeqCst)
}

/// What a bar needs beside its longest figures; a terminal that has less shows no bar and no rate, as a
/// line that wraps cannot be drawn again.
const WIDE: u16 = 60;

/// Columns of the terminal, if there is one.
fn columns() -> Option<u16> {
    rustix::termios::tcgetwinsize(std::io::stderr()).ok().map(|size| size.ws_col)
}

fn bar(control: &Control, ended: &AtomicBool) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let is_narrow = columns().is_some_and(|columns| columns < WIDE);
    let known = match is_narrow {
        true => "{percent:>3}% {wide_msg}",
        false => "{msg:19} {percent:>3}% [{wide_bar}] {decimal_bytes_per_sec} ETA {eta}",
    };
    let unknown = match is_narrow {
        true => "{spinner} {wide_msg}",
        false => "{msg:19} {spinner} {decimal_bytes} {decimal_bytes_per_sec}",
    };
    let style = |template| {
        ProgressStyle::with_template(template).expect("a fixed template").progress_chars("=> ")
    };
    let begin = Instant::now();
    while wait(ended) {
        let step = Step::of(&control.progress());
        if begin.elapsed() < DELAY || step.phase.is_empty() {
            continue;
        }
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_style(style(if step.total_bytes > 0 { known } else { unknown }));
        bar.set_message(step.phase);
        bar.set_length(step.total_bytes);
        bar.set_position(step.done_bytes);
    }
    bar.finish_and_clear();
}

fn lines(control: &Control, ended: &AtomicBool) {
    let begin = Instant::now();
    while wait(ended) {
        line(control, begin);
    }
    line(control, begin);
}

fn line(control: &Control, begin: Instant) {
    let step = Step::of(&control.progress());
    if step.phase.is_empty() {
        return;
    }
    let rate = step.done_bytes as f64 / begin.elapsed().as_secs_f64();
    let left = step.total_bytes.saturating_sub(step.done_bytes) as f64;
    let eta_s = (step.total_bytes > 0 && rate > 0.0).then(|| left / rate);
    say::err(json!({
        "phase": step.phase,
        "done_bytes": step.done_bytes,
        "total_bytes": (step.total_bytes > 0).then_some(step.total_bytes),
        "bytes_per_s": rate,
        "eta_s": eta_s,
    }));
}

/// How far a run is, as one number.
struct Step {
    phase: &'static str,
    done_bytes: u64,
    total_bytes: u64,
}

impl Step {
    /// A sort reads all and then writes all: both count.
    fn of(state: &State) -> Step {
        let (read, written) = (state.bytes_of("reader"), state.bytes_of("writer"));
        let total = state.total_bytes;
        match state.phase {
            "sort" if written == 0 => {
                Step { phase: "reading", done_bytes: read, total_bytes: 2 * total }
            }
            "sort" => Step {
                phase: "sorting and writing",
                done_bytes: read + written.min(read),
                total_bytes: 2 * read,
            },
            // All was read before: the bar goes on where it was.
            phase @ ("sort partitions" | "merge") => {
                Step { phase, done_bytes: total + written, total_bytes: 2 * total }
            }
            phase => {
                let again = state.bytes_of("reloader");
                Step { phase, done_bytes: read + written + again, total_bytes: total }
            }
        }
    }
}
