//! Bumping: a learner fitted on the rows and on bootstrap samples of them; the fit with the least error on
//! the rows themselves is kept.
//!
//! Samples differ enough that a greedy learner may find in one of them what it misses in all rows, such as
//! the first cut of exclusive or. The candidates have the same parameters, so equal complexity. The error
//! is the weighted share of wrong classes, or the weighted mean square; of equals the first counts, the fit
//! on the rows themselves before all.
//!
//! Tibshirani and Knight (1999), Journal of Computational and Graphical Statistics 8, 671-686.

use super::bagging::{draw, fit_member};
use super::{
    accepts_of_parts, check_classifiers, check_regressors, codes_of, parts_of, predictions_of,
    shares_of,
};
use crate::learner::{Fitted, Learner};
use crate::tree::{DecisionTreeClassifier, DecisionTreeRegressor, Growth};
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// The random stream of a member's rows.
const ROWS_STREAM: u64 = 0x6275_6d70;

/// Why weights do not repeat rows.
const DRAWN: &str = "a weight does not change how often a row is drawn";

/// Bumping classifier: the best of fits on bootstrap samples, by the error on the rows themselves.
///
/// ```
/// use learnt::{ensemble::BumpingClassifier, prelude::*};
/// let data = learnt::datasets::load("iris")?;
/// let model = BumpingClassifier::default().fit(&data.view())?;
/// assert_eq!(model.errors.len(), 21);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct BumpingClassifier {
    /// The classifier; none is a tree of depth 2.
    #[param(positional, learner = classifier, default = None)]
    pub estimator: Option<Learner>,
    /// Number of bootstrap samples.
    #[param(default = 20, range = 1.., search = set(20, 50))]
    pub n_estimators: usize,
}

/// Bumping regressor: the best of fits on bootstrap samples, by the error on the rows themselves.
///
/// ```
/// use learnt::{ensemble::BumpingRegressor, prelude::*};
/// let data = learnt::datasets::load("cpu")?;
/// let model = BumpingRegressor::default().fit(&data.view())?;
/// assert!(model.errors[model.chosen] <= model.errors[0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct BumpingRegressor {
    /// The regressor; none is a tree of depth 4.
    #[param(positional, learner = regressor, default = None)]
    pub estimator: Option<Learner>,
    /// Number of bootstrap samples.
    #[param(default = 20, range = 1.., search = set(20, 50))]
    pub n_estimators: usize,
}

/// A fitted [`BumpingClassifier`].
#[derive(Model, Debug)]
#[model(classifier, validate = validate, report = report, accepts = accepts, parts = parts)]
pub struct BumpingClassifierModel {
    /// Error of each fit on the rows themselves; the first was fitted on them.
    #[share]
    pub errors: Vec<f64>,
    /// Which fit was kept; 0 is the one of the rows themselves.
    pub chosen: usize,
    parts: Vec<Fitted>,
    classes: Vec<Label>,
}

/// A fitted [`BumpingRegressor`].
#[derive(Model, Debug)]
#[model(regressor, validate = validate, report = report, accepts = accepts, parts = parts)]
pub struct BumpingRegressorModel {
    /// Mean squared error of each fit on the rows themselves; the first was fitted on them.
    #[finite]
    pub errors: Vec<f64>,
    /// Which fit was kept; 0 is the one of the rows themselves.
    pub chosen: usize,
    parts: Vec<Fitted>,
}

fn small_tree(depth: usize) -> Growth {
    Growth { max_depth: Some(depth), ..Default::default() }
}

impl BumpingClassifier {
    fn learner(&self) -> Learner {
        let tree = || DecisionTreeClassifier { growth: small_tree(2), ..Default::default() }.into();
        self.estimator.clone().unwrap_or_else(tree)
    }
}

impl BumpingRegressor {
    fn learner(&self) -> Learner {
        let tree = || DecisionTreeRegressor { growth: small_tree(4), ..Default::default() }.into();
        self.estimator.clone().unwrap_or_else(tree)
    }
}

/// The errors of all fits, and the best of them.
fn bump(
    learner: &Learner,
    samples: usize,
    data: &Dataset,
    run: &Context,
    error: impl Fn(&Fitted, &Context) -> Result<f64> + Sync,
) -> Result<(Vec<f64>, usize, Fitted)> {
    let rows = data.nrows();
    let columns: Vec<usize> = (0..data.x.ncols()).collect();
    let fit = |k: usize| {
        let inner = run.child(k as u64);
        let counts = match k {
            0 => vec![1; rows],
            _ => draw(rows, rows, true, ROWS_STREAM, &inner)?,
        };
        fit_member(learner, &format!("sample {k}"), data, &counts, &columns, &inner)
    };
    let errors = run.try_par_map(samples + 1, |k| {
        run.checkpoint()?;
        error(&fit(k)?, &run.child(k as u64))
    })?;
    // Sums of equal weights in another order are equal errors.
    let equal = 1e-12 * errors[0];
    let better = |best: usize, k: usize| if errors[k] < errors[best] - equal { k } else { best };
    let chosen = (1..errors.len()).fold(0, better);
    // Fitted again rather than kept: members may be large.
    let part = fit(chosen)?;
    Ok((errors, chosen, part))
}

fn report_of(errors: &[f64], chosen: usize, parts: &[Fitted]) -> Answer {
    let mut report = Answer::new("Bumping");
    let table = Columns::titled("Fits; the first is that of the rows themselves")
        .reals("error on the rows", errors.to_vec());
    report.tables.push(table);
    report.push("chosen", chosen);
    report.push("error of the rows' own fit", errors[0]);
    report.push("error of the chosen fit", errors[chosen]);
    report.push("learner", parts.first().map_or("", |part| part.about.name()).to_string());
    report
}

/// One part, and errors among which it has the least.
fn fits(errors: &[f64], chosen: usize, parts: &[Fitted]) -> Result<()> {
    let scale = errors.first().map_or(0.0, |error| 1e-9 * error);
    let near = |best: &f64, error: &f64| *error >= best - scale;
    let least = errors.get(chosen).is_some_and(|best| errors.iter().all(|error| near(best, error)));
    match least && parts.len() == 1 {
        true => Ok(()),
        false => Err(invalid("errors that do not fit the chosen member")),
    }
}

impl Estimator for BumpingClassifier {
    type Model = BumpingClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.BumpingClassifier")
        .alias(&["bumping"])
        .weights()
        .missing()
        .categories()
        .only_by_name()
        .randomness()
        .threads()
        .complexity(60)
        .cost("a fit of the learner for each sample")
        .reference("Tibshirani and Knight (1999)")
        .exempt(&[
            ("weights_repeat", DRAWN),
            ("seeds_differ", "the rows themselves may give the best fit for every seed"),
        ]);

    fn accepts(&self) -> Accepts {
        Accepts { many_outputs: false, ..self.learner().any_accepts() }
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<BumpingClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let total: f64 = (0..data.nrows()).map(|i| data.weight(i)).sum();
        let error = |part: &Fitted, run: &Context| {
            let found = codes_of(part, classes.len(), &data.x, run)?;
            let wrong = (0..found.len()).filter(|&i| found[i] != codes[i]).map(|i| data.weight(i));
            Ok((wrong.sum::<f64>() / total).min(1.0))
        };
        let (errors, chosen, part) = bump(&self.learner(), self.n_estimators, data, run, error)?;
        Ok(BumpingClassifierModel { errors, chosen, parts: vec![part], classes: classes.to_vec() })
    }
}

impl BumpingClassifierModel {
    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(parts_of(&self.parts, schema, classes))
    }

    fn report(&self, _: &Names) -> Answer {
        report_of(&self.errors, self.chosen, &self.parts)
    }

    fn validate(&self) -> Result<()> {
        check_classifiers(&self.parts)?;
        fits(&self.errors, self.chosen, &self.parts)?;
        if self.classes.is_empty() { Err(invalid("no classes")) } else { Ok(()) }
    }
}

impl Classifier for BumpingClassifierModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        shares_of(&self.parts[0], self.classes.len(), x, run)
    }

    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        codes_of(&self.parts[0], self.classes.len(), x, run)
    }
}

impl Estimator for BumpingRegressor {
    type Model = BumpingRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("ensemble.BumpingRegressor")
        .alias(&["bumping"])
        .weights()
        .missing()
        .categories()
        .only_by_name()
        .randomness()
        .threads()
        .complexity(60)
        .cost("a fit of the learner for each sample")
        .reference("Tibshirani and Knight (1999)")
        .exempt(&[
            ("weights_repeat", DRAWN),
            ("seeds_differ", "the rows themselves may give the best fit for every seed"),
        ]);

    fn accepts(&self) -> Accepts {
        Accepts { many_outputs: false, ..self.learner().any_accepts() }
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<BumpingRegressorModel> {
        let y = data.real_target()?;
        let total: f64 = (0..data.nrows()).map(|i| data.weight(i)).sum();
        let error = |part: &Fitted, run: &Context| {
            let found = predictions_of(part, &data.x, run)?;
            let square = |i: usize| data.weight(i) / total * (y.at(i, 0) - found[i]).powi(2);
            let error: f64 = (0..found.len()).map(square).sum();
            match error.is_finite() {
                true => Ok(error),
                false => Err(Error::numeric("errors too large to be squared")),
            }
        };
        let (errors, chosen, part) = bump(&self.learner(), self.n_estimators, data, run, error)?;
        Ok(BumpingRegressorModel { errors, chosen, parts: vec![part] })
    }
}

impl BumpingRegressorModel {
    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(parts_of(&self.parts, schema, classes))
    }

    fn report(&self, _: &Names) -> Answer {
        report_of(&self.errors, self.chosen, &self.parts)
    }

    fn validate(&self) -> Result<()> {
        check_regressors(&self.parts)?;
        fits(&self.errors, self.chosen, &self.parts)
    }
}

impl Regressor for BumpingRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        Ok(Matrix::column_vector(predictions_of(&self.parts[0], x, run)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample;

    /// Points of the unit square; the class is exclusive or of its halves.
    fn squares(rows: usize, seed: u64) -> OwnedDataset {
        let mut rng = Context::default().with_seed(seed).rng(5);
        let x = Matrix::from_fn(rows, 2, |_, _| sample::uniform(&mut rng));
        let class = |i: usize| (x[(i, 0)] > 0.5) != (x[(i, 1)] > 0.5);
        let y: Vec<Label> = (0..rows).map(|i| Label::Int(i64::from(class(i)))).collect();
        OwnedDataset::classification(x, &y)
    }

    fn error(model: &dyn Classifier, data: &OwnedDataset) -> f64 {
        let (codes, _) = data.view().class_target().unwrap();
        let found = model.classify(&data.x.frame()).unwrap();
        found.iter().zip(codes).filter(|(a, b)| a != b).count() as f64 / codes.len() as f64
    }

    #[test]
    fn bumping_finds_exclusive_or_where_one_tree_of_depth_two_does_not() {
        let test = squares(2000, 999);
        let (mut single, mut bumped) = (0.0, 0.0);
        for seed in 0..30 {
            let data = squares(100, seed);
            let tree = DecisionTreeClassifier { growth: small_tree(2), ..Default::default() };
            single += error(&tree.fit(&data.view()).unwrap(), &test) / 30.0;
            let run = Context::default().with_seed(seed);
            let model = BumpingClassifier::default().fit_in(&data.view(), &run).unwrap();
            assert!(model.errors[model.chosen] <= model.errors[0]);
            bumped += error(&model, &test) / 30.0;
        }
        assert!((0.25..=0.45).contains(&single), "{single}");
        assert!(bumped <= 0.17, "{bumped}");
    }
}
