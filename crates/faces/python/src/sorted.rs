//! Sorted records on their way back.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use gristmill::Error;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use pyo3::{PyTraverseError, PyVisit};

use crate::capsule::capsule_of;
use crate::errors::unusable;
use crate::files::told;
use crate::lock;
use crate::options::number;
use crate::reading::{BUSY, Ends, Reading, Source};
use crate::wait::Waiter;

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
    pub fn new(py: Python<'_>, source: Source, waiter: Waiter) -> PyResult<Sorted> {
        let reading = Py::new(py, Reading::new(source, waiter))?;
        let follow = py.import("gristmill.ending")?.getattr("follow")?;
        follow.call1((&reading,))?;
        Ok(Sorted {
            reading,
            iterator: Mutex::default(),
        })
    }

    fn ends(&self) -> PyResult<MutexGuard<'_, Ends>> {
        lock::to_use(&self.reading.get().ends, BUSY).map_err(unusable)
    }

    /// Checks that no record was read.
    fn whole(&self, is_arrow: bool) -> PyResult<MutexGuard<'_, Ends>> {
        let ends = self.ends()?;
        match &ends.source {
            None => Err(unusable("these records were read or closed")),
            Some(source) if source.columns.is_some() != is_arrow => Err(refusal(is_arrow)),
            Some(source) if source.is_begun => Err(unusable("some of these records were read")),
            Some(_) => Ok(ends),
        }
    }

    /// The records for a reader that takes all of them.
    fn take(&self) -> PyResult<gristmill::Sorted> {
        let source = self.whole(false)?.source.take();
        Ok(source.expect("it is there").sorted)
    }
}

fn refusal(is_arrow: bool) -> PyErr {
    unusable(if is_arrow {
        "these are bytes, not record batches: iterate over them"
    } else {
        "these are record batches: pass this object to pyarrow.table, polars.DataFrame or \
         another reader of Arrow streams"
    })
}

#[pymethods]
impl Sorted {
    /// The records one by one, as bytes.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // An iterator that has failed would seem to be at its end.
        self.ends()?.check().map_err(unusable)?;
        let known = || self.iterator.lock().expect("no holder panics");
        if let Some(iterator) = &*known() {
            return Ok(iterator.bind(py).clone());
        }
        // This runs Python code, which may come here again. The first iterator wins.
        let chain = py.import("itertools")?.getattr("chain")?;
        let records = chain.call_method1("from_iterable", (self.batches(py, None)?,))?;
        let first = known().get_or_insert(records.unbind()).clone_ref(py);
        Ok(first.into_bound(py))
    }

    /// The records in lists of at most `size` of them, or about a megabyte.
    #[pyo3(signature = (size=None), text_signature = "($self, size=4096)")]
    fn batches(&self, py: Python<'_>, size: Option<Bound<'_, PyAny>>) -> PyResult<Batches> {
        let size = number::<NonZero<usize>>("size", 1, size)?.map_or(4096, NonZero::get);
        if let Some(source) = &self.ends()?.source
            && source.columns.is_some()
        {
            return Err(refusal(false));
        }
        let reading = self.reading.clone_ref(py);
        Ok(Batches { reading, size })
    }

    /// All records, one behind the other.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let sorted = self.take()?;
        let (all, _) = self.reading.get().read_all(py, || {
            let mut all = Vec::new();
            let report = sorted.write_to(&mut all)?;
            Ok((all, report))
        })?;
        Ok(PyBytes::new(py, &all))
    }

    /// Writes all records to a file, which appears when it is complete. Returns the report.
    fn write_file<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let sorted = self.take()?;
        let write = || Ok(((), sorted.write_file(path)?));
        let ((), report) = self.reading.get().read_all(py, write)?;
        told(py, &report)
    }

    /// The report of the sort once all records were read, None before that.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let report = self.ends()?.report;
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
        let schema = {
            let source = &self.whole(true)?.source;
            let columns = source.as_ref().and_then(|source| source.columns.as_ref());
            Arc::clone(columns.expect("it sorts record batches").sorted())
        };
        // The longest wait is here, where Ctrl-C ends it.
        let first = self
            .reading
            .get()
            .read(py, |source, waiter| waiter.wait(py, || source.batch()))?;
        let reading = self.reading.clone_ref(py);
        let stream = Stream {
            first,
            reading,
            schema,
        };
        capsule_of(py, stream)
    }

    /// The iterator and the sort, which owns the progress function.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.reading)?;
        match self.iterator.try_lock() {
            Ok(iterator) => visit.call(&*iterator),
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        let old = self.iterator.lock().expect("no holder panics").take();
        drop(old);
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
        let read = |source: &mut Source, waiter: &Waiter| source.records(py, waiter, self.size);
        let records = self.reading.get().read(py, read)?;
        records.map(|records| PyList::new(py, records)).transpose()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.reading)
    }
}

/// Sorted record batches. Their reader may have no GIL.
struct Stream {
    first: Option<RecordBatch>,
    reading: Py<Reading>,
    schema: SchemaRef,
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let failed = |error: Error| ArrowError::ExternalError(Box::new(error));
        match self.first.take() {
            Some(first) => Some(Ok(first)),
            None => self.reading.get().batch().map_err(failed).transpose(),
        }
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
