//! A bundle: the endpoints of a node that are served together (AM-2).
//!
//! Any task may wait in a verb of the bundle. One of them leads: it receives, runs handlers, and repeats
//! requests that were not answered. The others wait for a change of the state; when the leader's own wait is
//! over, one of them leads on.

mod leading;
mod receiving;
mod service;

use std::collections::BTreeMap;
use std::sync::Arc;

use node::{Guarded, MessagePort, Node, Port, Time};

pub(crate) use receiving::letters;
pub use service::BulkService;

use crate::endpoint::Endpoint;
use crate::frame::{Head, Kind, MOST_SLOTS, Serial};
use crate::handlers::Handlers;
use crate::message::{Args, Handler, Job, Name};
use crate::settings::{Clock, Counts, Settings, Ticks};
use crate::state::{Entry, State};

/// The endpoints of a node that share a port; clones share it.
#[derive(Clone)]
pub struct Bundle {
    shared: Arc<Shared>,
}

struct Shared {
    /// The name of its first endpoint.
    here: Name,
    port: MessagePort,
    settings: Settings,
    ticks: Ticks,
    state: Guarded<State>,
}

impl Bundle {
    /// A bundle without endpoints, which owns a port of the node.
    ///
    /// # Panics
    /// When the port has an owner, the window is 0 or above 1,024, or a time is not positive.
    pub fn open(node: &Node, port: Port, settings: Settings) -> Bundle {
        let Settings {
            window,
            again,
            patience,
            ..
        } = settings;
        assert!(
            (1..=MOST_SLOTS).contains(&window),
            "a window of {window}, from 1 to {MOST_SLOTS}"
        );
        assert!(again > 0.0 && patience > 0.0, "times are above zero");
        let here = Name {
            rank: node.rank(),
            port,
            number: 0,
        };
        let ticks = Ticks {
            again: node.ticks(again).max(1),
            patience: node.ticks(patience).max(1),
        };
        let shared = Shared {
            here,
            port: node.bind(port),
            settings,
            ticks,
            state: Guarded::new(node, "active messages", State::default()),
        };
        Bundle {
            shared: Arc::new(shared),
        }
    }

    /// Opens an endpoint, whose number is that of the endpoints opened before it. Requests that came for it before run
    /// now.
    pub async fn endpoint(&self, node: &Node, job: Job, handlers: Handlers) -> Endpoint {
        let entry = Entry {
            job,
            handlers: Arc::new(handlers),
            is_open: true,
            regions: BTreeMap::new(),
            exported: 0,
        };
        let add = |state: &mut State| state.open(entry);
        let (number, held) = self.state().change(node, add).await;
        let letters = held
            .into_iter()
            .flat_map(|whole| self.run(node, whole, None));
        let letters: Vec<_> = letters.collect();
        if !letters.is_empty() {
            self.send(node, letters).await;
            self.wake_leader(node).await;
        }
        let name = Name {
            number,
            ..self.shared.here
        };
        Endpoint::new(self.clone(), name)
    }

    /// Serves until `is_over`, which it asks after each change, and which must not use the bundle. Changes that are
    /// not the bundle's are told by [`Bundle::wake`].
    pub async fn serve_until(&self, node: &Node, mut is_over: impl FnMut(&Counts) -> bool) {
        let step = |state: &mut State| is_over(&state.counts).then_some(());
        self.drive(node, None, step).await;
    }

    /// Serves the messages that have come, and waits for no other.
    pub async fn poll(&self, node: &Node) {
        self.serve_by(node, node.now()).await;
    }

    /// Serves until a time.
    pub async fn serve_by(&self, node: &Node, deadline: Time) {
        self.drive(node, Some(deadline), |_| None::<()>).await;
    }

    /// Lets all waits of this bundle look again.
    pub async fn wake(&self, node: &Node) {
        let here = self.shared.here;
        let head = Head {
            kind: Kind::Wake,
            handler: Handler(0),
            args: Args::default(),
            job: Job(0),
            serial: Serial::default(),
            to: 0,
            from: (here.port, 0),
            bytes: 0,
        };
        self.state().change(node, |_| {}).await;
        for words in head.frames(&[]) {
            node.send(here.address(), &words).await;
        }
    }

    /// The totals so far.
    pub fn counts(&self) -> Counts {
        self.state().look(|state| state.counts)
    }

    pub(crate) fn state(&self) -> &Guarded<State> {
        &self.shared.state
    }

    pub(crate) fn window(&self) -> u16 {
        self.shared.settings.window
    }

    /// The time by which a request that begins now is given up.
    pub(crate) fn patience_from(&self, node: &Node) -> Time {
        node.now().after(self.shared.ticks.patience)
    }

    /// The time on a task's clock, and the times of the settings.
    pub(crate) fn clock(&self, node: &Node) -> Clock {
        Clock {
            now: node.now(),
            ticks: self.shared.ticks,
        }
    }
}
