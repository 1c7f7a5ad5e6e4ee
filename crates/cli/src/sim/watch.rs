//! A run that is looked at: progress while it goes on, and a signal that ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::{LabError, Observer, Place, Seen};
use serde_json::json;
use signal_hook::iterator::Signals;

use crate::failure::CliFailure;
use crate::progress::{self, Mode, Progress};
use crate::size::grouped;
use crate::{say, signals};

/// After a signal a simulation may end by itself for so long.
const GRACE: Duration = Duration::from_secs(1);

/// Runs it with progress, until it ends or a signal ends it.
pub fn watched<T>(
    observer: &Observer,
    place: &Place,
    mode: Mode,
    run: impl FnOnce() -> Result<T, LabError>,
) -> Result<T, CliFailure> {
    // Real nodes cannot be stopped: the process ends.
    let grace = if matches!(place, Place::Threads) { Duration::ZERO } else { GRACE };
    let caught = stop_on_signal(observer.clone(), grace)?;
    let shown = observer.clone();
    let progress = Progress::with(move |ended| match mode {
        Mode::Never => {}
        Mode::Auto => bar(&shown, ended),
        Mode::Json => lines(&shown, ended),
    });
    let ended = run();
    progress.stop();
    ended.map_err(|error| {
        let signal = caught.load(Ordering::SeqCst);
        if observer.is_stopped() && error.kind() == "stopped" && signal != 0 {
            let message = format!("stopped by {}", signals::name(signal));
            return CliFailure::new("stopped", message).with_code(signals::code(signal) as u8);
        }
        error.into()
    })
}

/// On a signal the run is asked to end; after the grace, or at another signal, the process ends.
fn stop_on_signal(observer: Observer, grace: Duration) -> Result<Arc<AtomicI32>, CliFailure> {
    let caught = Arc::new(AtomicI32::new(0));
    let seen = Arc::clone(&caught);
    let mut incoming = Signals::new(signals::ending()).map_err(signals::unwatched)?;
    let watch = move || {
        for signal in incoming.forever() {
            if seen.swap(signal, Ordering::SeqCst) != 0 {
                end(signal);
            }
            observer.stop();
            let wait = move || {
                std::thread::sleep(grace);
                end(signal);
            };
            if std::thread::Builder::new().spawn(wait).is_err() {
                end(signal);
            }
        }
    };
    std::thread::Builder::new().spawn(watch).map_err(signals::unwatched)?;
    Ok(caught)
}

fn end(signal: i32) -> ! {
    say::err(format!("gristmill: stopped by {}", signals::name(signal)));
    std::process::exit(signals::code(signal));
}

/// What the newest look counts for: windows come in bursts, and a pace should be readable.
const NEWEST: f64 = 0.2;

/// Messages by the second, over the last few looks.
struct Pace {
    begin: Instant,
    last: (Instant, u64, u64),
    per_s: f64,
}

impl Pace {
    fn new() -> Pace {
        let now = Instant::now();
        Pace { begin: now, last: (now, 0, 0), per_s: 0.0 }
    }

    fn look(&mut self, seen: &Seen) {
        let now = Instant::now();
        let (before, run, messages) = self.last;
        let elapsed = now.duration_since(before).as_secs_f64();
        if run == seen.run && elapsed > 0.0 {
            let now_per_s = seen.messages.saturating_sub(messages) as f64 / elapsed;
            self.per_s += (now_per_s - self.per_s) * NEWEST;
        }
        self.last = (now, seen.run, seen.messages);
    }
}

fn bar(observer: &Observer, ended: &AtomicBool) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    bar.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("a fixed template"));
    let mut pace = Pace::new();
    while progress::wait(ended) {
        let Some(seen) = observer.look() else { continue };
        pace.look(&seen);
        if pace.begin.elapsed() < progress::DELAY {
            continue;
        }
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_message(format!(
            "run {}: {:.3} us of its time, {} messages, {:.2} million/s",
            seen.run + 1,
            seen.virtual_us,
            grouped(seen.messages),
            pace.per_s / 1e6
        ));
        bar.tick();
    }
    bar.finish_and_clear();
}

fn lines(observer: &Observer, ended: &AtomicBool) {
    let mut pace = Pace::new();
    loop {
        let goes_on = progress::wait(ended);
        if let Some(seen) = observer.look() {
            pace.look(&seen);
            say::err(json!({
                "run": seen.run,
                "virtual_us": seen.virtual_us,
                "messages": seen.messages,
                "messages_per_s": pace.per_s,
                "wall_s": pace.begin.elapsed().as_secs_f64(),
            }));
        }
        if !goes_on {
            break;
        }
    }
}
