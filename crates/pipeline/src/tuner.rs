//! The tuner: moves workers, requests in flight and unit sizes to the bottleneck while a pipeline
//! runs (TritonSort 6.2, "Automated Performance Tuning": "dynamically during runtime based on
//! observed conditions").
//!
//! ```text
//!   meters ---> look, 20 times a second ---> one move ---> gates and dials
//!      ^                                                        |
//!      |___________ what the stages do from then on ____________|
//! ```
//!
//! It is no task of its own: whoever awaits the pipeline's end has nothing else to do, and looks at
//! it now and then. So it ends with the pipeline, at once, and costs no thread. What to move is
//! decided in `balance`, by a function of figures alone; on simulated nodes every move is decided
//! by the seed.
//!
//! Memory never grows: dials and gates have their most, for which the buffers were made.

mod balance;
mod window;

use std::sync::{Arc, Mutex, PoisonError};

use node::{Node, Ticket, Time};

use crate::meter::Meter;
use crate::stage::Stage;
use balance::{Balance, Change, Knob};
pub(crate) use window::Done;
use window::Look;

/// Often enough to find its way within a second, seldom enough to cost nothing and to see units
/// pass.
const INTERVAL_S: f64 = 0.05;

/// While nothing moves at all, looks come ever more seldom, up to this.
const IDLE_S: f64 = 1.0;

/// After so many looks at nothing it looks no more: a quarter of an hour. So a simulation in which
/// everybody waits for somebody else comes to its end, and says so.
const IDLE_LOOKS: u32 = 1000;

/// Something that was moved while a pipeline ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// When, since the tuner was made.
    pub seconds: f64,
    /// Whose.
    pub stage: &'static str,
    /// "workers", the name of a dial, or of what a stage moves itself.
    pub what: &'static str,
    /// What it was.
    pub from: usize,
    /// What it is.
    pub to: usize,
    /// Why: "busiest" on the way to what was derived, "bottleneck" beyond that, "starved" down, "no
    /// gain" and "a loss" back again; or what a stage says that moved something itself.
    pub why: &'static str,
}

/// Whether pipelines are tuned, and the account of it. Clones share the account, over pipelines.
#[derive(Clone, Debug, Default)]
pub struct Tuner {
    began: Option<Time>,
    moves: Arc<Mutex<Vec<Move>>>,
}

impl Tuner {
    /// A tuner that tells its moves in seconds since `began`.
    pub fn new(began: Time) -> Tuner {
        Tuner {
            began: Some(began),
            moves: Arc::default(),
        }
    }

    /// A tuner that moves nothing.
    pub fn off() -> Tuner {
        Tuner::default()
    }

    /// All moves so far.
    pub fn moves(&self) -> Vec<Move> {
        self.moves
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether anything is to move.
    pub fn is_on(&self) -> bool {
        self.began.is_some()
    }

    /// A stage moved something of its own just now: it is told like all moves.
    pub fn tell(&self, node: &Node, one: Move) {
        if let Some(began) = self.began {
            self.record(Move {
                seconds: node.seconds(node.now().since(began)),
                ..one
            });
        }
    }

    fn record(&self, one: Move) {
        self.moves
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(one);
    }
}

/// A tuner at work on the stages of one pipeline.
pub(crate) struct Watch {
    tuner: Tuner,
    began: Time,
    stages: Vec<(Stage, Arc<Meter>)>,
    balance: Balance,
    next: Time,
    /// Units of all stages at the last look, and how many looks saw no more.
    units: u64,
    idle: u32,
}

impl Watch {
    /// Watches these stages from now on; `None` if the tuner is off.
    pub(crate) fn new(
        tuner: &Tuner,
        stages: Vec<(Stage, Arc<Meter>)>,
        node: &Node,
    ) -> Option<Watch> {
        let (tuner, began) = (tuner.clone(), tuner.began?);
        let balance = Balance::default();
        Some(Watch {
            tuner,
            began,
            stages,
            balance,
            next: node.now(),
            units: 0,
            idle: 0,
        })
    }

    /// Looks now and then, until the ticket's answer is there.
    pub(crate) async fn until_done<T>(&mut self, node: &Node, ticket: &Ticket<T>) {
        while self.idle < IDLE_LOOKS && !ticket.done_by(node, self.next).await {
            self.look(node).await;
        }
    }

    async fn look(&mut self, node: &Node) {
        let stages: Vec<Done> = self
            .stages
            .iter()
            .map(|(_, meter)| meter.done(node))
            .collect();
        let units = stages.iter().map(|stage| stage.units).sum();
        self.idle = if units > self.units { 0 } else { self.idle + 1 };
        self.units = units;
        let wait = (INTERVAL_S * f64::from(self.idle.max(1))).min(IDLE_S);
        self.next = node.now().after((wait / node.seconds(1)) as u64);
        let knobs = self.knobs();
        let seconds = node.seconds(node.now().since(self.began));
        if let Some(change) = self.balance.look(
            Look {
                at: seconds,
                stages,
            },
            &knobs,
        ) {
            let Change { knob, to, why } = change;
            let Knob {
                stage, now: from, ..
            } = knobs[knob];
            let first = knobs
                .iter()
                .position(|other| other.stage == stage)
                .expect("it has one");
            let (told, meter) = &self.stages[stage];
            let what = match (knob - first).checked_sub(1) {
                None => {
                    meter.gate.call(node, to).await;
                    "workers"
                }
                Some(dial) => {
                    told.dials[dial].1.set(to);
                    told.dials[dial].0
                }
            };
            self.tuner.record(Move {
                seconds,
                stage: told.name,
                what,
                from,
                to,
                why,
            });
        }
    }

    /// The knobs of all stages: of each its workers, then its dials.
    fn knobs(&self) -> Vec<Knob> {
        let of_stage = |(stage, (told, meter)): (usize, &(Stage, Arc<Meter>))| {
            let (home, most) = (told.derived, told.workers);
            let workers = Knob {
                stage,
                workers: true,
                now: meter.gate.called(),
                home,
                most,
            };
            let dial = move |dial: &crate::Dial| {
                let (home, most) = (dial.most(), dial.most());
                Knob {
                    stage,
                    workers: false,
                    now: dial.get(),
                    home,
                    most,
                }
            };
            let dials: Vec<Knob> = told.dials.iter().map(|(_, one)| dial(one)).collect();
            std::iter::once(workers).chain(dials)
        };
        self.stages.iter().enumerate().flat_map(of_stage).collect()
    }
}
