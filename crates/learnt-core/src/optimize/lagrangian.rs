//! Lagrangian, dual function, duality gap, and the conditions of Karush, Kuhn and Tucker.
//!
//! For  min f(x)  subject to  g_i(x) <= 0, h_i(x) = 0:  L(x, a, b) = f + Σ a_i g_i + Σ b_i h_i, the
//! dual function is θ(a, b) = min_x L, and for a >= 0 and feasible x  θ(a, b) <= f(x): the gap
//! f(x) - θ(a, b) bounds how far x is from the minimum, provided that the inner minimum is global,
//! as it is for convex f, g and affine h.
//!
//! The residuals of the conditions at a point prove a minimum of a convex problem only; elsewhere
//! they are necessary (where the constraints are regular), not sufficient.
//! Boyd and Vandenberghe (2004), Convex Optimization, chapter 5.

use super::{Evaluation, Lbfgs, Rules, Stop, Stopped, minimize_until};
use crate::context::Context;
use crate::data::Matrix;
use crate::error::{Code, Error, Result};
use crate::linalg::{PivotedQr, add_scaled, eigh, gram, matmul, norm};
use std::fmt;

/// Objective and constraints at a point.
#[derive(Clone, Debug)]
pub struct Constrained {
    /// f and its gradient.
    pub objective: Evaluation,
    /// g, at most zero where feasible.
    pub inequalities: Vec<f64>,
    /// Gradients of g, one a row.
    pub inequality_gradients: Matrix,
    /// h, zero where feasible.
    pub equalities: Vec<f64>,
    /// Gradients of h, one a row.
    pub equality_gradients: Matrix,
}

/// Multipliers: a of the inequalities, b of the equalities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Multipliers {
    /// a.
    pub inequalities: Vec<f64>,
    /// b.
    pub equalities: Vec<f64>,
}

/// How far a point is from meeting each condition, in the largest component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KktResiduals {
    /// |∇f + Σ a ∇g + Σ b ∇h|.
    pub stationarity: f64,
    /// max(g, 0) and |h|.
    pub primal_feasibility: f64,
    /// max(-a, 0).
    pub dual_feasibility: f64,
    /// |a g|.
    pub complementary_slackness: f64,
}

impl Constrained {
    /// A problem without constraints; add to its parts.
    pub fn free(objective: Evaluation) -> Self {
        let d = objective.gradient.len();
        Constrained {
            objective,
            inequalities: Vec::new(),
            inequality_gradients: Matrix::zeros(0, d),
            equalities: Vec::new(),
            equality_gradients: Matrix::zeros(0, d),
        }
    }

    /// L and its gradient by x.
    pub fn lagrangian(&self, multipliers: &Multipliers) -> Result<Evaluation> {
        self.check(multipliers)?;
        let Evaluation { mut value, mut gradient, .. } = self.objective.clone();
        for (values, gradients, factors) in self.parts(multipliers) {
            for (i, &factor) in factors.iter().enumerate() {
                value += factor * values[i];
                add_scaled(&mut gradient, factor, gradients.row(i));
            }
        }
        Ok(Evaluation { value, gradient, hessian: None })
    }

    /// The residuals of the conditions at this point.
    pub fn kkt(&self, multipliers: &Multipliers) -> Result<KktResiduals> {
        let at = self.lagrangian(multipliers)?;
        let most = |values: &mut dyn Iterator<Item = f64>| {
            values.fold(0.0_f64, |most, value| match value.is_nan() {
                true => f64::INFINITY,
                false => most.max(value),
            })
        };
        let a = &multipliers.inequalities;
        let slack = |(a, g): (&f64, &f64)| (a * g).abs();
        let equalities = self.equalities.iter().map(|h| h.abs());
        Ok(KktResiduals {
            stationarity: most(&mut at.gradient.iter().map(|g| g.abs())),
            primal_feasibility: most(&mut self.inequalities.iter().copied().chain(equalities)),
            dual_feasibility: most(&mut a.iter().map(|a| -a)),
            complementary_slackness: most(&mut a.iter().zip(&self.inequalities).map(slack)),
        })
    }

    fn parts<'s>(
        &'s self,
        multipliers: &'s Multipliers,
    ) -> [(&'s [f64], &'s Matrix, &'s [f64]); 2] {
        [
            (&self.inequalities, &self.inequality_gradients, &multipliers.inequalities),
            (&self.equalities, &self.equality_gradients, &multipliers.equalities),
        ]
    }

    fn check(&self, multipliers: &Multipliers) -> Result<()> {
        let d = self.objective.gradient.len();
        for (name, (values, gradients, factors)) in
            ["inequality", "equality"].into_iter().zip(self.parts(multipliers))
        {
            if factors.len() != values.len() {
                let what = format!("multipliers of the {name} constraints");
                return Err(Error::shape(&what, values.len(), factors.len()));
            }
            if gradients.nrows() != values.len() || (gradients.ncols() != d && !values.is_empty()) {
                let got = format!("{} x {}", gradients.nrows(), gradients.ncols());
                let what = format!("gradients of the {name} constraints");
                return Err(Error::shape(&what, format!("{} x {d}", values.len()), got));
            }
        }
        Ok(())
    }
}

impl KktResiduals {
    /// Whether every residual is at most `tol`.
    pub fn hold(&self, tol: f64) -> bool {
        let largest = self.stationarity.max(self.primal_feasibility);
        largest.max(self.dual_feasibility).max(self.complementary_slackness) <= tol
    }
}

impl fmt::Display for KktResiduals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "stationarity {:.3e}, primal feasibility {:.3e}, dual feasibility {:.3e}, complementary slackness {:.3e} (zero everywhere is sufficient for a minimum of convex problems only)",
            self.stationarity,
            self.primal_feasibility,
            self.dual_feasibility,
            self.complementary_slackness
        )
    }
}

/// The dual function at some multipliers.
#[derive(Clone, Debug)]
pub struct Dual {
    /// min_x L; negative infinity if L falls for ever.
    pub value: f64,
    /// The minimiser that was found.
    pub x: Vec<f64>,
    /// How the inner minimisation ended; without success the value is too large.
    pub stopped: Stopped,
}

/// θ(a, b) = min_x L(x, a, b), by L-BFGS from a start.
pub fn dual_function(
    mut problem: impl FnMut(&[f64]) -> Result<Constrained>,
    multipliers: &Multipliers,
    start: &[f64],
    run: &Context,
) -> Result<Dual> {
    if multipliers.inequalities.iter().any(|a| a.is_nan() || *a < 0.0) {
        return Err(Error::parameter("multipliers", "zero or more for inequalities", "less"));
    }
    let first = problem(start)?.lagrangian(multipliers)?;
    // A line search ends after a growth of 4^30, about 1e18.
    let bottom = -1e15 * (1.0 + first.value.abs());
    let tolerance = 1e-9 * (1.0 + norm(&first.gradient));
    let rules = Rules { target: Some(bottom), gradient: Some(tolerance), ..Rules::steps(1000) };
    let mut method = Lbfgs::new(start.to_vec(), Stop { gradient: 0.0, decrease: 0.0 });
    let at = |x: &[f64]| problem(x)?.lagrangian(multipliers);
    let found = minimize_until(&mut method, at, &rules, false, run)?;
    let flat = norm(&found.gradient) <= 1e3 * tolerance;
    Ok(match found.stopped {
        Stopped::Target => Dual { value: f64::NEG_INFINITY, x: found.x, stopped: Stopped::Target },
        // At the rounding of the value, the best that can be had.
        Stopped::Stalled if flat => {
            Dual { value: found.value, x: found.x, stopped: Stopped::Gradient }
        }
        stopped => Dual { value: found.value, x: found.x, stopped },
    })
}

/// f(x) - θ(a, b) for a feasible x: no feasible point is lower than x by more.
///
/// ```
/// use learnt_core::context::Context;
/// use learnt_core::data::Matrix;
/// use learnt_core::optimize::{Constrained, Evaluation, Multipliers, duality_gap};
/// // x² subject to 1 - x <= 0: at the minimum x = 1 with multiplier 2 the gap is zero.
/// let problem = |x: &[f64]| {
///     let f = Evaluation { value: x[0] * x[0], gradient: vec![2.0 * x[0]], hessian: None };
///     Ok(Constrained {
///         inequalities: vec![1.0 - x[0]],
///         inequality_gradients: Matrix::from_rows(&[[-1.0]])?,
///         ..Constrained::free(f)
///     })
/// };
/// let multipliers = Multipliers { inequalities: vec![2.0], equalities: vec![] };
/// let gap = duality_gap(problem, &[1.0], &multipliers, 1e-9, &Context::default())?;
/// assert!(gap.abs() < 1e-9);
/// # Ok::<(), learnt_core::error::Error>(())
/// ```
pub fn duality_gap(
    mut problem: impl FnMut(&[f64]) -> Result<Constrained>,
    x: &[f64],
    multipliers: &Multipliers,
    tol: f64,
    run: &Context,
) -> Result<f64> {
    let at = problem(x)?;
    let violation = at.kkt(multipliers)?.primal_feasibility;
    if violation > tol {
        let message = format!("the point violates a constraint by {violation:.3e}");
        return Err(Error::new(Code::Usage, message)
            .hint("the gap bounds the distance from the minimum for feasible points only"));
    }
    let dual = dual_function(problem, multipliers, x, run)?;
    if matches!(dual.stopped, Stopped::MaxIterations | Stopped::Stalled | Stopped::Diverged) {
        let message = format!(
            "the inner minimisation did not end ({}), so the gap is too small",
            dual.stopped
        );
        run.warn(Code::NotConverged, message);
    }
    Ok(at.objective.value - dual.value)
}

/// The minimum of ½ x'Qx + c'x subject to Ax = b, and its multipliers, from the system
/// [Q A'; A 0] [x; β] = [-c; b].
///
/// Dependent constraints, and objectives without a single minimum where they hold, are errors.
pub fn equality_quadratic(
    quadratic: &Matrix,
    linear: &[f64],
    constraints: &Matrix,
    values: &[f64],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (n, m) = (linear.len(), values.len());
    if (quadratic.nrows(), quadratic.ncols()) != (n, n) {
        let got = format!("{} x {}", quadratic.nrows(), quadratic.ncols());
        return Err(Error::shape("Q", format!("{n} x {n}"), got));
    }
    if constraints.nrows() != m || (constraints.ncols() != n && m > 0) {
        let got = format!("{} x {}", constraints.nrows(), constraints.ncols());
        return Err(Error::shape("A", format!("{m} x {n}"), got));
    }
    let system = Matrix::from_fn(n + m, n + m, |i, j| match (i < n, j < n) {
        (true, true) => quadratic[(i, j)],
        (true, false) => constraints[(j - n, i)],
        (false, true) => constraints[(i - n, j)],
        (false, false) => 0.0,
    });
    if system.as_slice().iter().chain(linear).chain(values).any(|v| !v.is_finite()) {
        return Err(Error::new(Code::NotFinite, "Q, c, A and b must be finite"));
    }
    refuse_singular(&system, quadratic, constraints)?;
    let right: Vec<f64> = linear.iter().map(|c| -c).chain(values.iter().copied()).collect();
    let mut x = PivotedQr::new(system.view()).solve(&right);
    let multipliers = x.split_off(n);
    Ok((x, multipliers))
}

fn refuse_singular(system: &Matrix, quadratic: &Matrix, constraints: &Matrix) -> Result<()> {
    let rank = PivotedQr::new(constraints.view()).rank;
    if rank < constraints.nrows() {
        return Err(Error::numeric(format!(
            "the {} constraints depend on each other: their rank is {rank}",
            constraints.nrows()
        )));
    }
    if PivotedQr::new(system.view()).rank < system.nrows() {
        let message = "the KKT system is singular: the objective has no single minimum where the constraints hold";
        return Err(Error::numeric(message));
    }
    let n = quadratic.nrows();
    if rank == n {
        return Ok(());
    }
    // The directions that keep the constraints: eigenvectors of A'A at its n - rank smallest values.
    let moves = match rank {
        0 => Matrix::from_fn(n, n, |i, j| f64::from(i == j)),
        _ => eigh(&gram(constraints.view()))?.vectors,
    };
    let free = moves.view().columns(if rank == 0 { 0 } else { rank }, n);
    let reduced = matmul(free.transposed(), matmul(quadratic.view(), free).view());
    let curvature = eigh(&reduced)?.values;
    match curvature.last() {
        Some(&least) if least < 0.0 => Err(Error::numeric(format!(
            "the objective is not convex where the constraints hold: its smallest curvature is {least:.3e}"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimize::{Bounds, QuadraticProgram};

    fn circle(x: &[f64], offset: f64) -> Constrained {
        let value = x[0] * x[0] + x[1] * x[1];
        let gradient = vec![2.0 * x[0], 2.0 * x[1]];
        Constrained {
            equalities: vec![x[0] + x[1] - offset],
            equality_gradients: Matrix::from_rows(&[[1.0, 1.0]]).unwrap(),
            ..Constrained::free(Evaluation { value, gradient, hessian: None })
        }
    }

    fn times(b: f64) -> Multipliers {
        Multipliers { inequalities: vec![], equalities: vec![b] }
    }

    #[test]
    fn the_nearest_point_of_a_line_by_hand() {
        let two = Matrix::from_rows(&[[2.0, 0.0], [0.0, 2.0]]).unwrap();
        let line = Matrix::from_rows(&[[1.0, 1.0]]).unwrap();
        let (x, multipliers) = equality_quadratic(&two, &[0.0, 0.0], &line, &[1.0]).unwrap();
        for (got, expected) in x.iter().chain(&multipliers).zip([0.5, 0.5, -1.0]) {
            assert!((got - expected).abs() < 1e-15);
        }
        let residuals = circle(&x, 1.0).kkt(&times(-1.0)).unwrap();
        assert!(residuals.hold(1e-14));
        assert!(residuals.to_string().contains("convex problems only"));
    }

    #[test]
    fn the_dual_is_below_the_primal_and_meets_it_at_the_multiplier() {
        let run = Context::default();
        let problem = |x: &[f64]| Ok(circle(x, 1.0));
        // θ(b) = -b²/2 - b.
        for b in [-3.0, -1.0, 0.0, 2.0] {
            let dual = dual_function(problem, &times(b), &[3.0, -2.0], &run).unwrap();
            assert!((dual.value - (-0.5 * b * b - b)).abs() < 1e-9, "{b} {}", dual.value);
            let gap = duality_gap(problem, &[0.5, 0.5], &times(b), 1e-9, &run).unwrap();
            assert!(gap > -1e-9 && (gap < 1e-9) == (b == -1.0));
        }
        assert!(duality_gap(problem, &[0.5, 0.6], &times(-1.0), 1e-9, &run).is_err());
    }

    #[test]
    fn a_lagrangian_that_falls_for_ever_has_the_dual_value_minus_infinity() {
        let slope = |x: &[f64]| {
            let f = Evaluation { value: x[0], gradient: vec![1.0], hessian: None };
            Ok(Constrained {
                inequalities: vec![-x[0]],
                inequality_gradients: Matrix::from_rows(&[[-1.0]])?,
                ..Constrained::free(f)
            })
        };
        let at = |a: f64| {
            let multipliers = Multipliers { inequalities: vec![a], equalities: vec![] };
            dual_function(slope, &multipliers, &[1.0], &Context::default())
        };
        assert_eq!(at(0.5).unwrap().value, f64::NEG_INFINITY);
        assert_eq!(at(1.0).unwrap().value, 0.0);
        assert!(at(-1.0).is_err());
    }

    #[test]
    fn singular_systems_are_named() {
        let two = Matrix::from_rows(&[[2.0, 0.0], [0.0, 2.0]]).unwrap();
        let twice = Matrix::from_rows(&[[1.0, 1.0], [2.0, 2.0]]).unwrap();
        let error = equality_quadratic(&two, &[0.0; 2], &twice, &[1.0, 2.0]).unwrap_err();
        assert!(error.message().contains("depend on each other"));
        let line = Matrix::from_rows(&[[1.0, 1.0]]).unwrap();
        let flat = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]).unwrap();
        let error = equality_quadratic(&flat, &[0.0; 2], &line, &[1.0]).unwrap_err();
        assert!(error.message().contains("singular"));
        let saddle = Matrix::from_rows(&[[1.0, 3.0], [3.0, 1.0]]).unwrap();
        let error = equality_quadratic(&saddle, &[0.0; 2], &line, &[1.0]).unwrap_err();
        assert!(error.message().contains("not convex"));
    }

    /// The dual of the soft margin: min ½ a'Qa - Σ a, 0 <= a <= C, y'a = 0.
    fn margin(q: &Matrix, y: &[f64], limit: f64, a: &[f64]) -> Constrained {
        let n = y.len();
        let curve = crate::linalg::matvec(q.view(), a);
        let value = 0.5 * crate::linalg::dot(a, &curve) - a.iter().sum::<f64>();
        let gradient = curve.iter().map(|g| g - 1.0).collect();
        let signs = Matrix::from_fn(2 * n, n, |i, j| match (i == j, i == j + n) {
            (true, _) => -1.0,
            (_, true) => 1.0,
            _ => 0.0,
        });
        Constrained {
            inequalities: a.iter().map(|a| -a).chain(a.iter().map(|a| a - limit)).collect(),
            inequality_gradients: signs,
            equalities: vec![crate::linalg::dot(a, y)],
            equality_gradients: Matrix::from_rows(&[y]).unwrap(),
            ..Constrained::free(Evaluation { value, gradient, hessian: None })
        }
    }

    #[test]
    fn the_solution_of_a_support_vector_machine_passes_and_a_perturbed_one_fails() {
        let rows = [[1.0, 2.0], [2.0, 3.0], [3.0, 1.5], [-1.0, 0.0], [0.0, -1.0], [1.5, 1.0]];
        let y = [1.0, 1.0, 1.0, -1.0, -1.0, -1.0];
        let inner = |i: usize, j: usize| rows[i][0] * rows[j][0] + rows[i][1] * rows[j][1];
        let q = Matrix::from_fn(6, 6, |i, j| y[i] * y[j] * inner(i, j));
        for limit in [0.3, 10.0] {
            let problem = QuadraticProgram {
                equalities: Some((Matrix::from_rows(&[y]).unwrap(), vec![0.0])),
                bounds: Some(Bounds { lower: vec![0.0; 6], upper: vec![limit; 6] }),
                ..QuadraticProgram::new(q.clone(), vec![-1.0; 6])
            };
            let solution = problem.solve(&Context::default()).unwrap().solution().unwrap();
            let multipliers = Multipliers {
                inequalities: [solution.lower.clone(), solution.upper.clone()].concat(),
                equalities: solution.equalities.clone(),
            };
            let residuals = margin(&q, &y, limit, &solution.x).kkt(&multipliers).unwrap();
            assert!(residuals.hold(1e-7), "{limit}: {residuals}");
            let mut moved = solution.x.clone();
            moved[0] += 0.05;
            let residuals = margin(&q, &y, limit, &moved).kkt(&multipliers).unwrap();
            assert!(!residuals.hold(1e-3), "{residuals}");
        }
    }
}
