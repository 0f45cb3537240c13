//! Imputation by a statistic: missing values become the column's mean, median, mode or a constant.
//!
//! Statistics are of the training rows that are not missing. The median is exact on data of any size:
//! in memory its two middle values are selected, over a stream they are found digit by digit (eight rounds
//! of 256 counts over an order-preserving code of the numbers). Equal counts of the mode go to the smallest value.

use super::affine::check_width;
use super::categories::TableCounts;
use learnt_core::context::piece_rows;
use learnt_core::linalg::ColumnMoments;
use learnt_core::prelude::*;
use learnt_core::stats::summary::median;
use learnt_core::vectorized;
use std::sync::Arc;

/// Imputes missing values with a statistic of their column (mean, median, mode).
///
/// ```
/// use learnt::{prepare::SimpleImputer, prelude::*};
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![1.0, f64::NAN, 3.0]));
/// let model = SimpleImputer::default().fit(&data.view())?;
/// assert_eq!(model.transform(&data.x.frame())?.values().as_slice(), [1.0, 2.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct SimpleImputer {
    /// The statistic that replaces missing values.
    #[param(default = ImputeStrategy::Mean)]
    pub strategy: ImputeStrategy,
    /// The value of the strategy `constant`: a number, or a level for categorical columns; 0 and
    /// `missing` if none is given.
    #[param(default = None)]
    pub fill_value: Option<Value>,
    /// Add a column of 0 and 1 for each column that had missing values in training.
    #[param(default = false)]
    pub add_indicator: bool,
    /// Keep columns that are missing altogether, filled with 0.
    #[param(default = false)]
    pub keep_empty_features: bool,
}

/// Values to fill in.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum ImputeStrategy {
    /// The mean; the most frequent level in categorical columns.
    Mean,
    /// The median; the most frequent level in categorical columns.
    Median,
    /// The most frequent value.
    MostFrequent,
    /// The value `fill_value`.
    Constant,
}

/// A fitted [`SimpleImputer`].
#[derive(Model, Clone, Debug)]
#[model(transformer, validate = validate)]
pub struct SimpleImputerModel {
    /// What is filled in, column by column; a code in categorical columns.
    #[shape(columns)]
    pub statistics: Vec<f64>,
    #[model(hidden)]
    #[shape(columns)]
    columns: Vec<Column>,
    kept: Vec<usize>,
    indicated: Vec<usize>,
}

/// Where the search for the medians is, and what is known already.
#[derive(Stored, Clone, Debug)]
pub struct ImputerState {
    schema: Schema,
    digits: u32,
    lower: Vec<Rank>,
    upper: Vec<Rank>,
    counted: Option<ImputerSummary>,
}

/// The value of a given rank: digits found so far, and the rank among the values that have them.
#[derive(Stored, Clone, Debug, Default)]
pub struct Rank {
    prefix: String,
    rank: u64,
}

/// What one block says.
#[derive(Stored, Clone, Debug, Merge)]
pub struct ImputerSummary {
    moments: ColumnMoments,
    counts: Option<TableCounts>,
    lower: Vec<i64>,
    upper: Vec<i64>,
}

impl Estimator for SimpleImputer {
    type Model = SimpleImputerModel;
    type Fit = Self;
    const ABOUT: &'static About = &About::transformer("impute.SimpleImputer")
        .alias(&["impute"])
        .missing()
        .categories()
        .streaming()
        .complexity(5)
        .cost("n p time; eight more passes over a stream for the median");

    fn train(&self, data: &Dataset, run: &Context) -> Result<SimpleImputerModel> {
        if self.strategy != ImputeStrategy::Median {
            return rounds::train(self, data, run);
        }
        // In memory medians are selected. Rounds search for them digit by digit.
        let means = SimpleImputer { strategy: ImputeStrategy::Mean, ..self.clone() };
        let (n, columns) = (data.nrows(), data.x.ncols());
        let together = columns.div_ceil(run.threads()).clamp(1, TOGETHER);
        // And one more while its values are put in order.
        let numbers = n * (columns.min(together * run.threads()) + run.threads());
        if run.claim(8 * numbers as u64, "columns of the medians").is_err() {
            return rounds::train(self, data, run);
        }
        let mut model = rounds::train(&means, data, run)?;
        for (j, median) in medians(data.x.values(), together, run)?.into_iter().enumerate() {
            if let Some(median) = median.filter(|_| model.columns[j].levels().is_none()) {
                model.statistics[j] = median;
            }
        }
        Ok(model)
    }
}

/// The most columns of a thread's turn: rows are read once for all of them.
const TOGETHER: usize = 4;

/// The median of each column's values that are not missing; `None` if there are none.
fn medians(x: MatRef, together: usize, run: &Context) -> Result<Vec<Option<f64>>> {
    let groups = run.try_par_map(x.ncols().div_ceil(together), |group| {
        let columns = group * together..((group + 1) * together).min(x.ncols());
        let mut known = vec![Vec::with_capacity(x.nrows()); columns.len()];
        for i in 0..x.nrows() {
            for (known, j) in known.iter_mut().zip(columns.clone()) {
                let value = x.at(i, j) + 0.0;
                if !value.is_nan() {
                    known.push(value);
                }
            }
        }
        Ok(known.iter().map(|known| median(known)).collect::<Vec<_>>())
    })?;
    Ok(groups.concat())
}

impl Rounds for SimpleImputer {
    type State = ImputerState;
    type Summary = ImputerSummary;
    type Output = SimpleImputerModel;

    fn whole_is_faster(&self) -> bool {
        self.strategy == ImputeStrategy::Median
    }

    fn begin(&self, outline: &Outline, _run: &Context) -> Result<ImputerState> {
        let schema = outline.schema.clone();
        Ok(ImputerState { schema, digits: 0, lower: Vec::new(), upper: Vec::new(), counted: None })
    }

    fn summarize(
        &self,
        state: &ImputerState,
        block: &Block,
        _: &mut Memo,
        _: &Context,
    ) -> Result<ImputerSummary> {
        let data = &block.data;
        let first = state.counted.is_none();
        let count_values =
            first && (self.strategy == ImputeStrategy::MostFrequent || !state.schema.all_numeric());
        let digits = |ranks: &[Rank]| count_digits(data, ranks, state.digits);
        Ok(ImputerSummary {
            moments: ColumnMoments::of(&if first { *data } else { data.rows(0, 0) }),
            counts: count_values.then(|| TableCounts::of(data)),
            lower: digits(&state.lower)?,
            upper: digits(&state.upper)?,
        })
    }

    fn advance(
        &self,
        mut state: ImputerState,
        all: ImputerSummary,
        _run: &Context,
    ) -> Result<Step<ImputerState, SimpleImputerModel>> {
        if state.counted.is_none() {
            let known: Vec<u64> = all.moments.weight.iter().map(|&w| w as u64).collect();
            state.lower = known
                .iter()
                .map(|&n| Rank { prefix: String::new(), rank: n.saturating_sub(1) / 2 })
                .collect();
            state.upper =
                known.iter().map(|&n| Rank { prefix: String::new(), rank: n / 2 }).collect();
            state.counted = Some(all);
        } else {
            narrow(&mut state.lower, &all.lower);
            narrow(&mut state.upper, &all.upper);
            state.digits += 1;
        }
        if self.strategy == ImputeStrategy::Median && state.digits < DIGITS {
            return Ok(Step::Again(state));
        }
        self.finish(&state).map(Step::Done)
    }
}

const DIGITS: u32 = 8;

/// A whole number that sorts as the real number does.
fn sortable(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn from_sortable(code: u64) -> f64 {
    f64::from_bits(if code >> 63 == 1 { code & !(1 << 63) } else { !code })
}

/// How often each next digit (base 256) follows the digits found so far, column by column.
fn count_digits(data: &Dataset, ranks: &[Rank], digits: u32) -> Result<Vec<i64>> {
    let mut counts = vec![0_i64; ranks.len() * 256];
    for (j, rank) in ranks.iter().enumerate() {
        let prefix = parse_prefix(&rank.prefix)?;
        let shift = 64 - 8 * (digits + 1);
        for i in 0..data.nrows() {
            let value = data.x.values().at(i, j);
            let code = sortable(value);
            let matches = digits == 0 || code >> (shift + 8) == prefix;
            if !value.is_nan() && matches {
                counts[j * 256 + (code >> shift & 255) as usize] += 1;
            }
        }
    }
    Ok(counts)
}

fn parse_prefix(prefix: &str) -> Result<u64> {
    if prefix.is_empty() {
        return Ok(0);
    }
    u64::from_str_radix(prefix, 16).map_err(|_| learnt_core::persist::invalid("a rank's digits"))
}

/// Adds the digit in which the wanted rank lies.
fn narrow(ranks: &mut [Rank], counts: &[i64]) {
    for (rank, counts) in ranks.iter_mut().zip(counts.chunks(256)) {
        let mut digit = 0;
        for (k, &count) in counts.iter().enumerate() {
            let count = count as u64;
            if rank.rank < count {
                digit = k;
                break;
            }
            rank.rank -= count;
        }
        rank.prefix.push_str(&format!("{digit:02x}"));
    }
}

impl SimpleImputer {
    fn finish(&self, state: &ImputerState) -> Result<SimpleImputerModel> {
        let Some(all) = &state.counted else { return Err(Error::internal("no counts")) };
        let moments = &all.moments;
        let mut columns = state.schema.columns().to_vec();
        let mut statistics = Vec::with_capacity(columns.len());
        for (j, column) in columns.iter_mut().enumerate() {
            statistics.push(self.statistic(j, column, state, all)?);
        }
        let is_empty = |j: usize| moments.weight[j] == 0.0;
        let constant = self.strategy == ImputeStrategy::Constant;
        for (j, statistic) in statistics.iter_mut().enumerate() {
            if is_empty(j) && !constant {
                *statistic = if self.keep_empty_features { 0.0 } else { f64::NAN };
            }
        }
        let keep = |j: &usize| self.keep_empty_features || constant || !is_empty(*j);
        let kept: Vec<usize> = (0..columns.len()).filter(keep).collect();
        let had_missing = |j: &usize| moments.weight[*j] < moments.rows as f64;
        let indicated = match self.add_indicator {
            true => (0..columns.len()).filter(had_missing).collect(),
            false => Vec::new(),
        };
        Ok(SimpleImputerModel { statistics, columns, kept, indicated })
    }

    /// What to fill in; a constant level that a column lacks is added to it.
    fn statistic(
        &self,
        j: usize,
        column: &mut Column,
        state: &ImputerState,
        all: &ImputerSummary,
    ) -> Result<f64> {
        let mode = || {
            let counts = all.counts.as_ref().map(|counts| &counts.columns[j]);
            counts.and_then(|counts| {
                let seen = counts.seen(false);
                let k = seen.mode()?;
                match column.levels() {
                    Some(levels) => {
                        levels.iter().position(|l| *l == seen.levels[k]).map(|k| k as f64)
                    }
                    None => seen.numbers.get(k).copied(),
                }
            })
        };
        if self.strategy == ImputeStrategy::Constant {
            return self.constant(column);
        }
        if column.levels().is_some() || self.strategy == ImputeStrategy::MostFrequent {
            return Ok(mode().unwrap_or(f64::NAN));
        }
        if self.strategy == ImputeStrategy::Median {
            let low = from_sortable(parse_prefix(&state.lower[j].prefix)?);
            let high = from_sortable(parse_prefix(&state.upper[j].prefix)?);
            let odd = all.moments.weight[j] as u64 % 2 == 1;
            return Ok(if odd { low } else { 0.5 * low + 0.5 * high });
        }
        Ok(all.moments.mean[j])
    }

    fn constant(&self, column: &mut Column) -> Result<f64> {
        if let ColumnKind::Categorical { levels, .. } = &mut column.kind {
            let wanted = match &self.fill_value {
                None => "missing".to_string(),
                Some(Value::Text(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            let position = levels.iter().position(|level| *level == wanted).unwrap_or_else(|| {
                Arc::make_mut(levels).push(wanted);
                levels.len() - 1
            });
            return Ok(position as f64);
        }
        let value = self.fill_value.as_ref().map_or(Some(0.0), Value::as_real);
        match (value, &self.fill_value) {
            (Some(value), _) => Ok(value),
            (None, Some(given)) => Err(Error::parameter(
                "fill_value",
                format!("a number, because column '{}' is numeric", column.name),
                given,
            )),
            (None, None) => Ok(0.0),
        }
    }
}

/// Numbers that stay in cache between two looks at them.
const IN_CACHE: usize = 1 << 15;

/// Replaces the missing values of rows by those of their columns.
#[inline(always)]
fn fill(rows: &mut [f64], statistics: &[f64]) {
    for row in rows.chunks_exact_mut(statistics.len().max(1)) {
        for (value, statistic) in row.iter_mut().zip(statistics) {
            *value = if value.is_nan() { *statistic } else { *value };
        }
    }
}

impl SimpleImputerModel {
    /// The columns that are kept, filled in, and after them those that say what was missing.
    fn fill_some(&self, x: MatRef, codes: &[Option<Vec<f64>>], out: &mut [f64]) {
        let rows = x.to_matrix();
        let width = self.kept.len() + self.indicated.len();
        for (row, out) in rows.rows().zip(out.chunks_exact_mut(width.max(1))) {
            let (values, flags) = out.split_at_mut(self.kept.len());
            for ((value, &j), codes) in values.iter_mut().zip(&self.kept).zip(codes) {
                let found = match codes {
                    Some(codes) if !row[j].is_nan() => {
                        codes.get(row[j] as usize).copied().unwrap_or(f64::NAN)
                    }
                    _ => row[j],
                };
                *value = if found.is_nan() { self.statistics[j] } else { found };
            }
            for (flag, &j) in flags.iter_mut().zip(&self.indicated) {
                *flag = f64::from(row[j].is_nan());
            }
        }
    }

    fn validate(&self) -> Result<()> {
        let (statistics, width) = (&self.statistics, self.columns.len());
        let sane = self.kept.iter().chain(&self.indicated).all(|&j| j < width)
            && self.kept.iter().all(|&j| !statistics[j].is_nan());
        match sane {
            true => Ok(()),
            false => Err(learnt_core::persist::invalid("statistics and columns differ")),
        }
    }

    /// The code that a level of the given column has in training; the same number for numbers.
    fn translate(&self, j: usize, given: &Column) -> Option<Vec<f64>> {
        let (trained, levels) = (self.columns[j].levels()?, given.levels()?);
        let code =
            |level: &String| trained.iter().position(|l| l == level).map_or(f64::NAN, |k| k as f64);
        Some(levels.iter().map(code).collect())
    }
}

impl Transformer for SimpleImputerModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.columns.len())?;
        let width = self.kept.len() + self.indicated.len();
        let codes: Vec<Option<Vec<f64>>> =
            self.kept.iter().map(|&j| self.translate(j, x.schema().column(j))).collect();
        let as_they_are = width == self.columns.len()
            && self.indicated.is_empty()
            && codes.iter().all(Option::is_none);
        run.checkpoint()?;
        let mut out = Matrix::zeros(x.nrows(), width);
        let rows = piece_rows(width.max(x.ncols())).min(IN_CACHE.div_ceil(x.ncols().max(1)));
        run.par_fill(out.as_mut_slice(), rows * width.max(1), |start, piece| {
            let first = start / width;
            let part = x.values().rows(first, first + piece.len() / width);
            match as_they_are {
                true => {
                    part.write_rows(piece);
                    vectorized!(fill(piece, &self.statistics));
                }
                false => self.fill_some(part, &codes, piece),
            }
        });
        let rename = |j: usize| Column {
            name: x.schema().column(j).name.clone(),
            kind: self.columns[j].kind.clone(),
        };
        let kept = self.kept.iter().map(|&j| rename(j));
        let flags = self
            .indicated
            .iter()
            .map(|&j| Column::numeric(format!("missingindicator_{}", x.schema().column(j).name)));
        Table::new(out, Schema::new(kept.chain(flags).collect())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(strategy: ImputeStrategy, values: &[f64]) -> f64 {
        let data = OwnedDataset::unsupervised(Matrix::column_vector(values.to_vec()));
        SimpleImputer { strategy, ..Default::default() }.fit(&data.view()).unwrap().statistics[0]
    }

    #[test]
    fn the_median_is_exact_for_odd_and_even_counts_and_negative_numbers() {
        let nan = f64::NAN;
        assert_eq!(filled(ImputeStrategy::Median, &[3.0, nan, -1.0, 2.0]), 2.0);
        assert_eq!(filled(ImputeStrategy::Median, &[-3.0, 10.0, -1.0, nan, 0.0]), -0.5);
        assert_eq!(filled(ImputeStrategy::Median, &[1e300, -1e-300]), 5e299);
        assert_eq!(filled(ImputeStrategy::Median, &[5e-324]), 5e-324);
    }

    #[test]
    fn medians_are_those_of_the_rounds_and_fill_rows_in_any_memory_order() {
        let x = Matrix::from_fn(5001, 6, |i, j| match (i * 7 + j) % 11 {
            3 => f64::NAN,
            _ if j == 5 => f64::NAN,
            _ if j == 4 => 5e-324,
            k => (k as f64 - 4.0) * ((i * 31 + j) % 997) as f64,
        });
        let data = OwnedDataset::unsupervised(x.clone());
        for add_indicator in [false, true] {
            let learner = SimpleImputer {
                strategy: ImputeStrategy::Median,
                keep_empty_features: !add_indicator,
                add_indicator,
                ..Default::default()
            };
            let run = Context::default().with_threads(2);
            let model = learner.fit_in(&data.view(), &run).unwrap();
            let by_rounds = rounds::train(&learner, &data.view(), &run).unwrap();
            let bits = |model: &SimpleImputerModel| {
                model.statistics.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(bits(&model), bits(&by_rounds));
            let turned = x.transposed();
            for view in [x.view(), turned.view().transposed()] {
                let frame = Frame::new(view, data.x.schema()).unwrap();
                let table = model.transform_in(&frame, &run).unwrap();
                for (row, filled) in x.rows().zip(table.values().rows()) {
                    for (k, &j) in model.kept.iter().enumerate() {
                        let value = if row[j].is_nan() { model.statistics[j] } else { row[j] };
                        assert_eq!(filled[k], value);
                    }
                    for (k, &j) in model.indicated.iter().enumerate() {
                        assert_eq!(filled[model.kept.len() + k], f64::from(row[j].is_nan()));
                    }
                }
            }
        }
    }

    #[test]
    fn equal_counts_of_the_mode_go_to_the_smallest() {
        assert_eq!(filled(ImputeStrategy::MostFrequent, &[5.0, 2.0, 5.0, 2.0, 9.0]), 2.0);
    }

    #[test]
    fn an_empty_column_is_dropped_unless_kept() {
        let data = OwnedDataset::unsupervised(Matrix::from_fn(2, 2, |i, j| {
            if j == 0 { f64::NAN } else { i as f64 }
        }));
        let dropped = SimpleImputer::default().fit(&data.view()).unwrap();
        assert_eq!(dropped.transform(&data.x.frame()).unwrap().values().ncols(), 1);
        let kept = SimpleImputer { keep_empty_features: true, ..Default::default() };
        let table = kept.fit(&data.view()).unwrap().transform(&data.x.frame()).unwrap();
        assert_eq!(table.values().column(0), [0.0, 0.0]);
    }

    #[test]
    fn missing_becomes_a_category_of_its_own() {
        let column = Column::categorical("c", vec!["a".into(), "b".into()]);
        let values = Matrix::column_vector(vec![0.0, f64::NAN, 1.0]);
        let x = Table::new(values, Schema::new(vec![column]).unwrap()).unwrap();
        let data = OwnedDataset { x, ..Default::default() };
        let learner = SimpleImputer {
            strategy: ImputeStrategy::Constant,
            add_indicator: true,
            ..Default::default()
        };
        let table = learner.fit(&data.view()).unwrap().transform(&data.x.frame()).unwrap();
        assert_eq!(table.schema().column(0).levels().unwrap(), ["a", "b", "missing"]);
        assert_eq!(table.values().row(1), [2.0, 1.0]);
        assert_eq!(table.schema().column(1).name, "missingindicator_c");
    }
}
