//! Strictly convex quadratic programmes by the dual active-set method.
//!
//! Minimises ½ x'Gx + c'x subject to n_i'x >= b_i. Starts at the unconstrained minimum, and takes in
//! the most violated constraint (in units of its normal; the lowest index of equals) while keeping
//! the multipliers of those already in non-negative: a constraint whose multiplier would turn
//! negative leaves first. The value rises with every full step, so no set comes back; a constraint
//! that neither can be met nor lets another leave proves that there is no feasible point.
//! G = LL', J = L⁻ᵀQ and the triangle R with J'N = [R; 0] are updated by rotations.
//!
//! Goldfarb and Idnani (1983), Mathematical Programming 27, 1–33.

use crate::context::Context;
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::linalg::{Cholesky, dot, norm};

const REFINEMENTS: usize = 20;

/// A constraint n'x >= b, or n'x = b.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    pub(super) normal: Normal,
    pub(super) bound: f64,
    pub(super) equality: bool,
}

/// A normal: a row of numbers, or one signed coordinate.
#[derive(Clone, Debug)]
pub(super) enum Normal {
    Row(Vec<f64>),
    Coordinate(usize, f64),
}

impl Normal {
    pub(super) fn dot(&self, x: &[f64]) -> f64 {
        match self {
            Normal::Row(row) => dot(row, x),
            Normal::Coordinate(j, sign) => sign * x[*j],
        }
    }

    pub(super) fn length(&self) -> f64 {
        match self {
            Normal::Row(row) => norm(row),
            Normal::Coordinate(..) => 1.0,
        }
    }

    /// Aᵀ n for the rows of A.
    fn image(&self, j: &Matrix) -> Vec<f64> {
        match self {
            Normal::Coordinate(row, sign) => j.row(*row).iter().map(|v| sign * v).collect(),
            Normal::Row(row) => {
                let mut out = vec![0.0; j.ncols()];
                for (i, &n) in row.iter().enumerate().filter(|(_, n)| **n != 0.0) {
                    crate::linalg::add_scaled(&mut out, n, j.row(i));
                }
                out
            }
        }
    }
}

/// The minimum, or that there is no feasible point.
pub(super) enum Outcome<'a> {
    /// With its active set.
    Solved(Box<State<'a>>),
    /// A constraint cannot be met together with the others.
    Infeasible,
}

/// Solves for G and its factor.
///
/// Points far out on the way leave their rounding behind, so the end is corrected and looked at
/// again, until it stands.
pub(super) fn solve<'a>(
    g: &Matrix,
    factor: &Cholesky,
    linear: &[f64],
    constraints: &'a [Constraint],
    run: &Context,
) -> Result<Outcome<'a>> {
    let mut state = State::new(factor, linear, constraints);
    let limit = 50 * (linear.len() + constraints.len()) + 100;
    let mut corrected = false;
    for _ in 0..limit {
        run.checkpoint()?;
        match state.most_violated(1e-13) {
            None if corrected => return Ok(Outcome::Solved(Box::new(state))),
            None => {
                state.refine(g, linear);
                state.farthest = state.extent();
                corrected = true;
            }
            Some(index) => {
                if !state.take_in(index, limit)? {
                    return Ok(Outcome::Infeasible);
                }
                corrected = false;
            }
        }
    }
    Err(Error::numeric(format!("the active sets did not settle in {limit} changes"))
        .hint("scale the variables and constraints to similar sizes"))
}

/// A point with its active constraints.
pub(super) struct State<'a> {
    constraints: &'a [Constraint],
    lengths: Vec<f64>,
    pub(super) x: Vec<f64>,
    /// The largest coordinate since the last correction.
    farthest: f64,
    /// J, and R in the upper left of `active.len()` columns.
    j: Matrix,
    r: Matrix,
    active: Vec<usize>,
    multipliers: Vec<f64>,
    /// Sign of the normal with which an equality was taken in.
    signs: Vec<f64>,
    is_active: Vec<bool>,
}

impl<'a> State<'a> {
    fn new(factor: &Cholesky, linear: &[f64], constraints: &'a [Constraint]) -> Self {
        let n = linear.len();
        let mut x: Vec<f64> = linear.iter().map(|c| -c).collect();
        factor.solve_in_place(&mut x);
        // Row i of `inverse` is column i of L⁻¹, so it is row i of L⁻ᵀ.
        let mut inverse = Matrix::zeros(n, n);
        for i in 0..n {
            let row = inverse.row_mut(i);
            row[i] = 1.0;
            factor.solve_lower_in_place(row);
        }
        let mut state = State {
            farthest: 0.0,
            lengths: constraints.iter().map(|c| c.normal.length()).collect(),
            is_active: vec![false; constraints.len()],
            constraints,
            x,
            j: inverse,
            r: Matrix::zeros(n, n),
            active: Vec::new(),
            multipliers: Vec::new(),
            signs: Vec::new(),
        };
        state.farthest = state.extent();
        state
    }

    fn extent(&self) -> f64 {
        self.x.iter().fold(0.0_f64, |most, x| most.max(x.abs()))
    }

    /// Equalities that do not hold come first, in order; then the most violated inequality, in
    /// units of its normal; `share` of the size of the numbers is rounding.
    fn most_violated(&self, share: f64) -> Option<usize> {
        let mut worst = None;
        let mut least = 0.0;
        let room = share * (self.x.len() as f64).sqrt();
        for (index, constraint) in self.constraints.iter().enumerate() {
            let length = self.lengths[index];
            if self.is_active[index] || length == 0.0 {
                continue;
            }
            let slack = self.slack(index) / length;
            let violation = if constraint.equality { -slack.abs() } else { slack };
            if violation >= -room * (1.0 + constraint.bound.abs() / length + self.farthest) {
                continue;
            }
            if constraint.equality {
                return Some(index);
            }
            if violation < least {
                (worst, least) = (Some(index), violation);
            }
        }
        worst
    }

    fn slack(&self, index: usize) -> f64 {
        let constraint = &self.constraints[index];
        constraint.normal.dot(&self.x) - constraint.bound
    }

    /// Makes a constraint active, letting others leave; false if it cannot be met.
    fn take_in(&mut self, index: usize, limit: usize) -> Result<bool> {
        let constraint = &self.constraints[index];
        let sign = if constraint.equality && self.slack(index) > 0.0 { -1.0 } else { 1.0 };
        let mut multiplier = 0.0;
        for _ in 0..limit {
            let mut d = constraint.normal.image(&self.j);
            d.iter_mut().for_each(|d| *d *= sign);
            let k = self.active.len();
            let along = norm(&d[k..]);
            let dependent = along <= 1e-11 * norm(&d);
            let r = self.solve_triangle(&d[..k]);
            let (dual, leaving) = self.dual_step(&r);
            let primal = match dependent {
                true => f64::INFINITY,
                false => -sign * self.slack(index) / (along * along),
            };
            let step = dual.min(primal);
            if !step.is_finite() {
                return Ok(false);
            }
            if !dependent {
                for (i, x) in self.x.iter_mut().enumerate() {
                    *x += step * dot(&self.j.row(i)[k..], &d[k..]);
                }
                self.farthest = self.farthest.max(self.extent());
            }
            self.multipliers.iter_mut().zip(&r).for_each(|(u, r)| *u -= step * r);
            multiplier += step;
            match leaving {
                Some(place) if dual < primal => self.let_go(place),
                _ => {
                    self.add(index, sign, multiplier, d);
                    return Ok(true);
                }
            }
        }
        Err(Error::numeric("the active sets did not settle"))
    }

    /// How far the multipliers allow to go, and which one is then zero.
    fn dual_step(&self, r: &[f64]) -> (f64, Option<usize>) {
        let mut best = (f64::INFINITY, None);
        for (place, (&u, &r)) in self.multipliers.iter().zip(r).enumerate() {
            let inequality = !self.constraints[self.active[place]].equality;
            if inequality && r > 0.0 && u.max(0.0) / r < best.0 {
                best = (u.max(0.0) / r, Some(place));
            }
        }
        best
    }

    /// R⁻¹ d.
    fn solve_triangle(&self, d: &[f64]) -> Vec<f64> {
        let k = d.len();
        let mut out = d.to_vec();
        for i in (0..k).rev() {
            let row = self.r.row(i);
            out[i] = (out[i] - dot(&row[i + 1..k], &out[i + 1..])) / row[i];
        }
        out
    }

    /// Rotates the tail of d into its first element, and J with it.
    fn add(&mut self, index: usize, sign: f64, multiplier: f64, mut d: Vec<f64>) {
        let k = self.active.len();
        let mut turns = Vec::with_capacity(d.len() - k);
        for i in (k + 1..d.len()).rev() {
            let turn = Rotation::zeroing(d[i - 1], d[i]);
            d[i - 1] = turn.length;
            turns.push((i - 1, turn));
        }
        self.turn(&turns);
        for i in 0..=k {
            self.r[(i, k)] = d[i];
        }
        self.active.push(index);
        self.multipliers.push(multiplier);
        self.signs.push(sign);
        self.is_active[index] = true;
    }

    /// Removes a column of R and makes the rest a triangle again.
    fn let_go(&mut self, place: usize) {
        let index = self.active.remove(place);
        self.is_active[index] = false;
        self.multipliers.remove(place);
        self.signs.remove(place);
        let k = self.active.len();
        for column in place..k {
            for i in 0..=column + 1 {
                self.r[(i, column)] = self.r[(i, column + 1)];
            }
        }
        let mut turns = Vec::with_capacity(k - place);
        for i in place..k {
            let turn = Rotation::zeroing(self.r[(i, i)], self.r[(i + 1, i)]);
            for column in i..k {
                let (a, b) = (self.r[(i, column)], self.r[(i + 1, column)]);
                (self.r[(i, column)], self.r[(i + 1, column)]) = turn.apply(a, b);
            }
            turns.push((i, turn));
        }
        self.turn(&turns);
    }

    /// Applies rotations of neighbouring columns to J, row by row.
    fn turn(&mut self, turns: &[(usize, Rotation)]) {
        for i in 0..self.j.nrows() {
            let row = self.j.row_mut(i);
            for (left, turn) in turns {
                (row[*left], row[left + 1]) = turn.apply(row[*left], row[left + 1]);
            }
        }
    }

    /// Corrects point and multipliers for the objective ½ x'Qx + c'x on the active constraints as
    /// long as their residuals shrink; Q may be G less a small multiple of the identity.
    pub(super) fn refine(&mut self, quadratic: &Matrix, linear: &[f64]) {
        let k = self.active.len();
        let mut least = f64::INFINITY;
        let mut best = (self.x.clone(), self.multipliers.clone());
        for _ in 0..REFINEMENTS {
            let (slope, gaps) = self.residuals(quadratic, linear);
            let size = norm(&slope) + norm(&gaps);
            if size < least {
                best = (self.x.clone(), self.multipliers.clone());
            }
            if size == 0.0 || size.is_nan() || size >= 0.5 * least {
                break;
            }
            least = size;
            let image = Normal::Row(slope).image(&self.j);
            let bent = self.solve_transposed_triangle(&gaps);
            let mixed: Vec<f64> = bent.iter().chain(&image[k..]).copied().collect();
            for (i, x) in self.x.iter_mut().enumerate() {
                *x += dot(self.j.row(i), &mixed);
            }
            let change: Vec<f64> = bent.iter().zip(&image).map(|(b, s)| b - s).collect();
            let change = self.solve_triangle(&change);
            self.multipliers.iter_mut().zip(change).for_each(|(u, change)| *u += change);
        }
        (self.x, self.multipliers) = best;
    }

    /// N u - Qx - c, and b - N'x of the active constraints.
    fn residuals(&self, quadratic: &Matrix, linear: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let curve = crate::linalg::matvec(quadratic.view(), &self.x);
        let mut slope: Vec<f64> = curve.iter().zip(linear).map(|(q, c)| -q - c).collect();
        let mut gaps = Vec::with_capacity(self.active.len());
        for (place, &index) in self.active.iter().enumerate() {
            let factor = self.signs[place] * self.multipliers[place];
            match &self.constraints[index].normal {
                Normal::Row(row) => crate::linalg::add_scaled(&mut slope, factor, row),
                Normal::Coordinate(j, sign) => slope[*j] += factor * sign,
            }
            gaps.push(-self.signs[place] * self.slack(index));
        }
        (slope, gaps)
    }

    /// R⁻ᵀ b.
    fn solve_transposed_triangle(&self, b: &[f64]) -> Vec<f64> {
        let mut out = b.to_vec();
        for i in 0..b.len() {
            let sum: f64 = (0..i).map(|k| self.r[(k, i)] * out[k]).sum();
            out[i] = (out[i] - sum) / self.r[(i, i)];
        }
        out
    }

    /// Whether no constraint is violated and no multiplier negative.
    pub(super) fn is_optimal(&self) -> bool {
        let largest = self.multipliers.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        let negative = |(place, &u): (usize, &f64)| {
            !self.constraints[self.active[place]].equality && u < -1e-10 * (1.0 + largest)
        };
        self.most_violated(1e-12).is_none() && !self.multipliers.iter().enumerate().any(negative)
    }

    /// The multipliers of all constraints, zero for those not active.
    pub(super) fn all_multipliers(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.constraints.len()];
        for (place, &index) in self.active.iter().enumerate() {
            let value = self.multipliers[place];
            let inequality = !self.constraints[index].equality;
            out[index] = if inequality { value.max(0.0) } else { self.signs[place] * value };
        }
        out
    }
}

/// A rotation of the plane that turns (a, b) to (|(a, b)|, 0).
struct Rotation {
    cosine: f64,
    sine: f64,
    length: f64,
}

impl Rotation {
    fn zeroing(a: f64, b: f64) -> Rotation {
        let length = a.hypot(b);
        match length > 0.0 {
            true => Rotation { cosine: a / length, sine: b / length, length },
            false => Rotation { cosine: 1.0, sine: 0.0, length },
        }
    }

    fn apply(&self, a: f64, b: f64) -> (f64, f64) {
        (self.cosine * a + self.sine * b, self.cosine * b - self.sine * a)
    }
}
