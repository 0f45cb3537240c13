//! Stopping rules, any of which ends a search, and the search that reports which one did.
//!
//! After every step from (x', f') to (x, f) with gradient g:  f <= `target`;
//! |g| <= `gradient`;  |f' - f| <= `decrease` max(|f'|, |f|, 1);  |x - x'| <= `change`;
//! `max_iter` steps made. They are looked at in this order; the first two also hold at the start.
//! Lengths are Euclidean. Running into `max_iter` while another rule was wanted is a warning.

use super::{Evaluation, Minimizer, Verdict};
use crate::context::{Context, Progress};
use crate::data::Matrix;
use crate::error::{Code, Error, Result};
use crate::linalg::norm;
use std::fmt;

/// When a search ends; rules that are `None` never fire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Steps at most.
    pub max_iter: usize,
    /// Objective that is low enough.
    pub target: Option<f64>,
    /// Length of the gradient that is small enough.
    pub gradient: Option<f64>,
    /// Relative decrease of the objective that is small enough.
    pub decrease: Option<f64>,
    /// Change of the point that is small enough.
    pub change: Option<f64>,
}

impl Default for Rules {
    /// A gradient of length 1e-6, or 1000 steps.
    fn default() -> Self {
        Rules { gradient: Some(1e-6), ..Rules::steps(1000) }
    }
}

impl Rules {
    /// This many steps, whatever happens.
    pub fn steps(max_iter: usize) -> Self {
        Rules { max_iter, target: None, gradient: None, decrease: None, change: None }
    }

    /// Refuses tolerances that are negative or not numbers.
    pub fn check(&self) -> Result<()> {
        let named =
            [("gradient", self.gradient), ("decrease", self.decrease), ("change", self.change)];
        for (name, value) in named {
            if let Some(value) = value.filter(|value| value.is_nan() || *value < 0.0) {
                return Err(Error::parameter(name, "zero or more", value));
            }
        }
        match self.target {
            Some(target) if target.is_nan() => Err(Error::parameter("target", "a number", target)),
            _ => Ok(()),
        }
    }

    fn wants_more_than_steps(&self) -> bool {
        self.target.or(self.gradient).or(self.decrease).or(self.change).is_some()
    }
}

/// The rule that ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The limit of steps was reached.
    MaxIterations,
    /// The objective is at or below the target.
    Target,
    /// The gradient is short enough.
    Gradient,
    /// The objective hardly changes.
    Decrease,
    /// The point hardly changes.
    Change,
    /// The method's own criterion is met.
    Converged,
    /// No step lowers the objective: rounding, or a gradient that is not the objective's.
    Stalled,
    /// The objective, its gradient or the point is not finite any more.
    Diverged,
}

impl Stopped {
    /// Whether a criterion was met, rather than a limit.
    pub fn is_success(self) -> bool {
        !matches!(self, Stopped::MaxIterations | Stopped::Stalled | Stopped::Diverged)
    }

    /// The name of the rule, as Python shows it.
    pub fn name(self) -> &'static str {
        match self {
            Stopped::MaxIterations => "max_iter",
            Stopped::Target => "target",
            Stopped::Gradient => "gradient",
            Stopped::Decrease => "decrease",
            Stopped::Change => "change",
            Stopped::Converged => "converged",
            Stopped::Stalled => "stalled",
            Stopped::Diverged => "diverged",
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stopped::MaxIterations => "the limit of iterations was reached",
            Stopped::Target => "the objective is at or below its target",
            Stopped::Gradient => "the gradient is within its tolerance",
            Stopped::Decrease => "the relative decrease of the objective is within its tolerance",
            Stopped::Change => "the change of the parameters is within its tolerance",
            Stopped::Converged => "the method's own criterion is met",
            Stopped::Stalled => {
                "no step lowers the objective: rounding, or a gradient that is not the objective's"
            }
            Stopped::Diverged => {
                "the steps diverged: the objective or its gradient is not finite; use a smaller rate or scale the columns"
            }
        })
    }
}

/// Where a search ended, and how.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// The last point; after divergence, the last that was finite.
    pub x: Vec<f64>,
    /// The objective there.
    pub value: f64,
    /// The gradient there; empty for methods that use none.
    pub gradient: Vec<f64>,
    /// Steps made.
    pub iterations: usize,
    /// Evaluations of the objective.
    pub evaluations: usize,
    /// The rule that fired.
    pub stopped: Stopped,
    /// The objective at the start and after every step.
    pub values: Vec<f64>,
    /// The start and the point after every step, one a row, if asked for.
    pub path: Option<Matrix>,
}

/// Minimises a function given in memory until a rule fires.
///
/// ```
/// use learnt_core::context::Context;
/// use learnt_core::optimize::{Evaluation, GradientDescent, Rules, Stopped, minimize_until};
/// let square = |x: &[f64]| Evaluation {
///     value: x[0] * x[0],
///     gradient: vec![2.0 * x[0]],
///     hessian: None,
/// };
/// let mut method = GradientDescent::new(vec![1.0], 0.1)?;
/// let rules = Rules { target: Some(1e-4), ..Rules::steps(100) };
/// let found = minimize_until(&mut method, |x| Ok(square(x)), &rules, false, &Context::default())?;
/// assert_eq!((found.stopped, found.iterations), (Stopped::Target, 21));
/// # Ok::<(), learnt_core::error::Error>(())
/// ```
pub fn minimize_until(
    method: &mut (impl Minimizer + ?Sized),
    mut function: impl FnMut(&[f64]) -> Result<Evaluation>,
    rules: &Rules,
    keep_path: bool,
    run: &Context,
) -> Result<Minimum> {
    let mut watch = Watch::new(rules, keep_path, run)?;
    let mut evaluations = 0;
    let stopped = loop {
        let before = (method.iterations(), evaluations == 0);
        let at = function(method.point())?;
        evaluations += 1;
        let verdict = method.tell(at)?;
        let moved = method.iterations() > before.0;
        let fixed = moved && watch.is_at(method.best());
        let fired = match moved || before.1 {
            true => watch.see(method.best(), method.value(), Some(method.gradient()))?,
            false => run.checkpoint().map(|()| None)?,
        };
        match (fired, verdict) {
            (Some(stopped), _) => break stopped,
            (None, Verdict::Again) if fixed => break Stopped::Stalled,
            (None, Verdict::Again) => {}
            (None, Verdict::Converged) => break Stopped::Converged,
            (None, Verdict::Stalled) => break Stopped::Stalled,
            (None, Verdict::Diverged) => break Stopped::Diverged,
        }
    };
    let (x, gradient) = (method.best().to_vec(), method.gradient().to_vec());
    Ok(watch.finish(x, method.value(), gradient, evaluations, stopped))
}

/// Sees every step of a driver, and says when to stop.
pub(super) struct Watch<'a> {
    rules: Rules,
    run: Context<'a>,
    previous: Option<Vec<f64>>,
    values: Vec<f64>,
    path: Option<Vec<f64>>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(rules: &Rules, keep_path: bool, run: &Context<'a>) -> Result<Self> {
        rules.check()?;
        let path = keep_path.then(Vec::new);
        Ok(Watch { rules: *rules, run: *run, previous: None, values: Vec::new(), path })
    }

    /// Whether this is the point seen last, so that a step was lost in rounding.
    fn is_at(&self, x: &[f64]) -> bool {
        self.previous.as_deref() == Some(x)
    }

    /// Adds a point to the path alone.
    pub(super) fn pass(&mut self, x: &[f64]) {
        if let Some(path) = &mut self.path {
            path.extend_from_slice(x);
        }
    }

    /// Takes the start, and then the point after every step; the rule that fires, if one does.
    pub(super) fn see(
        &mut self,
        x: &[f64],
        value: f64,
        gradient: Option<&[f64]>,
    ) -> Result<Option<Stopped>> {
        self.pass(x);
        let fired = self.fired(x, value, gradient);
        self.values.push(value);
        self.previous = Some(x.to_vec());
        self.run.progress(&Progress {
            stage: "minimisation",
            done: (self.values.len() - 1) as u64,
            total: Some(self.rules.max_iter as u64),
            objective: Some(value),
        })?;
        Ok(fired)
    }

    fn fired(&self, x: &[f64], value: f64, gradient: Option<&[f64]>) -> Option<Stopped> {
        let within = |size: f64, tolerance: Option<f64>| tolerance.is_some_and(|t| size <= t);
        if within(value, self.rules.target) {
            return Some(Stopped::Target);
        }
        if gradient.is_some_and(|gradient| within(norm(gradient), self.rules.gradient)) {
            return Some(Stopped::Gradient);
        }
        if let Some((before, from)) = self.values.last().zip(self.previous.as_ref()) {
            let scale = before.abs().max(value.abs()).max(1.0);
            if within((before - value).abs() / scale, self.rules.decrease) {
                return Some(Stopped::Decrease);
            }
            let moved: Vec<f64> = x.iter().zip(from).map(|(a, b)| a - b).collect();
            if within(norm(&moved), self.rules.change) {
                return Some(Stopped::Change);
            }
        }
        (self.values.len() >= self.rules.max_iter).then_some(Stopped::MaxIterations)
    }

    pub(super) fn finish(
        self,
        x: Vec<f64>,
        value: f64,
        gradient: Vec<f64>,
        evaluations: usize,
        stopped: Stopped,
    ) -> Minimum {
        let iterations = self.values.len().saturating_sub(1);
        let first = self.values.first().copied().unwrap_or(value);
        if stopped == Stopped::Diverged {
            self.run.warn(Code::Numeric, format!("after {iterations} iterations {stopped}"));
        } else if value > first + 1e-9 * first.abs() {
            let message = format!(
                "the objective rose from {first:.6e} to {value:.6e} in {iterations} iterations; use a smaller rate, or check the gradient"
            );
            self.run.warn(Code::NotConverged, message);
        } else if stopped == Stopped::Stalled && self.rules.wants_more_than_steps() {
            let message = format!("after {iterations} iterations {stopped}");
            self.run.warn(Code::NotConverged, message);
        } else if stopped == Stopped::MaxIterations && self.rules.wants_more_than_steps() {
            let message = format!(
                "no stopping rule was met in {iterations} iterations, objective {value:.6e}; raise max_iter or scale the columns"
            );
            self.run.warn(Code::NotConverged, message);
        }
        let width = x.len();
        let path = self
            .path
            .and_then(|path| Matrix::from_vec(path.len() / width.max(1), width, path).ok());
        Minimum { x, value, gradient, iterations, evaluations, stopped, values: self.values, path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Recorder;
    use crate::optimize::{GradientDescent, Lbfgs, Newton, Stop};

    /// 1 + Σ x², whose relative decrease falls.
    fn bowl(x: &[f64]) -> Evaluation {
        Evaluation {
            value: 1.0 + x.iter().map(|x| x * x).sum::<f64>(),
            gradient: x.iter().map(|x| 2.0 * x).collect(),
            hessian: Some(Matrix::from_fn(2, 2, |i, j| if i == j { 2.0 } else { 0.0 })),
        }
    }

    fn search(rules: Rules) -> Minimum {
        let mut method = GradientDescent::new(vec![1.0, -1.0], 0.1).unwrap();
        minimize_until(&mut method, |x| Ok(bowl(x)), &rules, true, &Context::default()).unwrap()
    }

    #[test]
    fn each_rule_can_fire_alone() {
        let none = Rules::steps(500);
        let found = search(Rules::steps(7));
        assert_eq!((found.stopped, found.iterations), (Stopped::MaxIterations, 7));
        let found = search(Rules { target: Some(1.5), ..none });
        assert!(found.stopped == Stopped::Target && found.value <= 1.5);
        assert!(found.values[found.iterations - 1] > 1.5);
        let found = search(Rules { gradient: Some(1e-3), ..none });
        assert!(found.stopped == Stopped::Gradient && norm(&found.gradient) <= 1e-3);
        let found = search(Rules { decrease: Some(1e-4), ..none });
        let fell = found.values[found.iterations - 1] - found.value;
        assert!(found.stopped == Stopped::Decrease && fell / found.value <= 1e-4);
        let found = search(Rules { change: Some(1e-3), ..none });
        assert!(found.stopped == Stopped::Change && found.iterations < 500);
    }

    #[test]
    fn the_first_rule_that_holds_ends_the_search() {
        let loose = search(Rules { gradient: Some(1e-9), target: Some(1.5), ..Rules::steps(500) });
        assert_eq!(loose.stopped, Stopped::Target);
        assert_eq!(search(Rules { gradient: Some(10.0), ..Rules::steps(5) }).iterations, 0);
    }

    #[test]
    fn all_methods_share_the_rules() {
        let rules = Rules { gradient: Some(1e-8), ..Rules::steps(100) };
        let never = Stop { gradient: 0.0, decrease: 0.0 };
        let (mut lbfgs, mut newton) =
            (Lbfgs::new(vec![1.0, 2.0], never), Newton::new(vec![1.0, 2.0], never));
        let methods: [&mut dyn Minimizer; 2] = [&mut lbfgs, &mut newton];
        for method in methods {
            let run = Context::default();
            let found = minimize_until(method, |x| Ok(bowl(x)), &rules, false, &run).unwrap();
            assert!(found.stopped == Stopped::Gradient && found.value == 1.0);
        }
    }

    #[test]
    fn the_trace_has_the_start_and_every_step() {
        let found = search(Rules::steps(3));
        let path = found.path.unwrap();
        assert_eq!((path.nrows(), found.values.len()), (4, 4));
        assert_eq!(path.row(0), [1.0, -1.0]);
        assert_eq!(path.row(3), found.x);
    }

    #[test]
    fn the_limit_is_a_warning_only_if_another_rule_was_wanted() {
        let warnings = |rules: Rules| {
            let recorder = Recorder::new(&crate::context::Quiet);
            let run = Context::default().observed_by(&recorder);
            let mut method = GradientDescent::new(vec![1.0, 1.0], 0.1).unwrap();
            minimize_until(&mut method, |x| Ok(bowl(x)), &rules, false, &run).unwrap();
            recorder.warnings()
        };
        assert!(warnings(Rules::steps(3)).is_empty());
        let wanted = warnings(Rules { change: Some(1e-9), ..Rules::steps(3) });
        assert_eq!(wanted[0].code, Code::NotConverged);
    }

    #[test]
    fn tolerances_below_zero_are_refused() {
        assert!(Rules { change: Some(-1.0), ..Rules::default() }.check().is_err());
        assert!(Rules { gradient: Some(f64::NAN), ..Rules::default() }.check().is_err());
    }
}
