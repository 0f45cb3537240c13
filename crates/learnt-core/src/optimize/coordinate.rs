//! Coordinate descent: one coordinate at a time, in turn, to its minimum with the others fixed.
//!
//! x_j ← argmin_t f(x₁, …, x_{j-1}, t, x_{j+1}, …)  for j = 1, …, d; a step of the search is a whole
//! turn. The one-dimensional minimum is a formula of the caller's, or found by bracketing and
//! Brent's method between the bounds. Ascent is descent of -f. Rules about the gradient do not
//! apply; a function that is not smooth may stop where no single coordinate can improve.
//!
//! An equality constraint that ties coordinates lets none of them move alone, so such problems are
//! refused: move pairs, as sequential minimal optimisation does, or solve a quadratic programme.

use super::derivative::Bounds;
use super::rules::Watch;
use super::univariate::{bracket, brent};
use super::{Minimum, Rules, Stopped};
use crate::context::Context;
use crate::data::MatRef;
use crate::error::{Error, Result};

/// A problem for coordinate descent.
#[derive(Clone, Debug)]
pub struct CoordinateDescent<'a> {
    /// When to stop; a step is one turn over all coordinates.
    pub rules: Rules,
    /// The box that coordinates stay in.
    pub bounds: Option<Bounds>,
    /// Equality constraints of the problem, one a row, as coefficients of the coordinates.
    pub equalities: Option<MatRef<'a>>,
    /// Whether the path keeps the point after every single coordinate.
    pub keep_path: bool,
}

impl Default for CoordinateDescent<'_> {
    /// 1000 turns, or a turn that changes the point by at most 1e-8.
    fn default() -> Self {
        let rules = Rules { change: Some(1e-8), ..Rules::steps(1000) };
        CoordinateDescent { rules, bounds: None, equalities: None, keep_path: false }
    }
}

impl CoordinateDescent<'_> {
    /// Minimises with a formula for the exact step: `step(x, j)` is the best value of coordinate j.
    ///
    /// ```
    /// use learnt_core::context::Context;
    /// use learnt_core::optimize::CoordinateDescent;
    /// // a² + b² + ab - 3a, whose minimum is at (2, -1).
    /// let value = |x: &[f64]| Ok(x[0] * x[0] + x[1] * x[1] + x[0] * x[1] - 3.0 * x[0]);
    /// let step = |x: &[f64], j: usize| Ok(if j == 0 { (3.0 - x[1]) / 2.0 } else { -x[0] / 2.0 });
    /// let method = CoordinateDescent::default();
    /// let found = method.minimize_by(vec![0.0, 0.0], value, step, &Context::default())?;
    /// assert!((found.x[0] - 2.0).abs() < 1e-8 && (found.value + 3.0).abs() < 1e-12);
    /// # Ok::<(), learnt_core::error::Error>(())
    /// ```
    pub fn minimize_by(
        &self,
        start: Vec<f64>,
        mut value: impl FnMut(&[f64]) -> Result<f64>,
        mut step: impl FnMut(&[f64], usize) -> Result<f64>,
        run: &Context,
    ) -> Result<Minimum> {
        self.check(&start)?;
        let mut watch = Watch::new(&self.rules, self.keep_path, run)?;
        let mut x = start;
        let mut current = finite(value(&x)?, "the start")?;
        let mut evaluations = 1;
        let mut fired = watch.see(&x, current, None)?;
        while fired.is_none() {
            for j in 0..x.len() {
                let wanted = step(&x, j)?;
                if !wanted.is_finite() {
                    let stopped = Stopped::Diverged;
                    return Ok(watch.finish(x, current, Vec::new(), evaluations, stopped));
                }
                x[j] = self.bounds.as_ref().map_or(wanted, |bounds| bounds.clamp(j, wanted));
                // The last coordinate's point is seen with the whole turn.
                if j + 1 < x.len() {
                    watch.pass(&x);
                }
            }
            current = finite(value(&x)?, "a minimum along a coordinate")?;
            evaluations += 1;
            fired = watch.see(&x, current, None)?;
        }
        let stopped = fired.unwrap_or(Stopped::Converged);
        Ok(watch.finish(x, current, Vec::new(), evaluations, stopped))
    }

    /// Minimises by values alone.
    pub fn minimize(
        &self,
        start: Vec<f64>,
        value: impl FnMut(&[f64]) -> Result<f64>,
        run: &Context,
    ) -> Result<Minimum> {
        let evaluations = std::cell::Cell::new(0);
        let value = std::cell::RefCell::new(value);
        let count = |x: &[f64]| {
            evaluations.set(evaluations.get() + 1);
            value.borrow_mut()(x)
        };
        let mut sizes = vec![0.1; start.len()];
        let step = |x: &[f64], j: usize| {
            run.checkpoint()?;
            let best = self.along(count, x, j, sizes[j])?;
            // The next bracket starts from steps of the size that this one needed.
            sizes[j] = (best - x[j]).abs().clamp(1e-6 * x[j].abs().max(1e-3), 1e6);
            Ok(best)
        };
        let found = self.minimize_by(start, count, step, run)?;
        Ok(Minimum { evaluations: evaluations.get(), ..found })
    }

    /// The minimum along coordinate j, never worse than where it stands.
    fn along(
        &self,
        mut value: impl FnMut(&[f64]) -> Result<f64>,
        x: &[f64],
        j: usize,
        size: f64,
    ) -> Result<f64> {
        let mut point = x.to_vec();
        let here = value(x)?;
        let inside = |t: f64| self.bounds.as_ref().map_or(t, |bounds| bounds.clamp(j, t));
        let mut at = |t: f64| {
            point[j] = inside(t);
            value(&point)
        };
        let (low, high) =
            bracket(&mut at, x[j], size).map_err(|e| e.within(&format!("coordinate {j}")))?;
        let found = brent(&mut at, low, high, 1e-10)?;
        Ok(if found.value < here { inside(found.x) } else { x[j] })
    }

    fn check(&self, start: &[f64]) -> Result<()> {
        if let Some(bounds) = &self.bounds {
            bounds.check(start.len())?;
        }
        let Some(equalities) = self.equalities else { return Ok(()) };
        if equalities.ncols() != start.len() {
            let expected = format!("{} coefficients", start.len());
            return Err(Error::shape("equality constraint", expected, equalities.ncols()));
        }
        for i in 0..equalities.nrows() {
            let tied: Vec<usize> =
                (0..start.len()).filter(|&j| equalities.at(i, j) != 0.0).collect();
            if let [first, second, ..] = tied[..] {
                return Err(Error::unsupported(format!(
                    "equality constraint {i} ties coordinates {first} and {second}, so neither can move alone"
                ))
                .hint("use quadratic_program, or move pairs of coordinates (SMO)"));
            }
            if let [only] = tied[..] {
                return Err(Error::unsupported(format!(
                    "equality constraint {i} fixes coordinate {only}"
                ))
                .hint("set it as the start and leave it out of the problem"));
            }
        }
        Ok(())
    }
}

fn finite(value: f64, place: &str) -> Result<f64> {
    match value.is_finite() {
        true => Ok(value),
        false => Err(Error::numeric(format!("the function is {value} at {place}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::error::Code;

    /// a² + b² + ab - 3a.
    fn bowl(x: &[f64]) -> Result<f64> {
        Ok(x[0] * x[0] + x[1] * x[1] + x[0] * x[1] - 3.0 * x[0])
    }

    #[test]
    fn by_values_alone_the_minimum_is_the_same() {
        let run = Context::default();
        let method = CoordinateDescent { keep_path: true, ..CoordinateDescent::default() };
        let found = method.minimize(vec![0.0, 0.0], bowl, &run).unwrap();
        assert!((found.x[0] - 2.0).abs() < 1e-6 && (found.x[1] + 1.0).abs() < 1e-6);
        assert!(found.values.windows(2).all(|pair| pair[1] <= pair[0]));
        let path = found.path.unwrap();
        assert!((path[(1, 0)] - 1.5).abs() < 1e-7 && path[(1, 1)] == 0.0);
        assert_eq!(path.nrows(), 2 * found.iterations + 1);
    }

    #[test]
    fn tied_coordinates_are_refused() {
        let tie = Matrix::from_rows(&[[1.0, 1.0]]).unwrap();
        let method = CoordinateDescent { equalities: Some(tie.view()), ..Default::default() };
        let error = method.minimize(vec![0.0, 0.0], bowl, &Context::default()).unwrap_err();
        assert_eq!(error.code(), Code::Unsupported);
        assert!(error.message().contains("ties coordinates 0 and 1"));
    }

    #[test]
    fn bounds_hold_and_the_bound_is_reached() {
        let bounds = Bounds { lower: vec![0.0, 0.0], upper: vec![1.0, 5.0] };
        let method = CoordinateDescent { bounds: Some(bounds), ..Default::default() };
        let found = method.minimize(vec![0.5, 0.5], bowl, &Context::default()).unwrap();
        assert!((found.x[0] - 1.0).abs() < 1e-6 && found.x[1].abs() < 1e-6, "{:?}", found.x);
    }

    #[test]
    fn an_objective_without_a_minimum_is_an_error() {
        let method = CoordinateDescent::default();
        let slope = |x: &[f64]| Ok(-x[0]);
        assert!(method.minimize(vec![0.0], slope, &Context::default()).is_err());
    }
}
