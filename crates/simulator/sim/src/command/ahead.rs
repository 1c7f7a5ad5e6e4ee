//! A look ahead: what a run will take, told before it begins.

use lab::{Estimate, room_bytes};
use serde_json::json;

use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::progress::Mode;
use units::amount;

/// A run that is longer is announced, in seconds.
const LONG: f64 = 60.0;

/// Tells what a long or large run will take, if that is known; to a program always.
///
/// # Errors
/// A usage error if the memory is not there, unless it is to run `anyway`.
pub(crate) fn look(estimate: Option<Estimate>, mode: Mode, anyway: bool) -> Result<(), CliFailure> {
    let Some(estimate) = estimate else {
        return Ok(());
    };
    let room = room_bytes();
    let needs = format!("about {}", amount(estimate.bytes));
    if let Some(room) = room.filter(|room| estimate.bytes > *room && !anyway) {
        return Err(CliFailure::new(
            "memory",
            format!(
                "it needs {needs} of memory, and {} are free; use fewer cores or smaller options, \
                 or --anyway to run it all the same",
                amount(room)
            ),
        ));
    }
    if mode == Mode::Json {
        say::err(json!({
            "estimate": { "seconds": estimate.seconds, "bytes": estimate.bytes },
        }));
        return Ok(());
    }
    let is_large = room.is_some_and(|room| estimate.bytes > room / 2);
    if !is_large && estimate.seconds < LONG {
        return Ok(());
    }
    if mode == Mode::Auto {
        let time = duration(estimate.seconds);
        say::err(format!(
            "gristmill: it will take about {time} and {needs} of memory"
        ));
    }
    Ok(())
}

/// A time as people say it, with one or two figures: it is a guess.
fn duration(seconds: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")];
    let (length, name) = UNITS
        .into_iter()
        .find(|(length, _)| seconds >= 2.0 * length)
        .unwrap_or((1.0, "seconds"));
    let count = seconds / length;
    let count = if count >= 100.0 {
        (count / 10.0).round() * 10.0
    } else {
        count.round()
    };
    format!("{count} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_of_their_size() {
        let cases = [
            (3.2, "3 seconds"),
            (119.0, "120 seconds"),
            (121.0, "2 minutes"),
            (7300.0, "2 hours"),
            (200_000.0, "2 days"),
            (1e9, "11570 days"),
        ];
        for (seconds, told) in cases {
            assert_eq!(duration(seconds), told);
        }
    }

    #[test]
    fn memory_that_is_not_there_is_refused() {
        let of = |bytes| {
            Some(Estimate {
                seconds: 1.0,
                bytes,
            })
        };
        let refused = look(of(u64::MAX), Mode::Never, false).unwrap_err();
        assert_eq!(refused.kind, "memory");
        assert!(refused.message.contains("--anyway"), "{}", refused.message);
        assert!(look(of(u64::MAX), Mode::Never, true).is_ok());
        assert!(look(of(1 << 20), Mode::Never, false).is_ok());
    }
}
