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
//! It has no task: the task that awaits the end of the pipeline looks at the meters from time to
//! time. So tuning ends at once with the pipeline and needs no thread. `balance` decides what to
//! move from the figures alone, so on simulated nodes the seed decides every move.
//!
//! Memory never grows: the buffers are enough for the upper ends of dials and gates.

mod balance;
mod interval;

use std::sync::Arc;

use node::{Mutex, Node, Ticket, Time};

use crate::meter::Meter;
use crate::stage::Stage;
use balance::{Balance, Change, Knob, Setting};
pub(crate) use interval::Done;
use interval::Look;

/// Seconds between looks: short enough to settle within a second, long enough to cost nothing and
/// to see units pass.
const INTERVAL_S: f64 = 0.05;

/// While no unit passes, the interval grows up to this.
const IDLE_S: f64 = 1.0;

/// After this many looks without a unit (a quarter of an hour), tuning ends. So a simulation with a
/// deadlock comes to an end and reports it.
const IDLE_LOOKS: u32 = 1000;

/// A setting that was moved while a pipeline ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// Seconds since the tuner began.
    pub seconds: f64,
    /// The stage that the setting belongs to.
    pub stage: &'static str,
    /// The setting: "workers", the name of a dial, or a setting that the stage moves itself.
    pub what: &'static str,
    /// The old value.
    pub from: usize,
    /// The new value.
    pub to: usize,
    /// The reason: "busiest" towards the planned value, "bottleneck" beyond it, "starved"
    /// downwards, "no gain" and "a loss" back again, or the reason of a stage that moves a setting
    /// itself.
    pub why: &'static str,
}

/// Tunes pipelines, or leaves them as planned, and records the moves. Clones share the record.
#[derive(Clone, Debug, Default)]
pub struct Tuner {
    began: Option<Time>,
    moves: Arc<Mutex<Vec<Move>>>,
}

impl Tuner {
    /// A tuner that records its moves in seconds since `began`.
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

    /// All moves so far, oldest first.
    pub fn moves(&self) -> Vec<Move> {
        self.moves.lock().clone()
    }

    /// Whether it tunes pipelines.
    pub fn is_on(&self) -> bool {
        self.began.is_some()
    }

    /// Records a move that a stage made itself, with the current time.
    pub fn tell(&self, node: &Node, one: Move) {
        if let Some(began) = self.began {
            let seconds = node.seconds(node.now().since(began));
            self.moves.lock().push(Move { seconds, ..one });
        }
    }
}

/// A tuner at work on the stages of one pipeline.
pub(crate) struct Watch {
    tuner: Tuner,
    began: Time,
    stages: Vec<(Stage, Arc<Meter>)>,
    balance: Balance,
    next: Time,
    /// Units of all stages at the last look.
    units: u64,
    /// Looks since the last one that saw a new unit.
    idle: u32,
}

impl Watch {
    /// Watches these stages from now on; `None` if the tuner is off.
    pub(crate) fn new(
        tuner: &Tuner,
        stages: Vec<(Stage, Arc<Meter>)>,
        node: &Node,
    ) -> Option<Watch> {
        Some(Watch {
            began: tuner.began?,
            tuner: tuner.clone(),
            stages,
            balance: Balance::default(),
            next: node.now(),
            units: 0,
            idle: 0,
        })
    }

    /// Looks at each interval, until the ticket has its answer.
    pub(crate) async fn until_done<T>(&mut self, node: &Node, ticket: &Ticket<T>) {
        while self.idle < IDLE_LOOKS && !ticket.done_by(node, self.next).await {
            self.look(node).await;
        }
    }

    async fn look(&mut self, node: &Node) {
        let done = |(_, meter): &(Stage, Arc<Meter>)| meter.done(node);
        let stages: Vec<Done> = self.stages.iter().map(done).collect();
        self.set_next_look(node, stages.iter().map(|stage| stage.units).sum());
        let knobs = self.knobs();
        let at = node.seconds(node.now().since(self.began));
        if let Some(change) = self.balance.look(Look { at, stages }, &knobs) {
            self.turn(node, &knobs, change).await;
        }
    }

    fn set_next_look(&mut self, node: &Node, units: u64) {
        self.idle = if units > self.units { 0 } else { self.idle + 1 };
        self.units = units;
        let wait = (INTERVAL_S * f64::from(self.idle.max(1))).min(IDLE_S);
        self.next = node.now().after(node.ticks(wait));
    }

    /// Turns a knob, and records the move.
    async fn turn(&self, node: &Node, knobs: &[Knob], change: Change) {
        let Change { knob, to, why } = change;
        let Knob {
            stage,
            setting,
            now: from,
            ..
        } = knobs[knob];
        let (described, meter) = &self.stages[stage];
        let what = match setting {
            Setting::Workers => {
                meter.gate.call(node, to).await;
                "workers"
            }
            Setting::Dial(dial) => {
                let (name, dial) = &described.dials[dial];
                dial.set(to);
                name
            }
        };
        let one = Move {
            seconds: 0.0,
            stage: described.name,
            what,
            from,
            to,
            why,
        };
        self.tuner.tell(node, one);
    }

    /// The knobs of all stages: for each stage its workers, then its dials.
    fn knobs(&self) -> Vec<Knob> {
        let mut knobs = Vec::new();
        for (stage, (described, meter)) in self.stages.iter().enumerate() {
            knobs.push(Knob {
                stage,
                setting: Setting::Workers,
                now: meter.gate.called(),
                home: described.derived,
                most: described.workers,
            });
            for (number, (_, dial)) in described.dials.iter().enumerate() {
                knobs.push(Knob {
                    stage,
                    setting: Setting::Dial(number),
                    now: dial.get(),
                    home: dial.most(),
                    most: dial.most(),
                });
            }
        }
        knobs
    }
}
