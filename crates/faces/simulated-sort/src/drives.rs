//! The disks of simulated nodes: the files on them, and the rates that drives are drawn with.

use std::iter::repeat_n;

use machine::{DiskGroup, DiskModel, Holds, Server};
use node::Random;

/// The stream of random numbers that drives are drawn from.
const DRIVES: u64 = u64::MAX;

/// The groups of a node's disks, and the files on them: temporary files lie beside the others where no disk is
/// for them.
pub(crate) fn groups(server: &Server) -> impl Iterator<Item = (&DiskGroup, Holds)> + Clone {
    let has_place = server.disks.iter().any(|group| group.holds != Holds::Files);
    let holds = move |group: &DiskGroup| if has_place { group.holds } else { Holds::Both };
    server.disks.iter().map(move |group| (group, holds(group)))
}

/// The time of each drive for a byte over the mean of its group: for each node, in the order of its disks.
pub(crate) fn slowness(server: &Server, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::stream(seed, DRIVES);
    let groups = || server.disks.iter();
    let spreads = || groups().flat_map(|group| repeat_n(group.spread, group.count));
    let nodes = 0..server.nodes;
    nodes
        .map(|_| {
            spreads()
                .map(|spread| 1.0 / drawn(spread, &mut random))
                .collect()
        })
        .collect()
}

/// The rate of a drive over the mean: normal, with that deviation, but at least half.
fn drawn(spread: Option<f64>, random: &mut Random) -> f64 {
    let Some(spread) = spread else { return 1.0 };
    // A sum of twelve uniform numbers is nearly normal, with variance 1.
    let unit = |random: &mut Random| (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let normal: f64 = (0..12).map(|_| unit(random)).sum::<f64>() - 6.0;
    (1.0 + spread * normal).max(0.5)
}

pub(crate) fn slower(model: DiskModel, times: f64) -> DiskModel {
    let ns = |ns: u64| (ns as f64 * times).round() as u64;
    DiskModel {
        read_ns_per_kib: ns(model.read_ns_per_kib),
        write_ns_per_kib: ns(model.write_ns_per_kib),
        ..model
    }
}
