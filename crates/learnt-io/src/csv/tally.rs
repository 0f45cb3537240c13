//! What the pieces of a file found, put together in order.

use super::parse::{Misfit, Parsed};
use crate::columns::{self, Settled};
use crate::levels::Levels;
use crate::options::{ReadOptions, TypeRule};
use crate::report::ColumnReport;
use learnt_core::context::Context;
use learnt_core::error::Result;

/// What was found in all pieces so far.
pub(crate) struct Tally {
    pub(crate) rows: u64,
    pub(crate) skipped: u64,
    pub(crate) blank: u64,
    pub(crate) empty: u64,
    columns: Vec<Column>,
}

#[derive(Default)]
struct Column {
    missing: u64,
    rounded: u64,
    misfit: Option<(Misfit, u64)>,
    levels: Levels,
}

impl Tally {
    /// For a table of this many columns.
    pub(crate) fn new(width: usize) -> Self {
        let columns = (0..width).map(|_| Column::default()).collect();
        Tally { rows: 0, skipped: 0, blank: 0, empty: 0, columns }
    }

    /// Adds the next piece; gives, for each column, what its codes become.
    pub(crate) fn add(&mut self, parsed: &Parsed) -> Vec<Vec<u32>> {
        let rows = self.rows;
        self.rows += parsed.rows as u64;
        self.skipped += parsed.skipped;
        self.blank += parsed.blank;
        self.empty += parsed.empty;
        let parts = self.columns.iter_mut().zip(&parsed.columns);
        parts
            .map(|(column, facts)| {
                if let (None, Some(misfit)) = (&column.misfit, &facts.misfit) {
                    let before = rows - column.missing + misfit.numbers;
                    column.misfit = Some((misfit.clone(), before));
                }
                column.missing += facts.missing;
                column.rounded += facts.rounded;
                column.levels.merge(&facts.levels)
            })
            .collect()
    }

    /// The first value of a column that is no number, and how many numbers were before it.
    pub(crate) fn misfit(&self, j: usize) -> Option<&(Misfit, u64)> {
        self.columns[j].misfit.as_ref()
    }

    /// The levels of a column, in order of arrival.
    pub(crate) fn levels(&self, j: usize) -> &Levels {
        &self.columns[j].levels
    }

    /// For each column, the final code of each level in order of arrival; empty for numbers.
    pub(crate) fn orders(
        &self,
        names: &[String],
        rules: &[Option<TypeRule>],
        run: &Context,
    ) -> Result<Vec<Vec<f64>>> {
        let texts = self.columns.iter().map(|column| column.levels.bytes()).sum::<u64>();
        run.claim(texts.saturating_mul(2), "the texts of the columns in order")?;
        let columns = self.columns.iter().zip(names).zip(rules);
        columns
            .map(|((column, name), rule)| match column.levels.len() {
                0 => Ok(Vec::new()),
                _ => columns::settle(name, &column.levels, rule.as_ref()).map(|settled| settled.1),
            })
            .collect()
    }

    /// The columns and the account of them.
    pub(crate) fn finish(
        &self,
        names: &[String],
        rules: &[Option<TypeRule>],
        numeric: &[bool],
        options: &ReadOptions,
    ) -> Result<(Settled, Vec<ColumnReport>)> {
        let mut settled = Settled::default();
        let mut reports = Vec::new();
        for (j, column) in self.columns.iter().enumerate() {
            let (name, rule) = (&names[j], rules[j].as_ref());
            let levels = (!numeric[j]).then_some(&column.levels);
            let facts = (column.missing, column.rounded);
            reports.push(settled.add(name, levels, rule, facts, options)?.0);
        }
        Ok((settled, reports))
    }
}
