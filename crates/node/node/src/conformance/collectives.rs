//! Collectives on every backend.

use super::{Harness, address};
use crate::{Buffer, Collective, Node, Port, Rank, Undelivered};

/// A string that names its sender, receiver and step. No length is a multiple of a piece.
fn said(from: u32, to: u32, step: usize) -> Vec<u8> {
    let length = [0, 7, 70_000, 200_001][(from as usize + 2 * to as usize + step) % 4];
    let mark = [from as u8, to as u8, step as u8];
    mark.into_iter().cycle().take(length).collect()
}

/// In a sequence of all kinds of steps, every node receives the strings of the right step.
pub fn collectives_keep_their_steps_apart(harness: &impl Harness) {
    harness.run(3, |node, _| async move {
        let (me, all) = (node.rank().0, node.nodes());
        let mut together = Collective::new(&node, Port(9));
        for step in 0..4 {
            let root = Rank(step as u32 % all);
            let mine = (0..all).map(|to| said(me, to, step)).collect();
            let heard = together.all_to_all(&node, mine).await.unwrap();
            assert_eq!(
                heard,
                (0..all)
                    .map(|from| said(from, me, step))
                    .collect::<Vec<_>>()
            );
            let heard = together
                .gather(&node, root, said(me, 0, step))
                .await
                .unwrap();
            let expected = if me == root.0 { all } else { 0 };
            assert_eq!(
                heard,
                (0..expected)
                    .map(|from| said(from, 0, step))
                    .collect::<Vec<_>>()
            );
            let heard = together
                .broadcast(&node, root, said(me, 1, step))
                .await
                .unwrap();
            assert_eq!(heard, said(root.0, 1, step));
        }
        leave(&node, &mut together).await;
    });
}

/// Waits for all nodes, so that no node ends before its strings have arrived.
async fn leave(node: &Node, together: &mut Collective) {
    let nothing = vec![Vec::new(); node.nodes() as usize];
    together.all_to_all(node, nothing).await.unwrap();
}

/// The shipments of node 1.
type Said = fn() -> Vec<Buffer>;

/// A piece with this header.
fn piece(step: u64, whole: u64, offset: u64, bytes: usize) -> Buffer {
    let words = [step, whole, offset].into_iter().flat_map(u64::to_le_bytes);
    let bytes: Vec<u8> = words.chain(std::iter::repeat_n(7, bytes)).collect();
    let mut buffer = Buffer::heap(bytes.len());
    buffer.bytes_mut().copy_from_slice(&bytes);
    buffer.set_len(bytes.len());
    buffer
}

/// A piece from another program or version, or from broken memory, is an error that names the
/// sender.
pub fn foreign_pieces_are_refused(harness: &impl Harness) {
    let cases: [(&str, Said); 7] = [
        ("not a piece", || vec![Buffer::heap(0)]),
        ("a piece of step 77", || vec![piece(77, 4, 0, 4)]),
        ("8 bytes at 0 of 4", || vec![piece(0, 4, 0, 8)]),
        ("4 bytes at 4 of 8", || vec![piece(0, 8, 4, 4)]),
        ("4 bytes at 0 of 18446744073709551615", || {
            vec![piece(0, u64::MAX, 0, 4)]
        }),
        ("65541", || {
            vec![piece(0, 65541, 65536, 5), piece(0, 65540, 0, 65536)]
        }),
        ("0 bytes at 0 of 0", || {
            vec![piece(1, 0, 0, 0), piece(1, 0, 0, 0)]
        }),
    ];
    for (message, said) in cases {
        harness.run(2, move |node, _| async move {
            if node.rank() == Rank(1) {
                for buffer in said() {
                    drop(node.ship(address(0, 9), buffer));
                }
                return;
            }
            let mut together = Collective::new(&node, Port(9));
            let end = together.broadcast(&node, Rank(1), Vec::new()).await;
            let end = end.expect_err("it is no part of this step");
            let Undelivered::Foreign { from, ref what } = end else {
                panic!("{end:?}")
            };
            assert_eq!(from, Rank(1));
            assert!(what.contains(message), "{what}");
            assert!(end.to_string().contains("rank 1"), "{end}");
        });
    }
}
