//! Values of a key function as keys of the library.

use gristmill::Key;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString, PyTuple};

/// The types of the keys so far. Keys of several types have no order.
#[derive(Clone, Default)]
pub(crate) enum Shape {
    /// Only `None` so far.
    #[default]
    Unknown,
    Leaf(&'static str),
    Tuple(Vec<Shape>),
}

/// Writes an int so that it is compared exactly with floats: as the nearest one, and its distance from
/// that.
fn write_int(number: i64, out: &mut Vec<u8>) {
    let nearest = number as f64;
    let beyond = i128::from(number) - nearest as i128;
    write_number((nearest, beyond as i64), out);
}

fn write_number((float, beyond): (f64, i64), out: &mut Vec<u8>) {
    // -0.0 is 0.0.
    (float + 0.0).write(out);
    out.push((beyond.signum() + 1) as u8);
    if beyond != 0 {
        beyond.write(out);
    }
}

impl Shape {
    /// Writes a key, if it is of this shape. `None` comes first. A key that is refused leaves the shape
    /// as it was.
    pub fn write(&mut self, key: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
        // A known shape is that of most keys, and never changes.
        let before = (!self.is_known()).then(|| self.clone());
        self.write_part(key, out).inspect_err(|_| {
            if let Some(before) = before {
                *self = before;
            }
        })
    }

    fn is_known(&self) -> bool {
        match self {
            Shape::Unknown => false,
            Shape::Leaf(_) => true,
            Shape::Tuple(parts) => parts.iter().all(Shape::is_known),
        }
    }

    /// Writes a key or a part of one. After an error the shape may have parts of the key.
    fn write_part(&mut self, key: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
        if key.is_none() {
            out.push(0);
            return Ok(());
        }
        out.push(1);
        if let Ok(parts) = key.cast::<PyTuple>() {
            return self.write_tuple(parts, out);
        }
        let name = if let Ok(flag) = key.cast::<PyBool>() {
            flag.is_true().write(out);
            "bool"
        } else if key.is_instance_of::<PyInt>() {
            write_int(key.extract()?, out);
            "number"
        } else if let Ok(number) = key.cast::<PyFloat>() {
            write_number((number.value(), 0), out);
            "number"
        } else if let Ok(text) = key.cast::<PyString>() {
            text.to_cow()?.as_bytes().write(out);
            "str"
        } else if let Ok(bytes) = key.cast::<PyBytes>() {
            bytes.as_bytes().write(out);
            "bytes"
        } else {
            return Err(PyTypeError::new_err(format!(
                "a key must be a bool, int, float, str, bytes, None or a tuple of these, not {}",
                key.get_type().name()?
            )));
        };
        match self {
            Shape::Leaf(known) if *known == name => Ok(()),
            Shape::Unknown => {
                *self = Shape::Leaf(name);
                Ok(())
            }
            other => Err(other.differs(name)),
        }
    }

    fn write_tuple(&mut self, parts: &Bound<'_, PyTuple>, out: &mut Vec<u8>) -> PyResult<()> {
        if matches!(self, Shape::Unknown) {
            *self = Shape::Tuple(parts.iter().map(|_| Shape::Unknown).collect());
        }
        match self {
            Shape::Tuple(shapes) if shapes.len() == parts.len() => {
                let mut both = shapes.iter_mut().zip(parts);
                both.try_for_each(|(shape, part)| shape.write_part(&part, out))
            }
            other => Err(other.differs(&format!("tuple of {}", parts.len()))),
        }
    }

    fn differs(&self, name: &str) -> PyErr {
        let known = match self {
            Shape::Unknown => "None".to_owned(),
            Shape::Leaf(name) => (*name).to_owned(),
            Shape::Tuple(parts) => format!("tuple of {}", parts.len()),
        };
        PyTypeError::new_err(format!(
            "keys must have one type: this one is a {name}, those before are a {known}"
        ))
    }
}
