//! A sign to stop that reaches where no [`Context`](crate::context::Context) does: into single factorisations.
//!
//! Work between two of a learner's own checks may take minutes: the eigenvalues of 5,000 columns are one call of
//! the backend, which cannot be interrupted. Whoever runs a fit on somebody's behalf gives the threads of the run
//! a flag ([`within`]). Long calls then run on a thread of their own (`apart`) while the caller looks at the
//! flag. When it is set, the caller goes on at once with nothing, and the thread that was left behind ends when
//! its call does; it holds copies only. Loops of our own look at [`asked`] and end early.
//!
//! A thread that works itself and has nobody to set its flag looks whether to stop from time to time ([`watched`]):
//! wherever it looks at the flag, between pieces of work, and while it waits for others.
//!
//! Results are worthless from then on. Whoever sets a flag must throw them away.

use crate::clock::Moment;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::LocalKey;
use std::time::Duration;

/// A flag that is set once.
pub type Flag = Arc<AtomicBool>;

/// Operations of a call from which it runs apart: about a tenth of a second.
const LONG: f64 = 5e8;
/// How often a caller looks at its flag.
pub(crate) const LOOK: Duration = Duration::from_millis(20);
/// Bytes of the stacks of threads that work: deep enough for every learner, on every platform.
pub const STACK_BYTES: usize = 8 << 20;
/// How often a thread that works itself looks whether to stop.
const PERIOD: Duration = Duration::from_millis(100);
/// A look takes at most this share of the time: it may have to wait for others.
const SHARE: u32 = 10;
/// So many times [`asked_in_passing`] is called for each look at the clock.
const ASKED_A_LOOK: u32 = 16;

thread_local! {
    static FLAG: RefCell<Option<Flag>> = const { RefCell::new(None) };
    static LOOKOUT: RefCell<Option<Lookout>> = const { RefCell::new(None) };
}

/// What a thread does from time to time while it works.
struct Lookout {
    look: Rc<dyn Fn()>,
    last: Moment,
    period: Duration,
    asked: u32,
}

/// Puts back what was there, also after a panic.
struct Back<T: 'static>(&'static LocalKey<RefCell<Option<T>>>, Option<T>);

impl<T> Back<T> {
    fn replace(place: &'static LocalKey<RefCell<Option<T>>>, new: Option<T>) -> Back<T> {
        Back(place, place.with(|place| place.replace(new)))
    }
}

impl<T> Drop for Back<T> {
    fn drop(&mut self) {
        let before = self.1.take();
        drop(self.0.with(|place| place.replace(before)));
    }
}

/// Runs `work` on this thread, and on the threads that it uses, under a flag.
pub fn within<T>(flag: &Flag, work: impl FnOnce() -> T) -> T {
    let _back = Back::replace(&FLAG, Some(Arc::clone(flag)));
    work()
}

/// Runs `work` on this thread under a flag, and calls `look`, which may set it, some ten times a second meanwhile.
pub fn watched<T>(flag: &Flag, look: impl Fn() + 'static, work: impl FnOnce() -> T) -> T {
    let (look, last) = (Rc::new(look), Moment::now());
    let lookout = Lookout { look, last, period: PERIOD, asked: 0 };
    let _back = Back::replace(&LOOKOUT, Some(lookout));
    within(flag, work)
}

/// Lets this thread look whether to stop, if it does so itself and it is time.
pub fn look() {
    let due = LOOKOUT.with(|place| {
        let mut place = place.borrow_mut();
        let lookout = place.as_mut().filter(|lookout| lookout.last.elapsed() >= lookout.period)?;
        lookout.last = Moment::now();
        Some(Rc::clone(&lookout.look))
    });
    // Not while the place is held: who looks may run work of his own.
    let Some(look) = due else { return };
    let start = Moment::now();
    look();
    LOOKOUT.with(|place| {
        if let Some(lookout) = &mut *place.borrow_mut() {
            lookout.period = PERIOD.max(start.elapsed().saturating_mul(SHARE));
            lookout.last = Moment::now();
        }
    });
}

/// The flag of this thread.
pub(crate) fn current() -> Option<Flag> {
    FLAG.with(|place| place.borrow().clone())
}

/// Whether this thread is to stop: what it computes is thrown away.
pub fn asked() -> bool {
    look();
    flagged()
}

/// The same for loops whose steps take less than a microsecond, and that look at the clock in some of them only.
pub fn asked_in_passing() -> bool {
    let now = LOOKOUT.with(|place| {
        place.borrow_mut().as_mut().is_some_and(|lookout| {
            lookout.asked = (lookout.asked + 1) % ASKED_A_LOOK;
            lookout.asked == 0
        })
    });
    if now {
        look();
    }
    flagged()
}

fn flagged() -> bool {
    FLAG.with(|place| place.borrow().as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)))
}

/// Whether a call of about so many operations would run on a thread of its own.
pub(crate) fn runs_apart(operations: f64) -> bool {
    operations >= LONG && current().is_some()
}

/// The result of a call of about so many operations; `None` if the thread was asked to stop meanwhile.
pub(crate) fn apart<T: Send + 'static>(
    operations: f64,
    call: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let Some(flag) = current().filter(|_| operations >= LONG) else { return Some(call()) };
    // Nothing new is begun for a caller that was asked to stop: threads that are left behind would only add up.
    if flag.load(Ordering::Relaxed) {
        return None;
    }
    // Held by both sides, so that it is not lost where no thread can be had.
    let call = Arc::new(Mutex::new(Some(call)));
    let take = |held: &Mutex<Option<_>>| held.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (sender, done) = mpsc::channel();
    let theirs = Arc::clone(&call);
    let work = move || {
        if let Some(call) = take(&theirs) {
            // Nobody listens any more if the caller has gone on.
            let _ = sender.send(call());
        }
    };
    let named = std::thread::Builder::new().name("learnt apart".into()).stack_size(STACK_BYTES);
    let Ok(worker) = named.spawn(work) else { return take(&call).map(|call| call()) };
    loop {
        match done.recv_timeout(LOOK) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) if flag.load(Ordering::Relaxed) => return None,
            Err(RecvTimeoutError::Timeout) => look(),
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Moment;
    use crate::context::Context;

    #[test]
    fn a_long_call_is_left_behind_when_its_caller_is_asked_to_stop() {
        let flag = Flag::default();
        let (again, started) = (Arc::clone(&flag), Moment::now());
        let (release, held) = mpsc::channel::<()>();
        let left = within(&flag, || {
            apart(1e12, move || {
                again.store(true, Ordering::Relaxed);
                let _ = held.recv_timeout(Duration::from_secs(20));
            })
        });
        assert!(left.is_none() && started.seconds() < 10.0);
        drop(release);
        assert!(!asked());
    }

    #[test]
    fn a_caller_that_was_asked_to_stop_begins_no_long_call() {
        let flag = Flag::new(AtomicBool::new(true));
        let begun = Flag::default();
        let seen = Arc::clone(&begun);
        let long = move || seen.store(true, Ordering::Relaxed);
        assert!(within(&flag, || apart(1e12, long)).is_none());
        assert!(!begun.load(Ordering::Relaxed));
        assert_eq!(within(&flag, || apart(1.0, || 7)), Some(7));
    }

    #[test]
    fn short_calls_and_calls_without_a_flag_run_where_they_are() {
        let here = std::thread::current().id();
        let name = || std::thread::current().id();
        assert_eq!(apart(1e12, name), Some(here));
        assert_eq!(within(&Flag::default(), || apart(1.0, name)), Some(here));
        assert_ne!(within(&Flag::default(), || apart(1e12, name)), Some(here));
    }

    #[test]
    fn threads_of_a_run_have_the_flag_of_their_caller() {
        let flag = Flag::new(AtomicBool::new(true));
        let run = Context::default().with_threads(3);
        let seen = within(&flag, || run.par_map(50, |_| asked()));
        assert!(seen.into_iter().all(|seen| seen));
        assert!(run.par_map(50, |_| asked()).into_iter().all(|seen| !seen));
    }

    #[test]
    fn a_thread_that_works_itself_looks_wherever_it_may_be_stopped() {
        let places: [fn(&Context); 5] = [
            |_| while !asked() {},
            |_| while !asked_in_passing() {},
            |run| while !run.par_map(4, |_| asked()).contains(&true) {},
            // The others wait for the flag, and this thread for them.
            |run| {
                let here = std::thread::current().id();
                run.par_map(8, |_| while std::thread::current().id() != here && !asked() {});
                while !asked() {}
            },
            |_| assert!(apart(1e12, || std::thread::sleep(Duration::from_secs(20))).is_none()),
        ];
        for place in places {
            let (flag, started) = (Flag::default(), Moment::now());
            let set = Arc::clone(&flag);
            let look = move || set.store(true, Ordering::Relaxed);
            watched(&flag, look, || place(&Context::default().with_threads(3)));
            assert!(flag.load(Ordering::Relaxed) && started.seconds() < 10.0);
        }
        assert!(!asked() && !asked_in_passing());
    }

    #[test]
    fn a_look_may_run_work_that_is_watched_itself() {
        let (flag, inner) = (Flag::default(), Flag::default());
        let (set, looked) = (Arc::clone(&flag), Arc::clone(&inner));
        let look = move || {
            let deeper = Arc::clone(&looked);
            watched(&looked, move || deeper.store(true, Ordering::Relaxed), || while !asked() {});
            set.store(true, Ordering::Relaxed);
        };
        watched(&flag, look, || while !asked() {});
        assert!(inner.load(Ordering::Relaxed));
    }

    #[test]
    fn a_panic_apart_is_a_panic_here() {
        let call = || within(&Flag::default(), || apart(1e12, || panic!("apart")));
        assert!(std::panic::catch_unwind(call).is_err());
        assert!(current().is_none());
    }
}
