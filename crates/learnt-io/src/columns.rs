//! Columns as they are collected by the readers, and how they become a table.

use crate::levels::Levels;
use crate::memory;
use crate::options::{MISSING_TOKENS, ReadOptions, TypeRule};
use crate::report::{ColumnReport, Loaded, ReadReport};
use learnt_core::context::Context;
use learnt_core::data::{Column, ColumnKind, Matrix, Schema, Table};
use learnt_core::error::{Code, Error, Result, plain};
use std::collections::BTreeMap;

/// Columns whose type and levels are final.
#[derive(Default)]
pub(crate) struct Settled {
    columns: Vec<Column>,
}

impl Settled {
    /// Number of columns.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The columns as a schema.
    pub(crate) fn schema(self) -> Result<Schema> {
        Schema::new(self.columns)
    }

    /// Adds a column; `facts` are its missing and rounded values. Also gives the code of each level, in order of
    /// arrival.
    pub(crate) fn add(
        &mut self,
        name: &str,
        levels: Option<&Levels>,
        rule: Option<&TypeRule>,
        (missing, rounded): (u64, u64),
        options: &ReadOptions,
    ) -> Result<(ColumnReport, Vec<f64>)> {
        if rounded > 0 && options.strict {
            let message = format!(
                "column '{}' has {rounded} numbers with more digits than f64 holds",
                plain(name)
            );
            let error = Error::new(Code::Parse, message).column(name);
            return Err(error.hint(format!("--type {}=cat keeps them as text", plain(name))));
        }
        let mut report =
            ColumnReport { name: name.to_string(), missing, rounded, ..ColumnReport::default() };
        let mut codes = Vec::new();
        match levels {
            None => {
                report.kind = "num";
                self.columns.push(Column::numeric(name));
            }
            Some(levels) => {
                let texts;
                (texts, codes) = settle(name, levels, rule)?;
                let ordered = matches!(rule, Some(TypeRule::Ordered(_)));
                report.kind = if ordered { "ord" } else { "cat" };
                report.distinct = Some(levels.len() as u64);
                report.kept = kept_tokens(levels);
                let kind = ColumnKind::Categorical { levels: texts.into(), ordered };
                self.columns.push(Column { name: name.to_string(), kind });
            }
        }
        Ok((report, codes))
    }
}

fn kept_tokens(levels: &Levels) -> Vec<(String, u64)> {
    let found = |token: &&str| {
        levels.find(token).map(|code| (token.to_string(), levels.count(code as usize)))
    };
    MISSING_TOKENS.iter().filter_map(found).collect()
}

/// The final levels, and for each level in order of arrival its code among them.
pub(crate) fn settle(
    name: &str,
    levels: &Levels,
    rule: Option<&TypeRule>,
) -> Result<(Vec<String>, Vec<f64>)> {
    let Some(TypeRule::Ordered(texts)) = rule else { return Ok(levels.sorted()) };
    let places: BTreeMap<&str, f64> =
        texts.iter().map(String::as_str).zip((0..).map(f64::from)).collect();
    let code = |(text, count): (&str, u64)| {
        places.get(text).copied().ok_or_else(|| {
            let message = format!(
                "column '{}' holds {count} x '{}', which is not among its levels {}",
                plain(name),
                plain(text),
                plain(&texts.join("<"))
            );
            Error::new(Code::Category, message).column(name).hint("add it to ord(...) or say --na")
        })
    };
    let codes = levels.iter().map(code).collect::<Result<Vec<f64>>>()?;
    Ok((texts.clone(), codes))
}

/// A column that is collected value by value.
pub(crate) struct Collected {
    /// The name.
    pub(crate) name: String,
    /// Numbers, or numbers of levels; NaN is missing.
    pub(crate) cells: Vec<f64>,
    /// The levels met; `None` for a numeric column.
    pub(crate) levels: Option<Levels>,
    /// The levels that were declared, in their order.
    pub(crate) declared: Option<Vec<String>>,
    /// Numbers that lost digits or their size.
    pub(crate) rounded: u64,
}

impl Collected {
    /// An empty numeric column.
    pub(crate) fn numeric(name: impl Into<String>) -> Self {
        Collected { name: name.into(), cells: Vec::new(), levels: None, declared: None, rounded: 0 }
    }

    /// An empty column of categories.
    pub(crate) fn text(name: impl Into<String>) -> Self {
        Collected { levels: Some(Levels::default()), ..Collected::numeric(name) }
    }

    /// An empty column of the same kind.
    #[cfg(feature = "columnar")]
    pub(crate) fn empty_like(&self, name: &str) -> Self {
        match self.levels {
            Some(_) => Collected::text(name),
            None => Collected::numeric(name),
        }
    }

    /// Makes room for so many rows.
    #[cfg(feature = "columnar")]
    pub(crate) fn reserve(&mut self, rows: u64) -> Result<()> {
        let refused = || Error::new(Code::Memory, format!("no memory for {rows} rows"));
        let rows = usize::try_from(rows).map_err(|_| refused())?;
        self.cells.try_reserve_exact(rows).map_err(|_| refused())
    }

    /// Adds the rows of another column of the same kind.
    #[cfg(feature = "columnar")]
    pub(crate) fn join(mut self, other: Collected) -> Self {
        if self.cells.is_empty() {
            return Collected { name: self.name, declared: self.declared, ..other };
        }
        self.rounded += other.rounded;
        match (&mut self.levels, other.levels) {
            (Some(levels), Some(others)) => {
                let map = levels.merge(&others);
                let code =
                    |cell: f64| if cell.is_nan() { cell } else { f64::from(map[cell as usize]) };
                self.cells.extend(other.cells.into_iter().map(code));
            }
            _ => self.cells.extend(other.cells),
        }
        self
    }

    /// Adds a text to a column of categories.
    pub(crate) fn push_text(&mut self, text: &str) {
        let code = self.levels.get_or_insert_default().add(text);
        self.cells.push(f64::from(code));
    }

    /// Adds an integer of any size.
    pub(crate) fn push_integer(&mut self, integer: i128) {
        const EXACT: i64 = 1 << 53;
        match i64::try_from(integer) {
            Ok(small) if (-EXACT..=EXACT).contains(&small) => self.cells.push(small as f64),
            _ => {
                let value = integer as f64;
                self.rounded += u64::from(value as i128 != integer);
                self.cells.push(value);
            }
        }
    }

    /// Makes a numeric column one of categories, each number becoming its shortest text.
    pub(crate) fn into_text(mut self) -> Self {
        if self.levels.is_none() {
            let cells = std::mem::take(&mut self.cells);
            self.levels = Some(Levels::default());
            for cell in cells {
                match cell.is_nan() {
                    true => self.cells.push(f64::NAN),
                    false => self.push_text(&cell.to_string()),
                }
            }
            self.rounded = 0;
        }
        self
    }

    /// Applies the type that was asked for, and the tokens that are missing.
    pub(crate) fn apply(self, options: &ReadOptions) -> Result<Self> {
        let mut column = match options.rule(&self.name) {
            Some(rule) if rule.is_text() => self.into_text(),
            Some(rule @ (TypeRule::Numeric | TypeRule::Measure)) if self.levels.is_some() => {
                self.into_numbers(*rule == TypeRule::Measure)?
            }
            _ => self,
        };
        if column.levels.is_some() && column.declared.is_none() && !options.na.is_empty() {
            column.drop_tokens(&options.na);
        }
        if let Some(rule) = options.rule(&column.name).filter(|rule| rule.rewrites()) {
            column.rewrite(rule)?;
        }
        let numbers = crate::csv::NumberStyle::default().numbers_among(&options.na);
        if column.levels.is_none() && !numbers.is_empty() {
            let missing = column.cells.iter_mut().filter(|cell| numbers.contains(cell));
            missing.for_each(|cell| *cell = f64::NAN);
        }
        Ok(column)
    }

    fn into_numbers(self, units: bool) -> Result<Self> {
        let Some(levels) = &self.levels else { return Ok(self) };
        let style = crate::csv::NumberStyle::default();
        let parse = |text: &str| match units {
            true => crate::csv::measured(text).number(style),
            false => style.parse(text),
        };
        let mut rounded = 0;
        let number = |(text, count): (&str, u64)| match parse(text) {
            Some(number) => {
                rounded += if number.rounded { count } else { 0 };
                Ok(number.value)
            }
            None if MISSING_TOKENS.contains(&text.trim()) => Ok(f64::NAN),
            None => {
                let message =
                    format!("'{}' in column '{}' is not a number", plain(text), plain(&self.name));
                Err(Error::new(Code::Parse, message).column(&self.name))
            }
        };
        let numbers = levels.iter().map(number).collect::<Result<Vec<f64>>>()?;
        let value = |cell: &f64| if cell.is_nan() { f64::NAN } else { numbers[*cell as usize] };
        let cells = self.cells.iter().map(value).collect();
        Ok(Collected { cells, levels: None, rounded: self.rounded + rounded, ..self })
    }

    fn drop_tokens(&mut self, tokens: &[String]) {
        let kept = |text: &str| (!tokens.iter().any(|token| token == text)).then(|| text.into());
        self.relevel(kept);
    }

    /// Writes the levels as a type of column does.
    fn rewrite(&mut self, rule: &TypeRule) -> Result<()> {
        let texts = self.levels.iter().flat_map(Levels::iter);
        if let Some((bad, _)) = texts.into_iter().find(|(text, _)| rule.rewritten(text).is_none()) {
            let (name, bad) = (plain(&self.name), plain(bad));
            let message = format!("'{bad}' in column '{name}' is no date");
            return Err(Error::new(Code::Parse, message).column(&self.name));
        }
        self.declared = None;
        self.relevel(|text| rule.rewritten(text).filter(|text| !text.is_empty()));
        Ok(())
    }

    /// Gives levels other texts; one without a text is missing.
    fn relevel(&mut self, other: impl Fn(&str) -> Option<String>) {
        let Some(old) = self.levels.take() else { return };
        let mut levels = Levels::default();
        let code = |(text, count): (&str, u64)| match other(text) {
            None => f64::NAN,
            Some(text) => f64::from(levels.add_times(&text, count)),
        };
        let codes: Vec<f64> = old.iter().map(code).collect();
        for cell in self.cells.iter_mut().filter(|cell| !cell.is_nan()) {
            *cell = codes[*cell as usize];
        }
        self.levels = Some(levels);
    }

    /// Turns numbers of levels into final codes.
    fn finish(
        mut self,
        settled: &mut Settled,
        options: &ReadOptions,
    ) -> Result<(Vec<f64>, ColumnReport)> {
        self = self.apply(options)?;
        let declared = self.declared.take().map(TypeRule::Ordered);
        let asked = options.rule(&self.name);
        let rule = match asked {
            Some(TypeRule::Ordered(_)) => asked,
            _ => declared.as_ref(),
        };
        let missing = self.cells.iter().filter(|cell| cell.is_nan()).count() as u64;
        let facts = (missing, self.rounded);
        let (mut report, codes) =
            settled.add(&self.name, self.levels.as_ref(), rule, facts, options)?;
        if self.levels.is_some() {
            for cell in self.cells.iter_mut().filter(|cell| !cell.is_nan()) {
                *cell = codes[*cell as usize];
            }
        }
        if declared.is_some() && !matches!(asked, Some(TypeRule::Ordered(_))) {
            report.kind = "cat";
            report.kept.clear();
            settled.unorder_last();
        }
        Ok((self.cells, report))
    }
}

impl Settled {
    /// Declared levels keep their order, which means nothing.
    fn unorder_last(&mut self) {
        if let Some(ColumnKind::Categorical { ordered, .. }) =
            self.columns.last_mut().map(|column| &mut column.kind)
        {
            *ordered = false;
        }
    }
}

/// A table from its columns; `report` gets the account of them.
pub(crate) fn assemble(
    columns: Vec<Collected>,
    rows: usize,
    mut report: ReadReport,
    options: &ReadOptions,
    run: &Context,
) -> Result<Loaded> {
    if rows == 0 && !options.allow_empty {
        return Err(Error::new(Code::Empty, "no rows: the file holds none"));
    }
    if columns.is_empty() {
        return Err(Error::new(Code::Empty, "no columns: there are none, or all are left out"));
    }
    let mut settled = Settled::default();
    let mut parts = Vec::with_capacity(columns.len());
    for column in columns {
        if let Some(levels) = &column.levels {
            run.claim(levels.bytes().saturating_mul(2), "the texts of a column")?;
        }
        let (cells, account) = column.finish(&mut settled, options)?;
        parts.push(cells);
        report.columns.push(account);
    }
    report.rows = rows as u64;
    report.note_columns();
    let values = interleave(&parts, rows, run)?;
    Ok(Loaded { table: Table::new(values, settled.schema()?)?, report })
}

/// Columns into rows.
fn interleave(parts: &[Vec<f64>], rows: usize, run: &Context) -> Result<Matrix> {
    let width = parts.len();
    if parts.iter().any(|part| part.len() != rows) {
        return Err(Error::internal("columns of different lengths"));
    }
    let mut values = memory::table(rows, width, run)?;
    run.par_fill(&mut values, 4096 * width, |start, piece| {
        let first = start / width;
        for (tile, cells) in piece.chunks_mut(64 * width).enumerate() {
            for (j, part) in parts.iter().enumerate() {
                let source = &part[first + 64 * tile..];
                cells
                    .iter_mut()
                    .skip(j)
                    .step_by(width)
                    .zip(source)
                    .for_each(|(to, &from)| *to = from);
            }
        }
    });
    Matrix::from_vec(rows, width, values)
}
