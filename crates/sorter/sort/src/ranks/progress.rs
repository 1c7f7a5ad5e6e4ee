//! Progress of a rank, as its heartbeats tell rank 0, which shows one line for all ranks.
//!
//! ```text
//! | alive | phase | bytes of the phase | read | written | read again |
//! ```
//!
//! Ranks send heartbeats before they have compared their versions. A heartbeat that is too short or
//! names no known phase is ignored, and so are extra words.

use pipeline::Progress;

use crate::names::{Phase, StageName};

/// Phases, by their number in heartbeats; a rank in phase 0 does not sort yet.
const PHASES: [Phase; 5] = [
    Phase::Sample,
    Phase::Sort,
    Phase::PartitionAgain,
    Phase::SortPartitions,
    Phase::Validate,
];

/// The stages whose bytes are sent: they are the progress of a run.
const STAGES: [StageName; 3] = [StageName::Reader, StageName::Writer, StageName::Reloader];

/// The words of a heartbeat; none before the first phase.
pub(crate) fn encode(progress: &Progress) -> Vec<u64> {
    let now = Phase::of(progress.phase);
    let Some(phase) = PHASES.iter().position(|&phase| Some(phase) == now) else {
        return Vec::new();
    };
    let done = STAGES.map(|stage| progress.bytes_of(stage.name()));
    [phase as u64, progress.total_bytes]
        .into_iter()
        .chain(done)
        .collect()
}

/// The progress in another rank's words, if they make sense.
pub(crate) fn decode(words: &[u64]) -> Option<Progress> {
    let (&[phase, total_bytes], done) = words.split_first_chunk()?;
    let phase = PHASES.get(usize::try_from(phase).ok()?)?.name();
    let names = STAGES.into_iter().map(StageName::name);
    let stages = names.zip(done.iter().copied()).collect();
    Some(Progress {
        phase,
        total_bytes,
        stages,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_decodes_to_the_progress_encoded() {
        for phase in PHASES.map(Phase::name) {
            let stages = vec![("reader", 7), ("writer", u64::MAX), ("reloader", 0)];
            let progress = Progress {
                phase,
                total_bytes: 1 << 50,
                stages,
            };
            assert_eq!(decode(&encode(&progress)), Some(progress));
        }
    }

    #[test]
    fn only_stages_that_count_are_sent() {
        let stages = vec![("sampler", 1), ("sorter", 5), ("writer", 3)];
        let words = encode(&Progress {
            phase: "sort",
            total_bytes: 9,
            stages,
        });
        assert_eq!(words, [1, 9, 0, 3, 0]);
        assert!(encode(&Progress::default()).is_empty());
    }

    /// Another version may send fewer words, more, or an unknown phase.
    #[test]
    fn unknown_words_are_ignored() {
        assert_eq!(
            [
                decode(&[]),
                decode(&[1]),
                decode(&[5, 1]),
                decode(&[u64::MAX, 1])
            ],
            [const { None }; 4]
        );
        let short = decode(&[1, 9, 4]).unwrap();
        assert_eq!((short.bytes_of("reader"), short.bytes_of("writer")), (4, 0));
        assert_eq!(decode(&[1, 9, 4, 0, 0, 77]), decode(&[1, 9, 4, 0, 0]));
    }
}
