//! The standard preparation: what the command puts in front of a learner that cannot take a table as
//! it is.
//!
//! Missing values are filled (medians of numbers, modes of categories) if the learner cannot take
//! them; categories become columns of 0 and 1 if it needs numbers. Numbers are put on one scale only
//! for learners that do not work without (distances between rows, steps along single rows:
//! `About::scaling`) or where it is asked for: a penalty means the same at the command line as in
//! Python. The result is a specification, so it is part of the saved model and can be shown.

use learnt_core::params::LearnerSpec;
use learnt_core::prelude::*;

/// What a table and its user ask of the preparation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The right side of a formula that makes the columns.
    pub formula: Option<&'a str>,
    /// Whether values are missing and should be filled.
    pub missing: bool,
    /// Whether numbers should be put on one scale whatever the learner.
    pub scale: bool,
}

/// What stands in front of the learner: a pipeline of transformers. `None` if nothing is needed.
pub fn standard_preparation(
    learner: &dyn AnyEstimator,
    schema: &Schema,
    request: Request,
) -> Option<LearnerSpec> {
    let steps = steps(learner, schema, request);
    (!steps.is_empty()).then(|| pipeline(steps))
}

/// The learner with its preparation in front: a pipeline whose last step is `model`. `None` if nothing
/// is needed.
pub fn prepared(
    learner: &dyn AnyEstimator,
    schema: &Schema,
    request: Request,
) -> Option<LearnerSpec> {
    let mut steps = steps(learner, schema, request);
    if steps.is_empty() {
        return None;
    }
    steps.push(("model", LearnerSpec::of(learner)));
    Some(pipeline(steps))
}

/// A preparation and the learner behind it as one: a pipeline whose last step is `model`. The steps of a
/// preparation that is a pipeline stay steps.
pub fn joined(preparation: LearnerSpec, learner: LearnerSpec) -> LearnerSpec {
    let pair = |name: &str, spec: LearnerSpec| Value::List(vec![word(name), Value::Learner(spec)]);
    let steps = preparation.params.iter().find(|(name, _)| name == "steps");
    let mut steps = match (preparation.learner.as_str(), steps) {
        ("pipeline.Pipeline", Some((_, Value::List(steps)))) => steps.clone(),
        _ => vec![pair("prepare", preparation.clone())],
    };
    steps.push(pair("model", learner));
    spec("pipeline.Pipeline", &[("steps", Value::List(steps))])
}

/// Whether the learner, or one inside it, wants columns on one scale.
pub fn wants_scaling(learner: &dyn AnyEstimator) -> bool {
    learner.about().wants_scaling
        || learner.learners().iter().any(|inner| wants_scaling(inner.learner))
}

/// Whether any value is missing.
pub fn has_missing(data: &Dataset) -> bool {
    let values = data.x.values();
    (0..values.nrows()).any(|i| (0..values.ncols()).any(|j| values.at(i, j).is_nan()))
}

type Steps = Vec<(&'static str, LearnerSpec)>;

fn steps(learner: &dyn AnyEstimator, schema: &Schema, request: Request) -> Steps {
    let accepts = learner.any_accepts();
    let scale = request.scale || (request.formula.is_none() && wants_scaling(learner));
    let mut steps = Vec::new();
    if request.missing && !accepts.missing {
        let median = [("strategy", word("median"))];
        steps.push(("impute", spec("impute.SimpleImputer", &median)));
    }
    match request.formula {
        Some(formula) => {
            let formula = [("formula", word(formula))];
            steps.push(("formula", spec("preprocessing.FormulaTransformer", &formula)));
            if scale {
                steps.push(("scale", scaler()));
            }
        }
        None => steps.extend(columns(schema, !accepts.categories, scale)),
    }
    steps
}

/// Categories as columns of 0 and 1 and numbers on one scale, where that is wanted.
fn columns(schema: &Schema, encode: bool, scale: bool) -> Option<(&'static str, LearnerSpec)> {
    let names = |numeric: bool| -> Vec<&str> {
        let wanted = |column: &&Column| (column.kind == ColumnKind::Numeric) == numeric;
        schema.columns().iter().filter(wanted).map(|column| column.name.as_str()).collect()
    };
    let (numbers, categories) = (names(true), names(false));
    let (encode, scale) = (encode && !categories.is_empty(), scale && !numbers.is_empty());
    if scale && categories.is_empty() {
        return Some(("scale", scaler()));
    }
    let mut groups = Vec::new();
    if scale {
        groups.push(group("numbers", scaler(), &numbers));
    }
    if encode {
        let ignore = [("handle_unknown", word("ignore"))];
        groups.push(group("categories", spec("preprocessing.OneHotEncoder", &ignore), &categories));
    }
    if groups.is_empty() {
        return None;
    }
    let params = [("transformers", Value::List(groups)), ("remainder", word("passthrough"))];
    Some(("columns", spec("compose.ColumnTransformer", &params)))
}

fn scaler() -> LearnerSpec {
    spec("preprocessing.StandardScaler", &[])
}

fn word(text: &str) -> Value {
    Value::Text(text.to_string())
}

fn spec(learner: &str, params: &[(&str, Value)]) -> LearnerSpec {
    let params = params.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    LearnerSpec { learner: learner.to_string(), params }
}

/// A named learner with the columns it is for.
fn group(name: &str, learner: LearnerSpec, columns: &[&str]) -> Value {
    let columns = columns.iter().map(|column| word(column)).collect();
    Value::List(vec![word(name), Value::Learner(learner), Value::List(columns)])
}

fn pipeline(steps: Steps) -> LearnerSpec {
    let step = |(name, learner): (&str, LearnerSpec)| {
        Value::List(vec![word(name), Value::Learner(learner)])
    };
    spec("pipeline.Pipeline", &[("steps", Value::List(steps.into_iter().map(step).collect()))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::OneVsRestClassifier;
    use crate::linear::{Ridge, SGDClassifier, SGDRegressor};
    use crate::tree::DecisionTreeRegressor;

    const MISSING: Request = Request { formula: None, missing: true, scale: false };

    fn mixed() -> Schema {
        let color = Column::categorical("color", vec!["red".into()]);
        Schema::new(vec![Column::numeric("size"), color]).unwrap()
    }

    #[test]
    fn a_learner_that_takes_everything_needs_nothing() {
        let tree = DecisionTreeRegressor::default();
        assert_eq!(standard_preparation(&tree, &mixed(), MISSING), None);
        assert_eq!(prepared(&tree, &mixed(), MISSING), None);
    }

    #[test]
    fn missing_values_categories_and_scales_are_taken_care_of_in_this_order() {
        let found = prepared(&SGDRegressor::default(), &mixed(), MISSING).unwrap();
        let json = Value::Learner(found).to_json();
        let steps = &json["params"]["steps"];
        assert_eq!(steps[0][1]["learner"], "impute.SimpleImputer");
        let transformers = &steps[1][1]["params"]["transformers"];
        assert_eq!(transformers[0][1]["learner"], "preprocessing.StandardScaler");
        assert_eq!(transformers[0][2][0], "size");
        assert_eq!(transformers[1][2][0], "color");
        assert_eq!(steps[2][0], "model");
    }

    #[test]
    fn penalties_see_the_columns_as_they_are_unless_scaling_is_asked_for() {
        let (ridge, schema) = (Ridge::default(), Schema::unnamed(3));
        assert_eq!(standard_preparation(&ridge, &schema, Request::default()), None);
        let asked = Request { scale: true, ..Request::default() };
        let found = Value::Learner(standard_preparation(&ridge, &schema, asked).unwrap());
        let step = &found.to_json()["params"]["steps"][0][1];
        assert_eq!(step["learner"], "preprocessing.StandardScaler");
    }

    #[test]
    fn a_wrapper_wants_what_the_learner_inside_wants() {
        let descent = OneVsRestClassifier { estimator: SGDClassifier::default().into() };
        assert!(wants_scaling(&descent));
        assert!(!wants_scaling(&OneVsRestClassifier::default()));
    }
}
