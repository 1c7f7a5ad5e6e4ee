//! Sending again what no receiver has acknowledged in time.

use super::members::Members;
use super::state::Nic;
use crate::network::fabric::Fabric;
use crate::network::packet::{Kind, Packet};
use crate::profile::GROUP_WORDS;
use crate::schedule::Ticks;

/// How often the timeout of a message may double.
pub(super) const MOST_DOUBLINGS: u8 = 6;

impl Nic {
    /// Sends late messages again; their timeout doubles each time.
    pub(super) fn check_timeouts(&mut self, fabric: &mut Fabric) {
        self.check_at = Ticks::NEVER;
        let timeout = fabric.nic_model().timeout_cycles;
        for number in 0..self.buffers.len() {
            let buffer = &mut self.buffers[number];
            if buffer.waiting == 0 || buffer.late_at > fabric.now() {
                continue;
            }
            buffer.tries = (buffer.tries + 1).min(MOST_DOUBLINGS);
            buffer.late_at = fabric.now() + timeout.doubled(buffer.tries);
            let head = &mut fabric[buffer.head];
            head.kind = head.kind.again();
            let waiting = buffer.waiting & !buffer.held;
            if self.send_to_missing(number, fabric) {
                continue;
            }
            for segment in (0..8).filter(|segment| waiting >> segment & 1 == 1) {
                fabric.counts.resent += 1;
                self.send_segment(number, segment, fabric.now(), fabric);
            }
        }
        let waiting = self.buffers.iter().filter(|buffer| buffer.waiting > 0);
        if let Some(late_at) = waiting.map(|buffer| buffer.late_at).min() {
            self.schedule_check(late_at, fabric);
        }
    }

    /// Sends a late multicast to the members that miss it, one by one; to the group if all of them
    /// do, since one packet was lost then. Returns whether the message has such members.
    fn send_to_missing(&mut self, number: usize, fabric: &mut Fabric) -> bool {
        let Some(Members { group, missing }) = self.buffers[number].members.as_deref() else {
            return false;
        };
        if missing.len() == group.count {
            fabric.counts.resent += 1;
            self.send_segment(number, 0, fabric.now(), fabric);
            return true;
        }
        let rank = |number| group.first.0 + number * group.stride;
        let late: Vec<u32> = missing.iter().map(rank).collect();
        fabric.counts.resent += late.len() as u64;
        for member in late {
            self.send_copy(number, member, fabric.now(), fabric);
        }
        true
    }

    /// Sends the copy of a multicast for one member again.
    pub(super) fn send_copy(
        &mut self,
        number: usize,
        member: u32,
        ready: Ticks,
        fabric: &mut Fabric,
    ) {
        let head = &fabric[self.buffers[number].head];
        let copy = Packet {
            kind: Kind::CopyAgain,
            to: member,
            words: head.words.skip(GROUP_WORDS),
            time: ready,
            ..*head
        };
        let id = fabric.put(copy);
        self.emit(id, fabric);
    }
}
