//! Threads that help a caller.
//!
//! Whoever has work in pieces does it, and other threads take pieces of it as soon as they run. Nobody waits for a
//! thread that has not begun: where another program, or another library of the same program, keeps the processors
//! busy, the system may take milliseconds to let a thread begin, and the caller has done the work by then. Pieces are
//! taken in order, neighbours together, fewer as fewer are left. Work may have work in pieces itself, which has no
//! more threads together than the whole; who waits for the last pieces of others helps them with what these wait for.
#![allow(
    unsafe_code,
    reason = "threads that outlive a call are lent what lives only as long as the call, which waits for them; and a \
              vector whose elements were written by several threads is told its length"
)]

use crate::stop::{self, Flag, LOOK, STACK_BYTES};
use std::any::Any;
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Rounds that a thread looks for work, or for the end of others' work, before it sleeps: some microseconds each.
const ROUNDS: usize = 32;

type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// Work in pieces.
struct Job {
    /// Lives until its caller has left [`side_by_side`].
    work: &'static Work<'static>,
    pieces: usize,
    threads: usize,
    flag: Option<Flag>,
    /// The job of which this is a part.
    parent: Option<Arc<Job>>,
    /// The first piece that nobody has taken.
    next: AtomicUsize,
    /// Helpers that are at work on its pieces.
    inside: AtomicUsize,
    /// Of a job that is no part: helpers that are at work on it or on its parts.
    helpers: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

thread_local! {
    /// The job that this thread works on.
    static CURRENT: RefCell<Option<Arc<Job>>> = const { RefCell::new(None) };
}

impl Job {
    /// Takes pieces until none is left; a panic ends it for all.
    fn work_on(self: &Arc<Job>) {
        let before = CURRENT.with(|current| current.replace(Some(Arc::clone(self))));
        let all = || {
            while let Some(pieces) = self.take() {
                pieces.for_each(self.work);
                stop::look();
            }
        };
        let done = catch_unwind(AssertUnwindSafe(|| match &self.flag {
            Some(flag) => stop::within(flag, all),
            None => all(),
        }));
        CURRENT.with(|current| current.replace(before));
        if let Err(panic) = done {
            self.next.store(self.pieces, Ordering::Relaxed);
            match &mut *lock(&self.panic) {
                place @ None => *place = Some(panic),
                // What is thrown may throw when it is dropped.
                Some(_) => std::mem::forget(panic),
            }
        }
    }

    /// The next pieces.
    fn take(&self) -> Option<std::ops::Range<usize>> {
        let mut first = self.next.load(Ordering::Relaxed);
        loop {
            let left = self.pieces.checked_sub(first).filter(|left| *left > 0)?;
            let end = first + (left / (4 * self.threads)).max(1);
            let order = Ordering::Relaxed;
            match self.next.compare_exchange_weak(first, end, order, order) {
                Ok(_) => return Some(first..end),
                Err(now) => first = now,
            }
        }
    }

    /// Whether there is work for one more.
    fn has_room(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.pieces
            && self.inside.load(Ordering::Relaxed) + 1 < self.threads
    }

    /// Whether one more helper may come, so that all that is part of one job has its threads and no more.
    fn wants_help(&self) -> bool {
        let whole = self.whole();
        self.has_room() && whole.helpers.load(Ordering::Relaxed) + 1 < whole.threads
    }

    /// The job of which this is a part, or of which that is one.
    fn whole(&self) -> &Job {
        let mut job = self;
        while let Some(parent) = &job.parent {
            job = parent;
        }
        job
    }

    fn is_part_of(&self, other: &Arc<Job>) -> bool {
        let mut above = self.parent.as_ref();
        while let Some(job) = above {
            if Arc::ptr_eq(job, other) {
                return true;
            }
            above = job.parent.as_ref();
        }
        false
    }
}

/// Threads and the jobs that they may help with.
#[derive(Default)]
struct Pool {
    open: Mutex<Open>,
    /// A job was opened.
    opened: Condvar,
    /// A helper has left a job, or a part of one was opened.
    left: Condvar,
    /// Counts the jobs that were opened, for threads that do not sleep.
    count: AtomicUsize,
}

#[derive(Default)]
struct Open {
    jobs: Vec<Arc<Job>>,
    helpers: usize,
    /// Helpers that sleep, and that look for work.
    asleep: usize,
    looking: usize,
}

/// The threads of this process: a forked child makes its own, because threads do not survive a fork.
fn pool() -> Arc<Pool> {
    static POOL: Mutex<Option<(u32, Arc<Pool>)>> = Mutex::new(None);
    let process = std::process::id();
    let mut known = lock(&POOL);
    match &*known {
        Some((id, pool)) if *id == process => Arc::clone(pool),
        _ => Arc::clone(&known.insert((process, Arc::default())).1),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// Lets helpers take pieces of a job.
    fn open(self: &Arc<Pool>, job: &Arc<Job>) {
        let wanted = job.threads.min(job.pieces) - 1;
        let mut open = lock(&self.open);
        open.jobs.push(Arc::clone(job));
        self.count.fetch_add(1, Ordering::Relaxed);
        let asleep = wanted.saturating_sub(open.looking).min(open.asleep);
        while open.helpers < job.threads - 1 {
            let pool = Arc::clone(self);
            let named = std::thread::Builder::new().name("learnt".into()).stack_size(STACK_BYTES);
            if named.spawn(move || pool.help()).is_err() {
                break;
            }
            open.helpers += 1;
        }
        drop(open);
        self.wake(asleep);
        if job.parent.is_some() {
            self.left.notify_all();
        }
    }

    /// Wakes some helpers, who wake others: the caller has work to do.
    fn wake(&self, wanted: usize) {
        (0..wanted.min(2)).for_each(|_| self.opened.notify_one());
    }

    /// Lets no more helpers in, and waits for those that are inside.
    fn close(&self, job: &Arc<Job>) {
        lock(&self.open).jobs.retain(|open| !Arc::ptr_eq(open, job));
        let busy = || job.inside.load(Ordering::Acquire) > 0;
        let mut round = 0;
        while busy() {
            let open = lock(&self.open);
            // This thread is one of the job's already, and not counted among its helpers.
            let part = open.jobs.iter().rev().find(|part| part.has_room() && part.is_part_of(job));
            if let Some(part) = part.cloned() {
                part.inside.fetch_add(1, Ordering::Relaxed);
                drop(open);
                part.work_on();
                self.leave(&part);
                round = 0;
            } else if round < ROUNDS {
                drop(open);
                rest();
                round += 1;
            } else {
                if busy() {
                    drop(self.left.wait_timeout(open, LOOK));
                } else {
                    drop(open);
                }
                // Not while the lock is held, and nothing may unwind while a helper is inside.
                let _ = catch_unwind(stop::look);
            }
        }
    }

    /// Takes a helper's place in the latest job that wants one.
    fn join(&self) -> Option<Arc<Job>> {
        let open = lock(&self.open);
        let job = Arc::clone(open.jobs.iter().rev().find(|job| job.wants_help())?);
        job.inside.fetch_add(1, Ordering::Relaxed);
        job.whole().helpers.fetch_add(1, Ordering::Relaxed);
        if job.wants_help() {
            self.wake(open.asleep);
        }
        Some(job)
    }

    fn leave(&self, job: &Job) {
        if job.inside.fetch_sub(1, Ordering::Release) == 1 {
            // Under the lock, so that a caller that is about to sleep has looked before or hears it.
            drop(lock(&self.open));
            self.left.notify_all();
        }
    }

    /// The life of a helper. After work it looks for more for a while, and sleeps where none is for it.
    fn help(&self) {
        let mut rounds = ROUNDS;
        loop {
            let before = self.count.load(Ordering::Relaxed);
            if let Some(job) = self.join() {
                job.work_on();
                job.whole().helpers.fetch_sub(1, Ordering::Relaxed);
                self.leave(&job);
                rounds = ROUNDS;
                continue;
            }
            let news = || self.count.load(Ordering::Relaxed) != before;
            lock(&self.open).looking += 1;
            while rounds > 0 && !news() {
                rest();
                rounds -= 1;
            }
            let mut open = lock(&self.open);
            open.looking -= 1;
            if rounds == 0 && !news() {
                open.asleep += 1;
                open = self.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
                open.asleep -= 1;
                rounds = ROUNDS;
            }
        }
    }
}

/// A moment for others.
fn rest() {
    for _ in 0..64 {
        std::hint::spin_loop();
    }
    std::thread::yield_now();
}

/// Ends the program if it is dropped.
struct OrEnd;

impl Drop for OrEnd {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// Calls `work` with 0..n on this thread and up to `threads - 1` others. A panic in one call is one here.
pub(crate) fn side_by_side(threads: usize, n: usize, work: &Work<'_>) {
    if threads <= 1 || n <= 1 {
        return (0..n).for_each(work);
    }
    // SAFETY: only `work_on` calls it. This thread does so before it returns; others, only between `join` and `leave`,
    // and `close` returns when nobody is between them and nobody can `join` any more. Nothing unwinds from here to
    // there: `work_on` catches the panics of `work`, and `OrEnd` ends the program where anything else panics.
    let work = unsafe { std::mem::transmute::<&Work<'_>, &'static Work<'static>>(work) };
    let job = Arc::new(Job {
        work,
        pieces: n,
        threads,
        flag: stop::current(),
        parent: CURRENT.with(|current| current.borrow().clone()),
        next: AtomicUsize::new(0),
        inside: AtomicUsize::new(0),
        helpers: AtomicUsize::new(0),
        panic: Mutex::new(None),
    });
    let (pool, whole) = (pool(), OrEnd);
    pool.open(&job);
    job.work_on();
    pool.close(&job);
    std::mem::forget(whole);
    if let Some(panic) = lock(&job.panic).take() {
        resume_unwind(panic);
    }
}

/// Applies `f` to every element on some threads; the results are in order, with room for one more.
pub(crate) fn each<S: Sync, T: Send>(
    threads: usize,
    from: &[S],
    at_once: usize,
    f: impl Fn(&S) -> T + Sync,
) -> Vec<T> {
    let mut out = Vec::with_capacity(from.len() + 1);
    let places: Vec<Mutex<&mut [MaybeUninit<T>]>> =
        out.spare_capacity_mut()[..from.len()].chunks_mut(at_once).map(Mutex::new).collect();
    side_by_side(threads, places.len(), &|k| {
        for (place, value) in lock(&places[k]).iter_mut().zip(&from[k * at_once..]) {
            place.write(f(value));
        }
    });
    // SAFETY: `side_by_side` has called with every piece, each of which writes all of its places, or unwinds.
    unsafe { out.set_len(from.len()) };
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::time::Duration;

    fn counted(threads: usize, n: usize) -> Vec<u64> {
        let counts: Vec<AtomicU64> = (0..n).map(|_| AtomicU64::new(0)).collect();
        side_by_side(threads, n, &|i| {
            counts[i].fetch_add(1, Ordering::Relaxed);
        });
        counts.into_iter().map(AtomicU64::into_inner).collect()
    }

    #[test]
    fn every_piece_is_worked_on_once() {
        for threads in [1, 2, 3, 16] {
            for n in [0, 1, 2, 17, 5000] {
                assert_eq!(counted(threads, n), vec![1; n], "{threads} threads, {n} pieces");
            }
        }
    }

    #[test]
    fn pieces_may_have_pieces() {
        let total = AtomicU64::new(0);
        side_by_side(3, 7, &|i| {
            side_by_side(4, 50, &|j| {
                let more: u64 = counted(2, 3).into_iter().sum();
                total.fetch_add((100 * i + j) as u64 * more, Ordering::Relaxed);
            });
        });
        let expected: u64 = (0..7).flat_map(|i| (0..50).map(move |j| 3 * (100 * i + j))).sum();
        assert_eq!(total.into_inner(), expected);
    }

    #[test]
    fn many_callers_have_their_own_pieces() {
        std::thread::scope(|scope| {
            for n in 100..108 {
                scope.spawn(move || {
                    (0..200).for_each(|_| assert_eq!(counted(3, n), vec![1; n]));
                });
            }
        });
    }

    #[test]
    fn a_panic_in_a_piece_is_one_here_and_the_threads_go_on() {
        let panicking = |i: usize| assert!(i != 37, "piece");
        let caught = catch_unwind(|| side_by_side(3, 100, &panicking));
        let text = caught.unwrap_err().downcast_ref::<&str>().copied();
        assert_eq!(text, Some("piece"));
        assert_eq!(counted(3, 100), vec![1; 100]);
    }

    #[test]
    fn nobody_waits_for_a_helper_that_has_not_begun() {
        // More helpers than any other test has are at work until the second caller is done.
        const BUSY: usize = 24;
        let (release, held) = std::sync::mpsc::channel::<()>();
        let (held, begun) = (Mutex::new(held), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                side_by_side(BUSY, BUSY, &|_| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    assert!(lock(&held).recv_timeout(Duration::from_secs(20)).is_ok());
                });
            });
            while begun.load(Ordering::Relaxed) < BUSY {
                rest();
            }
            assert_eq!(counted(2, 10), vec![1; 10]);
            (0..BUSY).for_each(|_| assert!(release.send(()).is_ok()));
        });
    }

    #[test]
    fn results_are_in_order_and_dropped_once() {
        let numbers: Vec<usize> = (0..10_000).collect();
        let shared = Arc::new(());
        let made = each(3, &numbers, 64, |i| (i * 2, Arc::clone(&shared)));
        assert!(made.iter().map(|(i, _)| *i).eq((0..10_000).map(|i| i * 2)));
        assert_eq!(Arc::strong_count(&shared), 10_001);
        drop(made);
        assert_eq!(Arc::strong_count(&shared), 1);
    }
}
