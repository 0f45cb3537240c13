//! Machine learning as one library: every learner by type and by name.
//!
//! A learner is a plain struct of parameters; `fit` gives a model; a model plays roles such as
//! [`Regressor`](prelude::Regressor) or [`Classifier`](prelude::Classifier).
//!
//! Everything is also reachable by name, through [`REGISTRY`], [`find`] and [`build`]: that is how the
//! command line and Python see it.
//!
//! Programs begin with `use learnt::prelude::*`; files of new learners with `use learnt::author::*`. Tables
//! from files are in the crate `learnt-io`, pictures in `learnt-plot`, so that learners alone need few crates.
//!
//! Every family is a feature, all of them by default. A program that needs linear models alone says
//! `learnt = { version = "0.1", default-features = false, features = ["linear"] }` and compiles what those need.

// Families share helpers, some of which have no other use.
#![cfg_attr(not(feature = "full"), allow(dead_code, unused_imports))]

mod advice;
#[cfg(feature = "algebra")]
pub mod algebra;
#[cfg(feature = "assess")]
pub mod assess;
pub mod baseline;
#[cfg(feature = "bayes")]
pub mod bayes;
pub mod catalogue;
#[cfg(feature = "charts")]
pub mod charts;
#[cfg(feature = "cluster")]
pub mod cluster;
#[cfg(feature = "compose")]
pub mod compose;
#[cfg(feature = "datasets")]
pub mod datasets;
#[cfg(feature = "density")]
pub mod density;
#[cfg(feature = "discriminant")]
pub mod discriminant;
#[cfg(feature = "ensemble")]
pub mod ensemble;
mod functions;
#[cfg(feature = "inspect")]
pub mod inspect;
mod learner;
#[cfg(feature = "linear")]
pub mod linear;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "neighbors")]
pub mod neighbors;
#[cfg(feature = "plot")]
pub mod plot;
#[cfg(feature = "prepare")]
pub mod prepare;
#[cfg(feature = "reduce")]
pub mod reduce;
#[cfg(feature = "select")]
pub mod select;
#[cfg(feature = "sequence")]
pub mod sequence;
#[cfg(feature = "statistics")]
pub mod statistics;
#[cfg(feature = "theory")]
pub mod theory;
#[cfg(feature = "tree")]
pub mod tree;

pub use advice::{Advice, advice, advice_on};
pub use functions::{FUNCTIONS, find_function, functions, functions_of};
pub use learner::{Fitted, Learner, Named, draws, parts};
pub use learnt_core::{
    LargePages, answer, chart, clock, context, data, dates, error, estimator, function, linalg,
    optimize, params, persist, question, rounds, stats, trained,
};

use learnt_core::error::{Error, Result};
use learnt_core::estimator::{AnyEstimator, Entry};
use learnt_core::params::{LearnerSpec, ParamSpec, Value};
use learnt_core::trained::Trained;
use std::path::Path;

/// What a program that uses learners needs: data, learners and models by their traits, errors, runs.
pub mod prelude {
    pub use learnt_core::prelude::{
        About, Answer, AnyEstimator, Cell, Classes, Classifier, Clusterer, Code, Column,
        ColumnKind, Columns, Context, Dataset, Datum, Decoder, Density, Detector, Entry, Error,
        Estimator, Frame, Function, FunctionEntry, FunctionKind, Label, MatRef, Matrix, Model,
        Names, OwnedDataset, OwnedTarget, Params, Regressor, Result, Roles, Schema, Sequences,
        Table, Target, Transformer, Value,
    };
    pub use learnt_core::trained::{Prediction, Trained};
}

/// What the file of a new learner or function needs: the above, derives, rounds and declarations.
pub mod author {
    pub use learnt_core::prelude::*;
}

/// Every learner, family by family.
pub const REGISTRY: &[&[Entry]] = &[
    baseline::ENTRIES,
    #[cfg(feature = "linear")]
    linear::ENTRIES,
    #[cfg(feature = "discriminant")]
    discriminant::ENTRIES,
    #[cfg(feature = "bayes")]
    bayes::ENTRIES,
    #[cfg(feature = "neighbors")]
    neighbors::ENTRIES,
    #[cfg(feature = "tree")]
    tree::ENTRIES,
    #[cfg(feature = "ensemble")]
    ensemble::ENTRIES,
    #[cfg(feature = "cluster")]
    cluster::ENTRIES,
    #[cfg(feature = "density")]
    density::ENTRIES,
    #[cfg(feature = "sequence")]
    sequence::ENTRIES,
    #[cfg(feature = "reduce")]
    reduce::ENTRIES,
    #[cfg(feature = "prepare")]
    prepare::ENTRIES,
    #[cfg(feature = "compose")]
    compose::ENTRIES,
];

/// All entries of the registry.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    REGISTRY.iter().flat_map(|family| family.iter())
}

/// The entry with this path (`linear_model.Ridge`), class (`Ridge`) or command name (`ridge`).
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().find(|entry| {
        let about = entry.about;
        about.path == name || about.name() == name || about.command() == name
    })
}

/// Every entry that answers to this name; an alias may stand for a classifier and a regressor.
pub fn find_all(name: &str) -> Vec<&'static Entry> {
    match find(name) {
        Some(entry) => vec![entry],
        None => entries().filter(|entry| entry.about.aliases.contains(&name)).collect(),
    }
}

/// What other tools call a learner, or the learner that does the same work, by the name to type here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("catboost", "boost"),
    ("glmnet", "elastic-net"),
    ("lightgbm", "boost"),
    ("randomforest", "forest"),
    ("ranger", "forest"),
    ("rpart", "tree"),
    ("xgboost", "boost"),
];

/// The error for a name that no learner has.
pub fn unknown_learner(name: &str) -> Error {
    let mut known: Vec<String> = entries().map(|entry| entry.about.command()).collect();
    known.extend(entries().flat_map(|entry| entry.about.aliases.iter().map(ToString::to_string)));
    known.dedup();
    let error = unknown_among(name, &known);
    match cfg!(feature = "full") {
        true => error,
        false => error.hint("this build has some families only: see the features of the crate"),
    }
}

/// The error for a name that none of these learners has.
pub fn unknown_among(name: &str, known: &[String]) -> Error {
    let error = Error::unknown("learner", name, known.iter().map(String::as_str));
    let same = |(elsewhere, _): &&(&str, &str)| name.eq_ignore_ascii_case(elsewhere);
    match ELSEWHERE.iter().find(same) {
        Some((_, here)) => error.hint(format!("the learner for this is '{here}'")),
        None if error.hint_text().is_none() => error.hint("`learnt list learners` shows them all"),
        None => error,
    }
}

/// A learner by name with parameters by name. Null leaves a learner that is a default as it is.
///
/// ```
/// use learnt::prelude::*;
/// let spec = learnt::params::LearnerSpec {
///     learner: "DummyRegressor".into(),
///     params: vec![("strategy".into(), Value::Text("median".into()))],
/// };
/// let learner = learnt::build(&spec)?;
/// assert_eq!(learner.get("strategy")?, Value::Text("median".into()));
/// # Ok::<(), Error>(())
/// ```
pub fn build(spec: &LearnerSpec) -> Result<Box<dyn AnyEstimator>> {
    let entry = match find_all(&spec.learner).as_slice() {
        [only] => *only,
        [] => return Err(unknown_learner(&spec.learner)),
        several => {
            let names: Vec<String> = several.iter().map(|entry| entry.about.command()).collect();
            let message = format!("'{}' may be {}", spec.learner, names.join(" or "));
            return Err(Error::new(learnt_core::error::Code::Unknown, message).hint("say which"));
        }
    };
    let mut learner = (entry.build)();
    let stays = |name: &str, value: &Value| {
        let spec = ParamSpec::find((entry.build)().specs(), name);
        *value == Value::Null && spec.is_some_and(|s| matches!(s.default, Value::Learner(_)))
    };
    for (name, value) in spec.params.iter().filter(|(name, value)| !stays(name, value)) {
        learner.set(name, value).map_err(|error| error.within(entry.about.name()))?;
    }
    Ok(learner)
}

/// A model from the bytes of a model file.
pub fn from_bytes(bytes: &[u8]) -> Result<Trained> {
    Trained::from_bytes(bytes, entry_at)
}

/// A model from the tree that a model file holds.
pub fn from_tree(root: &learnt_core::persist::Node) -> Result<Trained> {
    Trained::from_tree(root, entry_at)
}

/// A model from a file.
pub fn load(path: impl AsRef<Path>) -> Result<Trained> {
    Trained::load(path.as_ref(), entry_at)
}

fn entry_at(path: &str) -> Option<Entry> {
    entries().find(|entry| entry.about.path == path).copied()
}

#[cfg(all(test, feature = "full"))]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_tools_lead_to_learners() {
        for (elsewhere, here) in ELSEWHERE {
            assert!(find_all(elsewhere).is_empty() && !find_all(here).is_empty(), "{elsewhere}");
        }
    }
}
