//! Newton's method inside a box.
//!
//! Coordinates at a bound that the gradient pushes against are held; the others take the Newton
//! step of their own block of the Hessian, made positive definite where it is not, and the path is
//! bent along the box. A step that does not lower the value by 1e-4 of what the bent step promises
//! is halved; the gradient it reports is zero in held coordinates. Stops when its largest component
//! is at most `stop.gradient`, or after the step that promises at most `stop.decrease`.
//!
//! Bertsekas (1982), SIAM Journal on Control and Optimization 20, 221–246.

use super::derivative::Bounds;
use super::{Evaluation, Minimizer, Stop, Verdict, check, largest_component, newton_direction};
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::linalg::dot;

const DECREASE: f64 = 1e-4;
const HALVINGS: usize = 60;

/// The state of the method.
#[derive(Clone, Debug)]
pub struct BoundedNewton {
    stop: Stop,
    bounds: Bounds,
    point: Vec<f64>,
    base: Vec<f64>,
    value: f64,
    whole_gradient: Vec<f64>,
    /// Zero in coordinates that a bound holds.
    gradient: Vec<f64>,
    hessian: Matrix,
    direction: Vec<f64>,
    step: f64,
    halvings: usize,
    last: bool,
    started: bool,
    iterations: usize,
}

impl BoundedNewton {
    /// From a start, which is moved into the box.
    pub fn new(start: Vec<f64>, bounds: Bounds, stop: Stop) -> Result<Self> {
        bounds.check(start.len())?;
        let start: Vec<f64> = start.iter().enumerate().map(|(j, &x)| bounds.clamp(j, x)).collect();
        Ok(BoundedNewton {
            stop,
            bounds,
            base: start.clone(),
            point: start,
            value: f64::INFINITY,
            whole_gradient: Vec::new(),
            gradient: Vec::new(),
            hessian: Matrix::default(),
            direction: Vec::new(),
            step: 1.0,
            halvings: 0,
            last: false,
            started: false,
            iterations: 0,
        })
    }

    /// Which coordinates lie on a bound.
    pub fn at_bound(&self) -> Vec<bool> {
        let ends = self.bounds.lower.iter().zip(&self.bounds.upper);
        self.base.iter().zip(ends).map(|(x, (low, high))| x <= low || x >= high).collect()
    }

    /// The second derivatives where they were last taken.
    pub fn hessian(&self) -> &Matrix {
        &self.hessian
    }

    fn accept(&mut self, at: Evaluation) -> Result<Verdict> {
        let hessian = at.hessian.ok_or_else(|| Error::internal("Newton without a Hessian"))?;
        self.iterations += usize::from(self.started);
        self.started = true;
        self.base.clone_from(&self.point);
        (self.value, self.whole_gradient, self.hessian) = (at.value, at.gradient, hessian);
        let free = self.free();
        self.gradient = vec![0.0; self.base.len()];
        free.iter().for_each(|&j| self.gradient[j] = self.whole_gradient[j]);
        if self.last || largest_component(&self.gradient) <= self.stop.gradient {
            return Ok(Verdict::Converged);
        }
        self.aim(&free)?;
        let promised = -0.5 * dot(&self.whole_gradient, &self.direction);
        self.last = promised <= self.stop.decrease;
        (self.step, self.halvings) = (1.0, 0);
        self.place();
        Ok(if self.point == self.base { Verdict::Converged } else { Verdict::Again })
    }

    /// Coordinates that are not pushed against a bound they lie on.
    fn free(&self) -> Vec<usize> {
        (0..self.base.len())
            .filter(|&j| {
                let (x, g) = (self.base[j], self.whole_gradient[j]);
                !(x <= self.bounds.lower[j] && g >= 0.0 || x >= self.bounds.upper[j] && g <= 0.0)
            })
            .collect()
    }

    /// The Newton direction of the free coordinates, zero for the others.
    fn aim(&mut self, free: &[usize]) -> Result<()> {
        let block = Matrix::from_fn(free.len(), free.len(), |i, j| {
            let (a, b) = (free[i], free[j]);
            self.hessian[(a.max(b), a.min(b))]
        });
        let slope: Vec<f64> = free.iter().map(|&j| self.whole_gradient[j]).collect();
        let (direction, _) = newton_direction(&block, &slope)?;
        self.direction = vec![0.0; self.base.len()];
        free.iter().zip(direction).for_each(|(&j, d)| self.direction[j] = d);
        Ok(())
    }

    fn place(&mut self) {
        for j in 0..self.base.len() {
            let wanted = self.base[j] + self.step * self.direction[j];
            self.point[j] = self.bounds.clamp(j, wanted);
        }
    }

    fn shorten(&mut self) -> Verdict {
        self.halvings += 1;
        if self.last {
            return Verdict::Converged;
        }
        if self.halvings > HALVINGS {
            return Verdict::Stalled;
        }
        self.step *= 0.5;
        self.place();
        Verdict::Again
    }

    /// Whether the value has fallen enough along the bent path.
    fn acceptable(&self, value: f64) -> bool {
        if !self.started {
            return true;
        }
        let promised: f64 = (0..self.base.len())
            .map(|j| self.whole_gradient[j] * (self.point[j] - self.base[j]))
            .sum();
        let rounding = 8.0 * f64::EPSILON * self.value.abs();
        value <= self.value + DECREASE * promised.min(0.0) + rounding
    }
}

impl Minimizer for BoundedNewton {
    fn point(&self) -> &[f64] {
        &self.point
    }

    fn best(&self) -> &[f64] {
        &self.base
    }

    fn tell(&mut self, at: Evaluation) -> Result<Verdict> {
        check(&at, self.point.len(), !self.started)?;
        let finite = at.value.is_finite() && at.gradient.iter().all(|g| g.is_finite());
        match finite && self.acceptable(at.value) {
            true => self.accept(at),
            false => Ok(self.shorten()),
        }
    }

    fn iterations(&self) -> usize {
        self.iterations
    }

    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    fn needs_hessian(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::optimize::minimize;

    /// (a - 2)² + (b + 1)² + ab / 2.
    fn bowl(x: &[f64]) -> Evaluation {
        let (a, b) = (x[0], x[1]);
        Evaluation {
            value: (a - 2.0).powi(2) + (b + 1.0).powi(2) + 0.5 * a * b,
            gradient: vec![2.0 * (a - 2.0) + 0.5 * b, 2.0 * (b + 1.0) + 0.5 * a],
            hessian: Matrix::from_rows(&[[2.0, 0.5], [0.5, 2.0]]).ok(),
        }
    }

    fn solve(bounds: Bounds, start: Vec<f64>) -> BoundedNewton {
        let stop = Stop { gradient: 1e-12, decrease: 0.0 };
        let mut method = BoundedNewton::new(start, bounds, stop).unwrap();
        let run = Context::default();
        assert!(minimize(&mut method, |x| Ok(bowl(x)), 50, &run).unwrap().converged);
        method
    }

    #[test]
    fn the_minimum_in_a_box_by_hand() {
        // b is held at 0, so a = 2.
        let bounds = Bounds { lower: vec![f64::NEG_INFINITY, 0.0], upper: vec![f64::INFINITY; 2] };
        for start in [vec![5.0, 5.0], vec![-5.0, 0.0], vec![0.0, -3.0]] {
            let method = solve(bounds.clone(), start);
            assert!((method.best()[0] - 2.0).abs() < 1e-12 && method.best()[1] == 0.0);
            assert_eq!(method.at_bound(), [false, true]);
        }
    }

    #[test]
    fn without_bounds_a_quadratic_takes_one_step() {
        let method = solve(Bounds::free(2), vec![0.0, 0.0]);
        assert_eq!(method.iterations(), 1);
    }
}
