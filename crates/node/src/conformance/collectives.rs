//! What nodes do together, on every backend.

use super::Harness;
use crate::{Collective, Node, Port, Rank};

/// A string that tells who said it to whom, in which step, of a length that fits no piece.
fn said(from: u32, to: u32, step: usize) -> Vec<u8> {
    let length = [0, 7, 70_000, 200_001][(from as usize + 2 * to as usize + step) % 4];
    let mark = [from as u8, to as u8, step as u8];
    mark.into_iter().cycle().take(length).collect()
}

/// Steps of all kinds, one behind the other: everybody hears what was said to it in that step.
pub fn collectives_keep_their_steps_apart(harness: &impl Harness) {
    harness.run(3, |node, _| async move {
        let (me, all) = (node.rank().0, node.nodes());
        let mut together = Collective::new(&node, Port(9));
        for step in 0..4 {
            let root = Rank(step as u32 % all);
            let mine = (0..all).map(|to| said(me, to, step)).collect();
            let heard = together.all_to_all(&node, mine).await.unwrap();
            assert_eq!(heard, (0..all).map(|from| said(from, me, step)).collect::<Vec<_>>());
            let heard = together.gather(&node, root, said(me, 0, step)).await.unwrap();
            let expected = if me == root.0 { all } else { 0 };
            assert_eq!(heard, (0..expected).map(|from| said(from, 0, step)).collect::<Vec<_>>());
            let heard = together.broadcast(&node, root, said(me, 1, step)).await.unwrap();
            assert_eq!(heard, said(root.0, 1, step));
        }
        leave(&node, &mut together).await;
    });
}

/// Whoever is ahead waits for who is behind, so that nobody leaves with something on its way.
async fn leave(node: &Node, together: &mut Collective) {
    let nothing = vec![Vec::new(); node.nodes() as usize];
    together.all_to_all(node, nothing).await.unwrap();
}
