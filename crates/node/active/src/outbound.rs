//! Requests as their sender sees them: credit, repetition, and one ending each.

use std::collections::{BTreeMap, BTreeSet};

use node::Time;

use crate::frame::{Frame, Head, Kind, Pieces, Serial};
use crate::inbound::End;
use crate::message::{Answer, Job, Name, Reason, Request, Target, Unknown};
use crate::settings::Clock;

/// The receiver of the end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hearer {
    /// The handler that the reply names, or that of returned requests.
    Handlers,
    /// The task that waits for this call.
    Caller(u64),
}

/// The place of a request among those of its bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The number of the sending endpoint.
    pub from: u32,
    pub to: Name,
    pub slot: u16,
}

/// A request whose end is not known.
#[derive(Debug)]
pub(crate) struct Flight {
    pub request: Request,
    pub hearer: Hearer,
    number: u64,
    began: Time,
    /// When it is repeated, and ticks until the time after that.
    due: Time,
    then: u64,
    reply: Pieces,
}

/// The end of a request.
#[derive(Debug)]
pub(crate) struct Ended {
    pub from: u32,
    pub request: Request,
    pub hearer: Hearer,
    pub end: Result<Answer, Reason>,
}

/// The requests of a bundle that are under way, and the credit for more.
#[derive(Debug, Default)]
pub(crate) struct Outbound {
    /// By sending and receiving endpoint: how many requests each slot has had.
    slots: BTreeMap<(u32, Name), Vec<u64>>,
    flights: BTreeMap<Place, Flight>,
    /// Slots that are taken for requests to come.
    prepared: BTreeSet<Place>,
    timers: BTreeSet<(Time, Place)>,
    /// By sending endpoint: requests that have ended, of which their sender is yet to hear.
    ending: BTreeMap<u32, usize>,
}

impl Outbound {
    /// A free slot, if the window has one.
    pub fn slot(&mut self, from: u32, to: Name, window: u16) -> Option<Place> {
        let place = |slot| Place { from, to, slot };
        let used = self.slots.entry((from, to)).or_default();
        let is_taken =
            |place: &Place| self.flights.contains_key(place) || self.prepared.contains(place);
        let is_free = |slot: &u16| !is_taken(&place(*slot));
        let slot = (0..used.len() as u16).find(is_free);
        if slot.is_some() || used.len() == usize::from(window) {
            return slot.map(place);
        }
        used.push(0);
        Some(place(used.len() as u16 - 1))
    }

    /// Takes a free slot for a request to come.
    pub fn prepare(&mut self, from: u32, to: Name, window: u16) -> Option<Place> {
        let place = self.slot(from, to, window)?;
        self.prepared.insert(place);
        Some(place)
    }

    /// Gives a slot back.
    pub fn cancel(&mut self, place: Place) {
        self.prepared.remove(&place);
    }

    /// Begins a request in a free slot; returns its number there.
    pub fn begin(
        &mut self,
        place: Place,
        request: Request,
        hearer: Hearer,
        clock: Clock,
    ) -> Serial {
        let Clock { now, ticks } = clock;
        let slots = self.slots.get_mut(&(place.from, place.to));
        let used = &mut slots.expect("a slot was given")[usize::from(place.slot)];
        *used += 1;
        let flight = Flight {
            request,
            hearer,
            number: *used,
            began: now,
            due: now.after(ticks.again.min(ticks.patience)),
            then: ticks.again.saturating_mul(2),
            reply: Pieces::default(),
        };
        let number = flight.number;
        self.timers.insert((flight.due, place));
        let before = self.flights.insert(place, flight);
        assert!(before.is_none(), "the slot is free");
        Serial {
            slot: place.slot,
            number,
        }
    }

    /// Hears a piece of the answer to a request; its end, if it is whole and the first.
    pub fn hear(&mut self, from: Name, frame: &Frame<'_>) -> Option<Ended> {
        let place = Place {
            from: frame.head.to,
            to: from,
            slot: frame.head.serial.slot,
        };
        let flight = self.flights.get_mut(&place)?;
        if flight.number != frame.head.serial.number {
            return None;
        }
        let end = if frame.head.kind == Kind::Refusal {
            match End::refusal(frame.head.handler.0)? {
                End::Refused(reason) => Err(Reason::NotRun(reason)),
                End::Panicked => Err(Reason::Unknown(Unknown::Panicked)),
                End::Answered(answer) => Ok(answer),
            }
        } else {
            let payload = flight.reply.add(frame)?;
            // Handler 0 is no handler: a reply to the caller, or none.
            let handler = Some(frame.head.handler).filter(|handler| handler.0 > 0);
            let args = frame.head.args;
            Ok(Answer {
                handler,
                args,
                payload,
            })
        };
        Some(self.end(place, end))
    }

    /// When the next request is to be repeated or given up.
    pub fn due(&self) -> Option<Time> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// The places of requests that are due.
    pub fn overdue(&self, now: Time) -> Vec<Place> {
        let due = self.timers.iter().take_while(|(due, _)| *due <= now);
        due.map(|(_, place)| *place).collect()
    }

    /// Gives up a request that has waited for too long. Otherwise sets when it is repeated next, and returns its
    /// number.
    pub fn repeat(&mut self, place: Place, clock: Clock) -> Result<Serial, Box<Ended>> {
        let Clock { now, ticks } = clock;
        let flight = self.flights.get_mut(&place).expect("it is under way");
        if now.since(flight.began) >= ticks.patience {
            let silent = Err(Reason::Unknown(Unknown::Silent));
            return Err(Box::new(self.end(place, silent)));
        }
        self.timers.remove(&(flight.due, place));
        flight.due = now
            .after(flight.then)
            .min(flight.began.after(ticks.patience));
        flight.then = flight.then.saturating_mul(2);
        self.timers.insert((flight.due, place));
        Ok(Serial {
            slot: place.slot,
            number: flight.number,
        })
    }

    pub fn request(&self, place: Place) -> &Request {
        &self.flights[&place].request
    }

    /// Whether the sender has heard of all requests of an endpoint.
    pub fn is_quiet(&self, from: u32) -> bool {
        !self.ending.contains_key(&from) && self.places(from).next().is_none()
    }

    /// The sender has heard of a request that ended.
    pub fn heard(&mut self, from: u32) {
        let ending = self.ending.get_mut(&from).expect("it has ended");
        *ending -= 1;
        if *ending == 0 {
            self.ending.remove(&from);
        }
    }

    /// The requests of an endpoint that are under way.
    fn places(&self, from: u32) -> impl Iterator<Item = Place> {
        let first = Place {
            from,
            to: Name::default(),
            slot: 0,
        };
        let places = self.flights.range(first..).map(|(place, _)| *place);
        places.take_while(move |place| place.from == from)
    }

    /// Ends all requests of an endpoint.
    pub fn close(&mut self, from: u32) -> Vec<Ended> {
        let places: Vec<Place> = self.places(from).collect();
        let closed = Reason::Unknown(Unknown::Closed);
        let ended = places.into_iter().map(|place| self.end(place, Err(closed)));
        ended.collect()
    }

    fn end(&mut self, place: Place, end: Result<Answer, Reason>) -> Ended {
        let flight = self.flights.remove(&place).expect("it is under way");
        self.timers.remove(&(flight.due, place));
        self.ended(place.from, flight.request, flight.hearer, end)
    }

    /// The end of a request, of which its sender is yet to hear.
    pub fn ended(
        &mut self,
        from: u32,
        request: Request,
        hearer: Hearer,
        end: Result<Answer, Reason>,
    ) -> Ended {
        *self.ending.entry(from).or_default() += 1;
        Ended {
            from,
            request,
            hearer,
            end,
        }
    }
}

/// The frames of a request. Those of a bulk message follow its bytes; when it is repeated, it only asks for its end.
pub(crate) fn frames_of(
    request: &Request,
    from: Name,
    job: Job,
    serial: Serial,
    is_repeated: bool,
) -> Vec<Vec<u64>> {
    let target = request.target.map(Target::to_bytes);
    let kind = match (&target, is_repeated) {
        (None, _) => Kind::Request,
        (Some(_), false) => Kind::Bulk,
        (Some(_), true) => Kind::Query,
    };
    let payload = target.as_ref().unwrap_or(&request.payload);
    let head = Head {
        kind,
        handler: request.handler,
        args: request.args,
        job,
        serial,
        to: request.to.number,
        from: (from.port, from.number),
        bytes: payload.len(),
    };
    head.frames(payload)
}
