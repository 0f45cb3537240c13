//! Parameters: declared once as fields of a plain struct, known everywhere by name.
//!
//! `#[derive(Params)]` reads the fields, their doc comments and `#[param(...)]`, and writes
//! [`Params`] and `Default`. The command line, Python, the model file, the documentation and the
//! search spaces all read [`ParamSpec`]; nothing about a parameter is written twice.

//!
//! A value may hold learners: then `field__name` (or `step__name` in a list of named learners) is a
//! parameter of the learner inside, to any depth.

mod nested;
mod value;

pub use nested::{
    Named, NestedLearner, add_learners, check_names, get_nested, not_a_learner, owns, set_nested,
};
pub use value::{LearnerSpec, Value};

use crate::error::{Error, Result};
use crate::estimator::AnyEstimator;
use std::fmt;

/// A struct of parameters that can be read and set by name.
pub trait Params: fmt::Debug + Send + Sync + 'static {
    /// The struct's doc comment: first line a sentence that stands alone.
    fn documentation(&self) -> &'static str;

    /// What there is to set, in declaration order.
    fn specs(&self) -> &'static [ParamSpec];

    /// The value of a parameter. `step__alpha` reaches into a nested learner.
    fn get(&self, name: &str) -> Result<Value>;

    /// Sets a parameter; the type is checked now, bounds by [`Params::check`].
    fn set(&mut self, name: &str, value: &Value) -> Result<()>;

    /// Constraints between parameters: `#[params(constraints = method)]` names a method, else there
    /// are none.
    fn constraints(&self) -> Result<()> {
        Ok(())
    }

    /// The learners among the values.
    fn learners(&self) -> Vec<NestedLearner<'_>> {
        Vec::new()
    }

    /// The learner that nested names reach as `name`.
    fn learner_mut(&mut self, _name: &str) -> Option<&mut dyn AnyEstimator> {
        None
    }

    /// Puts another learner in the place of the one of a list that nested names reach as `name`;
    /// `None` if there is none.
    fn replace_learner(&mut self, _name: &str, _value: &Value) -> Option<Result<()>> {
        None
    }

    /// Checks that what is required is there, every bound, every learner inside, then the
    /// constraints.
    fn check(&self) -> Result<()> {
        check_values(self.specs(), &|name| self.get(name), &self.learners())?;
        self.constraints()
    }

    /// The error for a name that is not a parameter here.
    fn unknown(&self, name: &str) -> Error {
        unknown_parameter(self.specs(), name)
    }
}

/// Checks values against their declarations, and the learners among them.
fn check_values(
    specs: &'static [ParamSpec],
    get: &dyn Fn(&str) -> Result<Value>,
    learners: &[NestedLearner],
) -> Result<()> {
    for spec in specs {
        let value = get(spec.name)?;
        if spec.required && value.is_empty() {
            return Err(Error::parameter(spec.name, &spec.kind, "nothing"));
        }
        if !spec.kind.accepts(&value) {
            let infinite = value.as_real().is_some_and(f64::is_infinite);
            let expected = format!("{}{}", spec.kind, if infinite { ", and finite" } else { "" });
            return Err(Error::parameter(spec.name, expected, value));
        }
    }
    learners.iter().try_for_each(NestedLearner::check)?;
    check_names(specs, learners.iter().map(|inner| (inner.spec.name, &*inner.name)))
}

fn unknown_parameter(specs: &'static [ParamSpec], name: &str) -> Error {
    Error::unknown("parameter", name, specs.iter().map(|spec| spec.name))
}

/// All parameters with their values.
pub fn all_values(params: &dyn Params) -> Result<Vec<(String, Value)>> {
    params.specs().iter().map(|spec| Ok((spec.name.to_string(), params.get(spec.name)?))).collect()
}

/// One parameter: name, text, what it accepts, default.
#[derive(Clone, Debug)]
pub struct ParamSpec {
    /// The name users type, scikit-learn's where it has one.
    pub name: &'static str,
    /// User documentation: command-line help and Python docstring.
    pub doc: &'static str,
    /// What is accepted.
    pub kind: Kind,
    /// The default value; where the parameter is required, only what an unset field holds.
    pub default: Value,
    /// Whether it must be given: `#[param(required)]`.
    pub required: bool,
    /// Whether its values hold learners: `#[param(learner = role)]`.
    pub learners: bool,
    /// Python accepts it by position.
    pub positional: bool,
    /// Where a search for good values should look.
    pub search: Option<Search>,
}

impl ParamSpec {
    /// The spec with this name.
    pub fn find(specs: &'static [ParamSpec], name: &str) -> Option<&'static ParamSpec> {
        specs.iter().find(|spec| spec.name == name)
    }

    /// The default in words: `required`, the name of a learner, or the value.
    pub fn default_text(&self) -> String {
        match &self.default {
            _ if self.required => "required".to_string(),
            Value::Learner(spec) => spec.learner.rsplit('.').next().unwrap_or_default().to_string(),
            value => value.to_string(),
        }
    }

    /// A value from a word typed at a terminal. A word such as `1e3` or `none` may also be text.
    pub fn parse(&self, word: &str) -> Value {
        let value = Value::parse(word);
        let text = Value::Text(word.to_string());
        match !self.kind.accepts(&value) && self.kind.accepts(&text) {
            true => text,
            false => value,
        }
    }
}

/// A sensible set of values to try.
#[derive(Clone, Debug, PartialEq)]
pub enum Search {
    /// Evenly on a logarithmic scale between the two.
    Log(f64, f64),
    /// Evenly between the two.
    Linear(f64, f64),
    /// One of these.
    Set(Vec<Value>),
}

/// What a parameter accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Yes or no.
    Bool,
    /// A whole number.
    Int(Interval),
    /// A number.
    Real(Interval),
    /// Any text.
    Text,
    /// One of several words or numbers.
    Choice(Vec<Variant>),
    /// Nothing, or a value of the inner kind.
    Optional(Box<Kind>),
    /// Any number of values of the inner kind.
    List(Box<Kind>),
    /// A learner, of this role if there is one.
    Learner(Option<&'static str>),
    /// A value of the inner kind with a name.
    Named(Box<Kind>),
    /// Anything: the parameter's own type decides.
    Any(&'static str),
}

/// One possibility of a choice.
#[derive(Clone, Debug, PartialEq)]
pub enum Variant {
    /// A word, with its meaning.
    Word(&'static str, &'static str),
    /// `none`, with its meaning.
    Null(&'static str),
    /// A value of this kind, with its meaning.
    Of(Kind, &'static str),
}

/// A range of numbers, each end absent, open or closed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Lower end and whether it belongs to the range.
    pub low: Option<(f64, bool)>,
    /// Upper end and whether it belongs to the range.
    pub high: Option<(f64, bool)>,
}

impl Interval {
    /// The ends of `other` where it has any, else its own.
    fn narrowed(self, other: Interval) -> Interval {
        Interval { low: other.low.or(self.low), high: other.high.or(self.high) }
    }

    /// Whether the number lies inside. NaN never does, and an infinity only as an end that belongs to the
    /// range: `range = 0.0..=f64::INFINITY`.
    pub fn contains(&self, x: f64) -> bool {
        if x.is_infinite() {
            return [self.low, self.high].contains(&Some((x, true)));
        }
        let above = self.low.is_none_or(|(low, closed)| x > low || (closed && x == low));
        let below = self.high.is_none_or(|(high, closed)| x < high || (closed && x == high));
        !x.is_nan() && above && below
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (None, None) => Ok(()),
            (Some((low, closed)), None) => write!(f, " {} {low}", if closed { ">=" } else { ">" }),
            (None, Some((high, closed))) => {
                write!(f, " {} {high}", if closed { "<=" } else { "<" })
            }
            (Some((low, low_closed)), Some((high, high_closed))) => write!(
                f,
                " in {}{low}, {high}{}",
                if low_closed { '[' } else { '(' },
                if high_closed { ']' } else { ')' }
            ),
        }
    }
}

impl Kind {
    /// A choice among these; the possibilities of a choice inside it are its own.
    pub fn choice(variants: Vec<Variant>) -> Kind {
        let flat = |variant: Variant| match variant {
            Variant::Of(Kind::Choice(inner), _) => inner,
            other => vec![other],
        };
        Kind::Choice(variants.into_iter().flat_map(flat).collect())
    }

    /// Whether the value is of this kind and inside its bounds.
    pub fn accepts(&self, value: &Value) -> bool {
        match (self, value) {
            (Kind::Bool, Value::Bool(_)) | (Kind::Text, Value::Text(_)) => true,
            (Kind::Int(range), Value::Int(i)) => range.contains(*i as f64),
            (Kind::Real(range), value) => value.as_real().is_some_and(|x| range.contains(x)),
            (Kind::Optional(_), Value::Null) => true,
            (Kind::Optional(inner), value) => inner.accepts(value),
            (Kind::List(inner), Value::List(items)) => items.iter().all(|item| inner.accepts(item)),
            (Kind::Choice(variants), value) => {
                // A whole number is a count where counts are allowed, and never a fraction then.
                let counts = variants.iter().any(|v| matches!(v, Variant::Of(Kind::Int(_), _)));
                let is_whole = matches!(value, Value::Int(_));
                variants.iter().any(|variant| match variant {
                    Variant::Word(word, _) => matches!(value, Value::Text(text) if text == word),
                    Variant::Null(_) => *value == Value::Null,
                    Variant::Of(Kind::Real(_), _) if counts && is_whole => false,
                    Variant::Of(kind, _) => kind.accepts(value),
                })
            }
            (Kind::Learner(_), Value::Learner(_)) => true,
            (Kind::Named(inner), Value::List(pair)) => match pair.as_slice() {
                [Value::Text(_), value] => inner.accepts(value),
                _ => false,
            },
            (Kind::Any(_), _) => true,
            _ => false,
        }
    }

    /// The role that its learners must play.
    pub fn role(&self) -> Option<&'static str> {
        match self {
            Kind::Learner(role) => *role,
            Kind::Optional(inner) | Kind::List(inner) | Kind::Named(inner) => inner.role(),
            Kind::Choice(variants) => variants.iter().find_map(|variant| match variant {
                Variant::Of(kind, _) => kind.role(),
                _ => None,
            }),
            _ => None,
        }
    }

    /// The same kind with its learners confined to a role.
    #[must_use]
    pub fn with_role(self, role: &'static str) -> Kind {
        match self {
            Kind::Learner(_) => Kind::Learner(Some(role)),
            Kind::Optional(inner) => Kind::Optional(Box::new(inner.with_role(role))),
            Kind::List(inner) => Kind::List(Box::new(inner.with_role(role))),
            Kind::Named(inner) => Kind::Named(Box::new(inner.with_role(role))),
            Kind::Choice(variants) => {
                let confined = |variant| match variant {
                    Variant::Of(kind, doc) => Variant::Of(Kind::with_role(kind, role), doc),
                    other => other,
                };
                Kind::Choice(variants.into_iter().map(confined).collect())
            }
            other => other,
        }
    }

    /// The same kind with its numbers confined to the interval.
    #[must_use]
    pub fn within(self, interval: Interval) -> Kind {
        match self {
            Kind::Int(own) => Kind::Int(own.narrowed(interval)),
            Kind::Real(own) => Kind::Real(own.narrowed(interval)),
            Kind::Optional(inner) => Kind::Optional(Box::new(inner.within(interval))),
            Kind::List(inner) => Kind::List(Box::new(inner.within(interval))),
            other => other,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Bool => write!(f, "true or false"),
            Kind::Int(interval) => write!(f, "a whole number{interval}"),
            Kind::Real(interval) => write!(f, "a number{interval}"),
            Kind::Text => write!(f, "text"),
            Kind::Optional(inner) => write!(f, "{inner} or none"),
            Kind::List(inner) => write!(f, "a list, each {inner}"),
            Kind::Learner(role) => write!(f, "a {}", role.unwrap_or("learner")),
            Kind::Named(inner) => write!(f, "{inner} or a pair of a name and {inner}"),
            Kind::Any(what) => write!(f, "{what}"),
            Kind::Choice(variants) => {
                for (i, variant) in variants.iter().enumerate() {
                    let separator = match i {
                        0 => "",
                        _ if i + 1 == variants.len() => " or ",
                        _ => ", ",
                    };
                    match variant {
                        Variant::Word(word, _) => write!(f, "{separator}'{word}'")?,
                        Variant::Null(_) => write!(f, "{separator}none")?,
                        Variant::Of(kind, _) => write!(f, "{separator}{kind}")?,
                    }
                }
                Ok(())
            }
        }
    }
}

/// A type that a parameter can have. Enums get it from `#[derive(Choice)]`.
pub trait ParamType: Sized {
    /// What is accepted, before the field's own bounds.
    fn kind() -> Kind;
    /// As a value.
    fn to_value(&self) -> Value;
    /// From a value, if it is of this type.
    fn from_value(value: &Value) -> Option<Self>;
    /// The same, where a name that several learners share means the one with this role.
    fn from_value_as(value: &Value, _role: Option<&str>) -> Option<Self> {
        Self::from_value(value)
    }
    /// Why a value is not of this type, where more can be said than what is accepted.
    fn explain(_value: &Value) -> Option<Error> {
        None
    }
    /// The learners inside, each under the name that nested names reach it by; `field` is the name
    /// of the parameter.
    fn learners<'a>(&'a self, _field: &str) -> Vec<(String, &'a dyn AnyEstimator)> {
        Vec::new()
    }
    /// The learner inside that nested names reach as `name`.
    fn learner_mut(&mut self, _field: &str, _name: &str) -> Option<&mut dyn AnyEstimator> {
        None
    }
    /// Puts another learner of this role in the place of the named item of a list: whether the value
    /// is one, or `None` if there is no such item.
    fn replace(&mut self, _name: &str, _value: &Value, _role: Option<&str>) -> Option<bool> {
        None
    }
}

/// Reads a value for the parameter `name` of `specs`, or says what it accepts.
pub fn convert<T: ParamType>(specs: &'static [ParamSpec], name: &str, value: &Value) -> Result<T> {
    let kind = ParamSpec::find(specs, name).map_or_else(T::kind, |spec| spec.kind.clone());
    T::from_value_as(value, kind.role())
        .ok_or_else(|| T::explain(value).unwrap_or_else(|| Error::parameter(name, kind, value)))
}

impl ParamType for f64 {
    fn kind() -> Kind {
        Kind::Real(Interval::default())
    }
    fn to_value(&self) -> Value {
        Value::Real(*self)
    }
    fn from_value(value: &Value) -> Option<f64> {
        value.as_real()
    }
}

/// Whole numbers; a real with no fraction is taken too, because JSON and Python mix them.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) => Some(*i),
        Value::Real(x) if x.fract() == 0.0 && x.abs() < 9e15 => Some(*x as i64),
        _ => None,
    }
}

macro_rules! whole_number_parameter {
    ($($t:ty),*) => {$(
        impl ParamType for $t {
            fn kind() -> Kind {
                let low = (<$t>::MIN == 0).then_some((0.0, true));
                Kind::Int(Interval { low, high: None })
            }
            fn to_value(&self) -> Value {
                Value::Int(i64::try_from(*self).unwrap_or(i64::MAX))
            }
            fn from_value(value: &Value) -> Option<$t> {
                <$t>::try_from(whole(value)?).ok()
            }
        }
    )*};
}
whole_number_parameter!(usize, u64, i64);

impl ParamType for bool {
    fn kind() -> Kind {
        Kind::Bool
    }
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
    fn from_value(value: &Value) -> Option<bool> {
        match value {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }
}

impl ParamType for String {
    fn kind() -> Kind {
        Kind::Text
    }
    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }
    fn from_value(value: &Value) -> Option<String> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl<T: ParamType> ParamType for Option<T> {
    fn kind() -> Kind {
        Kind::Optional(Box::new(T::kind()))
    }
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_value)
    }
    fn from_value(value: &Value) -> Option<Option<T>> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
    fn from_value_as(value: &Value, role: Option<&str>) -> Option<Option<T>> {
        match value {
            Value::Null => Some(None),
            value => T::from_value_as(value, role).map(Some),
        }
    }
    fn explain(value: &Value) -> Option<Error> {
        T::explain(value)
    }
    fn learners<'a>(&'a self, field: &str) -> Vec<(String, &'a dyn AnyEstimator)> {
        self.as_ref().map(|value| value.learners(field)).unwrap_or_default()
    }
    fn learner_mut(&mut self, field: &str, name: &str) -> Option<&mut dyn AnyEstimator> {
        self.as_mut().and_then(|value| value.learner_mut(field, name))
    }
    fn replace(&mut self, name: &str, value: &Value, role: Option<&str>) -> Option<bool> {
        self.as_mut().and_then(|inner| inner.replace(name, value, role))
    }
}

impl<T: ParamType> ParamType for Vec<T> {
    fn kind() -> Kind {
        Kind::List(Box::new(T::kind()))
    }
    fn to_value(&self) -> Value {
        Value::List(self.iter().map(T::to_value).collect())
    }
    fn from_value(value: &Value) -> Option<Vec<T>> {
        match value {
            Value::List(items) => items.iter().map(T::from_value).collect(),
            single => Some(vec![T::from_value(single)?]),
        }
    }
    fn from_value_as(value: &Value, role: Option<&str>) -> Option<Vec<T>> {
        match value {
            Value::List(items) => items.iter().map(|item| T::from_value_as(item, role)).collect(),
            single => Some(vec![T::from_value_as(single, role)?]),
        }
    }
    fn explain(value: &Value) -> Option<Error> {
        match value {
            Value::List(items) => {
                items.iter().filter(|item| T::from_value(item).is_none()).find_map(T::explain)
            }
            single => T::explain(single),
        }
    }
    fn learners<'a>(&'a self, field: &str) -> Vec<(String, &'a dyn AnyEstimator)> {
        self.iter().flat_map(|item| item.learners(field)).collect()
    }
    fn learner_mut(&mut self, field: &str, name: &str) -> Option<&mut dyn AnyEstimator> {
        self.iter_mut().find_map(|item| item.learner_mut(field, name))
    }
    fn replace(&mut self, name: &str, value: &Value, role: Option<&str>) -> Option<bool> {
        self.iter_mut().find_map(|item| item.replace(name, value, role))
    }
}

/// A label or other free value.
impl ParamType for Value {
    fn kind() -> Kind {
        Kind::Any("a value")
    }
    fn to_value(&self) -> Value {
        self.clone()
    }
    fn from_value(value: &Value) -> Option<Value> {
        Some(value.clone())
    }
}
