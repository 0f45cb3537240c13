//! Elastic net: least squares with an L1 and an L2 penalty.
//!
//! Minimises (1/2n) Σ w (y - a - xb)² + alpha l1_ratio ‖b‖₁ + ½ alpha (1 - l1_ratio) ‖b‖², with n the
//! sum of the weights and a free. ‖y - Xb‖² + λ (r ‖b‖₁ + (1 - r) ‖b‖²) is the same with
//! λ r = 2 n alpha l1_ratio and λ (1 - r) = n alpha (1 - l1_ratio).
//! Cyclic coordinate descent on the products of columns (see `quadratic`), which one pass over the
//! data sums up; with fewer rows than columns, or very many columns, on the columns themselves.
//! Stops when the duality gap is at most tol mean (y - ȳ)².
//!
//! Zou and Hastie (2005), Journal of the Royal Statistical Society B 67(2), 301-320.

use super::coordinate_descent::CoordinateDescent;
use super::problem::{Problem, Settings, Solved};
use super::sums::{Stage, Summary};
use crate::linear::coefficient_table::of_sparse_outputs;
use learnt_core::prelude::*;
use learnt_core::rounds::{InMemory, Source};

/// Elastic net: least squares with an L1 and an L2 penalty on the coefficients.
///
/// Products of columns are summed first whenever that is faster.
///
/// ```
/// use learnt::{linear::penalized::ElasticNet, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
/// let data = OwnedDataset::regression(x, vec![2.0, 4.0, 5.0, 4.0, 5.0]);
/// let model = ElasticNet { alpha: 0.8, ..ElasticNet::default() }.fit(&data.view())?;
/// assert!((model.coef[(0, 0)] - 0.8 / 2.4).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct ElasticNet {
    /// Regularization strength (weight of the penalty); 0 is plain least squares.
    #[param(positional, default = 1.0, range = 0.0.., search = log(1e-4, 1e2))]
    pub alpha: f64,
    /// Share of the L1 penalty: 1 is the lasso, 0 is ridge regression.
    #[param(default = 0.5, range = 0.0..=1.0, search = linear(0.0, 1.0))]
    pub l1_ratio: f64,
    /// How the coefficients are found.
    #[param(flatten)]
    pub descent: CoordinateDescent,
}

/// A fitted [`ElasticNet`] or [`Lasso`](super::Lasso).
#[derive(Model, Clone, Debug)]
#[model(regressor = linear, report = report, converged = converged)]
pub struct ElasticNetModel {
    /// Coefficients, (n_outputs × n_features).
    #[shape(outputs, columns)]
    #[finite]
    pub coef: Matrix,
    /// One intercept for each output; zero without `fit_intercept`.
    #[shape(outputs)]
    #[finite]
    pub intercept: Vec<f64>,
    /// Duality gap of each output: the objective is at most this far above its minimum. With
    /// `alpha` 0, what each coefficient alone could still gain, added up.
    #[shape(outputs)]
    pub dual_gap: Vec<f64>,
    /// Passes over the coefficients for each output.
    #[shape(outputs)]
    pub n_iter: Vec<usize>,
    alpha: f64,
    l1_ratio: f64,
    converged: bool,
}

/// What [`ElasticNet`] and the lasso share.
#[derive(Clone, Copy, Debug)]
pub struct Net {
    pub(super) alpha: f64,
    pub(super) l1_ratio: f64,
    pub(super) fit_intercept: bool,
    pub(super) settings: Settings,
}

impl Estimator for ElasticNet {
    type Model = ElasticNetModel;
    type Fit = Net;
    const ABOUT: &'static About = &About::regressor("linear_model.ElasticNet")
        .weights()
        .many_outputs()
        .threads()
        .iterations()
        .monotone()
        .randomness()
        .streaming()
        .complexity(21)
        .cost("n p² time, p² memory; n p time a pass with more columns than rows")
        .reference("Zou and Hastie (2005), JRSS B 67(2), 301-320")
        .exempt(&[
            ("seeds_differ", "only `selection` random draws; the default does not"),
            (
                "beats_the_dummy",
                "the default alpha of 1 is scikit-learn's, and shrinks targets of variance near 1 by half",
            ),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<ElasticNetModel> {
        match self.rounds().train_on_demand(data, run)? {
            Some(model) => Ok(model),
            None => rounds::train(self, data, run),
        }
    }
}

impl FitBy<Net> for ElasticNet {
    fn rounds(&self) -> Net {
        Net {
            alpha: self.alpha,
            l1_ratio: self.l1_ratio,
            fit_intercept: self.descent.fit_intercept,
            settings: self.descent.settings(),
        }
    }

    fn model(&self, model: ElasticNetModel, _: &Context) -> Result<ElasticNetModel> {
        Ok(model)
    }
}

/// One pass, then coordinate descent.
impl Rounds for Net {
    type State = Stage;
    type Summary = Summary;
    type Output = ElasticNetModel;

    fn begin(&self, outline: &Outline, run: &Context) -> Result<Stage> {
        Stage::for_one(outline, self.penalties().0, run)
    }

    fn summarize(
        &self,
        state: &Stage,
        block: &Block,
        _: &mut Memo,
        _: &Context,
    ) -> Result<Summary> {
        state.summarize(&block.data, self.fit_intercept)
    }

    fn advance(
        &self,
        state: Stage,
        all: Summary,
        run: &Context,
    ) -> Result<Step<Stage, ElasticNetModel>> {
        let problem = state.problem(all, self.fit_intercept, run)?;
        self.fit(&problem, run).map(Step::Done)
    }
}

impl Net {
    /// The penalties (l1, l2) of the mean of squares.
    pub(super) fn penalties(&self) -> (f64, f64) {
        (self.alpha * self.l1_ratio, self.alpha * (1.0 - self.l1_ratio))
    }

    /// The fit of a table in memory that needs no pass of its own, with the same bits.
    pub(super) fn train_on_demand(
        &self,
        data: &Dataset,
        run: &Context,
    ) -> Result<Option<ElasticNetModel>> {
        let stage = self.begin(&InMemory::new(*data).outline(), run)?;
        let Some(problem) = stage.on_demand(data, self.fit_intercept, run)? else {
            return Ok(None);
        };
        self.fit(&problem, run).map(Some)
    }

    /// Every output by itself.
    pub(super) fn fit(&self, problem: &Problem, run: &Context) -> Result<ElasticNetModel> {
        let outputs = problem.right.len();
        let solve = |t: usize, run: &Context| {
            problem.solve(t, &mut problem.start(t), self.penalties(), 1.0, &self.settings, run)
        };
        let each = match outputs {
            1 => vec![solve(0, run)?],
            _ => run.try_par_fits(outputs, solve)?,
        };
        for (t, solved) in each.iter().enumerate() {
            warn_unconverged(problem, t, solved, self.settings.tol, run);
        }
        let coef: Vec<&[f64]> = each.iter().map(|solved| &solved.coef[..]).collect();
        let intercept = |(t, solved): (usize, &Solved)| match self.fit_intercept {
            true => problem.intercept(t, &solved.coef),
            false => 0.0,
        };
        Ok(ElasticNetModel {
            intercept: each.iter().enumerate().map(intercept).collect(),
            coef: Matrix::from_rows(&coef)?,
            dual_gap: each.iter().map(|solved| solved.gap).collect(),
            n_iter: each.iter().map(|solved| solved.n_iter).collect(),
            alpha: self.alpha,
            l1_ratio: self.l1_ratio,
            converged: each.iter().all(|solved| solved.converged),
        })
    }
}

/// Running out of passes is a warning with the numbers in it.
pub(super) fn warn_unconverged(
    problem: &Problem,
    t: usize,
    solved: &Solved,
    tol: f64,
    run: &Context,
) {
    if !solved.converged {
        let message = format!(
            "coordinate descent did not converge in {} passes: the duality gap is {:.3e}, and {:.3e} is accepted; raise max_iter, scale the columns or raise alpha",
            solved.n_iter,
            solved.gap,
            tol * problem.total[t]
        );
        run.warn(Code::NotConverged, message);
    }
}

impl ElasticNetModel {
    fn report(&self, names: &Names) -> Answer {
        let title = if self.l1_ratio == 1.0 { "Lasso" } else { "Elastic net" };
        let mut report = of_sparse_outputs(title, &self.coef, &self.intercept, names);
        report.push("alpha", self.alpha);
        if self.l1_ratio != 1.0 {
            report.push("l1_ratio", self.l1_ratio);
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Ridge;
    use crate::linear::penalized::problem::Gram;
    use crate::linear::penalized::{Lasso, Selection};
    use learnt_core::stats::sample::standard_normal;

    fn random(n: usize, d: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(3);
        let x = Matrix::from_fn(n, d, |_, j| standard_normal(&mut rng) + j as f64);
        let y =
            (0..n).map(|i| x[(i, 0)] - 2.0 * x[(i, d - 1)] + standard_normal(&mut rng)).collect();
        OwnedDataset::regression(x, y)
    }

    fn exact(alpha: f64, l1_ratio: f64) -> ElasticNet {
        ElasticNet {
            alpha,
            l1_ratio,
            descent: CoordinateDescent {
                tol: 1e-14,
                max_iter: 100_000,
                ..CoordinateDescent::default()
            },
        }
    }

    fn close(a: &ElasticNetModel, b: &ElasticNetModel, bound: f64) {
        for (x, y) in a.coef.as_slice().iter().zip(b.coef.as_slice()) {
            assert!((x - y).abs() < bound, "{x} {y}");
        }
        assert!((a.intercept[0] - b.intercept[0]).abs() < 10.0 * bound);
    }

    #[test]
    fn the_ratio_one_is_the_lasso() {
        let data = random(80, 6);
        let net = exact(0.3, 1.0).fit(&data.view()).unwrap();
        let lasso = Lasso {
            alpha: 0.3,
            descent: CoordinateDescent { tol: 1e-14, ..CoordinateDescent::default() },
        };
        assert_eq!(net.coef, lasso.fit(&data.view()).unwrap().coef);
        assert!(net.coef.as_slice().contains(&0.0));
    }

    #[test]
    fn the_ratio_zero_is_ridge() {
        for (n, d) in [(80, 6), (10, 30)] {
            let data = random(n, d);
            let net = exact(0.3, 0.0).fit(&data.view()).unwrap();
            let ridge = Ridge { alpha: 0.3 * n as f64, ..Ridge::default() };
            let ridge = ridge.fit(&data.view()).unwrap();
            for (a, b) in net.coef.as_slice().iter().zip(ridge.coef.as_slice()) {
                assert!((a - b).abs() < 1e-6, "{a} {b}");
            }
        }
    }

    #[test]
    fn no_penalty_is_least_squares() {
        let data = random(80, 6);
        let net = exact(0.0, 0.5).fit(&data.view()).unwrap();
        let plain = Ridge { alpha: 0.0, ..Ridge::default() }.fit(&data.view()).unwrap();
        for (a, b) in net.coef.as_slice().iter().zip(plain.coef.as_slice()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }

    #[test]
    fn columns_and_their_products_give_one_answer() {
        for (n, d) in [(30, 29), (30, 31), (20, 200)] {
            let data = random(n, d);
            let run = Context::default();
            let rows = crate::linear::least_squares::Rows::of(&data.view()).unwrap();
            let moments = crate::linear::least_squares::Moments::of(&data.view(), true).unwrap();
            let wide = Problem::from_rows(&rows, 1, true, &run).unwrap();
            let tall = Problem::from_moments(moments, 1).unwrap();
            for (alpha, ratio, positive) in [(0.1, 1.0, false), (0.2, 0.5, false), (0.1, 0.9, true)]
            {
                let net = ElasticNet {
                    descent: CoordinateDescent { positive, ..exact(alpha, ratio).descent },
                    ..exact(alpha, ratio)
                }
                .rounds();
                let a = net.fit(&wide, &run).unwrap();
                close(&a, &net.fit(&tall, &run).unwrap(), 1e-6);
                assert!(a.converged && a.dual_gap[0] < 1e-12);
            }
        }
    }

    #[test]
    fn all_products_are_formed_once_many_columns_are_in_play() {
        let data = random(600, 300);
        let run = Context::default();
        let rows = crate::linear::least_squares::Rows::of(&data.view()).unwrap();
        let moments = crate::linear::least_squares::Moments::of(&data.view(), true).unwrap();
        let tall = Problem::from_moments(moments, 1).unwrap();
        for (alpha, formed) in [(0.3, false), (1e-4, true)] {
            let wide = Problem::from_rows(&rows, 1, true, &run).unwrap();
            let net = exact(alpha, 1.0).rounds();
            close(&net.fit(&wide, &run).unwrap(), &net.fit(&tall, &run).unwrap(), 1e-6);
            let Gram::Columns(columns) = &wide.gram else { panic!("not on demand") };
            assert_eq!(columns.has_all_products(), formed);
        }
    }

    #[test]
    fn random_order_ends_at_the_same_minimum_and_outputs_are_independent() {
        let data = random(60, 8);
        let cyclic = exact(0.1, 0.7).fit(&data.view()).unwrap();
        let random = ElasticNet {
            descent: CoordinateDescent { selection: Selection::Random, ..exact(0.1, 0.7).descent },
            ..exact(0.1, 0.7)
        };
        close(&cyclic, &random.fit(&data.view()).unwrap(), 1e-6);
        let y = data.view().real_target().unwrap().column(0);
        let two = Matrix::from_fn(60, 2, |i, t| if t == 0 { -y[i] } else { y[i] });
        let both = OwnedDataset { y: Some(OwnedTarget::Real(two)), ..data };
        let both = exact(0.1, 0.7).fit(&both.view()).unwrap();
        for j in 0..8 {
            assert!((both.coef[(1, j)] - cyclic.coef[(0, j)]).abs() < 1e-9);
            assert!((both.coef[(0, j)] + cyclic.coef[(0, j)]).abs() < 1e-9);
        }
    }

    #[test]
    fn a_constant_target_or_column_gets_zeros() {
        let data = OwnedDataset::regression(Matrix::from_fn(9, 2, |i, _| i as f64), vec![0.1; 9]);
        let model = ElasticNet::default().fit(&data.view()).unwrap();
        assert_eq!((model.coef.as_slice(), &model.intercept[..]), (&[0.0, 0.0][..], &[0.1][..]));
        let mut data = random(20, 3);
        (0..20).for_each(|i| data.x.values_mut()[(i, 1)] = 0.1);
        for alpha in [0.0, 0.1] {
            assert_eq!(exact(alpha, 0.5).fit(&data.view()).unwrap().coef[(0, 1)], 0.0);
        }
    }

    #[test]
    fn too_few_passes_are_a_warning_with_the_gap() {
        let data = random(50, 10);
        let run = Context::default();
        let recorder = learnt_core::context::Recorder::new(run.observer());
        let learner = ElasticNet {
            descent: CoordinateDescent { max_iter: 1, ..exact(1e-4, 1.0).descent },
            ..exact(1e-4, 1.0)
        };
        let model = learner.fit_in(&data.view(), &run.observed_by(&recorder)).unwrap();
        assert!(!model.converged && model.n_iter == [1]);
        assert!(recorder.warnings()[0].message.contains("duality gap"));
    }
}
