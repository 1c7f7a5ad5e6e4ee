//! A sort that gives its records, to several objects that share it.
//!
//! ```text
//! Sorted --.
//! Batches -+--> Reading --> Ends: the source, and then the report or nothing
//! Stream --'       '------> Waiter
//! ```

use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use gristmill::{Error, Report};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::{PyTraverseError, PyVisit};

use crate::columns::Columns;
use crate::errors::unusable;
use crate::lock;
use crate::rows::read_batch;
use crate::wait::Waiter;

/// Bytes of records after which a list of them is long enough.
const BATCH_BYTES: usize = 1 << 20;

/// Why a call fails while another one has the lock.
pub(crate) const BUSY: &str = "another thread reads these records";

/// Why there are no records if no report says that all were read.
const CLOSED: &str = "these records were closed, or reading them has failed";

/// A sort that gives its records.
pub(crate) struct Source {
    pub sorted: gristmill::Sorted,
    /// The columns of record batches.
    pub columns: Option<Columns>,
    pub is_begun: bool,
}

impl Source {
    pub fn new(sorted: gristmill::Sorted, columns: Option<Columns>) -> Source {
        Source {
            sorted,
            columns,
            is_begun: false,
        }
    }

    /// At most `most` of the next records; none at the end.
    pub fn records<'py>(
        &mut self,
        py: Python<'py>,
        waiter: &Waiter,
        most: usize,
    ) -> PyResult<Option<Vec<Bound<'py, PyBytes>>>> {
        self.is_begun = true;
        waiter.look(py)?;
        let (mut records, mut bytes) = (Vec::with_capacity(most.min(4096)), 0);
        while records.len() < most && bytes < BATCH_BYTES {
            let there = self.sorted.try_next();
            let record = match there.map_err(|error| waiter.failure(py, error))? {
                Some(record) => Some(PyBytes::new(py, record)),
                None => waiter
                    .wait(py, || self.sorted.next())?
                    .map(|record| PyBytes::new(py, record)),
            };
            let Some(record) = record else { break };
            bytes += record.as_bytes().len();
            records.push(record);
        }
        Ok((!records.is_empty()).then_some(records))
    }

    /// The next batch, without a look at signals; none at the end.
    pub fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        self.is_begun = true;
        let columns = self.columns.as_ref().expect("it sorts record batches");
        read_batch(columns, &mut self.sorted)
    }
}

/// A sort with records, or the report of one whose records were read. It has neither once it was closed
/// or has failed.
pub(crate) struct Ends {
    pub source: Option<Source>,
    pub report: Option<Report>,
}

impl Ends {
    /// Reads from the source, which goes after its last record, and after a failure: a reader that
    /// tries again must not take the rest for the end. `error` makes an error of a text.
    fn read<T, E>(
        &mut self,
        error: impl FnOnce(&'static str) -> E,
        read: impl FnOnce(&mut Source) -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let Some(source) = &mut self.source else {
            self.check().map_err(error)?;
            return Ok(None);
        };
        let got = read(source);
        if !matches!(got, Ok(Some(_))) {
            self.report = source.sorted.report().copied();
            self.source = None;
        }
        got
    }

    /// Fails if there is nothing to read, and there was no end.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.source.is_some() || self.report.is_some() {
            Ok(())
        } else {
            Err(CLOSED)
        }
    }
}

/// Sorted records, which several objects share. The end of the interpreter closes them.
#[pyclass(frozen, weakref, module = "gristmill._gristmill")]
pub(crate) struct Reading {
    /// Locked by threads without the GIL, too.
    pub ends: Mutex<Ends>,
    pub waiter: Waiter,
}

impl Reading {
    pub fn new(source: Source, waiter: Waiter) -> Reading {
        let ends = Mutex::new(Ends {
            source: Some(source),
            report: None,
        });
        Reading { ends, waiter }
    }

    /// Reads from the source. The progress ends with it.
    pub fn read<T>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&mut Source, &Waiter) -> PyResult<Option<T>>,
    ) -> PyResult<Option<T>> {
        let mut ends = lock::to_use(&self.ends, BUSY).map_err(unusable)?;
        let got = ends.read(unusable, |source| read(source, &self.waiter));
        drop(ends);
        if !matches!(got, Ok(Some(_))) {
            self.waiter.end(py);
        }
        got
    }

    /// The next batch, for a thread that may lack the GIL.
    pub fn batch(&self) -> Result<Option<RecordBatch>, Error> {
        let error = |what: &str| Error::Other(what.to_owned());
        let mut ends = lock::to_use(&self.ends, BUSY).map_err(error)?;
        let got = ends.read(error, Source::batch);
        drop(ends);
        if !matches!(got, Ok(Some(_))) {
            self.waiter.end_anywhere();
        }
        got
    }

    /// Reads the rest of a source that was taken out.
    pub fn read_all<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<(T, Report), Error> + Send,
    ) -> PyResult<(T, Report)> {
        let all = self.waiter.wait(py, work);
        self.waiter.end(py);
        let (all, report) = all?;
        // Without a source no call keeps the lock, so this wait is short. It must not fail: a file may
        // have its name now.
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.report = Some(report);
        Ok((all, report))
    }
}

#[pymethods]
impl Reading {
    pub fn stop(&self) {
        self.waiter.stop();
    }

    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        let ends = lock::to_close(&self.ends, BUSY);
        let old = ends.map_err(unusable)?.source.take();
        py.detach(|| drop(old));
        self.waiter.end(py);
        Ok(())
    }

    /// Removes the files of the sort, which another thread uses at the end of the interpreter.
    fn _abandon(&self) {
        self.waiter.watch().abandon();
    }

    /// The owner of a sort may own its progress function, too.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.waiter.traverse(&visit)
    }

    fn __clear__(&self, py: Python<'_>) {
        // Garbage is in no use.
        let _ = self.close(py);
    }
}
