//! A CSV file as blocks: the pieces that cover a block are parsed when it is asked for, once for all
//! the blocks of a pass that share them.

use crate::csv::CsvFile;
use crate::dataset::ColumnRoles;
use crate::input::{Bytes, changed};
use crate::levels::Levels;
use crate::options::{Format, ReadOptions};
use crate::stream::{RowReader, Scanned, TargetFacts, finals_of, target_place};
use crate::stream_counted::{Counted, counts, weight_place};
use learnt_core::context::{Context, available_threads};
use learnt_core::data::Schema;
use learnt_core::error::Result;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A CSV file whose types, levels and rows are known.
pub(crate) struct Csv {
    bytes: Arc<Bytes>,
    file: CsvFile,
    /// The first row of each piece, and the number of rows.
    starts: Vec<u64>,
    /// For each column of categories, levels in order of arrival and their codes.
    finals: Vec<Option<(Levels, Vec<f64>)>>,
    recent: Recent,
}

impl Csv {
    /// Goes over the file once.
    pub(crate) fn scan(
        bytes: &Arc<Bytes>,
        options: &ReadOptions,
        format: Format,
        roles: &ColumnRoles,
        run: &Context,
    ) -> Result<Scanned> {
        let mut file = CsvFile::open(bytes, options, format, run)?;
        let names = file.names();
        let width = file.width();
        let place = target_place(&names, roles)?;
        let weight = weight_place(&names, roles.weight);
        let (tally, seen) = file.go_over(bytes, run, |_, cells, _| {
            let column = |j: usize| cells.iter().skip(j).step_by(width).copied();
            let counted = weight.map(|j| column(j).filter(|&w| counts(w)).count() as u64);
            (place.map(|j| TargetFacts::of(column(j).collect(), 0)), counted)
        })?;
        bytes.unchanged()?;
        let mut facts: Option<TargetFacts> = None;
        let mut counted: Vec<u64> = Vec::new();
        let mut starts = Vec::with_capacity(seen.len() + 1);
        for (start, (found, count)) in seen {
            starts.push(start);
            counted.extend(count);
            let found = found
                .map(|found| TargetFacts { first_missing: found.first_missing + start, ..found });
            facts = match (facts, found) {
                (Some(earlier), Some(later)) => Some(earlier.merge(later)),
                (earlier, later) => earlier.or(later),
            };
        }
        starts.push(tally.rows);
        let counted = weight.map(|_| {
            let rows = starts.windows(2).map(|pair| pair[1] - pair[0]);
            Counted::of(rows.zip(counted))
        });
        let orders = tally.orders(&names, file.rules(), run)?;
        let numeric = file.numeric().to_vec();
        let (columns, reports) = tally.finish(&names, file.rules(), &numeric, options)?;
        let finals: Vec<Option<(Levels, Vec<f64>)>> = orders
            .into_iter()
            .enumerate()
            .map(|(j, order)| (!numeric[j]).then(|| (tally.levels(j).clone(), order)))
            .collect();
        let mut target = facts.unwrap_or_default();
        target.column = place;
        if let Some((_, order)) = place.and_then(|j| finals[j].as_ref()) {
            target.distinct = crate::dataset::Distinct::of_values(order.clone());
        }
        let mut report = file.report(format, options, &tally);
        report.columns = reports;
        report.note_columns();
        let schema = columns.schema()?;
        let reader = Box::new(Csv {
            bytes: Arc::clone(bytes),
            file,
            starts,
            finals,
            recent: Recent::new(2 + 2 * available_threads()),
        });
        Ok(Scanned { schema, report, reader, target, counted })
    }

    /// A file that was gone over before: `pieces` are [`RowReader::pieces`] of then.
    pub(crate) fn reopen(
        bytes: &Arc<Bytes>,
        options: &ReadOptions,
        format: Format,
        schema: &Schema,
        pieces: &[u64],
    ) -> Result<Csv> {
        let count = pieces.len() / 5;
        let (starts, places) = pieces.split_at((count + 1).min(pieces.len()));
        if pieces.len() != 5 * count + 1 || starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(changed());
        }
        let numeric = schema.columns().iter().map(|c| c.levels().is_none()).collect();
        let file = CsvFile::reopen(bytes, options, format, numeric, places)?;
        let mut csv = Csv {
            bytes: Arc::clone(bytes),
            file,
            starts: starts.to_vec(),
            finals: Vec::new(),
            recent: Recent::new(2 + 2 * available_threads()),
        };
        csv.settle(schema);
        Ok(csv)
    }

    /// The rows of a piece in final coding.
    fn piece(&self, k: usize) -> Result<Vec<f64>> {
        let run = Context::default().with_threads(1);
        let (mut cells, parsed) = self.file.piece(&self.bytes, k, &run)?;
        if parsed.rows as u64 != self.starts[k + 1] - self.starts[k] {
            return Err(changed());
        }
        let width = self.file.width();
        for (j, known) in self.finals.iter().enumerate() {
            let Some((levels, order)) = known else {
                match parsed.columns[j].misfit {
                    None => continue,
                    Some(_) => return Err(changed()),
                }
            };
            let local = &parsed.columns[j].levels;
            let code = |(text, _): (&str, u64)| {
                levels.find(text).map(|code| order[code as usize]).ok_or_else(changed)
            };
            let codes = local.iter().map(code).collect::<Result<Vec<f64>>>()?;
            for cell in cells.iter_mut().skip(j).step_by(width).filter(|cell| !cell.is_nan()) {
                *cell = codes[*cell as usize];
            }
        }
        Ok(cells)
    }
}

impl RowReader for Csv {
    fn rows(&self, start: u64, end: u64) -> Result<Vec<f64>> {
        self.bytes.unchanged()?;
        let width = self.file.width();
        let mut out = Vec::with_capacity((end - start) as usize * width);
        let mut k = self.starts.partition_point(|&first| first <= start).saturating_sub(1);
        while k + 1 < self.starts.len() && self.starts[k] < end {
            let cells = self.recent.get(k, || self.piece(k))?;
            let from = start.saturating_sub(self.starts[k]) as usize;
            let to = (end.min(self.starts[k + 1]) - self.starts[k]) as usize;
            out.extend_from_slice(cells.get(from * width..to * width).unwrap_or_default());
            k += 1;
        }
        match out.len() == (end - start) as usize * width {
            true => Ok(out),
            false => Err(changed()),
        }
    }

    fn settle(&mut self, schema: &Schema) {
        self.finals = finals_of(schema);
    }

    fn pieces(&self) -> Vec<u64> {
        [self.starts.clone(), self.file.piece_numbers()].concat()
    }
}

/// The pieces parsed last. Blocks are asked for in order, so neighbours find theirs here.
struct Recent {
    most: usize,
    held: Mutex<VecDeque<(usize, Slot)>>,
}

/// A piece that is there, or is being parsed by the thread that holds the lock.
type Slot = Arc<Mutex<Option<Arc<Vec<f64>>>>>;

impl Recent {
    fn new(most: usize) -> Recent {
        Recent { most, held: Mutex::default() }
    }

    fn get(&self, k: usize, parse: impl FnOnce() -> Result<Vec<f64>>) -> Result<Arc<Vec<f64>>> {
        let slot = self.slot(k);
        let mut content = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cells) = &*content {
            return Ok(Arc::clone(cells));
        }
        let cells = Arc::new(parse()?);
        *content = Some(Arc::clone(&cells));
        Ok(cells)
    }

    fn slot(&self, k: usize) -> Slot {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, slot)) = held.iter().find(|(known, _)| *known == k) {
            return Arc::clone(slot);
        }
        if held.len() >= self.most {
            held.pop_front();
        }
        let slot = Slot::default();
        held.push_back((k, Arc::clone(&slot)));
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_piece_and_old_ones_are_forgotten() {
        let recent = Recent::new(2);
        let parsed = Mutex::new(Vec::new());
        let get = |k: usize| {
            recent.get(k, || {
                parsed.lock().unwrap().push(k);
                Ok(vec![k as f64])
            })
        };
        for k in [0, 0, 1, 1, 1, 2, 1, 0] {
            assert_eq!(*get(k).unwrap(), [k as f64]);
        }
        assert_eq!(*parsed.lock().unwrap(), [0, 1, 2, 0]);
        assert!(recent.get(7, || Err(changed())).is_err());
        assert_eq!(*get(7).unwrap(), [7.0]);
    }
}
