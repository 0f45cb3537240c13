//! What a model was trained with and on, and how that is stored.

use crate::data::{Label, Matrix, Schema};
use crate::error::Result;
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
}

/// What prediction does with a category that training did not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// Refuses, and lists the values.
    #[default]
    Error,
    /// Treats it as missing.
    Missing,
}

/// Synthetic rows inside the ranges of the training columns, and what the model gave for them.
/// Never training rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Examples {
    /// Inputs.
    pub inputs: Matrix,
    /// Outputs.
    pub outputs: Matrix,
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

impl Stored for History {
    fn to_node(&self) -> Node {
        let (names, values): (Vec<String>, Vec<String>) = self
            .params
            .iter()
            .map(|(name, value)| (name.clone(), value.to_json().to_string()))
            .unzip();
        let inputs = self.examples.as_ref().map(|examples| examples.inputs.clone());
        let outputs = self.examples.as_ref().map(|examples| examples.outputs.clone());
        let unknown = if self.unknown == Unknown::Error { "error" } else { "missing" };
        let nodes = [
            names.to_node(),
            values.to_node(),
            self.schema.to_node(),
            self.targets.to_node(),
            self.classes.to_node(),
            Node::Text(unknown.to_string()),
            Node::Text(self.seed.to_string()),
            self.rows.to_node(),
            self.digest.to_node(),
            self.warnings.to_node(),
            self.version.to_node(),
            inputs.to_node(),
            outputs.to_node(),
        ];
        Node::Map(FIELDS.iter().map(ToString::to_string).zip(nodes).collect())
    }

    fn from_node(node: &Node) -> Result<Self> {
        node.only("history", FIELDS)?;
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
        Ok(History {
            params: names.into_iter().zip(values).collect(),
            schema: node.field("schema")?,
            targets: node.field("targets")?,
            classes,
            unknown: match node.field::<String>("unknown")?.as_str() {
                "error" => Unknown::Error,
                "missing" => Unknown::Missing,
                _ => return Err(invalid("an unknown policy for unseen categories")),
            },
            seed: node.field::<String>("seed")?.parse().map_err(|_| invalid("the seed"))?,
            rows: node.field("rows")?,
            digest: node.field("digest")?,
            warnings: node.field("warnings")?,
            version: node.field("version")?,
            examples: inputs.zip(outputs).map(|(inputs, outputs)| Examples { inputs, outputs }),
        })
    }
}
