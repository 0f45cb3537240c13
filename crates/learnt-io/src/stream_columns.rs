//! Parquet and Arrow files as blocks: row groups and batches that cover a block are decoded
//! whenever it is asked for.

use crate::arrow::{append, plan};
use crate::columns::{Collected, Settled};
use crate::dataset::ColumnRoles;
use crate::input::{Bytes, changed};
use crate::ipc::IpcFile;
use crate::levels::Levels;
use crate::options::{Format, ReadOptions};
use crate::parquet::ParquetFile;
use crate::report::ReadReport;
use crate::stream::{RowReader, Scanned, TargetFacts, finals_of, target_place};
use crate::stream_counted::{Counted, counts, weight_place};
use learnt_core::context::Context;
use learnt_core::data::Schema;
use learnt_core::error::Result;
use learnt_core::rounds::block_rows;
use std::sync::Arc;

enum Container {
    Parquet(ParquetFile),
    Arrow { file: IpcFile, starts: Vec<u64> },
}

/// A file of columns whose levels are known.
pub(crate) struct Columnar {
    bytes: Arc<Bytes>,
    container: Container,
    options: ReadOptions,
    /// The kept columns by position, each empty.
    columns: Vec<(usize, String, bool)>,
    finals: Vec<Option<(Levels, Vec<f64>)>>,
}

/// What is known of a column.
#[derive(Default)]
struct Facts {
    missing: u64,
    rounded: u64,
    levels: Option<Levels>,
}

/// What the first pass saw.
struct Seen {
    facts: Vec<Facts>,
    target: TargetFacts,
    counted: Option<Counted>,
}

impl Columnar {
    /// Goes over a Parquet file once.
    pub(crate) fn scan_parquet(
        bytes: &Arc<Bytes>,
        options: &ReadOptions,
        roles: &ColumnRoles,
        run: &Context,
    ) -> Result<Scanned> {
        let file = ParquetFile::open(bytes, options)?;
        let mut report = ReadReport::new(Format::Parquet);
        let columns = file.plan(options, &mut report)?;
        report.rows = file.rows();
        Self::scan(bytes, Container::Parquet(file), columns, report, options, roles, run)
    }

    /// Goes over an Arrow file once.
    pub(crate) fn scan_arrow(
        bytes: &Arc<Bytes>,
        options: &ReadOptions,
        roles: &ColumnRoles,
        run: &Context,
    ) -> Result<Scanned> {
        let file = IpcFile::open(bytes, options, run)?;
        let mut report = ReadReport::new(Format::Arrow);
        let columns = plan(&file.schema, options, &mut report.notes)?;
        let names = file.schema.fields().iter().map(|field| field.name());
        report.left_out = names.filter(|name| options.skips(name)).cloned().collect();
        let starts = file.starts(bytes)?;
        report.rows = starts.last().copied().unwrap_or_default();
        let container = Container::Arrow { file, starts };
        Self::scan(bytes, container, columns, report, options, roles, run)
    }

    /// A file that was gone over before: only its footer is read.
    pub(crate) fn reopen(
        bytes: &Arc<Bytes>,
        options: &ReadOptions,
        format: Format,
        schema: &Schema,
    ) -> Result<Columnar> {
        let (container, columns) = match format {
            Format::Arrow => {
                let file = IpcFile::open(bytes, options, &Context::default())?;
                let columns = plan(&file.schema, options, &mut Vec::new())?;
                let starts = file.starts(bytes)?;
                (Container::Arrow { file, starts }, columns)
            }
            _ => {
                let file = ParquetFile::open(bytes, options)?;
                let columns = file.plan(options, &mut ReadReport::new(format))?;
                (Container::Parquet(file), columns)
            }
        };
        let columns: Vec<(usize, String, bool)> = columns.into_iter().map(placed).collect();
        if columns.iter().map(|(_, name, _)| name.as_str()).ne(schema.names()) {
            return Err(changed());
        }
        let (bytes, options) = (Arc::clone(bytes), options.clone());
        let mut file = Columnar { bytes, container, options, columns, finals: Vec::new() };
        file.settle(schema);
        Ok(file)
    }

    fn scan(
        bytes: &Arc<Bytes>,
        container: Container,
        columns: Vec<(usize, Collected)>,
        mut report: ReadReport,
        options: &ReadOptions,
        roles: &ColumnRoles,
        run: &Context,
    ) -> Result<Scanned> {
        let width = columns.len();
        let names: Vec<String> = columns.iter().map(|(_, column)| column.name.clone()).collect();
        let places = (target_place(&names, roles)?, weight_place(&names, roles.weight));
        let mut file = Columnar {
            bytes: Arc::clone(bytes),
            container,
            options: options.clone(),
            columns: columns.into_iter().map(placed).collect(),
            finals: Vec::new(),
        };
        let Seen { facts, mut target, counted } = file.go_over(report.rows, places, run)?;
        let mut settled = Settled::default();
        for (facts, name) in facts.into_iter().zip(&names) {
            let counts = (facts.missing, facts.rounded);
            let rule = options.rule(name);
            let (account, codes) =
                settled.add(name, facts.levels.as_ref(), rule, counts, options)?;
            report.columns.push(account);
            file.finals.push(facts.levels.map(|levels| (levels, codes)));
        }
        target.column = places.0;
        if let Some((_, codes)) = places.0.and_then(|j| file.finals[j].as_ref()) {
            target.distinct = crate::dataset::Distinct::of_values(codes.clone());
        }
        report.note_columns();
        debug_assert_eq!(settled.len(), width);
        Ok(Scanned { schema: settled.schema()?, report, reader: Box::new(file), target, counted })
    }

    fn go_over(
        &self,
        rows: u64,
        (place, weight): (Option<usize>, Option<usize>),
        run: &Context,
    ) -> Result<Seen> {
        let size = block_rows(self.columns.len()) as u64;
        let blocks = rows.div_ceil(size);
        let mut all: Vec<Facts> = self.columns.iter().map(|_| Facts::default()).collect();
        let mut target: Option<TargetFacts> = None;
        let mut counted = Vec::new();
        let window = 2 * run.threads() as u64;
        let mut first = 0;
        while first < blocks {
            let count = window.min(blocks - first);
            let parts = run.try_par_map(count as usize, |i| {
                let start = (first + i as u64) * size;
                let columns = self.collect(start, (start + size).min(rows))?;
                let facts = place.map(|j| TargetFacts::of(columns[j].cells.clone(), start));
                Ok((columns, facts))
            })?;
            for (columns, facts) in parts {
                if let Some(j) = weight {
                    let cells = &columns[j].cells;
                    let count = cells.iter().filter(|&&w| counts(w)).count() as u64;
                    counted.push((cells.len() as u64, count));
                }
                for (known, column) in all.iter_mut().zip(columns) {
                    known.missing +=
                        column.cells.iter().filter(|cell| cell.is_nan()).count() as u64;
                    known.rounded += column.rounded;
                    if let Some(levels) = &column.levels {
                        known.levels.get_or_insert_default().merge(levels);
                    }
                }
                target = match (target, facts) {
                    (Some(earlier), Some(later)) => Some(earlier.merge(later)),
                    (earlier, later) => earlier.or(later),
                };
            }
            first += count;
        }
        let counted = weight.map(|_| Counted::of(counted.into_iter()));
        Ok(Seen { facts: all, target: target.unwrap_or_default(), counted })
    }

    /// Rows `start..end` of all kept columns, categories numbered in order of arrival.
    fn collect(&self, start: u64, end: u64) -> Result<Vec<Collected>> {
        self.bytes.unchanged()?;
        let empty = |(_, name, is_text): &(usize, String, bool)| match is_text {
            true => Collected::text(name),
            false => Collected::numeric(name),
        };
        let mut columns: Vec<Collected> = self.columns.iter().map(empty).collect();
        let places: Vec<usize> = self.columns.iter().map(|(j, ..)| *j).collect();
        match &self.container {
            Container::Parquet(file) => {
                let first = file.starts.partition_point(|&row| row <= start).saturating_sub(1);
                let last = file.starts.partition_point(|&row| row < end);
                let groups: Vec<usize> = (first..last.min(file.starts.len() - 1)).collect();
                let skip = start - file.starts[first];
                file.append(&groups, skip, end - start, &places, &mut columns)?;
            }
            Container::Arrow { file, starts } => {
                let mut k = starts.partition_point(|&row| row <= start).saturating_sub(1);
                while k + 1 < starts.len() && starts[k] < end {
                    let batch = file.batch(&self.bytes, k, &places, &self.options)?;
                    let from = start.saturating_sub(starts[k]) as usize;
                    let to = (end.min(starts[k + 1]) - starts[k]) as usize;
                    if batch.num_rows() < to || from > to {
                        return Err(changed());
                    }
                    for (array, column) in batch.columns().iter().zip(&mut columns) {
                        append(&array.slice(from, to - from), column)?;
                    }
                    k += 1;
                }
            }
        }
        columns.into_iter().map(|column| column.apply(&self.options)).collect()
    }
}

/// A column's position and name, and whether it is text.
fn placed((j, column): (usize, Collected)) -> (usize, String, bool) {
    let is_text = column.levels.is_some();
    (j, column.name, is_text)
}

impl RowReader for Columnar {
    fn settle(&mut self, schema: &Schema) {
        self.finals = finals_of(schema);
    }

    fn pieces(&self) -> Vec<u64> {
        Vec::new()
    }

    fn rows(&self, start: u64, end: u64) -> Result<Vec<f64>> {
        let columns = self.collect(start, end)?;
        let (rows, width) = ((end - start) as usize, columns.len());
        let mut out = vec![0.0; rows * width];
        for (j, (column, known)) in columns.iter().zip(&self.finals).enumerate() {
            if column.cells.len() != rows {
                return Err(changed());
            }
            let codes = match (known, &column.levels) {
                (Some((levels, codes)), Some(local)) => {
                    let code = |(text, _): (&str, u64)| {
                        levels.find(text).map(|code| codes[code as usize]).ok_or_else(changed)
                    };
                    Some(local.iter().map(code).collect::<Result<Vec<f64>>>()?)
                }
                _ => None,
            };
            for (to, &cell) in out.iter_mut().skip(j).step_by(width).zip(&column.cells) {
                *to = match &codes {
                    Some(codes) if !cell.is_nan() => codes[cell as usize],
                    _ => cell,
                };
            }
        }
        Ok(out)
    }
}
