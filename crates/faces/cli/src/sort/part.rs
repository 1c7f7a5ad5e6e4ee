//! The report that each rank of a job sends to rank 0, which makes one report of all.

use ::sort::{Report, Warning};
use host::busy::Busy;
use pipeline::StageReport;
use serde::{Deserialize, Serialize};

use terminal::launcher::Launch;

/// A rank's own figures, in addition to those that all ranks agree on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Part {
    /// The name of its host.
    pub host: String,
    pub passes: u32,
    pub peak_rss_bytes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub temp_peak_bytes: u64,
    pub busy: Busy,
    pub stages: Vec<StageReport<String>>,
    pub warnings: Vec<Noticed>,
}

/// A warning in text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Noticed {
    pub kind: String,
    pub file: String,
    pub message: String,
}

impl Noticed {
    pub(super) fn of(warning: &Warning) -> Noticed {
        Noticed {
            kind: warning.kind().to_owned(),
            file: warning.file().display().to_string(),
            message: warning.to_string(),
        }
    }
}

impl Part {
    /// The figures of this process.
    pub(super) fn of(report: &Report, busy: Busy) -> Part {
        Part {
            host: node_real::host_name(),
            passes: report.passes,
            peak_rss_bytes: node_real::peak_rss_bytes(),
            read_bytes: report.read_bytes,
            written_bytes: report.written_bytes,
            temp_peak_bytes: report.temp_peak_bytes,
            busy,
            stages: report.stages.iter().map(StageReport::to_be_told).collect(),
            warnings: report.warnings.iter().map(Noticed::of).collect(),
        }
    }
}

/// The reports of a finished job on rank 0, in addition to that of the sort.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Together {
    /// The cores and devices of this process.
    pub busy: Busy,
    /// One part per rank; none for a single process, and on other ranks.
    pub parts: Vec<Part>,
    /// The time before the sort.
    pub launch: Option<Launch>,
}

impl Together {
    /// Warnings of other ranks, except about inputs that rank 0 warns of, too.
    pub(super) fn warnings(&self) -> impl Iterator<Item = (usize, &Noticed)> {
        let of_first = self.parts.first().map_or(&[][..], |part| &part.warnings);
        let is_told = |noticed: &&Noticed| of_first.iter().any(|first| first.file == noticed.file);
        let others = self.parts.iter().enumerate().skip(1);
        others.flat_map(move |(rank, part)| {
            let untold = part
                .warnings
                .iter()
                .filter(move |noticed| !is_told(noticed));
            untold.map(move |noticed| (rank, noticed))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_of_all_ranks_is_printed_once() {
        let noticed = |file: &str| Noticed {
            kind: "input_grew".to_owned(),
            file: file.to_owned(),
            message: String::new(),
        };
        let part = |files: &[&str]| Part {
            warnings: files.iter().map(|file| noticed(file)).collect(),
            ..Part::default()
        };
        let parts = vec![part(&["shared"]), part(&["shared", "b"]), part(&["c"])];
        let together = Together {
            parts,
            ..Together::default()
        };
        let told: Vec<_> = together
            .warnings()
            .map(|(rank, noticed)| (rank, noticed.file.as_str()))
            .collect();
        assert_eq!(told, [(1, "b"), (2, "c")]);
        assert_eq!(Together::default().warnings().count(), 0);
    }
}
