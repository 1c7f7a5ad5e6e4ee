//! The program `sort`: a trial of the distributed sort per run, on the driver.

use clap::Args;
use grain::{Verdict, described};
use lab::{Course, Listing, OnDriver};
use serde::Serialize;

use crate::{Faults, Passed, Trial, Wrong, bytes};

/// Most nodes: each sends every other one some messages a second.
const MOST_NODES: u32 = 64;

/// Most records of a node: more of them make a trial longer, but not different.
const MOST_KEYS: u32 = 100_000;

/// Sort files over nodes, as gristmill sort does, while links and nodes fail.
///
/// Each run ends with a sort without faults. In every second run the records do not fit in memory.
#[derive(Args, Clone, Debug, Serialize)]
struct SortTrial {
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    seed: u64,
    /// Records per node, on average
    #[arg(id = "keys-per-core", long, value_name = "K", default_value_t = 200)]
    #[arg(value_parser = grain::from_0)]
    #[serde(rename = "keys-per-core")]
    keys: u32,
    /// Faults with commas: late (messages), cut (links), death (of nodes), disk (failing requests);
    /// the seed draws their time and node
    #[arg(long, value_name = "LIST", default_value_t)]
    #[serde(serialize_with = "as_text")]
    faults: Faults,
}

described! { SortTrial is "sort" on 4 cores;
    "--runs 100 --faults late,cut,death,disk", "--cores 8 --faults death"
}

fn as_text<S: serde::Serializer>(faults: &Faults, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(faults)
}

fn verdict(trial: &Trial, tried: &Result<Passed, Wrong>) -> Verdict {
    let verdict = match tried {
        Ok(passed) => Verdict::new(passed.words(), None),
        Err(wrong) => {
            let told = format!("{wrong}; repeat it with: {}", trial.command());
            Verdict::new("wrong".to_owned(), Some(told))
        }
    };
    Verdict {
        sorted: Some(tried.is_ok()),
        ..verdict
    }
}

impl OnDriver for SortTrial {
    fn objection(&self, cores: u32) -> Option<String> {
        let most =
            |what, most, given| (given > most).then(|| format!("{what} {given}: at most {most}"));
        most("--cores", MOST_NODES, cores).or_else(|| most("--keys-per-core", MOST_KEYS, self.keys))
    }

    fn bytes(&self, cores: u32) -> u64 {
        bytes(cores, self.keys)
    }

    fn run(&self, cores: u32) -> Course {
        let trial = Trial {
            seed: self.seed,
            nodes: cores,
            keys: self.keys,
            faults: self.faults,
            mutant: None,
        };
        let tried = trial.run();
        let ticks = tried.as_ref().map_or(0, |passed| passed.ticks);
        Course {
            ticks,
            stages: Vec::new(),
            verdict: verdict(&trial, &tried),
        }
    }
}

/// The program, for the list of `sim`.
pub(crate) fn trial() -> Listing {
    Listing::on_driver::<SortTrial>()
}
