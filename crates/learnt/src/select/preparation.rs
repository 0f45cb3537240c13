//! The standard preparation: what the command puts in front of a learner that cannot take a table as
//! it is.
//!
//! Missing values are filled (medians of numbers, modes of categories) if the learner cannot take
//! them; categories become columns of 0 and 1 if it needs numbers, without the first of each where the learner
//! determines coefficients only then ([`wants_reference`]), and with the rarest pooled above [`LEVELS`] of
//! them. Numbers are put on one scale only
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
    /// Columns of dates, each with the parts that become columns.
    pub dates: &'a [(String, Vec<String>)],
    /// Columns of free text, each with the number of columns that its words are hashed into.
    pub texts: &'a [(String, usize)],
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

/// Whether the learner, or one inside it, wants columns on one scale; never where they are distances.
pub fn wants_scaling(learner: &dyn AnyEstimator) -> bool {
    let given = learner.get("metric").is_ok_and(|metric| metric == word("precomputed"));
    (learner.about().wants_scaling && !given)
        || learner.learners().iter().any(|inner| wants_scaling(inner.learner))
}

/// The most levels of a column that get columns of their own; the rarest above them share one.
pub const LEVELS: usize = 30;

/// Learners whose penalty may be zero, which makes them maximum likelihood.
const LIKELIHOODS: [&str; 4] = [
    "linear_model.GeneralizedLinearModel",
    "linear_model.PoissonRegressor",
    "linear_model.GammaRegressor",
    "linear_model.TweedieRegressor",
];

/// Whether the learner, or one inside it, wants categories coded against a reference level: no penalty
/// chooses among coefficients that say the same.
pub fn wants_reference(learner: &dyn AnyEstimator) -> bool {
    let penalty = learner.get("penalty").is_ok_and(|penalty| penalty == Value::Null);
    let maximum = LIKELIHOODS.contains(&learner.about().path)
        && learner.get("alpha").is_ok_and(|alpha| alpha.as_real() == Some(0.0));
    let own = learner.about().full_rank || maximum || penalty && learner.get("C").is_ok();
    own || learner.learners().iter().any(|inner| wants_reference(inner.learner))
}

/// How many columns a table has for a learner after its preparation, at most.
pub fn encoded_width(learner: &dyn AnyEstimator, schema: &Schema) -> usize {
    let encode = !learner.any_accepts().categories;
    let width = |column: &Column| match column.levels() {
        Some(levels) if encode => levels.len().min(LEVELS + 1),
        _ => 1,
    };
    schema.columns().iter().map(width).sum()
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
    let parted = parts(schema, request);
    let schema = parted.as_ref().map_or(schema, |(_, schema)| schema);
    steps.extend(parted.iter().map(|(spec, _)| ("parts", spec.clone())));
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
        None => {
            let reference = wants_reference(learner);
            steps.extend(columns(schema, !accepts.categories, reference, scale));
        }
    }
    steps
}

/// Dates as their parts and texts as hashed words, with the columns that there are then.
fn parts(schema: &Schema, request: Request) -> Option<(LearnerSpec, Schema)> {
    let (mut groups, mut columns) = (Vec::new(), Vec::new());
    for (column, parts) in request.dates {
        let list = Value::List(parts.iter().map(|part| word(part)).collect());
        let encoder = spec("preprocessing.DateEncoder", &[("parts", list)]);
        groups.push(group(&format!("date {column}"), encoder, &[column]));
        columns.extend(parts.iter().map(|part| Column::numeric(format!("{column}: {part}"))));
    }
    for (column, width) in request.texts {
        let hasher = spec("preprocessing.TextHasher", &[("n_features", Value::Int(*width as i64))]);
        groups.push(group(&format!("text {column}"), hasher, &[column]));
        columns.extend((0..*width).map(|k| Column::numeric(format!("{column}: words {k}"))));
    }
    let taken = |name: &str| {
        request.dates.iter().any(|(column, _)| column == name)
            || request.texts.iter().any(|(column, _)| column == name)
    };
    columns.extend(schema.columns().iter().filter(|column| !taken(&column.name)).cloned());
    let schema = Schema::new(columns).ok().filter(|_| !groups.is_empty())?;
    Some((beside(groups), schema))
}

/// Transformers side by side, with all other columns behind them.
fn beside(groups: Vec<Value>) -> LearnerSpec {
    let params = [
        ("transformers", Value::List(groups)),
        ("remainder", word("passthrough")),
        ("verbose_feature_names_out", Value::Bool(false)),
    ];
    spec("compose.ColumnTransformer", &params)
}

/// Categories as columns of 0 and 1 and numbers on one scale, where that is wanted.
fn columns(
    schema: &Schema,
    encode: bool,
    reference: bool,
    scale: bool,
) -> Option<(&'static str, LearnerSpec)> {
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
        let encoder = spec("preprocessing.OneHotEncoder", &coding(schema, reference));
        groups.push(group("categories", encoder, &categories));
    }
    if groups.is_empty() {
        return None;
    }
    Some(("columns", beside(groups)))
}

/// How categories are coded: names as people read them, a reference level where it is wanted, and the
/// rarest levels pooled where there are many.
fn coding(schema: &Schema, reference: bool) -> Vec<(&'static str, Value)> {
    let many = |column: &Column| column.levels().is_some_and(|levels| levels.len() > LEVELS);
    let pooled = schema.columns().iter().any(many);
    let unknown = if pooled { "infrequent_if_exist" } else { "ignore" };
    let mut params =
        vec![("handle_unknown", word(unknown)), ("feature_name_combiner", word("colon"))];
    if pooled {
        params.push(("max_categories", Value::Int(LEVELS as i64 + 1)));
    }
    if reference {
        params.push(("drop", word("first")));
    }
    params
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
    use crate::cluster::{DBSCAN, RowDistance};
    use crate::compose::OneVsRestClassifier;
    use crate::linear::{Ridge, SGDClassifier, SGDRegressor};
    use crate::tree::DecisionTreeRegressor;

    const MISSING: Request =
        Request { formula: None, dates: &[], texts: &[], missing: true, scale: false };

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
    fn categories_get_a_reference_level_only_where_no_penalty_chooses() {
        let drop = |learner: &dyn AnyEstimator| {
            let found = standard_preparation(learner, &mixed(), Request::default()).unwrap();
            let json = Value::Learner(found).to_json();
            let encoder = &json["params"]["steps"][0][1]["params"]["transformers"][0][1];
            (encoder["params"]["drop"].clone(), encoder["params"]["max_categories"].clone())
        };
        use serde_json::json;
        assert_eq!(drop(&crate::linear::LinearRegression::default()).0, json!("first"));
        assert_eq!(
            drop(&crate::discriminant::LinearDiscriminantAnalysis::default()).0,
            json!("first")
        );
        assert_eq!(drop(&Ridge::default()).0, json!(null));
        let mut logistic = crate::linear::LogisticRegression::default();
        assert_eq!(drop(&logistic).0, json!(null));
        logistic.set("penalty", &Value::Null).unwrap();
        assert_eq!(drop(&logistic), (json!("first"), json!(null)));
    }

    #[test]
    fn dates_and_texts_become_numbers_before_all_else() {
        let dates = [("color".to_string(), vec!["year".to_string(), "month".to_string()])];
        let request = Request { dates: &dates, ..Request::default() };
        let tree = DecisionTreeRegressor::default();
        let found = standard_preparation(&tree, &mixed(), request).unwrap();
        let json = Value::Learner(found).to_json();
        let steps = json["params"]["steps"].as_array().unwrap().clone();
        assert_eq!(steps.len(), 1);
        let group = &steps[0][1]["params"]["transformers"][0];
        assert_eq!(group[1]["learner"], "preprocessing.DateEncoder");
        assert_eq!(encoded_width(&Ridge::default(), &mixed()), 2);
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
        let (rows, metric) = (DBSCAN::default(), RowDistance::Precomputed);
        assert!(wants_scaling(&rows) && !wants_scaling(&DBSCAN { metric, ..rows.clone() }));
    }
}
