//! Radius-neighbour regression: the mean of the training rows within a radius.
//!
//! y(x) = Σ w_i y_i / Σ w_i over the rows with d_i ≤ radius. A row without neighbours is an error.

use super::ball::{Ball, BallSettings, nobody};
use super::neighborhood::{Algorithm, MetricName, NeighborWeights};
use super::questions::{self, WITHIN_QUESTIONS};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Regression by the mean target of all training rows within a radius.
///
/// A row without neighbours is an error, where scikit-learn gives NaN. Functions as `weights` or
/// `metric`, and `metric_params`, are not available.
///
/// ```
/// use learnt::{neighbors::RadiusNeighborsRegressor, prelude::*};
/// let x = Matrix::from_rows(&[[0.0], [1.0], [2.0], [9.0]])?;
/// let data = OwnedDataset::regression(x, vec![1.0, 2.0, 6.0, 0.0]);
/// let model = RadiusNeighborsRegressor { radius: 2.0, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.predict(&data.x.frame().rows(0, 1))?.row(0), [3.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct RadiusNeighborsRegressor {
    /// Distance up to which rows count.
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
}

/// A fitted [`RadiusNeighborsRegressor`].
#[derive(Model, Clone, Debug)]
#[model(regressor, validate = validate, questions = WITHIN_QUESTIONS)]
pub struct RadiusNeighborsRegressorModel {
    /// The distance in use.
    pub effective_metric: String,
    /// Number of training rows.
    #[shape(rows)]
    pub n_samples_fit: usize,
    #[shape(rows, outputs)]
    #[finite]
    targets: Matrix,
    radius: f64,
    ball: Ball,
}

impl RadiusNeighborsRegressor {
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

impl Estimator for RadiusNeighborsRegressor {
    type Model = RadiusNeighborsRegressorModel;
    type Fit = WholeNoticed;
    const ABOUT: &'static About = &About::regressor("neighbors.RadiusNeighborsRegressor")
        .alias(&["radius-neighbors"])
        .weights()
        .many_outputs()
        .scaling()
        .rows_stored()
        .threads()
        .complexity(50)
        .cost("n p log n time to fit; n p a query by brute force, less by trees; n p memory")
        .reference("Stone (1977), Consistent nonparametric regression")
        .only_by_name()
        .check_with(&[("radius", "3")])
        .exempt(&[(
            "beats_the_dummy",
            "a radius that reaches all rows of the checks averages over many",
        )]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<RadiusNeighborsRegressorModel> {
        let targets = data.real_target()?.to_matrix();
        let ball = self.settings().train(data, run)?;
        Ok(RadiusNeighborsRegressorModel {
            effective_metric: ball.index.metric().name().to_string(),
            n_samples_fit: targets.nrows(),
            targets,
            radius: self.radius,
            ball,
        })
    }
}

impl RadiusNeighborsRegressorModel {
    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        questions::within(&self.ball.index, asked)
    }

    fn validate(&self) -> Result<()> {
        let index = &self.ball.index;
        let good =
            self.effective_metric == index.metric().name() && self.n_samples_fit == index.nrows();
        if good { Ok(()) } else { Err(invalid("targets of training rows")) }
    }
}

impl Regressor for RadiusNeighborsRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.ball.predict(x, self.targets.ncols(), run, |i, rows, counts, out| {
            let Some(&nearby) = rows.first() else {
                return Err(nobody(i, self.radius, "raise radius, or use KNeighborsRegressor"));
            };
            let total: f64 = counts.iter().sum();
            let first = self.targets.row(nearby as usize);
            for (&row, &count) in rows.iter().zip(counts) {
                let target = self.targets.row(row as usize);
                for ((out, y), base) in out.iter_mut().zip(target).zip(first) {
                    // Halves, because the difference of two huge targets would overflow.
                    *out += count / total * (y / 2.0 - base / 2.0);
                }
            }
            out.iter_mut().zip(first).for_each(|(out, base)| *out = (base / 2.0 + *out) * 2.0);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_the_closed_ball() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 5.0]);
        let data = OwnedDataset::regression(x, vec![1.0, 3.0, 8.0, 100.0]);
        let model = RadiusNeighborsRegressor::default().fit(&data.view()).unwrap();
        let query = Table::unnamed(Matrix::column_vector(vec![1.0, 0.5]));
        let found = model.predict(&query.frame()).unwrap();
        for (got, expected) in found.as_slice().iter().zip([4.0, 2.0]) {
            assert!((got - expected).abs() < 1e-12, "{got} {expected}");
        }
        let far = Table::unnamed(Matrix::column_vector(vec![50.0]));
        assert!(model.predict(&far.frame()).is_err());
    }
}
