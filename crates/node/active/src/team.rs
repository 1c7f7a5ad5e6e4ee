//! Collectives of all nodes, along a tree: barriers, all-reduce, broadcast.
//!
//! ```text
//!   Flat        the root has all others as children
//!   Tree(k)     each node has k
//!   Binomial    the root has log2 n, each of which heads half as many as the one before
//! ```
//!
//! Values go up the tree and are combined on the way, results go down it. All nodes take the same steps in the
//! same order; messages carry their step, so a node that is ahead disturbs nobody, but for the memory of those that
//! it waits for. A node that never comes is waited for. After an error a team is not used again.

use std::collections::BTreeMap;
use std::sync::Arc;

use node::{Mutex, Node, Rank};

use crate::bundle::Bundle;
use crate::endpoint::Endpoint;
use crate::handlers::Handlers;
use crate::message::{Handler, Job, MEDIUM_BYTES, Request, Returned, halves, whole};

/// The tree of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All nodes below the root.
    Flat,
    /// So many children below each node.
    Tree(u32),
    /// A binomial tree.
    Binomial,
}

impl Shape {
    /// The parent of a place, none of the root, which is place 0.
    fn parent(self, place: u32) -> Option<u32> {
        (place > 0).then(|| match self {
            Shape::Flat => 0,
            Shape::Tree(children) => (place - 1) / children.max(1),
            // Without its lowest bit.
            Shape::Binomial => place & (place - 1),
        })
    }

    /// The children of a place among `places`.
    fn children(self, place: u32, places: u32) -> Vec<u32> {
        let children: Vec<u64> = match (self, u64::from(place)) {
            (Shape::Flat, 0) => (1..u64::from(places)).collect(),
            (Shape::Flat, _) => Vec::new(),
            (Shape::Tree(children), place) => {
                let children = u64::from(children.max(1));
                let first = place * children + 1;
                (first..first + children)
                    .take_while(|child| *child < u64::from(places))
                    .collect()
            }
            // One more bit, below the lowest.
            (Shape::Binomial, 0) => (0..32).map(|bit| 1 << bit).collect(),
            (Shape::Binomial, place) => {
                let bits = 0..place.trailing_zeros();
                bits.map(|bit| place | 1 << bit).collect()
            }
        };
        let children = children
            .into_iter()
            .filter_map(|child| u32::try_from(child).ok());
        children.filter(|child| *child < places).collect()
    }
}

/// A value on its way up or down.
const VALUE: Handler = Handler(1);

/// The step, whether it goes up, and the sender.
type Step = (u64, bool, Rank);

/// The part of a node in the collectives of a job.
pub struct Team {
    endpoint: Endpoint,
    shape: Shape,
    step: u64,
    heard: Arc<Mutex<Heard>>,
}

#[derive(Default)]
struct Heard {
    values: BTreeMap<Step, Vec<u8>>,
    returned: Option<Returned>,
}

impl Team {
    /// Takes part. All nodes open their teams in the same order among the endpoints of a bundle.
    pub async fn open(node: &Node, bundle: &Bundle, job: Job, shape: Shape) -> Team {
        let heard = Arc::<Mutex<Heard>>::default();
        let (hears, loses) = (Arc::clone(&heard), Arc::clone(&heard));
        let handlers = Handlers::new()
            .on(VALUE, move |token, args, payload| {
                if let (Some(step), Some(is_up)) = (whole(args), args.get(2)) {
                    let from = (step, *is_up > 0, token.from().rank);
                    hears.lock().values.insert(from, payload.to_vec());
                }
            })
            .on_return(move |returned| loses.lock().returned = Some(returned.clone()));
        let endpoint = bundle.endpoint(node, job, handlers).await;
        Team {
            endpoint,
            shape,
            step: 0,
            heard,
        }
    }

    /// Waits until all nodes have come here.
    ///
    /// # Errors
    /// When a message to another node is returned.
    pub async fn barrier(&mut self, node: &Node) -> Result<(), Returned> {
        self.all_reduce(node, 0, |_, _| 0).await.map(drop)
    }

    /// Combines a value of each node by `fold`, which must not mind their order; all nodes have the result.
    ///
    /// # Errors
    /// When a message to another node is returned.
    pub async fn all_reduce(
        &mut self,
        node: &Node,
        value: u64,
        fold: impl Fn(u64, u64) -> u64,
    ) -> Result<u64, Returned> {
        let mut value = value;
        for child in self.children(node, Rank::ROOT) {
            let theirs = self.hear(node, (self.step, true, child)).await?;
            value = fold(value, number(&theirs));
        }
        if let Some(parent) = self.parent(node, Rank::ROOT) {
            self.tell(node, parent, true, value.to_le_bytes().to_vec())
                .await;
        }
        let all = value.to_le_bytes().to_vec();
        let all = self.broadcast(node, Rank::ROOT, all).await?;
        Ok(number(&all))
    }

    /// The root's bytes on every node; those of others do not count.
    ///
    /// # Errors
    /// When a message to another node is returned.
    pub async fn broadcast(
        &mut self,
        node: &Node,
        root: Rank,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, Returned> {
        let parent = self.parent(node, root);
        let mut all = Vec::new();
        let mut rest = bytes.chunks(MEDIUM_BYTES);
        let children = self.children(node, root);
        loop {
            // A piece that is not full is the last: one may be empty.
            let piece = match parent {
                None => rest.next().unwrap_or_default().to_vec(),
                Some(parent) => self.hear(node, (self.step, false, parent)).await?,
            };
            for child in &children {
                self.tell(node, *child, false, piece.clone()).await;
            }
            self.step += 1;
            all.extend_from_slice(&piece);
            if piece.len() < MEDIUM_BYTES {
                break;
            }
        }
        self.endpoint.quiet(node).await;
        self.heard.lock().returned.take().map_or(Ok(all), Err)
    }

    fn parent(&self, node: &Node, root: Rank) -> Option<Rank> {
        let parent = self.shape.parent(place(node, root));
        parent.map(|place| at(node, root, place))
    }

    fn children(&self, node: &Node, root: Rank) -> Vec<Rank> {
        let children = self.shape.children(place(node, root), node.nodes());
        let ranks = children.into_iter().map(|place| at(node, root, place));
        ranks.collect()
    }

    async fn tell(&self, node: &Node, to: Rank, is_up: bool, bytes: Vec<u8>) {
        let [low, high] = halves(self.step);
        let step = [low, high, is_up.into()];
        let to = self.endpoint.name().at(to);
        let request = Request::new(to, VALUE, &step).with(bytes);
        self.endpoint.request(node, request).await;
    }

    async fn hear(&self, node: &Node, step: Step) -> Result<Vec<u8>, Returned> {
        let has_come = |_: &_| {
            let heard = self.heard.lock();
            heard.values.contains_key(&step) || heard.returned.is_some()
        };
        self.endpoint.bundle().serve_until(node, has_come).await;
        let mut heard = self.heard.lock();
        let value = heard.values.remove(&step);
        value.ok_or_else(|| heard.returned.clone().expect("one of them ended the wait"))
    }
}

/// The place of a node in a tree with this root.
fn place(node: &Node, root: Rank) -> u32 {
    (node.rank().0 + node.nodes() - root.0) % node.nodes()
}

/// The node at a place.
fn at(node: &Node, root: Rank, place: u32) -> Rank {
    Rank((place + root.0) % node.nodes())
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each place but the root has one parent, which comes before it and has it as a child.
    #[test]
    fn every_shape_is_a_tree() {
        for places in 1..40 {
            for shape in [Shape::Flat, Shape::Tree(1), Shape::Tree(3), Shape::Binomial] {
                let mut reached = vec![0; places as usize];
                for place in 0..places {
                    for child in shape.children(place, places) {
                        assert_eq!(shape.parent(child), Some(place));
                        assert!(child > place && child < places);
                        reached[child as usize] += 1;
                    }
                }
                reached[0] += 1;
                assert_eq!(reached, vec![1; places as usize], "{shape:?}");
            }
        }
        assert_eq!(Shape::Binomial.children(0, 16), [1, 2, 4, 8]);
        assert_eq!(Shape::Binomial.children(8, 16), [9, 10, 12]);
    }
}
