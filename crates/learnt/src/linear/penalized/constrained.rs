//! Least squares with a bound on the size of the coefficients.
//!
//! - Σ b² <= C: the ridge solution whose ‖b‖² is C; ‖b‖² falls strictly with λ, so λ is found by
//!   bisection.
//! - Σ |b| <= t: the lasso solution whose ‖b‖₁ is t, by bisection on λ with warm starts.
//!
//! Where least squares itself keeps the bound it is the answer, and λ is 0. λ multiplies the penalty
//! beside the sum of squares: RSS + λ ‖b‖², RSS + λ ‖b‖₁.

use super::problem::{Problem, Settings};
use super::spectrum::Spectrum;
use super::sums::checked;
use learnt_core::prelude::*;

/// A fit with bounded coefficients.
#[derive(Clone, Debug)]
pub struct Constrained {
    /// Coefficients, (n_outputs × n_features).
    pub coef: Matrix,
    /// One intercept for each output.
    pub intercept: Vec<f64>,
    /// The penalty of each output that gives the same fit; 0 where the bound is not reached.
    pub lambda: Vec<f64>,
}

/// What becomes of the intercept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intercept {
    /// Fitted, neither bounded nor penalised.
    #[default]
    Free,
    /// Fitted, bounded or penalised like a coefficient.
    Penalized,
    /// None.
    Absent,
}

impl Intercept {
    /// Calls `f` with the data, and a last column of ones for an intercept like a coefficient.
    pub(super) fn with<T>(
        self,
        data: &Dataset,
        run: &Context,
        f: impl FnOnce(&Dataset) -> Result<T>,
    ) -> Result<T> {
        if self != Intercept::Penalized {
            return f(data);
        }
        checked(data, run, |data| {
            let (x, d) = (data.x.values(), data.x.ncols());
            let ones =
                Matrix::from_fn(data.nrows(), d + 1, |i, j| if j < d { x.at(i, j) } else { 1.0 });
            let table = Table::unnamed(ones);
            f(&Dataset { x: table.frame(), ..*data })
        })
    }
}

/// Minimises Σ w (y - a - xb)² subject to ‖b‖² <= bound; a penalised intercept counts in ‖b‖².
///
/// ```
/// use learnt::linear::penalized::{Intercept, norm_constrained};
/// use learnt::prelude::*;
/// let x = Matrix::column_vector(vec![0.0, 1.0, 2.0]);
/// let data = OwnedDataset::regression(x, vec![6.0, 0.0, 0.0]);
/// let fit = norm_constrained(&data.view(), 7.2, Intercept::Penalized, &Context::default())?;
/// assert!((fit.lambda[0] - 1.0).abs() < 1e-9);
/// assert!((fit.intercept[0] - 2.4).abs() < 1e-9 && (fit.coef[(0, 0)] + 1.2).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
pub fn norm_constrained(
    data: &Dataset,
    bound: f64,
    intercept: Intercept,
    run: &Context,
) -> Result<Constrained> {
    check_bound(bound)?;
    let problem = intercept
        .with(data, run, |data| Ok(Problem::of(data, intercept == Intercept::Free, run)?.0))?;
    let spectrum = Spectrum::of(&problem, run)?;
    let outputs = problem.right.len();
    let penalty: Vec<f64> = (0..outputs).map(|t| spectrum.penalty_for(t, bound)).collect();
    let coef: Vec<Vec<f64>> = (0..outputs).map(|t| spectrum.coef(t, penalty[t])).collect();
    let lambda = penalty.iter().map(|a| a * problem.weight).collect();
    let (coef, intercept) = split_intercept(&problem, coef, intercept)?;
    Ok(Constrained { coef, intercept, lambda })
}

/// Minimises Σ w (y - a - xb)² subject to ‖b‖₁ <= bound, with a free or absent intercept.
pub fn constrained_lasso(
    data: &Dataset,
    bound: f64,
    fit_intercept: bool,
    run: &Context,
) -> Result<Constrained> {
    check_bound(bound)?;
    let (problem, _) = Problem::of(data, fit_intercept, run)?;
    let outputs = problem.right.len();
    let each = run.try_par_map(outputs, |t| bisect(&problem, t, bound, &run.child(t as u64)))?;
    let lambda = each.iter().map(|(l1, _)| 2.0 * problem.weight * l1).collect();
    let coef: Vec<Vec<f64>> = each.into_iter().map(|(_, coef)| coef).collect();
    let intercept = if fit_intercept { Intercept::Free } else { Intercept::Absent };
    let (coef, intercept) = split_intercept(&problem, coef, intercept)?;
    Ok(Constrained { coef, intercept, lambda })
}

fn check_bound(bound: f64) -> Result<()> {
    match bound.is_finite() && bound > 0.0 {
        true => Ok(()),
        false => Err(Error::parameter("bound", "a number > 0", bound)),
    }
}

/// The least L1 penalty whose solution keeps the bound, with the solution.
fn bisect(problem: &Problem, t: usize, bound: f64, run: &Context) -> Result<(f64, Vec<f64>)> {
    const STEPS: usize = 100;
    const NEAR: f64 = 1e-10;
    let settings = Settings { positive: false, max_iter: 100_000, tol: 1e-15, random: false };
    let mut descent = problem.start(t);
    let (mut low, mut high) = (0.0, problem.largest_l1(t, false));
    let mut best = (high, vec![0.0; problem.columns()]);
    let mut l1 = 0.0;
    for _ in 0..STEPS {
        let solved = problem.solve(t, &mut descent, (l1, 0.0), 1.0, &settings, run)?;
        let size: f64 = solved.coef.iter().map(|b| b.abs()).sum();
        if size <= bound {
            (high, best) = (l1, (l1, solved.coef));
        } else {
            low = l1;
        }
        let near = (bound * (1.0 - NEAR)..=bound).contains(&size) || high <= 0.0;
        l1 = 0.5 * (low + high);
        if near || l1 <= low || l1 >= high {
            break;
        }
    }
    Ok(best)
}

/// Coefficients and intercepts; a penalised intercept is the last coefficient.
pub(super) fn split_intercept(
    problem: &Problem,
    coef: Vec<Vec<f64>>,
    intercept: Intercept,
) -> Result<(Matrix, Vec<f64>)> {
    let mut intercepts = Vec::new();
    let mut rows = Vec::new();
    for (t, mut coef) in coef.into_iter().enumerate() {
        intercepts.push(match intercept {
            Intercept::Free => problem.intercept(t, &coef),
            Intercept::Penalized => coef.pop().unwrap_or_default(),
            Intercept::Absent => 0.0,
        });
        rows.push(coef);
    }
    if rows.iter().flatten().chain(&intercepts).any(|x| !x.is_finite()) {
        return Err(Error::numeric("coefficients became too large for double precision"));
    }
    Ok((Matrix::from_rows(&rows)?, intercepts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{CoordinateDescent, Lasso, Ridge};
    use learnt_core::stats::sample::standard_normal;

    fn random(n: usize, d: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(6);
        let x = Matrix::from_fn(n, d, |_, _| standard_normal(&mut rng) + 1.0);
        let y = (0..n).map(|i| x[(i, 0)] - 2.0 * x[(i, 1)] + standard_normal(&mut rng)).collect();
        OwnedDataset::regression(x, y)
    }

    #[test]
    fn a_bound_on_squares_is_reached_by_the_ridge_of_its_lambda() {
        for (n, d) in [(40, 4), (8, 20)] {
            let data = random(n, d);
            let fit =
                norm_constrained(&data.view(), 0.7, Intercept::Free, &Context::default()).unwrap();
            let norm: f64 = fit.coef.as_slice().iter().map(|b| b * b).sum();
            assert!((norm - 0.7).abs() < 1e-12, "{norm}");
            let ridge = Ridge { alpha: fit.lambda[0], ..Ridge::default() };
            let ridge = ridge.fit(&data.view()).unwrap();
            for (a, b) in ridge.coef.as_slice().iter().zip(fit.coef.as_slice()) {
                assert!((a - b).abs() < 1e-8);
            }
            assert!((ridge.intercept[0] - fit.intercept[0]).abs() < 1e-8);
        }
    }

    #[test]
    fn a_bound_on_sizes_is_reached_by_the_lasso_of_its_lambda() {
        let data = random(40, 4);
        let fit = constrained_lasso(&data.view(), 1.5, true, &Context::default()).unwrap();
        let size: f64 = fit.coef.as_slice().iter().map(|b| b.abs()).sum();
        assert!((size - 1.5).abs() < 1e-8, "{size}");
        let lasso = Lasso {
            alpha: fit.lambda[0] / 80.0,
            descent: CoordinateDescent { tol: 1e-14, ..CoordinateDescent::default() },
        };
        let lasso = lasso.fit(&data.view()).unwrap();
        for (a, b) in lasso.coef.as_slice().iter().zip(fit.coef.as_slice()) {
            assert!((a - b).abs() < 1e-6);
        }
    }

    #[test]
    fn a_bound_that_is_not_reached_leaves_least_squares() {
        let data = random(40, 4);
        let run = Context::default();
        let plain = Ridge { alpha: 0.0, ..Ridge::default() }.fit(&data.view()).unwrap();
        let norm = norm_constrained(&data.view(), 1e3, Intercept::Free, &run).unwrap();
        let size = constrained_lasso(&data.view(), 1e3, true, &run).unwrap();
        assert_eq!((norm.lambda[0], size.lambda[0]), (0.0, 0.0));
        for fit in [norm, size] {
            for (a, b) in plain.coef.as_slice().iter().zip(fit.coef.as_slice()) {
                assert!((a - b).abs() < 1e-7, "{a} {b}");
            }
        }
        for bound in [0.0, -1.0, f64::NAN] {
            assert!(norm_constrained(&data.view(), bound, Intercept::Free, &run).is_err());
        }
    }

    #[test]
    fn a_penalised_intercept_is_a_column_of_ones() {
        let data = random(30, 3);
        let run = Context::default();
        let x = data.x.values();
        let ones = Matrix::from_fn(30, 4, |i, j| if j < 3 { x[(i, j)] } else { 1.0 });
        let own = OwnedDataset { x: Table::unnamed(ones), ..data.clone() };
        let a = norm_constrained(&data.view(), 0.5, Intercept::Penalized, &run).unwrap();
        let b = norm_constrained(&own.view(), 0.5, Intercept::Absent, &run).unwrap();
        assert!((a.intercept[0] - b.coef[(0, 3)]).abs() < 1e-9);
        assert!((a.lambda[0] / b.lambda[0] - 1.0).abs() < 1e-9);
    }
}
