//! Watches a run: shows its progress, and stops it when a signal comes.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::{LabError, Observer, Place, Searched, Seen, Tally};
use serde_json::{Value, json};

use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::ending::signals::{self, Caught, GRACE};
use terminal::progress::{self, Mode, Progress};
use terminal::text;
use units::grouped;

/// Lets a signal stop the runs from now on.
///
/// # Errors
/// When signals cannot be watched.
pub fn stop_on_signal(observer: &Observer, place: &Place) -> Result<Caught, CliFailure> {
    // Threads cannot be stopped: the process ends at once.
    let grace = if matches!(place, Place::Threads | Place::Ranks(_)) {
        Duration::ZERO
    } else {
        GRACE
    };
    stop_within(grace, observer)
}

/// The same, before the place of the runs is known: work that does not react ends after the grace.
///
/// # Errors
/// When signals cannot be watched.
pub fn stop_within(grace: Duration, observer: &Observer) -> Result<Caught, CliFailure> {
    let observer = observer.clone();
    signals::watch(grace, move |_| observer.stop(), || {})
}

/// Runs it with progress until it ends or a signal ends it. A run that ends after a signal counts
/// as stopped, since its check does not react to signals.
///
/// # Errors
/// That of the runs, or that a signal ended them.
pub fn watched<T>(
    observer: &Observer,
    caught: &Caught,
    mode: Mode,
    run: impl FnOnce() -> Result<T, LabError>,
) -> Result<T, CliFailure> {
    let shown = observer.clone();
    let progress = Progress::with(move |ended| match mode {
        Mode::Never => {}
        Mode::Auto => bar(&shown, ended),
        Mode::Json => lines(&shown, ended),
    });
    let ended = run();
    progress.stop();
    match (ended, caught.failure()) {
        (Err(error), _) if error.kind() != "stopped" => Err(error.into()),
        (_, Some(stopped)) => Err(stopped),
        (ended, None) => Ok(ended?),
    }
}

/// The weight of the newest sample in the rate. Messages come in bursts, and the rate should not
/// jump.
const NEWEST: f64 = 0.2;

/// Messages per second, over the last few samples.
struct Pace {
    begin: Instant,
    last: (Instant, u64, u64),
    per_s: f64,
}

impl Pace {
    fn new() -> Pace {
        let now = Instant::now();
        Pace {
            begin: now,
            last: (now, 0, 0),
            per_s: 0.0,
        }
    }

    /// Adds a sample: the messages of a run, or of all runs, up to now.
    fn look(&mut self, run: u64, messages: u64) {
        let now = Instant::now();
        let (before, last_run, last_messages) = self.last;
        let elapsed = now.duration_since(before).as_secs_f64();
        if run == last_run && elapsed > 0.0 {
            let now_per_s = messages.saturating_sub(last_messages) as f64 / elapsed;
            self.per_s += (now_per_s - self.per_s) * NEWEST;
        }
        self.last = (now, run, messages);
    }
}

/// The runs to show: the current one, the tally of many, or a search with the tally of its batch.
enum Shown {
    Search(Searched, Tally),
    One(Seen),
    Many(Tally),
}

impl Shown {
    fn of(observer: &Observer, pace: &mut Pace) -> Option<Shown> {
        if let Some(searched) = observer.searched() {
            let tally = observer.tally().unwrap_or_default();
            pace.look(searched.readings, tally.messages);
            return Some(Shown::Search(searched, tally));
        }
        if let Some(tally) = observer.tally() {
            pace.look(0, tally.messages);
            return Some(Shown::Many(tally));
        }
        let seen = observer.look()?;
        pace.look(seen.run, seen.messages);
        Some(Shown::One(seen))
    }

    fn words(&self, pace: &Pace) -> String {
        let million_per_s = pace.per_s / 1e6;
        match self {
            Shown::Search(searched, Tally { all, done, .. }) => {
                let Searched { readings, most, .. } = searched;
                let best = searched.best_us.map_or_else(String::new, |best_us| {
                    format!(", best {}", text::time(best_us))
                });
                format!(
                    "{readings} of at most {most} readings{best}, {done} of {all} runs of the \
                     next, {million_per_s:.2} million messages/s"
                )
            }
            Shown::One(Seen {
                run,
                virtual_us,
                messages,
                share,
            }) => {
                let (run, messages) = (run + 1, grouped(*messages));
                let (percent, eta) = percent_and_eta(*share, pace);
                format!(
                    "{percent}run {run}: {virtual_us:.3} us simulated, {messages} messages, \
                     {million_per_s:.2} million/s{eta}"
                )
            }
            Shown::Many(tally) => {
                let Tally {
                    all,
                    done,
                    going,
                    messages,
                    ..
                } = tally;
                let (percent, eta) = percent_and_eta(share_of(tally), pace);
                let messages = grouped(*messages);
                format!(
                    "{percent}{done} of {all} runs, {going} at once, {messages} messages, \
                     {million_per_s:.2} million/s{eta}"
                )
            }
        }
    }

    fn json(&self, pace: &Pace) -> Value {
        let wall_s = pace.begin.elapsed().as_secs_f64();
        match self {
            Shown::Search(searched, tally) => json!({
                "done_readings": searched.readings,
                "most_readings": searched.most,
                "best_us": searched.best_us,
                "done_runs": tally.done,
                "total_runs": tally.all,
                "messages_per_s": pace.per_s,
                "wall_s": wall_s,
            }),
            Shown::One(seen) => json!({
                "run": seen.run,
                "virtual_us": seen.virtual_us,
                "messages": seen.messages,
                "messages_per_s": pace.per_s,
                "percent": percent(seen.share),
                "wall_s": wall_s,
                "eta_s": eta_s(seen.share, pace),
            }),
            Shown::Many(tally) => json!({
                "done_runs": tally.done,
                "total_runs": tally.all,
                "running": tally.going,
                "messages": tally.messages,
                "messages_per_s": pace.per_s,
                "percent": percent(share_of(tally)),
                "wall_s": wall_s,
                "eta_s": eta_s(share_of(tally), pace),
            }),
        }
    }
}

/// The part that is done of many runs, of 1.
fn share_of(tally: &Tally) -> Option<f64> {
    (tally.cost > 0).then(|| tally.done_cost as f64 / tally.cost as f64)
}

/// Per cent of a share, with one decimal.
fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| (share * 1000.0).floor() / 10.0)
}

/// A smaller share says nothing about the rest.
const LEAST_SHARE: f64 = 0.005;

/// The time for the rest at the average speed so far; `None` if that is not known yet.
fn eta_s(share: Option<f64>, pace: &Pace) -> Option<f64> {
    let done = share.filter(|share| *share >= LEAST_SHARE)?;
    Some(pace.begin.elapsed().as_secs_f64() * (1.0 - done) / done)
}

/// The beginning and the end of a line of progress.
fn percent_and_eta(share: Option<f64>, pace: &Pace) -> (String, String) {
    let percent = share.map_or_else(String::new, |share| {
        format!("{:.0} %, ", (share * 100.0).floor())
    });
    let eta = eta_s(share, pace).map_or_else(String::new, |eta_s| {
        format!(", ETA {}", HumanDuration(Duration::from_secs_f64(eta_s)))
    });
    (percent, eta)
}

fn bar(observer: &Observer, ended: &AtomicBool) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("a fixed template"));
    let mut pace = Pace::new();
    while progress::wait(ended) {
        let Some(shown) = Shown::of(observer, &mut pace) else {
            continue;
        };
        if pace.begin.elapsed() < progress::DELAY {
            continue;
        }
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.set_message(shown.words(&pace));
        bar.tick();
    }
    bar.finish_and_clear();
}

fn lines(observer: &Observer, ended: &AtomicBool) {
    let mut pace = Pace::new();
    loop {
        let goes_on = progress::wait(ended);
        if let Some(shown) = Shown::of(observer, &mut pace) {
            say::err(shown.json(&pace));
        }
        if !goes_on {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_after_the_last_message_still_stops_the_run() {
        let observer = Observer::default();
        let run = |caught: &Caught| watched(&observer, caught, Mode::Never, || Ok(4));
        assert_eq!(run(&Caught::default()).unwrap(), 4);
        let stopped = run(&Caught::by(signal_hook::consts::SIGTERM)).unwrap_err();
        assert_eq!((stopped.kind, stopped.code), ("stopped", 143));
    }

    #[test]
    fn a_failure_takes_precedence_over_a_signal() {
        let caught = Caught::by(signal_hook::consts::SIGINT);
        let failed = || Err::<(), _>(LabError::usage("not so"));
        let told = watched(&Observer::default(), &caught, Mode::Never, failed).unwrap_err();
        assert_eq!((told.kind, told.message.as_str()), ("usage", "not so"));
    }
}
