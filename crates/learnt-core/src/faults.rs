//! The one seam for faults of the system: a test says that the n-th read, write or claim of memory on its
//! thread fails, and everything above must answer with an error and leave nothing half done; or that the clock
//! goes wrong, which must change nothing but lengths of time.

use std::cell::Cell;
use std::io;
use std::time::Duration;

/// What can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A read from a file or stream.
    Read,
    /// A write to a file.
    Write,
    /// A claim of memory.
    Memory,
}

/// How a clock goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Every reading is the first.
    Stands,
    /// Every reading is an hour before the last, down to zero.
    RunsBack,
    /// Every reading is a century after the last.
    Leaps,
}

thread_local! {
    /// What fails, and after how many that go well.
    static PLANNED: Cell<Option<(Fault, u64)>> = const { Cell::new(None) };
    /// The clock that goes wrong, and its last reading.
    static CLOCK: Cell<Option<(Clock, Option<Duration>)>> = const { Cell::new(None) };
}

/// Runs `work` with the clock of this thread going wrong.
pub fn with_clock<T>(clock: Clock, work: impl FnOnce() -> T) -> T {
    CLOCK.with(|planned| planned.set(Some((clock, None))));
    let done = work();
    CLOCK.with(|planned| planned.set(None));
    done
}

/// What the clock says, of the true reading.
pub(crate) fn time(reading: Duration) -> Duration {
    const HOUR: Duration = Duration::from_secs(3600);
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    let Some((clock, last)) = CLOCK.with(Cell::get) else { return reading };
    let last = last.unwrap_or(reading);
    let now = match clock {
        Clock::Stands => last,
        Clock::RunsBack => last.saturating_sub(HOUR),
        Clock::Leaps => last.saturating_add(CENTURY),
    };
    CLOCK.with(|planned| planned.set(Some((clock, Some(now)))));
    now
}

/// Runs `work` on this thread with the n-th operation of a kind failing, counted from 0; and whether it
/// got that far.
pub fn fail_at<T>(fault: Fault, n: u64, work: impl FnOnce() -> T) -> (T, bool) {
    PLANNED.with(|planned| planned.set(Some((fault, n))));
    let done = work();
    let met = PLANNED.with(Cell::take).is_none();
    (done, met)
}

/// Asked before every operation of a kind; an error if it is to fail.
pub fn meet(fault: Fault) -> io::Result<()> {
    PLANNED.with(|planned| match planned.get() {
        Some((kind, 0)) if kind == fault => {
            planned.set(None);
            Err(io::Error::other("a fault that a test asked for"))
        }
        Some((kind, n)) if kind == fault => {
            planned.set(Some((kind, n - 1)));
            Ok(())
        }
        _ => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_named_operation_fails() {
        let three =
            || [meet(Fault::Write), meet(Fault::Read), meet(Fault::Write)].map(|r| r.is_ok());
        assert_eq!(fail_at(Fault::Write, 1, three), ([true, true, false], true));
        assert_eq!(fail_at(Fault::Memory, 0, three), ([true, true, true], false));
        assert!(meet(Fault::Memory).is_ok());
    }
}
