//! What an experiment changes of a machine: each with the name of its option.

use std::ops::RangeBounds;

use machine::{Profile, Setting, parts};
use serde::Deserialize;
use serde_json::Value;

use crate::error::LabError;

/// What an experiment changes of a machine. On threads there is nothing to change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "Told")]
pub struct Changes {
    /// Whether switches carry one message to a group.
    pub multicast: Option<bool>,
    /// From a packet's first flit in to its first flit out of a switch.
    pub switch_ns: Option<f64>,
    /// From end to end of a link.
    pub link_ns: Option<f64>,
    /// Latency that is added to some messages, and to which share of them.
    pub tail: Option<(f64, f64)>,
    /// The share of packets that is lost on each link.
    pub loss: Option<f64>,
    /// Threads of this computer to run on.
    pub threads: Option<usize>,
}

/// The same as a file tells it, by the names of the options. Threads are no part of an experiment.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Told {
    multicast: Option<Switch>,
    switch_ns: Option<f64>,
    link_ns: Option<f64>,
    tail_ns: Option<f64>,
    tail_fraction: Option<f64>,
    loss: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Switch {
    On,
    Off,
}

impl TryFrom<Told> for Changes {
    type Error = &'static str;

    fn try_from(told: Told) -> Result<Changes, &'static str> {
        if told.tail_ns.is_some() != told.tail_fraction.is_some() {
            return Err(TAIL_IN_PARTS);
        }
        Ok(Changes {
            multicast: told.multicast.map(|switch| switch == Switch::On),
            switch_ns: told.switch_ns,
            link_ns: told.link_ns,
            tail: told.tail_ns.zip(told.tail_fraction),
            loss: told.loss,
            threads: None,
        })
    }
}

const TAIL_IN_PARTS: &str = "tail-ns and tail-fraction need each other";

/// A second: whatever is slower is no network of a cluster.
const MOST_NS: f64 = 1e9;

/// A packet and its acknowledgement cross four links or more. With half of all packets lost on
/// each, one try in 16 succeeds below one leaf, one in 256 over the spine, and each wait is twice
/// the last.
const MOST_LOSS: f64 = 0.5;

impl Changes {
    /// These, and for what they leave open those.
    #[must_use]
    pub fn over(&self, those: &Changes) -> Changes {
        Changes {
            multicast: self.multicast.or(those.multicast),
            switch_ns: self.switch_ns.or(those.switch_ns),
            link_ns: self.link_ns.or(those.link_ns),
            tail: self.tail.or(those.tail),
            loss: self.loss.or(those.loss),
            threads: self.threads.or(those.threads),
        }
    }

    /// Changes the one of that name; `None` when there is no such number.
    ///
    /// # Errors
    /// When one part of a tail is set, and the other is not known.
    pub(crate) fn set(&mut self, name: &str, value: f64) -> Option<Result<(), &'static str>> {
        let tail = self.tail;
        let other = |part: fn((f64, f64)) -> f64| tail.map(part).ok_or(TAIL_IN_PARTS);
        match name {
            "switch-ns" => self.switch_ns = Some(value),
            "link-ns" => self.link_ns = Some(value),
            "loss" => self.loss = Some(value),
            "tail-ns" => match other(|(_, share)| share) {
                Ok(share) => self.tail = Some((value, share)),
                Err(why) => return Some(Err(why)),
            },
            "tail-fraction" => match other(|(ns, _)| ns) {
                Ok(ns) => self.tail = Some((ns, value)),
                Err(why) => return Some(Err(why)),
            },
            _ => return None,
        }
        Some(Ok(()))
    }

    /// The first of these that would change a simulated machine.
    pub(crate) fn name_of_one(&self) -> Option<&'static str> {
        let named = self.named().next().map(|(name, _)| name);
        named.or_else(|| self.threads.map(|_| "threads"))
    }

    /// What is changed of the machine, by the names of the options. Threads of this computer are
    /// not part of it.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let multicast = self.multicast.map(|is_on| if is_on { "on" } else { "off" });
        [
            ("multicast", multicast.map(Value::from)),
            ("switch-ns", self.switch_ns.map(number)),
            ("link-ns", self.link_ns.map(number)),
            ("tail-ns", self.tail.map(|(ns, _)| number(ns))),
            ("tail-fraction", self.tail.map(|(_, share)| number(share))),
            ("loss", self.loss.map(number)),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| (name, value)))
    }

    /// The same for people.
    pub fn told(&self) -> Vec<String> {
        let word = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        self.named()
            .map(|(name, value)| format!("{name} {}", word(&value)))
            .collect()
    }

    /// The latencies that are no whole ticks of this machine: the option, what was asked for, what
    /// is used.
    pub(crate) fn rounded(&self, profile: &Profile) -> Vec<(&'static str, f64, f64)> {
        const FS_PER_NS: f64 = 1e6;
        let used = |ns| (profile.ticks(ns) * profile.tick_fs) as f64 / FS_PER_NS;
        let latencies = self.latencies().into_iter();
        let asked = latencies.filter_map(|(ns, name)| ns.map(|ns| (name, ns, used(ns))));
        asked.filter(|(_, asked, used)| asked != used).collect()
    }

    fn latencies(&self) -> [(Option<f64>, &'static str); 3] {
        let tail_ns = self.tail.map(|(ns, _)| ns);
        [
            (self.switch_ns, "switch-ns"),
            (self.link_ns, "link-ns"),
            (tail_ns, "tail-ns"),
        ]
    }

    pub(crate) fn check(&self) -> Result<(), LabError> {
        let latency = "a latency must be from 0 to 1,000,000,000 nanoseconds";
        for (ns, name) in self.latencies() {
            within(ns, name, 0.0..=MOST_NS, latency)?;
        }
        let share = self.tail.map(|(_, share)| share);
        within(
            share,
            "tail-fraction",
            0.0..=1.0,
            "a share must be from 0 to 1",
        )?;
        let loss = "must be from 0 to below 0.5; a packet and its acknowledgement cross 4 to 8 links, \
                    so with more a run would hardly end";
        within(self.loss, "loss", 0.0..MOST_LOSS, loss)
    }

    pub(crate) fn setting(&self, profile: &Profile) -> Setting {
        let plain = Setting::new(1);
        let (tail_ns, share) = self.tail.unwrap_or_default();
        Setting {
            multicast: self.multicast.unwrap_or(plain.multicast),
            threads: self.threads.unwrap_or(plain.threads),
            tail: profile.ticks(tail_ns),
            tail_parts: parts(share),
            loss_parts: parts(self.loss.unwrap_or(0.0)),
            ..plain
        }
    }
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

/// A whole number stays one: 100 and not 100.0.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 {
        Value::from(value as u64)
    } else {
        Value::from(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_the_names_of_their_options() {
        assert!(Changes::default().told().is_empty());
        let changes = Changes {
            multicast: Some(false),
            switch_ns: Some(100.0),
            link_ns: Some(0.5),
            tail: Some((3000.0, 0.01)),
            loss: Some(1e-3),
            threads: Some(4),
        };
        let told = "multicast off, switch-ns 100, link-ns 0.5, tail-ns 3000, tail-fraction 0.01, \
                    loss 0.001";
        assert_eq!(changes.told().join(", "), told);
    }

    #[test]
    fn a_tail_is_changed_part_by_part() {
        let mut changes = Changes::default();
        assert_eq!(changes.set("tail-ns", 5.0), Some(Err(TAIL_IN_PARTS)));
        assert_eq!(changes.set("cores", 5.0), None);
        changes.tail = Some((0.0, 0.01));
        for (name, value) in [("tail-ns", 3000.0), ("tail-fraction", 0.02), ("loss", 0.5)] {
            assert_eq!(changes.set(name, value), Some(Ok(())));
        }
        assert_eq!(
            changes.told().join(", "),
            "tail-ns 3000, tail-fraction 0.02, loss 0.5"
        );
    }

    #[test]
    fn what_is_no_whole_tick_is_told() {
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
    fn half_of_all_packets_is_too_much() {
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
