//! Two programs that share all cores: requests to `kv`, which should be answered soon, beside
//! `nano-sort`, which keeps the cores busy (NanoSort, section 2.1: threads are scheduled in hardware
//! "in order to minimize tail latency").
//!
//! ```text
//!   each core   first task     nano-sort   ports from 3 on --.
//!               spawned task   kv          port 1 -----------+--> the more urgent ready task runs,
//!                                                            |    and of equals the oldest
//! ```
//!
//! A task is ready when a message has come for it, and has the core until it waits for the next one.
//! Both begin at once; each one's answers are checked as when it runs alone.

use clap::{Args, ValueEnum};
use node::Node;
use serde::Serialize;

use crate::kv::{Kv, Shard};
use crate::nano_sort::NanoSort;
use crate::options::{ReorderBy, count};
use crate::program::{Program, Timing, Verdict};
use crate::records::Part;
use crate::{Load, described};

/// Read and write keys of kv's hash table beside nano-sort, on the same cores.
///
/// Time is nano-sort's, and requests are kv's, each with its own option defaults. Stages: `serve`
/// and those of nano-sort; a core's stages overlap.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Beside {
    /// Requests of each core to kv, one after the other
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = count)]
    pub messages: u32,
    /// The program whose thread gets a core first; none interrupts the other
    #[arg(long, value_enum, default_value_t)]
    pub urgent: Urgent,
    /// The options of the sort.
    #[command(flatten)]
    #[serde(flatten)]
    pub sort: NanoSort,
    /// Seed of both programs.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { Beside is "beside" on 256 cores; "--urgent none", "--cores 64 --messages 8" }

/// The more urgent one of the two programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Urgent {
    /// The requests
    #[default]
    Kv,
    /// The sort
    Sort,
    /// None: the oldest ready thread goes on
    None,
}

impl Program for Beside {
    type Answer = (Shard, Part);

    async fn run(self, node: Node) -> (Shard, Part) {
        if self.objection(node.nodes()).is_some() {
            return Default::default();
        }
        let level = |urgent| u8::from(self.urgent == urgent);
        let (kv, of_kv) = (self.kv(), level(Urgent::Kv));
        let requests = node.spawn("kv", move |node| {
            node.urgency(of_kv);
            kv.run(node)
        });
        node.urgency(level(Urgent::Sort));
        let keys = self.sort().keys_of(&node);
        let part = self.sort().sort(&node, keys).await;
        match requests.wait(&node).await {
            Ok(shard) => (shard, part),
            Err(panic) => panic!("kv panicked: {}", panic.0),
        }
    }

    fn reorder(&self) -> ReorderBy {
        self.sort.reorder
    }

    fn timing(&self) -> Timing {
        Timing::Part { of: "nano-sort" }
    }

    fn check(&self, answers: &[(Shard, Part)]) -> Verdict {
        let (shards, parts): (Vec<Shard>, Vec<Part>) = answers.iter().cloned().unzip();
        let (kv, sort) = (self.kv().check(&shards), self.sort().check(&parts));
        let fault = |name, fault: Option<String>| fault.map(|fault| format!("{name}: {fault}"));
        Verdict {
            fault: fault("kv", kv.fault).or_else(|| fault("nano-sort", sort.fault)),
            result: format!("{}; {}", sort.result, kv.result),
            requests: kv.requests,
            ..sort
        }
    }

    fn bytes(&self, ranks: u64, at_once: u64) -> u64 {
        let of_kv = Program::bytes(&self.kv(), ranks, at_once);
        of_kv.saturating_add(Program::bytes(&self.sort, ranks, at_once))
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let (kv, sort) = (self.kv().load(ranks)?, self.sort.load(ranks)?);
        let received = kv.received + sort.received;
        Some(Load { received, ..kv }.and(sort.steps, sort.bytes))
    }

    fn dials(&self, ranks: u32) -> Vec<(&'static str, u32)> {
        self.sort.dials(ranks)
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        let of_sort = || self.sort.objection(ranks);
        self.kv().objection(ranks).or_else(of_sort)
    }
}

impl Beside {
    fn kv(&self) -> Kv {
        Kv {
            messages: self.messages,
            seed: self.seed,
            ..Kv::default()
        }
    }

    fn sort(&self) -> NanoSort {
        NanoSort {
            seed: self.seed,
            ..self.sort.clone()
        }
    }
}
