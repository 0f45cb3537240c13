//! Values of parameters: what a command line, a Python call or a model file can hold.

use super::all_values;
use crate::estimator::AnyEstimator;
use serde_json::{Map, Number, Value as Json};

/// The value of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing: `None` in Python.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A word.
    Text(String),
    /// Several values.
    List(Vec<Value>),
    /// A learner with its parameters, for pipelines and ensembles.
    Learner(LearnerSpec),
}

/// A learner by name, with the parameters that differ from its defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnerSpec {
    /// The name in the registry, such as `linear_model.Ridge`.
    pub learner: String,
    /// Names and values of parameters.
    pub params: Vec<(String, Value)>,
}

impl LearnerSpec {
    /// A learner with all its parameters, in the order that JSON gives them.
    pub fn of(learner: &dyn AnyEstimator) -> Self {
        let mut params = all_values(learner).unwrap_or_default();
        params.sort_by(|a, b| a.0.cmp(&b.0));
        LearnerSpec { learner: learner.about().path.to_string(), params }
    }
}

impl Value {
    /// As JSON. Numbers that JSON lacks become the words `inf`, `-inf` and `nan`.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Int(i) => Json::Number((*i).into()),
            Value::Real(x) => match Number::from_f64(*x) {
                Some(number) => Json::Number(number),
                None if x.is_nan() => Json::String("nan".into()),
                None => Json::String(if *x > 0.0 { "inf" } else { "-inf" }.into()),
            },
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => Json::Array(items.iter().map(Value::to_json).collect()),
            Value::Learner(spec) => {
                let params: Map<String, Json> = spec
                    .params
                    .iter()
                    .map(|(name, value)| (name.clone(), value.to_json()))
                    .collect();
                serde_json::json!({ "learner": spec.learner, "params": params })
            }
        }
    }

    /// From JSON. An object must be a learner: `{"learner": name, "params": {...}}`.
    pub fn from_json(json: &Json) -> Option<Value> {
        Some(match json {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(number) => match number.as_i64() {
                Some(i) => Value::Int(i),
                None => Value::Real(number.as_f64()?),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => {
                Value::List(items.iter().map(Value::from_json).collect::<Option<_>>()?)
            }
            Json::Object(map) => {
                let learner = map.get("learner")?.as_str()?.to_string();
                let empty = Map::new();
                let params = match map.get("params") {
                    Some(params) => params.as_object()?,
                    None => &empty,
                };
                let params = params
                    .iter()
                    .map(|(name, value)| Some((name.clone(), Value::from_json(value)?)))
                    .collect::<Option<_>>()?;
                Value::Learner(LearnerSpec { learner, params })
            }
        })
    }

    /// From a word typed at a terminal: a number, `true`, `false`, `none`, a list with commas, or
    /// text.
    pub fn parse(word: &str) -> Value {
        let trimmed = word.trim();
        match trimmed {
            "none" | "None" | "null" => return Value::Null,
            "true" | "True" | "yes" => return Value::Bool(true),
            "false" | "False" | "no" => return Value::Bool(false),
            _ => {}
        }
        if let Ok(i) = trimmed.parse::<i64>() {
            return Value::Int(i);
        }
        if let Ok(x) = trimmed.parse::<f64>() {
            return Value::Real(x);
        }
        if trimmed.starts_with(['{', '['])
            && let Some(value) =
                serde_json::from_str(trimmed).ok().as_ref().and_then(Value::from_json)
        {
            return value;
        }
        if trimmed.contains(',') {
            return Value::List(trimmed.split(',').map(Value::parse).collect());
        }
        Value::Text(trimmed.to_string())
    }

    /// Whether it is nothing: null, an empty text or an empty list.
    pub fn is_empty(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Text(text) => text.is_empty(),
            Value::List(items) => items.is_empty(),
            _ => false,
        }
    }

    /// The number, if it is one.
    pub fn as_real(&self) -> Option<f64> {
        match self {
            Value::Int(i) => Some(*i as f64),
            Value::Real(x) => Some(*x),
            Value::Text(word) => match word.as_str() {
                "inf" => Some(f64::INFINITY),
                "-inf" => Some(f64::NEG_INFINITY),
                "nan" => Some(f64::NAN),
                _ => None,
            },
            _ => None,
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => write!(f, "none"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Real(x) => write!(f, "{x:?}"),
            Value::Text(text) => write!(f, "'{}'", crate::error::plain(text)),
            Value::List(_) | Value::Learner(_) => write!(f, "{}", self.to_json()),
        }
    }
}
