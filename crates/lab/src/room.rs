//! Whether a run fits in this computer's memory: asked before anything is made.
//!
//! Keys and answers are real; what the programs say they hold grows with what they are told. Beyond
//! the memory that can be had the system would end the process without a word.

use crate::parameters::Parameters;
use crate::place::Place;
use crate::programs::{CORES, KEYS, KEYS_PER_CORE};

/// One part in so many is left for the machine, its messages, and other programs.
const MARGIN: u64 = 8;

/// What the machine holds for a core: its task, its NIC's buffers, packets on their way. Measured:
/// 12 KB in `flood`, 16 KB in `nano-sort` with 16 buckets, 33 KB with 32.
pub const BYTES_OF_A_CORE: u64 = 36 << 10;

/// Memory that can be had now, as the system and the control group say; none if they do not.
pub fn bytes() -> Option<u64> {
    let memory = node_real::facts_of_memory();
    let available = Some(memory.available_bytes).filter(|bytes| *bytes > 0)?;
    let room = memory
        .cgroup_limit_bytes
        .map_or(available, |limit| limit.min(available));
    Some(room - room / MARGIN)
}

/// Why a program that is told this does not fit in so many bytes, with what would.
pub fn objection(told: &Parameters, place: &Place, room: Option<u64>) -> Option<String> {
    let (room, cores) = (room?, told.cores());
    let at_once = place.threads(cores).min(cores as usize);
    let needs = |told: &Parameters| {
        let cores = told.cores();
        told.program(1).bytes(cores, at_once.min(cores as usize))
    };
    let needed = needs(told);
    if needed <= room {
        return None;
    }
    let option = if told.find(KEYS_PER_CORE).is_some() {
        KEYS_PER_CORE
    } else {
        KEYS
    };
    let needs_with = |option, value| {
        told.with(option, value)
            .map_or(u64::MAX, |told| needs(&told))
    };
    let fits = |keys: u64| needs_with(option, keys) <= room;
    let advice = match most(told.find(option).unwrap_or(0), fits) {
        0 => "ask for less of all".to_owned(),
        keys => {
            let fewer = if needs_with(CORES, 1) < needed {
                ", or for fewer cores"
            } else {
                ""
            };
            format!("ask for --{option} {keys} at most{fewer}")
        }
    };
    let [needed, room] = [needed, room].map(gigabytes);
    Some(format!(
        "it would hold {needed} GB of keys and answers, and {room} GB are free: {advice}"
    ))
}

/// The largest number below `end` that fits; 0 if none does.
fn most(end: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, end);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Changes, programs};

    const ROOM: u64 = 4_000_000_000;

    fn told(program: &str, options: &[(&str, u64)]) -> Option<String> {
        let place = Place::named("nanopu", &Changes::default()).unwrap();
        let told = Parameters::of(program, options.iter().copied()).unwrap();
        objection(&told, &place, Some(ROOM))
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_does() {
        let most = u64::from(u32::MAX);
        let min = told("local-min", &[("keys-per-core", most)]).unwrap();
        assert!(
            min.contains("34.4 GB") && min.contains("--keys-per-core 500000000"),
            "{min}"
        );
        let cores = [("cores", 1000), ("keys-per-core", 10 << 20)];
        let sort = told("local-sort", &cores).unwrap();
        assert!(
            sort.contains("84.0 GB") && sort.contains("--keys-per-core 499500"),
            "{sort}"
        );
        assert!(told("merge-min", &[("keys-per-core", 1 << 30)]).is_some());
        assert!(told("set-algebra", &[("keys-per-core", 100 << 20)]).is_some());
        let kv = [("keys", most), ("messages", most)];
        assert!(told("kv", &kv).unwrap().contains("--keys "));
        let rounds = told("map-reduce", &[("rounds", most)]).unwrap();
        assert!(rounds.contains("less of all"), "{rounds}");
    }

    #[test]
    fn what_fits_is_not() {
        for program in programs() {
            assert_eq!(told(program.name, &[]), None);
        }
        // A core at a time holds its values.
        let many = [("cores", 65_536), ("keys-per-core", 1 << 20)];
        assert_eq!(told("local-min", &many), None);
        assert!(bytes().is_none_or(|bytes| bytes > 1 << 20));
    }
}
