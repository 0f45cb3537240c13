//! L-BFGS: quasi-Newton steps from the last ten changes of point and gradient.
//!
//! The direction is -H g with H the inverse Hessian that the two-loop recursion builds from the
//! remembered pairs on γ I, γ = s'y / y'y of the newest; the step satisfies the strong Wolfe
//! conditions. Pairs without curvature (s'y <= 1e-10 |s| |y|) are not remembered. Stops when
//! max |g| <= `stop.gradient`, or g'Hg / 2, the decrease that a full step promises,
//! <= `stop.decrease`. A problem with a known metric is best given in coordinates where that
//! metric is the identity.
//!
//! Liu and Nocedal (1989), Mathematical Programming 45, 503–528.

use super::line_search::{LineSearch, Outcome};
use super::{Evaluation, Minimizer, Stop, Verdict, check, largest_component};
use crate::error::Result;
use crate::linalg::{add_scaled, dot, norm};
use learnt_derive::Stored;

const MEMORY: usize = 10;

/// The state of the method.
#[derive(Clone, Debug, Stored)]
pub struct Lbfgs {
    stop: Stop,
    first_step: Option<f64>,
    point: Vec<f64>,
    base: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    moves: Vec<Vec<f64>>,
    changes: Vec<Vec<f64>>,
    search: Option<LineSearch>,
    iterations: usize,
}

impl Lbfgs {
    /// From a start.
    pub fn new(start: Vec<f64>, stop: Stop) -> Self {
        Lbfgs {
            stop,
            first_step: None,
            base: start.clone(),
            point: start,
            value: f64::INFINITY,
            gradient: Vec::new(),
            direction: Vec::new(),
            moves: Vec::new(),
            changes: Vec::new(),
            search: None,
            iterations: 0,
        }
    }

    /// The length of the first step along the negative gradient, 1 / |g| by default; 1 is
    /// right where the Hessian at the start is the identity.
    #[must_use]
    pub fn with_first_step(self, step: f64) -> Self {
        Lbfgs { first_step: Some(step), ..self }
    }

    fn accept(&mut self, at: Evaluation) {
        if self.search.is_some() {
            let moved: Vec<f64> = self.point.iter().zip(&self.base).map(|(a, b)| a - b).collect();
            let changed: Vec<f64> =
                at.gradient.iter().zip(&self.gradient).map(|(a, b)| a - b).collect();
            if dot(&moved, &changed) > 1e-10 * norm(&moved) * norm(&changed) {
                if self.moves.len() == MEMORY {
                    self.moves.remove(0);
                    self.changes.remove(0);
                }
                self.moves.push(moved);
                self.changes.push(changed);
            }
            self.iterations += 1;
        }
        self.base.clone_from(&self.point);
        (self.value, self.gradient) = (at.value, at.gradient);
    }

    /// The two-loop recursion.
    fn find_direction(&mut self) {
        let mut d: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        let mut shares = Vec::with_capacity(self.moves.len());
        for (s, y) in self.moves.iter().zip(&self.changes).rev() {
            let share = dot(s, &d) / dot(s, y);
            add_scaled(&mut d, -share, y);
            shares.push(share);
        }
        if let Some((s, y)) = self.moves.last().zip(self.changes.last()) {
            let scale = dot(s, y) / dot(y, y);
            d.iter_mut().for_each(|d| *d *= scale);
        }
        for ((s, y), share) in self.moves.iter().zip(&self.changes).zip(shares.iter().rev()) {
            let correction = share - dot(y, &d) / dot(s, y);
            add_scaled(&mut d, correction, s);
        }
        self.direction = d;
    }

    fn start_search(&mut self) -> Verdict {
        self.find_direction();
        let mut slope = dot(&self.gradient, &self.direction);
        if slope >= 0.0 || !slope.is_finite() {
            self.moves.clear();
            self.changes.clear();
            self.find_direction();
            slope = dot(&self.gradient, &self.direction);
        }
        // Until a pair is known the length of the gradient says nothing about the decrease,
        // unless the caller vouches for the metric.
        let promises = !self.moves.is_empty() || self.first_step == Some(1.0);
        if largest_component(&self.gradient) <= self.stop.gradient
            || slope == 0.0
            || (promises && -0.5 * slope <= self.stop.decrease)
        {
            return Verdict::Converged;
        }
        let step = match self.moves.is_empty() {
            true => self.first_step.unwrap_or(1.0 / norm(&self.gradient)),
            false => 1.0,
        };
        self.search = Some(LineSearch::new(self.value, slope, step));
        self.place(step);
        Verdict::Again
    }

    fn place(&mut self, step: f64) {
        self.point.clone_from(&self.base);
        add_scaled(&mut self.point, step, &self.direction);
    }
}

impl Minimizer for Lbfgs {
    fn point(&self) -> &[f64] {
        &self.point
    }

    fn best(&self) -> &[f64] {
        &self.base
    }

    fn tell(&mut self, at: Evaluation) -> Result<Verdict> {
        check(&at, self.point.len(), self.search.is_none())?;
        let outcome = match &mut self.search {
            None => Outcome::Accept,
            Some(search) => search.tell(at.value, dot(&at.gradient, &self.direction)),
        };
        Ok(match outcome {
            Outcome::Accept => {
                self.accept(at);
                self.start_search()
            }
            Outcome::Again => {
                let step = self.search.as_ref().map_or(0.0, LineSearch::step);
                self.place(step);
                Verdict::Again
            }
            Outcome::Fail => Verdict::Stalled,
        })
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ i x_i² in twenty dimensions, with a term of fourth order.
    fn bowl(x: &[f64]) -> Evaluation {
        let mut gradient = vec![0.0; x.len()];
        let mut value = 0.0;
        for (i, &x) in x.iter().enumerate() {
            let scale = i as f64 + 1.0;
            value += scale * x * x + 0.1 * x.powi(4);
            gradient[i] = 2.0 * scale * x + 0.4 * x.powi(3);
        }
        Evaluation { value, gradient, hessian: None }
    }

    #[test]
    fn ten_pairs_are_remembered_and_every_step_satisfies_strong_wolfe() {
        let never = Stop { gradient: 1e-9, decrease: 0.0 };
        let mut method = Lbfgs::new((0..20).map(|i| 1.0 + (i % 3) as f64).collect(), never);
        let mut before: Option<(Vec<f64>, Evaluation)> = None;
        loop {
            let steps = method.iterations();
            let verdict = method.tell(bowl(method.point())).unwrap();
            if method.iterations() > steps || before.is_none() {
                let at = bowl(method.best());
                if let Some((from, start)) = before {
                    let moved: Vec<f64> =
                        method.best().iter().zip(&from).map(|(a, b)| a - b).collect();
                    let (slope, end) = (dot(&start.gradient, &moved), dot(&at.gradient, &moved));
                    assert!(at.value <= start.value + 1e-4 * slope + 1e-12);
                    assert!(end.abs() <= 0.9 * slope.abs() + 1e-12);
                }
                before = Some((method.best().to_vec(), at));
            }
            assert!(method.moves.len() <= MEMORY && method.moves.len() == method.changes.len());
            if verdict != Verdict::Again {
                assert_eq!(verdict, Verdict::Converged);
                break;
            }
        }
        assert_eq!(method.moves.len(), MEMORY);
        assert!(method.best().iter().all(|x| x.abs() < 1e-8));
    }
}
