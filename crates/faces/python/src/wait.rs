//! Waiting for a sort without the GIL, but not deaf.

use std::io;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

use gristmill::{Error, Watch};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};

use crate::errors::raised;

/// How long Ctrl-C may go unnoticed.
const TICK: Duration = Duration::from_millis(50);

/// Time between two calls of a progress function.
const TELL: Duration = Duration::from_millis(200);

/// Follows a sort for a caller that waits.
pub(crate) struct Waiter {
    watch: Watch,
    /// The progress function, until the progress ends. Locked with the GIL alone: the garbage collector,
    /// which looks at it twice, must see the same both times.
    progress: Mutex<Option<Py<PyAny>>>,
    /// Whether there was a progress function at first, for a thread without the GIL.
    has_progress: bool,
    told: Mutex<Instant>,
    is_stopped: AtomicBool,
}

impl Waiter {
    pub fn new(watch: Watch, progress: Option<Py<PyAny>>) -> Waiter {
        Waiter {
            watch,
            has_progress: progress.is_some(),
            progress: Mutex::new(progress),
            told: Mutex::new(Instant::now()),
            is_stopped: AtomicBool::new(false),
        }
    }

    /// A waiter for the rest of the sort. The progress function moves there, since the garbage collector
    /// must find one owner of it.
    pub fn hand_over(&self, py: Python<'_>) -> Waiter {
        Waiter::new(self.watch.clone(), self.take(py))
    }

    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Stops the sort. Work that waits for something other than the sort asks `is_stopped`.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.watch.stop();
    }

    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Lets go of the progress function: a line on the terminal disappears with it.
    pub fn end(&self, py: Python<'_>) {
        drop(self.take(py));
    }

    /// As `end`, from a thread that may lack the GIL. At the interpreter's end there is nothing to do.
    pub fn end_anywhere(&self) {
        if self.has_progress {
            let _ = Python::try_attach(|py| self.end(py));
        }
    }

    /// The progress function. It may run any code, so nothing is locked while it does.
    fn progress(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let progress = self.progress.lock().expect("no holder panics");
        progress.as_ref().map(|progress| progress.clone_ref(py))
    }

    fn take(&self, _py: Python<'_>) -> Option<Py<PyAny>> {
        self.progress.lock().expect("no holder panics").take()
    }

    /// Does work of the sort on another thread. Ctrl-C and a progress function that raises stop the
    /// sort, and are raised.
    pub fn wait<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        until(py, work, || self.look(py))?.map_err(|error| self.failure(py, error))
    }

    /// The exception for an error of the sort, whose progress ends. After a wrong record it goes on.
    pub fn failure(&self, py: Python<'_>, error: Error) -> PyErr {
        if !matches!(error, Error::Record { .. }) {
            self.end(py);
        }
        raised(error)
    }

    /// Looks at signals, and tells the progress if it is time. A failure stops the sort.
    pub fn look(&self, py: Python<'_>) -> PyResult<()> {
        let looked = py.check_signals().and_then(|()| self.tell(py));
        looked.inspect_err(|_| {
            self.stop();
            self.end(py);
        })
    }

    fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let Some(progress) = self.progress(py) else {
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

    /// Shows the progress function to the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.progress.try_lock() {
            Ok(progress) => visit.call(&*progress),
            Err(_) => Ok(()),
        }
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
///
/// Does not look once the work is done: a file may have its name by then, and a failure would deny
/// that. Python itself raises a signal that came meanwhile.
pub(crate) fn until<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
    mut look: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    let mut looked = Ok(());
    let result = scope(|scope| {
        let (tell, mut told) = channel();
        let worker = Builder::new()
            .name("gristmill".to_owned())
            .spawn_scoped(scope, move || tell.send(work()))
            .map_err(|cause| has_no_thread(&cause))?;
        loop {
            let told = &mut told;
            match py.detach(move || told.recv_timeout(TICK)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) if looked.is_ok() => looked = look(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(_) => unreachable!("it tells its result"),
                },
            }
        }
    });
    looked.and(result)
}

fn has_no_thread(cause: &io::Error) -> PyErr {
    let what = format!("the system has no thread for this call: {cause}");
    match cause.raw_os_error() {
        Some(number) => PyOSError::new_err((number, what)),
        None => PyOSError::new_err(what),
    }
}
