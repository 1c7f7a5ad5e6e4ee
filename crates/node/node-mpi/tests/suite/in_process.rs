//! The protocol between sessions within this process: messages and shipments arrive whole and in
//! order, on a wire that refuses unexpected ones.

use node::backend::{Network, Session as _};
use node::{Address, Arrival, Buffer, Pool, Port, Rank};
use node_mpi::{AllToAll, Session};

use crate::sessions;

const SMALL: Port = Port(1);
const BULK: Port = Port(2);

#[test]
fn messages_of_a_sender_keep_their_order() {
    const MESSAGES: u64 = 20_000;
    sessions::run(3, |node| async move {
        let port = node.bind(SMALL);
        let sender = node.spawn("sender", |node| async move {
            for number in 0..MESSAGES {
                for rank in (0..node.nodes()).map(Rank) {
                    let words = vec![number; 1 + (number % 256) as usize];
                    node.send(Address { rank, port: SMALL }, &words).await;
                }
            }
        });
        let mut next = [0; 3];
        for _ in 0..3 * MESSAGES {
            let message = port.next(&node).await;
            let expected = &mut next[message.from.0 as usize];
            assert_eq!(message.words.len(), 1 + (*expected % 256) as usize);
            assert_eq!(message.words[0], *expected);
            *expected += 1;
        }
        sender.wait(&node).await.unwrap();
    });
}

#[test]
fn many_peers_ship_to_all_at_once() {
    const NODES: u32 = 12;
    sessions::run(NODES, |node| async move {
        let bulk = node.bind_bulk(BULK);
        let size = |from: u32, to: u32| (from * 4_000 + to * 100_001) as usize % 3_000_000;
        let me = node.rank().0;
        let mut tickets = Vec::new();
        for to in 0..NODES {
            let mut buffer = Buffer::heap(size(me, to));
            buffer.bytes_mut().fill((me * 16 + to) as u8);
            buffer.set_len(buffer.capacity());
            tickets.push(node.ship(
                Address {
                    rank: Rank(to),
                    port: BULK,
                },
                buffer,
            ));
        }
        let lent = (0..3).map(|_| Buffer::heap(3_000_000)).collect();
        let pool = Pool::new(&node, "receive buffers", lent);
        let mut heard = [false; NODES as usize];
        for _ in 0..NODES / 2 {
            // Two at the same time.
            let arrivals = [
                bulk.lend(&node, &pool).await.unwrap(),
                bulk.lend(&node, &pool).await.unwrap(),
            ];
            for Arrival {
                from,
                filled: arrival,
                ..
            } in arrivals
            {
                let buffer = arrival.wait(&node).await;
                assert_eq!(buffer.len(), size(from.0, me));
                let byte = (from.0 * 16 + me) as u8;
                assert!(buffer.filled().iter().all(|&each| each == byte));
                assert!(!std::mem::replace(&mut heard[from.0 as usize], true));
                pool.give(&node, buffer).await;
            }
        }
        for ticket in tickets {
            assert!(!ticket.wait(&node).await.is_counted());
        }
    });
}

#[test]
fn nothing_is_lost_when_senders_leave_first() {
    let heard = sessions::run(4, |node| async move {
        let to = Address {
            rank: Rank(0),
            port: SMALL,
        };
        if node.rank() != Rank(0) {
            for number in 0..5_000 {
                node.send(to, &[number]).await;
            }
            return 0;
        }
        node.sleep_until(node.now().after(20_000_000)).await;
        let port = node.bind(SMALL);
        let mut sum = 0;
        for _ in 0..15_000 {
            sum += port.next(&node).await.words[0];
        }
        sum
    });
    assert_eq!(heard, [3 * (0..5_000).sum::<u64>(), 0, 0, 0]);
}

#[test]
fn a_shipment_that_no_node_accepts_does_not_block_its_sender() {
    sessions::run(2, |node| async move {
        let to = Address {
            rank: Rank(1 - node.rank().0),
            port: BULK,
        };
        drop(node.ship(to, Buffer::heap(1000)));
    });
}

#[test]
fn a_shipment_is_accepted_after_its_sender_has_ended() {
    sessions::run(2, |node| async move {
        if node.rank() == Rank(1) {
            let mut buffer = Buffer::heap(5 << 20);
            buffer.bytes_mut().fill(7);
            buffer.set_len(5 << 20);
            drop(node.ship(
                Address {
                    rank: Rank(0),
                    port: BULK,
                },
                buffer,
            ));
            return;
        }
        node.sleep_until(node.now().after(20_000_000)).await;
        let bulk = node.bind_bulk(BULK);
        let pool = Pool::new(&node, "receive buffers", vec![Buffer::heap(5 << 20)]);
        let (_, buffer) = bulk.accept(&node, &pool).await.unwrap();
        assert!(buffer.len() == 5 << 20 && buffer.filled().iter().all(|&byte| byte == 7));
    });
}

#[test]
fn a_single_node_has_a_network() {
    sessions::run(1, |node| async move {
        let port = node.bind(SMALL);
        node.send(
            Address {
                rank: Rank(0),
                port: SMALL,
            },
            &[4],
        )
        .await;
        assert_eq!(*port.next(&node).await.words, [4]);
    });
}

/// Strings of several lengths, 0 among them, in several exchanges.
#[test]
fn strings_go_from_every_process_to_every_process() {
    let sessions = Session::in_process(3).unwrap();
    let said = |from: u32, to: u32| vec![(10 * from + to) as u8; (7 * from * to) as usize];
    let run = move |session: Session| {
        let (own, all) = (session.rank().0, session.nodes());
        let strings = |of: &dyn Fn(u32) -> Vec<u8>| -> (Vec<u8>, Vec<usize>) {
            let each: Vec<Vec<u8>> = (0..all).map(of).collect();
            (each.concat(), each.iter().map(Vec::len).collect())
        };
        let (sent, sent_bytes) = strings(&|to| said(own, to));
        let (expected, received_bytes) = strings(&|from| said(from, own));
        let mut all = AllToAll {
            received: vec![0; expected.len()],
            sent,
            sent_bytes,
            received_bytes,
        };
        for _ in 0..3 {
            all.received.fill(0);
            all = session.all_to_all(all).unwrap();
            assert_eq!(all.received, expected);
        }
        session.end().unwrap();
        assert!(session.all_to_all(all).is_err(), "the session has ended");
    };
    let threads: Vec<_> = sessions
        .into_iter()
        .map(|session| std::thread::spawn(move || run(session)))
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}
