//! Frames, targets and data sets: borrowed views that learners read, and their owned twins.

use super::look::Look;
use super::{Column, ColumnKind, Label, MatRef, Matrix, Schema, Sequences};
use crate::context::Context;
use crate::error::{Code, Error, Result, plain};
use crate::estimator::Accepts;

/// A matrix that knows what its columns mean. Numbers and category codes are `f64`; NaN is missing.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    values: MatRef<'a>,
    schema: &'a Schema,
    /// Who looks at the values as they are read, where nobody has looked at them yet.
    pub(super) look: Option<&'a Look>,
}

impl<'a> Frame<'a> {
    /// Values with their schema; the widths must agree.
    pub fn new(values: MatRef<'a>, schema: &'a Schema) -> Result<Self> {
        match values.ncols() == schema.len() {
            true => Ok(Frame { values, schema, look: None }),
            false => Err(Error::shape(
                "frame",
                format!("{} columns as in the schema", schema.len()),
                format!("{} columns", values.ncols()),
            )),
        }
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.values.nrows()
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.values.ncols()
    }

    /// The values, codes and all.
    pub fn values(&self) -> MatRef<'a> {
        self.values
    }

    /// What the columns mean.
    pub fn schema(&self) -> &'a Schema {
        self.schema
    }

    /// Rows `start..end`.
    #[must_use]
    pub fn rows(&self, start: usize, end: usize) -> Frame<'a> {
        Frame { values: self.values.rows(start, end), schema: self.schema, look: None }
    }

    /// A copy that owns its values.
    pub fn to_table(&self) -> Table {
        Table { values: self.values.to_matrix(), schema: self.schema.clone() }
    }

    /// A copy of the chosen columns.
    pub fn select(&self, columns: &[usize]) -> Table {
        Table { values: self.values.gather_columns(columns), schema: self.schema.select(columns) }
    }

    /// A copy of the chosen rows.
    pub fn gather(&self, rows: &[usize]) -> Table {
        Table { values: self.values.gather_rows(rows), schema: self.schema.clone() }
    }

    /// Checks width, infinities, missing values and categories against what is accepted.
    /// Errors name the column, the row and what to do.
    pub fn check(&self, accepts: Accepts, run: &Context) -> Result<()> {
        self.check_from(0, accepts, run)
    }

    /// The same for rows of a longer table, by the number of the first.
    fn check_from(&self, first_row: u64, accepts: Accepts, run: &Context) -> Result<()> {
        self.check_columns(accepts)?;
        if accepts.missing && accepts.infinite {
            return Ok(());
        }
        match self.first_not_finite(accepts.missing, run) {
            None => Ok(()),
            Some((i, j)) => Err(self.not_finite(i, j, first_row)),
        }
    }

    /// Checks width and categories, and no value.
    pub(crate) fn check_columns(&self, accepts: Accepts) -> Result<()> {
        if self.ncols() == 0 {
            let message = format!(
                "found 0 feature(s) (shape=({}, 0)) while a minimum of 1 is required",
                self.nrows()
            );
            return Err(Error::new(Code::Empty, message));
        }
        match accepts.categories {
            true => Ok(()),
            false => self.refuse_categories(),
        }
    }

    fn refuse_categories(&self) -> Result<()> {
        let categorical = |column: &&Column| column.kind != ColumnKind::Numeric;
        match self.schema.columns().iter().find(categorical) {
            None => Ok(()),
            Some(column) => {
                let name = plain(&column.name);
                let message = format!("column '{name}' is categorical, and numbers are needed");
                Err(Error::new(Code::NotNumeric, message).column(name).hint(
                    "put OneHotEncoder or OrdinalEncoder in front, for example in a Pipeline",
                ))
            }
        }
    }

    fn not_finite(&self, i: usize, j: usize, first_row: u64) -> Error {
        let name = plain(&self.schema.column(j).name);
        let value = self.values.at(i, j);
        let row = first_row + i as u64 + 1;
        if value.is_infinite() {
            let message = format!("column '{name}' holds {value} (infinity) in row {row}");
            return Error::new(Code::NotFinite, message)
                .column(name)
                .row(row)
                .hint("replace infinities before fitting");
        }
        let count = (0..self.nrows()).filter(|&row| self.values.at(row, j).is_nan()).count();
        let of = match first_row {
            0 => format!("{}", self.nrows()),
            first => format!("rows {} to {}", first + 1, first + self.nrows() as u64),
        };
        let message = format!(
            "column '{name}' has {count} missing values (NaN) of {of} (first: row {row}), and this learner cannot take them"
        );
        Error::new(Code::Missing, message)
            .column(name)
            .row(row)
            .hint("put SimpleImputer in front, drop those rows, or use a tree")
    }
}

/// A frame that owns its values and schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    values: Matrix,
    schema: Schema,
}

impl Table {
    /// Values with their schema; the widths must agree.
    pub fn new(values: Matrix, schema: Schema) -> Result<Self> {
        Frame::new(values.view(), &schema)?;
        Ok(Table { values, schema })
    }

    /// Numbers without names: the columns are x0, x1, ...
    pub fn unnamed(values: Matrix) -> Self {
        let schema = Schema::unnamed(values.ncols());
        Table { values, schema }
    }

    /// A view of it all.
    pub fn frame(&self) -> Frame<'_> {
        Frame { values: self.values.view(), schema: &self.schema, look: None }
    }

    /// The values.
    pub fn values(&self) -> &Matrix {
        &self.values
    }

    /// The values, to write to.
    pub fn values_mut(&mut self) -> &mut Matrix {
        &mut self.values
    }

    /// What the columns mean.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Values and schema, given away.
    pub fn into_parts(self) -> (Matrix, Schema) {
        (self.values, self.schema)
    }
}

/// What is to be predicted.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// Numbers, one column per output.
    Real(MatRef<'a>),
    /// Codes of classes; `classes` are in sorted order and every code is below their number.
    Class {
        /// One code a row.
        codes: &'a [u32],
        /// What the codes stand for.
        classes: &'a [Label],
    },
}

impl<'a> Target<'a> {
    /// Number of rows.
    pub fn nrows(&self) -> usize {
        match self {
            Target::Real(values) => values.nrows(),
            Target::Class { codes, .. } => codes.len(),
        }
    }

    /// Rows `start..end`.
    #[must_use]
    pub fn rows(&self, start: usize, end: usize) -> Target<'a> {
        match *self {
            Target::Real(values) => Target::Real(values.rows(start, end)),
            Target::Class { codes, classes } => {
                Target::Class { codes: &codes[start..end], classes }
            }
        }
    }
}

/// What a learner learns from.
#[derive(Clone, Copy, Debug)]
pub struct Dataset<'a> {
    /// The inputs.
    pub x: Frame<'a>,
    /// What is to be predicted, for supervised learners.
    pub y: Option<Target<'a>>,
    /// How much each row counts; weight 2 is the same as the row twice.
    pub weights: Option<&'a [f64]>,
    /// Rows with equal numbers belong together.
    pub groups: Option<&'a [u32]>,
    /// Which consecutive rows form a sequence; without, all rows are one.
    pub sequences: Option<Sequences<'a>>,
}

impl<'a> Dataset<'a> {
    /// Inputs alone.
    pub fn new(x: Frame<'a>) -> Self {
        Dataset { x, y: None, weights: None, groups: None, sequences: None }
    }

    /// Adds the target.
    #[must_use]
    pub fn with_target(self, y: Target<'a>) -> Self {
        Dataset { y: Some(y), ..self }
    }

    /// Adds weights.
    #[must_use]
    pub fn with_weights(self, weights: &'a [f64]) -> Self {
        Dataset { weights: Some(weights), ..self }
    }

    /// Adds sequences.
    #[must_use]
    pub fn with_sequences(self, sequences: Sequences<'a>) -> Self {
        Dataset { sequences: Some(sequences), ..self }
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.x.nrows()
    }

    /// Which rows must stay together: those of a group, or of a sequence.
    pub fn together(&self) -> Option<Vec<u32>> {
        match self.groups {
            Some(groups) => Some(groups.to_vec()),
            None => self.sequences.map(|sequences| sequences.numbers()),
        }
    }

    /// Rows `start..end`.
    #[must_use]
    pub fn rows(&self, start: usize, end: usize) -> Dataset<'a> {
        Dataset {
            x: self.x.rows(start, end),
            y: self.y.map(|y| y.rows(start, end)),
            weights: self.weights.map(|w| &w[start..end]),
            groups: self.groups.map(|g| &g[start..end]),
            sequences: self.sequences.map(|sequences| sequences.rows(start, end)),
        }
    }

    /// The weight of a row; 1 without weights.
    #[inline]
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    /// The numeric target, or an error that says what came instead.
    pub fn real_target(&self) -> Result<MatRef<'a>> {
        match self.y {
            Some(Target::Real(values)) => Ok(values),
            Some(Target::Class { .. }) => Err(Error::new(
                Code::Target,
                "a numeric target is needed, and this one has classes",
            )),
            None => Err(no_target()),
        }
    }

    /// Codes and classes of the target, or an error that says what came instead.
    pub fn class_target(&self) -> Result<(&'a [u32], &'a [Label])> {
        match self.y {
            Some(Target::Class { codes, classes }) => Ok((codes, classes)),
            Some(Target::Real(_)) => Err(Error::new(
                Code::Target,
                "a target of classes is needed, and this one is numeric",
            )),
            None => Err(no_target()),
        }
    }

    /// A copy of the chosen rows.
    pub fn gather(&self, rows: &[usize]) -> OwnedDataset {
        OwnedDataset {
            x: self.x.gather(rows),
            y: self.y.map(|y| match y {
                Target::Real(values) => OwnedTarget::Real(values.gather_rows(rows)),
                Target::Class { codes, classes } => OwnedTarget::Class {
                    codes: rows.iter().map(|&i| codes[i]).collect(),
                    classes: classes.to_vec(),
                },
            }),
            weights: self.weights.map(|w| rows.iter().map(|&i| w[i]).collect()),
            groups: self.groups.map(|g| rows.iter().map(|&i| g[i]).collect()),
            sequences: self.sequences.map(|sequences| sequences.gather(rows)),
        }
    }

    /// Checks everything a learner may rely on: shapes, finite numbers, valid weights, a target if
    /// one is needed.
    pub fn check(&self, accepts: Accepts, needs_target: bool, run: &Context) -> Result<()> {
        self.check_block(0, accepts, needs_target, run)?;
        match self.counted_rows() {
            0 => Err(Error::new(Code::Weights, "all weights are zero, so no row counts")),
            _ => Ok(()),
        }
    }

    /// The number of rows whose weight is not zero.
    pub fn counted_rows(&self) -> usize {
        let counted = |weights: &[f64]| weights.iter().filter(|&&w| w > 0.0).count();
        self.weights.map_or(self.nrows(), counted)
    }

    /// The same for a block of a longer table, by the number of its first row: none of its rows need count.
    pub fn check_block(
        &self,
        first_row: u64,
        accepts: Accepts,
        needs_target: bool,
        run: &Context,
    ) -> Result<()> {
        self.check_rows()?;
        self.x.check_from(first_row, accepts, run)?;
        self.check_around(first_row, accepts, needs_target)
    }

    fn check_rows(&self) -> Result<()> {
        if self.nrows() > 0 {
            return Ok(());
        }
        let message = format!(
            "no rows: found array with 0 sample(s) (shape=(0, {})) while a minimum of 1 is required",
            self.x.ncols()
        );
        Err(Error::new(Code::Empty, message))
    }

    /// The same without a look at the values of the inputs: for fits that cannot overlook one that is
    /// not finite.
    pub fn check_around(&self, first_row: u64, accepts: Accepts, needs_target: bool) -> Result<()> {
        self.check_rows()?;
        self.x.check_columns(accepts)?;
        let n = self.nrows();
        if let Some(weights) = self.weights {
            check_weights(weights, n, first_row)?;
        }
        if let Some(groups) = self.groups {
            same_length("groups", groups.len(), n)?;
        }
        if let Some(sequences) = self.sequences {
            same_length("sequences", sequences.nrows(), n)?;
        }
        match self.y {
            None if needs_target => Err(no_target()),
            None => Ok(()),
            Some(y) => {
                same_length("target", y.nrows(), n)?;
                // A learner without use for a target may stand in front of one of several outputs.
                let many_outputs = accepts.many_outputs || !needs_target;
                check_target(y, Accepts { many_outputs, ..accepts }, first_row)
            }
        }
    }
}

fn no_target() -> Error {
    Error::new(Code::Target, "this learner needs a target")
        .hint("requires y to be passed, but the target y is None; name it with --target")
}

fn same_length(what: &str, got: usize, rows: usize) -> Result<()> {
    match got == rows {
        true => Ok(()),
        false => Err(Error::shape(what, format!("{rows} rows as in x"), format!("{got} rows"))),
    }
}

fn check_weights(weights: &[f64], n: usize, first_row: u64) -> Result<()> {
    same_length("weights", weights.len(), n)?;
    match weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        None => Ok(()),
        Some(i) => {
            let row = first_row + i as u64 + 1;
            let message =
                format!("weight {} in row {row}: weights must be finite and >= 0", weights[i]);
            Err(Error::new(Code::Weights, message).row(row))
        }
    }
}

fn check_target(y: Target, accepts: Accepts, first_row: u64) -> Result<()> {
    match y {
        Target::Real(values) => {
            if values.ncols() == 0 || (values.ncols() > 1 && !accepts.many_outputs) {
                return Err(Error::shape(
                    "target",
                    "one column",
                    format!("{} columns", values.ncols()),
                ));
            }
            for i in 0..values.nrows() {
                for j in 0..values.ncols() {
                    if !values.at(i, j).is_finite() {
                        let row = first_row + i as u64 + 1;
                        let message = format!(
                            "the target holds {} in row {row} (NaN or infinity)",
                            values.at(i, j)
                        );
                        return Err(Error::new(Code::Target, message).row(row));
                    }
                }
            }
            Ok(())
        }
        Target::Class { codes, classes } => {
            match codes.iter().any(|&code| code as usize >= classes.len()) {
                true => {
                    Err(Error::new(Code::Target, "a class code is not below the number of classes"))
                }
                false => Ok(()),
            }
        }
    }
}

/// A target that owns its values.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedTarget {
    /// Numbers, one column per output.
    Real(Matrix),
    /// Codes of classes.
    Class {
        /// One code a row.
        codes: Vec<u32>,
        /// What the codes stand for, sorted.
        classes: Vec<Label>,
    },
}

impl OwnedTarget {
    /// Encodes labels.
    pub fn from_labels(labels: &[Label]) -> Self {
        let (codes, classes) = Label::encode(labels);
        OwnedTarget::Class { codes, classes }
    }

    /// A view.
    pub fn view(&self) -> Target<'_> {
        match self {
            OwnedTarget::Real(values) => Target::Real(values.view()),
            OwnedTarget::Class { codes, classes } => Target::Class { codes, classes },
        }
    }
}

/// A data set that owns all its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnedDataset {
    /// The inputs.
    pub x: Table,
    /// What is to be predicted.
    pub y: Option<OwnedTarget>,
    /// How much each row counts.
    pub weights: Option<Vec<f64>>,
    /// Rows with equal numbers belong together.
    pub groups: Option<Vec<u32>>,
    /// Offsets of sequences; see [`Sequences`].
    pub sequences: Option<Vec<usize>>,
}

impl OwnedDataset {
    /// Unnamed numbers with a numeric target.
    pub fn regression(x: Matrix, y: Vec<f64>) -> Self {
        let y = Some(OwnedTarget::Real(Matrix::column_vector(y)));
        OwnedDataset { x: Table::unnamed(x), y, ..Self::default() }
    }

    /// Unnamed numbers with classes.
    pub fn classification(x: Matrix, labels: &[Label]) -> Self {
        let y = Some(OwnedTarget::from_labels(labels));
        OwnedDataset { x: Table::unnamed(x), y, ..Self::default() }
    }

    /// Unnamed numbers alone.
    pub fn unsupervised(x: Matrix) -> Self {
        OwnedDataset { x: Table::unnamed(x), ..Self::default() }
    }

    /// A view. Offsets that do not fit the rows are no sequences.
    pub fn view(&self) -> Dataset<'_> {
        let sequences = |offsets| Sequences::new(offsets, self.x.values().nrows()).ok();
        Dataset {
            x: self.x.frame(),
            y: self.y.as_ref().map(OwnedTarget::view),
            weights: self.weights.as_deref(),
            groups: self.groups.as_deref(),
            sequences: self.sequences.as_deref().and_then(sequences),
        }
    }
}
