//! Whether a run fits in this computer's memory. It is checked before a run begins, because without
//! memory the system would end the process without a message.

use crate::parameters::Parameters;
use crate::place::Place;
use crate::program::{CORES, KEYS, KEYS_PER_CORE};

/// One part in this many stays free for the machine, its messages, and other programs.
const MARGIN: u64 = 8;

/// Memory of a simulated core: its task, its NIC's buffers, packets under way. Measured: 12 KB in
/// `flood`, 16 KB in `nano-sort` with 16 buckets, 33 KB with 32.
pub(crate) const BYTES_OF_A_CORE: u64 = 36 << 10;

/// Available memory according to the system and the control group, if known.
pub fn bytes() -> Option<u64> {
    let memory = node_real::facts_of_memory();
    let available = Some(memory.available_bytes).filter(|bytes| *bytes > 0)?;
    let room = memory
        .cgroup_limit_bytes
        .map_or(available, |limit| limit.min(available));
    Some(room - room / MARGIN)
}

/// Why a program does not fit in `room` bytes, with options that would.
pub(crate) fn objection(told: &Parameters, place: &Place, room: Option<u64>) -> Option<String> {
    let (room, cores) = (room?, told.cores());
    let at_once = place.threads(cores).min(cores as usize);
    let needs = |told: &Parameters| {
        let cores = told.cores();
        told.program.bytes(cores, at_once.min(cores as usize))
    };
    let needed = needs(told);
    let advice = (needed > room).then(|| advice(told, room, needs))?;
    let [needed, room] = [needed, room].map(|bytes| bytes as f64 / 1e9);
    Some(format!(
        "it needs {needed:.1} GB for keys and answers, but only {room:.1} GB are free; {advice}"
    ))
}

/// Options with which a program would fit.
fn advice(told: &Parameters, room: u64, needs: impl Fn(&Parameters) -> u64) -> String {
    let has_each = told.find(KEYS_PER_CORE).is_some();
    let option = if has_each { KEYS_PER_CORE } else { KEYS };
    let needs_with = |option, value| told.with(option, value).map_or(u64::MAX, |it| needs(&it));
    let fits = |keys| needs_with(option, keys) <= room;
    let cores_matter = || needs_with(CORES, 1) < needs(told);
    match most(told.find(option).unwrap_or(0), fits) {
        0 => "reduce all of its options".to_owned(),
        keys if cores_matter() => format!("use --{option} {keys} or less, or fewer cores"),
        keys => format!("use --{option} {keys} or less"),
    }
}

/// The largest number below `end` that fits, or 0.
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
    fn too_large_a_run_is_refused_with_options_that_fit() {
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
        assert!(rounds.contains("reduce all"), "{rounds}");
    }

    #[test]
    fn a_run_that_fits_is_not_refused() {
        for program in programs() {
            assert_eq!(told(program.name, &[]), None);
        }
        // Only one core at a time holds its values.
        let many = [("cores", 65_536), ("keys-per-core", 1 << 20)];
        assert_eq!(told("local-min", &many), None);
        assert!(bytes().is_none_or(|bytes| bytes > 1 << 20));
    }
}
