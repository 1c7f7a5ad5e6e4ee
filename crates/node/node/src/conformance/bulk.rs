//! Bulk on every backend.

use super::{Harness, address};
use crate::{Address, Arrival, Buffer, Pool, Port, Rank};

/// A shipment waits until the receiver lends a buffer; then the sender gets its own back.
pub fn shipments_wait_for_credit(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let port = Port(3);
        if node.rank() == Rank(1) {
            let mut tickets = Vec::new();
            for number in 0..3_u8 {
                let mut buffer = Buffer::heap(100);
                buffer.bytes_mut().fill(number);
                buffer.set_len(50 + number as usize);
                tickets.push(node.ship(address(0, port.0), buffer));
            }
            for ticket in tickets {
                assert_eq!(ticket.wait(&node).await.capacity(), 100);
            }
            return;
        }
        let bulk = node.bind_bulk(port);
        let pool = Pool::new(&node, "receive buffers", vec![Buffer::heap(4096)]);
        for number in 0..3_u8 {
            let (from, buffer) = bulk.accept(&node, &pool).await.unwrap();
            assert_eq!(from, Rank(1));
            assert_eq!(buffer.filled(), vec![number; 50 + number as usize]);
            assert_eq!(pool.idle(), 0);
            pool.give(&node, buffer).await;
        }
    });
}

/// Several lent buffers are filled at once, in the order in which each sender shipped.
pub fn shipments_come_side_by_side(harness: &impl Harness) {
    harness.run(3, |node, _| async move {
        let port = Port(3);
        if node.rank() != Rank(0) {
            for number in 0..4_u8 {
                let buffer = filled(70_000, node.rank().0 as u8 * 16 + number);
                let _buffer = node.ship(address(0, port.0), buffer).wait(&node).await;
            }
            return;
        }
        let bulk = node.bind_bulk(port);
        let lent = (0..8).map(|_| Buffer::heap(70_000)).collect();
        let pool = Pool::new(&node, "receive buffers", lent);
        let mut arrivals = Vec::new();
        for _ in 0..8 {
            arrivals.push(bulk.lend(&node, &pool).await.unwrap());
        }
        let mut next = [0; 3];
        for Arrival {
            from,
            bytes,
            filled: arrival,
        } in arrivals
        {
            assert_eq!(bytes, 70_000);
            let number = &mut next[from.0 as usize];
            let expected = vec![from.0 as u8 * 16 + *number; 70_000];
            *number += 1;
            assert!(arrival.wait(&node).await.filled() == expected);
        }
    });
}

/// Shipments cross in both directions: empty ones, a byte, and more than a network carries at once.
pub fn shipments_of_any_size_cross(harness: &impl Harness) {
    const SIZES: [usize; 6] = [0, 1, 4096, 1 << 20, (9 << 20) + 5, 0];
    harness.run(2, |node, _| async move {
        let port = Port(3);
        let bulk = node.bind_bulk(port);
        let pool = Pool::new(&node, "receive buffers", vec![Buffer::heap(10 << 20)]);
        let other = Rank(1 - node.rank().0);
        let ship = |(number, &bytes)| {
            node.ship(Address { rank: other, port }, filled(bytes, number as u8))
        };
        let tickets: Vec<_> = SIZES.iter().enumerate().map(ship).collect();
        // A small shipment may overtake a large one.
        let mut left = SIZES.to_vec();
        while !left.is_empty() {
            let (from, buffer) = bulk.accept(&node, &pool).await.unwrap();
            assert_eq!(from, other);
            left.remove(
                left.iter()
                    .position(|&bytes| bytes == buffer.len())
                    .unwrap(),
            );
            let number = SIZES
                .iter()
                .position(|&bytes| bytes == buffer.len())
                .unwrap();
            assert!(buffer.filled().iter().all(|&byte| byte == number as u8));
            pool.give(&node, buffer).await;
        }
        for (ticket, bytes) in tickets.into_iter().zip(SIZES) {
            assert_eq!(ticket.wait(&node).await.len(), bytes);
        }
    });
}

/// Of many small messages and shipments from all to all, each arrives once. A short message may
/// overtake a long one.
pub fn every_letter_arrives_once(harness: &impl Harness) {
    const MESSAGES: u64 = 600;
    const SHIPMENTS: u64 = 3;
    harness.run(4, |node, _| async move {
        let (small, large) = (node.bind(Port(1)), node.bind_bulk(Port(2)));
        let sender = node.spawn("sender", |node| async move {
            let mut tickets = Vec::new();
            for number in 0..MESSAGES {
                let words = vec![number; length(number)];
                for rank in (0..node.nodes()).map(Rank) {
                    node.send(address(rank.0, 1), &words).await;
                    if number % (MESSAGES / SHIPMENTS) == 0 {
                        let buffer = filled(length(number), rank.0 as u8);
                        tickets.push(node.ship(address(rank.0, 2), buffer));
                    }
                }
            }
            for ticket in tickets {
                let _buffer = ticket.wait(&node).await;
            }
        });
        let mut heard = vec![[false; 4]; MESSAGES as usize];
        for _ in 0..4 * MESSAGES {
            let message = small.next(&node).await;
            let number = message.words[0];
            assert_eq!(*message.words, vec![number; length(number)]);
            let before = &mut heard[number as usize][message.from.0 as usize];
            assert!(
                !std::mem::replace(before, true),
                "message {number} came twice"
            );
        }
        let lent = vec![Buffer::heap(100), Buffer::heap(100)];
        let pool = Pool::new(&node, "receive buffers", lent);
        for _ in 0..4 * SHIPMENTS {
            let (_, buffer) = large.accept(&node, &pool).await.unwrap();
            assert!(
                buffer
                    .filled()
                    .iter()
                    .all(|&byte| byte == node.rank().0 as u8)
            );
            pool.give(&node, buffer).await;
        }
        sender.wait(&node).await.unwrap();
    });
}

/// Words of a message: lengths vary without an obvious pattern.
fn length(number: u64) -> usize {
    1 + number as usize * 7 % 50
}

fn filled(bytes: usize, byte: u8) -> Buffer {
    let mut buffer = Buffer::heap(bytes);
    buffer.bytes_mut().fill(byte);
    buffer.set_len(bytes);
    buffer
}
