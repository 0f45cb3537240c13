//! Scores of predicted numbers, output by output and averaged.
//!
//! All are read off the residuals y - f ([`Residuals`]), and so is whether every number was finite: large tables
//! are looked at value by value only where a score came out wrong. Where the truth is constant, R² and explained
//! variance do not exist: an error, or in a lenient run 1 without residuals and 0 with them.

use super::{Estimated, Residuals, Score, undefined, undefined_or, weighted_mean};
use learnt_core::function::{InputSpec, Scorer, Task, check_inputs};
use learnt_core::prelude::*;
use std::borrow::Cow;

/// How the scores of several outputs become one.
#[derive(Choice, Clone, Debug, PartialEq)]
pub enum MultiOutput {
    /// They stay apart.
    RawValues,
    /// The plain mean.
    UniformAverage,
    /// The mean weighted by the variance of each output; for R² and explained variance.
    VarianceWeighted,
    /// The mean with these weights.
    Weights(Vec<f64>),
}

impl MultiOutput {
    fn combine(&self, scores: Vec<f64>, variances: Option<&[f64]>) -> Result<Score> {
        Ok(match (self, variances) {
            (MultiOutput::RawValues, _) => Score::Each(scores),
            (MultiOutput::UniformAverage, _) => Score::One(weighted_mean(&scores, None)),
            (MultiOutput::VarianceWeighted, Some(variances)) => {
                let some = variances.iter().any(|variance| *variance > 0.0);
                Score::One(weighted_mean(&scores, some.then_some(variances)))
            }
            (MultiOutput::VarianceWeighted, None) => {
                let words = "raw_values, uniform_average or weights";
                return Err(Error::parameter("multioutput", words, "variance_weighted"));
            }
            (MultiOutput::Weights(weights), _) if weights.len() != scores.len() => {
                let expected = format!("{} numbers, one an output", scores.len());
                return Err(Error::parameter("multioutput", expected, weights.len()));
            }
            (MultiOutput::Weights(weights), _) => Score::One(weighted_mean(&scores, Some(weights))),
        })
    }
}

/// Refuses predictions of another shape than the truth.
pub(super) fn check_shapes(given: &Estimated) -> Result<()> {
    let (truth, prediction) = (given.y_true.ncols(), given.y_pred.ncols());
    match truth == prediction {
        true => Ok(()),
        false => Err(Error::shape("y_pred", format!("{truth} columns as in y_true"), prediction)),
    }
}

/// What `score` says of each output.
fn of_outputs<T>(
    given: &Estimated,
    run: &Context,
    score: impl Fn(&Residuals) -> Result<T>,
) -> Result<Vec<T>> {
    check_shapes(given)?;
    (0..given.y_true.ncols())
        .map(|j| {
            let (truth, prediction) = (column(given.y_true, j), column(given.y_pred, j));
            score(&Residuals::new(truth, prediction, given.sample_weight, run)?)
        })
        .collect()
}

/// A column, in place where its values are neighbours.
fn column(values: MatRef<'_>, j: usize) -> Cow<'_, [f64]> {
    values.column_slice(j).map_or_else(|| Cow::Owned(values.column(j)), Cow::Borrowed)
}

/// Rows from which on values are looked at by the sums over them.
const MANY: usize = 4096;

/// Checks, then computes, where every value that is not finite makes `call` fail: values are looked at one by one
/// only for the reason.
pub(super) fn compute_noticing<'a, F: Function>(
    function: &F,
    inputs: F::Inputs<'a>,
    run: &Context,
) -> Result<F::Output> {
    let specs = <F::Inputs<'a> as Inputs<'a>>::SPECS;
    let given = inputs.given();
    let few = given.iter().flatten().any(|given| given.rows() < MANY);
    let unlooked = |spec: &InputSpec| InputSpec {
        missing: spec.missing || !(few || spec.name == "sample_weight"),
        ..*spec
    };
    let unlooked: Vec<InputSpec> = specs.iter().map(unlooked).collect();
    let checked = function.check().and_then(|()| check_inputs(&unlooked, &given, run));
    let called = checked.and_then(|()| {
        let reason = |error| check_inputs(specs, &given, run).err().unwrap_or(error);
        function.call(inputs, run).map_err(reason)
    });
    called.map_err(|error| error.within(F::ABOUT.name()))
}

/// One function for a score of residuals.
macro_rules! scores {
    ($($(#[$doc:meta])* $name:ident, $path:literal, $score:expr, $scorer:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Params, Clone, Debug)]
        pub struct $name {
            /// How the scores of several outputs become one.
            #[param(default = MultiOutput::UniformAverage)]
            pub multioutput: MultiOutput,
        }

        impl Function for $name {
            type Inputs<'a> = Estimated<'a>;
            type Output = Score;
            const ABOUT: &'static Callable =
                &Callable::new($path, FunctionKind::Metric).scores(&[$scorer]);

            fn call(&self, given: Estimated, run: &Context) -> Result<Score> {
                let score: fn(&Residuals, &Context) -> Result<f64> = $score;
                self.multioutput.combine(of_outputs(&given, run, |of| score(of, run))?, None)
            }

            fn compute_in(&self, given: Estimated, run: &Context) -> Result<Score> {
                compute_noticing(self, given, run)
            }
        }
    )*};
}

const TASK: Task = Task::Regression;

scores! {
    /// Root mean squared error.
    RootMeanSquaredError, "metrics.root_mean_squared_error", |of, _| of.rmse(),
        Scorer::lower("rmse", TASK, "Root of the mean squared error.")
            .alias(&["neg-root-mean-squared-error"]);
    /// Mean squared error.
    MeanSquaredError, "metrics.mean_squared_error", |of, _| of.mse(),
        Scorer::lower("mse", TASK, "Mean squared error.").alias(&["neg-mean-squared-error"]);
    /// Mean absolute error.
    MeanAbsoluteError, "metrics.mean_absolute_error", |of, _| of.mae(),
        Scorer::lower("mae", TASK, "Mean absolute error.").alias(&["neg-mean-absolute-error"]);
    /// Median absolute error.
    MedianAbsoluteError, "metrics.median_absolute_error", |of, _| of.median_absolute_error(),
        Scorer::lower("median-ae", TASK, "Median absolute error.")
            .alias(&["neg-median-absolute-error"]);
    /// Mean absolute percentage error: the mean of |error| / |truth|, as a share.
    MeanAbsolutePercentageError, "metrics.mean_absolute_percentage_error",
        |of, run| if run.is_lenient() { of.floored_mape() } else { of.mape() },
        Scorer::lower("mape", TASK, "Mean of |error| / |truth|; undefined where the truth is 0.")
            .alias(&["neg-mean-absolute-percentage-error"]);
}

/// Largest absolute error.
#[derive(Params, Clone, Debug)]
pub struct MaxError {}

/// Predicted numbers beside the actual ones, without weights.
#[derive(Inputs, Clone, Copy)]
pub struct Compared<'a> {
    /// The actual numbers.
    pub y_true: MatRef<'a>,
    /// The predicted numbers.
    pub y_pred: MatRef<'a>,
}

impl Function for MaxError {
    type Inputs<'a> = Compared<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("metrics.max_error", FunctionKind::Metric)
        .scores(&[
            Scorer::lower("max-error", TASK, "Largest absolute error.").alias(&["neg-max-error"])
        ]);

    fn call(&self, given: Compared, run: &Context) -> Result<f64> {
        let Compared { y_true, y_pred } = given;
        let given = Estimated { y_true, y_pred, sample_weight: None };
        let each = of_outputs(&given, run, |of| of.max_error())?;
        Ok(each.into_iter().fold(0.0, f64::max))
    }

    fn compute_in(&self, given: Compared, run: &Context) -> Result<f64> {
        compute_noticing(self, given, run)
    }
}

/// Sum of squared errors over rows and outputs.
#[derive(Params, Clone, Debug)]
pub struct SumSquaredError {
    /// Whether to halve, as gradients of it are written.
    pub half: bool,
}

impl Function for SumSquaredError {
    type Inputs<'a> = Estimated<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.sum_squared_error", FunctionKind::Metric)
            .exempt(&[("scaled weights", "it is a sum, not a mean")]);

    fn call(&self, given: Estimated, run: &Context) -> Result<f64> {
        let rows = given.y_true.nrows() as f64;
        let total = given.sample_weight.map_or(rows, |weights| weights.iter().sum());
        let means = of_outputs(&given, run, |of| of.mse())?;
        let sum: f64 = means.into_iter().map(|mean| mean * total).sum();
        Ok(if self.half { sum / 2.0 } else { sum })
    }

    fn compute_in(&self, given: Estimated, run: &Context) -> Result<f64> {
        compute_noticing(self, given, run)
    }
}

/// R²: the share of the variance of the truth that the predictions explain.
#[derive(Params, Clone, Debug)]
pub struct R2Score {
    /// How the scores of several outputs become one.
    #[param(default = MultiOutput::UniformAverage)]
    pub multioutput: MultiOutput,
    /// Whether a constant truth has the score 1 if it is predicted, else 0; in Python.
    #[param(default = true)]
    pub force_finite: bool,
}

impl Function for R2Score {
    type Inputs<'a> = Estimated<'a>;
    type Output = Score;
    const ABOUT: &'static Callable = &Callable::new("metrics.r2_score", FunctionKind::Metric)
        .scores(&[Scorer::higher("r2", TASK, "1 - residual over total sum of squares.")]);

    fn call(&self, given: Estimated, run: &Context) -> Result<Score> {
        if given.y_true.nrows() < 2 {
            return undefined_or(run, "r2", "there is one row", f64::NAN).map(Score::One);
        }
        explained("r2", &given, &self.multioutput, self.force_finite, run, |of| of.mse())
    }

    fn compute_in(&self, given: Estimated, run: &Context) -> Result<Score> {
        compute_noticing(self, given, run)
    }
}

/// Explained variance: R² without the mean of the residuals.
#[derive(Params, Clone, Debug)]
pub struct ExplainedVarianceScore {
    /// How the scores of several outputs become one.
    #[param(default = MultiOutput::UniformAverage)]
    pub multioutput: MultiOutput,
    /// Whether a constant truth has the score 1 if it is predicted, else 0; in Python.
    #[param(default = true)]
    pub force_finite: bool,
}

impl Function for ExplainedVarianceScore {
    type Inputs<'a> = Estimated<'a>;
    type Output = Score;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.explained_variance_score", FunctionKind::Metric).scores(&[
            Scorer::higher(
                "explained-variance",
                TASK,
                "1 - variance of the residuals over that of the truth.",
            ),
        ]);

    fn call(&self, given: Estimated, run: &Context) -> Result<Score> {
        let left = |of: &Residuals| of.residual_variance();
        explained("explained variance", &given, &self.multioutput, self.force_finite, run, left)
    }

    fn compute_in(&self, given: Estimated, run: &Context) -> Result<Score> {
        compute_noticing(self, given, run)
    }
}

/// 1 - what is left over the variance of the truth, output by output.
fn explained(
    name: &str,
    given: &Estimated,
    multioutput: &MultiOutput,
    finite: bool,
    run: &Context,
    left: impl Fn(&Residuals) -> Result<f64>,
) -> Result<Score> {
    let (mut scores, mut variances) = (Vec::new(), Vec::new());
    for (left, spread) in of_outputs(given, run, |of| Ok((left(of)?, of.truth_variance()?)))? {
        variances.push(spread);
        scores.push(match (spread > 0.0, finite, left > 0.0) {
            (true, ..) => 1.0 - left / spread,
            _ if !run.is_lenient() => return Err(undefined(name, "the truth is constant")),
            (_, true, some_left) => f64::from(!some_left),
            (_, false, true) => f64::NEG_INFINITY,
            (_, false, false) => f64::NAN,
        });
    }
    multioutput.combine(scores, Some(&variances))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given<'a>(y: &'a Matrix, f: &'a Matrix) -> Estimated<'a> {
        Estimated { y_true: y.view(), y_pred: f.view(), sample_weight: None }
    }

    #[test]
    fn outputs_stay_apart_or_are_averaged() {
        let y = Matrix::from_rows(&[[0.0, 1.0], [2.0, 5.0]]).unwrap();
        let f = Matrix::from_rows(&[[1.0, 1.0], [2.0, 1.0]]).unwrap();
        let with = |multioutput| MeanSquaredError { multioutput }.compute(given(&y, &f)).unwrap();
        assert_eq!(with(MultiOutput::RawValues), Score::Each(vec![0.5, 8.0]));
        assert_eq!(with(MultiOutput::UniformAverage), Score::One(4.25));
        assert_eq!(with(MultiOutput::Weights(vec![1.0, 0.0])), Score::One(0.5));
        let half = SumSquaredError { half: true };
        assert_eq!(half.compute(given(&y, &f)).unwrap(), 8.5);
    }

    #[test]
    fn values_that_are_not_finite_are_named_in_tables_of_any_size() {
        for n in [10, 2 * MANY] {
            let y = Matrix::from_fn(n, 2, |i, j| (i + j) as f64);
            for bad in [f64::NAN, f64::INFINITY] {
                let mut f = y.clone();
                f[(n - 2, 1)] = bad;
                let given = given(&y, &f);
                let compared = Compared { y_true: y.view(), y_pred: f.view() };
                let errors = [
                    MeanSquaredError::default().compute(given).unwrap_err(),
                    R2Score::default().compute(given).unwrap_err(),
                    ExplainedVarianceScore::default().compute(given).unwrap_err(),
                    MeanAbsolutePercentageError::default().compute(given).unwrap_err(),
                    MaxError {}.compute(compared).unwrap_err(),
                ];
                for error in errors {
                    assert_eq!(error.code(), Code::Missing);
                    assert!(error.message().contains(&format!("row {}", n - 1)), "{error:?}");
                }
            }
            let weights = vec![f64::NAN; n];
            let given = Estimated { sample_weight: Some(&weights), ..given(&y, &y) };
            assert!(MeanSquaredError::default().compute(given).is_err());
        }
    }

    #[test]
    fn a_constant_truth_has_no_r2_but_in_a_lenient_run() {
        let (y, f) = (Matrix::zeros(3, 1), Matrix::column_vector(vec![0.0, 0.0, 1.0]));
        assert_eq!(R2Score::default().compute(given(&y, &f)).unwrap_err().code(), Code::Undefined);
        let lenient = Context::default().lenient();
        let r2 = |f| R2Score::default().compute_in(given(&y, f), &lenient).unwrap();
        assert_eq!((r2(&f), r2(&y)), (Score::One(0.0), Score::One(1.0)));
    }
}
