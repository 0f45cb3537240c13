//! The groups of a column transformer: a name, what is done, and the columns.

use crate::learner::Learner;
use learnt_core::params::{Kind, ParamType};
use learnt_core::prelude::*;
use std::collections::BTreeMap;

/// What is done with a group of columns.
#[derive(Clone, Debug)]
pub enum Action {
    /// A transformer is fitted on them.
    Fit(Learner),
    /// They stay as they are.
    Pass,
    /// They are left out.
    Drop,
}

/// One group: name, action, columns.
#[derive(Clone, Debug)]
pub struct Group {
    /// The name.
    pub name: String,
    /// What is done.
    pub action: Action,
    /// Column names, or `:numeric`, `:categorical`, `:all`.
    pub columns: Vec<String>,
}

impl ParamType for Group {
    fn kind() -> Kind {
        Kind::Any("a triple of a name, a transformer and columns")
    }
    fn to_value(&self) -> Value {
        let action = match &self.action {
            Action::Fit(learner) => learner.to_value(),
            Action::Pass => Value::Text("passthrough".to_string()),
            Action::Drop => Value::Text("drop".to_string()),
        };
        Value::List(vec![Value::Text(self.name.clone()), action, self.columns.to_value()])
    }
    fn from_value(value: &Value) -> Option<Group> {
        let (name, action, columns) = triple(value)?;
        let action = match action {
            Value::Text(word) if word == "passthrough" => Action::Pass,
            Value::Text(word) if word == "drop" => Action::Drop,
            learner => Action::Fit(Learner::from_value_as(learner, Some("transformer"))?),
        };
        Some(Group { name: name.to_string(), action, columns: Vec::from_value(columns)? })
    }
    fn explain(value: &Value) -> Option<Error> {
        triple(value).and_then(|(_, action, _)| Learner::explain(action))
    }
    fn learners<'a>(&'a self, _field: &str) -> Vec<(String, &'a dyn AnyEstimator)> {
        match &self.action {
            Action::Fit(learner) => learner.learners(&self.name),
            _ => Vec::new(),
        }
    }
    fn replace(&mut self, name: &str, value: &Value, role: Option<&str>) -> Option<bool> {
        let action = |learner: &Value| Learner::from_value_as(learner, role).map(Action::Fit);
        (self.name == name).then(|| action(value).map(|new| self.action = new).is_some())
    }
    fn learner_mut(&mut self, _field: &str, name: &str) -> Option<&mut dyn AnyEstimator> {
        match &mut self.action {
            Action::Fit(learner) => learner.learner_mut(&self.name, name),
            _ => None,
        }
    }
}

fn triple(value: &Value) -> Option<(&str, &Value, &Value)> {
    match value {
        Value::List(items) => match items.as_slice() {
            [Value::Text(name), action, columns] => Some((name, action, columns)),
            _ => None,
        },
        _ => None,
    }
}

/// Positions of a group's columns, selectors resolved.
pub(super) fn positions(
    group: &Group,
    schema: &Schema,
    index: &BTreeMap<&str, usize>,
) -> Result<Vec<usize>> {
    let of_kind = |numeric: bool| {
        let columns = schema.columns().iter().enumerate();
        columns.filter(move |(_, c)| (c.kind == ColumnKind::Numeric) == numeric).map(|(j, _)| j)
    };
    let mut out = Vec::new();
    for name in &group.columns {
        match name.as_str() {
            ":numeric" => out.extend(of_kind(true)),
            ":categorical" => out.extend(of_kind(false)),
            ":all" => out.extend(0..schema.len()),
            name => match index.get(name) {
                Some(&j) => out.push(j),
                None => {
                    return Err(Error::unknown("column", name, schema.names()).within(&group.name));
                }
            },
        }
    }
    Ok(out)
}
