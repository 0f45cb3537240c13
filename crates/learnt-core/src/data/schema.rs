//! What the columns of a table mean.

use crate::error::{Code, Error, Result, plain};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Names and types of columns, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    /// Shared: a table of many columns is copied with its schema more than once a fit.
    columns: Arc<Vec<Column>>,
    volume: Option<Volume>,
}

/// The sides of a volume whose cells the columns are: an image has depth 1 or one a colour. Columns go
/// through the depth fastest, then through the width: cell (i, j, k) is column (i width + j) depth + k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Rows of a cell's plane.
    pub height: usize,
    /// Columns of a cell's plane.
    pub width: usize,
    /// Planes.
    pub depth: usize,
}

impl Volume {
    /// From two or three sides, all at least 1.
    pub fn new(sides: &[usize]) -> Result<Self> {
        let (height, width, depth) = match *sides {
            [height, width] => (height, width, 1),
            [height, width, depth] => (height, width, depth),
            _ => (0, 0, 0),
        };
        match height.min(width).min(depth) > 0 {
            true => Ok(Volume { height, width, depth }),
            false => {
                let message = format!("a volume has two or three sides >= 1, got {sides:?}");
                Err(Error::new(Code::Shape, message).hint("such as 28x28x1"))
            }
        }
    }

    /// From text such as `28x28` or `32x32x3`.
    pub fn parse(text: &str) -> Result<Self> {
        let sides: Option<Vec<usize>> = text.split('x').map(|side| side.parse().ok()).collect();
        match sides {
            Some(sides) => Volume::new(&sides),
            None => {
                let message = format!("'{}' is no volume", plain(text));
                Err(Error::new(Code::Shape, message).hint("say height x width x depth: 28x28x1"))
            }
        }
    }

    /// Number of cells; none if that is too large to count.
    pub fn cells(&self) -> Option<usize> {
        self.height.checked_mul(self.width)?.checked_mul(self.depth)
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.height, self.width, self.depth)
    }
}

/// One column: its name and what its numbers mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// What the numbers mean.
    pub kind: ColumnKind,
}

/// What the numbers of a column mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A quantity.
    Numeric,
    /// A code: the position of a level.
    Categorical {
        /// The names of the levels; code 0 is the first. All copies of a column share them.
        levels: Arc<Vec<String>>,
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
        let levels = Arc::new(levels);
        Column { name: name.into(), kind: ColumnKind::Categorical { levels, ordered: false } }
    }

    /// The levels, if it has any, to be shared.
    pub fn shared_levels(&self) -> Option<&Arc<Vec<String>>> {
        match &self.kind {
            ColumnKind::Numeric => None,
            ColumnKind::Categorical { levels, .. } => Some(levels),
        }
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
        if !all_differ(columns.iter().map(|column| column.name.as_str())) {
            return Err(named_twice(&columns));
        }
        for column in &columns {
            if !all_differ(column.levels().unwrap_or_default().iter().map(String::as_str)) {
                let message = format!("column '{}' has a level twice", plain(&column.name));
                return Err(Error::new(Code::Names, message).column(&column.name));
            }
        }
        Ok(Schema { columns: Arc::new(columns), volume: None })
    }

    /// The same columns as the cells of a volume: numbers, as many as it has cells.
    pub fn with_volume(self, volume: Volume) -> Result<Self> {
        let fits = volume.cells() == Some(self.len()) && self.all_numeric();
        match fits {
            true => Ok(Schema { volume: Some(volume), ..self }),
            false => Err(Error::shape(
                "a volume",
                format!("numeric columns, one for each cell of {volume}"),
                format!("{} columns", self.len()),
            )
            .hint("leave out other columns with --ignore")),
        }
    }

    /// The volume whose cells the columns are, if they are.
    pub fn volume(&self) -> Option<Volume> {
        self.volume
    }

    /// Numeric columns with these names.
    pub fn numeric<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Self> {
        Schema::new(names.into_iter().map(Column::numeric).collect())
    }

    /// Numeric columns named x0, x1, ... Those asked for last are kept, unless they take megabytes: calls on arrays
    /// ask for the same again and again.
    pub fn unnamed(count: usize) -> Self {
        const KEPT: usize = 1 << 15;
        static LAST: Mutex<Option<Arc<Vec<Column>>>> = Mutex::new(None);
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let columns = match last.take() {
            Some(columns) if columns.len() == count => columns,
            _ => Arc::new((0..count).map(|i| Column::numeric(format!("x{i}"))).collect()),
        };
        *last = Some(columns.clone()).filter(|_| count <= KEPT);
        Schema { columns, volume: None }
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

    /// The chosen columns, in the given order. All of them in their order are the same volume.
    #[must_use]
    pub fn select(&self, columns: &[usize]) -> Schema {
        let whole = columns.len() == self.len() && columns.iter().enumerate().all(|(i, &j)| i == j);
        if whole {
            return self.clone();
        }
        let columns = columns.iter().map(|&j| self.columns[j].clone()).collect();
        Schema { columns: Arc::new(columns), volume: None }
    }
}

/// Whether no text is there twice. Texts in rising order, as levels mostly are, need one look.
fn all_differ<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> bool {
    if texts.clone().is_sorted_by(|a, b| a < b) {
        return true;
    }
    let mut sorted: Vec<&str> = texts.collect();
    sorted.sort_unstable();
    sorted.is_sorted_by(|a, b| a < b)
}

/// The error for the first name that was there before.
fn named_twice(columns: &[Column]) -> Error {
    let mut seen = BTreeMap::new();
    for (i, column) in columns.iter().enumerate() {
        if let Some(first) = seen.insert(column.name.as_str(), i) {
            let name = plain(&column.name);
            let message = format!("columns {} and {} are both named '{name}'", first + 1, i + 1);
            return Error::new(Code::Names, message).column(name);
        }
    }
    Error::new(Code::Internal, "no column is named twice")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_has_a_column_for_each_cell() {
        let volume = Volume::parse("2x3").unwrap();
        assert_eq!(
            (volume, volume.to_string().as_str()),
            (Volume::new(&[2, 3, 1]).unwrap(), "2x3x1")
        );
        let image = Schema::unnamed(6).with_volume(volume).unwrap();
        assert_eq!(image.select(&[0, 1, 2, 3, 4, 5]).volume(), Some(volume));
        assert_eq!(image.select(&[1, 0, 2, 3, 4, 5]).volume(), None);
        assert!(Schema::unnamed(5).with_volume(volume).is_err());
        for wrong in ["", "3", "2x0", "2x3x1x1", "-1x2", "axb", "99999999999x99999999999x9"] {
            let volume = Volume::parse(wrong);
            assert!(volume.is_err() || volume.unwrap().cells().is_none(), "{wrong}");
        }
    }

    #[test]
    fn duplicate_names_are_refused_by_name() {
        let error = Schema::numeric(["a", "b", "a"]).unwrap_err();
        assert!(error.message().contains("columns 1 and 3 are both named 'a'"));
        assert!(
            Schema::numeric(["a", "b", "c"]).is_ok() && Schema::numeric(["b", "c", "a"]).is_ok()
        );
        assert!(Schema::numeric(["a", "a"]).is_err());
    }

    #[test]
    fn a_level_that_is_there_twice_is_refused_in_any_order() {
        let column = |levels: &[&str]| {
            Column::categorical("c", levels.iter().map(ToString::to_string).collect())
        };
        for (levels, sound) in [
            (&["a", "b"][..], true),
            (&["b", "a"], true),
            (&["a", "a"], false),
            (&["b", "a", "b"], false),
        ] {
            assert_eq!(Schema::new(vec![column(levels)]).is_ok(), sound, "{levels:?}");
        }
    }
}
