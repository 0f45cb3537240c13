//! One learner as a parameter, and two-class problems fitted with it.

use super::named::{Part, read_learner, to_spec};
use crate::linear::LogisticRegression;
use learnt_core::estimator::Accepts;
use learnt_core::params::{Kind, ParamType};
use learnt_core::prelude::*;

/// A learner as the parameter `estimator`; nothing is the owner's default.
#[derive(Clone, Debug, Default)]
pub struct Wrapped(pub Option<Box<dyn AnyEstimator>>);

impl Wrapped {
    /// This learner.
    pub fn of(learner: impl Estimator) -> Self {
        Wrapped(Some(Box::new(learner)))
    }

    /// A parameter of the learner, as `estimator__name`.
    pub fn get_nested(&self, name: &str) -> Result<Value> {
        match (&self.0, name.strip_prefix("estimator__")) {
            (Some(learner), Some(rest)) => learner.get(rest),
            _ => Err(Error::unknown("parameter", name, ["estimator"])),
        }
    }

    /// Sets a parameter of the learner, as `estimator__name`.
    pub fn set_nested(&mut self, name: &str, value: &Value) -> Result<()> {
        match (&mut self.0, name.strip_prefix("estimator__")) {
            (Some(learner), Some(rest)) => learner.set(rest, value),
            _ => Err(Error::unknown("parameter", name, ["estimator"])
                .hint("set `estimator` before its parameters")),
        }
    }

    /// The learner, or logistic regression.
    pub(super) fn classifier(&self) -> Box<dyn AnyEstimator> {
        self.0.clone().unwrap_or_else(|| Box::new(LogisticRegression::default()))
    }

    /// Refuses learners that are no classifiers, and parameters out of bounds.
    pub(super) fn check_classifier(&self) -> Result<()> {
        let learner = self.classifier();
        let roles = learner.any_roles();
        if !roles.classifier {
            let got = format!("{} (a {})", learner.about().name(), roles.names().join(" and a "));
            return Err(Error::parameter("estimator", "a classifier", got));
        }
        learner.check().map_err(|error| error.within("estimator"))
    }

    /// What the learner takes.
    pub(super) fn accepts(&self) -> Accepts {
        Accepts { many_outputs: false, ..self.classifier().any_accepts() }
    }
}

impl ParamType for Wrapped {
    fn kind() -> Kind {
        Kind::Optional(Box::new(Kind::Any("a learner")))
    }

    fn to_value(&self) -> Value {
        self.0.as_deref().map_or(Value::Null, to_spec)
    }

    fn from_value(value: &Value) -> Option<Wrapped> {
        match value {
            Value::Null => Some(Wrapped(None)),
            value => read(value).ok().map(|learner| Wrapped(Some(learner))),
        }
    }

    fn explain(value: &Value) -> Option<Error> {
        read(value).err()
    }
}

/// A learner from its specification, its name, or an alias; one shared with a regressor is the
/// classifier.
fn read(value: &Value) -> Result<Box<dyn AnyEstimator>> {
    if let Value::Text(name) = value {
        let found = crate::find_all(name);
        if let Some(entry) = found.iter().find(|entry| entry.about.roles.classifier) {
            return Ok((entry.build)());
        }
    }
    read_learner(value)
}

/// Rows of each class.
pub(super) fn class_rows(data: &Dataset) -> Result<Vec<usize>> {
    let (codes, classes) = data.class_target()?;
    let mut rows = vec![0; classes.len()];
    codes.iter().for_each(|&code| rows[code as usize] += 1);
    match rows.iter().filter(|&&rows| rows > 0).count() {
        0 | 1 => {
            let message = "the target has one class, and two are needed";
            Err(Error::new(Code::OneClass, message))
        }
        _ => Ok(rows),
    }
}

/// Fits the learner on the rows with other codes; `name` says which problem it is.
pub(super) fn fit_part(
    learner: &dyn AnyEstimator,
    data: &Dataset,
    name: String,
    run: &Context,
) -> Result<Part> {
    let model = learner.fit_any(data, run).map_err(|error| error.within(&name))?;
    Ok(Part { name, about: learner.about(), model })
}

/// As a classifier; every part is one.
pub(super) fn classifier(part: &Part) -> Result<&dyn Classifier> {
    part.model.as_classifier().ok_or_else(|| {
        Error::unsupported(format!("'{}' ({}) is not a classifier", part.name, part.about.name()))
    })
}

/// Scores of the second of two classes, 0 on the boundary: margins, else probabilities less ½.
pub(super) fn two_class_scores(part: &Part, x: &Frame, run: &Context) -> Result<Vec<f64>> {
    let model = classifier(part)?;
    let (scores, shift) = match model.decision_scores_in(x, run) {
        Err(error) if error.code() == Code::Unsupported => (model.probabilities_in(x, run)?, 0.5),
        margins => (margins?, 0.0),
    };
    match scores.ncols() {
        1 | 2 => Ok(scores.rows().map(|row| row[row.len() - 1] - shift).collect()),
        _ => Err(Error::internal("scores of other than two classes")),
    }
}

/// The models' own tables, each headed by the problem it belongs to.
pub(super) fn add_tables<'p>(report: &mut Answer, parts: impl Iterator<Item = &'p Part>) {
    const SHOWN: usize = 10;
    for part in parts.take(SHOWN) {
        let Some(own) = part.model.report() else { continue };
        report.tables.extend(
            own.tables
                .into_iter()
                .map(|table| Columns { title: format!("{}: {}", part.name, table.title), ..table }),
        );
    }
}
