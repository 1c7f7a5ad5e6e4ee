//! Errors as the exceptions of `gristmill.errors`.

use std::path::PathBuf;

use gristmill::Error;
use lab::LabError;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

mod python {
    pyo3::import_exception!(gristmill.errors, Error);
    pyo3::import_exception!(gristmill.errors, DamagedError);
    pyo3::import_exception!(gristmill.errors, InputError);
    pyo3::import_exception!(gristmill.errors, MemoryLimitError);
    pyo3::import_exception!(gristmill.errors, OptionsError);
    pyo3::import_exception!(gristmill.errors, StateError);
    pyo3::import_exception!(gristmill.errors, StoppedError);
}

/// The exception for an error. A file's error is an `OSError` with its name, as Python has it.
pub(crate) fn raised(error: Error) -> PyErr {
    let what = error.to_string();
    match error {
        Error::File { file, cause, .. } => match cause.raw_os_error() {
            // Python chooses the class by the number, such as FileNotFoundError.
            Some(number) => PyOSError::new_err((number, what, file.into_os_string())),
            None => PyOSError::new_err(what),
        },
        Error::Io(cause) => cause.into(),
        Error::Options(_) => python::OptionsError::new_err(what),
        Error::Memory(_) => python::MemoryLimitError::new_err(what),
        Error::Input { file, offset, .. } => {
            python::InputError::new_err((what, file.map(PathBuf::into_os_string), offset))
        }
        Error::Record { .. } => python::InputError::new_err(what),
        Error::Stopped => python::StoppedError::new_err(what),
        Error::Forked => python::StateError::new_err(what),
        Error::Damaged(_) => python::DamagedError::new_err(what),
        _ => python::Error::new_err(what),
    }
}

/// A mistake in the arguments of a simulation, or its failure.
pub(crate) fn of_lab(error: &LabError) -> PyErr {
    let what = error.to_string();
    match error.kind() {
        "usage" | "profile" | "file" => python::OptionsError::new_err(what),
        "stopped" => python::StoppedError::new_err(what),
        _ => python::Error::new_err(what),
    }
}

/// A mistake in an argument.
pub(crate) fn option(what: impl Into<String>) -> PyErr {
    python::OptionsError::new_err(what.into())
}

/// An object that cannot be used now.
pub(crate) fn unusable(what: &'static str) -> PyErr {
    python::StateError::new_err(what)
}
