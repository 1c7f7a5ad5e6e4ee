//! The core that measures: trains of messages and bursts of requests, timed by its clock.

use std::cell::Cell;

use node::{Address, MessagePort, Node, Rank};

use super::PORT;

/// Words of a short message.
pub(super) const SHORT_WORDS: usize = 2;

/// The other core's work on a message, in its first two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Take,
    Reply,
    TakeSlowly { messages: u64, delay: u64 },
    End,
}

impl Order {
    pub(super) fn of(words: &[u64]) -> Order {
        let (first, second) = (words[0], words[1]);
        match first & 3 {
            0 => Order::Take,
            1 => Order::Reply,
            2 => Order::TakeSlowly {
                messages: first >> 2,
                delay: second,
            },
            _ => Order::End,
        }
    }

    fn words(self) -> [u64; SHORT_WORDS] {
        match self {
            Order::Take => [0, 0],
            Order::Reply => [1, 0],
            Order::TakeSlowly { messages, delay } => [messages << 2 | 2, delay],
            Order::End => [3, 0],
        }
    }
}

pub(super) fn at(rank: Rank) -> Address {
    Address { rank, port: PORT }
}

pub(super) struct Meter<'a> {
    pub node: &'a Node,
    /// Ticks before each train: longer than a gap, in which no NIC may send.
    pub rest: Cell<u64>,
    port: MessagePort,
    to: Address,
    pub window: u64,
}

impl Meter<'_> {
    pub(super) fn new(node: &Node, to: Address, window: u32) -> Meter<'_> {
        Meter {
            node,
            rest: Cell::new(0),
            port: node.bind(PORT),
            to,
            window: window.into(),
        }
    }

    async fn send(&self, order: Order, words: usize) {
        let mut all = vec![0; words];
        all[..SHORT_WORDS].copy_from_slice(&order.words());
        self.node.send(self.to, &all).await;
    }

    async fn order(&self, order: Order) {
        self.node.send(self.to, &order.words()).await;
    }

    /// PRTT(n, d, s): from the first of `messages` to the answer to the last.
    pub(super) async fn train(&self, messages: u64, delay: u64, words: usize) -> f64 {
        self.node.compute(self.rest.get());
        let begin = self.node.now();
        for _ in 1..messages {
            self.send(Order::Take, words).await;
            self.node.compute(delay);
        }
        self.send(Order::Reply, words).await;
        self.port.next(self.node).await;
        self.node.now().since(begin) as f64
    }

    /// Ticks to send so many requests, while none is received. Their replies are received afterwards.
    pub(super) async fn sends(&self, messages: u64) -> f64 {
        self.node.compute(self.rest.get());
        let begin = self.node.now();
        for _ in 0..messages {
            self.order(Order::Reply).await;
        }
        let issued = self.node.now().since(begin) as f64;
        for _ in 0..messages {
            self.port.next(self.node).await;
        }
        issued
    }

    /// Ticks to issue so many requests with a time of computing after each, of which at most a window have
    /// no reply; a reply that has come is received before each.
    pub(super) async fn issue(&self, messages: u64, delay: u64) -> f64 {
        let begin = self.node.now();
        let mut under_way = 0;
        for _ in 0..messages {
            let deadline = self.node.now();
            if under_way > 0 && self.port.next_until(self.node, deadline).await.is_some() {
                under_way -= 1;
            }
            if under_way == self.window {
                self.port.next(self.node).await;
                under_way -= 1;
            }
            self.order(Order::Reply).await;
            under_way += 1;
            self.node.compute(delay);
        }
        let issued = self.node.now().since(begin) as f64;
        for _ in 0..under_way {
            self.port.next(self.node).await;
        }
        issued
    }

    /// Ticks that the other core takes to receive a message that has come.
    pub(super) async fn receives(&self, messages: u64, delay: u64, words: usize) -> f64 {
        self.order(Order::TakeSlowly { messages, delay }).await;
        for _ in 0..messages {
            self.send(Order::Take, words).await;
        }
        let answer = self.port.next(self.node).await;
        answer.words[0] as f64 / messages as f64
    }

    pub(super) async fn end(&self) {
        self.order(Order::End).await;
    }
}
