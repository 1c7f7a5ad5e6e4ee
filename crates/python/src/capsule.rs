//! Arrow data in and out by the PyCapsule interface: the one place of this crate with `unsafe`.
//!
//! A producer hands over a capsule with a struct of the C data interface, and leaves the struct to
//! whoever moves it out of the capsule. The crate `arrow-array` checks such structs and wraps them.
#![expect(unsafe_code, reason = "capsules hold pointers")]

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::option;

/// Record batches from anywhere.
pub(crate) type Batches = Box<dyn RecordBatchReader + Send>;

/// The batches of an object that has any.
pub(crate) fn stream_of(data: &Bound<'_, PyAny>) -> PyResult<Batches> {
    let refused = |error: ArrowError| option(format!("record batch: {error}"));
    if data.hasattr(c_stream())? {
        let capsule = data.call_method0(c_stream())?;
        let pointer = capsule
            .cast::<PyCapsule>()?
            .pointer_checked(Some(c"arrow_array_stream"))?;
        // SAFETY: a capsule of this name has a stream of the C data interface, which is aligned and
        // stays valid while `capsule` lives. `from_raw` moves it out and leaves a released one.
        let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr().cast()) };
        return Ok(Box::new(reader.map_err(refused)?));
    }
    if !data.hasattr("__arrow_c_array__")? {
        return Err(PyTypeError::new_err(format!(
            "{} has no Arrow data: neither __arrow_c_stream__ nor __arrow_c_array__",
            data.get_type().name()?
        )));
    }
    let both = data.call_method0("__arrow_c_array__")?;
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = both.extract()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast();
    // SAFETY: capsules of these names have a schema and an array of the C data interface, which are
    // aligned and stay valid while `both` lives. `from_raw` moves them out and leaves released ones.
    let (schema, array) = unsafe {
        (
            FFI_ArrowSchema::from_raw(schema.as_ptr()),
            FFI_ArrowArray::from_raw(array.as_ptr()),
        )
    };
    // SAFETY: the producer promises that the schema describes the array.
    let data = unsafe { from_ffi(array, &schema) }.map_err(refused)?;
    if !matches!(data.data_type(), arrow_schema::DataType::Struct(_)) {
        return Err(option(
            "an array is no record batch: it needs columns with names",
        ));
    }
    let batch = RecordBatch::from(StructArray::from(data));
    let schema = batch.schema();
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
}

/// A capsule with a stream. Its consumer moves the stream out; otherwise the capsule drops it.
pub(crate) fn capsule_of<'py>(
    py: Python<'py>,
    reader: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

fn c_stream() -> &'static str {
    "__arrow_c_stream__"
}
