//! A sort of records that a program pushes.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};

use gristmill::{Error, Feed};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};

use crate::capsule::{Batches, stream_of};
use crate::columns::Columns;
use crate::errors::{option, raised, unusable};
use crate::lock;
use crate::options::{ARROW, Options, Order};
use crate::reading::Source;
use crate::records::Records;
use crate::rows::{push_batch, unreadable};
use crate::sorted::Sorted;
use crate::wait::{Waiter, progress_of};

/// Why a call fails while another one has the lock.
const BUSY: &str = "another thread, or the iterable itself, uses this sorter; give each its own";

/// A sort of records that are pushed; `gristmill.Sorter` is its subclass.
#[pyclass(frozen, subclass, weakref, module = "gristmill._gristmill")]
pub(crate) struct Pushed {
    state: Mutex<State>,
    waiter: Waiter,
}

enum State {
    /// Batches whose columns are not known.
    Unfed(Box<Options>),
    Records(Records),
    Batches(Box<Columns>, Feed),
    Ended,
}

impl State {
    /// Why it takes nothing.
    fn refusal(&self) -> PyErr {
        unusable(match self {
            State::Ended => "this sorter was finished or closed; make a new one for another sort",
            State::Records(_) => "this sorter takes bytes; record batches need format='arrow'",
            State::Unfed(_) | State::Batches(..) => "this sorter takes record batches: push_arrow",
        })
    }

    /// The columns and feed of batches, which begin with the first one.
    fn batches(
        &mut self,
        schema: &arrow_schema::SchemaRef,
        waiter: &Waiter,
    ) -> PyResult<(&Columns, &mut Feed)> {
        if let State::Unfed(options) = self {
            let Order::Keys(keys) = &options.order else {
                unreachable!("it was checked at the beginning");
            };
            let columns = Columns::new(Arc::clone(schema), keys).map_err(option)?;
            let sorter = options.sorter_of(columns.format(), waiter.watch());
            let feed = sorter.start().map_err(raised)?;
            *self = State::Batches(Box::new(columns), feed);
        }
        match self {
            State::Batches(columns, feed) => Ok((columns, feed)),
            other => Err(other.refusal()),
        }
    }
}

impl Pushed {
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        lock::to_use(&self.state, BUSY).map_err(unusable)
    }
}

/// Pushes batches, which may come slowly and without an end, until the sort is stopped.
fn push_batches(
    columns: &Columns,
    mut batches: Batches,
    feed: &mut Feed,
    waiter: &Waiter,
) -> Result<(), Error> {
    while !waiter.is_stopped() {
        match batches.next() {
            Some(batch) => push_batch(columns, &batch.map_err(unreadable)?, feed)?,
            None => return Ok(()),
        }
    }
    Err(Error::Stopped)
}

#[pymethods]
impl Pushed {
    #[new]
    fn new(options: &Bound<'_, PyDict>) -> PyResult<Pushed> {
        let mut options = Options::of(options)?;
        let waiter = options.waiter();
        let state = match (options.format.as_str(), &options.order) {
            (ARROW, Order::Function(..)) => {
                return Err(option("the keys of record batches are names of columns"));
            }
            (ARROW, _) => match options.of_text() {
                Some("sum") => {
                    return Err(option(
                        "sum is for lines, rows and records; batches are added up by group_by of their library",
                    ));
                }
                Some(name) => {
                    let told = format!(
                        "{name} is for lines and rows, not for record batches; leave it out"
                    );
                    return Err(option(&told));
                }
                None => State::Unfed(Box::new(options)),
            },
            _ => State::Records(Records::start(options, &waiter).map_err(raised)?),
        };
        let state = Mutex::new(state);
        Ok(Pushed { state, waiter })
    }

    /// Adds a record of bytes.
    ///
    /// A line may lack its newline, which is added. Waits while the sort is behind.
    fn push(&self, record: &Bound<'_, PyAny>) -> PyResult<()> {
        match &mut *self.state()? {
            State::Records(records) => records.push(record, &self.waiter),
            other => Err(other.refusal()),
        }
    }

    /// Adds the records of an iterable, such as a list, a generator or a file opened with "rb".
    ///
    /// If the iterable raises, its exception is raised here; records before it stay in the sort.
    fn push_all(&self, records: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut state = self.state()?;
        let State::Records(into) = &mut *state else {
            return Err(state.refusal());
        };
        for record in records.try_iter()? {
            into.push(&record?, &self.waiter)?;
        }
        Ok(())
    }

    /// Adds Arrow data: a record batch, a table, a stream, a data frame of Polars, pandas or DuckDB.
    ///
    /// Anything with `__arrow_c_stream__` or `__arrow_c_array__` will do. The sorter needs
    /// format="arrow"; all data must have the columns of the first. A stream that raises, or has a
    /// batch that cannot be sorted, ends the sort, since the batches before are in it already.
    fn push_arrow(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut state = self.state()?;
        if matches!(*state, State::Records(_) | State::Ended) {
            return Err(state.refusal());
        }
        let batches = stream_of(data)?;
        let (columns, feed) = state.batches(&batches.schema(), &self.waiter)?;
        if batches.schema().fields() != columns.schema().fields() {
            return Err(option("its columns differ from those of the first batch"));
        }
        let (py, waiter) = (data.py(), &self.waiter);
        let pushed = waiter.wait(py, || push_batches(columns, batches, feed, waiter));
        // A short call ends before the first look.
        let pushed = pushed.and_then(|()| waiter.look(py));
        // Some of the batch may be in the sort, and some not.
        pushed.inspect_err(|_| {
            waiter.stop();
            waiter.end(py);
        })
    }

    /// Ends the input, and returns the sorted records.
    fn finish(&self, py: Python<'_>) -> PyResult<Sorted> {
        let mut state = self.state()?;
        if matches!(*state, State::Unfed(_)) {
            return Err(option("push_arrow a batch first: its columns are unknown"));
        }
        let (sorted, columns) = match mem::replace(&mut *state, State::Ended) {
            State::Records(records) => (records.finish(), None),
            State::Batches(columns, feed) => (feed.finish(), Some(*columns)),
            other => return Err(other.refusal()),
        };
        let sorted = sorted.map_err(|error| self.waiter.failure(py, error))?;
        let waiter = self.waiter.hand_over(py);
        Sorted::new(py, Source::new(sorted, columns), waiter)
    }

    /// Stops the sort, from any thread: calls that wait for it raise StoppedError.
    fn stop(&self) {
        self.waiter.stop();
    }

    /// Ends the sort if it was not finished, and removes its temporary files.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let state = lock::to_close(&self.state, BUSY);
        let old = mem::replace(&mut *state.map_err(unusable)?, State::Ended);
        py.detach(|| drop(old));
        self.waiter.end(py);
        Ok(())
    }

    /// Removes the files of the sort, which another thread uses at the end of the interpreter.
    fn _abandon(&self) {
        self.waiter.watch().abandon();
    }

    /// How far the sort has come.
    #[getter]
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        progress_of(py, self.waiter.watch())
    }

    /// An object may own a sorter whose functions are its own methods.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.waiter.traverse(&visit)?;
        match self.state.try_lock().as_deref() {
            Ok(State::Records(records)) => visit.call(records.function()),
            Ok(State::Unfed(_) | State::Batches(..) | State::Ended) | Err(_) => Ok(()),
        }
    }

    fn __clear__(&self, py: Python<'_>) {
        // Garbage is in no use.
        let _ = self.close(py);
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }
}
