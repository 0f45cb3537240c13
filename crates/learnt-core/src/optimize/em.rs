//! Expectation maximisation for any model: an E step, an M step, a log-likelihood that may not fall.
//!
//! θ ← M(E(θ)) until  |ℓ - ℓ'| <= tol max(|ℓ'|, |ℓ|, 1)  or `max_iter` steps. Theory says ℓ never
//! falls; a fall beyond rounding (1e-9 of its size) is a mistake in a step, and an error, or a
//! warning where M only improves approximately. The best of `n_init` starts is kept, the first of
//! equals.
//!
//! Dempster, Laird and Rubin (1977), Journal of the Royal Statistical Society B 39, 1–38.

use super::Stopped;
use crate::context::{Context, Progress};
use crate::error::{Code, Error, Result};

/// Rounding of a log-likelihood that is no fall.
const ROUNDING: f64 = 1e-9;

/// What the driver needs to know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectationMaximization {
    /// Steps at most, for every start.
    pub max_iter: usize,
    /// Relative change of the log-likelihood that is small enough.
    pub tol: f64,
    /// Number of starts.
    pub n_init: usize,
    /// Whether a falling log-likelihood is an error rather than a warning.
    pub strict: bool,
}

impl Default for ExpectationMaximization {
    /// 200 steps, 1e-10, one start, strict.
    fn default() -> Self {
        ExpectationMaximization { max_iter: 200, tol: 1e-10, n_init: 1, strict: true }
    }
}

/// The best run.
#[derive(Clone, Debug)]
pub struct EmFit<P> {
    /// The parameters.
    pub parameters: P,
    /// Their log-likelihood.
    pub log_likelihood: f64,
    /// The log-likelihood at the start and after every step.
    pub values: Vec<f64>,
    /// Steps made.
    pub iterations: usize,
    /// Which rule ended it: the change of the log-likelihood, or the limit.
    pub stopped: Stopped,
    /// Which start was best.
    pub start: usize,
    /// The final log-likelihood from every start.
    pub starts: Vec<f64>,
}

impl ExpectationMaximization {
    /// Runs it. `start(i)` gives the parameters of the i-th start; `expect` gives what the M step
    /// needs and the log-likelihood of the parameters; `maximize` gives the next parameters.
    ///
    /// ```
    /// use learnt_core::context::Context;
    /// use learnt_core::optimize::ExpectationMaximization;
    /// // Rao's linkage counts: cells 1/2 + t/4, (1 - t)/4, (1 - t)/4, t/4.
    /// let counts = [125.0, 18.0, 20.0, 34.0];
    /// let expect = |t: &f64| {
    ///     let share = t / (2.0 + t);
    ///     let likelihood = counts[0] * (2.0 + t).ln()
    ///         + (counts[1] + counts[2]) * (1.0 - t).ln()
    ///         + counts[3] * t.ln();
    ///     Ok((counts[0] * share, likelihood))
    /// };
    /// let maximize = |hidden: &f64| {
    ///     Ok((hidden + counts[3]) / (hidden + counts[1] + counts[2] + counts[3]))
    /// };
    /// let em = ExpectationMaximization { tol: 1e-14, ..Default::default() };
    /// let fit = em.run(|_| Ok(0.5), expect, maximize, &Context::default())?;
    /// assert!((fit.parameters - 0.6268214980).abs() < 1e-7);
    /// # Ok::<(), learnt_core::error::Error>(())
    /// ```
    pub fn run<P, S>(
        &self,
        mut start: impl FnMut(usize) -> Result<P>,
        mut expect: impl FnMut(&P) -> Result<(S, f64)>,
        mut maximize: impl FnMut(&S) -> Result<P>,
        run: &Context,
    ) -> Result<EmFit<P>> {
        if self.tol.is_nan() || self.tol < 0.0 {
            return Err(Error::parameter("tol", "zero or more", self.tol));
        }
        let mut best: Option<EmFit<P>> = None;
        let mut starts = Vec::new();
        for index in 0..self.n_init {
            let fit = self.climb(start(index)?, index, &mut expect, &mut maximize, run)?;
            starts.push(fit.log_likelihood);
            let better = |old: &EmFit<P>| fit.log_likelihood > old.log_likelihood;
            if best.as_ref().is_none_or(better) {
                best = Some(fit);
            }
        }
        let best = best.ok_or_else(|| Error::parameter("n_init", "at least 1", self.n_init))?;
        if best.stopped == Stopped::MaxIterations {
            let message = format!(
                "EM did not converge in {} iterations, log-likelihood {:.6e}; raise max_iter or tol",
                best.iterations, best.log_likelihood
            );
            run.warn(Code::NotConverged, message);
        }
        Ok(EmFit { starts, ..best })
    }

    fn climb<P, S>(
        &self,
        start: P,
        index: usize,
        expect: &mut impl FnMut(&P) -> Result<(S, f64)>,
        maximize: &mut impl FnMut(&S) -> Result<P>,
        run: &Context,
    ) -> Result<EmFit<P>> {
        let mut parameters = start;
        let mut values = Vec::new();
        let stopped = loop {
            let (statistics, likelihood) = expect(&parameters)?;
            self.judge(&values, likelihood, run)?;
            let close = values.last().is_some_and(|&before: &f64| {
                let scale = before.abs().max(likelihood.abs()).max(1.0);
                (likelihood - before).abs() <= self.tol * scale
            });
            values.push(likelihood);
            if close {
                break Stopped::Decrease;
            }
            if values.len() > self.max_iter {
                break Stopped::MaxIterations;
            }
            run.progress(&Progress {
                stage: "expectation maximisation",
                done: (values.len() - 1) as u64,
                total: Some(self.max_iter as u64),
                objective: Some(likelihood),
            })?;
            parameters = maximize(&statistics)?;
        };
        let (iterations, log_likelihood) = (values.len() - 1, values[values.len() - 1]);
        let starts = Vec::new();
        Ok(EmFit { parameters, log_likelihood, values, iterations, stopped, start: index, starts })
    }

    /// Refuses a log-likelihood that is not finite or has fallen.
    fn judge(&self, values: &[f64], likelihood: f64, run: &Context) -> Result<()> {
        let step = values.len();
        if !likelihood.is_finite() {
            return Err(Error::numeric(format!(
                "the log-likelihood is {likelihood} at iteration {step} of EM"
            ))
            .hint("a component may have shrunk to one point: bound its spread from below"));
        }
        let Some(&before) = values.last() else { return Ok(()) };
        if likelihood >= before - ROUNDING * before.abs().max(1.0) {
            return Ok(());
        }
        let message = format!(
            "the log-likelihood fell from {before:.12e} to {likelihood:.12e} at iteration {step} of EM, so a step is not an E or M step of the same model"
        );
        if self.strict {
            return Err(Error::numeric(message).hint("set strict=False to go on with a warning"));
        }
        run.warn(Code::Numeric, message);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Quiet, Recorder};

    const DATA: [f64; 8] = [-2.1, -1.9, -2.4, -1.7, 1.8, 2.2, 2.6, 1.9];

    /// Two normal components of unit spread and equal shares; the parameters are their means.
    fn expect(means: &[f64; 2]) -> Result<([[f64; 2]; 2], f64)> {
        let mut sums = [[0.0; 2]; 2];
        let mut likelihood = 0.0;
        for x in DATA {
            let density = means.map(|m| 0.5 * (-0.5 * (x - m) * (x - m)).exp());
            let total: f64 = density.iter().sum();
            likelihood += total.ln();
            for k in 0..2 {
                sums[k][0] += density[k] / total;
                sums[k][1] += x * density[k] / total;
            }
        }
        Ok((sums, likelihood))
    }

    fn maximize(sums: &[[f64; 2]; 2]) -> Result<[f64; 2]> {
        Ok(sums.map(|[weight, sum]| sum / weight))
    }

    #[test]
    fn the_likelihood_never_falls_and_the_best_start_wins() {
        let starts = [[0.0, 0.0], [-1.0, 1.0]];
        let em = ExpectationMaximization { n_init: 2, ..Default::default() };
        let fit = em.run(|i| Ok(starts[i]), expect, maximize, &Context::default()).unwrap();
        assert!(fit.values.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12));
        assert_eq!((fit.start, fit.stopped), (1, Stopped::Decrease));
        assert!(fit.starts[1] > fit.starts[0]);
        assert!((fit.parameters[0] + 2.0).abs() < 0.1 && (fit.parameters[1] - 2.1).abs() < 0.1);
    }

    #[test]
    fn a_falling_likelihood_is_an_error_or_a_warning() {
        let wrong = |sums: &[[f64; 2]; 2]| maximize(sums).map(|means| means.map(|m| m + 0.5));
        let run = Context::default();
        let em = ExpectationMaximization::default();
        let error = em.run(|_| Ok([-2.0, 2.0]), expect, wrong, &run).unwrap_err();
        assert!(error.message().contains("fell from"));
        let recorder = Recorder::new(&Quiet);
        let lenient = ExpectationMaximization { strict: false, ..em };
        lenient.run(|_| Ok([-2.0, 2.0]), expect, wrong, &run.observed_by(&recorder)).unwrap();
        assert!(recorder.warnings()[0].message.contains("fell from"));
    }

    #[test]
    fn the_limit_is_reached_with_a_warning() {
        let recorder = Recorder::new(&Quiet);
        let em = ExpectationMaximization { max_iter: 1, tol: 0.0, ..Default::default() };
        let run = Context::default().observed_by(&recorder);
        let fit = em.run(|_| Ok([-1.0, 1.0]), expect, maximize, &run).unwrap();
        assert_eq!((fit.stopped, fit.iterations), (Stopped::MaxIterations, 1));
        assert_eq!(recorder.warnings()[0].code, Code::NotConverged);
    }
}
