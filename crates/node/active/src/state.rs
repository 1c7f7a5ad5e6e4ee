//! The state of a bundle, which the tasks of a node share.

use std::collections::BTreeMap;
use std::sync::Arc;

use node::{Mutex, Panic, Time};

use crate::bulk::Bulk;
use crate::frame::{Frame, Head, Kind};
use crate::handlers::Handlers;
use crate::inbound::{End, Senders, Step, Whole};
use crate::message::{Answer, Job, Name, NotRun, Reason, Region, Request, Returned};
use crate::outbound::{Ended, Hearer, Outbound, Place, frames_of};
use crate::settings::{Clock, Counts};

/// An endpoint. It stays when it is closed: its requests come back to its handlers.
pub(crate) struct Entry {
    pub job: Job,
    pub handlers: Arc<Handlers>,
    pub is_open: bool,
    /// Memory for bulk messages, and how many regions there were: a number is never used again.
    pub regions: BTreeMap<Region, Arc<Mutex<Bulk>>>,
    pub exported: u32,
}

/// A request that is whole.
pub(crate) struct Held {
    pub from: Name,
    pub head: Head,
    pub request: Whole,
}

#[derive(Default)]
pub(crate) struct State {
    pub endpoints: Vec<Entry>,
    senders: Senders,
    /// Requests for endpoints to come, by their number, sender and slot.
    held: BTreeMap<u32, BTreeMap<(Name, u16), Held>>,
    pub outbound: Outbound,
    /// The ends of calls, until their tasks take them.
    pub calls: BTreeMap<u64, Result<Answer, Returned>>,
    begun_calls: u64,
    pub counts: Counts,
    leader: Option<Leader>,
    /// The first panic of a handler of replies or returns, for a task to raise.
    pub panicked: Option<Panic>,
}

/// The one task that receives.
struct Leader {
    /// When it looks up if nothing comes; `None` is never.
    wakes: Option<Time>,
}

/// A request to begin.
pub(crate) struct Launch {
    pub request: Request,
    /// Whether a task waits for its end.
    pub is_call: bool,
}

/// A request that has begun.
pub(crate) struct Begun {
    /// Its frames.
    pub frames: Vec<Vec<u64>>,
    /// Whether the leader must hear of its timer.
    pub wakes_leader: bool,
    pub hearer: Hearer,
    /// Its end, if its endpoint was closed.
    pub ended: Option<Ended>,
}

impl State {
    /// Makes the calling task the leader, if there is none.
    pub fn lead(&mut self) -> bool {
        let is_free = self.leader.is_none();
        if is_free {
            // It has yet to say how long it waits.
            let wakes = Some(Time(0));
            self.leader = Some(Leader { wakes });
        }
        is_free
    }

    pub fn is_led(&self) -> bool {
        self.leader.is_some()
    }

    pub fn step_down(&mut self) {
        self.leader = None;
    }

    /// How long the leader may wait for a message.
    pub fn wait_until(&mut self, deadline: Option<Time>) -> Option<Time> {
        let wakes = [deadline, self.outbound.due()].into_iter().flatten().min();
        self.leader = Some(Leader { wakes });
        wakes
    }

    /// Begins a request in a free slot, or in the one that was prepared for it.
    pub fn begin(
        &mut self,
        place: Place,
        from: Name,
        launch: &mut Option<Launch>,
        clock: Clock,
    ) -> Begun {
        let Launch { request, is_call } = launch.take().expect("it begins once");
        let hearer = if is_call {
            self.begun_calls += 1;
            Hearer::Caller(self.begun_calls)
        } else {
            Hearer::Handlers
        };
        let &Entry { job, is_open, .. } = &self.endpoints[from.number as usize];
        if !is_open {
            let end = Err(Reason::NotRun(NotRun::NoEndpoint));
            let ended = self.outbound.ended(from.number, request, hearer, end);
            return Begun {
                frames: Vec::new(),
                wakes_leader: false,
                hearer,
                ended: Some(ended),
            };
        }
        let serial = self.outbound.begin(place, request, hearer, clock);
        let request = self.outbound.request(place);
        let frames = frames_of(request, from, job, serial, false);
        let due = self.outbound.due();
        let leader = self.leader.as_mut();
        let late = leader.filter(|leader| leader.wakes.is_none_or(|wakes| Some(wakes) > due));
        let wakes_leader = late.is_some();
        if let Some(leader) = late {
            leader.wakes = due;
        }
        Begun {
            frames,
            wakes_leader,
            hearer,
            ended: None,
        }
    }

    /// Hears a piece of a request.
    ///
    /// One for an endpoint that is not there yet is kept until it is, since nodes may be ahead of each other.
    pub fn hear(&mut self, from: Name, frame: &Frame<'_>, most_senders: usize) -> Step {
        let place = (frame.head.to, from);
        if self.senders.len() >= most_senders && !self.senders.contains_key(&place) {
            return Step::Again(End::Refused(NotRun::Crowded));
        }
        let sender = self.senders.entry(place).or_default();
        let step = if frame.head.kind == Kind::Query {
            sender.query(frame.head.serial)
        } else {
            sender.hear(frame)
        };
        let is_early = frame.head.to as usize >= self.endpoints.len();
        match step {
            Step::Run(request) if is_early && frame.head.kind == Kind::Request => {
                let whole = Held {
                    from,
                    head: frame.head.clone(),
                    request,
                };
                // The sender has given up an older one in its slot.
                let place = (from, frame.head.serial.slot);
                let held = self.held.entry(frame.head.to).or_default();
                held.insert(place, whole);
                Step::Nothing
            }
            step => step,
        }
    }

    /// Adds an endpoint; its number, and the requests that wait for it.
    pub fn open(&mut self, entry: Entry) -> (u32, Vec<Held>) {
        let number = self.endpoints.len() as u32;
        self.endpoints.push(entry);
        let held = self.held.remove(&number).unwrap_or_default();
        (number, held.into_values().collect())
    }

    /// Keeps the end of a request that was heard.
    pub fn end(&mut self, from: Name, head: &Head, end: End) {
        self.counts.run += u64::from(end.has_run());
        let slots = self.senders.get_mut(&(head.to, from));
        slots.expect("it was heard").end(head.serial, end);
    }

    /// The requests that are to be repeated, and those that are given up.
    pub fn repeat(&mut self, here: Name, clock: Clock) -> (Vec<Repeated>, Vec<Ended>) {
        let (mut repeated, mut ended) = (Vec::new(), Vec::new());
        for place in self.outbound.overdue(clock.now) {
            match self.outbound.repeat(place, clock) {
                Ok(serial) => {
                    let from = Name {
                        number: place.from,
                        ..here
                    };
                    let request = self.outbound.request(place);
                    let job = self.endpoints[place.from as usize].job;
                    let frames = frames_of(request, from, job, serial, true);
                    repeated.push(Repeated {
                        to: place.to,
                        frames,
                    });
                }
                Err(end) => ended.push(*end),
            }
        }
        self.counts.repeated += repeated.len() as u64;
        (repeated, ended)
    }
}

/// A request that is sent again.
pub(crate) struct Repeated {
    pub to: Name,
    pub frames: Vec<Vec<u64>>,
}
