//! The standard preparation: what stands in front of a learner that cannot take a table as it is.
//!
//! Missing values are filled (medians of numbers, modes of categories) if the learner cannot take
//! them; categories become columns of 0 and 1 if it needs numbers; numbers are put on one scale if
//! it asks for that. The result is a specification, so it is part of the saved model and can be
//! shown.

use learnt_core::params::LearnerSpec;
use learnt_core::prelude::*;

/// The preparation for a learner with these facts; `None` if nothing is needed. `missing` says
/// whether any value is missing.
pub fn standard_preparation(schema: &Schema, missing: bool, about: &About) -> Option<LearnerSpec> {
    let mut steps = steps(schema, missing, about);
    match steps.len() {
        0 => None,
        1 => steps.pop().map(|(_, step)| step),
        _ => Some(pipeline(steps)),
    }
}

/// The learner with its preparation in front: a pipeline whose last step is `model`, or the learner
/// alone.
pub fn prepared(
    learner: LearnerSpec,
    schema: &Schema,
    missing: bool,
    about: &About,
) -> LearnerSpec {
    let mut steps = steps(schema, missing, about);
    if steps.is_empty() {
        return learner;
    }
    steps.push(("model", learner));
    pipeline(steps)
}

/// The learner behind a formula: missing values are filled if it cannot take them, and the columns
/// are those of the formula, as they are.
pub fn prepared_by_formula(
    learner: LearnerSpec,
    formula: &str,
    missing: bool,
    about: &About,
) -> LearnerSpec {
    let mut steps = formula_steps(formula, missing, about);
    steps.push(("model", learner));
    pipeline(steps)
}

/// What stands in front of a learner behind a formula, scaled if it asks for that and `scale` allows.
pub fn formula_preparation(
    formula: &str,
    missing: bool,
    scale: bool,
    about: &About,
) -> LearnerSpec {
    let mut steps = formula_steps(formula, missing, about);
    if scale && about.wants_scaling {
        steps.push(("scale", spec("preprocessing.StandardScaler", &[])));
    }
    pipeline(steps)
}

fn formula_steps(formula: &str, missing: bool, about: &About) -> Vec<(&'static str, LearnerSpec)> {
    let mut steps = Vec::new();
    if missing && !about.accepts.missing {
        steps.push(imputation());
    }
    let formula = spec("preprocessing.FormulaTransformer", &[("formula", word(formula))]);
    steps.push(("formula", formula));
    steps
}

fn imputation() -> (&'static str, LearnerSpec) {
    ("impute", spec("impute.SimpleImputer", &[("strategy", word("median"))]))
}

fn steps(schema: &Schema, missing: bool, about: &About) -> Vec<(&'static str, LearnerSpec)> {
    let names = |numeric: bool| -> Vec<&str> {
        let wanted = |column: &&Column| (column.kind == ColumnKind::Numeric) == numeric;
        schema.columns().iter().filter(wanted).map(|column| column.name.as_str()).collect()
    };
    let (numbers, categories) = (names(true), names(false));
    let mut steps = Vec::new();
    if missing && !about.accepts.missing {
        steps.push(imputation());
    }
    let encode = !categories.is_empty() && !about.accepts.categories;
    let scale = !numbers.is_empty() && about.wants_scaling;
    let encoder = spec("preprocessing.OneHotEncoder", &[("handle_unknown", word("ignore"))]);
    let scaler = spec("preprocessing.StandardScaler", &[]);
    match (encode, scale) {
        (false, false) => {}
        (false, true) if categories.is_empty() => steps.push(("scale", scaler)),
        _ => {
            let mut parts = Vec::new();
            if scale {
                parts.push(part("numbers", scaler, &numbers));
            }
            if encode {
                parts.push(part("categories", encoder, &categories));
            }
            let columns = spec(
                "compose.ColumnTransformer",
                &[("transformers", Value::List(parts)), ("remainder", word("passthrough"))],
            );
            steps.push(("columns", columns));
        }
    }
    steps
}

fn word(text: &str) -> Value {
    Value::Text(text.to_string())
}

fn spec(learner: &str, params: &[(&str, Value)]) -> LearnerSpec {
    let params = params.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    LearnerSpec { learner: learner.to_string(), params }
}

/// A named learner with the columns it is for.
fn part(name: &str, learner: LearnerSpec, columns: &[&str]) -> Value {
    let columns = columns.iter().map(|column| word(column)).collect();
    Value::List(vec![word(name), Value::Learner(learner), Value::List(columns)])
}

fn pipeline(steps: Vec<(&'static str, LearnerSpec)>) -> LearnerSpec {
    let step = |(name, learner): (&str, LearnerSpec)| {
        Value::List(vec![word(name), Value::Learner(learner)])
    };
    spec("pipeline.Pipeline", &[("steps", Value::List(steps.into_iter().map(step).collect()))])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &About = &About::regressor("a.Plain").scaling();
    const TREE: &About = &About::regressor("a.Tree").missing().categories();

    fn mixed() -> Schema {
        let color = Column::categorical("color", vec!["red".into()]);
        Schema::new(vec![Column::numeric("size"), color]).unwrap()
    }

    #[test]
    fn a_learner_that_takes_everything_needs_nothing() {
        assert_eq!(standard_preparation(&mixed(), true, TREE), None);
        let learner = spec("a.Tree", &[]);
        assert_eq!(prepared(learner.clone(), &mixed(), true, TREE), learner);
    }

    #[test]
    fn missing_values_categories_and_scales_are_taken_care_of_in_this_order() {
        let json = Value::Learner(prepared(spec("a.Plain", &[]), &mixed(), true, PLAIN)).to_json();
        let steps = &json["params"]["steps"];
        assert_eq!(steps[0][1]["learner"], "impute.SimpleImputer");
        let transformers = &steps[1][1]["params"]["transformers"];
        assert_eq!(transformers[0][1]["learner"], "preprocessing.StandardScaler");
        assert_eq!(transformers[0][2][0], "size");
        assert_eq!(transformers[1][2][0], "color");
        assert_eq!(steps[2][0], "model");
    }

    #[test]
    fn numbers_alone_are_scaled_without_a_column_transformer() {
        let schema = Schema::unnamed(3);
        let found = standard_preparation(&schema, false, PLAIN).unwrap();
        assert_eq!(found.learner, "preprocessing.StandardScaler");
    }
}
