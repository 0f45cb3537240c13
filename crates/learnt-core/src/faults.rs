//! The one seam for faults of the system: a test says that the n-th read, write or claim of memory on its
//! thread fails, and everything above must answer with an error and leave nothing half done.

use std::cell::Cell;
use std::io;

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

thread_local! {
    /// What fails, and after how many that go well.
    static PLANNED: Cell<Option<(Fault, u64)>> = const { Cell::new(None) };
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
