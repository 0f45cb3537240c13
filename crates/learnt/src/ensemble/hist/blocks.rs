//! Histograms over words of four columns, or of two wide categories.
//!
//! The bins of a row stand together, so that a row is fetched from memory once for all of them. Some
//! hundred rows are taken at a time, word by word, so that they and the histograms of a word stay in the
//! near caches. Gradients are whole numbers: the gradient in units of
//! 2^-61 of their sum, the second derivative with a count of one below it. So sums do not depend on
//! their order, and a child's histogram is exactly its parent's less its sibling's.

use crate::tree::binned::{BinnedTable, Kind};
use learnt_core::prelude::*;
use std::ops::Range;

/// Columns of a word, and bins of each.
const NARROW: usize = 4;
const BINS: usize = 256;
/// Columns of a word whose bins take two bytes.
const WIDE: usize = 2;
/// Histograms of fewer cells than this are made on one thread.
const PARALLEL_CELLS: usize = 1 << 16;
/// Words of one task: those of a row fill a line of the cache.
const WORDS: usize = 16;
/// Rows that are taken at a time.
const ROWS: usize = 512;
/// Rows of one task at least.
const TASK_ROWS: usize = 2048;

/// Sums of gradients and of second derivatives, the latter with a count in their low bits.
#[derive(Stored, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) gradient: i64,
    pub(super) curvature: i64,
}

impl Cell {
    #[inline(always)]
    pub(super) fn add(&mut self, other: Cell) {
        self.gradient = self.gradient.wrapping_add(other.gradient);
        self.curvature = self.curvature.wrapping_add(other.curvature);
    }

    #[inline(always)]
    pub(super) fn less(self, other: Cell) -> Cell {
        Cell {
            gradient: self.gradient.wrapping_sub(other.gradient),
            curvature: self.curvature.wrapping_sub(other.curvature),
        }
    }
}

/// What a unit of the whole numbers stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    gradient: f64,
    curvature: f64,
    /// Units in one.
    inverses: [f64; 2],
    /// Bits of the count.
    bits: u32,
}

impl Scale {
    /// For rows whose absolute gradients and second derivatives have at most these sums.
    pub(super) fn new(rows: usize, gradients: f64, curvatures: f64) -> Self {
        let bits = usize::BITS - rows.leading_zeros();
        let unit = |sum: f64, bits: u32| {
            let unit = sum * 1.001 / 2_f64.powi(bits as i32);
            if unit.is_normal() && (1.0 / unit).is_finite() { unit } else { 1.0 }
        };
        let (gradient, curvature) = (unit(gradients, 61), unit(curvatures, 61 - bits));
        Scale { gradient, curvature, inverses: [1.0 / gradient, 1.0 / curvature], bits }
    }

    #[inline(always)]
    pub(super) fn cell(&self, gradient: f64, curvature: f64) -> Cell {
        Cell {
            gradient: (gradient * self.inverses[0]) as i64,
            curvature: ((curvature * self.inverses[1]) as i64) << self.bits | 1,
        }
    }

    #[inline(always)]
    pub(super) fn gradient(&self, cell: Cell) -> f64 {
        cell.gradient as f64 * self.gradient
    }

    #[inline(always)]
    pub(super) fn curvature(&self, cell: Cell) -> f64 {
        (cell.curvature >> self.bits) as f64 * self.curvature
    }

    #[inline(always)]
    pub(super) fn count(&self, cell: Cell) -> usize {
        (cell.curvature & ((1 << self.bits) - 1)) as usize
    }
}

/// Histograms of all columns, word after word.
pub(super) type Histogram = Vec<Cell>;

/// Where columns stand in the words of a row, and their bins in histograms.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    columns: Vec<Place>,
    words: Vec<Word>,
}

/// Where a column stands.
#[derive(Clone, Debug)]
struct Place {
    word: usize,
    /// Its bits in the word.
    shift: u32,
    mask: u32,
    /// Its bins, that of missing values last.
    bins: Range<usize>,
}

/// The columns of a word.
#[derive(Clone, Debug)]
struct Word {
    bins: Range<usize>,
    /// Bins of the first column, if it is wide.
    wide: Option<usize>,
}

impl Layout {
    /// Wide columns come last.
    pub(super) fn new(kinds: &[Kind]) -> Self {
        let narrow = kinds.iter().filter(|kind| !kind.is_wide()).count();
        let word = |k: usize| Word { bins: NARROW * BINS * k..NARROW * BINS * (k + 1), wide: None };
        let mut words: Vec<Word> = (0..narrow.div_ceil(NARROW)).map(word).collect();
        let (mut narrow, mut wide, blocks) = (0, 0, words.len());
        let mut end = NARROW * BINS * blocks;
        let mut columns = Vec::with_capacity(kinds.len());
        for kind in kinds {
            if !kind.is_wide() {
                let (word, shift) = (narrow / NARROW, 8 * (narrow % NARROW) as u32);
                let bins = BINS * narrow..BINS * (narrow + 1);
                columns.push(Place { word, shift, mask: 0xff, bins });
                narrow += 1;
                continue;
            }
            let (word, shift) = (blocks + wide / WIDE, 16 * (wide % WIDE) as u32);
            let bins = end..end + kind.missing() + 1;
            end = bins.end;
            match words.get_mut(word) {
                Some(word) => word.bins.end = end,
                None => words.push(Word { bins: bins.clone(), wide: Some(bins.len()) }),
            }
            columns.push(Place { word, shift, mask: 0xffff, bins });
            wide += 1;
        }
        Layout { columns, words }
    }

    /// Makes histograms those of no row.
    pub(super) fn clear(&self, out: &mut Histogram) {
        out.clear();
        out.resize(self.words.last().map_or(0, |word| word.bins.end), Cell::default());
    }

    /// The bins of a column, that of missing values last.
    pub(super) fn bins(&self, column: usize) -> Range<usize> {
        self.columns[column].bins.clone()
    }
}

impl Word {
    /// Adds rows to the histograms of the columns.
    fn add(&self, histograms: &mut [Cell], words: &[u32], cells: &[Cell]) {
        let rows = words.iter().zip(cells);
        if let Some(bins) = self.wide {
            let (first, second) = histograms.split_at_mut(bins);
            match second {
                [] => rows.for_each(|(&word, cell)| first[word as usize].add(*cell)),
                _ => rows.for_each(|(&word, cell)| {
                    first[word as usize & 0xffff].add(*cell);
                    second[(word >> 16) as usize].add(*cell);
                }),
            }
        } else if let ([a, b, c, d], _) = histograms.as_chunks_mut::<BINS>() {
            for (&word, &cell) in rows {
                a[word as usize & 255].add(cell);
                b[(word >> 8) as usize & 255].add(cell);
                c[(word >> 16) as usize & 255].add(cell);
                d[(word >> 24) as usize].add(cell);
            }
        }
    }
}

/// A table in bins, by column and by row.
pub(super) struct Blocks {
    table: BinnedTable,
    words: Words,
}

impl Blocks {
    pub(super) fn new(table: BinnedTable, run: &Context) -> Result<Self> {
        let (rows, columns) = (table.rows, table.kinds.len());
        let mut words = Words::empty(rows, &table.kinds, run)?;
        let (width, layout) = (words.layout.words.len(), &words.layout);
        run.par_fill(&mut words.words, TASK_ROWS * width.max(1), |first, words| {
            let from = first / width;
            let range = from..from + words.len() / width;
            for j in 0..columns {
                let upper = table.upper(j).get(range.clone()).unwrap_or_default();
                put(words, width, &layout.columns[j], &table.column(j)[range.clone()], upper);
            }
        });
        Ok(Blocks { table, words })
    }

    pub(super) fn kinds(&self) -> &[Kind] {
        &self.table.kinds
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.words.layout
    }

    pub(super) fn columns(&self) -> usize {
        self.table.kinds.len()
    }

    pub(super) fn rows(&self) -> usize {
        self.table.rows
    }

    /// The bins of a column by row, with upper bytes if it is wide.
    pub(super) fn column(&self, column: usize) -> (&[u8], &[u8]) {
        (self.table.column(column), self.table.upper(column))
    }

    /// The histograms of some rows of a table whose rows have these gradients.
    pub(super) fn histogram(
        &self,
        rows: &[u32],
        cells: &[Cell],
        spare: Option<Histogram>,
        run: &Context,
    ) -> Histogram {
        let words = &self.words.layout.words;
        let mut out = spare.unwrap_or_default();
        if rows.len().saturating_mul(self.columns()) < PARALLEL_CELLS {
            self.words.histogram(rows, cells, &mut out);
            return out;
        }
        // Sums are exact, so that the number of parts may depend on that of threads.
        let length = rows.len().div_ceil(2 * run.threads()).max(TASK_ROWS);
        let parts = rows.len().div_ceil(length);
        let tasks = run.par_map(parts * words.len().div_ceil(WORDS), |task| {
            let (first, part) = (task / parts * WORDS, task % parts);
            let rows = &rows[part * length..((part + 1) * length).min(rows.len())];
            let range = first..(first + WORDS).min(words.len());
            let bins = words[range.end - 1].bins.end - words[first].bins.start;
            let mut sums = vec![Cell::default(); bins];
            self.words.add_rows(&mut sums, range, rows, cells);
            sums
        });
        self.words.layout.clear(&mut out);
        for (task, sums) in tasks.iter().enumerate() {
            let from = words[task / parts * WORDS].bins.start;
            out[from..].iter_mut().zip(sums).for_each(|(sum, cell)| sum.add(*cell));
        }
        out
    }
}

/// Bins of rows, row by row.
#[derive(Default)]
pub(super) struct Words {
    words: Vec<u32>,
    pub(super) layout: Layout,
}

impl Words {
    /// Room for rows.
    pub(super) fn empty(rows: usize, kinds: &[Kind], run: &Context) -> Result<Self> {
        let layout = Layout::new(kinds);
        let words = rows * layout.words.len();
        run.claim((words * size_of::<u32>()) as u64, "bins row by row")?;
        Ok(Words { words: vec![0; words], layout })
    }

    /// Puts in the bins of a column, once.
    pub(super) fn put(&mut self, column: usize, bins: &[u8], upper: &[u8]) {
        let width = self.layout.words.len();
        put(&mut self.words, width, &self.layout.columns[column], bins, upper);
    }

    /// The bin of a row in a column.
    #[inline(always)]
    pub(super) fn bin(&self, row: usize, column: usize) -> usize {
        let Place { word, shift, mask, .. } = self.layout.columns[column];
        (self.words[row * self.layout.words.len() + word] >> shift & mask) as usize
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> u64 {
        (self.words.len() * size_of::<u32>()) as u64
    }

    /// The histograms of some rows, on one thread.
    pub(super) fn histogram(&self, rows: &[u32], cells: &[Cell], out: &mut Histogram) {
        self.layout.clear(out);
        self.add_rows(out, 0..self.layout.words.len(), rows, cells);
    }

    /// Adds rows to the histograms of the columns of some words. Words and gradients of some rows are copied word
    /// after word first: fetching them does not wait for sums.
    fn add_rows(&self, out: &mut [Cell], range: Range<usize>, rows: &[u32], cells: &[Cell]) {
        let width = self.layout.words.len();
        let of_range = &self.layout.words[range.clone()];
        let start = of_range.first().map_or(0, |word| word.bins.start);
        let mut gathered = [Cell::default(); ROWS];
        let mut words = vec![0; ROWS * range.len()];
        for rows in rows.chunks(ROWS) {
            for (place, (to, &row)) in gathered.iter_mut().zip(rows).enumerate() {
                *to = cells[row as usize];
                let from = row as usize * width;
                let of_row = &self.words[from + range.start..from + range.end];
                for (k, &word) in of_row.iter().enumerate() {
                    words[k * ROWS + place] = word;
                }
            }
            for (word, words) in of_range.iter().zip(words.chunks_exact(ROWS)) {
                let bins = word.bins.start - start..word.bins.end - start;
                word.add(&mut out[bins], &words[..rows.len()], &gathered[..rows.len()]);
            }
        }
    }
}

/// Puts the bins of a column into the words of rows.
fn put(words: &mut [u32], width: usize, place: &Place, bins: &[u8], upper: &[u8]) {
    let Place { word, shift, .. } = *place;
    for (row, &bin) in words.chunks_exact_mut(width).zip(bins) {
        row[word] |= u32::from(bin) << shift;
    }
    for (row, &upper) in words.chunks_exact_mut(width).zip(upper) {
        row[word] |= u32::from(upper) << (shift + 8);
    }
}

/// Takes a child's histograms away from its parent's, which become its sibling's.
pub(super) fn subtract(parent: &mut Histogram, child: &Histogram) {
    parent.iter_mut().zip(child).for_each(|(sum, cell)| *sum = sum.less(*cell));
}
