//! The Python module `gristmill`: the library and the lab, with the interpreter's ways.
//!
//! ```text
//! keyword arguments --> Options --> gristmill::Sorter
//! bytes ------------------------> Records --.
//! capsule --> batches --> Columns, rows ----+--> gristmill::Feed
//! gristmill::Sorted --> bytes, or rows, Columns --> batches --> capsule
//! ```
//!
//! The GIL is free while a sort waits or works (`wait`). The calling thread wakes up to see Ctrl-C and
//! to tell the progress. `python/gristmill` has the part that is written in Python: signatures,
//! exceptions, progress, tables.

mod capsule;
mod columns;
mod errors;
mod files;
mod key;
mod lock;
mod options;
mod reading;
mod records;
mod rows;
mod simulate;
mod sorted;
mod sorter;
mod strides;
mod wait;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
mod _gristmill {
    #[pymodule_export]
    use crate::files::{Call, check, merge, sort_file};
    #[pymodule_export]
    use crate::reading::Reading;
    #[pymodule_export]
    use crate::simulate::{experiment, experiments, simulation};
    #[pymodule_export]
    use crate::sorted::{Batches, Sorted};
    #[pymodule_export]
    use crate::sorter::Pushed;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
