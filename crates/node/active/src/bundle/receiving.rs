//! A message or a timer lets a handler run, and frames leave.

use std::sync::Arc;

use node::{Address, Message, Node, Panic, Words, caught};

use super::Bundle;
use crate::bulk::Arrived;
use crate::frame::{Frame, Head, Kind};
use crate::handlers::{Handlers, Token};
use crate::inbound::{End, Step, Whole};
use crate::message::{Answer, Handler, Name, NotRun, Reason, Returned, Unknown};
use crate::outbound::{Ended, Hearer};
use crate::state::{Held, State};

/// A frame on its way out.
pub(crate) type Letter = (Address, Words);

impl Bundle {
    /// Takes a message; returns those to send for it.
    pub(super) fn receive(&self, node: &Node, message: &Message) -> Vec<Letter> {
        let Some(frame) = Frame::read(&message.words) else {
            self.state().change_now(|state| state.counts.foreign += 1);
            return Vec::new();
        };
        let from = frame.sender(message.from);
        match frame.head.kind {
            Kind::Wake | Kind::Bulk => Vec::new(),
            Kind::Request | Kind::Query => self.receive_request(node, from, &frame, None),
            Kind::Reply | Kind::Refusal => {
                let hear = |state: &mut State| state.outbound.hear(from, &frame);
                if let Some(ended) = self.state().change_now(hear) {
                    self.hear(node, ended);
                }
                Vec::new()
            }
        }
    }

    /// Takes a piece of a request; of a bulk message with the bytes that came before it.
    pub(super) fn receive_request(
        &self,
        node: &Node,
        from: Name,
        frame: &Frame<'_>,
        arrived: Option<&mut Arrived>,
    ) -> Vec<Letter> {
        let most = self.shared.settings.most_senders;
        let step = self
            .state()
            .change_now(|state| state.hear(from, frame, most));
        match step {
            Step::Nothing => Vec::new(),
            Step::Again(end) => self.tell(from, &frame.head, end),
            Step::Run(request) => {
                let whole = Held {
                    from,
                    head: frame.head.clone(),
                    request,
                };
                self.run(node, whole, arrived)
            }
        }
    }

    /// Runs a request that is whole; returns the messages that answer it.
    pub(super) fn run(
        &self,
        node: &Node,
        whole: Held,
        arrived: Option<&mut Arrived>,
    ) -> Vec<Letter> {
        let Held {
            from,
            head,
            request,
        } = whole;
        let bulk = arrived.as_ref().map(|arrived| arrived.extent());
        let end = match self.accept(&head, arrived) {
            Ok(handlers) => run(&handlers, &request, Token::new(node, from, bulk)),
            Err(reason) => End::Refused(reason),
        };
        self.state()
            .change_now(|state| state.end(from, &head, end.clone()));
        self.tell(from, &head, end)
    }

    /// The frames that tell the sender of a request its end.
    fn tell(&self, from: Name, request: &Head, end: End) -> Vec<Letter> {
        let (kind, handler, answer) = match (end.number(), end) {
            (None, End::Answered(answer)) => {
                (Kind::Reply, answer.handler.unwrap_or_default(), answer)
            }
            (number, _) => {
                let number = Handler(number.expect("a refusal has a number"));
                (Kind::Refusal, number, Answer::default())
            }
        };
        let head = Head {
            kind,
            handler,
            args: answer.args,
            job: request.job,
            serial: request.serial,
            to: from.number,
            from: (self.shared.here.port, request.to),
            bytes: answer.payload.len(),
        };
        letters(from.address(), head.frames(&answer.payload)).collect()
    }

    /// The handlers of the endpoint that a request is for; puts the bytes of a bulk message in their place.
    fn accept(&self, head: &Head, arrived: Option<&mut Arrived>) -> Result<Arc<Handlers>, NotRun> {
        let target = arrived.as_ref().map(|arrived| arrived.target);
        let find = |state: &State| {
            let entry = state.endpoints.get(head.to as usize);
            let open = entry.filter(|entry| entry.is_open);
            let entry = open.ok_or(NotRun::NoEndpoint)?;
            if entry.job != head.job {
                return Err(NotRun::AnotherJob);
            }
            if entry.handlers.get(head.handler).is_none() {
                return Err(NotRun::NoHandler);
            }
            let region = target.and_then(|target| entry.regions.get(&target.region));
            Ok((Arc::clone(&entry.handlers), region.cloned()))
        };
        let (handlers, region) = self.state().look(find)?;
        if let Some(arrived) = arrived {
            let region = region.ok_or(NotRun::NoMemory)?;
            region
                .lock()
                .take(arrived.target.offset, &mut arrived.memory)?;
        }
        Ok(handlers)
    }

    /// Tells the sender of a request how it ended. A panic of its handlers is kept for [`Bundle::raise`].
    pub(crate) fn hear(&self, node: &Node, ended: Ended) {
        let Ended {
            from,
            request,
            hearer,
            end,
        } = ended;
        let handlers = |state: &State| Arc::clone(&state.endpoints[from as usize].handlers);
        let (handlers, to) = (self.state().look(handlers), request.to);
        let is_known = |answer: &Answer| {
            let handler = answer.handler.filter(|_| hearer == Hearer::Handlers);
            handler.is_none_or(|handler| handlers.get(handler).is_some())
        };
        let end = match end {
            Ok(answer) if !is_known(&answer) => Err(Reason::Unknown(Unknown::NoHandler)),
            end => end,
        };
        let end = end.map_err(|reason| Returned { request, reason });
        let heard = caught(|| match &end {
            _ if hearer != Hearer::Handlers => {}
            Err(returned) => (handlers.returned)(returned),
            Ok(answer) => {
                let run = answer.handler.and_then(|handler| handlers.get(handler));
                if let Some(run) = run {
                    let mut token = Token::of_reply(node, to);
                    run(&mut token, &answer.args, &answer.payload);
                }
            }
        });
        // Waits for the end of this request pass now, after its handler.
        self.state().change_now(|state| {
            state.outbound.heard(from);
            if end.is_ok() {
                state.counts.answered += 1;
            } else {
                state.counts.returned += 1;
            }
            if let Hearer::Caller(call) = hearer {
                state.calls.insert(call, end);
            }
            if let Err(panic) = heard {
                state.panicked.get_or_insert(panic);
            }
        });
    }

    /// Panics as a handler of this task's endpoints did.
    pub(crate) fn raise(&self) {
        if let Some(Panic(text)) = self.state().change_now(|state| state.panicked.take()) {
            panic!("{text}");
        }
    }

    /// Repeats or gives up the requests that are overdue.
    pub(super) fn repeat(&self, node: &Node) -> Vec<Letter> {
        let (here, clock) = (self.shared.here, self.clock(node));
        let is_due = |state: &State| state.outbound.due().is_some_and(|due| due <= clock.now);
        if !self.state().look(is_due) {
            return Vec::new();
        }
        let repeat = |state: &mut State| state.repeat(here, clock);
        let (repeated, ended) = self.state().change_now(repeat);
        for ended in ended {
            self.hear(node, ended);
        }
        let again = repeated.into_iter();
        again
            .flat_map(|request| letters(request.to.address(), request.frames))
            .collect()
    }
}

/// Runs the handler of a request. A bulk message has no payload, but the place of its bytes.
fn run(handlers: &Handlers, request: &Whole, mut token: Token<'_>) -> End {
    let Some(run) = handlers.get(request.handler) else {
        return End::Refused(NotRun::NoHandler);
    };
    let payload = if token.bulk().is_some() {
        &[]
    } else {
        &request.payload[..]
    };
    let ran = caught(|| {
        run(&mut token, &request.args, payload);
        token.end()
    });
    ran.map_or(End::Panicked, End::Answered)
}

pub(crate) fn letters(to: Address, frames: Vec<Vec<u64>>) -> impl Iterator<Item = Letter> {
    let frames = frames.into_iter();
    frames.map(move |words| (to, Words::from(&words[..])))
}
