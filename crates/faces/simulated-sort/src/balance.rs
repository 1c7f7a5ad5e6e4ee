//! Rules of thumb for balanced machines, which TritonSort names in its section 7.
//!
//! ```text
//! I/O           a bit of I/O a second for each instruction a second (Amdahl 1970): 8 MIPS a MB/s
//! memory        a byte of memory for each instruction a second (Amdahl, Case): 1 MB a MIPS, lately 4
//! accesses      an I/O in 50,000 instructions (Amdahl)
//! five minutes  data stay in memory if they are wanted again before an access to the disk has paid
//!               for their place (Gray and Putzolu 1987)
//! ```
//!
//! The first three have the form of Gray and Shenoy (Rules of Thumb in Data Engineering, ICDE 2000), the
//! last one that of Gray and Graefe (The Five-Minute Rule Ten Years Later, SIGMOD Record 1997): a sort
//! that spills writes its records and reads them, which takes two accesses.
//!
//! These are rules for orders of magnitude, so half or twice a single number keeps it. They know nothing of the
//! sort's stages; where they and the prediction differ, the prediction is right.

use std::ops::RangeInclusive;

use machine::{DiskGroup, Holds, Server};
use sort::StageName;

use crate::phases::PhaseTime;
use crate::prediction::{Prediction, Wish};

/// A rule, and the value of a machine and its sort.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Name of the rule, in few words.
    pub name: &'static str,
    /// The authors of the rule.
    pub source: &'static str,
    /// The unit of the values.
    pub unit: &'static str,
    /// The values that keep the rule.
    pub kept_by: RangeInclusive<f64>,
    /// The value here, or else the key that the machine's file lacks.
    pub value: Result<f64, &'static str>,
    if_less: &'static str,
    if_more: &'static str,
}

impl Rule {
    /// The direction in which the rule is broken, in words.
    pub fn broken(&self) -> Option<&'static str> {
        let value = self.value.ok()?;
        let (least, most) = (*self.kept_by.start(), *self.kept_by.end());
        match value {
            _ if value < least => Some(self.if_less),
            _ if value > most => Some(self.if_more),
            _ => None,
        }
    }
}

/// Bytes of a page that a program reads at random.
const PAGE: f64 = 4096.0;

/// The sort, as the five-minute rule sees it.
#[derive(Clone, Copy, Debug)]
struct Spilling {
    /// Whether records wait on disks, and not in memory.
    is_on_disks: bool,
    /// The mean bytes of a request.
    unit_bytes: f64,
    /// Seconds for which a record waits between the phases, on the mean.
    wait_s: f64,
}

impl Wish {
    /// The rules, judged for a node of the machine and the sort as it was predicted.
    pub fn balance(&self, prediction: &Prediction) -> [Rule; 4] {
        let report = &prediction.reports[0];
        let used = |name: StageName| report.stage(name.name()).filter(|stage| stage.units > 0);
        let spiller = used(StageName::Spiller).or_else(|| used(StageName::RunWriter));
        let units = spiller.or_else(|| used(StageName::Reader));
        let phases = prediction.phases().into_iter();
        let both = phases.filter(|phase| [PhaseTime::ONE, PhaseTime::TWO].contains(&phase.name));
        let spilling = Spilling {
            is_on_disks: spiller.is_some(),
            unit_bytes: units.map_or(PAGE, |stage| stage.unit_bytes()),
            // A record is read at any time of phase one, and its bucket has its turn at any time of phase two.
            wait_s: both.map(|phase| phase.seconds).sum::<f64>() / 2.0,
        };
        [
            io(&self.server),
            memory(&self.server, self.memory_of_a_node()),
            accesses(&self.server),
            five_minutes(&self.server, spilling),
        ]
    }
}

/// Millions of instructions a second of a node.
fn mips(server: &Server) -> Result<f64, &'static str> {
    let of_a_core = server.node.mips.ok_or("mips in [node]")?;
    Ok(of_a_core * server.node.cores as f64)
}

fn io(server: &Server) -> Rule {
    let rate = |disks: &DiskGroup| disks.count as f64 * disks.read_mb_s;
    let sum = |bus: Option<&String>| -> f64 {
        let disks = server.disks.iter().filter(|it| it.bus.as_ref() == bus);
        disks.map(rate).sum()
    };
    let buses = server.buses.iter();
    let on_buses = buses.map(|bus| sum(Some(&bus.name)).min(bus.read_mb_s));
    let mb_s = sum(None) + on_buses.sum::<f64>();
    Rule {
        name: "I/O",
        source: "Amdahl",
        unit: "MIPS a MB/s of disks",
        kept_by: 4.0..=16.0,
        value: mips(server).map(|mips| mips / mb_s),
        if_less: "cores too slow for the disks",
        if_more: "disks too slow for the cores",
    }
}

fn memory(server: &Server, bytes: u64) -> Rule {
    Rule {
        name: "memory",
        source: "Amdahl and Case",
        unit: "MB a MIPS",
        kept_by: 1.0..=4.0,
        value: mips(server).map(|mips| bytes as f64 / 1e6 / mips),
        if_less: "too little for the cores",
        if_more: "more than the cores need",
    }
}

fn accesses(server: &Server) -> Rule {
    let groups = server.disks.iter();
    let a_second: f64 = groups
        .map(|disks| disks.count as f64 / read_s(disks, PAGE))
        .sum();
    Rule {
        name: "accesses",
        source: "Amdahl",
        unit: "instructions an access",
        kept_by: 25_000.0..=100_000.0,
        value: mips(server).map(|mips| mips * 1e6 / a_second),
        if_less: "cores too slow for the disks",
        if_more: "too few",
    }
}

fn five_minutes(server: &Server, sort: Spilling) -> Rule {
    let even = break_even_s(server, sort.unit_bytes);
    let after = even.unwrap_or_default();
    Rule {
        name: "five minutes",
        source: "Gray",
        unit: "s between phases",
        kept_by: if sort.is_on_disks {
            after..=f64::INFINITY
        } else {
            0.0..=after
        },
        value: even.map(|_| sort.wait_s),
        if_less: "memory would cost less",
        if_more: "two passes would cost less",
    }
}

/// Seconds after which the place of a record in memory has cost as much as its write and its read.
fn break_even_s(server: &Server, unit_bytes: f64) -> Result<f64, &'static str> {
    let mut disks = server.disks.iter();
    let disks = disks.find(|disks| disks.holds != Holds::Files);
    let disks = disks.unwrap_or(&server.disks[0]);
    let disk_usd = disks.price_usd.ok_or("price_usd in [[disks]]")?;
    let gb_usd = server.node.memory_price_usd_per_gb;
    let mb_usd = gb_usd.ok_or("memory_price_usd_per_gb in [node]")? / 1e3;
    let units_of_a_mb = 1e6 / unit_bytes;
    let both_s = read_s(disks, unit_bytes) + write_s(disks, unit_bytes);
    Ok(units_of_a_mb * both_s * disk_usd / mb_usd)
}

fn read_s(disks: &DiskGroup, bytes: f64) -> f64 {
    begin_s(disks, disks.read_seek_ms) + bytes / (disks.read_mb_s * 1e6)
}

fn write_s(disks: &DiskGroup, bytes: f64) -> f64 {
    begin_s(disks, disks.write_seek_ms) + bytes / (disks.write_mb_s * 1e6)
}

/// Seconds before the first byte of a request at a random place, of those whose latencies overlap.
fn begin_s(disks: &DiskGroup, seek_ms: Option<[f64; 3]>) -> f64 {
    let half_a_turn_s = disks.rpm.map_or(0.0, |rpm| 30.0 / rpm);
    let seek_s = seek_ms.map_or(0.0, |[_, mean, _]| mean / 1e3);
    (disks.latency_us / 1e6 + seek_s + half_a_turn_s) / disks.depth.unwrap_or(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(rule: &Rule, expected: f64) {
        let value = rule.value.unwrap();
        let part = value / expected;
        assert!((0.999..1.001).contains(&part), "{rule:?}, not {expected}");
    }

    #[test]
    fn tritonsort_is_balanced_but_for_random_accesses() {
        let server = Server::load("tritonsort-2011").unwrap();
        // 8 cores of 2,270 MIPS; 16 disks of 92.3 MB/s; 24 GB.
        let rules = [io(&server), memory(&server, 24_000_000_000)];
        is_near(&rules[0], 18_160.0 / 1_476.8);
        is_near(&rules[1], 24_000.0 / 18_160.0);
        assert_eq!(rules.map(|rule| rule.broken()), [None, None]);
        // A command, a mean seek, half a turn, and 4 KiB: 0.2, 8, 4.167 and 0.044 ms.
        let accesses = accesses(&server);
        is_near(&accesses, 18_160e6 * 0.012_411 / 16.0);
        assert_eq!(accesses.broken(), Some("too few"));
    }

    #[test]
    fn disks_share_their_buses() {
        let server = Server::load("now-1997").unwrap();
        let two = io(&server);
        is_near(&two, 167.0 / 8.3);
        assert_eq!(two.broken(), Some("disks too slow for the cores"));
        let memory = memory(&server, server.memory_bytes());
        is_near(&memory, 44.0 / 167.0);
        assert_eq!(memory.broken(), Some("too little for the cores"));
        // Two Hawks of 5.5 MB/s on a bus of 8.3, and two Barracudas of 6.5 on one of 20.
        let four = io(&Server::load("now-1997-4").unwrap());
        is_near(&four, 167.0 / (8.3 + 13.0));
        assert_eq!(four.broken(), None);
    }

    /// The example of Gray and Graefe: 16 pages a MB, 80 accesses a second, a disk of 2,000 dollars and a
    /// MB of 15. They say 26 seconds, and twice that for a sort.
    #[test]
    fn a_sort_of_1997_breaks_even_after_a_minute() {
        let mut server = Server::load("now-1997").unwrap();
        server.disks[0] = DiskGroup {
            latency_us: 6_250.0,
            read_mb_s: 10.0,
            write_mb_s: 10.0,
            rpm: None,
            read_seek_ms: None,
            write_seek_ms: None,
            ..server.disks[0].clone()
        };
        let rule = |is_on_disks, wait_s| {
            let sort = Spilling {
                is_on_disks,
                unit_bytes: 62_500.0,
                wait_s,
            };
            five_minutes(&server, sort)
        };
        let even = *rule(true, 0.0).kept_by.start();
        assert!(
            (even - 2.0 * 16.0 / 80.0 * 2000.0 / 15.0).abs() < 1e-9,
            "{even}"
        );
        let cheaper = [
            (true, 50.0, Some("memory would cost less")),
            (true, 60.0, None),
            (false, 50.0, None),
            (false, 60.0, Some("two passes would cost less")),
        ];
        for (is_on_disks, wait_s, expected) in cheaper {
            assert_eq!(rule(is_on_disks, wait_s).broken(), expected);
        }
    }

    #[test]
    fn a_missing_key_is_named() {
        let mut server = Server::load("now-1997").unwrap();
        let sort = Spilling {
            is_on_disks: true,
            unit_bytes: PAGE,
            wait_s: 1.0,
        };
        server.node.memory_price_usd_per_gb = None;
        let missing = five_minutes(&server, sort);
        assert_eq!(missing.value, Err("memory_price_usd_per_gb in [node]"));
        server.disks[0].price_usd = None;
        let missing = five_minutes(&server, sort);
        assert_eq!(missing.value, Err("price_usd in [[disks]]"));
        server.node.mips = None;
        let missing = io(&server);
        assert_eq!(
            (missing.value, missing.broken()),
            (Err("mips in [node]"), None)
        );
    }
}
