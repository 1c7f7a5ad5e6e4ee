//! The core that answers.

use node::{MessagePort, Node};

use super::PORT;
use super::meter::{Order, at};

/// Does as each message says, until one says that it was the last.
pub(super) async fn answer(node: &Node) {
    let port = node.bind(PORT);
    loop {
        let message = port.next(node).await;
        match Order::of(&message.words) {
            Order::Take => {}
            Order::Reply => node.send(at(message.from), &[0, 0]).await,
            Order::TakeSlowly { messages, delay } => {
                let taken = take_slowly(node, &port, messages, delay).await;
                node.send(at(message.from), &[taken, 0]).await;
            }
            Order::End => return,
        }
    }
}

/// Receives so many further messages, each after a time in which it has come; returns the time without these.
async fn take_slowly(node: &Node, port: &MessagePort, messages: u64, delay: u64) -> u64 {
    let begin = node.now();
    for _ in 0..messages {
        node.compute(delay);
        port.next(node).await;
    }
    node.now().since(begin).saturating_sub(messages * delay)
}
