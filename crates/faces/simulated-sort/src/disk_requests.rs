//! The program `disk-requests`: files read or written on the disks of a machine, without a sort.
//!
//! ```text
//! a disk     | outside of --at | file 0 | file 1 | file 2 | ...
//! a round    one request behind the last of each file, in an order drawn anew
//! ```
//!
//! The requests are those with which `gristmill-bench disk` and `gristmill doctor --measure` measure real disks.

use std::path::Path;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use grain::{Verdict, described};
use lab::{Course, Listing, OnDriver};
use machine::Server;
use node::{DiskError, Node, Open, Random, Requests, Way};
use serde::Serialize;
use units::amount;

use crate::drives::{CountedFile, Places, nodes};
use crate::foreign_plan;
use crate::server_options::ServerOptions;

/// Bytes of memory that a node takes, about.
const BYTES_OF_A_NODE: u64 = 1 << 20;

/// Bytes of a file, or of a request in flight, in memory, about.
const BYTES_OF_EACH: u64 = 256;

/// Bytes of a disk block: requests past a cache are whole ones.
const BLOCK: u64 = foreign_plan::BLOCK as u64;

/// Most requests of all nodes: each is two events.
const MOST_REQUESTS: f64 = 1e8;

/// Most files of a disk, and requests in flight to it.
const MOST_OF_A_DISK: u32 = 1 << 16;

/// The most bytes of a node, and of a request, in millions: requests to all files of a disk are below 2^64 bytes.
const MOST_MB: f64 = 1e9;
const MOST_MB_OF_A_REQUEST: f64 = 1e6;

/// The kind of all requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// They read
    Read,
    /// They write
    Write,
}

/// Read or write files on the disks of a machine, without a sort.
///
/// The disks are those for inputs and outputs. The files of a disk lie side by side. Requests go to all of them in turn,
/// in an order that each round draws, behind the last one of its file: one file is read or written in order. Each disk has
/// the share of the bytes that it has of a sort's input, in whole rounds. The figure is the rate of a node's disks
/// together, until the last one has ended, in MB/s.
#[derive(Args, Clone, Debug, Serialize)]
struct DiskRequests {
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    seed: u64,
    #[command(flatten)]
    #[serde(flatten)]
    on: ServerOptions,
    /// Whether requests read or write
    #[arg(long, value_enum, default_value_t = Kind::Read)]
    kind: Kind,
    /// Millions of bytes to move, of each node
    #[arg(long, value_name = "MB", default_value_t = 1000.0)]
    node_mb: f64,
    /// Thousands of bytes of a request, in whole disk blocks of 4,096 bytes
    #[arg(long, value_name = "KB", default_value_t = 1000.0)]
    request_kb: f64,
    /// Requests in flight to each disk
    #[arg(long, value_name = "N", default_value_t = 1)]
    depth: u32,
    /// Files on each disk
    #[arg(long, value_name = "N", default_value_t = 1)]
    files: u32,
}

described! { DiskRequests is "disk-requests" on 1 cores;
    "--server tritonsort-2011 --kind write --files 315 --request-kb 14000 --node-mb 50000"
}

impl DiskRequests {
    fn server(&self, nodes: u32) -> Result<Server, String> {
        let (server, of_plan) = self.on.load(nodes)?;
        if let Some(change) = of_plan.first() {
            return Err(format!("--set {change}: there is no plan here"));
        }
        server.checked().map_err(|error| error.to_string())?;
        Ok(server)
    }

    fn request_bytes(&self) -> u64 {
        let blocks = (self.request_kb * 1e3 / BLOCK as f64).round() as u64;
        blocks.max(1) * BLOCK
    }

    /// The files of each disk, side by side as one.
    fn counted_files(&self, server: &Server, places: &Places) -> Result<Vec<CountedFile>, String> {
        let mut files = places.inputs((self.node_mb * 1e6) as u64, 1);
        for file in &mut files {
            file.bytes = file.bytes.next_multiple_of(self.round_bytes());
            if file.bytes > file.room {
                return Err(format!(
                    "{}: a disk has room for {} there, and its files would have {}: take fewer --node-mb or --files",
                    server.name,
                    amount(file.room),
                    amount(file.bytes)
                ));
            }
        }
        Ok(files)
    }

    /// Bytes of a request to each file of a disk.
    fn round_bytes(&self) -> u64 {
        u64::from(self.files) * self.request_bytes()
    }

    /// Moves all bytes; returns the ticks of the slowest node, and the bytes of each.
    fn measure(&self, nodes_of_machine: u32) -> Result<(u64, u64), String> {
        let server = self.server(nodes_of_machine)?;
        let (driver, places) = nodes(&server, self.seed);
        driver.go_on();
        let files = self.counted_files(&server, &places)?;
        for rank in 0..server.nodes {
            let disks = driver.disks(rank);
            for file in &files {
                disks.put_counted_behind(file.outside, &file.path, file.bytes);
            }
        }
        let all = files.iter().map(|file| file.bytes).sum();
        let (requests, files) = (self.clone(), Arc::new(files));
        let ended = driver.run(move |node| {
            let (requests, files) = (requests.clone(), Arc::clone(&files));
            async move { requests.on_disks(&node, &files).await }
        });
        let ended = ended.map_err(|stuck| stuck.to_string())?;
        let ends: Result<Vec<u64>, DiskError> = ended.into_iter().collect();
        let ends = ends.map_err(|error| error.to_string())?;
        Ok((ends.into_iter().max().unwrap_or(0), all))
    }

    /// All requests of a node, those of each disk by a task; when the last one has ended.
    async fn on_disks(&self, node: &Node, files: &[CountedFile]) -> Result<u64, DiskError> {
        let mut disks = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let (requests, path, bytes) = (self.clone(), file.path.clone(), file.bytes);
            let random = Random::stream(self.seed, number as u64);
            disks.push(node.spawn("disk", move |node| async move {
                requests.on_a_disk(&node, &path, bytes, random).await
            }));
        }
        for disk in disks {
            disk.wait(node)
                .await
                .unwrap_or_else(|panic| panic!("{}", panic.0))?;
        }
        Ok(node.now().0)
    }

    async fn on_a_disk(
        &self,
        node: &Node,
        path: &Path,
        bytes: u64,
        random: Random,
    ) -> Result<(), DiskError> {
        let way = match self.kind {
            Kind::Read => Way::Read,
            Kind::Write => Way::Write,
        };
        let file = node.open(path, Open::Again { direct: true }).await?;
        let requests = Requests::counted(way, self.request_bytes() as usize, self.depth as usize);
        requests
            .run(node, &file, self.offsets(bytes, random))
            .await?;
        file.sync(node).await
    }

    /// The offsets of requests: in each round one of each file, in an order that is drawn.
    fn offsets(&self, bytes: u64, mut random: Random) -> impl Iterator<Item = u64> {
        let (request, a_round) = (self.request_bytes(), self.round_bytes());
        let rounds = bytes / a_round;
        let mut order: Vec<u64> = (0..u64::from(self.files)).collect();
        (0..rounds).flat_map(move |round| {
            for left in (1..order.len()).rev() {
                order.swap(left, random.below(left + 1));
            }
            let of_a_file = move |file: &u64| (file * rounds + round) * request;
            order.iter().map(of_a_file).collect::<Vec<_>>()
        })
    }
}

impl OnDriver for DiskRequests {
    fn objection(&self, cores: u32) -> Option<String> {
        let sizes = [
            ("--node-mb", self.node_mb, MOST_MB),
            ("--request-kb", self.request_kb / 1e3, MOST_MB_OF_A_REQUEST),
        ];
        let mut wrong = sizes
            .iter()
            .filter(|(_, mb, most)| !(1e-6..=*most).contains(mb));
        if let Some((name, _, most)) = wrong.next() {
            return Some(format!(
                "{name}: give at least a byte and at most {}",
                amount((most * 1e6) as u64)
            ));
        }
        let counts = [("--depth", self.depth), ("--files", self.files)];
        let is_count = |count: u32| (1..=MOST_OF_A_DISK).contains(&count);
        if let Some((name, count)) = counts.into_iter().find(|(_, count)| !is_count(*count)) {
            return Some(format!("{name} {count}: give 1 to {MOST_OF_A_DISK}"));
        }
        let server = match self.server(cores) {
            Ok(server) => server,
            Err(why) => return Some(why),
        };
        let disks: usize = server.disks.iter().map(|disks| disks.count).sum();
        let of_a_node = self.node_mb * 1e3 / self.request_kb + disks as f64 * f64::from(self.files);
        let requests = of_a_node * f64::from(cores);
        (requests > MOST_REQUESTS).then(|| {
            format!("{requests:.0} requests: at most {MOST_REQUESTS:.0}; give fewer --node-mb, or a larger --request-kb")
        })
    }

    fn bytes(&self, cores: u32) -> u64 {
        let disks = self.server(cores).map_or(0, |server| {
            server.disks.iter().map(|disks| disks.count as u64).sum()
        });
        let of_a_disk = BYTES_OF_EACH * u64::from(self.files + self.depth);
        u64::from(cores) * (BYTES_OF_A_NODE + disks * of_a_disk)
    }

    fn run(&self, cores: u32) -> Course {
        let (ticks, verdict) = match self.measure(cores) {
            Ok((ticks, bytes)) => {
                let mb_s = bytes as f64 * 1e3 / ticks as f64;
                let told = format!("{} of a node at {mb_s:.1} MB/s", amount(bytes));
                let verdict = Verdict {
                    figure: Some(mb_s),
                    ..Verdict::new(told, None)
                };
                (ticks, verdict)
            }
            Err(why) => (0, Verdict::new("refused".to_owned(), Some(why))),
        };
        Course {
            ticks,
            stages: Vec::new(),
            verdict,
        }
    }
}

/// The program, for the list of `sim`.
pub(crate) fn program() -> Listing {
    Listing::on_driver::<DiskRequests>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(change: impl FnOnce(&mut DiskRequests)) -> f64 {
        let mut requests = DiskRequests {
            on: ServerOptions::of("tritonsort-2011", "disks.count=1"),
            ..DiskRequests::default()
        };
        change(&mut requests);
        assert_eq!(requests.objection(1), None);
        let (ticks, bytes) = requests.measure(1).unwrap();
        bytes as f64 * 1e3 / ticks as f64
    }

    #[test]
    fn a_file_is_read_at_the_rate_of_its_zone() {
        // 92.3 MB/s on the outermost track, and 0.2 ms before each megabyte.
        let outside = rate(|_| {});
        assert!((90.0..90.7).contains(&outside), "{outside}");
    }

    /// Each request to another file is reached by a seek and half a turn.
    #[test]
    fn requests_to_many_files_take_seeks() {
        let of_files = |files, request_kb| {
            rate(|requests| {
                requests.files = files;
                requests.kind = Kind::Write;
                requests.request_kb = request_kb;
            })
        };
        let expected = |kb: f64| kb / (0.2 + 4.17 + 0.7 + kb / 92.3);
        for kb in [100.0, 1000.0] {
            let mb_s = of_files(10, kb);
            assert!(
                (0.8..1.01).contains(&(mb_s / expected(kb))),
                "{kb} KB: {mb_s}"
            );
        }
        assert!(of_files(1, 1000.0) > 90.0);
    }

    /// The disks of two nodes work at the same time, and each node has its own.
    #[test]
    fn disks_are_used_at_once() {
        let requests = |set, depth| DiskRequests {
            on: ServerOptions::of("tritonsort-2011", set),
            node_mb: 800.0,
            depth,
            ..DiskRequests::default()
        };
        let ticks = |set, depth, nodes| {
            let (ticks, bytes) = requests(set, depth).measure(nodes).unwrap();
            assert!((800_000_000..=840_000_000).contains(&bytes), "{bytes}");
            ticks as f64
        };
        let (one, eight) = (ticks("disks.count=1", 1, 1), ticks("disks.count=8", 1, 1));
        assert!((7.5..8.2).contains(&(one / eight)), "{one} {eight}");
        assert_eq!(ticks("disks.count=8", 1, 2), eight);
        // A disk does one thing after the other, so requests in flight gain nothing.
        let deep = ticks("disks.count=1", 4, 1);
        assert!((0.99..1.001).contains(&(deep / one)), "{deep} {one}");
    }

    /// Writes that wait in a cache are reached over a part of the way. Their turns stay.
    #[test]
    fn a_cache_shortens_seeks() {
        let of_a_cache = |set: &str| {
            rate(|requests| {
                requests.on = ServerOptions::of("tritonsort-2011", &format!("disks.count=1{set}"));
                requests.kind = Kind::Write;
                requests.files = 300;
                requests.node_mb = 60_000.0;
                requests.depth = 4;
            })
        };
        let (without, with) = (
            of_a_cache(""),
            of_a_cache(";disks.cache_mb=64;disks.cache_mb_s=300"),
        );
        assert!((1.05..1.25).contains(&(with / without)), "{without} {with}");
    }

    #[test]
    fn every_byte_of_a_disk_is_visited_once() {
        let requests = DiskRequests {
            files: 7,
            request_kb: 5.0,
            ..DiskRequests::default()
        };
        let bytes = 21 * BLOCK;
        let mut offsets: Vec<u64> = requests.offsets(bytes, Random::new(3)).collect();
        assert!(offsets.windows(2).any(|pair| pair[0] > pair[1]));
        offsets.sort_unstable();
        assert_eq!(offsets, (0..21).map(|n| n * BLOCK).collect::<Vec<_>>());
    }

    #[test]
    fn mistakes_are_refused() {
        let refused = |change: fn(&mut DiskRequests)| {
            let mut requests = DiskRequests::default();
            change(&mut requests);
            requests.objection(1).expect("a mistake")
        };
        assert!(refused(|requests| requests.files = 0).contains("--files 0"));
        assert!(refused(|requests| requests.depth = u32::MAX).contains("--depth"));
        for kb in [f64::NAN, -1.0, 0.0, 1e18] {
            let requests = DiskRequests {
                request_kb: kb,
                ..DiskRequests::default()
            };
            assert!(
                requests
                    .objection(1)
                    .is_some_and(|why| why.contains("--request-kb")),
                "{kb}"
            );
        }
        assert!(refused(|requests| requests.node_mb = 1e8).contains("larger"));
        let large = DiskRequests {
            node_mb: 1e8,
            request_kb: 1e6,
            ..DiskRequests::default()
        };
        assert!(large.measure(1).unwrap_err().contains("room"));
    }
}
