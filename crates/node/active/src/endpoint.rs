//! An endpoint: the place where requests come from and go to.

use std::sync::Arc;

use node::{Buffer, Mutex, Node, Ticket};

use crate::bulk::Bulk;
use crate::bundle::{Bundle, letters};
use crate::message::{Answer, Handler, MEDIUM_BYTES, Name, Region, Request, Returned};
use crate::outbound::{Ended, Hearer, Place};
use crate::state::{Begun, Launch, State};

/// An endpoint of a bundle; clones share it, and any task of the node may use them.
#[derive(Clone)]
pub struct Endpoint {
    bundle: Bundle,
    name: Name,
}

/// A slot that is taken, and a payload to fill in place.
///
/// One that is dropped keeps its slot: [`Endpoint::cancel`] gives it back.
#[derive(Debug)]
#[must_use = "a dropped one keeps its slot"]
pub struct Prepared {
    place: Place,
    /// As long as it was asked for, and zero; cut it before it is sent if less is needed.
    pub payload: Vec<u8>,
}

/// The memory of a bulk message on its way.
#[must_use = "a dropped one loses its memory"]
pub struct Leaving(Way);

enum Way {
    Here(Bulk),
    Out(Ticket<Buffer>, usize),
}

impl Leaving {
    /// Waits until the bytes have left, and gives the memory back. Of a message that the other node does not take,
    /// since it has gone or takes none of that length, that never happens.
    pub async fn back(self, node: &Node) -> Bulk {
        match self.0 {
            Way::Here(memory) => memory,
            Way::Out(ticket, bytes) => {
                let mut memory = Bulk::over(ticket.wait(node).await);
                memory.set_len(bytes);
                memory
            }
        }
    }
}

impl Endpoint {
    pub(crate) fn new(bundle: Bundle, name: Name) -> Endpoint {
        Endpoint { bundle, name }
    }

    /// The place to send requests to.
    pub fn name(&self) -> Name {
        self.name
    }

    /// The bundle that serves it.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Sends a request; serves while the window to that endpoint is full. One of a closed endpoint is returned.
    ///
    /// # Panics
    /// When its payload is longer than [`MEDIUM_BYTES`], or it has a target.
    pub async fn request(&self, node: &Node, request: Request) {
        self.launch(node, request, false).await;
    }

    /// As [`Endpoint::request`], but does not wait for the window.
    ///
    /// # Errors
    /// When the window to that endpoint is full: gives the request back.
    ///
    /// # Panics
    /// As [`Endpoint::request`].
    pub async fn try_request(&self, node: &Node, request: Request) -> Result<(), Request> {
        check(&request);
        let (to, window) = (request.to, self.bundle.window());
        let take = |state: &mut State| state.outbound.prepare(self.name.number, to, window);
        let taken = self.bundle.state().change(node, take).await;
        let Some(place) = taken else {
            self.bundle.poll(node).await;
            return Err(request);
        };
        let payload = request.payload;
        let prepared = Prepared { place, payload };
        self.commit(node, prepared, request.handler, &request.args)
            .await;
        Ok(())
    }

    /// Sends a request, and serves until its end.
    ///
    /// # Errors
    /// When it is returned.
    ///
    /// # Panics
    /// As [`Endpoint::request`].
    pub async fn call(&self, node: &Node, request: Request) -> Result<Answer, Returned> {
        let hearer = self.launch(node, request, true).await;
        self.end_of(node, hearer).await
    }

    /// Takes a slot for a request of up to `bytes` bytes (GASNet's negotiated payload); serves while the window is
    /// full.
    ///
    /// # Panics
    /// When there are more than [`MEDIUM_BYTES`].
    pub async fn prepare(&self, node: &Node, to: Name, bytes: usize) -> Prepared {
        check_payload(bytes);
        let window = self.bundle.window();
        let take = |state: &mut State| state.outbound.prepare(self.name.number, to, window);
        let place = self.bundle.drive(node, None, take).await;
        Prepared {
            place: place.expect("a wait without a deadline has an end"),
            payload: vec![0; bytes],
        }
    }

    /// Sends a request that was prepared.
    ///
    /// # Panics
    /// When there are more than [`SHORT_WORDS`](crate::SHORT_WORDS) arguments, or as [`Endpoint::request`].
    pub async fn commit(&self, node: &Node, prepared: Prepared, handler: Handler, args: &[u32]) {
        let Prepared { place, payload } = prepared;
        let request = Request::new(place.to, handler, args).with(payload);
        check(&request);
        let is_call = false;
        let mut launch = Some(Launch { request, is_call });
        node.reach().await;
        let clock = self.bundle.clock(node);
        let begin = |state: &mut State| {
            state.outbound.cancel(place);
            state.begin(place, self.name, &mut launch, clock)
        };
        let begun = self.bundle.state().change_now(begin);
        self.send(node, place.to, begun).await;
    }

    /// Gives the slot of a request back that will not be sent.
    pub async fn cancel(&self, node: &Node, prepared: Prepared) {
        let cancel = |state: &mut State| state.outbound.cancel(prepared.place);
        self.bundle.state().change(node, cancel).await;
        self.bundle.wake_leader(node).await;
    }

    /// Serves until no request of this endpoint is under way.
    pub async fn quiet(&self, node: &Node) {
        let number = self.name.number;
        let is_quiet = |state: &mut State| state.outbound.is_quiet(number).then_some(());
        self.bundle.drive(node, None, is_quiet).await;
    }

    /// Ends the endpoint: its requests are returned, and those to it are refused.
    pub async fn close(&self, node: &Node) {
        let number = self.name.number;
        let close = |state: &mut State| {
            state.endpoints[number as usize].is_open = false;
            state.outbound.close(number)
        };
        for ended in self.bundle.state().change(node, close).await {
            self.bundle.hear(node, ended);
        }
        self.bundle.wake(node).await;
        self.bundle.raise();
    }

    /// Lets others copy bulk messages to this memory, as far as it is filled; returns its number. Tasks and
    /// handlers may lock it to look; no message is copied there meanwhile.
    pub async fn export(&self, node: &Node, memory: &Arc<Mutex<Bulk>>) -> Region {
        let (number, memory) = (self.name.number as usize, Arc::clone(memory));
        let add = |state: &mut State| {
            let entry = &mut state.endpoints[number];
            let region = Region(entry.exported);
            entry.exported += 1;
            entry.regions.insert(region, memory);
            region
        };
        self.bundle.state().change(node, add).await
    }

    /// Ends a region: later messages to it are refused. Its number is not used again.
    pub async fn withdraw(&self, node: &Node, region: Region) {
        let number = self.name.number as usize;
        let remove = |state: &mut State| {
            let regions = &mut state.endpoints[number].regions;
            regions.remove(&region)
        };
        drop(self.bundle.state().change(node, remove).await);
    }

    /// Sends a bulk message to the request's target; serves while the window is full.
    ///
    /// # Panics
    /// When the request has no target, or a payload.
    pub async fn request_bulk(&self, node: &Node, request: Request, memory: Bulk) -> Leaving {
        self.launch_bulk(node, of(request, false), memory).await.1
    }

    /// As [`Endpoint::request_bulk`], and serves until its end; returns the memory with the answer.
    ///
    /// # Errors
    /// When it is returned. The memory is lost then, since the network may hold it.
    ///
    /// # Panics
    /// As [`Endpoint::request_bulk`].
    pub async fn call_bulk(
        &self,
        node: &Node,
        request: Request,
        memory: Bulk,
    ) -> Result<(Answer, Bulk), Returned> {
        let (hearer, leaving) = self.launch_bulk(node, of(request, true), memory).await;
        let answer = self.end_of(node, hearer).await?;
        Ok((answer, leaving.back(node).await))
    }

    async fn launch_bulk(&self, node: &Node, launch: Launch, memory: Bulk) -> (Hearer, Leaving) {
        let (to, bytes) = (launch.request.to, memory.bytes().len());
        assert!(
            launch.request.target.is_some() && launch.request.payload.is_empty(),
            "a bulk message has a target, and bytes of its own"
        );
        let begun = self.begin(node, launch).await;
        if let Some(ended) = begun.ended {
            self.hear(node, ended).await;
            return (begun.hearer, Leaving(Way::Here(memory)));
        }
        let ticket = node.ship(to.bulk(), memory.close(&begun.frames[0]));
        if begun.wakes_leader {
            self.bundle.wake(node).await;
        }
        (begun.hearer, Leaving(Way::Out(ticket, bytes)))
    }

    /// Serves until the end of a call.
    async fn end_of(&self, node: &Node, hearer: Hearer) -> Result<Answer, Returned> {
        let Hearer::Caller(call) = hearer else {
            unreachable!("a call has a caller");
        };
        let ended = self
            .bundle
            .drive(node, None, |state| state.calls.remove(&call));
        ended.await.expect("a wait without a deadline has an end")
    }

    /// Takes a slot for a request, and serves while the window is full.
    async fn begin(&self, node: &Node, launch: Launch) -> Begun {
        let (to, window) = (launch.request.to, self.bundle.window());
        let mut launch = Some(launch);
        let step = |state: &mut State| {
            let place = state.outbound.slot(self.name.number, to, window)?;
            Some(state.begin(place, self.name, &mut launch, self.bundle.clock(node)))
        };
        let begun = self.bundle.drive(node, None, step).await;
        begun.expect("a wait without a deadline has an end")
    }

    async fn launch(&self, node: &Node, request: Request, is_call: bool) -> Hearer {
        check(&request);
        let to = request.to;
        let begun = self.begin(node, of(request, is_call)).await;
        let hearer = begun.hearer;
        self.send(node, to, begun).await;
        hearer
    }

    /// Hears of a request of this task that ended at once.
    async fn hear(&self, node: &Node, ended: Ended) {
        self.bundle.hear(node, ended);
        self.bundle.wake_leader(node).await;
        self.bundle.raise();
    }

    async fn send(&self, node: &Node, to: Name, begun: Begun) {
        if let Some(ended) = begun.ended {
            return self.hear(node, ended).await;
        }
        let letters = letters(to.address(), begun.frames).collect();
        self.bundle.send(node, letters).await;
        if begun.wakes_leader {
            self.bundle.wake(node).await;
        }
    }
}

fn of(request: Request, is_call: bool) -> Launch {
    Launch { request, is_call }
}

fn check(request: &Request) {
    assert!(
        request.target.is_none(),
        "a request with a target is a bulk message"
    );
    check_payload(request.payload.len());
}

fn check_payload(bytes: usize) {
    assert!(
        bytes <= MEDIUM_BYTES,
        "a payload of {bytes} bytes does not fit in a medium message of {MEDIUM_BYTES}"
    );
}
