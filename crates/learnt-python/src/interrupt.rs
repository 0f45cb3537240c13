//! Work that Ctrl-C can stop, without the interpreter's lock.
//!
//! Where the stack of the calling thread is known to be deep, as that of the main thread mostly is on Linux, the work runs
//! on it and looks for signals from time to time ([`stop::watched`]). Elsewhere it runs on a thread of its own, while
//! the calling one looks for them. That takes longer, and much longer where the threads of another library wait for
//! work by going round in circles: a thread that begins, or that is woken, may then have to wait for its turn.

use crate::failure::raise;
use learnt_core::context::Observer;
use learnt_core::error::{Code, Error, Result, Warning};
use learnt_core::stop::{self, Flag, STACK_BYTES};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often signals are looked for by a thread that waits.
const POLL: Duration = Duration::from_millis(50);

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
    let (interrupt, result) = match cfg!(target_os = "linux") && is_deep(py).unwrap_or(false) {
        true => here(py, &watch, work),
        false => apart(py, &watch, work),
    };
    match (interrupt, result) {
        (Some(raised), _) => Err(raised),
        (None, Ok(value)) => Ok(Outcome { value, warnings: watch.into_warnings() }),
        (None, Err(error)) => Err(raise(py, error)),
    }
}

/// What a signal raised, if one did, and what the work gave.
type Ended<T> = (Option<PyErr>, Result<T>);

/// Runs the work on this thread.
fn here<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    work: impl FnOnce(&dyn Observer) -> Result<T> + Send,
) -> Ended<T> {
    let raised = Arc::new(Mutex::new(None));
    let result = py.detach(|| {
        let (flag, place) = (Arc::clone(&watch.cancelled), Arc::clone(&raised));
        let look = move || {
            if !flag.load(Ordering::Relaxed)
                && let Err(raised) = Python::attach(|py| py.check_signals())
            {
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
                flag.store(true, Ordering::Relaxed);
            }
        };
        guarded(|| stop::watched(&watch.cancelled, look, || work(watch)))
    });
    let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    (raised, result)
}

/// Runs the work on a thread of its own.
fn apart<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    work: impl FnOnce(&dyn Observer) -> Result<T> + Send,
) -> Ended<T> {
    py.detach(|| {
        thread::scope(|scope| {
            let (sender, done) = mpsc::channel::<()>();
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
    })
}

/// Whether this is the interpreter's main thread, which signals are for, on the stack that the process began with, and
/// that is deep: by `ulimit -s` it may not be.
fn is_deep(py: Python<'_>) -> PyResult<bool> {
    static DEEP: PyOnceLock<bool> = PyOnceLock::new();
    let deep = DEEP.get_or_try_init(py, || {
        let resource = py.import("resource")?;
        let limits = resource.call_method1("getrlimit", (resource.getattr("RLIMIT_STACK")?,))?;
        let bytes: i64 = limits.get_item(0)?.extract()?;
        PyResult::Ok(bytes < 0 || bytes >= STACK_BYTES as i64)
    })?;
    let threading = py.import("threading")?;
    let first = || threading.call_method0("get_native_id")?.eq(std::process::id());
    let main = || {
        let main = threading.call_method0("main_thread")?.getattr("ident")?;
        threading.call_method0("get_ident")?.eq(main)
    };
    Ok(*deep && first()? && main()?)
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
            interrupt =
                Python::attach(|py| py.check_signals().and_then(|()| not_interrupted(py))).err();
            watch.cancelled.store(interrupt.is_some(), Ordering::Relaxed);
        }
    }
    interrupt
}

/// Signals are for the main thread. When Ctrl-C has ended that one, work in others is to end too.
fn not_interrupted(py: Python<'_>) -> PyResult<()> {
    let main = py.import("threading")?.call_method0("main_thread")?;
    let lives: bool = main.call_method0("is_alive")?.extract()?;
    // What the main thread ended with, if that was an exception.
    let ended_with = py.import("sys")?.getattr_opt("last_type")?;
    match ended_with.filter(|_| !lives) {
        Some(kind) if kind.is(py.get_type::<PyKeyboardInterrupt>()) => {
            Err(PyKeyboardInterrupt::new_err("the main thread has ended"))
        }
        _ => Ok(()),
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
        stop::look();
        self.cancelled.load(Ordering::Relaxed)
    }
}
