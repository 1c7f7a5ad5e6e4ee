//! The ends of records in a read of a sorted input, which is cut anywhere.

use std::ops::Range;

use node::{Buffer, File};

use super::{InputRun, SortedInputs};
use crate::error::SortError;
use crate::files::input::index::unended;
use crate::stages::line_numbers::newlines;

impl SortedInputs {
    /// The end of the last whole record of `all` bytes. The last record of an input gets its delimiter.
    ///
    /// # Errors
    /// When a record has no end, or a length that no record has.
    pub(super) fn end_of_records(
        &self,
        run: &mut InputRun,
        file: &File,
        (buffer, all): (&mut Buffer, usize),
    ) -> Result<usize, SortError> {
        let framing = self.framing.records();
        if framing.is_chained() {
            return self.end_of_chained(run, file, (buffer, all));
        }
        let Some(delimiter) = framing.delimiter() else {
            return Ok(self.framing.whole(all as u64) as usize);
        };
        let bytes = buffer.bytes_mut();
        if run.ended && all > 0 && bytes[all - 1] != delimiter {
            bytes[all] = delimiter;
            return Ok(all + 1);
        }
        Ok(memchr::memrchr(delimiter, &bytes[..all]).map_or(0, |before| before + 1))
    }

    fn end_of_chained(
        &self,
        run: &mut InputRun,
        file: &File,
        (buffer, all): (&mut Buffer, usize),
    ) -> Result<usize, SortError> {
        let framing = self.framing.records();
        let carried = run.carried.len();
        let mut scanner = run.scanner.clone();
        let found = scanner.last_end(&buffer.bytes()[carried..all]);
        let behind = |end: usize| if end == 0 { 0 } else { carried + end };
        let found = found.map_err(|error| {
            let at = run.bytes + behind(error.before) as u64;
            self.bad(run, file, at, error.to_string())
        })?;
        let mut end = behind(found);
        if run.ended && scanner.is_within() {
            if let Some(what) = unended(&scanner, framing) {
                let rows = &buffer.bytes()[..all];
                let row = [&rows[end..], b"\n"].concat();
                let Some(bad) = self.contents.mistake(&row) else {
                    return Err(self.bad(run, file, run.bytes + end as u64, what.to_owned()));
                };
                return Err(SortError::BadRow {
                    file: file.path().to_owned(),
                    line: Some(run.line + newlines(&rows[..end])),
                    offset: self.file_of(run).front().0 + run.bytes + end as u64,
                    bad: Box::new(bad),
                    cure: "",
                });
            }
            buffer.bytes_mut()[all] = framing.delimiter().expect("it is missing");
            end = all + 1;
        }
        run.scanner = scanner;
        Ok(end)
    }
}

/// Puts the carried bytes before these bytes of a buffer. Returns the number of all.
pub(super) fn put_before(buffer: &mut Buffer, carried: &[u8], bytes: Range<usize>) -> usize {
    let all = carried.len() + bytes.len();
    let memory = buffer.bytes_mut();
    memory.copy_within(bytes, carried.len());
    memory[..carried.len()].copy_from_slice(carried);
    all
}
