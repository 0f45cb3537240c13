//! Linear regression by stochastic gradient descent: least squares, Huber or ε-insensitive.
//!
//! Minimises  (1/n) Σ w_i L(y_i, w·x_i + b) + α R(w), R half the squares, the absolute values, or a
//! mixture; b is free. With the squared error, no penalty and single rows in listed order this is
//! the rule of Widrow and Hoff (LMS): w ← w - η (w·x + b - y) x, all coordinates and b at once;
//! `batch_size` from two rows to all makes it mini-batch and batch descent. Stops after
//! `n_iter_no_change` passes whose mean loss is not below the best by `tol`. A row's weight
//! multiplies its step.
//!
//! Widrow and Hoff (1960), IRE WESCON 4, 96–104; Bottou (2012), Stochastic Gradient Descent Tricks.

use super::classes;
use super::effort;
use super::line::{Line, Task};
use super::loss::{Loss, RealLoss};
use super::options::{LearningRate, Passes, Steps};
use learnt_core::prelude::*;

/// Linear regression trained by stochastic gradient descent (SGD), also on more rows later.
///
/// Scale the columns first. `batch_size`, `momentum` and `factor2` are additions to scikit-learn's
/// parameters; `warm_start` is not needed, because training goes on with updates.
///
/// ```
/// use learnt::{linear::{Passes, SGDRegressor}, prelude::*};
/// let x = Matrix::column_vector((0..50).map(|i| f64::from(i) / 25.0 - 1.0).collect());
/// let y = x.as_slice().iter().map(|x| 3.0 * x + 1.0).collect();
/// let data = OwnedDataset::regression(x, y);
/// let passes = Passes { tol: None, max_iter: 200, ..Default::default() };
/// let model = SGDRegressor { passes, ..Default::default() }.fit(&data.view())?;
/// assert!((model.coef[(0, 0)] - 3.0).abs() < 0.1 && (model.intercept[0] - 1.0).abs() < 0.1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct SGDRegressor {
    /// The loss function.
    #[param(positional, default = RealLoss::SquaredError)]
    pub loss: RealLoss,
    /// What a step is made of.
    #[param(flatten)]
    pub steps: Steps,
    /// How many passes there are.
    #[param(flatten)]
    pub passes: Passes,
    /// The learning rate schedule: how long steps are.
    #[param(default = LearningRate::Invscaling)]
    pub learning_rate: LearningRate,
    /// Exponent of the learning rate `invscaling`.
    #[param(default = 0.25, range = 0.0..)]
    pub power_t: f64,
    /// Whether the squared error has no factor ½, so that its steps are twice as long.
    #[param(default = false)]
    pub factor2: bool,
}

/// A fitted [`SGDRegressor`].
#[derive(Model, Clone, Debug)]
#[model(regressor = linear, report = table, converged = converged)]
pub struct SGDRegressorModel {
    /// Weights (1 × n_features).
    #[shape(1, columns)]
    #[finite]
    pub coef: Matrix,
    /// The intercept; 0 without one.
    #[shape(1)]
    #[finite]
    pub intercept: Vec<f64>,
    /// Passes made.
    pub n_iter: usize,
    /// Steps made plus one.
    pub t: u64,
    converged: bool,
    #[shape(columns)]
    line: Line,
}

impl Estimator for SGDRegressor {
    type Model = SGDRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("linear_model.SGDRegressor")
        .alias(&["sgd", "lms"])
        .weights()
        .randomness()
        .iterations()
        .online()
        .scaling()
        .complexity(20)
        .cost("n p time a pass, p memory")
        .reference("Widrow and Hoff (1960), Adaptive switching circuits, IRE WESCON 4, 96–104")
        .exempt(&[
            ("weights_scale", "a weight multiplies a step of absolute size, as in scikit-learn"),
            (
                "weights_repeat",
                "a weight multiplies one step, and a repeated row makes two steps from two places",
            ),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "a weight multiplies one step, and a repeated row makes two steps from two places",
            ),
            (
                "sklearn:check_fit_idempotent",
                "columns with a deviation of 100 make the default steps grow without bound: an error here",
            ),
            (
                "sklearn:check_fit_check_is_fitted",
                "columns with a deviation of 100 make the default steps grow without bound: an error here",
            ),
            (
                "sklearn:check_n_features_in",
                "columns with a deviation of 100 make the default steps grow without bound: an error here",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<SGDRegressorModel> {
        self.descend(None, data, run)
    }

    fn update(
        &self,
        model: Option<&SGDRegressorModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<SGDRegressorModel> {
        self.descend(Some(model), data, run)
    }
}

impl SGDRegressor {
    fn constraints(&self) -> Result<()> {
        self.learning_rate.check(self.steps.alpha, self.steps.eta0)?;
        let insensitive = matches!(self.loss, RealLoss::EpsilonInsensitive);
        if self.learning_rate.is_passive_aggressive() && !insensitive {
            let expected = "'epsilon_insensitive' with pa1 and pa2";
            return Err(Error::parameter("loss", expected, self.loss));
        }
        if self.factor2 && self.loss != RealLoss::SquaredError {
            return Err(Error::parameter(
                "factor2",
                "false unless the loss is squared_error",
                true,
            ));
        }
        Ok(())
    }

    /// All passes without `online`; with it one, from the line of a model if there is one.
    fn descend(
        &self,
        online: Option<Option<&SGDRegressorModel>>,
        data: &Dataset,
        run: &Context,
    ) -> Result<SGDRegressorModel> {
        let factor = if self.factor2 { 2.0 } else { 1.0 };
        let loss = Loss::of_numbers(self.loss, self.steps.epsilon, factor);
        let plan = self.steps.plan(loss, self.learning_rate, self.power_t);
        let effort = self.passes.effort(false);
        let copy = classes::row_copy(data.x.values(), run)?;
        let x = copy.as_ref().map_or(data.x.values(), Matrix::view);
        let targets = data.real_target()?.column(0);
        let task = Task { x, targets: &targets, weights: data.weights };
        let ended = match online {
            None => effort::descend(&plan, &effort, &task, run)?,
            Some(before) => {
                if let Some(model) = before {
                    classes::check_lines(std::slice::from_ref(&model.line), 1, x.ncols())?;
                }
                let fresh = || Line::new(x.ncols(), &plan);
                let line = before.map_or_else(fresh, |model| model.line.clone());
                effort::one_more_pass(&plan, &effort, line, &task, run)?
            }
        };
        if !ended.converged {
            let message = format!(
                "stochastic descent did not converge in {} passes; raise max_iter or scale the columns",
                ended.n_iter
            );
            run.warn(Code::NotConverged, message);
        }
        let lines = [ended.line];
        let (coef, intercept) = classes::gathered(&lines, &plan, x.ncols());
        let [line] = lines;
        Ok(SGDRegressorModel {
            coef,
            intercept,
            n_iter: ended.n_iter,
            t: line.steps + 1,
            converged: ended.converged,
            line,
        })
    }
}

impl SGDRegressorModel {
    fn table(&self, names: &Names) -> Answer {
        let title = format!("SGD regression, {} passes", self.n_iter);
        classes::weight_table(&title, &self.coef, &self.intercept, names)
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::{Average, DescentPenalty};
    use super::*;

    fn houses() -> OwnedDataset {
        let x = Matrix::column_vector(vec![1656.0, 896.0, 1329.0, 2110.0]);
        OwnedDataset::regression(x, vec![215.0, 105.0, 172.0, 244.0])
    }

    fn batch(alpha: f64, passes: usize) -> SGDRegressor {
        SGDRegressor {
            learning_rate: LearningRate::Constant,
            steps: Steps {
                penalty: DescentPenalty::Nothing,
                eta0: alpha,
                batch_size: 4,
                ..Steps::default()
            },
            passes: Passes { shuffle: false, tol: None, max_iter: passes, ..Passes::default() },
            ..Default::default()
        }
    }

    #[test]
    fn batch_descent_diverges_exactly_beyond_the_largest_stable_rate() {
        assert!(batch(8.19e-7, 3000).fit(&houses().view()).is_ok());
        let error = batch(8.5e-7, 3000).fit(&houses().view()).unwrap_err();
        assert_eq!(error.code(), Code::Numeric);
        assert!(error.message().contains("eta0=0.00000085"), "{error}");
        let hint = error.hint_text().unwrap();
        let rate: f64 = hint.rsplit('=').next().unwrap().parse().unwrap();
        assert!(batch(rate, 3000).fit(&houses().view()).is_ok(), "{hint}");
    }

    #[test]
    fn one_pass_of_updates_row_by_row_is_one_epoch() {
        let x = Matrix::from_fn(40, 3, |i, j| ((i * 7 + j * 5) as f64).sin());
        let y: Vec<f64> = (0..40).map(|i| x[(i, 0)] - 2.0 * x[(i, 1)] + 0.3).collect();
        let data = OwnedDataset::regression(x, y);
        for penalty in [DescentPenalty::L2, DescentPenalty::L1, DescentPenalty::Elasticnet] {
            for average in [Average::Always(false), Average::From(7)] {
                let learner = SGDRegressor {
                    steps: Steps { penalty, average, alpha: 0.01, ..Steps::default() },
                    passes: Passes { shuffle: false, tol: None, max_iter: 1, ..Passes::default() },
                    ..Default::default()
                };
                let mut model = None;
                for i in 0..40 {
                    let row = data.view().rows(i, i + 1);
                    let next = learner.update_in(model.as_ref(), &row, &Context::default());
                    model = Some(next.unwrap());
                }
                let (model, epoch) = (model.unwrap(), learner.fit(&data.view()).unwrap());
                assert_eq!(model.t, epoch.t);
                for (a, b) in model.coef.as_slice().iter().zip(epoch.coef.as_slice()) {
                    assert!((a - b).abs() < 1e-12, "{penalty} {average}");
                }
            }
        }
    }

    #[test]
    fn momentum_and_averages_reach_the_least_squares_line() {
        let x = Matrix::column_vector((0..60).map(|i| f64::from(i) / 30.0 - 1.0).collect());
        let y = x.as_slice().iter().map(|x| 2.0 * x - 1.0).collect();
        let data = OwnedDataset::regression(x, y);
        let plain = SGDRegressor {
            steps: Steps { penalty: DescentPenalty::Nothing, ..Steps::default() },
            passes: Passes { tol: None, max_iter: 300, ..Passes::default() },
            ..Default::default()
        };
        let ways = [
            SGDRegressor {
                steps: Steps { momentum: 0.9, batch_size: 10, ..plain.steps },
                ..plain.clone()
            },
            SGDRegressor {
                steps: Steps { average: Average::From(12_000), ..plain.steps },
                ..plain.clone()
            },
            SGDRegressor {
                learning_rate: LearningRate::Adaptive,
                passes: Passes { tol: Some(1e-9), ..plain.passes },
                ..plain.clone()
            },
            SGDRegressor {
                passes: Passes { early_stopping: true, tol: Some(1e-9), ..plain.passes },
                ..plain.clone()
            },
            plain,
        ];
        for learner in ways {
            let model = learner.fit(&data.view()).unwrap();
            let (w, b) = (model.coef[(0, 0)], model.intercept[0]);
            assert!((w - 2.0).abs() < 0.05 && (b + 1.0).abs() < 0.05, "{learner:?}: {w} {b}");
        }
    }

    #[test]
    fn a_strong_l1_penalty_leaves_only_the_column_that_matters() {
        let x = Matrix::from_fn(200, 4, |i, j| ((i * [7, 11, 13, 17][j]) % 19) as f64 / 9.0 - 1.0);
        let y = (0..200).map(|i| 3.0 * x[(i, 2)]).collect();
        let data = OwnedDataset::regression(x, y);
        let learner = SGDRegressor {
            steps: Steps { penalty: DescentPenalty::L1, alpha: 0.3, ..Steps::default() },
            ..Default::default()
        };
        let model = learner.fit(&data.view()).unwrap();
        let zeros = model.coef.as_slice().iter().filter(|&&w| w == 0.0).count();
        assert!(zeros >= 2 && model.coef[(0, 2)] > 1.5, "{:?}", model.coef);
    }
}
