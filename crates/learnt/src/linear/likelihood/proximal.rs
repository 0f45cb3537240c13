//! Proximal Newton steps for a logistic likelihood with an L1 penalty.
//!
//! Minimises L(W) + l1 Σ |w| + l2 Σ w² / 2 over all weights, intercepts free. Each step minimises the
//! quadratic model of L at the current weights plus the penalties, by coordinate descent after the
//! intercepts are eliminated, and is halved until the objective falls by 1e-4 of what the step
//! promises. More than two classes have one row each; the sums of a pass, relative to the first
//! class, give the derivatives of all rows, because these sum to zero. Where all pairs of classes
//! are too many, the second derivatives are Σ w p_k z zᵀ for each class alone: an upper bound that
//! is exact but for moves common to all classes. Beyond 512 columns second derivatives are taken
//! only of columns that are not zero or want to leave zero.
//! Converged when a step promises at most tol² of the mean objective, and no other column wants to
//! leave zero.
//!
//! Lee, Sun and Saunders (2014), SIAM Journal on Optimization 24(3), 1420-1443.

use super::{Second, Summary};
use crate::linear::penalized::quadratic::{Descent, Penalty, Search};
use learnt_core::linalg::{Cholesky, dot, mirror_lower};
use learnt_core::optimize::Verdict;
use learnt_core::prelude::*;

/// Columns up to which all have second derivatives.
const WHOLE: usize = 512;
/// Weights up to which the second derivatives have all pairs of classes.
const PAIRS: usize = 400;
const DECREASE: f64 = 1e-4;
const HALVINGS: usize = 40;
/// The inner problem is solved to this share of the violation of optimality.
const INNER: f64 = 1e-2;

/// The state of the method.
#[derive(Clone, Debug, Stored)]
pub(crate) struct Proximal {
    l1: f64,
    l2: f64,
    /// Decrease of the mean objective that is not worth a step.
    stop: f64,
    inputs: usize,
    intercept: bool,
    /// Weights, one row for two classes, else one a class; the intercept last.
    base: Matrix,
    trial: Matrix,
    direction: Matrix,
    /// The objective at the base.
    value: f64,
    total: f64,
    /// What the objective would change by along the direction, were its slope constant.
    slope: f64,
    step: f64,
    halvings: usize,
    iterations: usize,
    started: bool,
    /// Whether the gradient at zero has chosen the first active columns.
    surveyed: bool,
    /// Input columns whose second derivatives the next pass takes.
    active: Vec<usize>,
}

/// A quadratic model of some weights: ½ (u - w)ᵀ H (u - w) + gᵀ(u - w).
struct Model {
    hessian: Matrix,
    gradient: Vec<f64>,
    at: Vec<f64>,
    /// Which of them are intercepts.
    free: Vec<usize>,
    held: Vec<usize>,
    /// The first row of weights that it is about.
    row: usize,
}

impl Proximal {
    /// From zero, with `rows` rows of weights.
    pub(crate) fn new(
        rows: usize,
        inputs: usize,
        intercept: bool,
        penalties: (f64, f64),
        stop: f64,
    ) -> Self {
        let zero = Matrix::zeros(rows, inputs + usize::from(intercept));
        Proximal {
            l1: penalties.0,
            l2: penalties.1,
            stop,
            inputs,
            intercept,
            base: zero.clone(),
            trial: zero.clone(),
            direction: zero,
            value: f64::INFINITY,
            total: 1.0,
            slope: 0.0,
            step: 1.0,
            halvings: 0,
            iterations: 0,
            started: false,
            surveyed: inputs <= WHOLE,
            active: if inputs <= WHOLE { (0..inputs).collect() } else { Vec::new() },
        }
    }

    pub(crate) fn iterations(&self) -> usize {
        self.iterations
    }

    /// The mean objective at the best weights.
    pub(crate) fn value(&self) -> f64 {
        self.value / self.total
    }

    /// The best weights.
    pub(crate) fn best(&self) -> &Matrix {
        &self.base
    }

    /// The columns of the next pass's second derivatives; none where all are.
    pub(crate) fn columns(&self) -> Option<&[usize]> {
        (self.active.len() < self.inputs).then_some(&self.active)
    }

    /// The second derivatives that the next pass needs.
    pub(crate) fn second(&self) -> Second {
        let size = self.active.len() + usize::from(self.intercept);
        match self.base.nrows() {
            _ if !self.surveyed => Second::Nothing,
            1 => Second::Hessian,
            rows if (rows - 1) * size <= PAIRS => Second::Hessian,
            _ => Second::Classes,
        }
    }

    /// Where the next pass is made, relative to the first class.
    pub(crate) fn point(&self) -> Matrix {
        match self.trial.nrows() {
            1 => self.trial.clone(),
            rows => Matrix::from_fn(rows - 1, self.trial.ncols(), |k, j| {
                self.trial[(k + 1, j)] - self.trial[(0, j)]
            }),
        }
    }

    /// Takes the sums at the point.
    pub(crate) fn tell(&mut self, all: &Summary, run: &Context) -> Result<Verdict> {
        let objective = all.value + self.penalty(&self.trial);
        let gradient = self.gradient(&all.gradient);
        let finite = objective.is_finite() && gradient.as_slice().iter().all(|g| g.is_finite());
        if !finite && !self.started {
            return Err(Error::numeric("the function is not finite at the start"));
        }
        let rounding = 4.0 * f64::EPSILON * self.value.abs();
        let bound = self.value + DECREASE * self.step * self.slope + rounding;
        if self.started && !(finite && objective <= bound) {
            return Ok(self.shorten());
        }
        self.base.clone_from(&self.trial);
        self.value = objective;
        self.total = all.counts.iter().sum();
        self.iterations += usize::from(self.started);
        self.started = true;
        self.accept(all, &gradient, run)
    }

    fn accept(&mut self, all: &Summary, gradient: &Matrix, run: &Context) -> Result<Verdict> {
        let outside = self.wanting(gradient);
        let inside = self.violation(gradient);
        if outside.is_empty() && inside == 0.0 {
            return Ok(Verdict::Converged);
        }
        if !self.surveyed {
            (self.surveyed, self.started, self.value) = (true, false, f64::INFINITY);
            self.take_in(outside);
            return Ok(Verdict::Again);
        }
        let mut proposal = self.base.clone();
        let mut promised = 0.0;
        for model in self.models(all, gradient) {
            let tolerance = INNER * inside;
            let solution = model.minimize(self.l1, self.l2, tolerance, run)?;
            promised -= model.change(&solution);
            self.spread(&model, &solution, &mut proposal);
        }
        self.recentre(&mut proposal);
        self.direction = Matrix::from_fn(proposal.nrows(), proposal.ncols(), |k, j| {
            proposal[(k, j)] - self.base[(k, j)]
        });
        let penalties = self.penalty(&proposal) - self.penalty(&self.base);
        promised -= penalties;
        self.slope = dot(gradient.as_slice(), self.direction.as_slice()) + penalties;
        (self.step, self.halvings) = (1.0, 0);
        let small = promised <= self.stop * self.total;
        self.trial = proposal;
        if outside.is_empty() && (small || self.slope >= 0.0) {
            self.iterations += 1;
            self.value -= promised.max(0.0);
            self.base.clone_from(&self.trial);
            return Ok(Verdict::Converged);
        }
        self.take_in(outside);
        Ok(Verdict::Again)
    }

    /// Moves the weights of all classes together where that lowers the penalties: the likelihood
    /// does not change by it, and the second derivatives of classes alone would hold it back.
    fn recentre(&self, weights: &mut Matrix) {
        let rows = weights.nrows();
        if rows == 1 {
            return;
        }
        for &j in &self.active {
            let column: Vec<f64> = (0..rows).map(|k| weights[(k, j)]).collect();
            let shift = best_shift(&column, self.l1, self.l2);
            (0..rows).for_each(|k| weights[(k, j)] -= shift);
        }
    }

    fn shorten(&mut self) -> Verdict {
        self.halvings += 1;
        if self.halvings > HALVINGS {
            return Verdict::Stalled;
        }
        self.step *= 0.5;
        let (base, direction, step) = (&self.base, &self.direction, self.step);
        self.trial = Matrix::from_fn(base.nrows(), base.ncols(), |k, j| {
            base[(k, j)] + step * direction[(k, j)]
        });
        Verdict::Again
    }

    fn penalty(&self, weights: &Matrix) -> f64 {
        let own = |row: &[f64]| -> f64 {
            let sizes: f64 = row.iter().map(|w| w.abs()).sum();
            self.l1 * sizes + 0.5 * self.l2 * dot(row, row)
        };
        weights.rows().map(|row| own(&row[..self.inputs])).sum()
    }

    /// The gradient for all rows of weights.
    fn gradient(&self, relative: &Matrix) -> Matrix {
        if self.base.nrows() == 1 {
            return relative.clone();
        }
        Matrix::from_fn(self.base.nrows(), self.base.ncols(), |k, j| match k {
            0 => -(0..relative.nrows()).map(|l| relative[(l, j)]).sum::<f64>(),
            _ => relative[(k - 1, j)],
        })
    }

    /// Distance of zero from the subdifferential of a weight.
    fn violation_of(&self, gradient: &Matrix, k: usize, j: usize) -> f64 {
        let w = self.base[(k, j)];
        let smooth = gradient[(k, j)] + self.l2 * w;
        match w == 0.0 {
            true => (smooth.abs() - self.l1).max(0.0),
            false => (smooth + self.l1.copysign(w)).abs(),
        }
    }

    /// The largest violation of optimality by an active column or an intercept.
    fn violation(&self, gradient: &Matrix) -> f64 {
        let mut most = 0.0_f64;
        for k in 0..self.base.nrows() {
            for &j in &self.active {
                most = most.max(self.violation_of(gradient, k, j));
            }
            if self.intercept {
                most = most.max(gradient[(k, self.inputs)].abs());
            }
        }
        most
    }

    /// Columns without second derivatives that want to leave zero, the strongest first.
    fn wanting(&self, gradient: &Matrix) -> Vec<usize> {
        if self.active.len() == self.inputs {
            return Vec::new();
        }
        let mut active = vec![false; self.inputs];
        self.active.iter().for_each(|&j| active[j] = true);
        let most = |j: usize| {
            let rows = 0..self.base.nrows();
            rows.map(|k| self.violation_of(gradient, k, j)).fold(0.0, f64::max)
        };
        let outside = (0..self.inputs).filter(|&j| !active[j]);
        let mut found: Vec<(f64, usize)> =
            outside.map(|j| (most(j), j)).filter(|(excess, _)| *excess > 0.0).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(_, j)| j).collect()
    }

    /// The active columns of the next pass: those that are not zero, and as many new ones.
    fn take_in(&mut self, new: Vec<usize>) {
        if self.active.len() == self.inputs {
            return;
        }
        let trial = &self.trial;
        let nonzero = |j: &usize| (0..trial.nrows()).any(|k| trial[(k, *j)] != 0.0);
        let mut kept: Vec<usize> = (0..self.inputs).filter(nonzero).collect();
        let room = kept.len().max(WHOLE / 4);
        kept.extend(new.into_iter().take(room));
        kept.sort_unstable();
        kept.dedup();
        self.active = kept;
    }

    /// The quadratic models that are minimised one by one.
    fn models(&self, all: &Summary, gradient: &Matrix) -> Vec<Model> {
        let size = self.active.len() + usize::from(self.intercept);
        let rows = self.base.nrows();
        let model = |hessian: Matrix, classes: std::ops::Range<usize>| {
            let places = classes.clone().flat_map(|k| (0..size).map(move |a| (k, a)));
            let column = |a: usize| self.active.get(a).copied().unwrap_or(self.inputs);
            let of = |matrix: &Matrix| -> Vec<f64> {
                places.clone().map(|(k, a)| matrix[(k, column(a))]).collect()
            };
            let (gradient, at) = (of(gradient), of(&self.base));
            let is_free = |i: &usize| i % size == self.active.len();
            let (free, held) = (0..at.len()).partition(is_free);
            Model { hessian, gradient, at, free, held, row: classes.start }
        };
        match self.second() {
            Second::Classes => {
                (0..rows).map(|k| model(block_of(&all.second, k, size), k..k + 1)).collect()
            }
            _ if rows == 1 => vec![model(block_of(&all.second, 0, size), 0..1)],
            _ => vec![model(all_rows(&all.second, rows, size), 0..rows)],
        }
    }

    /// Writes the solution of a model into the weights.
    fn spread(&self, model: &Model, solution: &[f64], out: &mut Matrix) {
        let size = self.active.len() + usize::from(self.intercept);
        for (i, &value) in solution.iter().enumerate() {
            let column = self.active.get(i % size).copied().unwrap_or(self.inputs);
            out[(model.row + i / size, column)] = value;
        }
    }
}

/// s that minimises Σ l1 |w - s| + l2 (w - s)² / 2; zero if that is one.
fn best_shift(weights: &[f64], l1: f64, l2: f64) -> f64 {
    let sum: f64 = weights.iter().sum();
    let count = |holds: &dyn Fn(f64) -> bool| weights.iter().filter(|w| holds(**w)).count() as f64;
    let pull = |s: f64| {
        l1 * (count(&|w| w > s) - count(&|w| w < s)) + l2 * (sum - weights.len() as f64 * s)
    };
    let is_best = |s: f64| pull(s).abs() <= l1 * count(&|w| w == s);
    let mut sorted = weights.to_vec();
    sorted.sort_by(f64::total_cmp);
    if let Some(&s) = [0.0].iter().chain(&sorted).find(|s| is_best(**s)) {
        return s;
    }
    // Between two weights, where the pull is a falling line through zero.
    let inside = sorted.windows(2).find(|pair| pull(pair[0]) > 0.0 && pull(pair[1]) < 0.0);
    let between = |pair: &[f64]| {
        let middle = 0.5 * (pair[0] + pair[1]);
        middle + pull(middle) / (l2 * weights.len() as f64)
    };
    inside.filter(|_| l2 > 0.0).map_or(0.0, between)
}

/// The k-th block of rows, as a symmetric matrix given by its lower triangle.
fn block_of(blocks: &Matrix, k: usize, size: usize) -> Matrix {
    let mut out = Matrix::from_fn(size, size, |i, j| blocks[(k * size + i, j)]);
    mirror_lower(&mut out);
    out
}

/// The second derivatives of all rows of weights from those relative to the first class.
fn all_rows(blocks: &Matrix, rows: usize, size: usize) -> Matrix {
    let pair = |k: usize, l: usize, i: usize, j: usize| {
        let (k, l) = (k.max(l) - 1, k.min(l) - 1);
        blocks[((k * (k + 1) / 2 + l) * size + i.max(j), i.min(j))]
    };
    let mut out = Matrix::zeros(rows * size, rows * size);
    for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
        let mut corner = 0.0;
        for k in 1..rows {
            let mut sum = 0.0;
            for l in 1..rows {
                let value = pair(k, l, i, j);
                out[(k * size + i, l * size + j)] = value;
                sum += value;
            }
            out[(k * size + i, j)] = -sum;
            out[(i, k * size + j)] = -sum;
            corner += sum;
        }
        out[(i, j)] = corner;
    }
    out
}

impl Model {
    /// Minimises the model plus the penalties; intercepts are eliminated first.
    fn minimize(&self, l1: f64, l2: f64, tolerance: f64, run: &Context) -> Result<Vec<f64>> {
        let h = &self.hessian;
        // The model is ½ uᵀHu - cᵀu.
        let linear: Vec<f64> =
            (0..self.at.len()).map(|i| dot(h.row(i), &self.at) - self.gradient[i]).collect();
        let solver = self.free_solver();
        let (held, free) = (&self.held, &self.free);
        let mut quadratic = Matrix::from_fn(held.len(), held.len(), |i, j| h[(held[i], held[j])]);
        let mut pull: Vec<f64> = held.iter().map(|&i| linear[i]).collect();
        if let Some(factor) = &solver {
            let mut level: Vec<f64> = free.iter().map(|&f| linear[f]).collect();
            factor.solve_in_place(&mut level);
            let across: Vec<Vec<f64>> = held
                .iter()
                .map(|&i| {
                    let mut row: Vec<f64> = free.iter().map(|&f| h[(i, f)]).collect();
                    factor.solve_lower_in_place(&mut row);
                    row
                })
                .collect();
            for i in 0..held.len() {
                pull[i] -= free.iter().zip(&level).map(|(&f, b)| h[(held[i], f)] * b).sum::<f64>();
                for j in 0..=i {
                    quadratic[(i, j)] -= dot(&across[i], &across[j]);
                }
                quadratic[(i, i)] = quadratic[(i, i)].max(0.0);
            }
            mirror_lower(&mut quadratic);
        }
        let start: Vec<f64> = held.iter().map(|&i| self.at[i]).collect();
        let mut descent = Descent::at(&quadratic, &pull, start, run);
        let penalty = Penalty::uniform(held.len(), l1, l2, false);
        let mut optimal = |b: &[f64], slope: &[f64]| {
            b.iter().zip(slope).all(|(b, slope)| {
                let smooth = slope + l2 * b;
                let violation = match *b == 0.0 {
                    true => smooth.abs() - l1,
                    false => (smooth + l1.copysign(*b)).abs(),
                };
                violation <= tolerance
            })
        };
        descent.minimize(&penalty, &Search::default(), &mut optimal, run)?;
        let mut out = self.at.clone();
        held.iter().zip(&descent.b).for_each(|(&i, &b)| out[i] = b);
        if let Some(factor) = &solver {
            let rest = |&f: &usize| {
                let fixed: f64 = held.iter().map(|&i| h[(f, i)] * out[i]).sum();
                linear[f] - fixed
            };
            let mut level: Vec<f64> = free.iter().map(rest).collect();
            factor.solve_in_place(&mut level);
            free.iter().zip(&level).for_each(|(&f, &b)| out[f] = b);
        }
        Ok(out)
    }

    /// A factor of the intercepts' second derivatives. Those of all classes have no say about a
    /// common shift, which is set to zero.
    fn free_solver(&self) -> Option<Cholesky> {
        let f = self.free.len();
        let own = |i: usize, j: usize| self.hessian[(self.free[i], self.free[j])];
        let shift = match f {
            0 => return None,
            1 => 0.0,
            _ => (0..f).map(|i| own(i, i)).sum::<f64>() / f as f64,
        };
        Cholesky::new(&Matrix::from_fn(f, f, |i, j| own(i, j) + shift))
    }

    /// What the model changes by from its own point.
    fn change(&self, solution: &[f64]) -> f64 {
        let step: Vec<f64> = solution.iter().zip(&self.at).map(|(u, w)| u - w).collect();
        let curve = |i: usize| step[i] * dot(self.hessian.row(i), &step);
        dot(&self.gradient, &step) + 0.5 * (0..step.len()).map(curve).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::likelihood::Pass;

    fn data(rows: usize, columns: usize, classes: i64) -> OwnedDataset {
        let noise = |i: usize, j: usize| {
            let mixed = (i * 7919 + j * 104_729 + i * j * 31) % 1009;
            mixed as f64 / 504.5 - 1.0
        };
        let x = Matrix::from_fn(rows, columns, |i, j| 2.0 + noise(i, j));
        let class = |i: usize| {
            let score = 2.0 * x[(i, 0)] - 1.5 * x[(i, 1)] + 0.7 * noise(i, columns + 5);
            Label::Int(((score + 1.0) * classes as f64 / 4.0).floor() as i64)
        };
        let labels: Vec<Label> = (0..rows)
            .map(class)
            .map(|label| match label {
                Label::Int(k) => Label::Int(k.clamp(0, classes - 1)),
                other => other,
            })
            .collect();
        OwnedDataset::classification(x, &labels)
    }

    fn fitted(data: &OwnedDataset, classes: usize, l1: f64, l2: f64) -> Proximal {
        let inputs = data.x.values().ncols();
        let rows = if classes == 2 { 1 } else { classes };
        let run = Context::default();
        let mut method = Proximal::new(rows, inputs, true, (l1, l2), 1e-15);
        for _ in 0..200 {
            let pass = Pass {
                weights: &method.point(),
                intercept: true,
                factors: &[],
                second: method.second(),
                every: 1,
                active: method.columns(),
                ranges: false,
                margins: false,
                offsets: None,
            };
            let sums = pass.over(&data.view()).unwrap();
            if method.tell(&sums, &run).unwrap() != Verdict::Again {
                method.trial = method.base.clone();
                return method;
            }
        }
        panic!("no convergence: {} {}", method.value(), method.slope);
    }

    /// The largest violation of optimality, per row.
    fn violation(method: &Proximal, data: &OwnedDataset) -> f64 {
        let pass = Pass {
            weights: &method.point(),
            intercept: true,
            factors: &[],
            second: Second::Nothing,
            every: 1,
            active: None,
            ranges: false,
            margins: false,
            offsets: None,
        };
        let sums = pass.over(&data.view()).unwrap();
        let gradient = method.gradient(&sums.gradient);
        let mut most = method.violation(&gradient);
        for j in 0..method.inputs {
            for k in 0..method.base.nrows() {
                most = most.max(method.violation_of(&gradient, k, j));
            }
        }
        most / data.x.values().nrows() as f64
    }

    #[test]
    fn every_form_of_the_second_derivatives_ends_at_the_optimum() {
        // Pairs of classes, classes alone, and a working set of columns.
        for (rows, columns, classes, form) in [
            (400, 6, 2, Second::Hessian),
            (400, 6, 4, Second::Hessian),
            (300, 90, 6, Second::Classes),
            (120, 700, 2, Second::Hessian),
        ] {
            let data = data(rows, columns, classes);
            let size = rows as f64;
            for (l1, l2) in [(0.01 * size, 0.0), (0.005 * size, 0.01 * size)] {
                let method = fitted(&data, classes as usize, l1, l2);
                assert_eq!(method.second(), form);
                let off = violation(&method, &data);
                assert!(off < 1e-7, "{rows} {columns} {classes}: {off}");
                let zeros = method.base.as_slice().iter().filter(|w| **w == 0.0).count();
                assert!(zeros > 0);
            }
        }
    }

    #[test]
    fn the_best_common_shift_lowers_the_penalties_most() {
        let cost = |w: &[f64], s: f64, l1: f64, l2: f64| -> f64 {
            w.iter().map(|w| l1 * (w - s).abs() + 0.5 * l2 * (w - s) * (w - s)).sum()
        };
        for weights in [[1.0, 2.0, 5.0, 7.0], [-1.0, 0.0, 0.0, 3.0], [0.5, 0.5, 0.5, -9.0]] {
            for (l1, l2) in [(1.0, 0.0), (1.0, 0.3), (0.1, 2.0)] {
                let s = best_shift(&weights, l1, l2);
                let least = cost(&weights, s, l1, l2);
                for k in -1000..=1000 {
                    assert!(least <= cost(&weights, f64::from(k) * 0.01, l1, l2) + 1e-12);
                }
            }
        }
        assert_eq!(best_shift(&[-1.0, 2.0], 1.0, 0.0), 0.0);
    }

    #[test]
    fn a_strong_penalty_leaves_the_intercept_alone() {
        for columns in [5, 600] {
            let data = data(90, columns, 2);
            let method = fitted(&data, 2, 1e4, 0.0);
            assert!(method.base.row(0)[..columns].iter().all(|w| *w == 0.0));
            assert!(violation(&method, &data) < 1e-9);
            assert!(method.base[(0, columns)] != 0.0);
        }
    }
}
