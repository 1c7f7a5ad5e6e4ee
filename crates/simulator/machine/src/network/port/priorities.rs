//! A window of a link with priorities, arrival by arrival (Homa, SIGCOMM 2018, section 3.4).
//!
//! ```text
//!   control | messages of one packet | longer ones | granted packets   -> the first that waits
//! ```
//!
//! Each priority has a queue. The most urgent packet goes first, without preemption, and one that
//! finds its queue full is refused: nothing is cut to its header.

use std::ops::Range;

use super::full::Queue;
use super::{Line, Model, Port};
use crate::network::packet::PRIORITIES;
use crate::schedule::{Pace, Ticks};

/// The packets that wait, the most urgent first.
pub type Priorities = [Queue; PRIORITIES];

impl Port {
    /// The departures of a window.
    #[cold]
    pub(super) fn run_by_priority(
        &mut self,
        window: &Range<Ticks>,
        model: &Model,
        line: &mut Line,
    ) {
        let mut queues = std::mem::take(&mut line.priorities);
        queues.iter_mut().for_each(Queue::clear);
        for position in 0..line.arrivals.len() {
            let arrival = line.arrivals[position];
            let queue = arrival.priority();
            if position < line.kept {
                queues[queue].push(position, arrival);
                continue;
            }
            let now = window.start + Ticks(arrival.tick());
            // Packets that started before now make room.
            self.send_urgent(now, model.pace, &mut queues, line);
            if self.busy <= now && queues.iter().all(|queue| queue.front().is_none()) {
                self.depart(position as u32, now, model.pace, line);
            } else if queues[queue].flits + u64::from(arrival.flits) <= model.queue_flits {
                queues[queue].push(position, arrival);
            } else {
                line.refused.push(position as u32);
            }
        }
        self.send_urgent(window.end, model.pace, &mut queues, line);
        for queue in &queues {
            line.staying.extend_from_slice(queue.waiting());
        }
        line.priorities = queues;
    }

    /// Sends the packets that start before `until`.
    fn send_urgent(&mut self, until: Ticks, pace: Pace, queues: &mut Priorities, line: &mut Line) {
        while self.busy < until {
            let urgent = queues.iter_mut().find_map(|queue| {
                let position = queue.front()?;
                queue.pop(line.at(position));
                Some(position)
            });
            let Some(position) = urgent else {
                return;
            };
            self.depart(position, self.busy, pace, line);
        }
    }
}
