//! The programs that can be run by name: what each is, what it can be told, and its defaults.
//!
//! A row of the table builds a `grain::Program` from [`Parameters`]; from there on its type is
//! forgotten. The default cores are those of the paper's figure where there is one.

use grain::{
    Flood, Kv, LocalMin, LocalSort, Loopback, MapReduce, MergeMin, MilliSort, NanoSort, PivotTrial,
    Reading, ReceiveLoop, SendLoop, SetAlgebra, Strategy,
};
use node::{MESSAGE_BYTES, Rank};

use crate::error::LabError;
use crate::parameters::Knob::{
    self, Bucket, Buckets, Burst, Bytes, Cores, Distribution, Exchange, Faults, Incast, Keys,
    KeysPerCore, Messages, Naming, Queries, Reorder, Rounds, Rows, Servers, To, Workers,
};
use crate::parameters::Parameters;
use crate::run::Runnable;
use crate::trial::{self, Trial};

/// In the order of their words.
const NAMINGS: [grain::Naming; 7] = [
    grain::Naming::Printed,
    grain::Naming::Of(Strategy::Naive),
    grain::Naming::Of(Strategy::Two),
    grain::Naming::Of(Strategy::Three),
    grain::Naming::Second(0.0),
    grain::Naming::Second(0.2),
    grain::Naming::Second(0.29),
];
const EXCHANGES: [grain::Exchange; 2] = [grain::Exchange::Buckets, grain::Exchange::Keys];

/// A program and what it can be told.
#[derive(Debug)]
pub struct Listing {
    /// Its name.
    pub name: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// What it can be told, with the default of each; one without a default may be left out.
    pub knobs: &'static [(Knob, Option<u64>)],
    pub(crate) build: fn(&Parameters, u64) -> Box<dyn Runnable>,
}

impl Listing {
    /// Whether it can be told this.
    pub fn knows(&self, knob: Knob) -> bool {
        self.knobs.iter().any(|(known, _)| *known == knob)
    }

    /// The most that it takes as [`Knob::Bytes`]: what a message holds, less what goes before it. A
    /// value of `kv` goes behind its request and its key, of a word each.
    pub fn most_bytes(&self) -> u64 {
        let before = if self.knows(Servers) { 16 } else { 0 };
        MESSAGE_BYTES as u64 - before
    }
}

/// All programs.
pub fn programs() -> &'static [Listing] {
    &PROGRAMS
}

/// The program of that name.
///
/// # Errors
/// When there is none.
pub fn named(name: &str) -> Result<&'static Listing, LabError> {
    PROGRAMS
        .iter()
        .find(|program| program.name == name)
        .ok_or_else(|| {
            let names: Vec<_> = PROGRAMS.iter().map(|program| program.name).collect();
            LabError::usage(format!(
                "there is no program '{name}'; there are {}",
                names.join(", ")
            ))
        })
}

static PROGRAMS: [Listing; 14] = [
    Listing {
        name: "loopback",
        help: "Send messages to a core that sends each back; timed at its NIC (Table 1)",
        // Two NICs of four cores: the sender is behind another one.
        knobs: &[(Cores, Some(8)), (Messages, Some(16)), (Bytes, Some(8))],
        build: |told, seed| {
            let (messages, bytes) = (told.number(Messages), told.number(Bytes));
            Box::new(Loopback {
                messages,
                bytes,
                seed,
            })
        },
    },
    Listing {
        name: "receive",
        help: "Receive messages that wait for one core (Figure 6)",
        knobs: &[(Cores, Some(64)), (Messages, Some(64)), (Bytes, Some(16))],
        build: |told, seed| {
            let (messages, bytes) = (told.number(Messages), told.number(Bytes));
            Box::new(ReceiveLoop {
                messages,
                bytes,
                seed,
            })
        },
    },
    Listing {
        name: "send",
        help: "Send messages from one core (Figure 7)",
        knobs: &[(Cores, Some(64)), (Messages, Some(64)), (Bytes, Some(16))],
        build: |told, seed| {
            let (messages, bytes) = (told.number(Messages), told.number(Bytes));
            Box::new(SendLoop {
                messages,
                bytes,
                seed,
            })
        },
    },
    Listing {
        name: "local-min",
        help: "Find the minimum of values on each core by itself (Figure 2)",
        knobs: &[(Cores, Some(1)), (KeysPerCore, Some(1024)), (Keys, None)],
        build: |told, seed| {
            Box::new(LocalMin {
                keys: told.number(KeysPerCore),
                seed,
            })
        },
    },
    Listing {
        name: "local-sort",
        help: "Sort keys on each core by itself (Figure 8)",
        knobs: &[(Cores, Some(1)), (KeysPerCore, Some(40)), (Keys, None)],
        build: |told, seed| {
            Box::new(LocalSort {
                keys: told.number(KeysPerCore),
                seed,
            })
        },
    },
    Listing {
        name: "merge-min",
        help: "Find the minimum of values on all cores, merged in a tree (Figures 3 and 4)",
        knobs: &[
            (Cores, Some(64)),
            (KeysPerCore, Some(128)),
            (Keys, None),
            (Incast, Some(8)),
            (Reorder, None),
        ],
        build: |told, seed| {
            Box::new(MergeMin {
                keys: told.number(KeysPerCore),
                incast: told.number(Incast),
                matching: told.reorder().matching(),
                seed,
            })
        },
    },
    Listing {
        name: "milli-sort",
        help: "Sort records over all cores, parts found by pivot sorters (Figures 9 and 10)",
        knobs: &[
            (Cores, Some(64)),
            (KeysPerCore, Some(16)),
            (Keys, None),
            // The reduction factor.
            (Incast, Some(4)),
            (Distribution, None),
            (Reorder, None),
        ],
        build: |told, seed| {
            Box::new(MilliSort {
                keys: told.number(KeysPerCore),
                reduction: told.number(Incast),
                distribution: told.choice(Distribution, &grain::Distribution::ALL),
                matching: told.reorder().matching(),
                seed,
            })
        },
    },
    Listing {
        name: "nano-sort",
        help: "Sort records over all cores, bucket by bucket (section 4, Figures 11 to 16)",
        knobs: &[
            (Cores, Some(256)),
            (KeysPerCore, Some(16)),
            (Keys, None),
            (Buckets, Some(16)),
            (Incast, None),
            (Burst, Some(1)),
            (Rows, None),
            (Exchange, None),
            (Distribution, None),
            (Reorder, None),
        ],
        build: |told, seed| {
            let small = |knob| told.find(knob).map(|_| told.number(knob));
            let reading = Reading {
                exchange: told.choice(Exchange, &EXCHANGES),
                incast: small(Incast),
                burst: told.number(Burst),
                rows: small(Rows),
            };
            Box::new(NanoSort {
                keys: told.number(KeysPerCore),
                buckets: told.number(Buckets),
                distribution: told.choice(Distribution, &grain::Distribution::ALL),
                reading,
                matching: told.reorder().matching(),
                seed,
            })
        },
    },
    Listing {
        name: "pivot-select",
        help: "How even buckets become: borders are the medians of what cores name (Figure 5)",
        knobs: &[
            (Cores, Some(4001)),
            (KeysPerCore, Some(8)),
            (Keys, None),
            (Buckets, Some(8)),
            (Bucket, Some(1)),
            (Naming, None),
        ],
        build: |told, seed| {
            Box::new(PivotTrial {
                keys: told.number(KeysPerCore),
                buckets: told.number(Buckets),
                bucket: told.number(Bucket),
                naming: told.choice(Naming, &NAMINGS),
                seed,
            })
        },
    },
    Listing {
        name: "flood",
        help: "Send messages from all cores to random ones: the simulator's own benchmark",
        knobs: &[
            (Cores, Some(1024)),
            (Messages, Some(64)),
            (Bytes, Some(16)),
            (To, None),
        ],
        build: |told, seed| {
            let (messages, bytes) = (told.number(Messages), told.number(Bytes));
            let to = told.find(To).map(|rank| Rank(rank as u32));
            Box::new(Flood {
                messages,
                bytes,
                to,
                seed,
            })
        },
    },
    Listing {
        name: "kv",
        help: "Read and write keys of a hash table over all cores, or over some servers",
        knobs: &[
            (Cores, Some(64)),
            (Keys, Some(1024)),
            (Messages, Some(16)),
            (Bytes, Some(8)),
            (Servers, None),
            (Workers, Some(1)),
        ],
        build: |told, seed| {
            Box::new(Kv {
                keys: told.number(Keys),
                messages: told.number(Messages),
                bytes: told.number(Bytes),
                // None says what 0 says: all own keys and all ask.
                servers: told.find(Servers).unwrap_or(0) as u32,
                workers: told.number(Workers),
                seed,
                ..Kv::default()
            })
        },
    },
    Listing {
        name: "set-algebra",
        help: "Intersect posting lists: a small search over documents on all cores",
        knobs: &[
            (Cores, Some(64)),
            (KeysPerCore, Some(64)),
            (Keys, None),
            (Queries, Some(4)),
            (Incast, Some(8)),
            (Reorder, None),
        ],
        build: |told, seed| {
            Box::new(SetAlgebra {
                documents: told.number(KeysPerCore),
                queries: told.number(Queries),
                incast: told.number(Incast),
                matching: told.reorder().matching(),
                seed,
                ..SetAlgebra::default()
            })
        },
    },
    Listing {
        name: "map-reduce",
        help: "Count words on all cores, reduce the counts in a tree, round after round",
        knobs: &[
            (Cores, Some(64)),
            (KeysPerCore, Some(64)),
            (Keys, None),
            (Rounds, Some(4)),
            (Incast, Some(8)),
            (Reorder, None),
        ],
        build: |told, seed| {
            Box::new(MapReduce {
                words: told.number(KeysPerCore),
                rounds: told.number(Rounds),
                incast: told.number(Incast),
                matching: told.reorder().matching(),
                seed,
                ..MapReduce::default()
            })
        },
    },
    Listing {
        name: "sort",
        help: "Sort files over nodes as gristmill sort does, while links and nodes fail, and once more",
        // A node's disks hold more than its memory in every second trial, whatever the number.
        knobs: &[
            (Cores, Some(4)),
            (KeysPerCore, Some(200)),
            (Keys, None),
            (Faults, None),
        ],
        build: |told, seed| {
            let (nodes, keys) = (told.cores(), told.number(KeysPerCore));
            let faults = trial::Faults::from_bits(told.find(Faults).unwrap_or(0));
            Box::new(Trial {
                seed,
                nodes,
                keys,
                faults,
                mutant: None,
            })
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_make_a_program_that_runs() {
        for program in programs() {
            let told = Parameters::default().resolved(program).unwrap();
            let built = (program.build)(&told, 1);
            assert_eq!(built.objection(told.cores()), None, "{}", program.name);
        }
    }

    #[test]
    fn the_most_bytes_are_those_that_a_program_takes() {
        for program in programs().iter().filter(|program| program.knows(Bytes)) {
            let with = |bytes| {
                let mut told = Parameters::default().resolved(program).unwrap();
                told.set(Bytes, bytes);
                (program.build)(&told, 1).objection(told.cores())
            };
            let most = program.most_bytes();
            assert_eq!(with(most), None, "{}", program.name);
            let is_all = most == MESSAGE_BYTES as u64;
            assert!(
                is_all || with(most + 8).is_some(),
                "{} takes more",
                program.name
            );
            assert_eq!(is_all, program.name != "kv");
        }
    }

    #[test]
    fn an_unknown_program_is_told_the_known_ones() {
        let told = named("sleep").unwrap_err().to_string();
        for program in programs() {
            assert!(told.contains(program.name), "{told}");
        }
    }
}
