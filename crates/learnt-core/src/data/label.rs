//! Class labels: what users call their classes.

use crate::params::Value;
use std::cmp::Ordering;
use std::fmt;

/// The name of a class. Learners only see its code, the position in sorted order.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// `false` or `true`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Another number.
    Real(f64),
    /// Text.
    Text(String),
}

impl Label {
    /// Sorts numbers by value and texts by bytes; booleans first, texts last.
    pub fn order(&self, other: &Label) -> Ordering {
        let rank = |label: &Label| match label {
            Label::Bool(_) => 0,
            Label::Int(_) | Label::Real(_) => 1,
            Label::Text(_) => 2,
        };
        match (self, other) {
            (Label::Bool(a), Label::Bool(b)) => a.cmp(b),
            (Label::Int(a), Label::Int(b)) => a.cmp(b),
            (Label::Text(a), Label::Text(b)) => a.cmp(b),
            (a, b) => match (a.number(), b.number()) {
                (Some(x), Some(y)) => x.total_cmp(&y),
                _ => rank(a).cmp(&rank(b)),
            },
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Label::Int(i) => Some(*i as f64),
            Label::Real(x) => Some(*x),
            _ => None,
        }
    }

    /// Encodes labels as codes of the sorted distinct ones.
    pub fn encode(labels: &[Label]) -> (Vec<u32>, Vec<Label>) {
        let mut classes = labels.to_vec();
        classes.sort_by(Label::order);
        classes.dedup_by(|a, b| a.order(b) == Ordering::Equal);
        let code = |label: &Label| {
            classes.binary_search_by(|class| class.order(label)).unwrap_or_default() as u32
        };
        (labels.iter().map(code).collect(), classes)
    }
}

impl Label {
    /// From the value of a parameter, if it can name a class.
    pub fn from_value(value: &Value) -> Option<Label> {
        Some(match value {
            Value::Bool(b) => Label::Bool(*b),
            Value::Int(i) => Label::Int(*i),
            Value::Real(x) => Label::Real(*x),
            Value::Text(text) => Label::Text(text.clone()),
            Value::Null | Value::List(_) | Value::Learner(_) => return None,
        })
    }

    /// As the value of a parameter.
    pub fn to_value(&self) -> Value {
        match self {
            Label::Bool(b) => Value::Bool(*b),
            Label::Int(i) => Value::Int(*i),
            Label::Real(x) => Value::Real(*x),
            Label::Text(text) => Value::Text(text.clone()),
        }
    }

    /// As a number, if it is one.
    pub fn as_real(&self) -> Option<f64> {
        match self {
            Label::Bool(b) => Some(f64::from(*b)),
            Label::Int(i) => Some(*i as f64),
            Label::Real(x) => Some(*x),
            Label::Text(_) => None,
        }
    }

    /// From a number: a whole number where it is one.
    pub fn from_real(x: f64) -> Label {
        match x.fract() == 0.0 && x.abs() < 9e15 {
            true => Label::Int(x as i64),
            false => Label::Real(x),
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Bool(b) => write!(f, "{b}"),
            Label::Int(i) => write!(f, "{i}"),
            Label::Real(x) => write!(f, "{x}"),
            Label::Text(text) => write!(f, "{text}"),
        }
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Label::Text(text.to_string())
    }
}

impl From<i64> for Label {
    fn from(i: i64) -> Self {
        Label::Int(i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coding_round_trips_in_sorted_order() {
        let labels: Vec<Label> = ["b", "a", "c", "a"].map(Label::from).to_vec();
        let (codes, classes) = Label::encode(&labels);
        assert_eq!(codes, [1, 0, 2, 0]);
        let back: Vec<Label> = codes.iter().map(|&c| classes[c as usize].clone()).collect();
        assert_eq!(back, labels);
    }

    #[test]
    fn numbers_sort_by_value() {
        let (codes, _) = Label::encode(&[Label::Int(10), Label::Int(9), Label::Real(9.5)]);
        assert_eq!(codes, [2, 0, 1]);
    }
}
