//! Sorted records on their way back.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use gristmill::{Error, Report, Watch};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};

use crate::capsule::capsule_of;
use crate::columns::Columns;
use crate::errors::{option, raised, unusable};
use crate::files::told;
use crate::rows::read_batch;
use crate::wait::Waiter;

/// Bytes of records after which a list of them is long enough.
const BATCH_BYTES: usize = 1 << 20;

/// A sort that gives its records.
pub(crate) struct Source {
    sorted: gristmill::Sorted,
    /// The columns of record batches.
    columns: Option<Columns>,
    waiter: Arc<Waiter>,
    is_begun: bool,
}

impl Source {
    pub fn new(sorted: gristmill::Sorted, columns: Option<Columns>, waiter: Arc<Waiter>) -> Source {
        Source {
            sorted,
            columns,
            waiter,
            is_begun: false,
        }
    }

    /// The next records, at most so many; none at the end.
    fn records<'py>(&mut self, py: Python<'py>, most: usize) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        self.is_begun = true;
        self.waiter.look(py)?;
        let (mut records, mut bytes) = (Vec::with_capacity(most.min(4096)), 0);
        while records.len() < most && bytes < BATCH_BYTES {
            let record = match self.sorted.try_next().map_err(raised)? {
                Some(record) => Some(PyBytes::new(py, record)),
                None => self.wait(py)?,
            };
            let Some(record) = record else { break };
            bytes += record.as_bytes().len();
            records.push(record);
        }
        Ok(records)
    }

    /// The next batch, without a look at signals; none at the end.
    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        let columns = self.columns.as_ref().expect("it sorts record batches");
        read_batch(columns, &mut self.sorted)
    }

    fn wait<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let (sorted, waiter) = (&mut self.sorted, &self.waiter);
        let record = waiter.wait(py, || sorted.next())?;
        Ok(record.map(|record| PyBytes::new(py, record)))
    }
}

/// Sorted records, which several objects share. The end of the interpreter closes them.
#[pyclass(frozen, weakref, module = "gristmill._gristmill")]
pub(crate) struct Reading {
    ends: Mutex<Ends>,
    watch: Watch,
}

/// A sort with records, or what is left of it.
struct Ends {
    source: Option<Source>,
    report: Option<Report>,
}

impl Ends {
    /// Every record was read.
    fn end(&mut self) {
        if let Some(source) = self.source.take() {
            self.report = source.sorted.report().copied();
        }
    }
}

impl Reading {
    fn ends(&self) -> PyResult<MutexGuard<'_, Ends>> {
        match self.ends.try_lock() {
            Ok(ends) => Ok(ends),
            Err(TryLockError::WouldBlock) => Err(unusable("another thread reads these records")),
            Err(TryLockError::Poisoned(_)) => Err(unusable("this sort has failed")),
        }
    }
}

#[pymethods]
impl Reading {
    fn stop(&self) {
        self.watch.stop();
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let old = self.ends()?.source.take();
        py.detach(|| drop(old));
        Ok(())
    }
}

/// The sorted records of a sort.
///
/// Iterate over them, take them in lists (batches), or hand this object to any library that reads Arrow
/// streams if record batches were sorted. They can be read once.
#[pyclass(frozen, weakref, module = "gristmill")]
pub(crate) struct Sorted {
    reading: Py<Reading>,
    iterator: Mutex<Option<Py<PyAny>>>,
}

impl Sorted {
    pub fn new(py: Python<'_>, source: Source) -> PyResult<Sorted> {
        let watch = source.waiter.watch().clone();
        let ends = Mutex::new(Ends {
            source: Some(source),
            report: None,
        });
        let reading = Py::new(py, Reading { ends, watch })?;
        let follow = py.import("gristmill.ending")?.getattr("follow")?;
        follow.call1((&reading,))?;
        Ok(Sorted {
            reading,
            iterator: Mutex::default(),
        })
    }

    /// The records, none of which was read.
    fn whole(&self, is_arrow: bool) -> PyResult<MutexGuard<'_, Ends>> {
        let ends = self.reading.get().ends()?;
        match &ends.source {
            None => Err(unusable("these records were read or closed")),
            Some(source) if source.columns.is_some() != is_arrow => Err(refusal(is_arrow)),
            Some(source) if source.is_begun => Err(unusable("some of these records were read")),
            Some(_) => Ok(ends),
        }
    }

    /// The records for a reader that takes all of them.
    fn take(&self) -> PyResult<Source> {
        Ok(self.whole(false)?.source.take().expect("it is there"))
    }

    fn ended(&self, report: Report) -> PyResult<()> {
        self.reading.get().ends()?.report = Some(report);
        Ok(())
    }
}

fn refusal(is_arrow: bool) -> PyErr {
    unusable(match is_arrow {
        true => "these are bytes, not record batches: iterate over them",
        false => {
            "these are record batches: pass this object to pyarrow.table, polars.DataFrame or \
             another reader of Arrow streams"
        }
    })
}

#[pymethods]
impl Sorted {
    /// The records one by one, as bytes.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut iterator = self.iterator.lock().expect("no holder panics");
        if let Some(iterator) = &*iterator {
            return iterator.bind(py).call_method0("__iter__");
        }
        let chain = py.import("itertools")?.getattr("chain")?;
        let records = chain.call_method1("from_iterable", (self.batches(py, 4096)?,))?;
        *iterator = Some(records.clone().unbind());
        Ok(records)
    }

    /// The records in lists of at most `size` of them, or about a megabyte.
    #[pyo3(signature = (size=4096))]
    fn batches(&self, py: Python<'_>, size: usize) -> PyResult<Batches> {
        if size == 0 {
            return Err(option("a batch has at least one record"));
        }
        if let Some(source) = &self.reading.get().ends()?.source
            && source.columns.is_some()
        {
            return Err(refusal(false));
        }
        let reading = self.reading.clone_ref(py);
        Ok(Batches { reading, size })
    }

    /// All records, one behind the other.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (source, mut all) = (self.take()?, Vec::new());
        let report = source
            .waiter
            .wait(py, || source.sorted.write_to(&mut all))?;
        self.ended(report)?;
        Ok(PyBytes::new(py, &all))
    }

    /// Writes all records to a file, which appears when it is complete. Returns the report.
    fn write_file<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let source = self.take()?;
        let report = source.waiter.wait(py, || source.sorted.write_file(path))?;
        self.ended(report)?;
        told(py, &report)
    }

    /// The report of the sort once all records were read, None before that.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let report = self.reading.get().ends()?.report;
        report.map(|report| told(py, &report)).transpose()
    }

    /// Stops the sort, from any thread: calls that wait for it raise StoppedError.
    fn stop(&self) {
        self.reading.get().stop();
    }

    /// Ends the sort, and removes its temporary files.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.reading.get().close(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    /// The record batches as an Arrow stream, for any library that reads one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the schema that a consumer asks for.
        drop(requested_schema);
        let mut ends = self.whole(true)?;
        let source = ends.source.as_mut().expect("it is there");
        source.is_begun = true;
        // The longest wait is here, where Ctrl-C ends it.
        let waiter = Arc::clone(&source.waiter);
        let first = waiter.wait(py, || source.batch())?;
        let columns = source.columns.as_ref().expect("it sorts record batches");
        let schema = Arc::clone(columns.sorted());
        let reading = self.reading.clone_ref(py);
        let stream = Stream {
            first,
            reading,
            schema,
        };
        capsule_of(py, stream)
    }
}

/// Lists of records.
#[pyclass(frozen, module = "gristmill._gristmill")]
pub(crate) struct Batches {
    reading: Py<Reading>,
    size: usize,
}

#[pymethods]
impl Batches {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let mut ends = self.reading.get().ends()?;
        let Some(source) = &mut ends.source else {
            return Ok(None);
        };
        let records = source.records(py, self.size)?;
        if records.is_empty() {
            ends.end();
            return Ok(None);
        }
        PyList::new(py, records).map(Some)
    }
}

/// Sorted record batches. Their reader may have no GIL.
struct Stream {
    first: Option<RecordBatch>,
    reading: Py<Reading>,
    schema: SchemaRef,
}

impl Stream {
    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let gone = |what: &str| Error::Other(what.to_owned());
        let ends = self.reading.get().ends.try_lock();
        let ends = &mut *ends.map_err(|_| gone("another thread reads these records"))?;
        let batch = match &mut ends.source {
            Some(source) => source.batch()?,
            None if ends.report.is_some() => None,
            None => return Err(gone("these records were closed")),
        };
        if batch.is_none() {
            ends.end();
        }
        Ok(batch)
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let failed = |error: Error| ArrowError::ExternalError(Box::new(error));
        self.batch().map_err(failed).transpose()
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
