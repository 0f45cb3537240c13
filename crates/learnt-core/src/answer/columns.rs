//! Tables as columns: each with its name, its values and how they are printed.

use super::render::{duration, number, probability, short};
use crate::error::plain;
use std::collections::BTreeMap;

/// A table: columns of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// What it shows.
    pub title: String,
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// Whether its numbers are weights of inputs, the largest of which are shown where they are very many.
    pub weights: bool,
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Its name, which programs use.
    pub name: String,
    /// What people read above it, where that is not the name.
    pub head: Option<String>,
    /// Its values.
    pub data: Series,
    /// How numbers are printed.
    pub style: Style,
    /// Rows without a value, with the reason.
    pub absent: BTreeMap<usize, String>,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Series {
    /// Numbers.
    Reals(Vec<f64>),
    /// Whole numbers.
    Counts(Vec<i64>),
    /// Words.
    Texts(Vec<String>),
}

/// How numbers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Six significant digits.
    #[default]
    Number,
    /// A p-value: three digits, scientific when small, never zero.
    P,
    /// A share of one, as a percentage.
    Share,
    /// Four significant digits, at most three decimals.
    Short,
    /// Seconds, as a duration.
    Seconds,
}

/// One cell, for tables that are written row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text, left-aligned.
    Text(String),
    /// A number.
    Number(f64),
    /// A p-value.
    Probability(f64),
    /// A whole number.
    Count(i64),
    /// Nothing, with the reason.
    Empty(String),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_string())
    }
}

impl Series {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Series::Reals(values) => values.len(),
            Series::Counts(values) => values.len(),
            Series::Texts(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl TableColumn {
    /// A column of these values.
    pub fn new(name: impl Into<String>, data: Series, style: Style) -> Self {
        TableColumn { name: name.into(), head: None, data, style, absent: BTreeMap::new() }
    }

    /// A column of numbers of which some do not exist, with the reasons.
    pub fn partly(
        name: impl Into<String>,
        style: Style,
        values: impl IntoIterator<Item = std::result::Result<f64, String>>,
    ) -> Self {
        let mut column = TableColumn::new(name, Series::Reals(Vec::new()), style);
        for value in values {
            column.push(value.map_or_else(Cell::Empty, Cell::Number));
        }
        column
    }

    /// With other words above it than its name.
    #[must_use]
    pub fn headed(self, head: impl Into<String>) -> Self {
        TableColumn { head: Some(head.into()), ..self }
    }

    /// What people read above it.
    pub fn head(&self) -> &str {
        self.head.as_deref().unwrap_or(&self.name)
    }

    /// The numbers, if it holds any.
    pub fn reals(&self) -> Option<Vec<f64>> {
        match &self.data {
            Series::Reals(values) => Some(values.clone()),
            Series::Counts(values) => Some(values.iter().map(|&i| i as f64).collect()),
            Series::Texts(_) => None,
        }
    }

    /// One cell as text.
    pub fn text(&self, row: usize) -> String {
        if self.absent.contains_key(&row) {
            return "–".to_string();
        }
        match (&self.data, self.style) {
            (Series::Texts(values), _) => plain(&values[row]),
            (Series::Counts(values), _) => values[row].to_string(),
            (Series::Reals(values), Style::Number) => number(values[row]),
            (Series::Reals(values), Style::P) => probability(values[row]),
            (Series::Reals(values), _) if values[row].is_nan() => "–".to_string(),
            (Series::Reals(values), Style::Short) => short(values[row]),
            (Series::Reals(values), Style::Seconds) => duration(values[row]),
            (Series::Reals(values), Style::Share) => format!("{:.1}%", 100.0 * values[row]),
        }
    }

    /// Whether it is aligned to the left.
    pub fn is_text(&self) -> bool {
        matches!(self.data, Series::Texts(_))
    }

    fn push(&mut self, cell: Cell) {
        let row = self.data.len();
        let only_absent = self.absent.len() == row;
        match (cell, &mut self.data) {
            (Cell::Empty(why), data) => {
                self.absent.insert(row, why);
                match data {
                    Series::Reals(values) => values.push(f64::NAN),
                    Series::Counts(values) => values.push(0),
                    Series::Texts(values) => values.push(String::new()),
                }
            }
            (Cell::Text(text), Series::Texts(values)) => values.push(text),
            (Cell::Text(text), _) => {
                self.data = Series::Texts((0..row).map(|i| self.text_or_empty(i)).collect());
                self.push(Cell::Text(text));
            }
            (Cell::Count(i), Series::Counts(values)) => values.push(i),
            (Cell::Count(i), _) if only_absent => {
                self.data = Series::Counts(vec![0; row]);
                self.push(Cell::Count(i));
            }
            (Cell::Count(i), Series::Reals(values)) => values.push(i as f64),
            (Cell::Number(x), Series::Reals(values)) => values.push(x),
            (Cell::Probability(x), Series::Reals(values)) => {
                values.push(x);
                self.style = Style::P;
            }
            (Cell::Number(x) | Cell::Probability(x), Series::Counts(counts)) => {
                let mut values: Vec<f64> = counts.iter().map(|&i| i as f64).collect();
                values.push(x);
                self.data = Series::Reals(values);
            }
            (cell, Series::Texts(values)) => values.push(match cell {
                Cell::Count(i) => i.to_string(),
                Cell::Number(x) => number(x),
                Cell::Probability(p) => probability(p),
                Cell::Text(text) | Cell::Empty(text) => text,
            }),
        }
    }

    fn text_or_empty(&self, row: usize) -> String {
        if self.absent.contains_key(&row) { String::new() } else { self.text(row) }
    }
}

impl Columns {
    /// A table with these heads, to be filled row by row.
    pub fn new(title: &str, head: &[&str]) -> Self {
        Self::with_heads(title, head.iter().map(ToString::to_string))
    }

    /// The same with heads that are made.
    pub fn with_heads(title: &str, heads: impl IntoIterator<Item = String>) -> Self {
        let column = |name| TableColumn::new(name, Series::Reals(Vec::new()), Style::Number);
        let columns = heads.into_iter().map(column).collect();
        Columns { title: title.to_string(), columns, weights: false }
    }

    /// A table without columns, to be filled column by column.
    pub fn titled(title: impl Into<String>) -> Self {
        Columns { title: title.into(), ..Columns::default() }
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn reals(self, name: impl Into<String>, values: Vec<f64>) -> Self {
        self.with(TableColumn::new(name, Series::Reals(values), Style::Number))
    }

    /// Adds a column of p-values.
    #[must_use]
    pub fn p_values(self, name: impl Into<String>, values: Vec<f64>) -> Self {
        self.with(TableColumn::new(name, Series::Reals(values), Style::P))
    }

    /// Adds a column of shares of one.
    #[must_use]
    pub fn shares(self, name: impl Into<String>, values: Vec<f64>) -> Self {
        self.with(TableColumn::new(name, Series::Reals(values), Style::Share))
    }

    /// Adds a column of whole numbers.
    #[must_use]
    pub fn counts(self, name: impl Into<String>, values: Vec<i64>) -> Self {
        self.with(TableColumn::new(name, Series::Counts(values), Style::Number))
    }

    /// Adds a column of words.
    #[must_use]
    pub fn texts(self, name: impl Into<String>, values: Vec<String>) -> Self {
        self.with(TableColumn::new(name, Series::Texts(values), Style::Number))
    }

    /// Adds a column.
    #[must_use]
    pub fn with(mut self, column: TableColumn) -> Self {
        self.columns.push(column);
        self
    }

    /// Adds a row; a cell too few is empty, one too many is dropped.
    pub fn push(&mut self, row: Vec<Cell>) {
        let mut cells = row.into_iter();
        for column in &mut self.columns {
            column.push(cells.next().unwrap_or_else(|| Cell::Empty(String::new())));
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns_of_the_type_of_their_cells() {
        let mut table = Columns::new("t", &["name", "n", "p", "score"]);
        table.push(vec![
            "a".into(),
            Cell::Count(3),
            Cell::Probability(0.0),
            Cell::Empty("one class".into()),
        ]);
        table.push(vec!["b".into(), Cell::Count(4), Cell::Probability(0.5), Cell::Number(1.5)]);
        assert_eq!(table.column("n").unwrap().data, Series::Counts(vec![3, 4]));
        assert_eq!(table.column("p").unwrap().text(0), "<1e-300");
        let score = table.column("score").unwrap();
        assert_eq!((score.text(0).as_str(), score.text(1).as_str()), ("–", "1.5"));
        assert!(matches!(&score.data, Series::Reals(values) if values[0].is_nan()));
        assert_eq!(score.absent[&0], "one class");
    }

    #[test]
    fn a_word_among_numbers_makes_a_column_of_words() {
        let mut table = Columns::new("t", &["mixed"]);
        table.push(vec![Cell::Number(1.5)]);
        table.push(vec!["x".into()]);
        table.push(vec![Cell::Count(2)]);
        let words = ["1.5", "x", "2"].map(str::to_string).to_vec();
        assert_eq!(table.column("mixed").unwrap().data, Series::Texts(words));
    }
}
