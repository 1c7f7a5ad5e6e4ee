//! Traces of runs, for Perfetto and chrome://tracing.
//!
//! ```text
//!   process   the cores below a leaf, or behind a NIC if all cores are below one leaf; in a graph
//!             the cores of a switch
//!     thread  a core
//!       slice a stage of its program, with the time that the core waited
//!   process   the critical path, if it was asked for: its parts as slices of one thread
//! ```
//!
//! The format is the JSON object form of the Trace Event Format: "M" events name processes and
//! threads, "X" events are slices, times are in microseconds. Of a large machine the trace has
//! [`MOST_TRACED`] cores, in groups of neighbours that its metadata names. Events are written one
//! by one and never held together. A machine measures how long a core waited in a stage, not when,
//! so waiting is an argument of the slice.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use machine::{Graph, Profile, Sample, Slice};
use serde_json::Value;

use crate::path_report::{PathReport, PathSegment};

/// Most cores of a trace.
pub const MOST_TRACED: u32 = 512;

const FS_PER_NS: u128 = 1_000_000;

/// The process of the critical path; those of cores have smaller numbers.
const PATH: u32 = u32::MAX;

/// Writes the stages of the traced cores of a machine with `cores` cores, and the critical path.
///
/// # Errors
/// The error of `out`.
pub fn write(
    out: &mut impl Write,
    profile: &Profile,
    cores: u32,
    slices: &[Slice],
    path: Option<&PathReport>,
) -> io::Result<()> {
    let tracks = Tracks::new(profile, cores);
    let shown = Value::from(sample(cores).to_string());
    write!(
        out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"shown\":{shown}}},\"traceEvents\":["
    )?;
    let names = tracks.names(slices).into_iter();
    let names = names.map(|(kind, process, core)| tracks.name(kind, process, core));
    let slices = slices.iter().map(|slice| tracks.slice(profile, slice));
    let of_path = path.into_iter().flat_map(events_of);
    let mut comma = "\n";
    for event in names.chain(slices).chain(of_path) {
        write!(out, "{comma}{event}")?;
        comma = ",\n";
    }
    writeln!(out, "\n]}}")
}

/// The events of a critical path, with its name.
fn events_of(path: &PathReport) -> impl Iterator<Item = String> {
    let name = format!(
        "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{PATH},\"tid\":0,\"args\":{{\"name\":\
         \"critical path\"}}}}"
    );
    let part = |part: &PathSegment| {
        let [begin, end] = [part.begin_us, part.end_us].map(|us| (us * 1e3) as u64);
        let name = Value::from(format!("{} {}", part.kind.word(), part.stage));
        format!(
            "{{\"ph\":\"X\",\"name\":{name},\"pid\":{PATH},\"tid\":0,\"ts\":{},\"dur\":{},\
             \"args\":{{\"core\":{},\"from\":{}}}}}",
            microseconds(begin),
            microseconds(end - begin),
            part.core,
            part.from,
        )
    };
    [name].into_iter().chain(path.segments.iter().map(part))
}

/// The traced cores of a machine.
pub(crate) fn sample(cores: u32) -> Sample {
    Sample::new(cores, MOST_TRACED)
}

fn nanoseconds(profile: &Profile, ticks: u64) -> u64 {
    (u128::from(ticks) * u128::from(profile.tick_fs) / FS_PER_NS) as u64
}

/// Nanoseconds as microseconds, without rounding.
fn microseconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Process,
    Thread,
}

/// Groups of cores that are one process.
struct Tracks {
    what: &'static str,
    cores: u32,
    /// In a machine that a graph draws, a process is a switch.
    graph: Option<Arc<Graph>>,
}

impl Tracks {
    fn new(profile: &Profile, cores: u32) -> Tracks {
        let nic = profile.core.ranks_per_nic.max(1);
        let leaf = nic.saturating_mul(profile.network.down_links.max(1));
        let (what, cores) = if cores > leaf {
            ("leaf", leaf)
        } else {
            ("NIC", nic)
        };
        match &profile.graph {
            None => Tracks {
                what,
                cores,
                graph: None,
            },
            Some(graph) => Tracks {
                what: "switch",
                cores: nic,
                graph: Some(Arc::clone(graph)),
            },
        }
    }

    fn process(&self, rank: u32) -> u32 {
        let number = rank / self.cores;
        match &self.graph {
            None => number,
            Some(graph) => graph.switch_of(number.into()) as u32,
        }
    }

    fn process_name(&self, process: u32) -> String {
        let what = self.what;
        match &self.graph {
            None => format!("{what} {process}"),
            Some(graph) => format!("{what} {}", graph.switches[process as usize].name),
        }
    }

    /// The event that names a process or a thread.
    fn name(&self, kind: Named, process: u32, core: u32) -> String {
        let (what, name) = match kind {
            Named::Process => ("process", self.process_name(process)),
            Named::Thread => ("thread", format!("core {core}")),
        };
        let name = Value::from(name);
        format!(
            "{{\"ph\":\"M\",\"name\":\"{what}_name\",\"pid\":{process},\"tid\":{core},\
             \"args\":{{\"name\":{name}}}}}"
        )
    }

    /// The event of a slice. Both ends are cut to nanoseconds, so that adjacent slices do not
    /// overlap.
    fn slice(&self, profile: &Profile, slice: &Slice) -> String {
        let ticks = [slice.begin, slice.end, slice.idle];
        let [begin, end, idle] = ticks.map(|ticks| nanoseconds(profile, ticks));
        format!(
            "{{\"ph\":\"X\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\
             \"args\":{{\"idle_us\":{}}}}}",
            Value::from(slice.name),
            self.process(slice.rank),
            slice.rank,
            microseconds(begin),
            microseconds(end - begin),
            microseconds(idle),
        )
    }

    /// Processes and threads to be named, processes first.
    fn names(&self, slices: &[Slice]) -> BTreeSet<(Named, u32, u32)> {
        let ranks: BTreeSet<u32> = slices.iter().map(|slice| slice.rank).collect();
        let process = |&rank| {
            let process = self.process(rank);
            // Any core of the process, the same for all.
            let core = if self.graph.is_some() {
                0
            } else {
                process * self.cores
            };
            (Named::Process, process, core)
        };
        let thread = |&rank| (Named::Thread, self.process(rank), rank);
        let processes = ranks.iter().map(process);
        processes.chain(ranks.iter().map(thread)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(cores: u32, slices: &[Slice]) -> Vec<serde_json::Value> {
        let profile = Profile::named("nanopu").expect("a built-in machine");
        let mut out = Vec::new();
        write(&mut out, &profile, cores, slices, None).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        value["traceEvents"].as_array().unwrap().clone()
    }

    fn slice(rank: u32, begin: u64, end: u64) -> Slice {
        Slice {
            rank,
            name: "scan",
            begin,
            end,
            idle: 16,
        }
    }

    #[test]
    fn cores_are_threads_of_their_nic_or_leaf() {
        let events = drawn(8, &[slice(1, 0, 5), slice(6, 0, 5)]);
        let names: Vec<_> = events
            .iter()
            .filter_map(|event| event["args"]["name"].as_str())
            .collect();
        assert_eq!(names, ["NIC 0", "NIC 1", "core 1", "core 6"]);
        assert_eq!(
            (&events[5]["pid"], &events[5]["tid"]),
            (&1.into(), &6.into())
        );
        let events = drawn(65_536, &[slice(255, 0, 5), slice(256, 0, 5)]);
        let names = events
            .iter()
            .filter_map(|event| event["args"]["name"].as_str());
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["leaf 0", "leaf 1", "core 255", "core 256"]
        );
    }

    #[test]
    fn slices_that_meet_do_not_overlap() {
        // Ticks are 312.5 ps: neither end is a whole nanosecond.
        let events = drawn(1, &[slice(0, 0, 5), slice(0, 5, 3207)]);
        let slices: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        assert_eq!(
            (&slices[0]["ts"], &slices[0]["dur"]),
            (&0.0.into(), &0.001.into())
        );
        assert_eq!(
            (&slices[1]["ts"], &slices[1]["dur"]),
            (&0.001.into(), &1.001.into())
        );
        assert_eq!(slices[1]["args"]["idle_us"], 0.005);
    }

    #[test]
    fn a_trace_says_which_cores_it_shows() {
        let profile = Profile::named("nanopu").expect("a built-in machine");
        let mut out = Vec::new();
        write(&mut out, &profile, 4096, &[], None).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let shown = "512 of 4096 cores: 8 groups of 64 neighbours";
        assert_eq!(value["otherData"]["shown"], shown);
    }

    #[test]
    fn nothing_traced_is_still_a_trace() {
        assert!(drawn(1, &[]).is_empty());
    }
}
