//! The reorder buffer: matches messages to the program step that they belong to.
//!
//! Nodes run ahead of each other, so a message of a later step may arrive while a node still works
//! on an earlier one. It is set aside until its step begins (NanoSort, section 5.2). The paper
//! names three places for that:
//!
//! * software: a buffer in memory, as in the paper. Setting a message aside costs a copy and the
//!   load of a slot that is not in the cache, since each message has its own slot
//! * ports: one port per step, and so one queue per step in the NIC
//! * the NIC: for a program the same as ports; the machine lets the steps share one queue
//!
//! With the software buffer, a core that waits for room to send receives meanwhile and sets those
//! messages aside. So two nodes that both send more than a NIC holds do not wait for each other
//! forever. With ports, the length of a queue is the NIC's.

use std::collections::{BTreeMap, VecDeque};

use crate::backend::Target;
use crate::{Address, Group, Message, MessagePort, Node, Port, Rank, Words, Work};

/// The place where messages of later steps wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// In a buffer of the program.
    #[default]
    Software,
    /// In the queues of ports, one port per step.
    Ports,
}

/// A port, or a range of ports, whose messages are received by step.
pub struct Reorder {
    first: Port,
    by: By,
}

enum By {
    Software { port: MessagePort, early: Early },
    Ports { bound: BTreeMap<u32, MessagePort> },
}

/// Messages that were set aside, by step. Few steps have any at a time.
#[derive(Default)]
struct Early {
    steps: Vec<(u32, VecDeque<Message>)>,
}

impl Early {
    fn keep(&mut self, node: &Node, step: u32, message: Message) {
        let bytes = message.words.len() as u64 * 8;
        node.work(Work::Load { bytes });
        node.work(Work::Copy { bytes });
        match self.steps.iter_mut().find(|(of, _)| *of == step) {
            Some((_, queue)) => queue.push_back(message),
            None => self.steps.push((step, VecDeque::from([message]))),
        }
    }

    /// A message of one of the steps that are `wanted`.
    fn take(&mut self, wanted: impl Fn(u32) -> bool) -> Option<(u32, Message)> {
        let at = self.steps.iter().position(|(of, _)| wanted(*of))?;
        let (step, queue) = &mut self.steps[at];
        let taken = queue.pop_front().map(|message| (*step, message));
        if queue.is_empty() {
            self.steps.swap_remove(at);
        }
        taken
    }

    /// The next message that is wanted: one that was set aside, or the first to arrive.
    async fn next(
        &mut self,
        node: &Node,
        port: &MessagePort,
        wanted: impl Fn(u32) -> bool,
    ) -> (u32, Message) {
        if let Some(early) = self.take_out(node, &wanted) {
            return early;
        }
        loop {
            let framed = port.next(node).await;
            if let Some(wanted) = self.sort_out(node, framed, &wanted) {
                return wanted;
            }
        }
    }

    /// As [`Early::next`], if it is here.
    async fn ready(
        &mut self,
        node: &Node,
        port: &MessagePort,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(u32, Message)> {
        if let Some(early) = self.take_out(node, &wanted) {
            return Some(early);
        }
        loop {
            let framed = port.next_until(node, node.now()).await?;
            if let Some(wanted) = self.sort_out(node, framed, &wanted) {
                return Some(wanted);
            }
        }
    }

    fn take_out(&mut self, node: &Node, wanted: impl Fn(u32) -> bool) -> Option<(u32, Message)> {
        let (step, message) = self.take(wanted)?;
        let bytes = message.words.len() as u64 * 8;
        node.work(Work::Copy { bytes });
        Some((step, message))
    }

    /// A message that is wanted; another one is set aside.
    #[inline(always)] // Every message passes here, and would be copied once more.
    fn sort_out(
        &mut self,
        node: &Node,
        framed: Message,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(u32, Message)> {
        let (step, message) = unframe(framed);
        if wanted(step) {
            return Some((step, message));
        }
        self.keep(node, step, message);
        None
    }
}

impl Reorder {
    /// Owns the port `first` and, with [`Matching::Ports`], as many following ports as there are
    /// steps.
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

    /// Sends `words` as a message of `step`. The receiver must use the same ports and matching.
    pub async fn send(&mut self, node: &Node, to: Rank, step: u32, words: &[u64]) {
        let (port, words) = self.frame(step, words);
        let to = Target::One(Address { rank: to, port });
        self.go_out(node, to, &words).await;
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
                while let Some(framed) = node.send_to_or_next(to, words, port).await {
                    let (step, message) = unframe(framed);
                    early.keep(node, step, message);
                }
            }
            By::Ports { .. } => node.send_to(to, words).await,
        }
    }

    /// Receives the next message of `step`.
    pub async fn next(&mut self, node: &Node, step: u32) -> Message {
        match &mut self.by {
            By::Software { port, early } => early.next(node, port, |of| of == step).await.1,
            By::Ports { bound } => {
                let bind = || node.bind(port_of(self.first, step));
                bound.entry(step).or_insert_with(bind).next(node).await
            }
        }
    }

    /// Receives the next message of any of the steps that are `wanted`, and tells which.
    ///
    /// # Panics
    /// With [`Matching::Ports`]: a task waits for one port at a time.
    pub async fn next_of(&mut self, node: &Node, wanted: impl Fn(u32) -> bool) -> (u32, Message) {
        match &mut self.by {
            By::Software { port, early } => early.next(node, port, wanted).await,
            By::Ports { .. } => panic!("steps with ports of their own are awaited one by one"),
        }
    }

    /// As [`Reorder::next_of`], but only a message that is here.
    ///
    /// # Panics
    /// With [`Matching::Ports`]: a task waits for one port at a time.
    pub async fn ready_of(
        &mut self,
        node: &Node,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(u32, Message)> {
        match &mut self.by {
            By::Software { port, early } => early.ready(node, port, wanted).await,
            By::Ports { .. } => panic!("steps with ports of their own are awaited one by one"),
        }
    }

    /// The port and the words of a message of `step`.
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

#[inline(always)]
fn unframe(mut message: Message) -> (u32, Message) {
    let step = message.words.take_first();
    let step = step.expect("every message names its step");
    let step = u32::try_from(step).expect("steps are numbered in 32 bits");
    (step, message)
}
