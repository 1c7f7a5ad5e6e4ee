//! Sorts, merges and checks of files.

use std::path::PathBuf;

use gristmill::{Report, Watch};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::option;
use crate::options::{ARROW, Options, Order, paths};

pub(crate) fn told<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyAny>> {
    let Report {
        records,
        bytes,
        passes,
        temporary_bytes,
        time,
        in_place,
        rebuilt_bytes,
        apart,
        set_aside,
        ..
    } = *report;
    let class = py.import("gristmill.reports")?.getattr("Report")?;
    let seconds = time.as_secs_f64();
    let figures = (
        records,
        bytes,
        passes,
        temporary_bytes,
        seconds,
        in_place,
        rebuilt_bytes,
        apart,
        set_aside,
    );
    class.call1(figures)
}

/// A call that sorts or merges files, for the end of the interpreter: another thread may be in it.
#[pyclass(frozen, weakref, module = "gristmill._gristmill")]
pub(crate) struct Call(Watch);

#[pymethods]
impl Call {
    /// It closes itself, unless its thread goes no further.
    fn close(&self) {}

    /// Removes the files of the sort, which goes no further.
    fn _abandon(&self) {
        self.0.abandon();
    }
}

impl Call {
    /// A call that is followed while it lives.
    fn followed<'py>(py: Python<'py>, watch: &Watch) -> PyResult<Bound<'py, Call>> {
        let call = Bound::new(py, Call(watch.clone()))?;
        let follow = py.import("gristmill.ending")?.getattr("follow")?;
        follow.call1((&call,))?;
        Ok(call)
    }
}

#[pyfunction]
pub(crate) fn sort_file<'py>(
    inputs: &Bound<'py, PyAny>,
    output: PathBuf,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, mut options) = (inputs.py(), of_files(options)?);
    let (inputs, waiter) = (paths(inputs)?, options.waiter());
    let sorter = options.sorter(waiter.watch());
    let _call = Call::followed(py, waiter.watch())?;
    let report = waiter.wait(py, || sorter.sort_files(inputs, output))?;
    told(py, &report)
}

/// Merges files into a file.
#[pyfunction]
pub(crate) fn merge<'py>(
    inputs: &Bound<'py, PyAny>,
    output: PathBuf,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, mut options) = (inputs.py(), of_files(options)?);
    let (inputs, waiter) = (paths(inputs)?, options.waiter());
    let sorter = options.sorter(waiter.watch());
    let _call = Call::followed(py, waiter.watch())?;
    let report = waiter.wait(py, || sorter.merge_files(inputs, output))?;
    told(py, &report)
}

/// Finds the number and the bytes of the first record that is out of order.
#[pyfunction]
pub(crate) fn check<'py>(
    file: PathBuf,
    options: &Bound<'py, PyDict>,
) -> PyResult<Option<(u64, Bound<'py, PyBytes>)>> {
    let (py, mut options) = (options.py(), of_files(options)?);
    let waiter = options.waiter();
    let sorter = options.sorter(waiter.watch());
    let found = waiter.wait(py, || sorter.check_file(file))?;
    Ok(found.map(|found| (found.number, PyBytes::new(py, &found.record))))
}

fn of_files(options: &Bound<'_, PyDict>) -> PyResult<Options> {
    let options = Options::of(options)?;
    match (&options.order, options.format.as_str()) {
        (Order::Function(..), _) => Err(option(
            "a key function is for a Sorter; files are compared by the keys of their format",
        )),
        (_, ARROW) => Err(option("format 'arrow' is for a Sorter")),
        _ => Ok(options),
    }
}
