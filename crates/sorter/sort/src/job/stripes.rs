//! Whether spill files can have stripes.

use super::{Job, SpillLayout};
use crate::error::SortError;

impl Job {
    /// Whether spill files can have the stripes that are asked for.
    ///
    /// # Errors
    /// When stripes do not fit the directories of spill files, or what else they are asked for.
    pub fn check_stripes(&self) -> Result<(), SortError> {
        let Some(blocks) = self.stripe else {
            return Ok(());
        };
        let places = &self.temporary;
        let differ = (1..places.len()).all(|at| !places[..at].contains(&places[at]));
        let why = match () {
            () if blocks == 0 || places.len().checked_sub(1) != Some(blocks) || !differ => {
                let (all, given) = (blocks.saturating_add(1), places.len());
                format!(
                    "needs {all} directories, on disks of their own; name {all} with -T, not {given}"
                )
            }
            () if self.resume.is_some() => {
                "protects one run, and --resume saves progress for the next; leave one of them out"
                    .to_owned()
            }
            () if self.spill_layout == SpillLayout::Preallocated => {
                "writes logs; leave --spill-layout preallocated out".to_owned()
            }
            () => return Ok(()),
        };
        Err(SortError::NotStriped { blocks, why })
    }
}
