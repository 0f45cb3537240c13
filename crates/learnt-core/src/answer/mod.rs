//! Answers: what everything that is not a prediction returns.
//!
//! An answer holds values by name, tables of columns, charts and notes. Columns, not printed cells:
//! a program gets arrays, and text, Markdown, CSV, JSON and HTML are made from the same columns when
//! somebody asks for them. A number that does not exist is NaN in a column, with the reason beside it.

mod columns;
mod datum;
mod render;
mod text;

pub use columns::{Cell, Columns, Series, Style, TableColumn};
pub use datum::{Datum, DatumType, OwnedLabels};
pub use render::{duration, finite, html, number, probability};

use crate::chart::Chart;

/// Values, tables, charts and notes about one thing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// What it is about.
    pub title: String,
    /// Single values and arrays by name, in their order.
    pub values: Vec<(String, Datum)>,
    /// The tables.
    pub tables: Vec<Columns>,
    /// The pictures.
    pub charts: Vec<Chart>,
    /// Sentences for the reader.
    pub notes: Vec<String>,
}

impl Answer {
    /// An answer with this title.
    pub fn new(title: impl Into<String>) -> Self {
        Answer { title: title.into(), ..Self::default() }
    }

    /// Adds a value.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<Datum>) {
        self.values.push((name.into(), value.into()));
    }

    /// Adds a value where there is one.
    pub fn push_some(&mut self, name: impl Into<String>, value: Option<impl Into<Datum>>) {
        if let Some(value) = value {
            self.push(name, value);
        }
    }

    /// The value with this name.
    pub fn value(&self, name: &str) -> Option<&Datum> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The number with this name.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.value(name).and_then(Datum::as_real)
    }

    /// The column with this name, in the first table that has it.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        self.tables.iter().find_map(|table| table.column(name))
    }
}
