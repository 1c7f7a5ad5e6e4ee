//! The membership of a process in a run of several processes.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::Network;
use crate::Rank;

/// A [`Network`] as a command holds it: with its failures, its silent peers and its end.
pub trait Session: Network + Any {
    /// Name and version of the library that carries the network, as the library gives them.
    fn library(&self) -> &str;
    /// Sets a hook that runs when the network has failed, before every process ends with exit
    /// code 2: it can report the failure and remove files. Without a hook, the failure is printed.
    fn on_failure(&self, hook: Hook);
    /// Sets a hook that runs when a peer breaks the protocol. The session then ignores that peer
    /// and still hears the others, so that the run can end in good order. Without a hook, the
    /// network has failed.
    fn on_foreign(&self, hook: Hook);
    /// The peers that have been silent for at least `least`, and for how long.
    fn silent(&self, least: Duration) -> Vec<(Rank, Duration)>;
    /// Ends every process of the run with this exit code, now.
    fn abort(&self, code: i32) -> !;
    /// Leaves in good order: returns when every posted letter has left and all processes have made
    /// this call.
    ///
    /// # Errors
    /// When the network has failed.
    fn end(&self) -> Result<(), NetworkError>;
}

/// A callback that the network runs on its own thread.
pub type Hook = Box<dyn Fn(&NetworkError) + Send>;

/// The reason why a network failed, which ends the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkError {
    /// The peer that caused it, or the connection to it failed; `None` for the network itself.
    pub peer: Option<Rank>,
    /// The failure, as a clause for a message.
    pub what: String,
    /// Whether the peer broke the protocol: it runs another version, or another program.
    pub is_foreign: bool,
}

impl NetworkError {
    /// A failure of the network itself.
    pub fn new(what: impl Into<String>) -> NetworkError {
        NetworkError {
            peer: None,
            what: what.into(),
            is_foreign: false,
        }
    }

    /// A failure of a peer, or of the connection to it.
    pub fn of(peer: u32, what: impl Into<String>) -> NetworkError {
        NetworkError {
            peer: Some(Rank(peer)),
            ..NetworkError::new(what)
        }
    }

    /// A peer that broke the protocol.
    pub fn foreign(peer: u32, what: impl Into<String>) -> NetworkError {
        NetworkError {
            is_foreign: true,
            ..NetworkError::of(peer, what)
        }
    }
}

impl fmt::Display for NetworkError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.peer {
            Some(peer) => write!(out, "network, rank {peer}: {}", self.what),
            None => write!(out, "network: {}", self.what),
        }
    }
}

impl Error for NetworkError {}
