//! Changes of a machine, by the names of the command line's options.

mod words;

use std::ops::RangeBounds;

use clap::Args;
use grain::count;
use machine::{Profile, Raised, Setting, parts};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use units::number;

pub use self::words::{AckAggregate, Multicast, Transport};
use crate::error::LabError;

/// Changes of a simulated machine.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Changes {
    /// How switches carry a multicast [default: on]
    #[arg(long, value_enum, value_name = "HOW")]
    pub multicast: Option<Multicast>,
    /// Whether switches aggregate the ACKs of a multicast [default: on]
    #[arg(long, value_enum, value_name = "HOW")]
    pub ack_aggregate: Option<AckAggregate>,
    /// The transport of the NICs [default: ndp]
    #[arg(long, value_enum, value_name = "NAME")]
    pub transport: Option<Transport>,
    /// Packets of a message that Homa sends without a GRANT, 1 or 2 [default: 2]
    #[arg(long, value_name = "N", value_parser = count)]
    #[serde(deserialize_with = "count_of_number")]
    pub unscheduled: Option<u32>,
    /// Latency of a switch in nanoseconds [default: the machine's]
    #[arg(long, value_name = "X", value_parser = number)]
    pub switch_ns: Option<f64>,
    /// Latency of a link in nanoseconds [default: the machine's]
    #[arg(long, value_name = "X", value_parser = number)]
    pub link_ns: Option<f64>,
    /// Bytes of a switch's queue [default: the machine's]
    #[arg(long, value_name = "B", value_parser = number)]
    pub queue_bytes: Option<f64>,
    /// Nanoseconds of the core that each send and each receive take longer (o of LogP)
    #[arg(long, value_name = "X", value_parser = number)]
    pub overhead_ns: Option<f64>,
    /// Nanoseconds that each message takes longer to arrive (L of LogP)
    #[arg(long, value_name = "X", value_parser = number)]
    pub latency_ns: Option<f64>,
    /// Nanoseconds of the NIC after each packet of data (g of LogP)
    #[arg(long, value_name = "X", value_parser = number)]
    pub gap_ns: Option<f64>,
    /// Nanoseconds of the NIC for each byte (G of LogGP)
    #[arg(long, value_name = "X", value_parser = number)]
    pub byte_ns: Option<f64>,
    /// Time of a cache miss in nanoseconds [default: the machine's]
    #[arg(long, value_name = "X", value_parser = number)]
    pub miss_ns: Option<f64>,
    /// Time in nanoseconds for which a loaded cache line occupies the L2 that the cores of a NIC
    /// share; with 0 they do not wait for each other [default: the machine's]
    #[arg(long, value_name = "X", value_parser = number)]
    pub l2_line_ns: Option<f64>,
    /// Cores behind each NIC; with fewer, a network without a [graph] has more NICs [default: the
    /// machine's]
    #[arg(long, value_name = "N", value_parser = count)]
    #[serde(deserialize_with = "count_of_number")]
    pub cores_per_nic: Option<u32>,
    /// Latency in nanoseconds that is added to some messages [default: none]
    #[arg(long, value_name = "X", value_parser = number)]
    pub tail_ns: Option<f64>,
    /// The share of messages that --tail-ns is added to, from 0 to 1
    #[arg(long, value_name = "P", value_parser = number)]
    pub tail_fraction: Option<f64>,
    /// The share of packets that each link loses, from 0 to below 0.5 [default: 0]
    #[arg(long, value_name = "P", value_parser = number)]
    pub loss: Option<f64>,
    /// Threads of this computer to simulate on; no part of an experiment.
    #[arg(skip)]
    #[serde(skip)]
    pub threads: Option<usize>,
}

/// A second: no cluster has a slower network.
const MOST_NS: f64 = 1e9;

/// Above all memory of this computer: a queue of these bytes never overflows.
const MOST_BYTES: f64 = 1e12;

/// A packet and its acknowledgement cross at least four links. If each link loses half of all
/// packets, one try in 16 succeeds below a leaf and one in 256 over the spine, and every wait is
/// twice the one before.
const MOST_LOSS: f64 = 0.5;

impl Changes {
    /// These changes, and `those` for options that these leave out.
    #[must_use]
    pub fn over(&self, those: &Changes) -> Changes {
        let mut all = those.all();
        all.extend(self.all().into_iter().filter(|(_, value)| !value.is_null()));
        Changes {
            threads: self.threads.or(those.threads),
            ..serde_json::from_value(all.into()).expect("both are changes")
        }
    }

    /// Whether there is a change of that name.
    pub fn knows(name: &str) -> bool {
        Changes::default().all().contains_key(name)
    }

    /// Sets the change of that name; false if there is none.
    pub(crate) fn set(&mut self, name: &str, value: &impl Serialize) -> Result<bool, String> {
        let mut all = self.all();
        let Some(old) = all.get_mut(name) else {
            return Ok(false);
        };
        let told = |error: serde_json::Error| error.to_string();
        *old = serde_json::to_value(value).map_err(told)?;
        *self = Changes {
            threads: self.threads,
            ..serde_json::from_value(all.into()).map_err(told)?
        };
        Ok(true)
    }

    pub(crate) fn names() -> Vec<String> {
        Changes::default().all().keys().cloned().collect()
    }

    /// All changes by option, `null` for those that are left out.
    fn all(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(all)) => all,
            _ => unreachable!("changes are fields of a struct"),
        }
    }

    /// Refuses changes `there`, where no machine is simulated.
    pub(crate) fn unless_one(&self, there: &str) -> Result<(), LabError> {
        let named = self.named().next().map(|(name, _)| name);
        match named.or_else(|| self.threads.map(|_| "threads".to_owned())) {
            None => Ok(()),
            Some(name) => Err(LabError::usage(format!(
                "--{name} changes a simulated machine, and has no effect {there}; omit it"
            ))),
        }
    }

    /// The changes by option, without the threads of this computer.
    pub(crate) fn named(&self) -> impl Iterator<Item = (String, Value)> {
        let set = self.all().into_iter().filter(|(_, value)| !value.is_null());
        set.map(|(name, value)| (name, whole(value)))
    }

    /// The changes for people, each as `name value`.
    pub fn told(&self) -> Vec<String> {
        let named = self.named();
        let words = named.map(|(name, value)| format!("{name} {}", word(&value)));
        words.collect()
    }

    /// Latencies that are no whole ticks of this machine: the option, and the given and the used
    /// nanoseconds.
    pub(crate) fn rounded(&self, profile: &Profile) -> Vec<(&'static str, f64, f64)> {
        const FS_PER_NS: f64 = 1e6;
        let used = |ns| (profile.ticks(ns) * profile.tick_fs) as f64 / FS_PER_NS;
        let latencies = self.latencies().into_iter();
        // These are kept in thousandths.
        let whole = latencies.filter(|(_, name)| !["byte-ns", "miss-ns"].contains(name));
        let asked = whole.filter_map(|(ns, name)| ns.map(|ns| (name, ns, used(ns))));
        asked.filter(|(_, asked, used)| asked != used).collect()
    }

    /// Bytes of a switch's queue, if they are changed.
    pub(crate) fn queue(&self) -> Option<u64> {
        self.queue_bytes.map(|bytes| bytes as u64)
    }

    pub(crate) fn raised(&self) -> Raised {
        Raised {
            overhead_ns: self.overhead_ns,
            latency_ns: self.latency_ns,
            gap_ns: self.gap_ns,
            byte_ns: self.byte_ns,
        }
    }

    fn latencies(&self) -> [(Option<f64>, &'static str); 9] {
        [
            (self.overhead_ns, "overhead-ns"),
            (self.latency_ns, "latency-ns"),
            (self.gap_ns, "gap-ns"),
            (self.byte_ns, "byte-ns"),
            (self.miss_ns, "miss-ns"),
            (self.l2_line_ns, "l2-line-ns"),
            (self.switch_ns, "switch-ns"),
            (self.link_ns, "link-ns"),
            (self.tail_ns, "tail-ns"),
        ]
    }

    pub(crate) fn check(&self) -> Result<(), LabError> {
        let latency = "a time must be from 0 to 1,000,000,000 nanoseconds";
        for (ns, name) in self.latencies() {
            within(ns, name, 0.0..=MOST_NS, latency)?;
        }
        let queue = "a queue must have whole bytes, from 1 to 1,000,000,000,000";
        within(self.queue_bytes, "queue-bytes", 1.0..=MOST_BYTES, queue)?;
        if self.tail_ns.is_some() != self.tail_fraction.is_some() {
            return Err(LabError::usage("tail-ns and tail-fraction need each other"));
        }
        if self.ack_aggregate.is_some() && self.multicast == Some(Multicast::Off) {
            let told = "--ack-aggregate is about the ACKs of a multicast, and has no effect with \
                        --multicast off; omit one of them";
            return Err(LabError::usage(told));
        }
        if let Some(unscheduled) = self.unscheduled {
            Transport::check(self.transport, unscheduled)?;
        }
        within(
            self.tail_fraction,
            "tail-fraction",
            0.0..=1.0,
            "a share must be from 0 to 1",
        )?;
        let loss = "must be from 0 to below 0.5; a packet and its acknowledgement cross 4 to 8 \
                    links, so with more a run would hardly end";
        within(self.loss, "loss", 0.0..MOST_LOSS, loss)
    }

    pub(crate) fn setting(&self, profile: &Profile) -> Setting {
        let plain = Setting::new(1);
        Setting {
            multicast: self.multicast.map_or(plain.multicast, Multicast::setting),
            aggregates_acks: self.ack_aggregate != Some(AckAggregate::Off),
            transport: Transport::setting(self.transport, self.unscheduled),
            threads: self.threads.unwrap_or(plain.threads),
            tail: profile.ticks(self.tail_ns.unwrap_or(0.0)),
            tail_parts: parts(self.tail_fraction.unwrap_or(0.0)),
            loss_parts: parts(self.loss.unwrap_or(0.0)),
            ..plain
        }
    }
}

/// A count that a grid gives as a number like any other.
fn count_of_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(from)? else {
        return Ok(None);
    };
    if number.fract() != 0.0 || !(1.0..=f64::from(u32::MAX)).contains(&number) {
        let told = format!(
            "expected a whole number from 1 to {}, and not {number}",
            u32::MAX
        );
        return Err(D::Error::custom(told));
    }
    Ok(Some(number as u32))
}

/// A value for people: words without quotes.
pub(crate) fn word(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn within(
    value: Option<f64>,
    name: &str,
    range: impl RangeBounds<f64>,
    expected: &str,
) -> Result<(), LabError> {
    match value {
        Some(value) if !range.contains(&value) => {
            Err(LabError::usage(format!("--{name} {value}: {expected}")))
        }
        _ => Ok(()),
    }
}

fn whole(value: Value) -> Value {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 => Value::from(number as u64),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_the_names_of_options() {
        assert!(Changes::default().told().is_empty());
        let changes = Changes {
            multicast: Some(Multicast::OneSpine),
            ack_aggregate: Some(AckAggregate::Off),
            transport: Some(Transport::Homa),
            unscheduled: Some(1),
            switch_ns: Some(100.0),
            link_ns: Some(0.5),
            queue_bytes: Some(2000.0),
            overhead_ns: Some(5.0),
            latency_ns: Some(6.0),
            gap_ns: Some(7.0),
            byte_ns: Some(8.0),
            miss_ns: Some(7.5),
            l2_line_ns: Some(2.5),
            cores_per_nic: Some(1),
            tail_ns: Some(3000.0),
            tail_fraction: Some(0.01),
            loss: Some(1e-3),
            threads: Some(4),
        };
        let told = "multicast one-spine, ack-aggregate off, transport homa, unscheduled 1, switch-ns 100, link-ns 0.5, queue-bytes 2000, \
                    overhead-ns 5, latency-ns 6, gap-ns 7, byte-ns 8, miss-ns 7.5, l2-line-ns 2.5, cores-per-nic 1, tail-ns 3000, tail-fraction 0.01, loss 0.001";
        assert_eq!(changes.told().join(", "), told);
    }

    #[test]
    fn a_tail_can_be_set_part_by_part() {
        let mut changes = Changes::default();
        assert_eq!(changes.set("cores", &5), Ok(false));
        assert_eq!(changes.set("tail-ns", &5), Ok(true));
        let told = changes.check().unwrap_err().to_string();
        assert_eq!(told, "tail-ns and tail-fraction need each other");
        for (name, value) in [("tail-ns", 3000.0), ("tail-fraction", 0.02), ("loss", 0.25)] {
            assert_eq!(changes.set(name, &value), Ok(true));
        }
        assert_eq!(changes.check(), Ok(()));
        assert_eq!(
            changes.told().join(", "),
            "tail-ns 3000, tail-fraction 0.02, loss 0.25"
        );
        assert!(changes.set("loss", &"much").is_err());
        assert_eq!(changes.set("cores-per-nic", &2.0), Ok(true));
        assert_eq!(changes.cores_per_nic, Some(2));
        let told = changes.set("cores-per-nic", &0.5).unwrap_err();
        assert_eq!(
            told,
            "expected a whole number from 1 to 4294967295, and not 0.5"
        );
    }

    #[test]
    fn unscheduled_packets_are_of_homa() {
        let with = |transport, unscheduled| {
            let changes = Changes {
                transport,
                unscheduled: Some(unscheduled),
                ..Changes::default()
            };
            changes.check().map_err(|error| error.to_string())
        };
        assert_eq!(with(Some(Transport::Homa), 1), Ok(()));
        let told = with(Some(Transport::Homa), 3).unwrap_err();
        assert!(told.contains("--unscheduled 3: must be 1 or 2"), "{told}");
        for transport in [None, Some(Transport::Ndp)] {
            let told = with(transport, 1).unwrap_err();
            assert!(told.contains("add --transport homa"), "{told}");
        }
    }

    #[test]
    fn acks_without_a_multicast_are_refused() {
        let with = |multicast| {
            let changes = Changes {
                multicast,
                ack_aggregate: Some(AckAggregate::Off),
                ..Changes::default()
            };
            changes.check().map_err(|error| error.to_string())
        };
        assert_eq!(with(None), Ok(()));
        assert_eq!(with(Some(Multicast::FirstLeaf)), Ok(()));
        let told = with(Some(Multicast::Off)).unwrap_err();
        assert!(told.contains("omit one of them"), "{told}");
    }

    #[test]
    fn latencies_are_rounded_to_ticks() {
        let nanopu = Profile::named("nanopu").unwrap();
        let with = |link_ns| Changes {
            link_ns: Some(link_ns),
            ..Changes::default()
        };
        let rounded = |link_ns| with(link_ns).rounded(&nanopu);
        assert_eq!(rounded(0.1), [("link-ns", 0.1, 0.0)]);
        assert_eq!(rounded(20.5), [("link-ns", 20.5, 20.625)]);
        assert!(rounded(100.0).is_empty() && rounded(0.0).is_empty() && rounded(0.625).is_empty());
    }

    #[test]
    fn losing_half_of_all_packets_is_refused() {
        let with = |loss| {
            Changes {
                loss: Some(loss),
                ..Changes::default()
            }
            .check()
        };
        assert_eq!(with(0.49), Ok(()));
        for loss in [0.5, 0.75, 1.0] {
            let told = with(loss).unwrap_err().to_string();
            assert!(told.starts_with(&format!("--loss {loss}: ")), "{told}");
            assert!(told.contains("hardly end"), "{told}");
        }
    }
}
