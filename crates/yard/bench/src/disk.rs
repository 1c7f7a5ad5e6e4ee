//! `gristmill-bench disk`: the effect of a request's size on a disk (TritonSort, Figure 10).
//!
//! ```text
//! writes    4 KiB, 8 KiB ... 16 MiB    in order, to a new file with its space reserved
//! reads     4 KiB, 8 KiB ... 16 MiB    at random places of a file
//!           each with one request in flight, and with four
//! ```
//!
//! Requests go the way of the sort's writers and loaders: direct, through the node's disks, so a
//! hand-over to an I/O thread is part of every request. The figure is the rate of a burst, its sync
//! included.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use kernel::patterns::Random;
use node::{Node, Open, Requests, Way};
use pipeline::Failure;
use serde_json::json;

use crate::Common;
use crate::host::on_node;
use crate::race::{Race, Row};
use crate::room::{check_room, directory};
use crate::table::{Report, Section};
use terminal::ending::failure::CliFailure;
use terminal::ending::scratch::Scratch;
use units::size;

/// Measure a disk by the size of requests: writes in order and reads at random places.
///
/// Direct, from 4 KiB to 16 MiB, with one request in flight and with four. A burst ends after
/// --size bytes, or after two seconds.
#[derive(Args)]
pub struct Arguments {
    /// Directory to write and read in
    #[arg(
        long = "dir",
        alias = "directory",
        value_name = "DIR",
        default_value = "."
    )]
    directory: PathBuf,
    /// Bytes of the file, and of a burst at most [default: 2G]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    #[command(flatten)]
    pub common: Common,
}

const SIZE: u64 = 2 << 30;
const SMOKE_SIZE: u64 = LARGEST as u64;

const SMALLEST: usize = 4 << 10;
const LARGEST: usize = 16 << 20;

/// The size with which the file for reading is made.
const LAID_OUT_BY: usize = 4 << 20;

/// One request in flight waits for the disk each time; four keep it busy.
const DEPTHS: [usize; 2] = [1, 4];

/// A burst of small requests would else take minutes.
const BURST: Duration = Duration::from_secs(2);
const SMOKE_BURST: Duration = Duration::from_millis(10);

/// The file that is read, and the one that is written.
const FILE: &str = "file";
const NEW_FILE: &str = "new";
const MODE: u32 = 0o600;

/// Requests of one kind.
#[derive(Clone, Copy)]
struct Trial {
    way: Way,
    bytes: usize,
    depth: usize,
}

/// Returns the rows that `gristmill-bench disk` prints.
///
/// # Errors
/// Too little room; a disk that fails.
pub fn run(arguments: &Arguments) -> Result<Report, CliFailure> {
    let common = arguments.common;
    let bytes = common.size(arguments.size, SIZE, SMOKE_SIZE);
    if bytes < LARGEST as u64 {
        let message = format!("--size {bytes} is less than the largest request; give at least 16M");
        return Err(CliFailure::usage(message));
    }
    let place = directory(&arguments.directory, "--dir")?;
    check_room(&[(&place, bytes.saturating_mul(2))])?;
    let mut burst = Burst {
        place: Scratch::new(&place, "bench")?,
        bytes,
        time: if common.smoke { SMOKE_BURST } else { BURST },
    };
    let direct = burst.lay_out()?;
    let mut race = Race::new();
    for trial in trials() {
        race.enter(trial.name(), trial.command(), move |burst: &mut Burst| {
            burst.time(trial)
        });
    }
    let mut writes = race.run(common.runs, &mut burst)?;
    for (row, trial) in writes.iter_mut().zip(trials()) {
        row.add(json!({
            "request_bytes": trial.bytes,
            "in_flight": trial.depth,
            "mb_per_s": bytes as f64 / 1e6 / row.median(),
        }));
    }
    let reads = writes.split_off(writes.len() / 2);
    let section = |title: &str, rows| {
        Section::new(title, (bytes, "byte"), beside_best(rows)).with_lines(lines)
    };
    Ok(Report {
        bench: "disk",
        facts: json!({ "bytes": bytes, "burst_s": burst.time.as_secs_f64(), "direct": direct }),
        sections: vec![
            section("writes in order", writes),
            section("reads at random places", reads),
        ],
    })
}

/// Every kind of request, writes first.
fn trials() -> impl Iterator<Item = Trial> {
    let sizes = std::iter::successors(Some(SMALLEST), |bytes| Some(bytes * 2));
    let sizes: Vec<usize> = sizes.take_while(|bytes| *bytes <= LARGEST).collect();
    let kinds = [Way::Write, Way::Read]
        .into_iter()
        .flat_map(|way| DEPTHS.map(|depth| (way, depth)));
    kinds.flat_map(move |(way, depth)| {
        sizes
            .clone()
            .into_iter()
            .map(move |bytes| Trial { way, bytes, depth })
    })
}

impl Trial {
    fn name(self) -> String {
        format!(
            "{} of {}, {} in flight",
            self.verb(),
            size_name(self.bytes),
            self.depth
        )
    }

    fn command(self) -> String {
        let place = match self.way {
            Way::Write => "in order",
            Way::Read => "at random places",
        };
        format!(
            "node::File::{} of {} bytes, direct, {place}",
            self.verb(),
            self.bytes
        )
    }

    fn verb(self) -> &'static str {
        match self.way {
            Way::Write => "write",
            Way::Read => "read",
        }
    }

    /// The offsets of its requests in a file that holds at least one.
    fn offsets(self, file_bytes: u64) -> impl Iterator<Item = u64> {
        const SEED: u64 = 7; // the same places in every round
        let (bytes, count) = (self.bytes as u64, file_bytes / self.bytes as u64);
        let mut random = Random::new(SEED);
        (0..count).map(move |number| match self.way {
            Way::Write => number * bytes,
            Way::Read => random.below(count) * bytes,
        })
    }
}

fn size_name(bytes: usize) -> String {
    if bytes < 1 << 20 {
        format!("{} KiB", bytes >> 10)
    } else {
        format!("{} MiB", bytes >> 20)
    }
}

/// The place and the length of a burst of requests.
struct Burst {
    place: Scratch,
    bytes: u64,
    time: Duration,
}

impl Burst {
    /// Makes the file that is read; whether it can be read past the page cache.
    fn lay_out(&self) -> Result<bool, CliFailure> {
        let (path, bytes) = (self.place.path().join(FILE), self.bytes);
        on_node(move |node| {
            let path = path.clone();
            async move {
                let file = node
                    .open(
                        &path,
                        Open::Create {
                            direct: true,
                            mode: MODE,
                        },
                    )
                    .await?;
                let writes = Requests::new(&node, Way::Write, LAID_OUT_BY, DEPTHS[1])?;
                writes
                    .run(&node, &file, (0..bytes).step_by(LAID_OUT_BY))
                    .await?;
                file.sync(&node).await?;
                Ok(file.is_direct())
            }
        })
    }

    /// The seconds that the whole file would take at the rate of a burst.
    fn time(&self, trial: Trial) -> Result<f64, CliFailure> {
        let name = if trial.way == Way::Write {
            NEW_FILE
        } else {
            FILE
        };
        let (path, bytes, time) = (self.place.path().join(name), self.bytes, self.time);
        let (moved, seconds) = on_node(move |node| {
            let path = path.clone();
            async move {
                let how = match trial.way {
                    Way::Write => Open::Create {
                        direct: true,
                        mode: MODE,
                    },
                    Way::Read => Open::Read { direct: true },
                };
                let file = node.open(&path, how).await?;
                let measured = trial.burst(&node, &file, bytes, time).await;
                if trial.way == Way::Write {
                    node.remove(&path).await?;
                }
                measured
            }
        })?;
        Ok(seconds * bytes as f64 / moved.max(1) as f64)
    }
}

impl Trial {
    /// The bytes of a burst, and its seconds.
    async fn burst(
        self,
        node: &Node,
        file: &node::File,
        file_bytes: u64,
        time: Duration,
    ) -> Result<(u64, f64), Failure> {
        if self.way == Way::Write {
            file.preallocate(node, 0..file_bytes).await?;
        }
        let requests = Requests::new(node, self.way, self.bytes, self.depth)?;
        let begin = Instant::now();
        // However slow the disk is, one request is made.
        let in_time = |offset: &(usize, u64)| offset.0 == 0 || begin.elapsed() < time;
        let offsets = self.offsets(file_bytes).enumerate().take_while(in_time);
        let moved = requests
            .run(node, file, offsets.map(|(_, offset)| offset))
            .await?;
        if self.way == Way::Write {
            file.sync(node).await?;
        }
        Ok((moved, begin.elapsed().as_secs_f64()))
    }
}

/// Puts the best row first, as the floor. Each row has its rate in % of that row's.
fn beside_best(mut rows: Vec<Row>) -> Vec<Row> {
    let best = rows
        .iter()
        .min_by(|a, b| a.median().total_cmp(&b.median()))
        .expect("there are trials");
    let (name, least) = (format!("best: {}", best.name), best.median());
    rows.insert(
        0,
        Row {
            name,
            ..best.clone()
        },
    );
    for row in &mut rows {
        row.add(json!({ "percent_of_best": least / row.median() * 100.0 }));
    }
    rows
}

/// A line for each size, with the rates of each number of requests in flight.
fn lines(rows: &[Row]) -> Vec<Vec<String>> {
    let mut heading = vec![String::new()];
    for depth in DEPTHS {
        heading.extend([format!("MB/s, {depth} in flight"), "% of best".to_owned()]);
    }
    let mut lines = vec![heading];
    let trials = &rows[1..];
    let sizes = trials.len() / DEPTHS.len();
    for number in 0..sizes {
        let mut line = vec![size_name(trials[number].figure("request_bytes") as usize)];
        for row in trials.iter().skip(number).step_by(sizes) {
            line.push(format!("{:.1}", row.figure("mb_per_s")));
            line.push(format!("{:.0}", row.figure("percent_of_best")));
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_double_and_requests_stay_in_the_file() {
        let all: Vec<Trial> = trials().collect();
        assert_eq!(all.len(), 13 * 4);
        assert_eq!(
            (all[0].bytes, all[12].bytes, all[13].bytes),
            (SMALLEST, LARGEST, SMALLEST)
        );
        for trial in all {
            let file_bytes = SMOKE_SIZE + 4096;
            let last = trial
                .offsets(file_bytes)
                .max()
                .expect("one request at least");
            assert!(last + trial.bytes as u64 <= file_bytes);
        }
    }
}
