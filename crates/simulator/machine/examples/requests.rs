//! The rate of requests to the first disk of a machine file, in virtual time, as fio would measure it.
//!
//! `requests MACHINE WAY:KIB:DEPTH...` prints each pattern with its MB/s. WAY is a name of fio: `read`, `write`,
//! `rw`, or these behind `rand`. Of `rw` 70 % are reads. DEPTH requests are in flight.

use std::path::Path;
use std::process::ExitCode;

use machine::{Driver, Server};
use node::{Buffer, File, Node, Open, Random, Time};

const FILE: &str = "/disk/file";
const FILE_KIB: u64 = 256 << 10;
const KIB: u64 = 1024;
const READS_OF_MIXED: f64 = 0.7;

/// A pattern ends with whichever is first.
const MOST_SECONDS: f64 = 20.0;
const MOST_REQUESTS: u64 = 100_000;

#[derive(Clone, Copy)]
struct Pattern {
    reads: f64,
    is_random: bool,
    kib: u64,
    depth: u64,
}

impl Pattern {
    fn parse(text: &str) -> Option<Pattern> {
        let (way, numbers) = text.split_once(':')?;
        let (kib, depth) = numbers.split_once(':')?;
        let of_random = way.strip_prefix("rand");
        Some(Pattern {
            reads: match of_random.unwrap_or(way) {
                "read" => 1.0,
                "write" => 0.0,
                "rw" => READS_OF_MIXED,
                _ => return None,
            },
            is_random: of_random.is_some(),
            kib: kib
                .parse()
                .ok()
                .filter(|kib| (1..=FILE_KIB).contains(kib))?,
            depth: depth.parse().ok().filter(|depth| *depth > 0)?,
        })
    }

    fn mb_s(self, server: &Server) -> f64 {
        let driver = Driver::new(1, 1);
        let disks = driver.disks(0);
        disks.mount(Path::new("/disk"), server.disks[0].device(None));
        disks.put_counted(Path::new(FILE), FILE_KIB * KIB);
        let rates = driver.run(move |node| async move {
            let tasks: Vec<_> = (0..self.depth)
                .map(|task| node.spawn("requests", move |node| self.one_by_one(node, task)))
                .collect();
            let mut bytes = 0;
            for task in tasks {
                bytes += task.wait(&node).await.expect("no request fails");
            }
            bytes as f64 / 1e6 / node.seconds(node.now().0)
        });
        rates.expect("all requests end")[0]
    }

    /// One request after the other, as one of as many tasks as are in flight; returns their bytes.
    async fn one_by_one(self, node: Node, task: u64) -> u64 {
        let file = node.open(Path::new(FILE), Open::Again { direct: true });
        let file: File = file.await.expect("the file is there");
        let mut random = Random::stream(1, task);
        let (bytes, places) = (self.kib * KIB, FILE_KIB / self.kib);
        let end = Time(node.ticks(MOST_SECONDS));
        let mut count = 0;
        while node.now() < end && count < MOST_REQUESTS.div_ceil(self.depth) {
            let place = if self.is_random {
                random.below(places as usize) as u64
            } else {
                (count * self.depth + task) % places
            };
            let is_read = (random.below(1000) as f64) < self.reads * 1000.0;
            let (offset, buffer) = (place * bytes, Buffer::counted(bytes as usize));
            let request = if is_read {
                file.read(&node, offset, bytes as usize, buffer)
            } else {
                file.write(&node, offset, buffer, 0..bytes as usize)
            };
            request
                .wait(&node)
                .await
                .1
                .expect("a request inside of the file");
            count += 1;
        }
        count * bytes
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let server = Server::load(&arguments.next().unwrap_or_default());
    let server = match server {
        Ok(server) => server,
        Err(error) => {
            eprintln!("requests: {error}");
            return ExitCode::FAILURE;
        }
    };
    for text in arguments {
        let Some(pattern) = Pattern::parse(&text) else {
            eprintln!("requests: {text}: give WAY:KIB:DEPTH, as randrw:4:32");
            return ExitCode::FAILURE;
        };
        println!("{text} {:.3}", pattern.mb_s(&server));
    }
    ExitCode::SUCCESS
}
