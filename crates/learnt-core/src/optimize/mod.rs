//! Minimising smooth functions by asking for points and being told their values.
//!
//! A [`Minimizer`] is a resumable state: [`Minimizer::point`] says where it wants to know the
//! function, [`Minimizer::tell`] takes the answer and decides. So the same method serves a closure
//! ([`minimize`]) and a fit whose every evaluation is a pass over a stream of blocks.
//!
//! [`Lbfgs`] and [`Newton`] stop when the largest component of the gradient is at most
//! `Stop::gradient`, or when a full step promises to lower the value by at most `Stop::decrease`; a
//! step that cannot be made shorter is [`Verdict::Stalled`]. [`minimize_until`] adds the [`Rules`]
//! that all methods share, and says which one fired.
//!
//! Around them: descent on rows ([`StochasticDescent`]), one coordinate at a time
//! ([`CoordinateDescent`]), [`ExpectationMaximization`], [`MaximumLikelihood`], quadratic programmes
//! ([`QuadraticProgram`]), and Lagrangians with their duals and optimality conditions
//! ([`Constrained`]).

mod bounded_newton;
mod coordinate;
mod derivative;
mod dual_active_set;
mod em;
mod gradient_descent;
mod lagrangian;
mod lbfgs;
mod likelihood;
mod line_search;
mod motion;
mod newton;
mod quadratic;
mod rate_study;
mod rules;
mod schedule;
mod stochastic;
mod univariate;

pub use bounded_newton::BoundedNewton;
pub use coordinate::CoordinateDescent;
pub use derivative::{
    Bounds, numeric_gradient, numeric_hessian, numeric_hessian_of_gradient, numeric_jacobian,
};
pub use em::{EmFit, ExpectationMaximization};
pub use gradient_descent::{GradientDescent, normal_start};
pub use lagrangian::{
    Constrained, Dual, KktResiduals, Multipliers, dual_function, duality_gap, equality_quadratic,
};
pub use lbfgs::Lbfgs;
pub use likelihood::{
    Information, Likelihood, LikelihoodFit, LogDensity, MatrixOf, MaximumLikelihood,
};
pub use line_search::LineSearch;
pub use motion::Motion;
pub use newton::{Newton, newton_direction};
pub use quadratic::{Programme, QuadraticProgram, QuadraticSolution};
pub use rate_study::{RateCurve, learning_rate_study, mean_squares_hessian, stability_limit};
pub use rules::{Minimum, Rules, Stopped, minimize_until};
pub use schedule::Schedule;
pub use stochastic::{Objective, RowOrder, StochasticDescent, StochasticFit, StochasticState};
pub use univariate::{Lowest, bracket, brent, golden_section};

use crate::context::{Context, Ended};
use crate::data::Matrix;
use crate::error::{Error, Result};
use learnt_derive::Stored;

/// What is known of a function at a point.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The value.
    pub value: f64,
    /// The gradient.
    pub gradient: Vec<f64>,
    /// The matrix of second derivatives (its lower triangle), for methods that use it.
    pub hessian: Option<Matrix>,
}

/// When to stop; a zero never stops.
#[derive(Clone, Copy, Debug, Stored)]
pub struct Stop {
    /// Largest component of the gradient.
    pub gradient: f64,
    /// Decrease that a full step promises.
    pub decrease: f64,
}

/// What a minimiser made of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It wants to know another point.
    Again,
    /// The criterion is met.
    Converged,
    /// Rounding allows no further decrease.
    Stalled,
    /// The function is not finite where the steps have led.
    Diverged,
}

/// A method of minimisation as a resumable state.
pub trait Minimizer {
    /// The point to evaluate next.
    fn point(&self) -> &[f64];

    /// The best point so far; at the end, the answer.
    fn best(&self) -> &[f64];

    /// Takes what is known at the point.
    fn tell(&mut self, at: Evaluation) -> Result<Verdict>;

    /// Steps accepted so far.
    fn iterations(&self) -> usize;

    /// The value at the best point so far.
    fn value(&self) -> f64;

    /// The gradient where it was last taken.
    fn gradient(&self) -> &[f64];

    /// Whether [`Evaluation::hessian`] must be given.
    fn needs_hessian(&self) -> bool {
        false
    }
}

/// Minimises a function given in memory, for at most `max_iter` steps.
///
/// ```
/// use learnt_core::context::Context;
/// use learnt_core::optimize::{Evaluation, Lbfgs, Minimizer, Stop, minimize};
/// let mut method = Lbfgs::new(vec![3.0], Stop { gradient: 1e-9, decrease: 0.0 });
/// let square = |x: &[f64]| Evaluation {
///     value: (x[0] - 1.0).powi(2),
///     gradient: vec![2.0 * (x[0] - 1.0)],
///     hessian: None,
/// };
/// let ended = minimize(&mut method, |x| Ok(square(x)), 100, &Context::default())?;
/// assert!(ended.converged && (method.best()[0] - 1.0).abs() < 1e-9);
/// # Ok::<(), learnt_core::error::Error>(())
/// ```
pub fn minimize(
    method: &mut impl Minimizer,
    mut function: impl FnMut(&[f64]) -> Result<Evaluation>,
    max_iter: usize,
    run: &Context,
) -> Result<Ended> {
    let mut monitor = run.monitor("minimisation", max_iter.saturating_add(1));
    while monitor.advance()? {
        let before = method.iterations();
        loop {
            let at = function(method.point())?;
            match method.tell(at)? {
                Verdict::Again if method.iterations() == before && before > 0 => {
                    run.checkpoint()?
                }
                Verdict::Again => break,
                Verdict::Converged | Verdict::Stalled => {
                    monitor.converge();
                    break;
                }
                Verdict::Diverged => return Err(diverged(method)),
            }
        }
        monitor.record(method.value());
    }
    let ended = monitor.finish();
    Ok(Ended { n_iter: method.iterations(), ..ended })
}

fn diverged(method: &impl Minimizer) -> Error {
    Error::numeric(format!("diverged after {} iterations", method.iterations()))
        .hint("use a smaller rate or scale the columns")
}

/// Refuses an answer of the wrong shape or a start where the function is not a number.
fn check(at: &Evaluation, dimension: usize, first: bool) -> Result<()> {
    if at.gradient.len() != dimension {
        return Err(Error::internal("a gradient of another length than its point"));
    }
    let finite = at.value.is_finite() && at.gradient.iter().all(|g| g.is_finite());
    match first && !finite {
        true => Err(Error::numeric("the function is not finite at the start")),
        false => Ok(()),
    }
}

fn largest_component(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| value.abs().max(largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ 100 (x_{i+1} - x_i²)² + (1 - x_i)².
    fn rosenbrock(x: &[f64]) -> Evaluation {
        let mut gradient = vec![0.0; x.len()];
        let mut hessian = Matrix::zeros(x.len(), x.len());
        let mut value = 0.0;
        for i in 0..x.len() - 1 {
            let (gap, rest) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
            value += 100.0 * gap * gap + rest * rest;
            gradient[i] -= 400.0 * gap * x[i] + 2.0 * rest;
            gradient[i + 1] += 200.0 * gap;
            hessian[(i, i)] += 800.0 * x[i] * x[i] - 400.0 * gap + 2.0;
            hessian[(i + 1, i)] -= 400.0 * x[i];
            hessian[(i + 1, i + 1)] += 200.0;
        }
        Evaluation { value, gradient, hessian: Some(hessian) }
    }

    fn solve(method: &mut impl Minimizer) -> Ended {
        minimize(method, |x| Ok(rosenbrock(x)), 200, &Context::default()).unwrap()
    }

    const STOP: Stop = Stop { gradient: 1e-8, decrease: 0.0 };

    #[test]
    fn both_methods_find_the_minimum_of_rosenbrock() {
        let mut lbfgs = Lbfgs::new(vec![-1.2, 1.0], STOP);
        let mut newton = Newton::new(vec![-1.2, 1.0], STOP);
        let mut wide = Lbfgs::new(vec![-1.2, 1.0, -0.5, 0.8], STOP);
        assert!(solve(&mut lbfgs).converged);
        assert!(solve(&mut newton).converged);
        assert!(solve(&mut wide).converged);
        for x in lbfgs.best().iter().chain(newton.best()).chain(wide.best()) {
            assert!((x - 1.0).abs() < 1e-5, "{x}");
        }
        assert!(lbfgs.value() < 1e-12 && newton.value() < 1e-12 && wide.value() < 1e-12);
    }

    #[test]
    fn newton_minimises_a_quadratic_in_one_step() {
        let quadratic = |x: &[f64]| Evaluation {
            value: 2.0 * x[0] * x[0] + 0.5 * x[1] * x[1] - x[0],
            gradient: vec![4.0 * x[0] - 1.0, x[1]],
            hessian: Some(Matrix::from_fn(2, 2, |i, j| [[4.0, 0.0], [0.0, 1.0]][i][j])),
        };
        let mut newton = Newton::new(vec![5.0, -3.0], Stop { gradient: 1e-12, decrease: 0.0 });
        let ended = minimize(&mut newton, |x| Ok(quadratic(x)), 10, &Context::default()).unwrap();
        assert_eq!(ended.n_iter, 1);
        assert!((newton.best()[0] - 0.25).abs() < 1e-15 && newton.best()[1].abs() < 1e-15);
    }

    #[test]
    fn a_stored_state_resumes_with_the_same_bits() {
        use crate::persist::Stored;
        let mut straight = Lbfgs::new(vec![-1.2, 1.0], STOP);
        let mut resumed = straight.clone();
        loop {
            let verdict = straight.tell(rosenbrock(straight.point())).unwrap();
            resumed = Lbfgs::from_node(&resumed.to_node()).unwrap();
            assert_eq!(resumed.tell(rosenbrock(resumed.point())).unwrap(), verdict);
            assert_eq!(straight.point(), resumed.point());
            if verdict != Verdict::Again {
                break;
            }
        }
    }

    #[test]
    fn an_ill_scaled_bowl_does_not_stall() {
        let bowl = |x: &[f64]| Evaluation {
            value: x[0] * x[0] + 1e6 * x[1] * x[1],
            gradient: vec![2.0 * x[0], 2e6 * x[1]],
            hessian: None,
        };
        let mut lbfgs = Lbfgs::new(vec![1.0, 1.0], Stop { gradient: 1e-7, decrease: 0.0 });
        let ended = minimize(&mut lbfgs, |x| Ok(bowl(x)), 100, &Context::default()).unwrap();
        assert!(ended.converged && lbfgs.value() < 1e-12);
    }

    #[test]
    fn a_function_that_is_not_finite_at_the_start_is_refused() {
        let mut lbfgs = Lbfgs::new(vec![0.0], STOP);
        let nothing = Evaluation { value: f64::NAN, gradient: vec![0.0], hessian: None };
        assert!(lbfgs.tell(nothing).is_err());
    }
}
