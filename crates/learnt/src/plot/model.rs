//! From a trained model and rows to the arrays of a picture.

use super::Scene;
use crate::charts::classification::{Curve, Scored};
use crate::charts::coefficients::Group;
use crate::charts::groups::Groups;
use crate::charts::{self, regression::Fit};
use crate::compose::PipelineModel;
use crate::linear::diagnostics::normal_pairs;
use crate::linear::penalized::{PathKind, PathOptions};
use crate::metrics::{ConfusionCounts, Steps};
use learnt_core::chart::Chart;
use learnt_core::params::{LearnerSpec, all_values};
use learnt_core::prelude::*;
use learnt_core::stats::summary;
use learnt_core::trained::{Missing, Prediction, Trained};
use std::any::Any;

/// Names of the ends of intervals in tables of coefficients.
const ENDS: [(&str, &str); 2] = [("2.5%", "97.5%"), ("lower", "upper")];

pub(super) fn confusion(scene: &Scene) -> Result<Chart> {
    let trained = scene.trained;
    if trained.model.as_classifier().is_none() {
        return Err(no_classifier(trained));
    }
    let data = scene.rows()?;
    let (codes, _) = data.class_target()?;
    let outcome = scene.outcome()?;
    let predicted = outcome.codes.ok_or_else(|| no_classifier(trained))?;
    let classes = class_names(trained);
    let counts = ConfusionCounts::new(codes, predicted, classes.len(), data.weights)?;
    Ok(charts::classification::confusion(counts.counts(), &classes))
}

pub(super) fn roc(scene: &Scene) -> Result<Chart> {
    let curve = |one: &Scored| {
        let steps = steps(one, scene.run);
        let (hits, misses) = steps.both_classes("the ROC curve", scene.run)?;
        Ok(Curve {
            class: one.class.clone(),
            x: after(0.0, steps.false_positives.iter().map(|count| count / misses)),
            y: after(0.0, steps.true_positives.iter().map(|count| count / hits)),
            sum: steps.area() / hits / misses,
        })
    };
    let scored = scored(scene, true)?;
    Ok(charts::classification::roc(&scored.iter().map(curve).collect::<Result<Vec<_>>>()?))
}

fn steps(one: &Scored, run: &Context) -> Steps {
    Steps::new(|i| one.positive[i], &one.scores, one.weights, run)
}

fn after(first: f64, rest: impl Iterator<Item = f64>) -> Vec<f64> {
    std::iter::once(first).chain(rest).collect()
}

pub(super) fn precision_recall(scene: &Scene) -> Result<Chart> {
    let curve = |one: &Scored| {
        let steps = steps(one, scene.run);
        let (hits, _) = steps.both_classes("recall", scene.run)?;
        let called = steps.true_positives.iter().zip(&steps.false_positives);
        Ok(Curve {
            class: one.class.clone(),
            x: after(0.0, steps.true_positives.iter().map(|count| count / hits)),
            y: after(1.0, called.map(|(right, wrong)| right / (right + wrong))),
            sum: steps.average_precision(),
        })
    };
    let scored = scored(scene, true)?;
    let curves = scored.iter().map(curve).collect::<Result<Vec<_>>>()?;
    Ok(charts::classification::precision_recall(&curves))
}

pub(super) fn calibration(scene: &Scene) -> Result<Chart> {
    Ok(charts::classification::calibration(&scored(scene, false)?))
}

/// Probabilities, or decision scores where those will do; of two classes the second alone, and of more
/// those that the rows hold.
fn scored<'a>(scene: &Scene<'a>, ranking: bool) -> Result<Vec<Scored<'a>>> {
    let (trained, data) = (scene.trained, scene.rows()?);
    if trained.model.as_classifier().is_none() {
        return Err(no_classifier(trained));
    }
    let (codes, _) = data.class_target()?;
    let outcome = scene.outcome()?;
    let decided = outcome.decision_scores.filter(|_| ranking);
    let scores = outcome.probabilities.or(decided).ok_or_else(|| {
        Error::unsupported(format!("{} gives no probabilities", trained.about.name()))
    })?;
    let classes = class_names(trained);
    let two = classes.len() == 2;
    let chosen: Vec<usize> = match two {
        true => vec![1],
        false => {
            (0..classes.len()).filter(|&k| codes.iter().any(|&code| code as usize == k)).collect()
        }
    };
    let one = |k: usize| Scored {
        class: classes[k].clone(),
        positive: codes.iter().map(|&code| code as usize == k).collect(),
        // Two classes may have one column of decision scores.
        scores: scores.column(k.min(scores.ncols().saturating_sub(1))),
        weights: data.weights,
    };
    Ok(chosen.into_iter().map(one).collect())
}

pub(super) fn predicted_actual(scene: &Scene) -> Result<Chart> {
    let (actual, predicted) = outputs(scene)?;
    Ok(charts::regression::predicted_against_actual(&actual, &predicted))
}

pub(super) fn residuals(scene: &Scene) -> Result<Chart> {
    let (actual, fitted) = outputs(scene)?;
    Ok(charts::regression::residuals_against_fitted(&fitted, &differences(&actual, &fitted)))
}

/// Residuals over their own standard deviation, so that rows other than those of training will do.
pub(super) fn normal_quantiles(scene: &Scene) -> Result<Chart> {
    let (actual, fitted) = outputs(scene)?;
    let residuals = differences(&actual, &fitted);
    let spread = summary::variance(&residuals, None, 1.0).map_or(0.0, f64::sqrt);
    let mean = summary::mean(&residuals, None).unwrap_or(0.0);
    let scale = if spread > 0.0 { spread } else { 1.0 };
    let standardised: Vec<f64> = residuals.iter().map(|r| (r - mean) / scale).collect();
    Ok(charts::regression::normal_quantiles(&normal_pairs(&standardised)))
}

pub(super) fn scale_location(scene: &Scene) -> Result<Chart> {
    let found = Influence::of(scene)?;
    Ok(charts::regression::scale_location(&found.fitted, &found.standardised))
}

pub(super) fn leverage(scene: &Scene) -> Result<Chart> {
    let found = Influence::of(scene)?;
    Ok(charts::regression::residuals_against_leverage(
        &found.leverage,
        &found.beside_leverage,
        &found.cook,
    ))
}

pub(super) fn diagnostics(scene: &Scene) -> Result<Chart> {
    let found = Influence::of(scene)?;
    Ok(charts::regression::diagnostics(&Fit {
        fitted: &found.fitted,
        residual: &found.residual,
        standardised: &found.standardised,
        quantiles: &normal_pairs(&found.standardised),
        leverage: &found.leverage,
        beside_leverage: &found.beside_leverage,
        cook: &found.cook,
    }))
}

/// What a model answers to the question `influence`.
struct Influence {
    fitted: Vec<f64>,
    residual: Vec<f64>,
    standardised: Vec<f64>,
    /// What Cook's distance is made from: Pearson's residuals where those of the deviance are standardised.
    beside_leverage: Vec<f64>,
    leverage: Vec<f64>,
    cook: Vec<f64>,
}

impl Influence {
    fn of(scene: &Scene) -> Result<Influence> {
        let (trained, data, run) = (scene.trained, scene.rows()?, scene.run);
        if !trained.model.questions().iter().any(|question| question.name == "influence") {
            let message = format!("{} does not know the influence of rows", trained.about.name());
            return Err(Error::unsupported(message).hint("least squares, generalised linear models and logistic regression of two classes do"));
        }
        let answer = trained.ask("influence", &[], Some(*data), run)?;
        let column = |name: &str| {
            let found = answer.column(name).and_then(|column| column.reals());
            found.ok_or_else(|| Error::internal("influence without a column"))
        };
        Ok(Influence {
            fitted: column("fitted")?,
            residual: column("residual")?,
            standardised: column("standardised")?,
            beside_leverage: column("standardised pearson").or_else(|_| column("standardised"))?,
            leverage: column("leverage")?,
            cook: column("cook")?,
        })
    }
}

/// Tables of coefficients of the model's report, with intervals where they have them.
pub(super) fn coefficients(scene: &Scene) -> Result<Chart> {
    let trained = scene.trained;
    let answer = trained.report().unwrap_or_default();
    let group = |table: &Columns| {
        let numbers = |name: &str| table.column(name).and_then(|column| column.reals());
        let estimates = numbers("coefficient")?;
        let terms = table.column("term")?;
        let ends = ENDS.iter().find_map(|(low, high)| numbers(low).zip(numbers(high)));
        let group = Group {
            title: table.title.clone(),
            terms: (0..estimates.len()).map(|i| terms.text(i)).collect(),
            estimates,
            intervals: ends.map_or(Vec::new(), |(low, high)| low.into_iter().zip(high).collect()),
        };
        Some(group.of_slopes())
    };
    let groups: Vec<Group> = answer.tables.iter().filter_map(group).take(6).collect();
    match groups.is_empty() {
        true => Err(Error::unsupported(format!("{} has no coefficients", trained.about.name()))),
        false => Ok(charts::coefficients::intervals(&groups, 0.95)),
    }
}

/// The path of the model's own penalty over rows as its last step sees them.
pub(super) fn path(scene: &Scene) -> Result<Chart> {
    let (trained, data, run) = (scene.trained, scene.rows()?, scene.run);
    let last = last_model(trained);
    let answer = |name: &str| {
        let found = last.attributes().into_iter().find(|(known, _)| *known == name);
        found.and_then(|(_, node)| f64::from_node(&node).ok())
    };
    let (learner, params) = learner_of(trained)?;
    let parameter = |name: &str| {
        params.iter().find(|(known, _)| known == name).and_then(|(_, value)| real(value))
    };
    let ratio = answer("l1_ratio").or_else(|| parameter("l1_ratio")).unwrap_or(0.5);
    let kind = match learner {
        "linear_model.Lasso" | "linear_model.LassoCV" => PathKind::Lasso,
        "linear_model.ElasticNet" | "linear_model.ElasticNetCV" if ratio > 0.0 => {
            PathKind::ElasticNet { l1_ratio: ratio }
        }
        "linear_model.Ridge" | "linear_model.RidgeCV" => PathKind::Ridge,
        _ => {
            let message = format!("{} has no path of a penalty", trained.about.name());
            return Err(Error::unsupported(message).hint("lasso, elastic-net and ridge have"));
        }
    };
    let alpha = answer("alpha").or_else(|| parameter("alpha"));
    let draw = |x: &Frame| {
        let data = Dataset { x: *x, ..*data };
        let mut options = PathOptions { least_squares: false, ..PathOptions::default() };
        let mut found = crate::linear::penalized::path(kind, &data, &options, run)?;
        // The usual path may end before the model's own penalty.
        if let (Some(own), [largest, .., last]) = (alpha, found.alphas.as_slice())
            && own > 0.0
            && own < *last
        {
            options.eps = (0.5 * own / largest).max(1e-10);
            found = crate::linear::penalized::path(kind, &data, &options, run)?;
        }
        Ok(found.chart(alpha.filter(|alpha| *alpha > 0.0).map(|alpha| ("this model", alpha))))
    };
    let rows = trained.admit(&data.x, None, Missing::Error, run)?;
    match as_pipeline(trained) {
        Some(pipeline) => pipeline.prepared(&rows.frame(), run, draw),
        None => draw(&rows.frame()),
    }
}

pub(super) fn tree(scene: &Scene) -> Result<Chart> {
    own_chart(scene.trained, "Decision tree", "tree")
}

pub(super) fn scree(scene: &Scene) -> Result<Chart> {
    own_chart(scene.trained, "Variance of the components", "principal components")
}

/// A chart that the model's own report holds.
fn own_chart(trained: &Trained, title: &str, noun: &str) -> Result<Chart> {
    let answer = trained.report().unwrap_or_default();
    let found = answer.charts.into_iter().find(|chart| chart.title == title);
    found.ok_or_else(|| Error::unsupported(format!("{} has no {noun}", trained.about.name())))
}

pub(super) fn biplot(scene: &Scene) -> Result<Chart> {
    let trained = scene.trained;
    let wrong =
        || Error::unsupported(format!("{} has no two principal components", trained.about.name()));
    let answer = trained.report().unwrap_or_default();
    let table = answer.tables.iter().find(|table| table.title == "Loadings").ok_or_else(wrong)?;
    let loading =
        |k: usize| table.columns.get(k + 1).and_then(|column| column.reals()).ok_or_else(wrong);
    let (one, two) = (loading(0)?, loading(1)?);
    let names: Vec<String> = (0..table.len()).map(|i| table.columns[0].text(i)).collect();
    let Prediction::Table(scores) = trained.predict(&scene.rows()?.x, scene.run)? else {
        return Err(wrong());
    };
    let axes: Vec<&str> = scores.schema().names().take(2).collect();
    let [first, second] = axes[..] else { return Err(wrong()) };
    let column = |k: usize| scores.values().column(k);
    Ok(charts::components::biplot([first, second], [&column(0), &column(1)], &names, [&one, &two]))
}

/// Rows by class in the coordinates of a classifier that is a transformer too.
pub(super) fn coordinates(scene: &Scene) -> Result<Chart> {
    let (trained, data) = (scene.trained, scene.rows()?);
    let wrong =
        || Error::unsupported(format!("{} has no discriminant coordinates", trained.about.name()));
    let model = last_model(trained);
    if model.as_classifier().is_none() || model.as_transformer().is_none() {
        return Err(wrong());
    }
    let (codes, _) = data.class_target()?;
    let rows = trained.admit(&data.x, data.sequences, Missing::Error, scene.run)?;
    let transform = |x: &Frame| match model.as_transformer() {
        Some(transformer) => transformer.transform_in(x, scene.run),
        None => Err(wrong()),
    };
    let points = match as_pipeline(trained) {
        Some(pipeline) => pipeline.prepared(&rows.frame(), scene.run, transform)?,
        None => transform(&rows.frame())?,
    };
    let points = points.values();
    let names = class_names(trained);
    let means = class_means(points, codes, names.len(), data.weights);
    charts::groups::scatter(&Groups {
        title: "Discriminant coordinates",
        text: "Each point is a row along the coordinates that separate the classes most.",
        axes: ["first coordinate", "second coordinate"],
        points: points.view(),
        codes,
        names: &names,
        centres: Some(means.view()),
    })
    .ok_or_else(wrong)
}

/// Mean of the rows of each class; not a number for a class without rows.
fn class_means(x: &Matrix, codes: &[u32], classes: usize, weights: Option<&[f64]>) -> Matrix {
    let mut sums = Matrix::zeros(classes, x.ncols());
    let mut total = vec![0.0; classes];
    for (i, &code) in codes.iter().enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[i]);
        total[code as usize] += weight;
        for (sum, value) in sums.row_mut(code as usize).iter_mut().zip(x.row(i)) {
            *sum += weight * value;
        }
    }
    Matrix::from_fn(classes, x.ncols(), |k, j| sums[(k, j)] / total[k])
}

/// Actual and predicted numbers of the first output.
fn outputs(scene: &Scene) -> Result<(Vec<f64>, Vec<f64>)> {
    let name = scene.trained.about.name();
    let actual = match scene.trained.model.as_regressor() {
        Some(_) => scene.rows()?.real_target()?.column(0),
        None => return Err(Error::unsupported(format!("{name} is not a regressor"))),
    };
    match scene.outcome()?.values {
        Some(values) => Ok((actual, values.column(0))),
        None => Err(Error::internal("a regressor that predicts no numbers")),
    }
}

fn differences(actual: &[f64], fitted: &[f64]) -> Vec<f64> {
    actual.iter().zip(fitted).map(|(actual, fitted)| actual - fitted).collect()
}

fn class_names(trained: &Trained) -> Vec<String> {
    trained.history.classes.iter().map(ToString::to_string).collect()
}

fn no_classifier(trained: &Trained) -> Error {
    Error::unsupported(format!("{} is not a classifier", trained.about.name()))
}

pub(super) fn as_pipeline(trained: &Trained) -> Option<&PipelineModel> {
    let any: &dyn Any = trained.model.as_ref();
    any.downcast_ref()
}

pub(super) fn last_model(trained: &Trained) -> &dyn Model {
    let last = as_pipeline(trained).and_then(PipelineModel::last);
    last.unwrap_or(trained.model.as_ref())
}

/// Path and parameters of the learner, or of the last step of a pipeline.
pub(super) fn learner_of(trained: &Trained) -> Result<(&'static str, Vec<(String, Value)>)> {
    let params = &trained.history.params;
    if as_pipeline(trained).is_none() {
        return Ok((trained.about.path, params.clone()));
    }
    let spec = params.iter().rev().find_map(|(_, value)| last_learner(value));
    let learner = crate::build(spec.ok_or_else(|| Error::internal("a pipeline without steps"))?)?;
    Ok((learner.about().path, all_values(learner.as_ref())?))
}

/// The last learner that a value holds.
fn last_learner(value: &Value) -> Option<&LearnerSpec> {
    match value {
        Value::Learner(spec) => Some(spec),
        Value::List(items) => items.iter().rev().find_map(last_learner),
        _ => None,
    }
}

pub(super) fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Real(x) => Some(*x),
        Value::Int(i) => Some(*i as f64),
        _ => None,
    }
}
