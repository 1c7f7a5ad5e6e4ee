//! Records of sets, as their manifests list them.

use std::path::PathBuf;

use record::Checksum;

use crate::error::SortError;

/// The manifests' account of all records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    /// Sum of the CRC-32 of all records.
    pub checksum: Checksum,
    /// The first manifest.
    pub manifest: PathBuf,
}

impl Listed {
    /// The account of these, and then of others.
    pub(super) fn and(self, others: Listed) -> Listed {
        let is_first = self.manifest.as_os_str().is_empty();
        Listed {
            checksum: self.checksum.merge(others.checksum),
            manifest: if is_first {
                others.manifest
            } else {
                self.manifest
            },
        }
    }

    /// # Errors
    /// When the records that were read are not those listed.
    pub(crate) fn check(&self, read: Checksum) -> Result<(), SortError> {
        if read == self.checksum {
            return Ok(());
        }
        let what = format!(
            "lists records with checksum {}, but those read have {read}; valsort tells which file differs",
            self.checksum
        );
        Err(SortError::Manifest {
            file: self.manifest.clone(),
            what,
        })
    }
}
