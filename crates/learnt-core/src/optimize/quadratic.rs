//! Small convex quadratic programmes.
//!
//! Minimises ½ x'Qx + c'x subject to A_eq x = b_eq, A_ub x <= b_ub and bounds, for up to a few
//! hundred variables. A positive definite Q goes to the dual active-set method directly. A singular
//! one takes proximal steps, x ← argmin ½ x'Qx + c'x + δ/2 |x - x'|² with δ = 1e-5 of its mean
//! diagonal, until the active constraints are those of the minimum; a direction without curvature
//! along which the objective falls is followed up to the first constraint, and where none stops it
//! there is no minimum. No solution is returned whose stationarity is off by more than 1e-8 of its
//! terms.
//!
//! Multipliers belong to L = f + Σ a (A_ub x - b_ub) + Σ b (A_eq x - b_eq) + bounds alike.

use super::derivative::Bounds;
use super::dual_active_set::{Constraint, Normal, Outcome, State, solve};
use crate::context::Context;
use crate::data::{MatRef, Matrix};
use crate::error::{Code, Error, Result};
use crate::linalg::{Cholesky, add_scaled, dot, eigh, gram, matvec, norm};

const PROXIMAL: f64 = 1e-5;
const PROXIMAL_STEPS: usize = 500;
const CONDITION: f64 = 1e12;

/// A quadratic programme; parts that are left out constrain nothing.
#[derive(Clone, Debug)]
pub struct QuadraticProgram {
    /// Q, symmetric and positive semidefinite.
    pub quadratic: Matrix,
    /// c.
    pub linear: Vec<f64>,
    /// A_eq and b_eq.
    pub equalities: Option<(Matrix, Vec<f64>)>,
    /// A_ub and b_ub.
    pub inequalities: Option<(Matrix, Vec<f64>)>,
    /// Lower and upper bounds.
    pub bounds: Option<Bounds>,
}

/// What came of a programme.
#[derive(Clone, Debug)]
pub enum Programme {
    /// It has a minimum.
    Solved(QuadraticSolution),
    /// No point meets all constraints.
    Infeasible,
    /// The objective falls for ever along this direction.
    Unbounded(Vec<f64>),
}

/// A minimum with its multipliers.
#[derive(Clone, Debug)]
pub struct QuadraticSolution {
    /// The point.
    pub x: Vec<f64>,
    /// ½ x'Qx + c'x there.
    pub value: f64,
    /// Multipliers of the equalities.
    pub equalities: Vec<f64>,
    /// Multipliers of the inequalities, zero or positive.
    pub inequalities: Vec<f64>,
    /// Multipliers of the lower bounds, zero or positive.
    pub lower: Vec<f64>,
    /// Multipliers of the upper bounds, zero or positive.
    pub upper: Vec<f64>,
}

impl Programme {
    /// The solution, or an error that says why there is none.
    pub fn solution(self) -> Result<QuadraticSolution> {
        match self {
            Programme::Solved(solution) => Ok(solution),
            Programme::Infeasible => Err(Error::numeric(
                "the quadratic programme is infeasible: no point meets all constraints",
            )),
            Programme::Unbounded(_) => Err(Error::numeric(
                "the quadratic programme is unbounded: the objective falls for ever",
            )),
        }
    }
}

impl QuadraticProgram {
    /// Without constraints.
    pub fn new(quadratic: Matrix, linear: Vec<f64>) -> Self {
        QuadraticProgram { quadratic, linear, equalities: None, inequalities: None, bounds: None }
    }

    /// Over the simplex x >= 0, Σ x = 1.
    ///
    /// ```
    /// use learnt_core::context::Context;
    /// use learnt_core::data::Matrix;
    /// use learnt_core::optimize::QuadraticProgram;
    /// let identity = Matrix::from_fn(2, 2, |i, j| f64::from(i == j));
    /// let solution = QuadraticProgram::simplex(identity, vec![0.0, -0.5])
    ///     .solve(&Context::default())?
    ///     .solution()?;
    /// assert!((solution.x[0] - 0.25).abs() < 1e-12 && (solution.x[1] - 0.75).abs() < 1e-12);
    /// # Ok::<(), learnt_core::error::Error>(())
    /// ```
    pub fn simplex(quadratic: Matrix, linear: Vec<f64>) -> Self {
        let n = linear.len();
        let ones = Matrix::from_fn(1, n, |_, _| 1.0);
        let bounds = Bounds { lower: vec![0.0; n], upper: vec![f64::INFINITY; n] };
        let problem = Self::new(quadratic, linear);
        QuadraticProgram { equalities: Some((ones, vec![1.0])), bounds: Some(bounds), ..problem }
    }

    /// |Xb - y|² over b >= 0, halved and without its constant.
    pub fn nonnegative_least_squares(x: MatRef, y: &[f64]) -> Self {
        let linear = matvec(x.transposed(), y).iter().map(|v| -v).collect();
        let n = x.ncols();
        let bounds = Bounds { lower: vec![0.0; n], upper: vec![f64::INFINITY; n] };
        QuadraticProgram { bounds: Some(bounds), ..Self::new(gram(x), linear) }
    }

    /// Solves it.
    pub fn solve(&self, run: &Context) -> Result<Programme> {
        self.check()?;
        let constraints = self.constraints();
        let unmet = |c: &&Constraint| {
            let met = if c.equality { c.bound == 0.0 } else { c.bound <= 0.0 };
            c.normal.length() == 0.0 && !met
        };
        if constraints.iter().any(|c| unmet(&c)) {
            return Ok(Programme::Infeasible);
        }
        let curvature = eigh(&self.quadratic)?.values;
        let (largest, least) = (curvature[0].max(0.0), curvature[curvature.len() - 1]);
        if least < -1e-9 * largest || (largest == 0.0 && least < 0.0) {
            return Err(Error::numeric(format!(
                "the programme is not convex: the smallest eigenvalue of Q is {least:.3e}"
            )));
        }
        let definite = least * CONDITION > largest;
        if let Some(factor) = Cholesky::new(&self.quadratic).filter(|_| definite) {
            match solve(&self.quadratic, &factor, &self.linear, &constraints, run)? {
                Outcome::Infeasible => return Ok(Programme::Infeasible),
                Outcome::Solved(active) if active.is_optimal() => return self.finish(&active),
                Outcome::Solved(_) => {}
            }
        }
        self.proximal(&constraints, run)
    }

    /// Repeats the programme with a little more curvature around the last point.
    fn proximal(&self, constraints: &[Constraint], run: &Context) -> Result<Programme> {
        let n = self.linear.len();
        let trace: f64 = (0..n).map(|i| self.quadratic[(i, i)]).sum();
        let size = if trace > 0.0 { trace / n as f64 } else { norm(&self.linear).max(1.0) };
        let delta = PROXIMAL * size;
        let raised =
            Matrix::from_fn(n, n, |i, j| self.quadratic[(i, j)] + if i == j { delta } else { 0.0 });
        let factor = Cholesky::new(&raised)
            .ok_or_else(|| Error::numeric("Q is not positive semidefinite"))?;
        let mut x = vec![0.0; n];
        for _ in 0..PROXIMAL_STEPS {
            let mut linear = self.linear.clone();
            add_scaled(&mut linear, -delta, &x);
            let Outcome::Solved(mut active) = solve(&raised, &factor, &linear, constraints, run)?
            else {
                return Ok(Programme::Infeasible);
            };
            let next = active.x.clone();
            active.refine(&self.quadratic, &self.linear);
            if active.is_optimal() && self.is_stationary(&active) {
                return self.finish(&active);
            }
            let step: Vec<f64> = next.iter().zip(&x).map(|(a, b)| a - b).collect();
            x = next;
            match self.reach(&x, &step, constraints) {
                None => {}
                Some(far) if far.is_finite() => add_scaled(&mut x, far, &step),
                Some(_) => return Ok(Programme::Unbounded(step)),
            }
        }
        Err(Error::numeric(format!("no minimum was found in {PROXIMAL_STEPS} proximal steps"))
            .hint("scale the variables and constraints to similar sizes"))
    }

    /// How many times a step can be repeated before a constraint stops it, if it has no curvature
    /// and the objective falls along it.
    fn reach(&self, x: &[f64], direction: &[f64], constraints: &[Constraint]) -> Option<f64> {
        let length = norm(direction);
        let d: Vec<f64> = direction.iter().map(|v| v / length).collect();
        let largest = self.quadratic.as_slice().iter().fold(0.0_f64, |m, q| m.max(q.abs()));
        let curved = norm(&matvec(self.quadratic.view(), &d)) > 1e-9 * largest;
        if curved || dot(&self.linear, &d) >= -1e-9 * norm(&self.linear) {
            return None;
        }
        let mut farthest = f64::INFINITY;
        for constraint in constraints.iter().filter(|c| c.normal.length() > 0.0) {
            let size = constraint.normal.length();
            let rate = constraint.normal.dot(&d) / size;
            if constraint.equality && rate.abs() > 1e-9 {
                return None;
            }
            if !constraint.equality && rate < -1e-9 {
                let slack = (constraint.normal.dot(x) - constraint.bound).max(0.0) / size;
                farthest = farthest.min(slack / (-rate * length));
            }
        }
        Some(farthest)
    }

    fn is_stationary(&self, active: &State) -> bool {
        let solution = self.describe(active);
        self.prove(&solution).is_ok()
    }

    fn finish(&self, active: &State) -> Result<Programme> {
        let solution = self.describe(active);
        self.prove(&solution)?;
        Ok(Programme::Solved(solution))
    }

    fn describe(&self, active: &State) -> QuadraticSolution {
        let (x, multipliers) = (active.x.clone(), active.all_multipliers());
        let n = x.len();
        let mut solution = QuadraticSolution {
            value: 0.5 * dot(&x, &matvec(self.quadratic.view(), &x)) + dot(&self.linear, &x),
            x,
            equalities: Vec::new(),
            inequalities: Vec::new(),
            lower: vec![0.0; n],
            upper: vec![0.0; n],
        };
        let mut rest = multipliers.iter();
        let mut take = |count: usize| -> Vec<f64> { rest.by_ref().take(count).copied().collect() };
        let count = |part: &Option<(Matrix, Vec<f64>)>| part.as_ref().map_or(0, |(_, b)| b.len());
        solution.equalities = take(count(&self.equalities)).iter().map(|u| -u).collect();
        solution.inequalities = take(count(&self.inequalities));
        if let Some(bounds) = &self.bounds {
            for j in 0..n {
                if bounds.lower[j].is_finite() {
                    solution.lower[j] = take(1).first().copied().unwrap_or(0.0);
                    solution.x[j] = solution.x[j].max(bounds.lower[j]);
                }
                if bounds.upper[j].is_finite() {
                    solution.upper[j] = take(1).first().copied().unwrap_or(0.0);
                    solution.x[j] = solution.x[j].min(bounds.upper[j]);
                }
            }
        }
        solution
    }

    /// Refuses a solution whose stationarity is off by more than 1e-8 of its terms.
    fn prove(&self, solution: &QuadraticSolution) -> Result<()> {
        let curve = matvec(self.quadratic.view(), &solution.x);
        let mut sum: Vec<f64> = curve.iter().zip(&self.linear).map(|(a, b)| a + b).collect();
        let mut size = norm(&curve) + norm(&self.linear) + norm(&solution.lower);
        let parts = [
            (&self.equalities, &solution.equalities),
            (&self.inequalities, &solution.inequalities),
        ];
        for (part, multipliers) in parts {
            let Some((rows, _)) = part else { continue };
            for (row, &multiplier) in rows.rows().zip(multipliers) {
                add_scaled(&mut sum, multiplier, row);
                size += multiplier.abs() * norm(row);
            }
        }
        add_scaled(&mut sum, -1.0, &solution.lower);
        add_scaled(&mut sum, 1.0, &solution.upper);
        let terms = |row: &[f64]| row.iter().zip(&solution.x).map(|(q, x)| (q * x).abs()).sum();
        let rounding: Vec<f64> = self.quadratic.rows().map(terms).collect();
        match norm(&sum) <= 1e-8 * size + 1e-12 * norm(&rounding) {
            true => Ok(()),
            false => Err(Error::numeric(format!(
                "the quadratic programme could not be solved: stationarity is off by {:.3e}",
                norm(&sum)
            ))
            .hint("scale the variables and constraints to similar sizes")),
        }
    }

    /// Equalities, inequalities, then the finite bounds of every variable, as n'x >= b.
    fn constraints(&self) -> Vec<Constraint> {
        let mut out = Vec::new();
        if let Some((rows, values)) = &self.equalities {
            out.extend(rows.rows().zip(values).map(|(row, &bound)| Constraint {
                normal: Normal::Row(row.to_vec()),
                bound,
                equality: true,
            }));
        }
        if let Some((rows, values)) = &self.inequalities {
            out.extend(rows.rows().zip(values).map(|(row, &bound)| Constraint {
                normal: Normal::Row(row.iter().map(|v| -v).collect()),
                bound: -bound,
                equality: false,
            }));
        }
        let Some(bounds) = &self.bounds else { return out };
        for (j, (&low, &high)) in bounds.lower.iter().zip(&bounds.upper).enumerate() {
            let mut push = |sign: f64, bound: f64| {
                let normal = Normal::Coordinate(j, sign);
                out.push(Constraint { normal, bound, equality: false });
            };
            if low.is_finite() {
                push(1.0, low);
            }
            if high.is_finite() {
                push(-1.0, -high);
            }
        }
        out
    }

    fn check(&self) -> Result<()> {
        let n = self.linear.len();
        let q = &self.quadratic;
        if n == 0 {
            return Err(Error::new(Code::Empty, "a quadratic programme without variables"));
        }
        if (q.nrows(), q.ncols()) != (n, n) {
            let got = format!("{} x {}", q.nrows(), q.ncols());
            return Err(Error::shape("Q", format!("{n} x {n}, as c has {n} values"), got));
        }
        let largest = q.as_slice().iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        for i in 0..n {
            for j in 0..i {
                if (q[(i, j)] - q[(j, i)]).abs() > 1e-9 * largest {
                    return Err(Error::parameter(
                        "Q",
                        "symmetric",
                        format!("{} and {}", q[(i, j)], q[(j, i)]),
                    )
                    .hint("use (Q + Q') / 2"));
                }
            }
        }
        let mut numbers = q.as_slice().iter().chain(&self.linear);
        if numbers.any(|v| !v.is_finite()) {
            return Err(Error::new(Code::NotFinite, "Q and c must be finite"));
        }
        for (name, part) in [("A_eq", &self.equalities), ("A_ub", &self.inequalities)] {
            let Some((rows, values)) = part else { continue };
            if rows.ncols() != n || rows.nrows() != values.len() {
                let got = format!("{} x {}", rows.nrows(), rows.ncols());
                return Err(Error::shape(name, format!("{} x {n}", values.len()), got));
            }
            if rows.as_slice().iter().chain(values).any(|v| !v.is_finite()) {
                return Err(Error::new(Code::NotFinite, format!("{name} must be finite")));
            }
        }
        self.bounds.as_ref().map_or(Ok(()), |bounds| bounds.check(n))
    }
}

#[cfg(test)]
mod tests;
