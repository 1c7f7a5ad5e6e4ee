//! Progress for people (a bar on a terminal) and for programs (JSON lines on standard error). For a
//! job of ranks, rank 0 shows one line.

mod step;
mod terminal;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pipeline::Control;
use serde_json::json;

use crate::ending::say;
use step::{JobProgress, Step};

pub(crate) use terminal::Terminal;

/// Whether and how to show progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// A bar if standard error is a terminal.
    #[default]
    Auto,
    /// No progress.
    Never,
    /// JSON lines on standard error.
    Json,
}

/// The time between updates: short enough to look alive, long enough to cost nothing.
const INTERVAL: Duration = Duration::from_millis(100);

/// A run that is shorter shows no bar.
pub(crate) const DELAY: Duration = Duration::from_millis(300);

/// A thread that shows progress until it is stopped.
pub struct Progress {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to show the progress of `ranks` ranks.
    pub fn start(control: Control, mode: Mode, ranks: u32) -> Progress {
        let job = JobProgress::new(ranks);
        Progress::with(move |ended| match (mode, Terminal::find(ranks > 1)) {
            (Mode::Json, _) => lines(&control, job, ended),
            (Mode::Auto, Some(terminal)) => bar(&control, job, terminal, ended),
            (Mode::Never, _) | (Mode::Auto, None) => {}
        })
    }

    /// Calls `show` on a new thread; `show` returns when [`wait`] returns `false`.
    pub fn with(show: impl FnOnce(&AtomicBool) + Send + 'static) -> Progress {
        let ended = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ended);
        // Without a thread the run goes on without progress.
        let thread = std::thread::Builder::new().spawn(move || show(&seen)).ok();
        Progress { ended, thread }
    }

    /// Stops the thread, and clears the bar.
    pub fn stop(mut self) {
        self.ended.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Waits until the next update; `false` when progress has ended.
pub(crate) fn wait(ended: &AtomicBool) -> bool {
    if !ended.load(Ordering::SeqCst) {
        std::thread::park_timeout(INTERVAL);
    }
    !ended.load(Ordering::SeqCst)
}

/// Columns for a bar and its figures. A narrower terminal shows neither bar nor rate, because a
/// line that wraps cannot be drawn again. The name of a late rank needs more columns.
const WIDE: u16 = 60;
const WIDE_OF_JOB: u16 = WIDE + 20;

fn bar(control: &Control, mut job: JobProgress, terminal: Terminal, ended: &AtomicBool) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let columns = terminal.columns().unwrap_or(WIDE_OF_JOB);
    let known = match columns {
        ..WIDE => "{percent:>3}% {wide_msg}",
        WIDE..WIDE_OF_JOB => {
            "{msg:19} {percent:>3}% [{wide_bar}] {decimal_bytes_per_sec} ETA {eta}"
        }
        _ => "{msg:19} {percent:>3}% [{wide_bar}] {decimal_bytes_per_sec} ETA {eta}{prefix}",
    };
    let unknown = match columns {
        ..WIDE => "{spinner} {wide_msg}",
        _ => "{msg:19} {spinner} {decimal_bytes} {decimal_bytes_per_sec}",
    };
    let style = |template| {
        ProgressStyle::with_template(template)
            .expect("a fixed template")
            .progress_chars("=> ")
    };
    let (begin, mut terminal) = (Instant::now(), Some(terminal));
    // Otherwise the library's default style would be drawn first.
    bar.set_style(style(unknown));
    while wait(ended) {
        let step = job.step(control, Instant::now());
        if begin.elapsed() < DELAY || step.phase.is_empty() {
            continue;
        }
        if let Some(terminal) = terminal.take() {
            bar.set_draw_target(terminal.target());
        }
        // Each call may draw, so the style is set after the figures that it shows.
        bar.set_length(step.total_bytes);
        bar.set_position(step.done_bytes);
        bar.set_prefix(
            step.late()
                .map_or_else(String::new, |late| format!(", {late}")),
        );
        bar.set_style(style(if step.total_bytes > 0 { known } else { unknown }));
        bar.set_message(step.phase);
    }
    bar.finish_and_clear();
}

fn lines(control: &Control, mut job: JobProgress, ended: &AtomicBool) {
    let begin = Instant::now();
    while wait(ended) {
        line(&job.step(control, Instant::now()), begin);
    }
    line(&job.step(control, Instant::now()), begin);
}

fn line(step: &Step, begin: Instant) {
    if step.phase.is_empty() {
        return;
    }
    let rate = step.done_bytes as f64 / begin.elapsed().as_secs_f64();
    let left = step.total_bytes.saturating_sub(step.done_bytes) as f64;
    let eta_s = (step.total_bytes > 0 && rate > 0.0).then(|| left / rate);
    let mut told = json!({
        "phase": step.phase,
        "done_bytes": step.done_bytes,
        "total_bytes": (step.total_bytes > 0).then_some(step.total_bytes),
        "bytes_per_s": rate,
        "eta_s": eta_s,
    });
    if let Some(ranks) = step.json_of_ranks() {
        told["ranks"] = ranks;
    }
    say::err(told);
}
