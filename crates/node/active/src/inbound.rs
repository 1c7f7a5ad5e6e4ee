//! Requests as their receiver sees them: each runs at most once, and has one answer for good.

use std::collections::BTreeMap;

use crate::frame::{Frame, Pieces, Serial};
use crate::message::{Answer, Args, Handler, Name, NotRun};

/// How a request ended at its receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Answered(Answer),
    Refused(NotRun),
    Panicked,
}

/// The endings that travel as the number of a refusal.
const REFUSALS: [End; 6] = [
    End::Refused(NotRun::NoEndpoint),
    End::Refused(NotRun::AnotherJob),
    End::Refused(NotRun::NoHandler),
    End::Refused(NotRun::Crowded),
    End::Refused(NotRun::NoMemory),
    End::Panicked,
];

impl End {
    /// The number of a refusal, none of an answer.
    pub fn number(&self) -> Option<u8> {
        let at = REFUSALS.iter().position(|refusal| refusal == self)?;
        Some(at as u8)
    }

    /// Whether the handler began to run.
    pub fn has_run(&self) -> bool {
        !matches!(self, End::Refused(_))
    }

    /// The refusal of a number.
    pub fn refusal(number: u8) -> Option<End> {
        REFUSALS.get(usize::from(number)).cloned()
    }
}

/// A request that is whole.
#[derive(Debug)]
pub(crate) struct Whole {
    pub handler: Handler,
    pub args: Args,
    pub payload: Vec<u8>,
}

/// The next step about a piece of a request.
#[derive(Debug)]
pub(crate) enum Step {
    /// It is late, or not the last piece.
    Nothing,
    /// It is whole, for the first time.
    Run(Whole),
    /// It has ended before.
    Again(End),
}

/// The slots of one sender.
#[derive(Debug, Default)]
pub(crate) struct Inbound {
    slots: BTreeMap<u16, Slot>,
}

/// The last request that was heard in a slot.
#[derive(Debug)]
struct Slot {
    number: u64,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Coming(Pieces),
    Running,
    Ended(End),
}

impl Inbound {
    pub fn hear(&mut self, frame: &Frame<'_>) -> Step {
        let Serial { slot, number } = frame.head.serial;
        let fresh = || Slot {
            number,
            stage: Stage::Coming(Pieces::default()),
        };
        let place = self.slots.entry(slot).or_insert_with(fresh);
        // The sender has done with an older request, since it uses the slot again.
        if number < place.number {
            return Step::Nothing;
        }
        if number > place.number {
            *place = fresh();
        }
        match &mut place.stage {
            Stage::Coming(pieces) => {
                let Some(payload) = pieces.add(frame) else {
                    return Step::Nothing;
                };
                place.stage = Stage::Running;
                Step::Run(Whole {
                    handler: frame.head.handler,
                    args: frame.head.args,
                    payload,
                })
            }
            Stage::Running => Step::Nothing,
            // Once for all pieces of a repeated request.
            Stage::Ended(end) if frame.is_last_piece() => Step::Again(end.clone()),
            Stage::Ended(_) => Step::Nothing,
        }
    }

    /// The end of a bulk message, if it has come and ended.
    pub fn query(&self, serial: Serial) -> Step {
        let slot = self.slots.get(&serial.slot);
        match slot.filter(|place| place.number == serial.number) {
            Some(Slot {
                stage: Stage::Ended(end),
                ..
            }) => Step::Again(end.clone()),
            _ => Step::Nothing,
        }
    }

    /// Keeps the end of a request until its slot is used again.
    pub fn end(&mut self, serial: Serial, end: End) {
        let place = self.slots.get_mut(&serial.slot);
        if let Some(place) = place.filter(|place| place.number == serial.number) {
            place.stage = Stage::Ended(end);
        }
    }
}

/// All that a bundle has heard, by its endpoint's number and the sender. Nothing is forgotten with an endpoint:
/// a request that ran before it was closed must not be refused after it.
pub(crate) type Senders = BTreeMap<(u32, Name), Inbound>;
