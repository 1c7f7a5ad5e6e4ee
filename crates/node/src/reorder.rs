//! The reorder buffer: messages matched by the step of the program they belong to.
//!
//! Nodes run ahead of each other, so a message of a later step may arrive while a node still works
//! on an earlier one; it is set aside until its step comes (NanoSort, section 5.2). The paper names
//! three places for that:
//!
//! * software: a buffer in memory, as the paper built it. Setting aside is a copy into a slot that
//!   was not touched before: there is one for each message that may come; both are charged
//! * by port: a port of its own for each step, so a queue of its own in the NIC
//! * in the NIC: the same to a program; the machine lets the steps share one queue
//!
//! In software a core that waits for room to send sets aside what comes meanwhile: so nobody waits
//! for ever for one that sends more than its NIC holds. By ports a queue is as long as the NIC made
//! it.

use std::collections::{BTreeMap, VecDeque};

use crate::backend::Target;
use crate::{Address, Group, Message, MessagePort, Node, Port, Rank, Words, Work};

/// Where messages of later steps wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// In a buffer of the program.
    #[default]
    Software,
    /// In ports, one for each step.
    Ports,
}

/// A port, or a range of ports, whose messages are taken by step.
pub struct Reorder {
    first: Port,
    by: By,
}

enum By {
    Software { port: MessagePort, early: Early },
    Ports { bound: BTreeMap<u32, MessagePort> },
}

/// Messages that were set aside: a queue for each step, few of which have any at a time.
#[derive(Default)]
struct Early {
    steps: Vec<(u32, VecDeque<Message>)>,
}

impl Early {
    /// Sets a message aside.
    fn keep(&mut self, node: &Node, step: u32, message: Message) {
        let bytes = message.words.len() as u64 * 8;
        node.work(Work::Load { bytes });
        node.work(Work::Copy { bytes });
        match self.steps.iter_mut().find(|(of, _)| *of == step) {
            Some((_, queue)) => queue.push_back(message),
            None => self.steps.push((step, VecDeque::from([message]))),
        }
    }

    fn take(&mut self, step: u32) -> Option<Message> {
        let at = self.steps.iter().position(|(of, _)| *of == step)?;
        let message = self.steps[at].1.pop_front();
        if self.steps[at].1.is_empty() {
            self.steps.swap_remove(at);
        }
        message
    }
}

impl Reorder {
    /// Owns `first`, and when steps are matched by ports those that follow.
    pub fn new(node: &Node, first: Port, matching: Matching) -> Reorder {
        let by = match matching {
            Matching::Software => By::Software {
                port: node.bind(first),
                early: Early::default(),
            },
            Matching::Ports => By::Ports {
                bound: BTreeMap::new(),
            },
        };
        Reorder { first, by }
    }

    /// Sends `words` as a message of `step`; the receiver has the same ports and matching.
    pub async fn send(&mut self, node: &Node, to: Rank, step: u32, words: &[u64]) {
        let (port, words) = self.frame(step, words);
        self.go_out(node, Target::One(Address { rank: to, port }), &words)
            .await;
    }

    /// As [`Reorder::send`], to every member of a group.
    pub async fn multicast(&mut self, node: &Node, to: Group, step: u32, words: &[u64]) {
        let (port, words) = self.frame(step, words);
        for to in node.targets(to, port, words.len()) {
            self.go_out(node, to, &words).await;
        }
    }

    async fn go_out(&mut self, node: &Node, to: Target, words: &Words) {
        match &mut self.by {
            By::Software { port, early } => {
                while let Some(framed) = node.send_or_next(to, words, port).await {
                    let (step, message) = unframe(&framed);
                    early.keep(node, step, message);
                }
            }
            By::Ports { .. } => node.send_to(to, words).await,
        }
    }

    /// The next message of `step`.
    pub async fn next(&mut self, node: &Node, step: u32) -> Message {
        match &mut self.by {
            By::Software { port, early } => {
                if let Some(message) = early.take(step) {
                    node.work(Work::Copy {
                        bytes: message.words.len() as u64 * 8,
                    });
                    return message;
                }
                loop {
                    let framed = port.next(node).await;
                    let (of, message) = unframe(&framed);
                    if of == step {
                        return message;
                    }
                    early.keep(node, of, message);
                }
            }
            By::Ports { bound } => {
                let port = port_of(self.first, step);
                bound
                    .entry(step)
                    .or_insert_with(|| node.bind(port))
                    .next(node)
                    .await
            }
        }
    }

    /// Where a message of `step` goes, and its words.
    fn frame(&self, step: u32, words: &[u64]) -> (Port, Words) {
        match &self.by {
            By::Software { .. } => (self.first, Words::after(step.into(), words)),
            By::Ports { .. } => (port_of(self.first, step), Words::from(words)),
        }
    }
}

fn port_of(first: Port, step: u32) -> Port {
    let port = u32::from(first.0) + step;
    Port(u16::try_from(port).expect("a program has fewer steps than there are ports"))
}

fn unframe(framed: &Message) -> (u32, Message) {
    let step = framed.words.first().expect("every message names its step");
    let step = u32::try_from(*step).expect("steps are numbered in 32 bits");
    (
        step,
        Message {
            from: framed.from,
            words: framed.words.skip(1),
        },
    )
}
