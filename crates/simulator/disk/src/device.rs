//! The time of requests: of one device, and of a bus that several share.
//!
//! ```text
//! depth 1    | latency, seek | transfer || latency | transfer |
//! depth 2    | latency         | transfer |                        latencies overlap, transfers do not
//!              | latency            ......| transfer |
//! a bus        |  its own transfer  |                              a request ends when disk and bus have passed it
//! both       | read | read |                                     reads and writes each at their rate,
//!            | write    | write |                                and together at one for both
//! single     | one ........... |                                   one request alone passes slower than many
//! limits     |                                                     beside all of these (limit)
//! ```

use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};

use node::Time;
use node::backend::{Request, chain_capacity};

use super::bus::{Buses, Crossing};
use super::cache::{Cached, WriteCache};
use super::limit::{Limit, Shares};
use super::placement::{Placement, Stretch};
use super::platter::{Head, Platter, Transfer};

pub(super) const KIB: u64 = 1024;

const FS_PER_NS: u64 = 1_000_000;

/// The time of requests in nanoseconds; 0 by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskModel {
    /// Time before the first byte of a request.
    pub latency_ns: u64,
    /// Time per KiB read; of platters, on the outermost track.
    pub read_ns_per_kib: u64,
    /// Time per KiB written; of platters, on the outermost track.
    pub write_ns_per_kib: u64,
}

/// A device, of which requests take time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Device {
    /// The time of a request where nothing must move.
    pub model: DiskModel,
    /// Requests whose latencies overlap; 0 counts as 1. Bytes are transferred one after the other.
    pub depth: usize,
    /// Of a device that reads and writes at once, each at its own rate: the time per KiB of both together.
    /// Otherwise reads and writes wait for each other.
    pub both_ns_per_kib: Option<u64>,
    /// The rates of one request, if only several at once reach those of the model.
    pub single: Option<Rates>,
    /// The limit on KiB.
    pub byte_limit: Limit,
    /// The limit on requests.
    pub request_limit: Limit,
    /// The platters, if there are any.
    pub platter: Option<Platter>,
    /// The cache of writes, if there is one.
    pub cache: Option<WriteCache>,
    /// The number of the bus that it shares with others.
    pub bus: Option<usize>,
}

impl From<DiskModel> for Device {
    fn from(model: DiskModel) -> Device {
        Device {
            model,
            ..Device::default()
        }
    }
}

/// The rates of a bus or controller that several devices share, or of a single request of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Time per KiB read.
    pub read_ns_per_kib: u64,
    /// Time per KiB written.
    pub write_ns_per_kib: u64,
}

impl Rates {
    pub(super) fn of(self, transfer: Transfer) -> u64 {
        match transfer {
            Transfer::Read => self.read_ns_per_kib,
            Transfer::Write => self.write_ns_per_kib,
        }
    }
}

/// The use of a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The path under which it is mounted.
    pub under: PathBuf,
    /// By reads.
    pub read: Traffic,
    /// By writes.
    pub written: Traffic,
}

/// The use of a disk in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes that were moved.
    pub bytes: u64,
    /// Time in which the disk had such a request and no earlier one, in nanoseconds.
    pub busy_ns: u64,
    /// Requests, or parts of them, that did not go on where the last one ended.
    pub seeks: u64,
    /// The end of the last such request.
    pub last: Time,
}

impl Usage {
    /// Both directions together.
    pub fn both(&self) -> Traffic {
        let [a, b] = [self.read, self.written];
        Traffic {
            bytes: a.bytes + b.bytes,
            busy_ns: a.busy_ns + b.busy_ns,
            seeks: a.seeks + b.seeks,
            last: a.last.max(b.last),
        }
    }

    fn of(&mut self, transfer: Transfer) -> &mut Traffic {
        match transfer {
            Transfer::Read => &mut self.read,
            Transfer::Write => &mut self.written,
        }
    }
}

/// The present, and the femtoseconds of a tick.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    pub(super) now: Time,
    pub(super) tick_fs: u64,
}

impl Clock {
    pub(super) fn ticks(self, ns: u64) -> u64 {
        let ticks = u128::from(ns) * u128::from(FS_PER_NS) / u128::from(self.tick_fs);
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

/// When transfers have passed: all, if reads and writes wait for each other; else those of each way, and all
/// at the rate of both together.
#[derive(Default)]
struct Lanes {
    all: Time,
    reads: Time,
    writes: Time,
}

impl Lanes {
    fn of(&mut self, transfer: Transfer, do_both: bool) -> &mut Time {
        match transfer {
            _ if !do_both => &mut self.all,
            Transfer::Read => &mut self.reads,
            Transfer::Write => &mut self.writes,
        }
    }

    /// The end of a transfer that would end at `end` alone, and takes `ticks` at the rate of both. That
    /// one holds while there are transfers of the other way.
    fn beside(&mut self, transfer: Transfer, reached: Time, end: Time, ticks: u64) -> Time {
        let other = match transfer {
            Transfer::Read => self.writes,
            Transfer::Write => self.reads,
        };
        let together = self.all.max(reached).after(ticks);
        let is_alone = other <= reached;
        self.all = if is_alone {
            together.min(end)
        } else {
            together
        };
        *self.of(transfer, true) = end.max(self.all);
        end.max(self.all)
    }
}

pub(super) struct Disk {
    /// Bytes that fit on it.
    pub(super) capacity: u64,
    device: Device,
    /// The ends of the last requests in order, as many as are served at a time.
    ends: VecDeque<Time>,
    lanes: Lanes,
    /// Of KiB, and of requests.
    shares: [Shares; 2],
    cached: Option<Cached>,
    /// Places of files on its platters.
    placed: Option<(Placement, Head)>,
    usage: Usage,
}

impl Disk {
    pub(super) fn new(under: &Path, device: Device, number: u64) -> Disk {
        let placed = |platter: Platter| (Placement::new(platter.bytes), Head::new(number));
        Disk {
            capacity: device.platter.map_or(u64::MAX, |platter| platter.bytes),
            device,
            ends: VecDeque::new(),
            lanes: Lanes::default(),
            shares: [device.byte_limit, device.request_limit].map(Shares::new),
            cached: device.cache.map(Cached::new),
            placed: device.platter.map(placed),
            usage: Usage {
                under: under.to_owned(),
                read: Traffic::default(),
                written: Traffic::default(),
            },
        }
    }

    /// The path under which it is mounted.
    pub(super) fn under(&self) -> &Path {
        &self.usage.under
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage.clone()
    }

    pub(super) fn turns(&self) -> bool {
        self.placed.is_some()
    }

    /// Forgets the requests on their way.
    pub(super) fn fail(&mut self) {
        self.ends.clear();
        self.lanes = Lanes::default();
        self.shares = [self.device.byte_limit, self.device.request_limit].map(Shares::new);
        self.cached = self.device.cache.map(Cached::new);
    }

    pub(super) fn place(&mut self, file: u64, range: Range<u64>) {
        if let Some((placement, _)) = &mut self.placed {
            placement.of(file, range);
        }
    }

    pub(super) fn share(&mut self, file: u64) {
        if let Some((placement, _)) = &mut self.placed {
            placement.share(file);
        }
    }

    pub(super) fn release(&mut self, file: u64, range: Range<u64>) {
        if let Some((placement, _)) = &mut self.placed {
            placement.release(file, range);
        }
    }

    /// The end of a request that arrives now by this clock.
    pub(super) fn serve(
        &mut self,
        buses: &mut Buses,
        file: u64,
        request: &Request,
        clock: Clock,
    ) -> Time {
        let Clock { now, tick_fs } = clock;
        let ticks = |ns: u64| clock.ticks(ns);
        let Moved {
            transfer,
            bytes,
            offset,
        } = Moved::by(request);
        let at = |ns_per_kib: u64| ticks(bytes.div_ceil(KIB).saturating_mul(ns_per_kib));
        let Device { model, depth, .. } = self.device;
        let last = self.ends.back().copied().unwrap_or(Time(0));
        let is_full = self.ends.len() >= depth.max(1);
        let before = is_full.then(|| self.ends.pop_front()).flatten();
        let begin = before.map_or(now, |end| end.max(now));
        let (reached_ns, transfer_ns) = match offset {
            Some(offset) => {
                let cached = self.cached.as_mut().filter(|_| transfer == Transfer::Write);
                let part = cached.map_or(1.0, |cached| cached.seek_part(now));
                self.pass(transfer, file, offset..offset + bytes, part)
            }
            None => (
                0,
                bytes.div_ceil(KIB).saturating_mul(self.rate_ns(transfer)),
            ),
        };
        // A head moves when the transfer before has ended.
        let reached = begin.after(ticks(model.latency_ns));
        let both_ns = self.device.both_ns_per_kib;
        let lane = self.lanes.of(transfer, both_ns.is_some());
        let passing = ticks(reached_ns.saturating_add(transfer_ns));
        let mut end = reached.max(*lane).after(passing);
        if let Some(bus) = self.device.bus {
            let crossing = Crossing {
                transfer,
                bytes,
                begin,
            };
            end = end.max(buses.pass(bus, crossing, clock));
        }
        *lane = end;
        if let Some(ns) = both_ns {
            end = self.lanes.beside(transfer, reached, end, at(ns));
        }
        if let Some(single) = self.device.single {
            end = end.max(reached.after(at(single.of(transfer))));
        }
        for (shares, count) in self.shares.iter_mut().zip([bytes.div_ceil(KIB), 1]) {
            end = end.max(shares.pass(count, transfer, now, ticks));
        }
        let place = self.ends.partition_point(|earlier| *earlier <= end);
        self.ends.insert(place, end);
        let idle_until = last.max(begin);
        if end > idle_until {
            self.usage.of(transfer).busy_ns += end.since(idle_until) * tick_fs / FS_PER_NS;
        }
        let traffic = self.usage.of(transfer);
        traffic.bytes += bytes;
        traffic.last = traffic.last.max(end);
        match &mut self.cached {
            Some(cached) if transfer == Transfer::Write && bytes > 0 => {
                cached.enter(bytes, (now, end), ticks)
            }
            _ => end,
        }
    }

    fn rate_ns(&self, transfer: Transfer) -> u64 {
        match transfer {
            Transfer::Read => self.device.model.read_ns_per_kib,
            Transfer::Write => self.device.model.write_ns_per_kib,
        }
    }

    /// The time to reach a range of a file over a part of the way, and that to pass over it.
    fn pass(&mut self, transfer: Transfer, file: u64, range: Range<u64>, part: f64) -> (u64, u64) {
        let rate_ns = self.rate_ns(transfer);
        let (Some(platter), Some((placement, head))) = (&self.device.platter, &mut self.placed)
        else {
            return (
                0,
                (range.end - range.start)
                    .div_ceil(KIB)
                    .saturating_mul(rate_ns),
            );
        };
        let stretches: Vec<Stretch> = placement.of(file, range);
        let (mut reached, mut passed) = (0.0, 0.0);
        for stretch in stretches {
            self.usage.of(transfer).seeks += u64::from(!head.is_at(stretch.0));
            reached += head.reach(platter, stretch.0, transfer, part);
            passed += head.pass(platter, stretch, rate_ns);
        }
        (reached as u64, passed as u64)
    }
}

/// The bytes that a request moves.
struct Moved {
    transfer: Transfer,
    bytes: u64,
    /// Where in the file, if that is known.
    offset: Option<u64>,
}

impl Moved {
    fn by(request: &Request) -> Moved {
        let (transfer, bytes, offset) = match request {
            Request::Read { bytes, offset, .. } => (Transfer::Read, *bytes, *offset),
            Request::ReadChain {
                buffers, offset, ..
            } => (Transfer::Read, chain_capacity(buffers), Some(*offset)),
            Request::Write { range, offset, .. } => (Transfer::Write, range.len(), *offset),
            Request::WriteChain {
                buffers, offset, ..
            } => (Transfer::Write, chain_capacity(buffers), Some(*offset)),
            Request::Sync { .. } => (Transfer::Write, 0, None),
        };
        Moved {
            transfer,
            bytes: bytes as u64,
            offset,
        }
    }
}
