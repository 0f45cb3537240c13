//! Learners inside parameters, and the nested names that reach into them.

use super::{Kind, LearnerSpec, ParamSpec, ParamType, Params, Value};
use crate::error::{Code, Error, Result, plain};
use crate::estimator::AnyEstimator;

/// A learner inside a parameter.
pub struct NestedLearner<'a> {
    /// The parameter that holds it.
    pub spec: &'static ParamSpec,
    /// The name that nested names reach it by: the parameter's own, or that of a list's item.
    pub name: String,
    /// The learner.
    pub learner: &'a dyn AnyEstimator,
}

impl NestedLearner<'_> {
    /// Refuses a learner of another role than the parameter asks for, and parameters of it that are
    /// out of bounds.
    pub(super) fn check(&self) -> Result<()> {
        let wanted = self.spec.kind.role();
        if let Some(role) = wanted
            && !self.learner.any_roles().names().contains(&role)
        {
            let got = self.learner.about().name();
            return Err(Error::parameter(&self.name, format!("a {role}"), got));
        }
        self.learner.check().map_err(|error| error.within(&self.name))
    }
}

/// Adds the learners of the parameter `name`, each with the name that reaches it.
pub fn add_learners<'a>(
    out: &mut Vec<NestedLearner<'a>>,
    specs: &'static [ParamSpec],
    name: &str,
    learners: Vec<(String, &'a dyn AnyEstimator)>,
) {
    if let Some(spec) = ParamSpec::find(specs, name) {
        out.extend(learners.into_iter().map(|(name, learner)| NestedLearner {
            spec,
            name,
            learner,
        }));
    }
}

/// Refuses names in a list that nested names could not reach: empty, with `__`, given twice or
/// those of another parameter. Each name comes with its parameter.
pub fn check_names<'a>(
    specs: &'static [ParamSpec],
    names: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for (parameter, name) in names {
        let refuse = |expected: &str| {
            let what = format!("a name in `{parameter}` must be {expected}");
            Err(Error::new(Code::Parameter, format!("{what}, got '{}'", plain(name))))
        };
        let taken = name != parameter && ParamSpec::find(specs, name).is_some();
        match name {
            "" => return refuse("some text"),
            _ if name.contains("__") => return refuse("without '__'"),
            _ if seen.contains(&name) => return refuse("used once"),
            _ if taken => return refuse("other than those of parameters"),
            _ => seen.push(name),
        }
    }
    Ok(())
}

/// Whether a name is a parameter, or reaches into a learner among the values.
pub fn owns(params: &dyn Params, name: &str) -> bool {
    match name.split_once("__") {
        _ if ParamSpec::find(params.specs(), name).is_some() => true,
        Some((outer, _)) => params.learners().iter().any(|inner| inner.name == outer),
        None => params.learners().iter().any(|inner| inner.name == name),
    }
}

/// The value of `outer__name`, a parameter of a learner among the values, or of `outer`, that learner.
pub fn get_nested(params: &dyn Params, name: &str) -> Result<Value> {
    let Some((outer, rest)) = name.split_once("__") else {
        let learners = params.learners();
        let found = learners.iter().find(|inner| inner.name == name);
        return found
            .map(|inner| Value::Learner(LearnerSpec::of(inner.learner)))
            .ok_or_else(|| params.unknown(name));
    };
    match params.learners().into_iter().find(|inner| inner.name == outer) {
        Some(inner) => inner.learner.get(rest).map_err(|error| error.within(outer)),
        None => Err(unknown_learner(params, name, outer)),
    }
}

/// Sets `outer__name`, a parameter of a learner among the values, or replaces the learner `outer` of
/// a list.
pub fn set_nested(params: &mut dyn Params, name: &str, value: &Value) -> Result<()> {
    let Some((outer, rest)) = name.split_once("__") else {
        return match params.replace_learner(name, value) {
            Some(done) => done,
            None => Err(params.unknown(name)),
        };
    };
    match params.learner_mut(outer) {
        Some(learner) => learner.set(rest, value).map_err(|error| error.within(outer)),
        None => Err(unknown_learner(params, name, outer)),
    }
}

/// The error for a value that is no learner, in the place of the item `name` of a list.
pub fn not_a_learner<T: ParamType>(field: &str, name: &str, value: &Value) -> Error {
    let pair = Value::List(vec![Value::Text(name.to_string()), value.clone()]);
    let list = Value::List(vec![pair]);
    T::explain(&list)
        .unwrap_or_else(|| Error::parameter(name, format!("a learner of `{field}`"), value))
}

/// The error for `outer__name` where no learner is called `outer`.
fn unknown_learner(params: &dyn Params, name: &str, outer: &str) -> Error {
    let inner = params.learners();
    if inner.is_empty() {
        return params.unknown(name);
    }
    let error = Error::unknown("parameter", name, []);
    let known: Vec<&str> = inner.iter().map(|inner| inner.name.as_str()).collect();
    let hint = format!("'{outer}' is none of its learners: {}", known.join(", "));
    error.hint(hint)
}

/// A value with a name: the item of a list whose items are reached by name.
#[derive(Clone, Debug)]
pub struct Named<T> {
    /// The name, without `__`.
    pub name: String,
    /// The value.
    pub value: T,
}

impl<T> Named<T> {
    /// A value with its name.
    pub fn new(name: &str, value: impl Into<T>) -> Self {
        Named { name: name.to_string(), value: value.into() }
    }
}

/// A pair of name and value; a learner alone has the name that the command line gives it.
impl<T: ParamType> ParamType for Named<T> {
    fn kind() -> Kind {
        Kind::Named(Box::new(T::kind()))
    }
    fn to_value(&self) -> Value {
        Value::List(vec![Value::Text(self.name.clone()), self.value.to_value()])
    }
    fn from_value(value: &Value) -> Option<Self> {
        Self::from_value_as(value, None)
    }
    fn from_value_as(value: &Value, role: Option<&str>) -> Option<Self> {
        if let Some((name, value)) = pair(value) {
            return Some(Named { name: name.to_string(), value: T::from_value_as(value, role)? });
        }
        let value = T::from_value_as(value, role)?;
        let name = value.learners("").first().map(|(_, learner)| learner.about().command())?;
        Some(Named { name, value })
    }
    fn explain(value: &Value) -> Option<Error> {
        T::explain(pair(value).map_or(value, |(_, value)| value))
    }
    fn learners<'a>(&'a self, _field: &str) -> Vec<(String, &'a dyn AnyEstimator)> {
        self.value.learners(&self.name)
    }
    fn learner_mut(&mut self, _field: &str, name: &str) -> Option<&mut dyn AnyEstimator> {
        self.value.learner_mut(&self.name, name)
    }
    fn replace(&mut self, name: &str, value: &Value, role: Option<&str>) -> Option<bool> {
        let new = || T::from_value_as(value, role);
        (self.name == name).then(|| new().map(|new| self.value = new).is_some())
    }
}

fn pair(value: &Value) -> Option<(&str, &Value)> {
    match value {
        Value::List(items) => match items.as_slice() {
            [Value::Text(name), value] => Some((name, value)),
            _ => None,
        },
        _ => None,
    }
}
