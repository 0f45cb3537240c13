//! The gate: every prediction passes here, once. Columns are matched by name and categories by level;
//! what the learner cannot take (missing values, infinities, categories) is refused with its row and
//! column, or its row is skipped, or filled with what was usual in training. The policy is said at fit
//! and kept in the model, or said at prediction.
//!
//! Values are looked at in a pass before the model is asked, or by the model itself while it reads them
//! ([`Model::looks`]). In the second case the gate keeps the answer back until it knows that all rows were
//! looked at; else, and where something was found, it makes its pass, which names row and column.

use super::{Trained, Unknown};
use crate::context::Context;
use crate::data::{Column, ColumnKind, Frame, Look, Matrix, Schema, Sequences, Table};
use crate::error::{Code, Error, Result, nearest, plain, shell};
use crate::estimator::{About, Accepts, Admitted, Model, Prediction};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What prediction does with rows whose missing values the learner cannot take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// Refuses them all, and names the first.
    #[default]
    Error,
    /// Leaves those rows without a prediction.
    Skip,
    /// Fills them in: numbers with the mean, categories with the commonest level of training.
    Impute,
}

/// Rows that have passed the gate.
#[derive(Debug)]
pub struct Rows<'a> {
    held: Held<'a>,
    sequences: Option<Sequences<'a>>,
    offsets: Option<Vec<usize>>,
    kept: Option<Vec<usize>>,
    given: usize,
    filled: usize,
    unseen: Vec<Unseen>,
}

/// Levels of a column that training did not see, and that the policy lets pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The column.
    pub column: String,
    /// The levels with their numbers of rows, in the order of their names.
    pub levels: Vec<(String, usize)>,
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

    /// Levels that training did not see.
    pub fn unseen(&self) -> &[Unseen] {
        &self.unseen
    }

    /// How many missing values were filled in.
    pub fn filled(&self) -> usize {
        self.filled
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

/// Calls with rows that hold only what the model's learner takes; their columns are already the model's.
pub fn with_looked<T>(
    about: &About,
    model: &dyn Model,
    x: &Frame,
    run: &Context,
    call: impl FnOnce(&Frame) -> Result<T>,
) -> Result<T> {
    if !model.looks() {
        check_rows(about, model, x, run)?;
        return call(x);
    }
    let accepts = accepts_of(about, model);
    x.check_columns(accepts).map_err(|error| explained(error, about.name()))?;
    let look = Look::new(accepts.missing);
    let answer = call(&x.looked_at_by(&look));
    if !look.is_clean(x.nrows()) {
        run.checkpoint()?;
        check_rows(about, model, x, run)?;
    }
    answer
}

fn explained(error: Error, name: &str) -> Error {
    let error = error.within(name);
    match error.code() {
        Code::Missing => error.hint(
            "say --missing skip or --missing impute (missing= in Python), or fit with an imputer in front",
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

    /// Lets rows in: as the model knows them, holding only what its learner takes. Without a policy for
    /// missing values the one said at fit is followed.
    pub fn admit<'x>(
        &self,
        x: &Frame<'x>,
        sequences: Option<Sequences<'x>>,
        missing: impl Into<Option<Missing>>,
        run: &Context,
    ) -> Result<Rows<'x>> {
        let (held, unseen) = self.aligned(x)?;
        let rows = Rows::all(held, sequences, unseen);
        let accepts = self.accepts();
        let policy = missing.into().unwrap_or(self.history.missing);
        let tolerant = policy != Missing::Error
            && (!accepts.missing || self.refuses_holes(&rows.frame(), run));
        rows.frame()
            .check(Accepts { missing: accepts.missing || tolerant, ..accepts }, run)
            .map_err(|error| explained(error, self.about.name()))?;
        match policy {
            Missing::Skip if tolerant => Ok(rows.without_missing()),
            Missing::Impute if tolerant => rows.imputed(&self.history.fills),
            _ => Ok(rows),
        }
    }

    /// Lets rows in and asks a method of the model's roles about them, as [`Trained::admit`] and
    /// [`Trained::call`] do, with one look at the values for both where the model looks itself.
    pub fn ask_rows<'x>(
        &self,
        method: &str,
        x: &Frame<'x>,
        sequences: Option<Sequences<'x>>,
        missing: impl Into<Option<Missing>>,
        run: &Context,
    ) -> Result<(Prediction, Rows<'x>)> {
        let policy = missing.into().unwrap_or(self.history.missing);
        if policy != Missing::Error || !self.model.looks() {
            let rows = self.admit(x, sequences, policy, run)?;
            return Ok((self.call(method, &rows, run)?, rows));
        }
        let method = self.method(method)?;
        let model = self.model.as_ref();
        let (held, unseen) = self.aligned(x)?;
        let rows = Rows::all(held, sequences, unseen);
        let answer = with_looked(self.about, model, &rows.frame(), run, |x| {
            (method.call)(model, &Admitted { x: *x, ..rows.admitted() }, run)
        })?;
        Ok((answer, rows))
    }

    /// Whether the model refuses the rows with missing values although its first part takes some: a
    /// scaler hands them on, and the learner behind it says no.
    fn refuses_holes(&self, x: &Frame, run: &Context) -> bool {
        let hole = |&i: &usize| (0..x.ncols()).any(|j| x.values().at(i, j).is_nan());
        let holes: Vec<usize> = (0..x.nrows()).filter(hole).collect();
        if holes.is_empty() {
            return false;
        }
        let table = x.gather(&holes);
        let rows = Admitted { x: table.frame(), sequences: None };
        let tried = self
            .first_role()
            .and_then(|role| (role.methods[0].call)(self.model.as_ref(), &rows, run));
        tried.is_err_and(|error| error.code() == Code::Missing)
    }

    /// The rows as the model knows them, without a copy where they already are.
    pub(super) fn with_aligned<T>(
        &self,
        x: &Frame,
        f: impl FnOnce(&Frame) -> Result<T>,
    ) -> Result<T> {
        f(&self.aligned(x)?.0.frame())
    }

    fn aligned<'x>(&self, x: &Frame<'x>) -> Result<(Held<'x>, Vec<Unseen>)> {
        let schema = &self.history.schema;
        if std::ptr::eq(x.schema(), schema) || x.schema() == schema {
            return Ok((Held::Lent(*x), Vec::new()));
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
        let mut columns = schema.columns().to_vec();
        let mut unseen = Vec::new();
        for (j, &from) in source.iter().enumerate() {
            let (wanted, given) = (schema.column(j), x.schema().column(from));
            let open = wanted.levels().is_some_and(<[String]>::is_empty);
            let policy = if open { Unknown::Other } else { self.history.unknown };
            let recoded = recode(wanted, given, x, from, policy)?;
            if !recoded.unseen.is_empty() && !open {
                let levels = recoded.unseen.into_iter().collect();
                unseen.push(Unseen { column: wanted.name.clone(), levels });
            }
            if let ColumnKind::Categorical { levels, .. } = &mut columns[j].kind {
                Arc::make_mut(levels).extend(recoded.others);
            }
            for (i, value) in recoded.values.into_iter().enumerate() {
                values[(i, j)] = value;
            }
        }
        Ok((Held::Own(Table::new(values, Schema::new(columns)?)?), unseen))
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
                .map(|near| {
                    let (near, name, pair) = (plain(near), plain(name), format!("{}={}", shell(near), shell(name)));
                    format!("did you mean column '{near}' for '{name}'? The command renames it: --rename {pair}")
                })
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

impl<'a> Rows<'a> {
    fn all(held: Held<'a>, sequences: Option<Sequences<'a>>, unseen: Vec<Unseen>) -> Rows<'a> {
        let given = held.frame().nrows();
        Rows { held, sequences, offsets: None, kept: None, given, filled: 0, unseen }
    }

    /// Missing values replaced by those of training.
    fn imputed(mut self, fills: &[f64]) -> Result<Rows<'a>> {
        let x = self.held.frame();
        let (rows, width) = (x.nrows(), x.ncols());
        let hole = |&(i, j): &(usize, usize)| x.values().at(i, j).is_nan();
        let cells = (0..rows).flat_map(|i| (0..width).map(move |j| (i, j)));
        let holes: Vec<(usize, usize)> = cells.filter(hole).collect();
        if holes.is_empty() {
            return Ok(self);
        }
        let fill = |j: usize| fills.get(j).copied().filter(|value| !value.is_nan());
        if let Some(&(row, column)) = holes.iter().find(|(_, j)| fill(*j).is_none()) {
            let name = plain(&x.schema().column(column).name);
            let message = format!(
                "row {} lacks a value in column '{name}', and the model holds none to fill in",
                row + 1
            );
            return Err(Error::new(Code::Missing, message)
                .column(name)
                .row(row as u64 + 1)
                .hint("fit again with this release, or say --missing skip"));
        }
        let all: Vec<usize> = (0..rows).collect();
        let mut table = x.gather(&all);
        for &(i, j) in &holes {
            table.values_mut()[(i, j)] = fills[j];
        }
        self.held = Held::Own(table);
        self.filled = holes.len();
        Ok(self)
    }
}

/// A column in the model's coding, and the levels that the model does not know: their codes follow
/// those of its own.
struct Recoded {
    values: Vec<f64>,
    others: Vec<String>,
    /// Levels that training did not see, with their numbers of rows.
    unseen: BTreeMap<String, usize>,
}

/// One column in the model's coding.
fn recode(
    wanted: &Column,
    given: &Column,
    x: &Frame,
    from: usize,
    unknown: Unknown,
) -> Result<Recoded> {
    let values = x.values().column(from);
    match (wanted.levels(), given.levels()) {
        (None, None) => Ok(Recoded { values, others: Vec::new(), unseen: BTreeMap::new() }),
        (None, Some(levels)) => {
            let numbers: Option<Vec<f64>> =
                levels.iter().map(|level| whole_number(level)).collect();
            if let Some(numbers) = numbers {
                let number = |v: f64| numbers.get(v as usize).copied().unwrap_or(f64::NAN);
                let values = values.into_iter().map(number).collect();
                return Ok(Recoded { values, others: Vec::new(), unseen: BTreeMap::new() });
            }
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
            translate(wanted, known.len(), &values, code, name, unknown)
        }
        (Some(known), None) => {
            let codes: BTreeMap<&str, f64> =
                known.iter().map(String::as_str).zip((0..).map(f64::from)).collect();
            let code = |v: f64| codes.get(v.to_string().as_str()).copied();
            translate(wanted, known.len(), &values, code, |v| v.to_string(), unknown)
        }
    }
}

/// The number whose text is this one, digit for digit: codes without leading zeros.
fn whole_number(text: &str) -> Option<f64> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(f64::from(number))
}

fn translate(
    wanted: &Column,
    known: usize,
    values: &[f64],
    code: impl Fn(f64) -> Option<f64>,
    name: impl Fn(f64) -> String,
    unknown: Unknown,
) -> Result<Recoded> {
    let mut unseen: BTreeMap<String, usize> = BTreeMap::new();
    let mut others: Vec<String> = Vec::new();
    let mut places: BTreeMap<String, f64> = BTreeMap::new();
    let mut out = Vec::with_capacity(values.len());
    for &value in values {
        let translated = if value.is_nan() { Some(f64::NAN) } else { code(value) };
        if translated.is_none() {
            *unseen.entry(name(value)).or_default() += 1;
        }
        out.push(match (translated, unknown) {
            (Some(code), _) => code,
            (None, Unknown::Missing | Unknown::Error) => f64::NAN,
            (None, Unknown::Other) => *places.entry(name(value)).or_insert_with_key(|level| {
                others.push(level.clone());
                (known + others.len() - 1) as f64
            }),
        });
    }
    if unseen.is_empty() || unknown != Unknown::Error {
        return Ok(Recoded { values: out, others, unseen });
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
    let tidy = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
    let known: BTreeSet<_> = wanted.levels().unwrap_or_default().iter().map(|l| tidy(l)).collect();
    if unseen.iter().any(|(level, _)| known.contains(&tidy(level))) {
        let word = shell(&wanted.name);
        return Err(Error::new(Code::Category, message).column(&wanted.name).hint(format!(
            "some differ from those of training in capitals or spaces alone: --type {word}=tidy at fit and at prediction makes them one"
        )));
    }
    Err(Error::new(Code::Category, message).column(&wanted.name).hint(
        "fit with --unknown missing or --unknown other at the command line, name all categories before the fit in \
         Python (pandas.CategoricalDtype), or use an encoder with handle_unknown set",
    ))
}
