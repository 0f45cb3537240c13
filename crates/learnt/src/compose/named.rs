//! Named learners as a parameter, and their fitted models as stored parts.

use learnt_core::estimator::{Accepts, Roles};
use learnt_core::params::{Kind, LearnerSpec, ParamType, all_values};
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use learnt_core::trained::{accepts_of, check_rows};

/// A learner as a value: its path and all its parameters, in the order that JSON gives them.
pub(super) fn to_spec(learner: &dyn AnyEstimator) -> Value {
    let mut params = all_values(learner).unwrap_or_default();
    params.sort_by(|a, b| a.0.cmp(&b.0));
    Value::Learner(LearnerSpec { learner: learner.about().path.to_string(), params })
}

/// Learners that run one after the other, each with a name.
#[derive(Clone, Debug, Default)]
pub struct Steps(pub Vec<(String, Box<dyn AnyEstimator>)>);

impl Steps {
    /// Adds a step.
    #[must_use]
    pub fn then(mut self, name: &str, learner: impl Estimator) -> Self {
        self.0.push((name.to_string(), Box::new(learner)));
        self
    }

    fn split<'n>(&self, name: &'n str) -> Result<(usize, &'n str)> {
        let unknown =
            || Error::unknown("parameter", name, self.0.iter().map(|(step, _)| step.as_str()));
        let (step, rest) = name.split_once("__").ok_or_else(unknown)?;
        let position = self.0.iter().position(|(name, _)| name == step).ok_or_else(unknown)?;
        Ok((position, rest))
    }

    /// The parameter of a step, as `step__name`.
    pub fn get_nested(&self, name: &str) -> Result<Value> {
        let (position, rest) = self.split(name)?;
        self.0[position].1.get(rest)
    }

    /// Sets the parameter of a step, as `step__name`.
    pub fn set_nested(&mut self, name: &str, value: &Value) -> Result<()> {
        let (position, rest) = self.split(name)?;
        self.0[position].1.set(rest, value)
    }

    /// The last learner.
    pub fn last(&self) -> Option<&dyn AnyEstimator> {
        self.0.last().map(|(_, learner)| learner.as_ref())
    }

    /// Refuses empty lists, repeated and reserved names.
    pub(super) fn check_names<'n>(names: impl Iterator<Item = &'n str>) -> Result<()> {
        let mut seen: Vec<&str> = Vec::new();
        for name in names {
            if name.is_empty() || name.contains("__") {
                return Err(Error::parameter(
                    "name of a step",
                    "not empty and without '__'",
                    format!("'{name}'"),
                ));
            }
            if seen.contains(&name) {
                return Err(Error::parameter(
                    "name of a step",
                    "used once",
                    format!("'{name}' twice"),
                ));
            }
            seen.push(name);
        }
        match seen.is_empty() {
            true => Err(Error::parameter("steps", "at least one step", "none")),
            false => Ok(()),
        }
    }
}

/// `[name, learner]` from a value, or why not.
fn read_step(value: &Value) -> Result<(String, Box<dyn AnyEstimator>)> {
    match value {
        Value::List(pair) => match pair.as_slice() {
            [Value::Text(name), learner] => Ok((name.clone(), read_learner(learner)?)),
            _ => Err(Error::parameter("steps", "pairs of a name and a learner", value)),
        },
        learner => {
            let learner = read_learner(learner)?;
            Ok((learner.about().command(), learner))
        }
    }
}

/// A learner from its specification or its bare name.
pub(super) fn read_learner(value: &Value) -> Result<Box<dyn AnyEstimator>> {
    match value {
        Value::Learner(spec) => crate::build(spec),
        Value::Text(name) => {
            crate::build(&LearnerSpec { learner: name.clone(), params: Vec::new() })
        }
        other => Err(Error::parameter("learner", "a learner", other)),
    }
}

impl ParamType for Steps {
    fn kind() -> Kind {
        Kind::Any("a list of steps, each a learner or a pair of name and learner")
    }

    fn to_value(&self) -> Value {
        let step = |(name, learner): &(String, Box<dyn AnyEstimator>)| {
            Value::List(vec![Value::Text(name.clone()), to_spec(learner.as_ref())])
        };
        Value::List(self.0.iter().map(step).collect())
    }

    fn from_value(value: &Value) -> Option<Steps> {
        match value {
            Value::List(steps) => {
                steps.iter().map(|step| read_step(step).ok()).collect::<Option<_>>().map(Steps)
            }
            single => Some(Steps(vec![read_step(single).ok()?])),
        }
    }

    fn explain(value: &Value) -> Option<Error> {
        match value {
            Value::List(steps) => steps.iter().find_map(|step| read_step(step).err()),
            single => read_step(single).err(),
        }
    }
}

/// A fitted part: which learner it is of, and the model.
#[derive(Debug)]
pub struct Part {
    /// The name of the step.
    pub name: String,
    /// The facts about its learner.
    pub about: &'static About,
    /// The model.
    pub model: Box<dyn Model>,
}

impl Part {
    /// Refuses rows that the part's learner does not take: the parts before it may give any.
    pub(crate) fn check_rows(&self, x: &Frame, run: &Context) -> Result<()> {
        check_rows(self.about, self.model.as_ref(), x, run)
            .map_err(|error| error.within(&self.name))
    }

    /// What the part's inputs may hold.
    pub(super) fn accepts(&self) -> Accepts {
        accepts_of(self.about, self.model.as_ref())
    }

    /// As a transformer, or an error that names the step.
    pub(super) fn transformer(&self) -> Result<&dyn Transformer> {
        self.model.as_transformer().ok_or_else(|| {
            Error::unsupported(format!(
                "step '{}' ({}) is not a transformer",
                self.name,
                self.about.name()
            ))
        })
    }
}

impl Stored for Part {
    fn to_node(&self) -> Node {
        let fields = [
            ("name", self.name.to_node()),
            ("learner", self.about.path.to_string().to_node()),
            ("version", self.model.version().to_node()),
            ("model", self.model.stored()),
        ];
        Node::Map(fields.into_iter().map(|(name, node)| (name.to_string(), node)).collect())
    }

    fn from_node(node: &Node) -> Result<Self> {
        node.only("step", &["name", "learner", "version", "model"])?;
        let path: String = node.field("learner")?;
        let entry = crate::entries()
            .find(|entry| entry.about.path == path)
            .ok_or_else(|| invalid("a step with an unknown learner"))?;
        let stored =
            node.map("step")?.get("model").ok_or_else(|| invalid("a step without its model"))?;
        let model = (entry.decode)(stored, node.field("version")?)?;
        Ok(Part { name: node.field("name")?, about: entry.about, model })
    }
}

/// What a step is given: the rows, and weights only if it takes them.
pub(super) fn offered<'a>(data: &Dataset<'a>, x: Frame<'a>, accepts: Accepts) -> Dataset<'a> {
    Dataset { x, weights: data.weights.filter(|_| accepts.weights), ..*data }
}

/// Roles of nothing.
pub(super) const NO_ROLES: Roles = Roles::NONE;
