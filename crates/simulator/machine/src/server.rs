//! Machines with disks, from `machines/servers/*.toml`: what a sort from disk to disk runs on.
//!
//! ```text
//!   format, name, description, nodes
//!   [node]       cores, memory_gb; mips, prices, watts
//!   [[disks]]    some alike: count, holds, rates, latency, limits; rpm, inner and seeks if they turn; a bus, a price
//!   [[buses]]    what the disks of a bus share
//!   [network]    the link of a node; a round trip, the window of a flow, and the ports of the switch
//!   [stages]     what a stage takes on a core, by record and by byte
//! ```
//!
//! Keys end with their unit; sizes are decimal. Comments give the source of each number. A missing or
//! misspelt key is an error, never a default, apart from those that a machine may lack.

mod check;
mod network;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use disk::{Device, DiskModel, Limit, Platter, Rates, Seek, WriteCache};
use serde::Deserialize;

pub use network::ServerNetwork;

use crate::text;

/// A machine of one or several nodes with disks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Format of the file: 1.
    pub format: u32,
    /// Name by which a built-in machine is chosen.
    pub name: String,
    /// Description for people, in one line.
    pub description: String,
    /// Number of nodes, all alike.
    pub nodes: u32,
    /// A node without its disks.
    pub node: ServerNode,
    /// The disks of a node.
    pub disks: Vec<DiskGroup>,
    /// The buses of a node.
    #[serde(default)]
    pub buses: Vec<SharedBus>,
    /// The network; a machine of one node needs none.
    pub network: Option<ServerNetwork>,
    /// The times of stages on a core, by the names that reports have.
    #[serde(default)]
    pub stages: BTreeMap<String, StageCost>,
    /// Those with lines, of stages that take other times for them.
    #[serde(default)]
    pub stages_of_lines: BTreeMap<String, StageCost>,
}

/// Cores and memory of a node.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerNode {
    /// Cores that stages share.
    pub cores: usize,
    /// Memory of the sort, in billions of bytes.
    pub memory_gb: f64,
    /// Millions of instructions a second of each core.
    pub mips: Option<f64>,
    /// Price of a node in US dollars, with its disks and its port.
    pub price_usd: Option<f64>,
    /// Price of a billion bytes of memory in US dollars.
    pub memory_price_usd_per_gb: Option<f64>,
    /// Nanoseconds of a byte of memory that is written for the first time, where that takes long: a virtual
    /// machine may get its memory when it needs it.
    pub first_touch_ns_per_byte: Option<f64>,
    /// Power of a node under load, in watts.
    pub watts: Option<f64>,
}

/// The files on a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holds {
    /// Inputs and outputs.
    Files,
    /// Temporary files.
    Temporary,
    /// All of them.
    Both,
}

/// The most that a limit lets pass in a second.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a number, or two: [read, written]")]
pub enum Most {
    /// Reads and writes together, as volumes of clouds have it.
    Together(f64),
    /// Reads, and writes, as control groups have it.
    Apart([f64; 2]),
}

/// Disks that are alike.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskGroup {
    /// Number of them.
    pub count: usize,
    /// The files on them.
    pub holds: Holds,
    /// Billions of bytes of each.
    pub gb: f64,
    /// Millions of bytes read a second; of a disk that turns, on its outermost track.
    pub read_mb_s: f64,
    /// Millions of bytes written a second, likewise.
    pub write_mb_s: f64,
    /// Millions of bytes read and written a second together, of a disk that does both at once; otherwise
    /// reads and writes wait for each other.
    pub both_mb_s: Option<f64>,
    /// Millions of bytes read, and written, a second by one request alone, of a disk that needs several at once.
    pub single_mb_s: Option<[f64; 2]>,
    /// Millions of bytes that a provider or a control group lets pass a second, beside the disk's own rates.
    pub limit_mb_s: Option<Most>,
    /// Requests that it lets pass a second.
    pub limit_requests_per_s: Option<Most>,
    /// Millions of bytes of writes that a cache of the drive or its controller holds, which end when they are in it.
    pub cache_mb: Option<f64>,
    /// Millions of bytes a second that are written into it.
    pub cache_mb_s: Option<f64>,
    /// Microseconds before the first byte of a request.
    pub latency_us: f64,
    /// Requests whose latencies overlap; 1 if it is missing.
    pub depth: Option<usize>,
    /// The standard deviation of the rates of drives, over their mean; none if it is missing.
    pub spread: Option<f64>,
    /// Turns a minute, of a disk that turns.
    pub rpm: Option<f64>,
    /// The rate of the innermost track over that of the outermost.
    pub inner: Option<f64>,
    /// Milliseconds of a seek before a read: next track, mean, full stroke.
    pub read_seek_ms: Option<[f64; 3]>,
    /// The same before a write.
    pub write_seek_ms: Option<[f64; 3]>,
    /// The bus of each.
    pub bus: Option<String>,
    /// The part of the input on each, over that on other disks; 1 if it is missing.
    pub input_share: Option<f64>,
    /// The part of each disk that lies outside of its input: 0, the outermost track, if it is missing.
    pub inputs_at: Option<f64>,
    /// Price of each in US dollars.
    pub price_usd: Option<f64>,
}

/// A bus that disks of a node share.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedBus {
    /// Its name in [`DiskGroup::bus`].
    pub name: String,
    /// Millions of bytes read a second.
    pub read_mb_s: f64,
    /// Millions of bytes written a second.
    pub write_mb_s: f64,
    /// The bus that this one hangs on; it stands before this one.
    pub on: Option<String>,
}

/// The time of a stage on a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StageCost {
    /// Nanoseconds of a record.
    pub ns_per_record: f64,
    /// Nanoseconds of a byte.
    pub ns_per_byte: f64,
}

/// The reason why a machine was refused, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError(String);

impl fmt::Display for ServerError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for ServerError {}

impl Server {
    /// The built-in machines: their names, and the texts of their files.
    pub const BUILT_IN: [(&str, &str); 7] = [
        (
            "tritonsort-2011",
            include_str!("../machines/servers/tritonsort-2011.toml"),
        ),
        (
            "tritonsort-15k",
            include_str!("../machines/servers/tritonsort-15k.toml"),
        ),
        (
            "now-1997",
            include_str!("../machines/servers/now-1997.toml"),
        ),
        (
            "now-1997-4",
            include_str!("../machines/servers/now-1997-4.toml"),
        ),
        (
            "eridanus-2011",
            include_str!("../machines/servers/eridanus-2011.toml"),
        ),
        (
            "server-2026",
            include_str!("../machines/servers/server-2026.toml"),
        ),
        (
            "cloud-2026",
            include_str!("../machines/servers/cloud-2026.toml"),
        ),
    ];

    /// The most nodes of a machine: each of them keeps memory for all others.
    pub const MOST_NODES: u32 = 1000;

    /// The built-in machine of this name, or else the one in the file of this path.
    ///
    /// # Errors
    /// If there is neither, or a mistake in the file.
    pub fn load(name_or_path: &str) -> Result<Server, ServerError> {
        Server::load_changed(name_or_path, &[])
    }

    /// As [`Server::load`], with changes as [`text::parse_changed`] takes them.
    ///
    /// # Errors
    /// As [`Server::load`], and a mistake in a change.
    pub fn load_changed(name_or_path: &str, changes: &[String]) -> Result<Server, ServerError> {
        if let Some(text) = Server::text_of(name_or_path) {
            return Server::parse_changed(text, changes);
        }
        let text = text::read(Path::new(name_or_path), text::MOST_BYTES).map_err(|error| {
            let names = Server::BUILT_IN.map(|(name, _)| name).join(", ");
            ServerError(format!(
                "{name_or_path}: {error}; give a file, or a built-in machine: {names}"
            ))
        })?;
        Server::parse_changed(&text, changes)
            .map_err(|error| ServerError(format!("{name_or_path}: {error}")))
    }

    /// The text of the file of a built-in machine, with its comments.
    pub fn text_of(name: &str) -> Option<&'static str> {
        let mut machines = Server::BUILT_IN.into_iter();
        machines
            .find(|(known, _)| *known == name)
            .map(|(_, text)| text)
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// The first mistake, with its line or key, and what is expected.
    pub fn parse(text: &str) -> Result<Server, ServerError> {
        Server::parse_changed(text, &[])
    }

    /// As [`Server::parse`], with changes as [`text::parse_changed`] takes them.
    ///
    /// # Errors
    /// As [`Server::parse`], and a mistake in a change.
    pub fn parse_changed(text: &str, changes: &[String]) -> Result<Server, ServerError> {
        let server: Server = text::parse_changed(text, changes).map_err(ServerError)?;
        server.checked()?;
        Ok(server)
    }

    /// Checks a machine of which numbers were changed.
    ///
    /// # Errors
    /// The first number that no machine has, by its key.
    pub fn checked(&self) -> Result<(), ServerError> {
        self.check().map_err(ServerError)
    }

    /// Bytes of the memory of a node.
    pub fn memory_bytes(&self) -> u64 {
        (self.node.memory_gb * GB) as u64
    }
}

const GB: f64 = 1e9;

/// Nanoseconds per KiB at a rate in millions of bytes a second.
fn ns_per_kib(mb_s: f64) -> u64 {
    (1024.0 * 1000.0 / mb_s).round() as u64
}

impl Most {
    fn map(self, change: impl Fn(f64) -> f64) -> Most {
        match self {
            Most::Together(most) => Most::Together(change(most)),
            Most::Apart(most) => Most::Apart(most.map(change)),
        }
    }

    /// Limits of reads alone, and of writes alone.
    fn rates(self) -> [f64; 2] {
        match self {
            Most::Together(most) => [most, most],
            Most::Apart(most) => most,
        }
    }

    /// The limit, by the time that a unit takes at a rate.
    fn limit(self, ns: fn(f64) -> u64) -> Limit {
        let [read_ns, write_ns] = self.rates().map(ns);
        Limit {
            read_ns,
            write_ns,
            is_apart: matches!(self, Most::Apart(_)),
        }
    }
}

impl DiskGroup {
    /// Bytes of each disk.
    pub fn bytes(&self) -> u64 {
        (self.gb * GB) as u64
    }

    /// Makes them twice as fast: rates, limits, latency, turns and seeks.
    pub fn double(&mut self) {
        self.read_mb_s *= 2.0;
        self.write_mb_s *= 2.0;
        self.both_mb_s = self.both_mb_s.map(|both| both * 2.0);
        self.single_mb_s = self.single_mb_s.map(|rates| rates.map(|rate| rate * 2.0));
        for limit in [&mut self.limit_mb_s, &mut self.limit_requests_per_s] {
            *limit = limit.map(|most| most.map(|rate| rate * 2.0));
        }
        self.cache_mb_s = self.cache_mb_s.map(|rate| rate * 2.0);
        self.latency_us /= 2.0;
        self.rpm = self.rpm.map(|rpm| rpm * 2.0);
        for seek in [&mut self.read_seek_ms, &mut self.write_seek_ms] {
            *seek = seek.map(|times| times.map(|ms| ms / 2.0));
        }
    }

    /// Each of these disks, at a bus.
    pub fn device(&self, bus: Option<usize>) -> Device {
        let ns = |ms: f64| (ms * 1e6) as u64;
        let seek = |[least, mean, most]: [f64; 3]| Seek {
            least_ns: ns(least),
            mean_ns: ns(mean),
            most_ns: ns(most),
        };
        let limit = |most: Option<Most>, ns| most.map(|most| most.limit(ns)).unwrap_or_default();
        let platter = self.rpm.map(|rpm| Platter {
            bytes: self.bytes(),
            inner: self.inner.unwrap_or(1.0),
            turn_ns: (60e9 / rpm) as u64,
            read_seek: self.read_seek_ms.map(seek).unwrap_or_default(),
            write_seek: self.write_seek_ms.map(seek).unwrap_or_default(),
        });
        Device {
            model: DiskModel {
                latency_ns: (self.latency_us * 1000.0) as u64,
                read_ns_per_kib: ns_per_kib(self.read_mb_s),
                write_ns_per_kib: ns_per_kib(self.write_mb_s),
            },
            depth: self.depth.unwrap_or(1),
            both_ns_per_kib: self.both_mb_s.map(ns_per_kib),
            single: self.single_mb_s.map(|[read, write]| Rates {
                read_ns_per_kib: ns_per_kib(read),
                write_ns_per_kib: ns_per_kib(write),
            }),
            byte_limit: limit(self.limit_mb_s, ns_per_kib),
            request_limit: limit(self.limit_requests_per_s, |rate| {
                (1e9 / rate).round() as u64
            }),
            platter,
            cache: self
                .cache_mb
                .zip(self.cache_mb_s)
                .map(|(mb, mb_s)| WriteCache {
                    bytes: (mb * 1e6) as u64,
                    ns_per_kib: ns_per_kib(mb_s),
                }),
            bus,
        }
    }
}

impl SharedBus {
    /// The bus for the disks of a simulated node.
    pub fn model(&self) -> Rates {
        Rates {
            read_ns_per_kib: ns_per_kib(self.read_mb_s),
            write_ns_per_kib: ns_per_kib(self.write_mb_s),
        }
    }
}
