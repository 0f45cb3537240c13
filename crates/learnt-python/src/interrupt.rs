//! Work that Ctrl-C can stop: it runs on a thread of its own without the interpreter's lock, while
//! the calling thread looks for signals.

use crate::failure::raise;
use learnt_core::context::Observer;
use learnt_core::error::{Code, Error, Result, Warning};
use learnt_core::stop::{self, Flag};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often signals are looked for.
const POLL: Duration = Duration::from_millis(50);
/// Deep enough for every learner, on every platform.
const STACK_BYTES: usize = 8 << 20;

/// A result with what the user was warned of on the way.
pub(crate) struct Outcome<T> {
    pub(crate) value: T,
    pub(crate) warnings: Vec<Warning>,
}

/// Runs the work; a signal cancels it and raises what the signal's handler raised. A panic becomes
/// an internal error.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Observer) -> Result<T> + Send,
) -> PyResult<Outcome<T>> {
    let watch = Watch::default();
    let (interrupt, result) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, done) = mpsc::channel::<()>();
            let watch = &watch;
            let body = move || {
                let result = guarded(|| stop::within(&watch.cancelled, || work(watch)));
                drop(sender);
                result
            };
            let worker = thread::Builder::new().name("learnt".into()).stack_size(STACK_BYTES);
            match worker.spawn_scoped(scope, body) {
                Err(error) => (None, Err(Error::from(error))),
                Ok(worker) => {
                    let interrupt = wait(&done, watch);
                    (interrupt, worker.join().unwrap_or_else(|panic| Err(panicked(&*panic))))
                }
            }
        })
    });
    match (interrupt, result) {
        (Some(raised), _) => Err(raised),
        (None, Ok(value)) => Ok(Outcome { value, warnings: watch.into_warnings() }),
        (None, Err(error)) => Err(raise(py, error)),
    }
}

/// Runs work that is too short to be interrupted, on this thread, without the lock.
pub(crate) fn run_short<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Observer) -> Result<T> + Send,
) -> PyResult<Outcome<T>> {
    let watch = Watch::default();
    match py.detach(|| guarded(|| work(&watch))) {
        Ok(value) => Ok(Outcome { value, warnings: watch.into_warnings() }),
        Err(error) => Err(raise(py, error)),
    }
}

/// Waits until the worker has let go of its end, and meanwhile hands signals to Python.
fn wait(done: &mpsc::Receiver<()>, watch: &Watch) -> Option<PyErr> {
    let mut interrupt = None;
    while let Err(RecvTimeoutError::Timeout) = done.recv_timeout(POLL) {
        if interrupt.is_none() {
            interrupt = Python::attach(|py| py.check_signals().and_then(|()| main_lives(py))).err();
            watch.cancelled.store(interrupt.is_some(), Ordering::Relaxed);
        }
    }
    interrupt
}

/// Signals are for the main thread. When Ctrl-C has ended that one, work in others is to end too.
fn main_lives(py: Python<'_>) -> PyResult<()> {
    let main = py.import("threading")?.call_method0("main_thread")?;
    match main.call_method0("is_alive")?.extract()? {
        true => Ok(()),
        false => Err(PyKeyboardInterrupt::new_err("the main thread has ended")),
    }
}

/// Runs work; a panic becomes an internal error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_string());
    Error::new(Code::Internal, format!("a mistake in learnt: {text}"))
        .hint("please report it with the data or the call that led to it")
}

/// Keeps warnings, and says whether to stop.
#[derive(Default)]
struct Watch {
    cancelled: Flag,
    warnings: Mutex<Vec<Warning>>,
}

impl Watch {
    fn into_warnings(self) -> Vec<Warning> {
        self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Watch {
    fn warning(&self, warning: &Warning) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning.clone());
    }
    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
