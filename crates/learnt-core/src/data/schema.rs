//! What the columns of a table mean.

use crate::error::{Code, Error, Result, plain};
use std::collections::BTreeMap;

/// Names and types of columns, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    columns: Vec<Column>,
}

/// One column: its name and what its numbers mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// What the numbers mean.
    pub kind: ColumnKind,
}

/// What the numbers of a column mean.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnKind {
    /// A quantity.
    Numeric,
    /// A code: the position of a level.
    Categorical {
        /// The names of the levels; code 0 is the first.
        levels: Vec<String>,
        /// Whether the order of the levels means something.
        ordered: bool,
    },
}

impl Column {
    /// A column of quantities.
    pub fn numeric(name: impl Into<String>) -> Self {
        Column { name: name.into(), kind: ColumnKind::Numeric }
    }

    /// A column of unordered categories.
    pub fn categorical(name: impl Into<String>, levels: Vec<String>) -> Self {
        Column { name: name.into(), kind: ColumnKind::Categorical { levels, ordered: false } }
    }

    /// The levels, if it has any.
    pub fn levels(&self) -> Option<&[String]> {
        match &self.kind {
            ColumnKind::Numeric => None,
            ColumnKind::Categorical { levels, .. } => Some(levels),
        }
    }
}

impl Schema {
    /// From columns; names must differ and levels of a column too.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        let mut seen = BTreeMap::new();
        for (i, column) in columns.iter().enumerate() {
            if let Some(first) = seen.insert(column.name.as_str(), i) {
                let name = plain(&column.name);
                let message =
                    format!("columns {} and {} are both named '{name}'", first + 1, i + 1);
                return Err(Error::new(Code::Names, message).column(name));
            }
            if let Some(levels) = column.levels() {
                let mut sorted: Vec<&String> = levels.iter().collect();
                sorted.sort();
                if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                    let message = format!("column '{}' has a level twice", plain(&column.name));
                    return Err(Error::new(Code::Names, message).column(&column.name));
                }
            }
        }
        Ok(Schema { columns })
    }

    /// Numeric columns with these names.
    pub fn numeric<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Self> {
        Schema::new(names.into_iter().map(Column::numeric).collect())
    }

    /// Numeric columns named x0, x1, ...
    pub fn unnamed(count: usize) -> Self {
        Schema { columns: (0..count).map(|i| Column::numeric(format!("x{i}"))).collect() }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The columns in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// One column.
    pub fn column(&self, j: usize) -> &Column {
        &self.columns[j]
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The position of a name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The position of a name, or an error with the nearest name.
    pub fn find(&self, name: &str) -> Result<usize> {
        self.position(name).ok_or_else(|| Error::unknown("column", name, self.names()))
    }

    /// Whether every column is a quantity.
    pub fn all_numeric(&self) -> bool {
        self.columns.iter().all(|column| column.kind == ColumnKind::Numeric)
    }

    /// The chosen columns, in the given order.
    #[must_use]
    pub fn select(&self, columns: &[usize]) -> Schema {
        Schema { columns: columns.iter().map(|&j| self.columns[j].clone()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_names_are_refused_by_name() {
        let error = Schema::numeric(["a", "b", "a"]).unwrap_err();
        assert!(error.message().contains("columns 1 and 3 are both named 'a'"));
    }
}
