//! Maximum likelihood for any density: estimates, information, standard errors, intervals.
//!
//! Maximises ℓ(θ) = Σ_i ln p_θ(y_i) by Newton's method inside the bounds, until a step promises
//! less than `tol`, which is half the squared distance to the maximum in standard errors. Scores
//! s_i = ∂ ln p_θ(y_i) and the Hessian are the caller's, or central differences whose steps are
//! fitted to the curvature. Observed information -∂²ℓ, outer product Σ s_i s_i', or the expected
//! information of the caller; standard errors √diag I⁻¹; intervals θ ± z √diag I⁻¹. At a bound
//! none of this holds: such parameters have none, and there is a warning.
//!
//! Efron and Hinkley (1978), Biometrika 65, 457–487.

use super::derivative::{Bounds, hessian_by_steps, jacobian_by_steps};
use super::{BoundedNewton, Evaluation, Rules, Stop, Stopped, minimize_until};
use crate::context::Context;
use crate::data::Matrix;
use crate::error::{Code, Error, Result};
use crate::linalg::{Cholesky, gram};
use crate::stats::distribution::{Continuous, Normal};
use crate::stats::summary::sum;

/// The log-density of every observation at θ.
pub type LogDensity<'a> = Box<dyn FnMut(&[f64]) -> Result<Vec<f64>> + 'a>;
/// A matrix at θ.
pub type MatrixOf<'a> = Box<dyn FnMut(&[f64]) -> Result<Matrix> + 'a>;

/// What is known of a model; only the log-density is needed.
pub struct Likelihood<'a> {
    /// ln p_θ(y_i), one value an observation.
    pub log_density: LogDensity<'a>,
    /// Its derivatives by θ, one row an observation.
    pub score: Option<MatrixOf<'a>>,
    /// The second derivatives of ℓ, the sum.
    pub hessian: Option<MatrixOf<'a>>,
    /// The expected information of all observations.
    pub expected: Option<MatrixOf<'a>>,
}

/// Where standard errors come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Information {
    /// -∂²ℓ at the maximum.
    Observed,
    /// Σ s_i s_i'.
    OuterProduct,
    /// What the model says.
    Expected,
}

/// How the likelihood is maximised.
#[derive(Clone, Debug)]
pub struct MaximumLikelihood {
    /// The box of the parameters.
    pub bounds: Option<Bounds>,
    /// Coverage of the intervals.
    pub level: f64,
    /// Where standard errors come from.
    pub information: Information,
    /// Steps at most.
    pub max_iter: usize,
    /// Increase of ℓ that is not worth a step.
    pub tol: f64,
}

impl Default for MaximumLikelihood {
    /// No bounds, 95 %, observed information, 100 steps, 1e-12.
    fn default() -> Self {
        MaximumLikelihood {
            bounds: None,
            level: 0.95,
            information: Information::Observed,
            max_iter: 100,
            tol: 1e-12,
        }
    }
}

/// Estimates and what they are worth.
#[derive(Clone, Debug)]
pub struct LikelihoodFit {
    /// The estimates.
    pub theta: Vec<f64>,
    /// ℓ there.
    pub log_likelihood: f64,
    /// ∂ℓ there.
    pub score: Vec<f64>,
    /// -∂²ℓ there.
    pub observed: Matrix,
    /// Σ s_i s_i' there.
    pub outer_product: Matrix,
    /// The model's information there, if it gave one.
    pub expected: Option<Matrix>,
    /// Inverse of the chosen information, zero for parameters at a bound; nothing if it has none.
    pub covariance: Option<Matrix>,
    /// Standard errors; nothing at a bound.
    pub standard_errors: Vec<Option<f64>>,
    /// Intervals; nothing at a bound.
    pub intervals: Vec<Option<(f64, f64)>>,
    /// Which parameters are at a bound.
    pub at_bound: Vec<bool>,
    /// Steps made.
    pub iterations: usize,
    /// Which rule ended it.
    pub stopped: Stopped,
}

impl<'a> Likelihood<'a> {
    /// From a log-density alone.
    pub fn new(log_density: impl FnMut(&[f64]) -> Result<Vec<f64>> + 'a) -> Self {
        Likelihood {
            log_density: Box::new(log_density),
            score: None,
            hessian: None,
            expected: None,
        }
    }
}

impl MaximumLikelihood {
    /// Maximises from a start.
    ///
    /// ```
    /// use learnt_core::context::Context;
    /// use learnt_core::optimize::{Likelihood, MaximumLikelihood};
    /// // Exponential waiting times: the rate is one over the mean, its error rate / √n.
    /// let waits = [0.5, 1.5, 1.0, 2.0];
    /// let density = |theta: &[f64]| Ok(waits.iter().map(|y| theta[0].ln() - theta[0] * y).collect());
    /// let run = Context::default();
    /// let fit = MaximumLikelihood::default().fit(vec![1.0], Likelihood::new(density), &run)?;
    /// assert!((fit.theta[0] - 0.8).abs() < 1e-8);
    /// assert!((fit.standard_errors[0].unwrap() - 0.4).abs() < 1e-6);
    /// # Ok::<(), learnt_core::error::Error>(())
    /// ```
    pub fn fit(&self, start: Vec<f64>, model: Likelihood, run: &Context) -> Result<LikelihoodFit> {
        self.check(&start, &model)?;
        let bounds = self.bounds.clone().unwrap_or_else(|| Bounds::free(start.len()));
        let mut surface = Surface::new(model, &start, &bounds);
        let stop = Stop { gradient: 0.0, decrease: self.tol };
        let mut method = BoundedNewton::new(start, bounds.clone(), stop)?;
        let rules = Rules::steps(self.max_iter);
        let found =
            minimize_until(&mut method, |theta| surface.evaluate(theta), &rules, false, run)?;
        if !found.stopped.is_success() {
            let message = format!(
                "the likelihood was not maximised in {} iterations ({}), log-likelihood {:.6e}",
                found.iterations, found.stopped, -found.value
            );
            run.warn(Code::NotConverged, message);
        }
        let at_bound = method.at_bound();
        self.warn_at_bounds(&at_bound, &found.x, run);
        self.describe(surface, found, at_bound, run)
    }

    fn check(&self, start: &[f64], model: &Likelihood) -> Result<()> {
        if start.is_empty() {
            return Err(Error::parameter("theta0", "at least one parameter", "none"));
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(Error::parameter("level", "between 0 and 1", self.level));
        }
        if self.information == Information::Expected && model.expected.is_none() {
            let message = "the expected information needs a function that gives it";
            return Err(Error::new(Code::Usage, message));
        }
        Ok(())
    }

    fn warn_at_bounds(&self, at_bound: &[bool], theta: &[f64], run: &Context) {
        for (j, _) in at_bound.iter().enumerate().filter(|(_, at)| **at) {
            let message = format!(
                "the maximum is at a bound of parameter {j} ({}), where standard errors and intervals do not hold",
                theta[j]
            );
            run.warn(Code::Numeric, message);
        }
    }

    fn describe(
        &self,
        mut surface: Surface,
        found: super::Minimum,
        at_bound: Vec<bool>,
        run: &Context,
    ) -> Result<LikelihoodFit> {
        let theta = found.x;
        let scores = surface.scores(&theta)?;
        let observed = surface.observed(&theta)?;
        let outer_product = gram(scores.view());
        let expected = surface.model.expected.as_mut().map(|f| f(&theta)).transpose()?;
        let chosen = match (self.information, &expected) {
            (Information::OuterProduct, _) => &outer_product,
            (Information::Expected, Some(expected)) => expected,
            _ => &observed,
        };
        if (chosen.nrows(), chosen.ncols()) != (theta.len(), theta.len()) {
            let got = format!("{} x {}", chosen.nrows(), chosen.ncols());
            return Err(Error::shape("information", "one row and column a parameter", got));
        }
        let covariance = invert_free(chosen, &at_bound);
        if covariance.is_none() {
            let message = "the information is not positive definite, so there are no standard errors: parameters depend on each other, or this is no maximum";
            run.warn(Code::Numeric, message);
        }
        let error = |j: usize| match (&covariance, at_bound[j]) {
            (Some(covariance), false) => Some(covariance[(j, j)].sqrt()),
            _ => None,
        };
        let standard_errors: Vec<Option<f64>> = (0..theta.len()).map(error).collect();
        let z = Normal::standard().quantile(0.5 + 0.5 * self.level);
        let interval =
            |j: usize| standard_errors[j].map(|se| (theta[j] - z * se, theta[j] + z * se));
        Ok(LikelihoodFit {
            intervals: (0..theta.len()).map(interval).collect(),
            log_likelihood: -found.value,
            score: column_sums(&scores),
            theta,
            observed,
            outer_product,
            expected,
            covariance,
            standard_errors,
            at_bound,
            iterations: found.iterations,
            stopped: found.stopped,
        })
    }
}

/// The model with steps for its differences.
struct Surface<'a> {
    model: Likelihood<'a>,
    bounds: Bounds,
    /// About one standard error of every parameter, once the curvature is known.
    scale: Vec<f64>,
    /// Size of ℓ, whose rounding the steps must exceed.
    size: f64,
    /// The highest ℓ so far; points clearly below it are not worth derivatives.
    highest: f64,
}

impl<'a> Surface<'a> {
    fn new(model: Likelihood<'a>, start: &[f64], bounds: &Bounds) -> Self {
        let scale = start.iter().map(|x| x.abs().max(1.0)).collect();
        Surface { model, bounds: bounds.clone(), scale, size: 1.0, highest: f64::NEG_INFINITY }
    }

    /// -ℓ with derivatives; without them outside the support and where ℓ has fallen.
    fn evaluate(&mut self, theta: &[f64]) -> Result<Evaluation> {
        let refused =
            |value: f64| Evaluation { value, gradient: vec![f64::NAN; theta.len()], hessian: None };
        let densities = (self.model.log_density)(theta)?;
        if densities.is_empty() {
            return Err(Error::new(Code::Empty, "the log-density gave no observations"));
        }
        let Some(likelihood) = sum(&densities).filter(|sum| sum.is_finite()) else {
            return Ok(refused(f64::INFINITY));
        };
        if likelihood < self.highest - 1e-9 * self.size {
            return Ok(refused(-likelihood));
        }
        self.size = likelihood.abs().max(1.0);
        let score = column_sums(&self.scores(theta)?);
        let observed = self.observed(theta)?;
        if observed.as_slice().iter().chain(&score).any(|value| !value.is_finite()) {
            return Ok(refused(-likelihood));
        }
        self.highest = self.highest.max(likelihood);
        for j in 0..theta.len() {
            let error = observed[(j, j)].sqrt().recip();
            if error > 0.0 && error.is_finite() {
                self.scale[j] = error;
            }
        }
        Ok(Evaluation {
            value: -likelihood,
            gradient: score.iter().map(|s| -s).collect(),
            hessian: Some(observed),
        })
    }

    /// s_i, one row an observation.
    fn scores(&mut self, theta: &[f64]) -> Result<Matrix> {
        if let Some(score) = &mut self.model.score {
            let scores = score(theta)?;
            return match scores.ncols() == theta.len() {
                true => Ok(scores),
                false => Err(Error::shape("score", theta.len(), scores.ncols())),
            };
        }
        let steps = self.steps(f64::EPSILON.cbrt(), 1.0 / 3.0);
        jacobian_by_steps(|x| (self.model.log_density)(x), theta, &steps, Some(&self.bounds))
    }

    /// -∂²ℓ.
    fn observed(&mut self, theta: &[f64]) -> Result<Matrix> {
        let mut hessian = if let Some(hessian) = &mut self.model.hessian {
            hessian(theta)?
        } else if let Some(score) = &mut self.model.score {
            let steps: Vec<f64> = self.scale.iter().map(|s| f64::EPSILON.cbrt() * s).collect();
            let sums = |x: &[f64]| score(x).map(|scores| column_sums(&scores));
            let raw = jacobian_by_steps(sums, theta, &steps, Some(&self.bounds))?;
            Matrix::from_fn(theta.len(), theta.len(), |i, j| 0.5 * (raw[(i, j)] + raw[(j, i)]))
        } else {
            let steps = self.steps(f64::EPSILON.powf(0.25), 0.25);
            let total = |x: &[f64]| {
                let densities = (self.model.log_density)(x)?;
                Ok(sum(&densities).unwrap_or(f64::NAN))
            };
            hessian_by_steps(total, theta, &steps, Some(&self.bounds))?
        };
        if (hessian.nrows(), hessian.ncols()) != (theta.len(), theta.len()) {
            let got = format!("{} x {}", hessian.nrows(), hessian.ncols());
            return Err(Error::shape("hessian", "one row and column a parameter", got));
        }
        hessian.as_mut_slice().iter_mut().for_each(|h| *h = -*h);
        Ok(hessian)
    }

    /// In standard errors, the power of the relative rounding of ℓ that balances the error of the
    /// difference.
    fn steps(&self, smallest: f64, power: f64) -> Vec<f64> {
        let share = (f64::EPSILON * self.size).powf(power).clamp(smallest, 0.05);
        self.scale.iter().map(|scale| share * scale).collect()
    }
}

fn column_sums(rows: &Matrix) -> Vec<f64> {
    (0..rows.ncols()).map(|j| sum(&rows.column(j)).unwrap_or(f64::NAN)).collect()
}

/// The inverse over the free parameters, zero elsewhere.
fn invert_free(information: &Matrix, at_bound: &[bool]) -> Option<Matrix> {
    let free: Vec<usize> = (0..at_bound.len()).filter(|&j| !at_bound[j]).collect();
    let block = Matrix::from_fn(free.len(), free.len(), |i, j| information[(free[i], free[j])]);
    let mut out = Matrix::zeros(at_bound.len(), at_bound.len());
    if free.is_empty() {
        return Some(out);
    }
    let inverse = Cholesky::new(&block).filter(|f| f.condition_bound() < 1e14)?.inverse();
    for (i, &a) in free.iter().enumerate() {
        for (j, &b) in free.iter().enumerate() {
            out[(a, b)] = inverse[(i, j)];
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Quiet, Recorder};

    const Y: [f64; 6] = [4.1, 5.3, 3.8, 6.0, 4.9, 5.1];

    fn normal(y: f64, mean: f64, sd: f64) -> f64 {
        let z = (y - mean) / sd;
        -0.5 * z * z - sd.ln() - 0.5 * std::f64::consts::TAU.ln()
    }

    fn spread() -> (f64, f64) {
        let mean = Y.iter().sum::<f64>() / 6.0;
        (mean, (Y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 6.0).sqrt())
    }

    #[test]
    fn the_error_of_a_normal_mean_is_sigma_over_root_n() {
        let density = |t: &[f64]| Ok(Y.iter().map(|&y| normal(y, t[0], 2.0)).collect());
        let fit = MaximumLikelihood::default()
            .fit(vec![0.0], Likelihood::new(density), &Context::default())
            .unwrap();
        let (mean, _) = spread();
        let error = 2.0 / 6.0_f64.sqrt();
        assert!((fit.theta[0] - mean).abs() < 1e-8);
        assert!((fit.standard_errors[0].unwrap() - error).abs() < 1e-6 * error);
        let (low, high) = fit.intervals[0].unwrap();
        assert!((high - low - 2.0 * 1.959963984540054 * error).abs() < 1e-5);
        assert!(fit.score[0].abs() < 1e-6);
    }

    #[test]
    fn mean_and_deviation_have_their_known_information() {
        let (mean, sd) = spread();
        let density = |t: &[f64]| Ok(Y.iter().map(|&y| normal(y, t[0], t[1])).collect());
        let bounds = Bounds { lower: vec![f64::NEG_INFINITY, 0.0], upper: vec![f64::INFINITY; 2] };
        let method = MaximumLikelihood { bounds: Some(bounds), ..Default::default() };
        let fit =
            method.fit(vec![3.0, 3.0], Likelihood::new(density), &Context::default()).unwrap();
        assert!((fit.theta[0] - mean).abs() < 1e-7 && (fit.theta[1] - sd).abs() < 1e-7);
        assert!((fit.observed[(0, 0)] - 6.0 / (sd * sd)).abs() < 1e-4);
        assert!((fit.observed[(1, 1)] - 12.0 / (sd * sd)).abs() < 1e-3);
        assert!(fit.observed[(0, 1)].abs() < 1e-3);
        assert!((fit.outer_product[(0, 0)] - 6.0 / (sd * sd)).abs() < 1e-4);
    }

    #[test]
    fn given_derivatives_and_differences_agree() {
        let rate = Y.len() as f64 / Y.iter().sum::<f64>();
        let density = |t: &[f64]| Ok(Y.iter().map(|y| t[0].ln() - t[0] * y).collect());
        let exact = Likelihood {
            score: Some(Box::new(|t| Ok(Matrix::from_fn(6, 1, |i, _| 1.0 / t[0] - Y[i])))),
            hessian: Some(Box::new(|t| Ok(Matrix::from_fn(1, 1, |_, _| -6.0 / (t[0] * t[0]))))),
            expected: Some(Box::new(|t| Ok(Matrix::from_fn(1, 1, |_, _| 6.0 / (t[0] * t[0]))))),
            ..Likelihood::new(density)
        };
        let run = Context::default();
        let method = MaximumLikelihood { information: Information::Expected, ..Default::default() };
        let by_formula = method.fit(vec![0.1], exact, &run).unwrap();
        let by_difference =
            MaximumLikelihood::default().fit(vec![0.1], Likelihood::new(density), &run).unwrap();
        for fit in [&by_formula, &by_difference] {
            assert!((fit.theta[0] - rate).abs() < 1e-8);
            let error = fit.standard_errors[0].unwrap();
            assert!((error / (rate / 6.0_f64.sqrt()) - 1.0).abs() < 1e-6);
        }
        assert!(method.fit(vec![0.1], Likelihood::new(density), &run).is_err());
    }

    #[test]
    fn tiny_parameters_keep_their_digits() {
        // In units of 1e-6 the same data must give the same relative errors.
        let density = |t: &[f64]| Ok(Y.iter().map(|&y| normal(1e-6 * y, t[0], 2e-6)).collect());
        let fit = MaximumLikelihood::default()
            .fit(vec![0.0], Likelihood::new(density), &Context::default())
            .unwrap();
        assert!((fit.theta[0] / (1e-6 * spread().0) - 1.0).abs() < 1e-6, "{}", fit.theta[0]);
        let error = 2e-6 / 6.0_f64.sqrt();
        assert!((fit.standard_errors[0].unwrap() / error - 1.0).abs() < 1e-4);
    }

    #[test]
    fn full_steps_out_of_the_support_are_shortened() {
        // A gamma density from far away: the first full step leaves the quadrant.
        let density = |t: &[f64]| {
            let (shape, rate) = (t[0], t[1]);
            let constant = shape * rate.ln() - libm::lgamma(shape);
            Ok(Y.iter().map(|y| constant + (shape - 1.0) * y.ln() - rate * y).collect())
        };
        let bounds = Bounds { lower: vec![1e-9; 2], upper: vec![f64::INFINITY; 2] };
        let method = MaximumLikelihood { bounds: Some(bounds), ..Default::default() };
        let fit =
            method.fit(vec![1.0, 1.0], Likelihood::new(density), &Context::default()).unwrap();
        let (mean, _) = spread();
        assert!(fit.stopped.is_success());
        assert!((fit.theta[0] / fit.theta[1] - mean).abs() < 1e-6, "{:?}", fit.theta);
        assert!(fit.score.iter().all(|s| s.abs() < 1e-4));
    }

    #[test]
    fn a_maximum_at_a_bound_is_a_warning_without_an_error_of_its_own() {
        let recorder = Recorder::new(&Quiet);
        let density = |t: &[f64]| Ok(Y.iter().map(|&y| normal(y, t[0] + t[1], 2.0)).collect());
        let bounds = Bounds { lower: vec![0.0, 0.0], upper: vec![3.0, 0.0] };
        let method = MaximumLikelihood { bounds: Some(bounds), ..Default::default() };
        let run = Context::default().observed_by(&recorder);
        let fit = method.fit(vec![1.0, 0.0], Likelihood::new(density), &run).unwrap();
        assert_eq!(fit.at_bound, [true, true]);
        assert_eq!(fit.theta, [3.0, 0.0]);
        assert_eq!(fit.standard_errors, [None, None]);
        assert!(recorder.warnings()[0].message.contains("at a bound of parameter 0"));
    }
}
