//! The critical path of a run: microseconds by stage and kind, and its segments.

use machine::{CriticalPath, PathKind, Profile, Segment};
use serde::{Serialize, Serializer};

use crate::spread::microseconds;

/// The critical path of a run, in microseconds.
#[derive(Clone, Debug, Serialize)]
pub struct PathReport {
    /// Its length: the end of the last core.
    pub time_us: f64,
    /// Messages on the path.
    pub messages: u64,
    /// Those of them that stayed below one leaf.
    pub messages_in_leaf: u64,
    /// The stages in the order in which the path first enters them.
    pub stages: Vec<PathStage>,
    /// All parts, in order of time.
    pub segments: Vec<PathSegment>,
}

/// The part of a critical path in a stage.
#[derive(Clone, Debug, Serialize)]
pub struct PathStage {
    /// Name of the stage; empty outside of stages.
    pub stage: &'static str,
    /// Time of each kind, by its word.
    #[serde(serialize_with = "by_word")]
    pub us: Vec<(PathKind, f64)>,
}

/// A part of a critical path.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PathSegment {
    /// The kind of time.
    #[serde(serialize_with = "word")]
    pub kind: PathKind,
    /// Stage of the core, or of a message's sender.
    pub stage: &'static str,
    /// The core, or a message's receiver.
    pub core: u32,
    /// A message's sender, else the core.
    pub from: u32,
    /// Start in microseconds.
    pub begin_us: f64,
    /// End in microseconds.
    pub end_us: f64,
}

fn word<S: Serializer>(kind: &PathKind, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(kind.word())
}

fn by_word<S: Serializer>(all: &[(PathKind, f64)], out: S) -> Result<S::Ok, S::Error> {
    out.collect_map(all.iter().map(|(kind, us)| (kind.word(), us)))
}

impl PathReport {
    pub(crate) fn new(path: &CriticalPath, profile: &Profile) -> PathReport {
        let us = |ticks| microseconds(ticks, profile.tick_fs);
        let segments = path.segments.iter().map(|it| PathSegment {
            kind: it.kind,
            stage: it.stage,
            core: it.rank,
            from: it.from,
            begin_us: us(it.begin),
            end_us: us(it.end),
        });
        // Each message has its latency once.
        let hops = || path.segments.iter().filter(|it| it.kind == PathKind::Hops);
        let leaf = |rank: u32| rank / (profile.core.ranks_per_nic * profile.network.down_links);
        let is_in_leaf = |it: &&Segment| profile.graph.is_none() && leaf(it.from) == leaf(it.rank);
        PathReport {
            time_us: us(path.segments.last().map_or(0, |last| last.end)),
            messages: hops().count() as u64,
            messages_in_leaf: hops().filter(is_in_leaf).count() as u64,
            stages: stages(&path.segments, us),
            segments: segments.collect(),
        }
    }

    /// Time of a kind in all stages.
    pub fn of(&self, kind: PathKind) -> f64 {
        self.stages.iter().map(|stage| stage.of(kind)).sum()
    }
}

impl PathStage {
    /// Time of a kind.
    pub fn of(&self, kind: PathKind) -> f64 {
        let found = self.us.iter().find(|(known, _)| *known == kind);
        found.map_or(0.0, |(_, us)| *us)
    }

    /// Time of all kinds.
    pub fn total(&self) -> f64 {
        self.us.iter().map(|(_, us)| us).sum()
    }
}

fn stages(segments: &[Segment], us: impl Fn(u64) -> f64) -> Vec<PathStage> {
    let mut stages: Vec<(&'static str, [u64; PathKind::ALL.len()])> = Vec::new();
    for segment in segments {
        let known = stages.iter().position(|(name, _)| *name == segment.stage);
        let place = known.unwrap_or_else(|| {
            stages.push((segment.stage, [0; PathKind::ALL.len()]));
            stages.len() - 1
        });
        stages[place].1[segment.kind as usize] += segment.ticks();
    }
    let named = |ticks: [u64; PathKind::ALL.len()]| {
        let all = PathKind::ALL.into_iter().zip(ticks);
        all.map(|(kind, ticks)| (kind, us(ticks))).collect()
    };
    let stages = stages.into_iter();
    stages
        .map(|(stage, ticks)| PathStage {
            stage,
            us: named(ticks),
        })
        .collect()
}
