//! Records that are longer than the buffers of a merge, as they are read.

use node::File;

use super::{BESIDE_BYTES, InputRun, SortedInputs};
use crate::error::SortError;

impl SortedInputs {
    /// Whether the record that goes on in these bytes of a read ends there. If not, they are carried.
    ///
    /// # Errors
    /// When it is longer than the memory allows, or has a length that no record has.
    pub(super) fn ends_long(
        &self,
        run: &mut InputRun,
        file: &File,
        fresh: &[u8],
    ) -> Result<bool, SortError> {
        let mut scanner = run.scanner.clone();
        let found = scanner.end(fresh);
        let found = found.map_err(|error| self.bad(run, file, run.bytes, error.to_string()))?;
        let ends = found.is_some() || run.ended;
        let bytes = run.carried.len() + fresh.len() + BESIDE_BYTES;
        if !self.memory.reserve(run.reserved, bytes) {
            return Err(SortError::LongLine {
                file: Some(file.path().to_owned()),
                position: Some(run.bytes),
                read: bytes as u64,
                limit: self.framing.longest() as u64,
            });
        }
        run.reserved = bytes;
        if ends {
            // The buffer takes it over.
            run.reserved = 0;
            return Ok(true);
        }
        run.scanner = scanner;
        run.carried.extend_from_slice(fresh);
        Ok(false)
    }

    /// A record that begins `at` bytes behind the header is none.
    pub(super) fn bad(&self, run: &InputRun, file: &File, at: u64, what: String) -> SortError {
        SortError::BadRecord {
            file: file.path().to_owned(),
            offset: self.file_of(run).front().0 + at,
            what,
        }
    }
}
