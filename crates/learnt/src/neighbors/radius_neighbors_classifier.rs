//! Radius-neighbour classification: the vote of the training rows within a radius.
//!
//! p(class | x) = Σ w_i [y_i = class] / Σ w_i over the rows with d_i ≤ radius. Equal votes go to the
//! first class. A row without neighbours is an error, or the most frequent class if asked for.

use super::ball::{Ball, BallSettings, nobody};
use super::neighborhood::{Algorithm, MetricName, NeighborWeights, class_totals};
use super::questions::{self, WITHIN_QUESTIONS};
use learnt_core::estimator::first_maximum;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Classification by a vote of all training rows within a radius.
///
/// A class as `outlier_label`, functions as `weights` or `metric`, and `metric_params` are not
/// available.
///
/// ```
/// use learnt::{neighbors::RadiusNeighborsClassifier, prelude::*};
/// let x = Matrix::from_rows(&[[0.0], [1.0], [2.0], [3.0]])?;
/// let data = OwnedDataset::classification(x, &["a", "a", "b", "b"].map(Label::from));
/// let model = RadiusNeighborsClassifier { radius: 1.5, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 1, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct RadiusNeighborsClassifier {
    /// Distance up to which rows vote.
    #[param(positional, default = 1.0, above = 0.0, search = log(1e-2, 1e2))]
    pub radius: f64,
    /// Weights of the neighbours.
    #[param(default = NeighborWeights::Uniform, search = set("uniform", "distance"))]
    pub weights: NeighborWeights,
    /// The search algorithm; all give the same neighbours.
    #[param(default = Algorithm::Auto)]
    pub algorithm: Algorithm,
    /// Rows in a leaf of a tree; only time depends on it.
    #[param(default = 30, range = 1..)]
    pub leaf_size: usize,
    /// The power of the metric `minkowski`.
    #[param(default = 2.0, above = 0.0)]
    pub p: f64,
    /// The distance metric between rows.
    #[param(default = MetricName::Minkowski)]
    pub metric: MetricName,
    /// What a row without neighbours is.
    #[param(default = OutlierLabel::Error)]
    pub outlier_label: OutlierLabel,
}

/// What a row without neighbours is.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum OutlierLabel {
    /// An error.
    #[choice(none)]
    Error,
    /// Of the most frequent class.
    MostFrequent,
}

/// A fitted [`RadiusNeighborsClassifier`].
#[derive(Model, Clone, Debug)]
#[model(classifier, validate = validate, questions = WITHIN_QUESTIONS)]
pub struct RadiusNeighborsClassifierModel {
    /// The distance in use.
    pub effective_metric: String,
    /// Number of training rows.
    #[shape(rows)]
    pub n_samples_fit: usize,
    #[shape(rows)]
    #[below(classes)]
    codes: Vec<u32>,
    #[shape(classes)]
    class_totals: Vec<f64>,
    outlier: OutlierLabel,
    radius: f64,
    ball: Ball,
}

impl RadiusNeighborsClassifier {
    fn settings(&self) -> BallSettings {
        BallSettings {
            radius: self.radius,
            weights: self.weights,
            algorithm: self.algorithm,
            leaf_size: self.leaf_size,
            p: self.p,
            metric: self.metric,
        }
    }

    fn constraints(&self) -> Result<()> {
        self.settings().constraints()
    }
}

impl Estimator for RadiusNeighborsClassifier {
    type Model = RadiusNeighborsClassifierModel;
    type Fit = WholeNoticed;
    const ABOUT: &'static About = &About::classifier("neighbors.RadiusNeighborsClassifier")
        .alias(&["radius-neighbors"])
        .weights()
        .scaling()
        .rows_stored()
        .threads()
        .complexity(50)
        .cost("n p log n time to fit; n p a query by brute force, less by trees; n p memory")
        .reference("Bentley (1975); Fix and Hodges (1951)")
        .only_by_name()
        .check_with(&[("radius", "2"), ("outlier_label", "most_frequent")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<RadiusNeighborsClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let class_totals = class_totals(data, codes, classes.len());
        if !class_totals.iter().sum::<f64>().is_finite() {
            return Err(Error::new(Code::Weights, "the sum of the weights overflows")
                .hint("divide all weights by a number: only their shares count"));
        }
        let ball = self.settings().train(data, run)?;
        Ok(RadiusNeighborsClassifierModel {
            effective_metric: ball.index.metric().name().to_string(),
            n_samples_fit: codes.len(),
            codes: codes.to_vec(),
            class_totals,
            outlier: self.outlier_label,
            radius: self.radius,
            ball,
        })
    }
}

impl RadiusNeighborsClassifierModel {
    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        questions::within(&self.ball.index, asked)
    }

    fn validate(&self) -> Result<()> {
        let index = &self.ball.index;
        let good =
            self.effective_metric == index.metric().name() && self.n_samples_fit == index.nrows();
        if good { Ok(()) } else { Err(invalid("classes of training rows")) }
    }
}

impl Classifier for RadiusNeighborsClassifierModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.ball.predict(x, self.class_totals.len(), run, |i, rows, counts, out| {
            if rows.is_empty() {
                let hint = "raise radius, or set outlier_label to most_frequent";
                return match self.outlier {
                    OutlierLabel::Error => Err(nobody(i, self.radius, hint)),
                    OutlierLabel::MostFrequent => {
                        out[first_maximum(&self.class_totals) as usize] = 1.0;
                        Ok(())
                    }
                };
            }
            let total: f64 = counts.iter().sum();
            for (&row, &count) in rows.iter().zip(counts) {
                out[self.codes[row as usize] as usize] += count;
            }
            out.iter_mut().for_each(|votes| *votes /= total);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_within_the_radius_vote_and_nobody_is_an_error() {
        let x = Matrix::column_vector(vec![0.0, 0.5, 1.0, 9.0]);
        let data = OwnedDataset::classification(x, &["a", "b", "b", "a"].map(Label::from));
        let model = RadiusNeighborsClassifier::default().fit(&data.view()).unwrap();
        let query = Table::unnamed(Matrix::column_vector(vec![0.2, 9.5]));
        assert_eq!(model.classify(&query.frame()).unwrap(), [1, 0]);
        let far = Table::unnamed(Matrix::column_vector(vec![0.2, 50.0]));
        let error = model.classify(&far.frame()).unwrap_err();
        assert!(
            error.to_string().contains("row 2") && error.to_string().contains("radius"),
            "{error}"
        );
        let kind = RadiusNeighborsClassifier {
            outlier_label: OutlierLabel::MostFrequent,
            ..Default::default()
        };
        let model = kind.fit(&data.view()).unwrap();
        assert_eq!(model.classify(&far.frame()).unwrap(), [1, 0]);
    }
}
