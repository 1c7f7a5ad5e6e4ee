//! The disks of simulated nodes: where they are mounted, the files on them, and the rates that drives are drawn
//! with.

use std::iter::repeat_n;
use std::path::PathBuf;

use machine::{DiskGroup, DiskModel, Driver, Holds, Server};
use node::{Costs, Random};

/// The stream of random numbers that drives are drawn from.
const DRIVES: u64 = u64::MAX;

/// The disks of a node, as the directories at which they are mounted.
#[derive(Default)]
pub(crate) struct Places {
    pub files: Vec<PathBuf>,
    pub temporary: Vec<PathBuf>,
    inputs: Vec<InputPlace>,
}

/// The input of a disk for files.
struct InputPlace {
    /// Over that of other disks.
    share: f64,
    /// Bytes of the disk outside of it.
    outside: u64,
    /// Bytes of the disk from there on.
    room: u64,
}

/// A file of counted bytes, and its place.
pub(crate) struct CountedFile {
    pub path: PathBuf,
    pub bytes: u64,
    /// Bytes of the disk outside of it.
    pub outside: u64,
    /// Bytes of the disk from there on.
    pub room: u64,
}

impl Places {
    /// The bytes of a node in whole records, as a file on each of its disks for files.
    pub fn inputs(&self, bytes: u64, record: u64) -> Vec<CountedFile> {
        let all: f64 = self.inputs.iter().map(|place| place.share).sum();
        let (records, mut share, mut before) = (bytes / record, 0.0, 0);
        let mut own = |place: &InputPlace| {
            share += place.share;
            let upto = ((records as f64 * share / all).round() as u64).min(records);
            let own = upto - before;
            before = upto;
            own * record
        };
        let disks = self.files.iter().zip(&self.inputs);
        disks
            .map(|(disk, place)| CountedFile {
                path: disk.join("in"),
                bytes: own(place),
                outside: place.outside,
                room: place.room,
            })
            .collect()
    }
}

/// The nodes of a machine with their cores, links and disks, and the places of each node.
pub(crate) fn nodes(server: &Server, seed: u64) -> (Driver, Places) {
    let driver = Driver::with(seed, server.nodes, Costs::default(), DiskModel::default());
    driver.limit_cores(server.node.cores);
    if let Some(network) = &server.network {
        driver.limit_links(network.model());
    }
    let mut places = Places::default();
    for (rank, slowness) in (0..).zip(slowness(server, seed)) {
        let mut slowness = slowness.into_iter();
        let disks = driver.disks(rank);
        places = Places::default();
        let place_of = |name: &Option<String>| {
            let name = name.as_ref()?;
            server.buses.iter().position(|bus| bus.name == *name)
        };
        // They are numbered in their order.
        for bus in &server.buses {
            disks.add_bus(bus.model(), place_of(&bus.on));
        }
        let of_links = server.network.as_ref();
        if let Some(bus) = of_links.and_then(|network| place_of(&network.bus)) {
            driver.pass_bus(rank, bus);
        }
        for (group, holds) in groups(server) {
            let bus = place_of(&group.bus);
            for slow in slowness.by_ref().take(group.count) {
                let (list, kind) = match holds {
                    Holds::Temporary => (&mut places.temporary, "temporary"),
                    Holds::Files | Holds::Both => (&mut places.files, "files"),
                };
                let path = PathBuf::from(format!("/{kind}{}", list.len()));
                let mut device = group.device(bus);
                device.model = slower(device.model, slow);
                disks.mount(&path, device);
                disks.set_capacity_of(&path, group.bytes());
                list.push(path.clone());
                if holds == Holds::Both {
                    places.temporary.push(path);
                }
                if holds != Holds::Temporary {
                    let outside = group.inputs_at.unwrap_or(0.0) * group.bytes() as f64;
                    let outside = outside as u64;
                    let share = group.input_share.unwrap_or(1.0);
                    places.inputs.push(InputPlace {
                        share,
                        outside,
                        room: group.bytes().saturating_sub(outside),
                    });
                }
            }
        }
    }
    (driver, places)
}

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

fn slower(model: DiskModel, times: f64) -> DiskModel {
    let ns = |ns: u64| (ns as f64 * times).round() as u64;
    DiskModel {
        read_ns_per_kib: ns(model.read_ns_per_kib),
        write_ns_per_kib: ns(model.write_ns_per_kib),
        ..model
    }
}
