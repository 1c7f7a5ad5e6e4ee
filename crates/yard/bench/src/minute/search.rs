//! The count to try next: the largest that still ends in time, by measured rates.
//!
//! ```text
//! seconds |                  x  over: between it and the last within
//!   limit |- - - - - - - x - - - - - -
//!         |          x   \__ good enough: 97 % of the limit
//!         |  x  a small run: its rate gives the first estimate
//!         +-------------------------- records
//! ```

/// A count that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Try {
    /// How many records.
    pub records: u64,
    /// How long they took.
    pub seconds: f64,
}

/// The aim, as a part of the limit: runs vary by as much.
const AIM: f64 = 0.985;

/// A try that fills this part of the limit ends the search.
const ENOUGH: f64 = 0.97;

/// The small run, one at the estimated size, and those that refine it: two where time is
/// proportional to records, two more where the estimate was made in memory and the rest is spilled.
const TRIES: usize = 6;

/// If none ended in time.
const MOST_TRIES: usize = 8;

/// The best of those that ended within the limit.
pub fn best(tries: &[Try], limit_s: f64) -> Option<Try> {
    tries
        .iter()
        .filter(|one| one.seconds <= limit_s)
        .max_by_key(|one| one.records)
        .copied()
}

/// The next count to try, `most` at most; `None` if the best is good enough or there were enough
/// tries.
pub fn next(tries: &[Try], limit_s: f64, most: u64) -> Option<u64> {
    let within = best(tries, limit_s);
    let over = tries
        .iter()
        .filter(|one| one.seconds > limit_s)
        .min_by_key(|one| one.records);
    let aim = limit_s * AIM;
    let estimate = match (within, over) {
        (None, None) => return None,
        (Some(best), _) if tries.len() >= TRIES || best.seconds >= limit_s * ENOUGH => return None,
        (None, Some(_)) if tries.len() >= MOST_TRIES => return None,
        (Some(best), None) => beyond(tries, best, aim),
        // Starting up is not proportional to records, so at most half is kept.
        (None, Some(over)) => over.records as f64 * (aim / over.seconds).min(0.5),
        (Some(best), Some(over)) => {
            let slope = (over.records as f64 - best.records as f64) / (over.seconds - best.seconds);
            best.records as f64 + slope * (aim - best.seconds)
        }
    };
    let estimate = (estimate as u64).clamp(1, most);
    let is_new = tries.iter().all(|one| one.records != estimate);
    let is_more = within.is_none_or(|best| estimate > best.records);
    (is_new && is_more).then_some(estimate)
}

/// Where the line through the two longest runs meets the aim; from one run, its rate.
fn beyond(tries: &[Try], best: Try, aim: f64) -> f64 {
    let before = tries
        .iter()
        .filter(|one| one.records < best.records)
        .max_by_key(|one| one.records);
    let proportional = best.records as f64 * aim / best.seconds;
    let Some(before) = before.filter(|before| before.seconds < best.seconds) else {
        return proportional;
    };
    let slope = (best.records - before.records) as f64 / (best.seconds - before.seconds);
    // Two runs close to each other say little about the slope.
    (best.records as f64 + slope * (aim - best.seconds)).min(2.0 * proportional)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine: a second to start, then 1000 records a second, and a third as many once memory is
    /// full.
    fn seconds(records: u64, memory: u64) -> f64 {
        let (held, spilled) = (records.min(memory), records.saturating_sub(memory));
        1.0 + held as f64 / 1000.0 + spilled as f64 / 333.0
    }

    fn search(first: u64, memory: u64, limit_s: f64, most: u64) -> Vec<Try> {
        let mut tries: Vec<Try> = Vec::new();
        let mut next_count = Some(first);
        while let Some(records) = next_count {
            assert!((1..=most).contains(&records), "{records}");
            tries.push(Try {
                records,
                seconds: seconds(records, memory),
            });
            assert!(tries.len() <= MOST_TRIES, "{tries:?}");
            next_count = next(&tries, limit_s, most);
        }
        tries
    }

    #[test]
    fn the_minute_is_nearly_filled() {
        for memory in [1, 1000, 10_000, 40_000, u64::MAX] {
            let tries = search(1000, memory, 60.0, u64::MAX);
            let best = best(&tries, 60.0).unwrap();
            assert!(
                best.seconds > 54.0 && best.seconds <= 60.0,
                "{memory}: {tries:?}"
            );
        }
    }

    #[test]
    fn a_first_run_that_is_too_long_is_shortened() {
        let tries = search(1_000_000, u64::MAX, 60.0, u64::MAX);
        assert!(best(&tries, 60.0).is_some(), "{tries:?}");
        // A sort that takes a second to start does nothing within half a second.
        assert_eq!(best(&search(1000, u64::MAX, 0.5, u64::MAX), 0.5), None);
    }

    #[test]
    fn no_more_than_the_disk_holds() {
        let tries = search(1000, u64::MAX, 60.0, 5000);
        assert_eq!(best(&tries, 60.0).unwrap().records, 5000);
        assert_eq!(tries.len(), 2);
    }
}
