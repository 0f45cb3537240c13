//! Steps with their times; at the end the slowest steps and tests are told.

use std::time::{Duration, Instant};

use crate::say;

/// How many of the slowest are told.
const TOLD: usize = 10;

/// A run of steps.
#[derive(Default)]
pub(crate) struct Steps {
    steps: Vec<(String, Duration)>,
    tests: Vec<(String, Duration)>,
}

impl Steps {
    /// Runs one step and keeps its time; its error names it.
    #[allow(
        clippy::disallowed_methods,
        reason = "the workspace's clock is in a crate that this one does not need"
    )]
    pub(crate) fn run<T>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        say(&format!("== {name}"));
        let start = Instant::now();
        let made = work(self).map_err(|error| format!("{name}: {error}"))?;
        let taken = start.elapsed();
        say(&format!("== {name}: passed in {}", seconds(taken)));
        self.steps.push((name.to_string(), taken));
        Ok(made)
    }

    /// Keeps the times that a test program printed: lines such as `test a::b ... ok <0.123s>`.
    pub(crate) fn note_tests(&mut self, program: &str, printed: &str) {
        let times = printed.lines().filter_map(test_time);
        self.tests.extend(times.map(|(test, taken)| (format!("{program} {test}"), taken)));
    }

    /// The slowest steps and tests, as lines.
    pub(crate) fn slowest(&self) -> String {
        let mut out = String::new();
        for (what, list) in [("steps", &self.steps), ("Rust tests", &self.tests)] {
            let mut sorted: Vec<&(String, Duration)> = list.iter().collect();
            sorted.sort_by_key(|(_, taken)| std::cmp::Reverse(*taken));
            sorted.truncate(TOLD);
            if !sorted.is_empty() {
                out += &format!("slowest {what}:\n");
            }
            for (name, taken) in sorted {
                out += &format!("  {:>8}  {name}\n", seconds(*taken));
            }
        }
        let all: Duration = self.steps.iter().map(|(_, taken)| *taken).sum();
        out + &format!("all steps: {}", seconds(all))
    }
}

/// The name and time of a passed test.
fn test_time(line: &str) -> Option<(&str, Duration)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ok <")?;
    let taken: f64 = rest.strip_suffix("s>")?.parse().ok()?;
    Some((name, Duration::try_from_secs_f64(taken).ok()?))
}

fn seconds(taken: Duration) -> String {
    format!("{:.1} s", taken.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_come_first_and_no_more_than_ten() {
        let mut steps = Steps::default();
        let printed: String = (0..20).map(|i| format!("test t{i} ... ok <{i}.500s>\n")).collect();
        steps.note_tests("it", &printed);
        steps.note_tests("it", "running 3 tests\ntest x ... FAILED <99.0s>\n");
        let told = steps.slowest();
        assert!(told.contains("slowest Rust tests:\n    19.5 s  it t19\n"), "{told}");
        assert!(told.contains("it t10\n") && !told.contains("it t9\n"), "{told}");
        assert!(!told.contains("x\n") && told.ends_with("all steps: 0.0 s"), "{told}");
    }

    #[test]
    fn a_step_that_fails_is_named() {
        let failed = Steps::default().run("lints", |_| Err::<(), _>("no".to_string()));
        assert_eq!(failed, Err("lints: no".to_string()));
    }
}
