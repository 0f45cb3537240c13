//! The one clock: how long something took, for people and for how often a checkpoint is written.
//!
//! No result depends on it. A clock that stands still, runs back or leaps ahead gives lengths of time that are
//! finite and not below zero; tests make it do so through `faults`.

use crate::faults;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A moment, to measure from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// This moment.
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    pub fn now() -> Moment {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        Moment(faults::time(FIRST.get_or_init(Instant::now).elapsed()))
    }

    /// The time since then; none if the clock ran back.
    pub fn elapsed(self) -> Duration {
        Moment::now().0.saturating_sub(self.0)
    }

    /// The seconds since then.
    pub fn seconds(self) -> f64 {
        self.elapsed().as_secs_f64()
    }
}

/// Nanoseconds since 1970, for a seed that somebody asked to be random; 0 before then.
#[allow(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn nanoseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(faults::time(since).as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{Clock, with_clock};

    #[test]
    fn lengths_of_time_are_finite_and_not_below_zero_whatever_the_clock_does() {
        let before = Moment::now();
        assert!(Moment::now() >= before);
        for clock in [Clock::Stands, Clock::RunsBack, Clock::Leaps] {
            with_clock(clock, || {
                let start = Moment::now();
                for _ in 0..100 {
                    let seconds = start.seconds();
                    assert!(seconds.is_finite() && seconds >= 0.0, "{clock:?}: {seconds}");
                    let _ = nanoseconds();
                }
                let length = start.elapsed();
                assert_eq!(length > Duration::ZERO, clock == Clock::Leaps, "{clock:?}");
            });
        }
    }
}
