//! Progress of sorts, for people (a bar on a terminal) and for programs (JSON lines on standard error).
//! For a job of ranks, rank 0 shows one line.

mod step;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pipeline::Control;
use serde_json::json;
use terminal::ending::say;
use terminal::progress::{DELAY, Mode, Progress, Terminal, wait};

use step::{JobProgress, Step};

pub(crate) fn start(control: Control, mode: Mode, ranks: u32) -> Progress {
    let job = JobProgress::new(ranks);
    Progress::with(move |ended| match (mode, Terminal::find(ranks > 1)) {
        (Mode::Json, _) => lines(&control, job, ended),
        (Mode::Auto, Some(terminal)) => bar(&control, job, terminal, ended),
        (Mode::Never, _) | (Mode::Auto, None) => {}
    })
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
