//! Plans of papers, from `plans/*.toml`: the numbers that drive the stages instead of derived ones.
//!
//! Keys end with their unit; sizes are decimal. Comments give the source of each number. A number that a
//! file lacks is derived from the machine, as in a real sort.

use std::path::Path;

use serde::Deserialize;
use sort::{Choice, ExchangeKind, Job, SpillLayout, SplitterChoice, Tuning};

use crate::unpredicted::Unpredicted;

/// A plan with a name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignPlan {
    format: u32,
    /// Name by which a built-in plan is chosen.
    pub name: String,
    /// Description for people, in one line.
    pub description: String,
    plan: Numbers,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    sort: Passes,
    #[serde(default)]
    spill_layout: SpillLayout,
    #[serde(default)]
    exchange: ExchangeKind,
    #[serde(default)]
    splitters: SplitterChoice,
    readers: Option<usize>,
    node_distributors: Option<usize>,
    distributors: Option<usize>,
    spillers: Option<usize>,
    sorters: Option<usize>,
    writers: Option<usize>,
    depth: Option<usize>,
    spiller_depth: Option<usize>,
    write_tokens: Option<usize>,
    unit_mb: Option<f64>,
    sent_mb: Option<f64>,
    partitions: Option<usize>,
    chunk_kb: Option<f64>,
    load_chunks: Option<usize>,
    least_write_mb: Option<f64>,
    most_write_mb: Option<f64>,
    area_mb: Option<f64>,
    pool_mb: Option<f64>,
    #[serde(default)]
    spills_all: bool,
    /// Whether inputs are deleted before the output is written, so that it lies where they did. Only a
    /// simulated sort has that: Gristmill deletes no input.
    #[serde(default)]
    deletes_inputs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Passes {
    OnePass,
    TwoPass,
    Merge,
}

/// Numbers that are to be others than in the files: those of the plan begin with `plan.`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Of the machine.
    pub of_server: Vec<String>,
    /// Of the plan.
    pub of_plan: Vec<String>,
}

impl Changes {
    /// Each is `KEY=VALUE`.
    pub fn of(all: &[String]) -> Changes {
        let changes = all.iter().filter(|change| !change.is_empty()).cloned();
        let (of_plan, of_server) = changes.partition(|change| change.starts_with("plan."));
        Changes { of_server, of_plan }
    }
}

const KB: f64 = 1e3;
const MB: f64 = 1e6;

/// Bytes of a disk block, the least size of anything on a disk.
pub(crate) const BLOCK: usize = 4096;

/// No number of a plan is larger: workers, requests, partitions, or a million millions of bytes.
const MOST: usize = 1 << 20;

impl ForeignPlan {
    /// The built-in plans: their names, and the texts of their files.
    pub const BUILT_IN: [(&str, &str); 5] = [
        ("tritonsort", include_str!("../plans/tritonsort.toml")),
        (
            "tritonsort-48gb",
            include_str!("../plans/tritonsort-48gb.toml"),
        ),
        ("heaper-merger", include_str!("../plans/heaper-merger.toml")),
        ("now-sort", include_str!("../plans/now-sort.toml")),
        ("psort", include_str!("../plans/psort.toml")),
    ];

    /// The built-in plan of this name, or else the one in the file of this path.
    ///
    /// # Errors
    /// If there is neither, or a mistake in the file.
    pub fn load(name_or_path: &str) -> Result<ForeignPlan, Unpredicted> {
        ForeignPlan::load_changed(name_or_path, &[])
    }

    /// As [`ForeignPlan::load`], with changes as for a machine.
    ///
    /// # Errors
    /// As [`ForeignPlan::load`], and a mistake in a change.
    pub fn load_changed(
        name_or_path: &str,
        changes: &[String],
    ) -> Result<ForeignPlan, Unpredicted> {
        let mut built_in = ForeignPlan::BUILT_IN.into_iter();
        let known = built_in.find(|(name, _)| *name == name_or_path);
        let text = match known {
            Some((_, text)) => text.to_owned(),
            None => machine::text::read(Path::new(name_or_path), machine::text::MOST_BYTES)
                .map_err(|error| {
                    let names = ForeignPlan::BUILT_IN.map(|(name, _)| name).join(", ");
                    Unpredicted::because(format!(
                        "{name_or_path}: {error}; give a file, or a built-in plan: {names}"
                    ))
                })?,
        };
        ForeignPlan::changed(&text, changes)
            .map_err(|why| Unpredicted::because(format!("{name_or_path}: {why}")))
    }

    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Result<ForeignPlan, String> {
        ForeignPlan::changed(text, &[])
    }

    fn changed(text: &str, changes: &[String]) -> Result<ForeignPlan, String> {
        let plan: ForeignPlan = machine::text::parse_changed(text, changes)?;
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), String> {
        if self.format != 1 {
            return Err(format!("format is {}: expected 1", self.format));
        }
        let numbers = &self.plan;
        let counts = [
            ("readers", numbers.readers),
            ("node_distributors", numbers.node_distributors),
            ("distributors", numbers.distributors),
            ("spillers", numbers.spillers),
            ("sorters", numbers.sorters),
            ("writers", numbers.writers),
            ("depth", numbers.depth),
            ("spiller_depth", numbers.spiller_depth),
            ("write_tokens", numbers.write_tokens),
            ("partitions", numbers.partitions),
            ("load_chunks", numbers.load_chunks),
        ];
        for (key, number) in counts {
            if let Some(number) = number.filter(|number| !(1..=MOST).contains(number)) {
                return Err(format!("plan: {key} is {number}: expected 1 to {MOST}"));
            }
        }
        let sizes = [
            ("unit_mb", numbers.unit_mb, MB),
            ("sent_mb", numbers.sent_mb, MB),
            ("chunk_kb", numbers.chunk_kb, KB),
            ("least_write_mb", numbers.least_write_mb, MB),
            ("most_write_mb", numbers.most_write_mb, MB),
            ("area_mb", numbers.area_mb, MB),
            ("pool_mb", numbers.pool_mb, MB),
        ];
        for (key, size, unit) in sizes {
            let least = BLOCK as f64 / unit;
            let is_right = |size: &f64| (least..=MOST as f64).contains(size);
            if let Some(size) = size.filter(|size| !is_right(size)) {
                return Err(format!("plan: {key} is {size}: expected {least} to {MOST}"));
            }
        }
        Ok(())
    }

    /// The numbers; those of `own` go before them.
    pub(crate) fn tuning(&self, own: Tuning) -> Tuning {
        let numbers = self.plan;
        let bytes = |size: Option<f64>, unit: f64| size.map(|size| (size * unit) as usize);
        let chunk = bytes(numbers.chunk_kb, KB).map(|bytes| bytes.next_multiple_of(BLOCK));
        let chunk_bytes = own.chunk_bytes.or(chunk);
        let pool = bytes(numbers.pool_mb, MB).zip(chunk_bytes);
        Tuning {
            readers: own.readers.or(numbers.readers),
            node_distributors: own.node_distributors.or(numbers.node_distributors),
            distributors: own.distributors.or(numbers.distributors),
            spillers: own.spillers.or(numbers.spillers),
            sorters: own.sorters.or(numbers.sorters),
            writers: own.writers.or(numbers.writers),
            depth: own.depth.or(numbers.depth),
            spiller_depth: own.spiller_depth.or(numbers.spiller_depth),
            write_tokens: own.write_tokens.or(numbers.write_tokens),
            unit_bytes: own.unit_bytes.or(bytes(numbers.unit_mb, MB)),
            sent_bytes: own.sent_bytes.or(bytes(numbers.sent_mb, MB)),
            buckets: own.buckets.or(numbers.partitions),
            chunk_bytes,
            load_chunks: own.load_chunks.or(numbers.load_chunks),
            chunks: own.chunks.or(pool.map(|(pool, chunk)| pool / chunk)),
            least_write_bytes: own.least_write_bytes.or(bytes(numbers.least_write_mb, MB)),
            most_write_bytes: own.most_write_bytes.or(bytes(numbers.most_write_mb, MB)),
            area_bytes: own
                .area_bytes
                .or(bytes(numbers.area_mb, MB).map(|bytes| bytes as u64)),
            spills_all: own.spills_all || numbers.spills_all,
            ..own
        }
    }

    /// Whether its passes are several, whatever the memory.
    pub(crate) fn spills(&self) -> bool {
        self.plan.sort == Passes::TwoPass && self.plan.spills_all
    }

    /// Where chunks of partitions lie.
    pub fn spill_layout(&self) -> SpillLayout {
        self.plan.spill_layout
    }

    /// Whether the output lies where the inputs did.
    pub(crate) fn deletes_inputs(&self) -> bool {
        self.plan.deletes_inputs
    }

    /// The job, sorted by this plan; [`ForeignPlan::tuning`] has its numbers.
    pub(crate) fn apply(&self, job: Job) -> Job {
        Job {
            plan: match self.plan.sort {
                Passes::OnePass => Choice::OnePass,
                Passes::TwoPass => Choice::TwoPass,
                Passes::Merge => Choice::Merge,
            },
            exchange: self.plan.exchange,
            splitters: self.plan.splitters,
            ..job
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_plans_have_their_names() {
        for (name, _) in ForeignPlan::BUILT_IN {
            assert_eq!(ForeignPlan::load(name).unwrap().name, name);
        }
    }

    #[test]
    fn mistakes_are_told_by_their_key() {
        let with = |line: &str| {
            let text = format!(
                "format = 1\nname = \"x\"\ndescription = \"y\"\n[plan]\nsort = \"two-pass\"\n{line}\n"
            );
            ForeignPlan::parse(&text)
        };
        assert!(with("readers = 8").is_ok());
        for (line, told) in [
            ("readers = 0", "plan: readers is 0"),
            ("unit_mb = -1", "plan: unit_mb is -1"),
            ("unit_mb = nan", "plan: unit_mb is NaN"),
            (
                "chunk_kb = 0.0005",
                "plan: chunk_kb is 0.0005: expected 4.096",
            ),
            ("raeders = 3", "unknown field `raeders`"),
        ] {
            let why = with(line).unwrap_err();
            assert!(why.contains(told), "{why}");
        }
    }
}
