//! What a model was trained with and on, and how that is stored.

use super::Missing;
use crate::data::{Label, Matrix, Schema};
use crate::error::{Error, Result};
use crate::params::Value;
use crate::persist::{Node, Stored, invalid};

/// What a model was trained with and on.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// All parameters.
    pub params: Vec<(String, Value)>,
    /// The input columns.
    pub schema: Schema,
    /// Names of the target columns; empty if unknown.
    pub targets: Vec<String>,
    /// Classes of the target, in order of their codes.
    pub classes: Vec<Label>,
    /// What prediction does with a category that training did not see.
    pub unknown: Unknown,
    /// What prediction does with missing values that the learner cannot take.
    pub missing: Missing,
    /// What missing values are filled with, a value a column: the mean of numbers, the commonest level, of
    /// the first block of training rows. Empty in files of older releases.
    pub fills: Vec<f64>,
    /// The seed of the run.
    pub seed: u64,
    /// Number of training rows.
    pub rows: u64,
    /// SHA-256 of the training file, if it was one.
    pub digest: Option<String>,
    /// What the user was warned of.
    pub warnings: Vec<String>,
    /// The version that trained it.
    pub version: String,
    /// Synthetic inputs with the outputs they had after training.
    pub examples: Option<Examples>,
    /// The formula that it was fitted by, both sides.
    pub formula: Option<String>,
    /// Rows that were left out of training because values were missing.
    pub dropped: u64,
    /// The column with the weights of the training rows, if they were weighted and it has a name.
    pub weight: Option<String>,
}

/// What prediction does with a category that training did not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// Refuses, and lists the values.
    #[default]
    Error,
    /// Treats it as missing.
    Missing,
    /// Hands it on as a level that none of training's is: encoders do as their `handle_unknown` says,
    /// trees as with a missing value.
    Other,
}

impl Unknown {
    /// The policies with their names.
    pub const NAMES: &[(&str, Unknown)] =
        &[("error", Unknown::Error), ("missing", Unknown::Missing), ("other", Unknown::Other)];

    /// The policy with this name.
    pub fn parse(name: &str) -> Result<Unknown> {
        named("policy for unknown categories", Self::NAMES, name)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        word(Self::NAMES, self)
    }
}

impl Missing {
    /// The policies with their names.
    pub const NAMES: &[(&str, Missing)] =
        &[("error", Missing::Error), ("skip", Missing::Skip), ("impute", Missing::Impute)];

    /// The policy with this name.
    pub fn parse(name: &str) -> Result<Missing> {
        named("policy for missing values", Self::NAMES, name)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        word(Self::NAMES, self)
    }
}

fn named<T: Copy>(kind: &str, all: &[(&'static str, T)], name: &str) -> Result<T> {
    let found = all.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy);
    found.ok_or_else(|| Error::unknown(kind, name, all.iter().map(|(known, _)| *known)))
}

fn word<T: PartialEq>(all: &[(&'static str, T)], policy: &T) -> &'static str {
    all.iter().find(|(_, known)| known == policy).map_or("", |(name, _)| name)
}

fn name_of<T: PartialEq>(all: &[(&'static str, T)], policy: &T) -> Node {
    Node::Text(word(all, policy).to_string())
}

/// Synthetic rows inside the ranges of the training columns, and what the model gave for them.
/// Never training rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Examples {
    /// Inputs.
    pub inputs: Matrix,
    /// Outputs; none yet where a model is sure to give numbers, and is asked for its first file.
    pub outputs: Option<Matrix>,
}

const FIELDS: &[&str] = &[
    "param_names",
    "param_values",
    "schema",
    "targets",
    "classes",
    "unknown",
    "seed",
    "rows",
    "digest",
    "warnings",
    "version",
    "example_inputs",
    "example_outputs",
];
/// What files of older releases do not have.
const LATER: &[&str] = &["missing", "fills", "formula", "dropped", "weight"];

impl Stored for History {
    fn to_node(&self) -> Node {
        let (names, values): (Vec<String>, Vec<String>) = self
            .params
            .iter()
            .map(|(name, value)| (name.clone(), value.to_json().to_string()))
            .unzip();
        let inputs = self.examples.as_ref().map(|examples| examples.inputs.clone());
        let outputs = self.examples.as_ref().and_then(|examples| examples.outputs.clone());
        let nodes = [
            names.to_node(),
            values.to_node(),
            self.schema.to_node(),
            self.targets.to_node(),
            self.classes.to_node(),
            name_of(Unknown::NAMES, &self.unknown),
            Node::Text(self.seed.to_string()),
            self.rows.to_node(),
            self.digest.to_node(),
            self.warnings.to_node(),
            self.version.to_node(),
            inputs.to_node(),
            outputs.to_node(),
        ];
        let later = [
            name_of(Missing::NAMES, &self.missing),
            self.fills.to_node(),
            self.formula.to_node(),
            self.dropped.to_node(),
        ];
        // Files of unweighted models have no such field.
        let weight = self.weight.as_ref().map(|_| (&"weight", self.weight.to_node()));
        let fields = FIELDS.iter().zip(nodes).chain(LATER.iter().zip(later)).chain(weight);
        Node::Map(fields.map(|(name, node)| (name.to_string(), node)).collect())
    }

    fn from_node(node: &Node) -> Result<Self> {
        let known: Vec<&str> = FIELDS.iter().chain(LATER).copied().collect();
        node.only("history", &known)?;
        let names: Vec<String> = node.field("param_names")?;
        let values: Vec<String> = node.field("param_values")?;
        if names.len() != values.len() {
            return Err(invalid("parameters without values"));
        }
        let values: Vec<Value> = values
            .into_iter()
            .map(|text| Value::from_node(&Node::Text(text)))
            .collect::<Result<_>>()?;
        let inputs: Option<Matrix> = node.field("example_inputs")?;
        let outputs: Option<Matrix> = node.field("example_outputs")?;
        let classes: Vec<Label> = node.field("classes")?;
        if classes.windows(2).any(|pair| pair[0].order(&pair[1]) != std::cmp::Ordering::Less) {
            return Err(invalid("classes out of order"));
        }
        let schema: Schema = node.field("schema")?;
        let fills: Vec<f64> = later(node, "fills")?.unwrap_or_default();
        if !fills.is_empty() && fills.len() != schema.len() {
            return Err(invalid("values to fill in for another number of columns"));
        }
        let missing: Option<String> = later(node, "missing")?;
        Ok(History {
            params: names.into_iter().zip(values).collect(),
            schema,
            targets: node.field("targets")?,
            classes,
            unknown: Unknown::parse(&node.field::<String>("unknown")?)
                .map_err(|error| invalid(error.message()))?,
            missing: missing
                .map_or(Ok(Missing::Error), |name| Missing::parse(&name))
                .map_err(|error| invalid(error.message()))?,
            fills,
            seed: node.field::<String>("seed")?.parse().map_err(|_| invalid("the seed"))?,
            rows: node.field("rows")?,
            digest: node.field("digest")?,
            warnings: node.field("warnings")?,
            version: node.field("version")?,
            examples: inputs
                .zip(outputs)
                .map(|(inputs, outputs)| Examples { inputs, outputs: Some(outputs) }),
            formula: later(node, "formula")?.flatten(),
            dropped: later(node, "dropped")?.unwrap_or(0),
            weight: later(node, "weight")?.flatten(),
        })
    }
}

/// A field that older files do not have.
fn later<T: Stored>(node: &Node, name: &str) -> Result<Option<T>> {
    match node.map("history")?.contains_key(name) {
        true => node.field(name).map(Some),
        false => Ok(None),
    }
}
