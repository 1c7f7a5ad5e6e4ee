//! A simulated cluster: programs on nanosecond cores, their NICs, and the network between them.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use node::Node;

use crate::Profile;
use crate::report::{Report, RunError};
use crate::setting::{Setting, SetupError};

/// A machine that is ready to run programs.
pub struct Cluster {
    profile: Profile,
    setting: Setting,
    watch: Arc<Watch>,
}

/// A run as others see it while it goes on.
#[derive(Debug, Default)]
pub struct Watch {
    /// How far the slowest block is, in ticks.
    pub ticks: AtomicU64,
    /// Messages received so far.
    pub received: AtomicU64,
    /// Set to end the run.
    pub stop: AtomicBool,
}

/// What a run gives.
#[derive(Debug)]
pub struct Outcome<T> {
    /// What each rank's program returned, in the order of ranks.
    pub answers: Vec<T>,
    /// What the machine counted.
    pub report: Report,
}

impl Cluster {
    /// A machine of this profile.
    ///
    /// # Errors
    /// When the topology does not hold so many ranks.
    pub fn new(profile: Profile, setting: Setting) -> Result<Cluster, SetupError> {
        setting.check(&profile)?;
        Ok(Cluster { profile, setting, watch: Arc::default() })
    }

    /// For looking at a run while it goes on.
    pub fn watch(&self) -> Arc<Watch> {
        Arc::clone(&self.watch)
    }

    /// Runs `program` on every rank to its end.
    ///
    /// # Errors
    /// When tasks wait for what never comes, or one panics.
    pub fn run<T, P, Task>(&self, program: P) -> Result<Outcome<T>, RunError>
    where
        T: Send + 'static,
        P: Fn(Node) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = T> + 'static,
    {
        let _ = (program, &self.profile, &self.setting, &self.watch);
        todo!("the engine")
    }
}
