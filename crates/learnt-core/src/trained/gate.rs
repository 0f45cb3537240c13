//! The gate: every prediction passes here, once. Columns are matched by name and categories by level;
//! what the learner cannot take (missing values, infinities, categories) is refused with its row and
//! column, or its row is skipped.

use super::{Trained, Unknown};
use crate::context::Context;
use crate::data::{Column, Frame, Matrix, Schema, Sequences, Table};
use crate::error::{Code, Error, Result, nearest, plain};
use crate::estimator::{About, Accepts, Admitted, Model};
use std::collections::BTreeMap;

/// What prediction does with rows whose missing values the learner cannot take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// Refuses them all, and names the first.
    #[default]
    Error,
    /// Leaves those rows without a prediction.
    Skip,
}

/// Rows that have passed the gate.
#[derive(Debug)]
pub struct Rows<'a> {
    held: Held<'a>,
    sequences: Option<Sequences<'a>>,
    offsets: Option<Vec<usize>>,
    kept: Option<Vec<usize>>,
    given: usize,
}

/// Rows as they came, or a copy in the model's order and coding.
#[derive(Debug)]
enum Held<'a> {
    Lent(Frame<'a>),
    Own(Table),
}

impl Held<'_> {
    fn frame(&self) -> Frame<'_> {
        match self {
            Held::Lent(frame) => *frame,
            Held::Own(table) => table.frame(),
        }
    }
}

impl Rows<'_> {
    /// As the methods of roles take them.
    pub fn admitted(&self) -> Admitted<'_> {
        let x = self.held.frame();
        let own = |offsets| Sequences::new(offsets, x.nrows()).ok();
        Admitted { x, sequences: self.offsets.as_deref().and_then(own).or(self.sequences) }
    }

    /// The rows as the model knows them.
    pub fn frame(&self) -> Frame<'_> {
        self.held.frame()
    }

    /// The numbers of the rows that are left, if some were skipped.
    pub fn kept(&self) -> Option<&[usize]> {
        self.kept.as_deref()
    }

    /// How many rows were skipped.
    pub fn skipped(&self) -> usize {
        self.given - self.held.frame().nrows()
    }

    /// One line for every row that was given: those of skipped rows are missing.
    pub fn spread(&self, table: Table) -> Result<Table> {
        let Some(kept) = self.kept() else { return Ok(table) };
        let (values, schema) = table.into_parts();
        let mut out = Matrix::from_fn(self.given, values.ncols(), |_, _| f64::NAN);
        for (&i, row) in kept.iter().zip(values.rows()) {
            out.row_mut(i).copy_from_slice(row);
        }
        Table::new(out, schema)
    }
}

/// What the inputs of a model may hold.
pub fn accepts_of(about: &About, model: &dyn Model) -> Accepts {
    model.accepts().unwrap_or(about.accepts)
}

/// Refuses rows that the model's learner does not take; their columns are already the model's.
pub fn check_rows(about: &About, model: &dyn Model, x: &Frame, run: &Context) -> Result<()> {
    x.check(accepts_of(about, model), run).map_err(|error| explained(error, about.name()))
}

fn explained(error: Error, name: &str) -> Error {
    let error = error.within(name);
    match error.code() {
        Code::Missing => error.hint(
            "fill them in, leave those rows out (--missing skip), or fit with an imputer in front",
        ),
        Code::NotFinite => error.hint("replace infinities by numbers, or leave those rows out"),
        _ => error,
    }
}

impl Trained {
    /// What the inputs may hold.
    pub fn accepts(&self) -> Accepts {
        accepts_of(self.about, self.model.as_ref())
    }

    /// Lets rows in: as the model knows them, holding only what its learner takes.
    pub fn admit<'x>(
        &self,
        x: &Frame<'x>,
        sequences: Option<Sequences<'x>>,
        missing: Missing,
        run: &Context,
    ) -> Result<Rows<'x>> {
        let held = self.aligned(x)?;
        let accepts = self.accepts();
        let skips = missing == Missing::Skip && !accepts.missing;
        held.frame()
            .check(Accepts { missing: accepts.missing || skips, ..accepts }, run)
            .map_err(|error| explained(error, self.about.name()))?;
        let rows = Rows { held, sequences, offsets: None, kept: None, given: x.nrows() };
        Ok(if skips { rows.without_missing() } else { rows })
    }

    /// The rows as the model knows them, without a copy where they already are.
    pub(super) fn with_aligned<T>(
        &self,
        x: &Frame,
        f: impl FnOnce(&Frame) -> Result<T>,
    ) -> Result<T> {
        f(&self.aligned(x)?.frame())
    }

    fn aligned<'x>(&self, x: &Frame<'x>) -> Result<Held<'x>> {
        let schema = &self.history.schema;
        if std::ptr::eq(x.schema(), schema) || x.schema() == schema {
            return Ok(Held::Lent(*x));
        }
        if let (Some(given), known) = (x.schema().volume(), schema.volume())
            && Some(given) != known
        {
            let known = known.map_or("a table".to_string(), |known| format!("volumes of {known}"));
            let message = format!("volumes of {given}, and the model was trained on {known}");
            return Err(Error::new(Code::Shape, message));
        }
        let source = self.positions(x.schema())?;
        let mut values = Matrix::zeros(x.nrows(), schema.len());
        for (j, &from) in source.iter().enumerate() {
            let (wanted, given) = (schema.column(j), x.schema().column(from));
            let recoded = recode(wanted, given, x, from, self.history.unknown)?;
            for (i, value) in recoded.into_iter().enumerate() {
                values[(i, j)] = value;
            }
        }
        Table::new(values, schema.clone()).map(Held::Own)
    }

    /// Columns of `x` that the model does not use.
    pub fn extra_columns<'s>(&self, x: &'s Schema) -> Vec<&'s str> {
        x.names().filter(|name| self.history.schema.position(name).is_none()).collect()
    }

    /// Where each training column stands in the given schema.
    fn positions(&self, given: &Schema) -> Result<Vec<usize>> {
        let index: BTreeMap<&str, usize> = given.names().zip(0..).collect();
        let schema = &self.history.schema;
        let missing: Vec<&str> = schema.names().filter(|name| !index.contains_key(name)).collect();
        if missing.is_empty() {
            return Ok(schema.names().map(|name| index[name]).collect());
        }
        let extra: Vec<&str> = self.extra_columns(given);
        let suggestion = missing.iter().find_map(|name| {
            nearest(name, &extra)
                .map(|near| format!("did you mean column '{}' for '{}'?", plain(near), plain(name)))
        });
        let shown: Vec<String> =
            missing.iter().take(5).map(|name| format!("'{}'", plain(name))).collect();
        let more = if missing.len() > 5 {
            format!(" and {} more", missing.len() - 5)
        } else {
            String::new()
        };
        let message = format!(
            "the columns differ from those the model was trained on; missing: {}{more}",
            shown.join(", ")
        );
        let hint =
            suggestion.unwrap_or_else(|| "`learnt inspect MODEL --schema` lists them".to_string());
        Err(Error::new(Code::Schema, message).column(missing[0]).hint(hint))
    }
}

impl Rows<'_> {
    fn without_missing(mut self) -> Self {
        let x = self.held.frame();
        let whole = |&i: &usize| (0..x.ncols()).all(|j| !x.values().at(i, j).is_nan());
        let kept: Vec<usize> = (0..x.nrows()).filter(whole).collect();
        if kept.len() == x.nrows() {
            return self;
        }
        let table = x.gather(&kept);
        self.offsets = self.sequences.map(|sequences| sequences.gather(&kept));
        self.held = Held::Own(table);
        self.kept = Some(kept);
        self
    }
}

/// One column in the model's coding.
fn recode(
    wanted: &Column,
    given: &Column,
    x: &Frame,
    from: usize,
    unknown: Unknown,
) -> Result<Vec<f64>> {
    let values = x.values().column(from);
    match (wanted.levels(), given.levels()) {
        (None, None) => Ok(values),
        (None, Some(levels)) => {
            let first = values.iter().find(|v| !v.is_nan()).and_then(|&v| levels.get(v as usize));
            let message = format!(
                "column '{}' was numeric in training, and now holds text such as '{}'",
                plain(&wanted.name),
                plain(first.map_or("", String::as_str))
            );
            Err(Error::new(Code::Schema, message).column(&wanted.name))
        }
        (Some(known), Some(levels)) => {
            let codes: BTreeMap<&str, f64> =
                known.iter().map(String::as_str).zip((0..).map(f64::from)).collect();
            let map: Vec<Option<f64>> =
                levels.iter().map(|l| codes.get(l.as_str()).copied()).collect();
            let name = |v: f64| levels.get(v as usize).cloned().unwrap_or_default();
            let code = |v: f64| map.get(v as usize).copied().flatten();
            translate(wanted, &values, code, name, unknown)
        }
        (Some(known), None) => {
            let codes: BTreeMap<&str, f64> =
                known.iter().map(String::as_str).zip((0..).map(f64::from)).collect();
            let code = |v: f64| codes.get(v.to_string().as_str()).copied();
            translate(wanted, &values, code, |v| v.to_string(), unknown)
        }
    }
}

fn translate(
    wanted: &Column,
    values: &[f64],
    code: impl Fn(f64) -> Option<f64>,
    name: impl Fn(f64) -> String,
    unknown: Unknown,
) -> Result<Vec<f64>> {
    let mut unseen: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = Vec::with_capacity(values.len());
    for &value in values {
        let translated = if value.is_nan() { Some(f64::NAN) } else { code(value) };
        if translated.is_none() && unknown == Unknown::Error {
            *unseen.entry(name(value)).or_default() += 1;
        }
        out.push(translated.unwrap_or(f64::NAN));
    }
    if unseen.is_empty() {
        return Ok(out);
    }
    let shown: Vec<String> = unseen
        .iter()
        .take(5)
        .map(|(level, count)| format!("'{}' ({count})", plain(level)))
        .collect();
    let message = format!(
        "column '{}' holds {} categories that were not in training: {}",
        plain(&wanted.name),
        unseen.len(),
        shown.join(", ")
    );
    Err(Error::new(Code::Category, message)
        .column(&wanted.name)
        .hint("fit with --unknown missing to treat them as missing"))
}
