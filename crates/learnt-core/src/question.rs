//! Questions to a model beyond prediction: asked by name with arguments, answered by a report.
//!
//! Front ends need no list of them: the command line has `learnt ask`, Python a method for each.

use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::params::{Params, Value};
use std::sync::Arc;

/// A question that models of one kind answer.
#[derive(Clone, Copy)]
pub struct Question {
    /// Its name, also the name of Python's method.
    pub name: &'static str,
    /// What the answer says.
    pub doc: &'static str,
    /// The data that it needs.
    pub needs: Needs,
    /// Its arguments with their defaults: parameters like any others.
    pub arguments: fn() -> Box<dyn Params>,
}

impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Question({})", self.name)
    }
}

/// The data that a question needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// None.
    Nothing,
    /// Rows.
    Rows,
    /// Rows with their target.
    RowsAndTarget,
}

/// Which columns of a table belong to one term of a formula: those of a category, of a polynomial, of an
/// interaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Names, as they are written.
    pub names: Vec<String>,
    /// The variables that each multiplies.
    pub variables: Vec<Vec<String>>,
    /// The columns of each.
    pub columns: Vec<Vec<usize>>,
}

impl Terms {
    /// One term more.
    pub fn push(&mut self, name: String, variables: Vec<String>, columns: Vec<usize>) {
        self.names.push(name);
        self.variables.push(variables);
        self.columns.push(columns);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// By the names of columns alone: `column: level` is one of the columns of a category.
    pub fn by_name(names: &[String]) -> Terms {
        let mut out = Terms::default();
        for (j, name) in names.iter().enumerate() {
            let term = name.split_once(": ").map_or(name.as_str(), |(term, _)| term);
            match out.names.last() == Some(&term.to_string()) {
                true => out.columns.iter_mut().last().into_iter().for_each(|own| own.push(j)),
                false => out.push(term.to_string(), vec![term.to_string()], vec![j]),
            }
        }
        out
    }

    /// Whether one term is part of another: all of its variables are among the other's.
    pub fn is_within(&self, term: usize, other: usize) -> bool {
        term != other && self.variables[term].iter().all(|v| self.variables[other].contains(v))
    }
}

/// A question as it is asked: every argument has a value.
pub struct Asked<'a> {
    /// The name of the question.
    pub name: &'static str,
    /// The rows, if it needs any.
    pub data: Option<Dataset<'a>>,
    /// The run.
    pub run: Context<'a>,
    /// Which columns belong together, where a step in front of the model says so.
    pub terms: Option<Terms>,
    arguments: Arc<dyn Params>,
}

impl Question {
    /// The question with these arguments, and defaults for the others.
    pub fn ask<'a>(
        &self,
        given: &[(String, Value)],
        data: Option<Dataset<'a>>,
        run: Context<'a>,
    ) -> Result<Asked<'a>> {
        let mut arguments = (self.arguments)();
        for (name, value) in given {
            arguments.set(name, value).map_err(|error| error.within(self.name))?;
        }
        arguments.check().map_err(|error| error.within(self.name))?;
        let wanted = match (self.needs, &data) {
            (Needs::Rows | Needs::RowsAndTarget, None) => Some("rows"),
            (Needs::RowsAndTarget, Some(data)) if data.y.is_none() => {
                Some("rows with their target")
            }
            _ => None,
        };
        match wanted {
            Some(wanted) => Err(Error::new(
                crate::error::Code::Usage,
                format!("the question '{}' needs {wanted}", self.name),
            )),
            None => Ok(Asked {
                name: self.name,
                data,
                run,
                terms: None,
                arguments: Arc::from(arguments),
            }),
        }
    }
}

impl<'a> Asked<'a> {
    fn value(&self, name: &str) -> Value {
        self.arguments.get(name).unwrap_or(Value::Null)
    }

    /// An argument that is a number.
    pub fn number(&self, name: &str) -> Result<f64> {
        let value = self.value(name);
        value.as_real().ok_or_else(|| Error::parameter(name, "a number", value))
    }

    /// An argument that counts from zero.
    pub fn count(&self, name: &str) -> Result<usize> {
        match self.value(name) {
            Value::Int(i) => usize::try_from(i).ok(),
            _ => None,
        }
        .ok_or_else(|| Error::parameter(name, "a whole number >= 0", self.value(name)))
    }

    /// An argument that is one of these words: its position.
    pub fn choice(&self, name: &str, words: &[&str]) -> Result<usize> {
        let found = match self.value(name) {
            Value::Text(text) => words.iter().position(|word| *word == text),
            _ => None,
        };
        let expected = format!("one of {}", words.join(", "));
        found.ok_or_else(|| Error::parameter(name, expected, self.value(name)))
    }

    /// An argument that lists words; a single text may hold several with commas between them.
    pub fn words(&self, name: &str) -> Result<Vec<String>> {
        let apart = |text: &str| text.split(',').map(|word| word.trim().to_string()).collect();
        match self.value(name) {
            Value::Null => Ok(Vec::new()),
            Value::Text(text) => Ok(apart(&text)),
            Value::List(items) => {
                let word = |item: &Value| match item {
                    Value::Text(text) => text.clone(),
                    other => other.to_string(),
                };
                match items.as_slice() {
                    [Value::Text(text)] => Ok(apart(text)),
                    items => Ok(items.iter().map(word).collect()),
                }
            }
            other => Err(Error::parameter(name, "names, such as a,b", other)),
        }
    }

    /// An argument that lists numbers.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>> {
        let wrong = || Error::parameter(name, "numbers, such as [1, 2.5]", self.value(name));
        let number = |value: &Value| value.as_real().ok_or_else(wrong);
        match self.value(name) {
            Value::List(items) => items.iter().map(number).collect(),
            Value::Null => Ok(Vec::new()),
            one => number(&one).map(|x| vec![x]),
        }
    }

    /// The same question about other rows.
    #[must_use]
    pub fn with_data<'b>(&self, data: Dataset<'b>) -> Asked<'b>
    where
        'a: 'b,
    {
        Asked {
            name: self.name,
            data: Some(data),
            run: self.run,
            terms: self.terms.clone(),
            arguments: Arc::clone(&self.arguments),
        }
    }

    /// The same question with columns that belong together.
    #[must_use]
    pub fn with_terms(&self, terms: Option<Terms>) -> Asked<'a> {
        Asked {
            name: self.name,
            data: self.data,
            run: self.run,
            terms: terms.or_else(|| self.terms.clone()),
            arguments: Arc::clone(&self.arguments),
        }
    }

    /// The rows.
    pub fn rows(&self) -> Result<&Dataset<'a>> {
        self.data.as_ref().ok_or_else(|| Error::internal("a question without its rows"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arguments of the test.
    #[derive(learnt_derive::Params, Clone, Debug)]
    struct Arguments {
        /// A level.
        #[param(default = 0.95, above = 0.0, range = ..=1.0)]
        pub level: f64,
        /// Some columns.
        pub columns: Option<Vec<String>>,
    }

    const QUESTION: Question = Question {
        name: "intervals",
        doc: "",
        needs: Needs::Nothing,
        arguments: || Box::new(Arguments::default()),
    };

    fn ask(given: &[(&str, Value)]) -> Result<Asked<'static>> {
        let given: Vec<_> = given.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
        QUESTION.ask(&given, None, Context::default())
    }

    #[test]
    fn arguments_have_defaults_and_are_checked() {
        assert_eq!(ask(&[]).unwrap().number("level").unwrap(), 0.95);
        assert_eq!(ask(&[("level", Value::Int(1))]).unwrap().number("level").unwrap(), 1.0);
        assert!(ask(&[("levle", Value::Int(1))]).is_err());
        assert!(ask(&[("level", Value::Text("high".to_string()))]).is_err());
        assert!(ask(&[("level", Value::Real(1.5))]).is_err());
        let names = ask(&[("columns", Value::Text("a, b".to_string()))]).unwrap();
        assert_eq!(names.words("columns").unwrap(), ["a", "b"]);
    }

    #[test]
    fn rows_are_asked_for() {
        let question = Question { needs: Needs::Rows, ..QUESTION };
        assert!(question.ask(&[], None, Context::default()).is_err());
    }
}
