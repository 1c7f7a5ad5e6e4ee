//! Waiting for a sort without the GIL, but not deaf.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use gristmill::{Error, Watch};
use pyo3::prelude::*;

use crate::errors::raised;

/// How long Ctrl-C may go unnoticed.
const TICK: Duration = Duration::from_millis(50);

/// Time between two calls of a progress function.
const TELL: Duration = Duration::from_millis(200);

/// Follows a sort for a caller that waits.
pub(crate) struct Waiter {
    watch: Watch,
    progress: Option<Py<PyAny>>,
    told: Mutex<Instant>,
}

impl Waiter {
    pub fn new(watch: Watch, progress: Option<Py<PyAny>>) -> Waiter {
        let told = Mutex::new(Instant::now());
        Waiter {
            watch,
            progress,
            told,
        }
    }

    /// The progress function, for the garbage collector.
    pub fn progress(&self) -> Option<&Py<PyAny>> {
        self.progress.as_ref()
    }

    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Does work of the sort on another thread. Ctrl-C and a progress function that raises stop the
    /// sort, and are raised.
    pub fn wait<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        until(py, work, || self.look(py))?.map_err(raised)
    }

    /// Looks at signals, and tells the progress if it is time. A failure stops the sort.
    pub fn look(&self, py: Python<'_>) -> PyResult<()> {
        let looked = py.check_signals().and_then(|()| self.tell(py));
        looked.inspect_err(|_| self.watch.stop())
    }

    fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let Some(progress) = &self.progress else {
            return Ok(());
        };
        {
            let mut told = self.told.lock().expect("no holder panics");
            if told.elapsed() < TELL {
                return Ok(());
            }
            *told = Instant::now();
        }
        progress
            .call1(py, (progress_of(py, &self.watch)?,))
            .map(drop)
    }
}

/// The progress of a sort as a `gristmill.Progress`.
pub(crate) fn progress_of<'py>(py: Python<'py>, watch: &Watch) -> PyResult<Bound<'py, PyAny>> {
    let now = watch.progress();
    let told = (now.phase, now.read, now.written, now.total);
    py.import("gristmill.progress")?
        .getattr("Progress")?
        .call1(told)
}

/// Runs work on a thread of its own, and looks at each tick. After a look has failed, waits for the
/// work, which should end soon, and drops its result.
pub(crate) fn until<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
    mut look: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    let mut looked = Ok(());
    let result = thread::scope(|scope| {
        let (tell, mut told) = channel();
        let worker = scope.spawn(move || tell.send(work()));
        loop {
            let told = &mut told;
            match py.detach(move || told.recv_timeout(TICK)) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) if looked.is_ok() => looked = look(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(_) => unreachable!("it tells its result"),
                },
            }
        }
    });
    looked.and_then(|()| look()).map(|()| result)
}
