//! How far a rank is, as its heartbeat tells rank 0, which shows one line for all.
//!
//! ```text
//! | I am here | phase | bytes of the phase | read | written | read again |
//! ```
//!
//! Ranks beat before they have compared their versions: what is too short or names no phase is no
//! news, and what is longer says more than is understood.

use pipeline::Progress;

/// Phases by the number that is told; 0 is a rank that does not read yet.
const PHASES: [&str; 5] = [
    "sample",
    "sort",
    "partition again",
    "sort partitions",
    "validating",
];

/// The stages whose bytes are told: they are what a run has done.
const STAGES: [&str; 3] = ["reader", "writer", "reloader"];

/// What is told of this one; nothing before its first phase.
pub(crate) fn told(progress: &Progress) -> Vec<u64> {
    let Some(phase) = PHASES.iter().position(|&phase| phase == progress.phase) else {
        return Vec::new();
    };
    let done = STAGES.iter().map(|stage| progress.bytes_of(stage));
    [phase as u64, progress.total_bytes]
        .into_iter()
        .chain(done)
        .collect()
}

/// What another one told.
pub(crate) fn heard(words: &[u64]) -> Option<Progress> {
    let (&[phase, total_bytes], done) = words.split_first_chunk()?;
    let phase = *PHASES.get(usize::try_from(phase).ok()?)?;
    let stages = STAGES.into_iter().zip(done.iter().copied()).collect();
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
    fn what_is_told_is_heard() {
        for phase in PHASES {
            let stages = vec![("reader", 7), ("writer", u64::MAX), ("reloader", 0)];
            let progress = Progress {
                phase,
                total_bytes: 1 << 50,
                stages,
            };
            assert_eq!(heard(&told(&progress)), Some(progress));
        }
    }

    #[test]
    fn only_what_counts_is_told() {
        let stages = vec![("sampler", 1), ("sorter", 5), ("writer", 3)];
        let words = told(&Progress {
            phase: "sort",
            total_bytes: 9,
            stages,
        });
        assert_eq!(words, [1, 9, 0, 3, 0]);
        assert!(told(&Progress::default()).is_empty());
    }

    /// Another version may tell less, more, or a phase that is not known here.
    #[test]
    fn what_is_not_understood_is_no_news() {
        assert_eq!(
            [
                heard(&[]),
                heard(&[1]),
                heard(&[5, 1]),
                heard(&[u64::MAX, 1])
            ],
            [const { None }; 4]
        );
        let short = heard(&[1, 9, 4]).unwrap();
        assert_eq!((short.bytes_of("reader"), short.bytes_of("writer")), (4, 0));
        assert_eq!(heard(&[1, 9, 4, 0, 0, 77]), heard(&[1, 9, 4, 0, 0]));
    }
}
