//! Teams and global memory.

use std::sync::Arc;

use node::conformance::Harness;
use node::{Mutex, Node, Rank};

use super::{JOB, PORT, payload};
use crate::{
    Bundle, Global, GlobalPointer, NoAccess, NotMet, Received, Settings, Shape, Team, TwoSided,
};

/// Steps follow each other without a pause, of values and of strings that need several messages.
pub fn teams_of_every_shape_agree(harness: &impl Harness) {
    harness.run(5, |node, _| async move {
        let bundle = Bundle::open(&node, PORT, Settings::default());
        let me = u64::from(node.rank().0);
        for shape in [Shape::Flat, Shape::Tree(1), Shape::Tree(2), Shape::Binomial] {
            let mut team = Team::open(&node, &bundle, JOB, shape).await;
            assert_eq!(team.all_reduce(&node, 10 * me, u64::max).await, Ok(40));
            assert_eq!(team.all_reduce(&node, me + 1, |a, b| a * b).await, Ok(120));
            for (root, bytes) in (0..5).zip([0, 1, 8192, 8193, 20_000]) {
                let said = if me == root {
                    payload(bytes, root as usize)
                } else {
                    Vec::new()
                };
                let heard = team.broadcast(&node, Rank(root as u32), said).await;
                assert!(heard.unwrap() == payload(bytes, root as usize), "{shape:?}");
            }
            team.barrier(&node).await.unwrap();
        }
        finish(&node, &bundle).await;
    });
}

/// Nobody leaves while another may need an answer.
async fn finish(node: &Node, bundle: &Bundle) {
    let mut team = Team::open(node, bundle, JOB, Shape::Flat).await;
    team.barrier(node).await.unwrap();
}

/// Each node reads, writes and stores in the memory of others, beyond its end as well.
pub fn memory_of_all_nodes_is_reached(harness: &impl Harness) {
    const PART: usize = 10_000;
    harness.run(3, |node, _| async move {
        let bundle = Bundle::open(&node, PORT, Settings::default());
        let (me, nodes) = (node.rank().0, node.nodes());
        let memory = vec![me as u8; 8 * PART];
        let mut global = Global::open(&node, &bundle, JOB, memory).await;
        let at = |rank: u32, part: usize| GlobalPointer {
            rank: Rank(rank % nodes),
            offset: (part * PART) as u64,
        };
        // Part 0 stays as it is; rank r writes part 1 + r.
        let mine = 1 + me as usize;
        global
            .put(&node, at(me + 1, mine), &payload(PART, mine))
            .await;
        global
            .get(&node, at(me + 2, 0), 7 * PART as u64, PART)
            .await;
        global.sync(&node).await.unwrap();
        assert!(global.local(|memory| memory[7 * PART..] == vec![((me + 2) % nodes) as u8; PART]));
        let read = global.read(&node, at(me + 1, mine), PART).await.unwrap();
        assert!(read == payload(PART, mine));
        global
            .write(&node, at(me + 1, mine), &[9; 5])
            .await
            .unwrap();
        let read = global.read(&node, at(me + 1, mine), 6).await.unwrap();
        assert_eq!(read[..5], [9; 5]);
        assert_eq!(read[5], payload(6, mine)[5]);
        for rank in 0..nodes {
            global
                .store(
                    &node,
                    at(rank, 4 + (me as usize)),
                    &payload(PART, 40 + mine),
                )
                .await;
        }
        global.all_store_sync(&node).await.unwrap();
        for from in 0..nodes as usize {
            let begin = (4 + from) * PART;
            let stored =
                |memory: &mut [u8]| memory[begin..begin + PART] == payload(PART, 41 + from);
            assert!(global.local(stored), "of {from}");
        }
        let outside = at(me + 1, 8);
        let expected = NoAccess::Outside(outside);
        assert_eq!(global.read(&node, outside, 1).await, Err(expected.clone()));
        assert_eq!(
            global.write(&node, outside, &[1]).await,
            Err(expected.clone())
        );
        global.put(&node, outside, &[1]).await;
        assert_eq!(global.sync(&node).await, Err(expected));
        assert_eq!(global.sync(&node).await, Ok(()));
        // The target itself waits for a store.
        global.store(&node, at(me + 1, 0), &payload(PART, 3)).await;
        global.store_sync(&node, PART as u64).await;
        assert!(global.local(|memory| memory[..PART] == payload(PART, 3)));
        global.all_store_sync(&node).await.unwrap();
        finish(&node, &bundle).await;
    });
}

/// The longest two-sided message.
const LONG: usize = 200_000;

fn filled(node: &Node, bytes: usize, salt: usize) -> crate::Bulk {
    let mut memory = Bundle::memory(node, LONG).unwrap();
    memory.set_len(bytes);
    memory.bytes_mut().copy_from_slice(&payload(bytes, salt));
    memory
}

/// Short and long messages, before and after their receives, by tag, by sender, and in their order.
pub fn two_sided_messages_meet(harness: &impl Harness) {
    const SIZES: [usize; 7] = [0, 1, 5000, 8191, 8192, LONG, 3];
    harness.run(3, |node, _| async move {
        let bundle = Bundle::open(&node, PORT, Settings::default());
        let messages = TwoSided::open(&node, &bundle, JOB, LONG).await.unwrap();
        let me = node.rank();
        if me != Rank(0) {
            for (number, &bytes) in SIZES.iter().enumerate() {
                let memory = filled(&node, bytes, number + me.0 as usize);
                let tag = number as u32 % 2;
                let back = messages.send(&node, Rank(0), tag, memory).await.unwrap();
                assert_eq!(back.capacity(), LONG);
            }
        } else {
            let memory = Arc::new(Mutex::new(Bundle::memory(&node, LONG).unwrap()));
            // Those of rank 2 in the order in which they were sent, before any of rank 1.
            for (number, bytes) in SIZES.into_iter().enumerate() {
                let tag = number as u32 % 2;
                let (from, wanted) = (Some(Rank(2)), Some(tag).filter(|_| number > 3));
                let received = messages
                    .receive(&node, from, wanted, &memory)
                    .await
                    .unwrap();
                let from = Rank(2);
                assert_eq!(received, Received { from, tag, bytes });
                assert!(
                    memory.lock().bytes() == payload(bytes, number + 2),
                    "{bytes} bytes"
                );
            }
            // A short message is kept, and a later one overtakes it by its tag.
            let received = messages
                .receive(&node, None, Some(1), &memory)
                .await
                .unwrap();
            assert_eq!((received.from, received.bytes), (Rank(1), SIZES[1]));
            for number in [0, 2, 3, 4, 5, 6] {
                let received = messages.receive(&node, None, None, &memory).await.unwrap();
                assert_eq!((received.from, received.bytes), (Rank(1), SIZES[number]));
                assert!(memory.lock().bytes() == payload(SIZES[number], number + 1));
            }
        }
        finish(&node, &bundle).await;
        messages.end(&node).await;
    });
}

/// Both sides of a message that is too long for its receive hear of it.
pub fn two_sided_messages_that_do_not_fit_are_told(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let bundle = Bundle::open(&node, PORT, Settings::default());
        let messages = TwoSided::open(&node, &bundle, JOB, LONG).await.unwrap();
        let little = Arc::new(Mutex::new(Bundle::memory(&node, 100).unwrap()));
        for bytes in [101, 8192, 100] {
            let expected = NotMet::TooLong { bytes };
            if node.rank() == Rank(0) {
                let sent = messages
                    .send(&node, Rank(1), 0, filled(&node, bytes, 0))
                    .await;
                // A short one has left before it is received.
                assert_eq!(
                    sent.map(drop),
                    if bytes < 8192 { Ok(()) } else { Err(expected) }
                );
            } else {
                let received = messages.receive(&node, None, None, &little).await;
                let received = received.map(|received| received.bytes);
                assert_eq!(
                    received,
                    if bytes > 100 {
                        Err(expected)
                    } else {
                        Ok(bytes)
                    }
                );
            }
        }
        finish(&node, &bundle).await;
        messages.end(&node).await;
    });
}
