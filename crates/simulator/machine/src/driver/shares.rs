//! Max-min fair shares: no flow can have more without one having less that has no more than it.
//!
//! ```text
//! a > c   b > c   b > d        c receives two flows, so each has a half; b > d has the other half of b
//!
//! a link that leaves its flows no more than their other links do: they keep that  >  the next of the rest  >  ...
//! ```

/// The links of a node: the one on which it sends, and the one on which it receives.
pub(super) fn sends(rank: u32) -> usize {
    2 * rank as usize
}

pub(super) fn receives(rank: u32) -> usize {
    2 * rank as usize + 1
}

#[derive(Clone, Default)]
struct Link {
    /// The part of its rate that no flow has.
    left: f64,
    /// The number of its flows without a share.
    open: usize,
    /// Its flows begin here in [`Shares::members`], and those of the next link follow.
    first: usize,
}

/// The shares of flows, of links that all have the same rate: 1.
#[derive(Default)]
pub(super) struct Shares {
    /// The links of each flow.
    flows: Vec<[usize; 2]>,
    /// The share of each flow; negative while it has none.
    shares: Vec<f64>,
    links: Vec<Link>,
    /// The flows of each link.
    members: Vec<usize>,
    /// The equal part of each open flow of a link; infinite of a link without any.
    parts: Vec<f64>,
    /// Links that may have open flows.
    open: Vec<usize>,
}

impl Shares {
    pub(super) fn begin(&mut self) {
        self.flows.clear();
    }

    pub(super) fn add(&mut self, links: [usize; 2]) {
        self.flows.push(links);
    }

    /// Shares the links between the flows since the beginning, none of which takes more than `most`.
    pub(super) fn fill(&mut self, most: f64) {
        self.list_members();
        self.shares.clear();
        self.shares.resize(self.flows.len(), -1.0);
        let parts = self.links.iter().map(Link::part);
        self.parts.clear();
        self.parts.extend(parts);
        let mut open = std::mem::take(&mut self.open);
        open.clear();
        open.extend(0..self.parts.len());
        let mut settled = true;
        while settled {
            let before = open.len();
            open.retain(|&link| self.parts[link] < most && !self.fills(link));
            settled = open.len() < before;
        }
        self.open = open;
        for flow in 0..self.flows.len() {
            self.settle(flow, most);
        }
    }

    /// The share of the flow that was added as this one, from 0.
    pub(super) fn of(&self, flow: usize) -> f64 {
        self.shares[flow]
    }

    /// The part of a link that no flow has.
    pub(super) fn left(&self, link: usize) -> f64 {
        self.links[link].left
    }

    fn list_members(&mut self) {
        let last = self.flows.iter().flatten().max().map_or(0, |last| last + 1);
        let unused = Link {
            left: 1.0,
            ..Link::default()
        };
        self.links.clear();
        self.links.resize(last + 1, unused);
        for &link in self.flows.iter().flatten() {
            self.links[link].open += 1;
        }
        let mut end = 0;
        for link in &mut self.links {
            end += link.open;
            link.first = end;
        }
        self.members.resize(end, 0);
        for (flow, links) in self.flows.iter().enumerate() {
            for &link in links {
                self.links[link].first -= 1;
                self.members[self.links[link].first] = flow;
            }
        }
    }

    /// Gives the open flows of a link its part, unless another link leaves one of them less. None that another
    /// link settles later can then have less either: the parts of links only grow.
    fn fills(&mut self, link: usize) -> bool {
        let part = self.parts[link];
        let members = self.links[link].first..self.links[link + 1].first;
        let least = members.clone().all(|at| {
            let flow = self.members[at];
            let [sends, receives] = self.flows[flow];
            self.shares[flow] >= 0.0 || self.parts[sends].min(self.parts[receives]) >= part
        });
        if least {
            for at in members {
                self.settle(self.members[at], part);
            }
        }
        least
    }

    fn settle(&mut self, flow: usize, share: f64) {
        if self.shares[flow] >= 0.0 {
            return;
        }
        self.shares[flow] = share;
        for at in self.flows[flow] {
            let link = &mut self.links[at];
            link.open -= 1;
            link.left = (link.left - share).max(0.0);
            self.parts[at] = link.part();
        }
    }
}

impl Link {
    fn part(&self) -> f64 {
        if self.open == 0 {
            return f64::INFINITY;
        }
        self.left / self.open as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares<const N: usize>(routes: [(u32, u32); N], most: f64) -> [f64; N] {
        let mut shares = Shares::default();
        shares.begin();
        for (from, to) in routes {
            shares.add([sends(from), receives(to)]);
        }
        shares.fill(most);
        std::array::from_fn(|flow| shares.of(flow))
    }

    #[test]
    fn flows_that_others_hold_up_leave_the_rest() {
        let routes = [(0, 2), (1, 2), (1, 3)];
        assert_eq!(shares(routes, 9.0), [0.5, 0.5, 0.5]);
        let routes = [(0, 3), (1, 3), (2, 3), (2, 4)];
        let third = 1.0 / 3.0;
        let [a, b, c, rest] = shares(routes, 9.0);
        assert_eq!([a, b, c], [third; 3]);
        assert!((rest - 2.0 * third).abs() < 1e-12);
        assert_eq!(shares(routes, 0.25), [0.25; 4], "as each may take");
        assert_eq!(shares([], 1.0), []);
    }
}
