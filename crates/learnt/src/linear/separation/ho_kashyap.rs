//! Ho and Kashyap's procedure: the vector and the margins together.
//!
//! Minimises |Y a - b|² over a and b > 0, Y the reflected rows: a = pinv(Y) b, e = Y a - b,
//! b ← b + η (e + |e|), from b = 1, with 0 < η < 1. Stops, tested in this order, when all Y a > 0
//! (`separated`), when no |e| is above `tol` (`solved`), when one e is below -`tol` and no e above
//! `tol` times its size (`not separable`: Yᵀ e = 0 with e <= 0 is a proof), or at `max_iter`
//! (`limit`).
//! Score 0 is the second class.
//!
//! Ho and Kashyap (1965), IEEE Transactions on Electronic Computers 14, 683–688.

use super::least_squares::LeastSquares;
use super::minimum_squared_error::{line_report, margins_of};
use super::reflection::Reflected;
use learnt_core::context::Progress;
use learnt_core::linalg::linear_predict;
use learnt_core::prelude::*;

/// Ho-Kashyap procedure: a separating hyperplane, or the proof that there is none.
///
/// ```
/// use learnt::{linear::HoKashyapClassifier, prelude::*};
/// let x = Matrix::from_rows(&[[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])?;
/// let xor = OwnedDataset::classification(x, &[1, 1, 0, 0].map(Label::Int));
/// let model = HoKashyapClassifier::default().fit(&xor.view())?;
/// assert_eq!((model.outcome.as_str(), model.n_iter), ("not separable", 1));
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct HoKashyapClassifier {
    /// Learning rate of the margins.
    #[param(default = 0.5, above = 0.0, below = 1.0)]
    pub eta: f64,
    /// Errors up to this count as zero.
    #[param(default = 1e-6, range = 0.0..)]
    pub tol: f64,
    /// Maximum number of iterations.
    #[param(default = 1000, range = 1..)]
    pub max_iter: usize,
    /// The first margin of each row, or one for all; none is 1.
    #[param(default = None, above = 0.0)]
    pub margins: Option<Vec<f64>>,
    /// Whether to stop as soon as the classes are separated, rather than at the limit of a and b.
    #[param(default = true)]
    pub stop_when_separated: bool,
}

/// A fitted [`HoKashyapClassifier`].
#[derive(Model, Clone, Debug)]
#[model(classifier, report = table, converged = converged, looks)]
pub struct HoKashyapClassifierModel {
    /// Weights (1 × n_features); positive scores mean the second class.
    #[shape(1, columns)]
    #[finite]
    pub coef: Matrix,
    /// The intercept.
    #[shape(1)]
    #[finite]
    pub intercept: Vec<f64>,
    /// Intercept and weights as one vector.
    pub a: Vec<f64>,
    /// The margins, one for each training row.
    pub b: Vec<f64>,
    /// The errors Y a - b, one for each training row.
    pub e: Vec<f64>,
    /// Vectors tried, the first one included.
    pub n_iter: usize,
    /// `separated`, `solved`, `not separable` or `limit`.
    pub outcome: String,
}

impl Estimator for HoKashyapClassifier {
    type Model = HoKashyapClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("linear_model.HoKashyapClassifier")
        .full_rank()
        .alias(&["ho-kashyap"])
        .weights()
        .decision_scores()
        .without_probabilities()
        .two_classes()
        .iterations()
        .monotone()
        .complexity(20)
        .cost("n p² time once and n p a step, n p memory")
        .reference(
            "Ho and Kashyap (1965), An algorithm for linear inequalities, IEEE Transactions on \
             Electronic Computers 14, 683–688",
        );

    fn train(&self, data: &Dataset, run: &Context) -> Result<HoKashyapClassifierModel> {
        let reflected = Reflected::new(data)?;
        let solver = LeastSquares::new(&reflected, data.weights, run)?;
        let mut b = margins_of(self.margins.as_deref(), data.nrows())?;
        let mut n_iter = 0;
        let (a, e, outcome) = loop {
            n_iter += 1;
            let a = solver.solve(&b)?;
            let margins = reflected.margins(&a)?;
            let e: Vec<f64> = margins.iter().zip(&b).map(|(margin, b)| margin - b).collect();
            run.progress(&Progress {
                stage: "Ho and Kashyap's procedure",
                done: n_iter as u64,
                total: Some(self.max_iter as u64),
                objective: Some(e.iter().enumerate().map(|(i, e)| data.weight(i) * e * e).sum()),
            })?;
            if let Some(outcome) = self.outcome(&margins, &e) {
                break (a, e, outcome);
            }
            if n_iter >= self.max_iter {
                let message = format!(
                    "Ho and Kashyap's procedure decided nothing in {n_iter} steps; raise max_iter"
                );
                run.warn(Code::NotConverged, message);
                break (a, e, "limit");
            }
            b.iter_mut().zip(&e).for_each(|(b, e)| *b += self.eta * (e + e.abs()));
        };
        Ok(HoKashyapClassifierModel {
            coef: Matrix::from_vec(1, data.x.ncols(), a[1..].to_vec())?,
            intercept: vec![a[0]],
            a,
            b,
            e,
            n_iter,
            outcome: outcome.to_string(),
        })
    }
}

impl HoKashyapClassifier {
    fn outcome(&self, margins: &[f64], e: &[f64]) -> Option<&'static str> {
        if self.stop_when_separated && margins.iter().all(|&margin| margin > 0.0) {
            return Some("separated");
        }
        if e.iter().all(|e| e.abs() <= self.tol) {
            return Some("solved");
        }
        let highest = e.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = e.iter().copied().fold(f64::INFINITY, f64::min);
        // Beside a small negative error, a small positive one is no rounding: it still shrinks.
        let proven = lowest < -self.tol && highest <= self.tol * lowest.abs().min(1.0);
        proven.then_some("not separable")
    }
}

/// A step b ← b - (η/2)(g - |g|) along the gradient g of the margins: they never shrink.
pub fn rectified_margin_step(b: &[f64], gradient: &[f64], eta: f64) -> Vec<f64> {
    b.iter().zip(gradient).map(|(b, g)| b - 0.5 * eta * (g - g.abs())).collect()
}

impl Classifier for HoKashyapClassifierModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        linear_predict(x, &self.coef, &self.intercept, run)
    }
}

impl HoKashyapClassifierModel {
    fn converged(&self) -> bool {
        self.outcome != "limit"
    }

    fn table(&self, names: &Names) -> Answer {
        let title = format!("Ho-Kashyap, {} after {} steps", self.outcome, self.n_iter);
        line_report(&title, &self.coef, &self.intercept, names)
    }
}
