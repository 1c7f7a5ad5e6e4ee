//! The rates of a disk, by requests like those of a sort.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host::machine;
use node::{File, Node, Open, Random, Requests, Way};
use pipeline::{Control, Failure};
use terminal::ending::failure::CliFailure;
use terminal::ending::scratch::Scratch;
use terminal::progress;

/// Requests of one kind.
#[derive(Clone, Copy)]
struct Requested {
    bytes: usize,
    depth: usize,
    /// In which they are made.
    time: Duration,
}

/// Inputs are read and outputs written by two workers with two requests each.
const UNIT: usize = 4 << 20;
const DEPTH: usize = 4;

/// Reads and writes meet where partitions are spilled and read back, in requests of about this size.
const MIXED: usize = 1 << 20;

/// A file has as many bytes at most: so the fastest disks are measured by a second of their time.
const MOST_BYTES: u64 = 8 << 30;

/// The two files take a part of the free space at most.
const SPACE_SHARE: u64 = 8;

/// Small reads, one after the other.
const SMALL: usize = 4096;
const SMALL_READS: usize = 200;

const MODE: u32 = 0o600;

/// The rates of a disk.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    path: PathBuf,
    bytes: u64,
    is_direct: bool,
    read_mb_s: f64,
    write_mb_s: f64,
    both_mb_s: f64,
    single_mb_s: [f64; 2],
    latency_us: f64,
}

impl Disk {
    /// Measures the disk under a directory.
    ///
    /// # Errors
    /// When it cannot be written to, or has too little room.
    pub(super) fn measure(path: &Path, seconds: f64) -> Result<Disk, CliFailure> {
        let scratch = Scratch::new(path, "measure")?;
        let (place, path) = (scratch.path().to_owned(), path.to_owned());
        machine::run(&Control::default(), progress::Mode::Never, move |node| {
            let (place, path) = (place.clone(), path.clone());
            let many = Requested {
                bytes: UNIT,
                depth: DEPTH,
                time: Duration::from_secs_f64(seconds),
            };
            async move { measure(&node, &place, path, many).await }
        })
    }

    /// Its part of the machine file.
    pub(super) fn text(&self, holds: &str) -> String {
        let how = if self.is_direct {
            "past the page cache"
        } else {
            "through the page cache, which cannot be bypassed here: the disk itself may be slower"
        };
        format!(
            "\n[[disks]]  # {}, {how}\n\
             count = 1\n\
             holds = \"{holds}\"\n\
             gb = {:.3}  # free space\n\
             read_mb_s = {:.1}\n\
             write_mb_s = {:.1}  # with the sync\n\
             both_mb_s = {:.1}  # read and written at once, together, by requests of 1 MiB\n\
             single_mb_s = [{:.1}, {:.1}]  # read, and written, by one request after the other\n\
             latency_us = {:.1}  # of a read of 4 KiB\n\
             depth = 64  # assumption: more than a sort has in flight\n",
            self.path.display(),
            self.bytes as f64 / 1e9,
            self.read_mb_s,
            self.write_mb_s,
            self.both_mb_s,
            self.single_mb_s[0],
            self.single_mb_s[1],
            self.latency_us,
        )
    }
}

async fn measure(
    node: &Node,
    place: &Path,
    path: PathBuf,
    many: Requested,
) -> Result<Disk, Failure> {
    let single = Requested { depth: 1, ..many };
    let mixed = Requested {
        bytes: MIXED,
        ..many
    };
    let space = node.space(place).await?;
    let most = MOST_BYTES.min(space / SPACE_SHARE);
    let [first, second] = ["first", "second"].map(|name| place.join(name));
    let written = write(node, &first, most, many).await?;
    let file = node.open(&first, Open::Read { direct: true }).await?;
    let is_direct = file.is_direct();
    let read = read(node, &file, written.bytes, many).await?;
    let latency_s = latency(node, &file, written.bytes).await?;
    let single_read = self::read(node, &file, written.bytes, single).await?;
    let single_write = write(node, &second, most, single).await?;
    node.remove(&second).await?;
    let reading = node.spawn("reading", move |node| async move {
        self::read(&node, &file, written.bytes, mixed).await
    });
    let beside = write(node, &second, most, mixed).await?;
    let besides = reading.wait(node).await.expect("reading does not panic")?;
    Ok(Disk {
        path,
        bytes: space,
        is_direct,
        read_mb_s: read.mb_s,
        write_mb_s: written.mb_s,
        both_mb_s: beside.mb_s + besides.mb_s,
        single_mb_s: [single_read.mb_s, single_write.mb_s],
        latency_us: latency_s * 1e6,
    })
}

/// The bytes of a burst of requests, and their rate.
#[derive(Clone, Copy)]
struct Burst {
    bytes: u64,
    mb_s: f64,
}

impl Burst {
    fn since(begin: Instant, bytes: u64) -> Burst {
        let seconds = begin.elapsed().as_secs_f64();
        Burst {
            bytes,
            mb_s: bytes as f64 / 1e6 / seconds,
        }
    }
}

async fn write(node: &Node, path: &Path, most: u64, kind: Requested) -> Result<Burst, Failure> {
    let how = Open::Create {
        direct: true,
        mode: MODE,
    };
    let file = node.open(path, how).await?;
    let requests = Requests::new(node, Way::Write, kind.bytes, kind.depth)?;
    let begin = Instant::now();
    let bytes = requests
        .run(node, &file, offsets(begin, most, kind))
        .await?;
    file.sync(node).await?;
    Ok(Burst::since(begin, bytes))
}

/// Reads the file again and again.
async fn read(node: &Node, file: &File, length: u64, kind: Requested) -> Result<Burst, Failure> {
    let requests = Requests::new(node, Way::Read, kind.bytes, kind.depth)?;
    let begin = Instant::now();
    let offsets = offsets(begin, u64::MAX, kind).map(|offset| offset % length);
    Ok(Burst::since(
        begin,
        requests.run(node, file, offsets).await?,
    ))
}

/// The offsets of requests in order, until the time is over.
fn offsets(begin: Instant, most: u64, kind: Requested) -> impl Iterator<Item = u64> {
    let in_time = move |offset: &u64| *offset == 0 || begin.elapsed() < kind.time;
    (0..most).step_by(kind.bytes).take_while(in_time)
}

/// The median time of a small read, in seconds.
async fn latency(node: &Node, file: &File, length: u64) -> Result<f64, Failure> {
    const SEED: u64 = 1; // the same places in every run
    let mut random = Random::new(SEED);
    let places = length as usize / SMALL;
    let mut seconds = Vec::new();
    for _ in 0..SMALL_READS {
        let offset = (random.below(places) * SMALL) as u64;
        let requests = Requests::new(node, Way::Read, SMALL, 1)?;
        let begin = Instant::now();
        requests.run(node, file, std::iter::once(offset)).await?;
        seconds.push(begin.elapsed().as_secs_f64());
    }
    seconds.sort_unstable_by(f64::total_cmp);
    Ok(seconds[SMALL_READS / 2])
}
