//! Newton's method with step halving.
//!
//! The step solves H p = -g by Cholesky after scaling H to a unit diagonal; where H is not safely
//! positive definite a multiple of the identity is added, growing until it is. A step that does not
//! lower the value by 1e-4 of what its slope promises is shortened by interpolation, to between a
//! tenth and a half. Stops when max |g| <= `stop.gradient`, or when g'H⁻¹g / 2 <= `stop.decrease`;
//! in the latter case the last, full step is made, because its error is of second order.
//!
//! Nocedal and Wright (2006), Numerical Optimization, chapter 3.

use super::{Evaluation, Minimizer, Stop, Verdict, check, largest_component};
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::linalg::{Cholesky, add_scaled, dot};
use learnt_derive::Stored;

const DECREASE: f64 = 1e-4;
const HALVINGS: usize = 40;
/// Above this bound of the condition number a solution has no digits left.
const CONDITION: f64 = 1e14;

/// The state of the method.
#[derive(Clone, Debug, Stored)]
pub struct Newton {
    stop: Stop,
    point: Vec<f64>,
    base: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    hessian: Matrix,
    direction: Vec<f64>,
    slope: f64,
    step: f64,
    halvings: usize,
    damped: bool,
    started: bool,
    iterations: usize,
}

impl Newton {
    /// From a start.
    pub fn new(start: Vec<f64>, stop: Stop) -> Self {
        Newton {
            stop,
            base: start.clone(),
            point: start,
            value: f64::INFINITY,
            gradient: Vec::new(),
            hessian: Matrix::default(),
            direction: Vec::new(),
            slope: 0.0,
            step: 1.0,
            halvings: 0,
            damped: false,
            started: false,
            iterations: 0,
        }
    }

    /// The second derivatives where they were last taken (lower triangle).
    pub fn hessian(&self) -> &Matrix {
        &self.hessian
    }

    /// The last full step.
    pub fn direction(&self) -> &[f64] {
        &self.direction
    }

    /// Whether the Hessian at the last accepted point had to be made positive definite.
    pub fn damped(&self) -> bool {
        self.damped
    }

    fn accept(&mut self, at: Evaluation) -> Result<Verdict> {
        let hessian = at.hessian.ok_or_else(|| Error::internal("Newton without a Hessian"))?;
        self.iterations += usize::from(self.started);
        self.started = true;
        self.base.clone_from(&self.point);
        (self.value, self.gradient, self.hessian) = (at.value, at.gradient, hessian);
        (self.direction, self.damped) = newton_direction(&self.hessian, &self.gradient)?;
        self.slope = dot(&self.gradient, &self.direction);
        (self.step, self.halvings) = (1.0, 0);
        if largest_component(&self.gradient) <= self.stop.gradient || self.slope == 0.0 {
            return Ok(Verdict::Converged);
        }
        self.place();
        let promised = -0.5 * self.slope;
        if promised <= self.stop.decrease {
            self.iterations += 1;
            self.value -= promised;
            self.base.clone_from(&self.point);
            return Ok(Verdict::Converged);
        }
        Ok(Verdict::Again)
    }

    fn shorten(&mut self, value: f64) -> Verdict {
        self.halvings += 1;
        if self.halvings > HALVINGS {
            return Verdict::Stalled;
        }
        let bend = value - self.value - self.step * self.slope;
        let best = -0.5 * self.slope * self.step * self.step / bend;
        let inside = if best.is_finite() { best } else { 0.0 };
        self.step = inside.clamp(0.1 * self.step, 0.5 * self.step);
        self.place();
        Verdict::Again
    }

    fn place(&mut self) {
        self.point.clone_from(&self.base);
        add_scaled(&mut self.point, self.step, &self.direction);
    }
}

impl Minimizer for Newton {
    fn point(&self) -> &[f64] {
        &self.point
    }

    fn best(&self) -> &[f64] {
        &self.base
    }

    fn tell(&mut self, at: Evaluation) -> Result<Verdict> {
        check(&at, self.point.len(), !self.started)?;
        let rounding = 4.0 * f64::EPSILON * self.value.abs();
        let bound = self.value + DECREASE * self.step * self.slope + rounding;
        let finite = at.gradient.iter().all(|g| g.is_finite());
        match !self.started || (at.value <= bound && finite) {
            true => self.accept(at),
            false => Ok(self.shorten(at.value)),
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

/// p with H p = -g for the lower triangle of H, and whether H had to be made positive definite.
pub fn newton_direction(hessian: &Matrix, gradient: &[f64]) -> Result<(Vec<f64>, bool)> {
    let d = gradient.len();
    let scale: Vec<f64> = (0..d)
        .map(|i| match hessian[(i, i)].abs().sqrt() {
            root if root > 0.0 && root.is_finite() => root.recip(),
            _ => 1.0,
        })
        .collect();
    let mut ridge = 0.0;
    loop {
        let scaled = Matrix::from_fn(d, d, |i, j| {
            let (low, high) = (i.min(j), i.max(j));
            let ridge = if i == j { ridge } else { 0.0 };
            hessian[(high, low)] * scale[i] * scale[j] + ridge
        });
        let factor = Cholesky::new(&scaled).filter(|f| f.condition_bound() < CONDITION);
        if let Some(factor) = factor {
            let mut p: Vec<f64> = gradient.iter().zip(&scale).map(|(g, s)| -g * s).collect();
            factor.solve_in_place(&mut p);
            p.iter_mut().zip(&scale).for_each(|(p, s)| *p *= s);
            return Ok((p, ridge > 0.0));
        }
        ridge = if ridge == 0.0 { 1e-10 } else { ridge * 100.0 };
        if ridge > 1e12 {
            return Err(Error::numeric("the second derivatives are not finite"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::optimize::{Rules, Stopped, minimize_until};

    const NEVER: Stop = Stop { gradient: 0.0, decrease: 0.0 };

    fn evaluation(value: f64, slope: f64, bend: f64) -> Evaluation {
        let hessian = Some(Matrix::from_fn(1, 1, |_, _| bend));
        Evaluation { value, gradient: vec![slope], hessian }
    }

    #[test]
    fn full_steps_that_overshoot_are_shortened() {
        // √(1 + x²): from 2 the full step goes to -8, and plain Newton diverges.
        let function = |x: &[f64]| {
            let root = (1.0 + x[0] * x[0]).sqrt();
            evaluation(root, x[0] / root, root.powi(-3))
        };
        let mut method = Newton::new(vec![2.0], NEVER);
        let rules = Rules { gradient: Some(1e-10), ..Rules::steps(50) };
        let run = Context::default();
        let found = minimize_until(&mut method, |x| Ok(function(x)), &rules, false, &run).unwrap();
        assert!(found.stopped == Stopped::Gradient && found.x[0].abs() < 1e-10);
        assert!(found.values.windows(2).all(|pair| pair[1] <= pair[0]));
        assert!(found.evaluations > found.iterations + 1);
    }

    #[test]
    fn an_indefinite_hessian_is_made_definite_and_the_step_goes_down() {
        // x⁴ - x²: at 0.1 the curvature is negative; the minimum is at √½.
        let function = |x: &[f64]| {
            let square = x[0] * x[0];
            evaluation(
                square * square - square,
                4.0 * square * x[0] - 2.0 * x[0],
                12.0 * square - 2.0,
            )
        };
        let mut method = Newton::new(vec![0.1], NEVER);
        method.tell(function(&[0.1])).unwrap();
        assert!(method.damped() && method.direction()[0] > 0.0);
        let rules = Rules { gradient: Some(1e-10), ..Rules::steps(100) };
        let run = Context::default();
        let mut method = Newton::new(vec![0.1], NEVER);
        let found = minimize_until(&mut method, |x| Ok(function(x)), &rules, false, &run).unwrap();
        assert!((found.x[0] - 0.5_f64.sqrt()).abs() < 1e-9, "{:?}", found.x);
    }

    #[test]
    fn a_singular_hessian_gives_a_finite_direction() {
        let hessian = Matrix::from_fn(2, 2, |_, _| 1.0);
        let (direction, damped) = newton_direction(&hessian, &[1.0, 1.0]).unwrap();
        assert!(damped && direction.iter().all(|d| d.is_finite()) && direction[0] < 0.0);
        let nothing = Matrix::from_fn(2, 2, |_, _| f64::NAN);
        assert!(newton_direction(&nothing, &[1.0, 1.0]).is_err());
    }
}
