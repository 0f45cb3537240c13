//! Scoring steps for tables with more columns than rows and an L2 penalty, by the products of rows.
//!
//! The coefficients are combinations b = Xᵀc of the centred rows, because a part across them only adds to the
//! penalty. With K = X Xᵀ, a = n alpha, scores s and working weights W at η = K c + level, a step of Fisher scoring
//! solves (W K + a I) δc + W 1 δlevel = s - a c with 1ᵀ(c + δc) = 0, where the intercept is free. Its inverse is
//! (1/a)(I - W^½ S⁻¹ W^½ K) with S = a I + W^½ K W^½, which has a Cholesky factor whatever the rows. Objective,
//! step halving and the stopping criterion are those of the steps by columns; the slopes that are compared with the
//! tolerance are taken by every column of the table. S is factored once where weights stay as they are. Gives up, and
//! leaves the table to the steps by columns, where S is too near to singular for double precision or where steps end
//! early.
//!
//! With c columns, n rows and s steps: n² c / 2 + s n³ / 3 multiplications here, s (n c² + c³ / 3) there.
//!
//! Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, section 3.4; Hastie and Tibshirani
//! (2004), Biostatistics 5(3), 329-340.

use super::family::Law;
use super::fit::Tolerance;
use super::pass::Survey;
use crate::linear::least_squares::Rows;
use learnt_core::linalg::{Cholesky, add_scaled, dot, matvec, row_products_in};
use learnt_core::prelude::*;

/// Steps that a fit usually takes.
const STEPS: f64 = 6.0;
/// Multiplications below which the steps by columns stay.
const LITTLE: f64 = 2e8;
/// Decrease that a step must give, as a share of what its slope promises.
const DECREASE: f64 = 1e-4;
const HALVINGS: usize = 40;
/// A promised decrease of this share of the objective is rounding.
const ROUNDING: f64 = 1e-12;
/// Condition of S above which a step has too few digits.
const CONDITION: f64 = 1e11;

/// Whether steps by rows take less arithmetic.
pub(super) fn rows_pay(rows: u64, columns: usize) -> bool {
    let (n, c) = (rows as f64, columns as f64);
    let by_columns = STEPS * (n * c * c + c * c * c / 3.0);
    let by_rows = 0.5 * n * n * c + STEPS * n * n * n / 3.0;
    n <= c && by_columns > LITTLE && by_rows < by_columns
}

/// Working weights that differ by less are the same.
const SAME: f64 = 1e-12;

/// What is minimised, and until when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    pub(super) law: Law,
    pub(super) alpha: f64,
    pub(super) intercept: bool,
    pub(super) max_iter: usize,
    pub(super) tolerance: Tolerance,
}

/// Where the steps ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) coef: Vec<f64>,
    /// The linear predictor of the mean row.
    pub(super) level: f64,
    pub(super) deviance: f64,
    pub(super) pearson: f64,
    pub(super) n_iter: usize,
    pub(super) converged: bool,
}

/// The centred rows.
struct Table<'a> {
    goal: Goal,
    survey: &'a Survey,
    x: MatRef<'a>,
    y: Vec<f64>,
    weights: &'a [f64],
    products: Matrix,
    /// n alpha.
    strength: f64,
}

/// A point, and what the rows say there.
struct Point {
    c: Vec<f64>,
    level: f64,
    /// K c.
    fit: Vec<f64>,
    deviance: f64,
    pearson: f64,
    value: f64,
    /// w s and w W of each row.
    scores: Vec<f64>,
    working: Vec<f64>,
}

/// Where a step leads.
struct Direction {
    c: Vec<f64>,
    level: f64,
    fit: Vec<f64>,
    /// The derivative of the objective along it, below 0.
    slope: f64,
}

/// The minimum, from rows of inputs and target; `None` where the steps by columns must decide.
pub(super) fn minimize(
    goal: Goal,
    survey: &Survey,
    rows: Rows,
    start: f64,
    run: &Context,
) -> Result<Option<Ended>> {
    let Rows { weights, mut values } = rows;
    let (n, p) = (values.nrows(), values.ncols() - 1);
    let y = values.column(p);
    if goal.intercept {
        run.par_fill(values.as_mut_slice(), p + 1, |_, row| add_scaled(row, -1.0, &survey.mean));
    }
    let x = values.view().columns(0, p);
    let products = row_products_in(x, run)?;
    let strength = goal.alpha * survey.weight;
    let table = Table { goal, survey, x, y, weights: &weights, products, strength };
    table.descend(table.at(vec![0.0; n], start, vec![0.0; n]), run)
}

impl Table<'_> {
    fn descend(&self, mut point: Point, run: &Context) -> Result<Option<Ended>> {
        if !point.value.is_finite() {
            return Ok(None);
        }
        let (mut n_iter, mut change, mut system) = (0, f64::INFINITY, None);
        loop {
            run.record("generalised linear model", n_iter as u64, point.value);
            let converged = match self.goal.tolerance {
                Tolerance::Change(most) => 2.0 * change <= most * (2.0 * point.value + 0.1),
                Tolerance::Gradient(most) => self.largest_slope(&point) <= most,
            };
            if converged || n_iter >= self.goal.max_iter {
                return Ok(Some(self.end(point, n_iter, converged)));
            }
            let Some(direction) = self.direction(&point, &mut system, run)? else {
                return Ok(None);
            };
            let Some(next) = self.along(&point, &direction) else {
                let rounding = -0.5 * direction.slope <= ROUNDING * point.value.abs();
                return Ok(rounding.then(|| self.end(point, n_iter, true)));
            };
            change = point.value - next.value;
            point = next;
            n_iter += 1;
        }
    }

    fn end(&self, point: Point, n_iter: usize, converged: bool) -> Ended {
        let Point { c, level, deviance, pearson, .. } = point;
        Ended { coef: matvec(self.x.transposed(), &c), level, deviance, pearson, n_iter, converged }
    }

    /// The rows at a point, whose fit K c is known.
    fn at(&self, c: Vec<f64>, level: f64, fit: Vec<f64>) -> Point {
        let (mut deviance, mut pearson) = (0.0, 0.0);
        let (mut scores, mut working) = (vec![0.0; c.len()], vec![0.0; c.len()]);
        for (i, w) in self.weights.iter().enumerate() {
            let row = self.goal.law.at(self.y[i], fit[i] + level);
            deviance += w * row.deviance;
            pearson += w * row.pearson;
            (scores[i], working[i]) = (w * row.score, w * row.weight);
        }
        let value = 0.5 * (deviance + self.strength * dot(&c, &fit));
        Point { c, level, fit, deviance, pearson, value, scores, working }
    }

    /// s - a c: minus the gradient by b is Xᵀ times it.
    fn pull(&self, point: &Point) -> Vec<f64> {
        let mut pull = point.scores.clone();
        add_scaled(&mut pull, -self.strength, &point.c);
        pull
    }

    /// The derivative of the objective by the level.
    fn level_slope(&self, point: &Point) -> f64 {
        if self.goal.intercept { -point.scores.iter().sum::<f64>() } else { 0.0 }
    }

    /// The largest derivative of the mean objective by a coefficient or the intercept.
    fn largest_slope(&self, point: &Point) -> f64 {
        let level = self.level_slope(point);
        let slopes = matvec(self.x.transposed(), &self.pull(point));
        let slope = |(slope, mean): (f64, &f64)| (level * mean - slope).abs();
        let each = slopes.into_iter().zip(&self.survey.mean).map(slope);
        each.fold(level.abs(), f64::max) / self.survey.weight
    }

    /// The step of Fisher scoring; `None` where it would have too few digits.
    fn direction(
        &self,
        point: &Point,
        system: &mut Option<System>,
        run: &Context,
    ) -> Result<Option<Direction>> {
        if !system.as_ref().is_some_and(|system| system.serves(&point.working)) {
            *system = System::new(self, &point.working, run)?;
        }
        let Some(system) = system else { return Ok(None) };
        let pull = self.pull(point);
        let (mut c, mut level) = (system.solve(self, &pull), 0.0);
        if self.goal.intercept {
            let total = |values: &[f64]| values.iter().sum::<f64>();
            level = (total(&c) + total(&point.c)) / total(&system.by_level);
            add_scaled(&mut c, -level, &system.by_level);
        }
        let fit = matvec(self.products.view(), &c);
        let slope = self.level_slope(point) * level - dot(&pull, &fit);
        let down = slope < 0.0 && level.is_finite() && fit.iter().all(|v| v.is_finite());
        Ok(down.then_some(Direction { c, level, fit, slope }))
    }

    /// The first of shorter and shorter steps that lowers the objective enough.
    fn along(&self, from: &Point, direction: &Direction) -> Option<Point> {
        let mut step = 1.0;
        for _ in 0..=HALVINGS {
            let (mut c, mut fit) = (from.c.clone(), from.fit.clone());
            add_scaled(&mut c, step, &direction.c);
            add_scaled(&mut fit, step, &direction.fit);
            let next = self.at(c, from.level + step * direction.level, fit);
            let rounding = 4.0 * f64::EPSILON * from.value.abs();
            if next.value <= from.value + DECREASE * step * direction.slope + rounding {
                return Some(next);
            }
            let bend = next.value - from.value - step * direction.slope;
            let best = -0.5 * direction.slope * step * step / bend;
            let inside = if best.is_finite() { best } else { 0.0 };
            step = inside.clamp(0.1 * step, 0.5 * step);
        }
        None
    }
}

/// W K + a I at some working weights, factored.
struct System {
    working: Vec<f64>,
    roots: Vec<f64>,
    factor: Cholesky,
    /// What solves it for W 1; empty without intercept.
    by_level: Vec<f64>,
}

impl System {
    /// `None` where S is too near to singular.
    fn new(table: &Table, working: &[f64], run: &Context) -> Result<Option<System>> {
        let n = working.len();
        let roots: Vec<f64> = working.iter().map(|w| w.sqrt()).collect();
        let mut system = table.products.clone();
        run.par_fill(system.as_mut_slice(), n, |start, row| {
            let i = start / n;
            for (k, root) in row[..=i].iter_mut().zip(&roots) {
                *k *= roots[i] * root;
            }
            row[i] += table.strength;
        });
        let factor = Cholesky::new_in(system, run)?;
        let Some(factor) = factor.filter(|factor| factor.condition_bound() < CONDITION) else {
            return Ok(None);
        };
        let mut out = System { working: working.to_vec(), roots, factor, by_level: Vec::new() };
        if table.goal.intercept {
            out.by_level = out.solve(table, working);
        }
        Ok(Some(out))
    }

    /// Whether these weights are the same but for rounding, as those of gamma targets and a log link are at
    /// every point.
    fn serves(&self, working: &[f64]) -> bool {
        let near = |(new, old): (&f64, &f64)| (new - old).abs() <= SAME * old;
        working.iter().zip(&self.working).all(near)
    }

    /// (1/a)(r - W^½ S⁻¹ W^½ K r).
    fn solve(&self, table: &Table, right: &[f64]) -> Vec<f64> {
        let mut inner = matvec(table.products.view(), right);
        inner.iter_mut().zip(&self.roots).for_each(|(v, root)| *v *= root);
        self.factor.solve_in_place(&mut inner);
        let left = right.iter().zip(&inner).zip(&self.roots);
        left.map(|((r, v), root)| (r - root * v) / table.strength).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{GammaRegressor, PoissonRegressor, TweedieRegressor};
    use learnt_core::stats::sample::standard_normal;

    /// Weighted rows with a positive target, one of them twice; columns of zeros up to `padded`.
    fn data(n: usize, p: usize, padded: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(7);
        let mut x = Matrix::from_fn(n, p, |_, j| 0.3 * standard_normal(&mut rng) + (j % 5) as f64);
        let copy = x.row(0).to_vec();
        x.row_mut(1).copy_from_slice(&copy);
        let y = (0..n).map(|i| (x[(i, 0)] - 0.5 * x[(i, 3)] + 2.0).exp() + 0.1 * (i % 7) as f64);
        let y: Vec<f64> = y.collect();
        let weights = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        let wide = Matrix::from_fn(n, padded, |i, j| if j < p { x[(i, j)] } else { 0.0 });
        OwnedDataset { weights: Some(weights), ..OwnedDataset::regression(wide, y) }
    }

    #[test]
    fn columns_of_zeros_lead_to_steps_by_rows_and_the_same_model() {
        let (n, p, padded) = (40, 60, 500);
        assert!(rows_pay(n as u64, padded) && !rows_pay(n as u64, p));
        let (narrow, wide) = (data(n, p, p), data(n, p, padded));
        let same = |fit: &dyn Fn(&Dataset) -> crate::linear::GeneralizedModel| {
            let (a, b) = (fit(&narrow.view()), fit(&wide.view()));
            // Rounding of a step may need another one.
            assert!(b.n_iter <= a.n_iter + 1, "{} {}", a.n_iter, b.n_iter);
            assert!(
                (a.deviance - b.deviance).abs() <= 1e-8 * a.deviance,
                "{:?}",
                (a.deviance, b.deviance)
            );
            assert!((a.intercept - b.intercept).abs() < 1e-6, "{} {}", a.intercept, b.intercept);
            for j in 0..p {
                assert!((a.coef[j] - b.coef[j]).abs() < 1e-7, "{} {}", a.coef[j], b.coef[j]);
            }
            assert!(b.coef[p..].iter().all(|b| *b == 0.0));
        };
        for alpha in [10.0, 1e-2, 1e-5] {
            for fit_intercept in [true, false] {
                let tol = 1e-9;
                if fit_intercept {
                    let learner = GammaRegressor { alpha, tol, ..Default::default() };
                    same(&|data| learner.fit(data).unwrap());
                    let learner = PoissonRegressor { alpha, tol, ..Default::default() };
                    same(&|data| learner.fit(data).unwrap());
                }
                let learner = TweedieRegressor { alpha, tol, fit_intercept, ..Default::default() };
                same(&|data| learner.fit(data).unwrap());
            }
        }
    }

    #[test]
    fn the_cheaper_steps_are_chosen() {
        assert!(rows_pay(1000, 2000) && rows_pay(200, 20_000) && rows_pay(1000, 1000));
        assert!(!rows_pay(1001, 1000) && !rows_pay(100_000, 2000) && !rows_pay(50, 100));
    }
}
