//! Records on their way into a sort.

use std::sync::{Arc, Mutex};

use gristmill::{Error, Feed, Key};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

use crate::key::Shape;
use crate::options::{Options, Order};
use crate::wait::Waiter;

/// Records between two looks at signals: a few milliseconds.
const LOOK: u32 = 1 << 15;

/// Takes the records of a sort.
///
/// A record goes straight into the buffers of the sort while they have room. Only when they are full,
/// which is once in some megabytes, the thread gives up the GIL and waits.
pub(crate) struct Records {
    feed: Feed,
    keys: Option<Keys>,
    /// Records since signals were looked at.
    unseen: u32,
}

/// Makes the keys of records.
struct Keys {
    function: Py<PyAny>,
    is_reverse: bool,
    shape: Shape,
    /// The key of the record that the library takes next.
    next: Arc<Mutex<Vec<u8>>>,
}

struct Written(Arc<Mutex<Vec<u8>>>);

impl Key for Written {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.lock().expect("no holder panics"));
    }
}

impl Keys {
    fn make(&mut self, record: &Bound<'_, PyAny>) -> PyResult<()> {
        // The function may run any code, so nothing is locked while it does.
        let value = self.function.bind(record.py()).call1((record,))?;
        let mut key = self.next.lock().expect("no holder panics");
        key.clear();
        self.shape.write(&value, &mut key)?;
        if self.is_reverse {
            key.iter_mut().for_each(|byte| *byte = !*byte);
        }
        Ok(())
    }
}

impl Records {
    pub fn start(options: Options, waiter: &Waiter) -> Result<Records, Error> {
        let mut sorter = options.sorter(waiter.watch());
        let mut keys = None;
        if let Order::Function(function, is_reverse) = options.order {
            let next = Arc::new(Mutex::new(Vec::new()));
            let told = Arc::clone(&next);
            sorter = sorter.by_key(move |_| Written(Arc::clone(&told)));
            keys = Some(Keys {
                function,
                is_reverse,
                shape: Shape::default(),
                next,
            });
        }
        Ok(Records {
            feed: sorter.start()?,
            keys,
            unseen: 0,
        })
    }

    pub fn push(&mut self, record: &Bound<'_, PyAny>, waiter: &Waiter) -> PyResult<()> {
        let copy;
        let bytes = if let Ok(bytes) = record.cast::<PyBytes>() {
            bytes.as_bytes()
        } else if let Ok(bytes) = record.cast::<PyByteArray>() {
            copy = bytes.to_vec();
            &copy
        } else {
            return Err(PyTypeError::new_err(format!(
                "a record must be bytes or bytearray, not {}; text needs .encode()",
                record.get_type().name()?
            )));
        };
        if let Some(keys) = &mut self.keys {
            keys.make(record)?;
        }
        self.unseen += 1;
        if self.unseen >= LOOK {
            self.unseen = 0;
            waiter.look(record.py())?;
        }
        let py = record.py();
        let pushed = self.feed.try_push(bytes);
        if pushed.map_err(|error| waiter.failure(py, error))? {
            return Ok(());
        }
        waiter.wait(py, || self.feed.push(bytes))?;
        // Long records are few between the looks above, and each wait may be too short for one.
        waiter.look(py)
    }

    /// The key function, for the garbage collector.
    pub fn function(&self) -> Option<&Py<PyAny>> {
        self.keys.as_ref().map(|keys| &keys.function)
    }

    pub fn finish(self) -> Result<gristmill::Sorted, Error> {
        self.feed.finish()
    }
}
