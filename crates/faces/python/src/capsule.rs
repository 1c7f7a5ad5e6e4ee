//! Arrow data in and out by the PyCapsule interface: the one place of this crate with `unsafe`.
//!
//! A producer hands over a capsule with a struct of the C data interface, and a consumer moves the
//! struct out of the capsule. The struct that stays behind has no release function; it must not be read
//! again. The crate `arrow-array` checks the contents of structs and wraps them.
//!
//! Both interfaces carry structs, whose rows may be null. Record batches have no such rows.
#![expect(unsafe_code, reason = "capsules hold pointers")]

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader, StructArray,
};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::{option, raised};
use crate::rows::unreadable;

pub(crate) type Batches = Box<dyn RecordBatchReader + Send>;

/// The batches of an object that has any.
pub(crate) fn stream_of(data: &Bound<'_, PyAny>) -> PyResult<Batches> {
    if data.hasattr(c_stream())? {
        let capsule = data.call_method0(c_stream())?;
        let pointer = capsule
            .cast::<PyCapsule>()?
            .pointer_checked(Some(c"arrow_array_stream"))?;
        // SAFETY: a capsule of this name has a stream of the C data interface, which is aligned and
        // stays valid while `capsule` lives. `from_raw` moves it out and leaves a released one.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
        return Ok(Box::new(Imported::new(stream)?));
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
    if array.is_released() {
        return Err(used());
    }
    let schema = schema_of(&schema)?;
    // SAFETY: the producer promises that the schema describes the array, which is not released.
    let batch = unsafe { batch_of(array, &schema) };
    let batch = batch.map_err(|error| raised(unreadable(error)))?;
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
}

/// The schema of record batches.
fn schema_of(schema: &FFI_ArrowSchema) -> PyResult<SchemaRef> {
    let refused = |error: ArrowError| option(format!("record batch: {error}"));
    if schema.release.is_none() {
        return Err(used());
    }
    match DataType::try_from(schema).map_err(refused)? {
        DataType::Struct(_) => Ok(Arc::new(Schema::try_from(schema).map_err(refused)?)),
        _ => Err(option(
            "an array is no record batch: it needs columns with names",
        )),
    }
}

fn used() -> PyErr {
    option("these Arrow capsules were used before; export the data again")
}

/// The record batch that an array is.
///
/// # Safety
/// The schema describes the array, which is not released.
unsafe fn batch_of(array: FFI_ArrowArray, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let kind = DataType::Struct(schema.fields().clone());
    // SAFETY: as the caller promises.
    let rows = StructArray::from(unsafe { from_ffi_and_data_type(array, kind) }?);
    match rows.null_count() {
        0 => {
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            let (_, columns, _) = rows.into_parts();
            RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        }
        count => Err(ArrowError::InvalidArgumentError(format!(
            "{count} of its rows are null, not only values in them; drop these rows first"
        ))),
    }
}

/// A stream that another library exports.
struct Imported {
    /// It is not released, so its functions are there.
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
}

impl Imported {
    fn new(mut stream: FFI_ArrowArrayStream) -> PyResult<Imported> {
        if stream.release.is_none() {
            return Err(used());
        }
        let mut schema = FFI_ArrowSchema::empty();
        let get = stream.get_schema.expect("a stream has this function");
        // SAFETY: the stream is not released, and the function writes a schema, which has room.
        let code = unsafe { get(&raw mut stream, &raw mut schema) };
        if code != 0 {
            return Err(raised(unreadable(failure(&mut stream, code))));
        }
        let schema = schema_of(&schema)?;
        Ok(Imported { stream, schema })
    }
}

/// The failure of a call of the stream before this one.
fn failure(stream: &mut FFI_ArrowArrayStream, code: i32) -> ArrowError {
    let get = stream.get_last_error.expect("a stream has this function");
    // SAFETY: the stream is not released.
    let what = unsafe { get(stream) };
    ArrowError::CDataInterface(if what.is_null() {
        format!("the stream has failed with error {code}")
    } else {
        // SAFETY: it is text with a null byte at its end, which stays until the next call.
        unsafe { CStr::from_ptr(what) }
            .to_string_lossy()
            .into_owned()
    })
}

impl Iterator for Imported {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut array = FFI_ArrowArray::empty();
        let get = self.stream.get_next.expect("a stream has this function");
        // SAFETY: the stream is not released, and the function writes an array, which has room.
        let code = unsafe { get(&raw mut self.stream, &raw mut array) };
        if code != 0 {
            return Some(Err(failure(&mut self.stream, code)));
        }
        // The end is an array without a release function.
        // SAFETY: the producer promises that its schema describes its arrays.
        (!array.is_released()).then(|| unsafe { batch_of(array, &self.schema) })
    }
}

impl RecordBatchReader for Imported {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
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
