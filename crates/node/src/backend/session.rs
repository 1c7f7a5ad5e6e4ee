//! A process's membership in a run of several processes.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Network;
use crate::Rank;

/// A [`Network`] with its beginning, its failures and its end: all that a command needs to know of
/// the network that its processes use.
pub trait Session: Network + Any {
    /// Name and version of the library that carries the network, in its words.
    fn library(&self) -> &str;
    /// Sets what happens when the network fails, before every process is ended with exit code 2: to
    /// tell people, and to remove what the run has made. Without it, the failure is printed.
    fn on_failure(&self, hook: Hook);
    /// Sets what happens when a peer sends what no process of this version sends. That peer is
    /// heard no more, and the others are, so that the run can end in good order. Without it, the
    /// network has failed.
    fn on_foreign(&self, hook: Hook);
    /// The peers that have been silent for at least that long, and for how long.
    fn silent(&self, least: Duration) -> Vec<(Rank, Duration)>;
    /// Ends every process of the run with this exit code, now.
    fn abort(&self, code: i32) -> !;
    /// Leaves in good order: all that was posted has gone out, and all processes have come here.
    ///
    /// # Errors
    /// When the network has failed.
    fn end(&self) -> Result<(), NetworkError>;
}

/// Code that the network runs on a thread of its own.
pub type Hook = Box<dyn Fn(&NetworkError) + Send>;

/// A kind of network that processes may have been started for.
#[derive(Clone, Copy, Debug)]
pub struct Transport {
    /// Whether a launcher has started this process as one of several.
    pub is_launched: fn() -> bool,
    /// Joins the other processes; returns when all are here.
    pub join: fn() -> Result<Arc<dyn Session>, NetworkError>,
}

/// Why a network failed; the whole run ends with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkError {
    /// The peer whose letter or line it was, if it was one's.
    pub peer: Option<Rank>,
    /// The failure in words.
    pub what: String,
    /// Whether that peer sent what no process of this version sends.
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

    /// A failure of a peer, or of the line to it.
    pub fn of(peer: u32, what: impl Into<String>) -> NetworkError {
        NetworkError {
            peer: Some(Rank(peer)),
            ..NetworkError::new(what)
        }
    }

    /// A peer that does not keep to the protocol.
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
