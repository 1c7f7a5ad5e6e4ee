//! The load of a run: its messages, its computation and its memory on the computer that simulates.
//!
//! Before a long run the load gives an estimate, and while it lasts the messages give the part that
//! is done. The numbers of messages follow from the programs; bytes and steps were measured.
//! Programs need not be exact: a factor of two is enough.

/// The load of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Messages that all ranks receive; a multicast counts once per member.
    pub received: u64,
    /// Steps of computation, of about a nanosecond each, in the program and its check.
    pub steps: u64,
    /// Bytes of memory while the run is at its largest, without the process itself.
    pub bytes: u64,
}

impl Load {
    /// The load of messages alone, on ranks of that many bytes each.
    pub(crate) fn of_messages(received: u64, ranks: u32, bytes_of_a_rank: u64) -> Load {
        Load {
            received,
            steps: 0,
            bytes: u64::from(ranks).saturating_mul(bytes_of_a_rank),
        }
    }

    /// The load with steps and bytes besides those of messages.
    pub(crate) fn and(self, steps: u64, bytes: u64) -> Load {
        Load {
            steps: self.steps.saturating_add(steps),
            bytes: self.bytes.saturating_add(bytes),
            ..self
        }
    }

    /// The load as one number, in messages: one takes about a microsecond.
    pub fn cost(self) -> u64 {
        self.received.saturating_add(self.steps / 1000).max(1)
    }
}
