//! Bagging: what its two learners share. Members see rows and columns drawn at random.
//!
//! A bootstrap sample is a weight of each row for learners that take weights, else its rows.

use crate::ensemble::forest::repeated;
use crate::learner::{Fitted, Learner, offered};
use learnt_core::part::FittedPart;
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::ops::Range;

/// The random streams of rows and of columns.
const ROWS_STREAM: u64 = 0x6261_6767;
const COLUMNS_STREAM: u64 = 0x6261_6363;
/// The most draws with replacement for each row.
const MOST_TIMES: usize = 100;

/// How many rows or columns a member sees.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum BaggingSize {
    /// This many.
    #[choice(range = 1..)]
    Count(usize),
    /// This share of them.
    #[choice(above = 0.0, range = ..=1.0)]
    Fraction(f64),
}

impl BaggingSize {
    fn of(self, all: usize) -> usize {
        match self {
            BaggingSize::Count(count) => count,
            BaggingSize::Fraction(share) => ((share * all as f64) as usize).max(1),
        }
    }
}

/// How members are drawn.
#[derive(Params, Clone, Debug)]
pub struct BaggingShare {
    /// Number of members.
    #[param(default = 10, range = 1.., search = set(10, 50, 100))]
    pub n_estimators: usize,
    /// Number of rows that each member draws: a count, with replacement also more than there are, or a share of all rows.
    #[param(default = BaggingSize::Fraction(1.0))]
    pub max_samples: BaggingSize,
    /// Number of columns that each member draws: a count, or a share of all columns.
    #[param(default = BaggingSize::Fraction(1.0))]
    pub max_features: BaggingSize,
    /// Whether rows are drawn with replacement.
    #[param(default = true)]
    pub bootstrap: bool,
    /// Whether columns are drawn with replacement.
    #[param(default = false)]
    pub bootstrap_features: bool,
    /// Whether the rows that members did not draw estimate the score (out-of-bag).
    #[param(default = false)]
    pub oob_score: bool,
}

/// Members with the columns that each sees.
pub(super) struct Bag {
    pub(super) parts: Vec<Fitted>,
    pub(super) columns: Vec<Vec<u32>>,
    /// How often each member drew each row.
    pub(super) counts: Vec<Vec<u32>>,
}

impl BaggingShare {
    pub(super) fn constraints(&self) -> Result<()> {
        match self.oob_score && !self.bootstrap && self.max_samples == BaggingSize::Fraction(1.0) {
            true => {
                let expected = "false where every member sees all rows";
                Err(Error::parameter("oob_score", expected, "true"))
            }
            false => Ok(()),
        }
    }

    /// The rows that members did not draw say nothing before all are there.
    pub(super) fn check_apart(&self) -> Result<()> {
        match self.oob_score {
            true => {
                Err(Error::parameter("oob_score", "false where members are fitted apart", "true"))
            }
            false => Ok(()),
        }
    }

    /// How many of these rows a member draws.
    fn draws(&self, rows: usize) -> Result<usize> {
        let drawn = self.max_samples.of(rows);
        let expected = match self.bootstrap {
            false if drawn > rows => {
                format!("at most {rows} where rows are drawn without replacement")
            }
            true if drawn / MOST_TIMES > rows => {
                format!("at most {MOST_TIMES} times the {rows} rows")
            }
            _ => return Ok(drawn),
        };
        Err(Error::parameter("max_samples", expected, drawn))
    }

    /// The rows that a member draws from so many, in its own run.
    pub(super) fn drawn(&self, rows: usize, run: &Context) -> Result<Vec<u32>> {
        Ok(repeated(&draw(rows, self.draws(rows)?, self.bootstrap, ROWS_STREAM, run)?))
    }

    /// Fits the members of these numbers, side by side, behind those that are there already.
    pub(super) fn fit(
        &self,
        learner: &Learner,
        (numbers, made): (Range<usize>, Vec<Fitted>),
        data: &Dataset,
        run: &Context,
    ) -> Result<Bag> {
        let there = made.len();
        let (n, p) = (data.nrows(), data.x.ncols());
        let columns = self.max_features.of(p);
        if columns > p {
            return Err(Error::parameter("max_features", format!("at most {p}"), columns));
        }
        let drawn = self.draws(n)?;
        run.claim(8 * drawn as u64, &format!("{drawn} rows that a member draws"))?;
        let members = run.try_par_map(numbers.len(), |k| {
            let m = numbers.start + k;
            let inner = run.child(m as u64);
            let counts = draw(n, drawn, self.bootstrap, ROWS_STREAM, &inner)?;
            let columns = draw(p, columns, self.bootstrap_features, COLUMNS_STREAM, &inner)?;
            let columns = repeated(&columns);
            let chosen: Vec<usize> = columns.iter().map(|&j| j as usize).collect();
            let name = format!("member {}", m + 1);
            let part = match k < there {
                true => None,
                false => Some(fit_member(learner, &name, data, &counts, &chosen, &inner)?),
            };
            Ok((part, columns, counts))
        })?;
        let mut bag = Bag { parts: made, columns: Vec::new(), counts: Vec::new() };
        for (part, columns, counts) in members {
            bag.parts.extend(part);
            bag.columns.push(columns);
            bag.counts.push(counts);
        }
        Ok(bag)
    }
}

/// Copies of members.
pub(super) fn copies(parts: &[Fitted]) -> Result<Vec<Fitted>> {
    parts.iter().map(|part| Fitted::from_node(&part.to_node())).collect()
}

/// How often each of `all` was drawn.
pub(super) fn draw(
    all: usize,
    count: usize,
    replace: bool,
    stream: u64,
    run: &Context,
) -> Result<Vec<u32>> {
    /// Draws between looks at the sign to stop.
    const DRAWS: usize = 1 << 20;
    let mut counts = vec![0_u32; all];
    let rng = &mut run.rng(stream);
    match replace {
        true => {
            for from in (0..count).step_by(DRAWS) {
                run.checkpoint()?;
                for _ in from..(from + DRAWS).min(count) {
                    counts[sample::below(rng, all as u64) as usize] += 1;
                }
            }
        }
        false if count == all => counts.fill(1),
        false => sample::choose(rng, all, count).into_iter().for_each(|i| counts[i] = 1),
    }
    Ok(counts)
}

/// Fits a member on the rows and columns that it drew.
pub(super) fn fit_member(
    learner: &Learner,
    name: &str,
    data: &Dataset,
    counts: &[u32],
    columns: &[usize],
    run: &Context,
) -> Result<Fitted> {
    let all_columns = columns.iter().copied().eq(0..data.x.ncols());
    let table = if all_columns { None } else { Some(select(&data.x, columns)?) };
    let x = table.as_ref().map_or(data.x, Table::frame);
    let data = Dataset { x, ..*data };
    let accepts = learner.any_accepts();
    if accepts.weights {
        let weights: Vec<f64> =
            (0..data.nrows()).map(|i| f64::from(counts[i]) * data.weight(i)).collect();
        return Fitted::fit(&**learner, name, &data.with_weights(&weights), run);
    }
    let data = offered(&data, data.x, accepts);
    let rows: Vec<usize> = repeated(counts).into_iter().map(|row| row as usize).collect();
    Fitted::fit(&**learner, name, &data.gather(&rows).view(), run)
}

/// These columns; one that is there twice gets another name.
fn select(x: &Frame, columns: &[usize]) -> Result<Table> {
    Table::new(x.values().gather_columns(columns), chosen_schema(x.schema(), columns)?)
}

fn chosen_schema(schema: &Schema, columns: &[usize]) -> Result<Schema> {
    let mut chosen: Vec<Column> = Vec::with_capacity(columns.len());
    for (place, &j) in columns.iter().enumerate() {
        let mut column = schema.column(j).clone();
        if columns[..place].contains(&j) {
            column.name = format!("{} ({})", column.name, place + 1);
        }
        chosen.push(column);
    }
    Schema::new(chosen)
}

/// The members as parts, each with the columns that it sees.
pub(super) fn members<'a>(
    parts: &'a [Fitted],
    columns: &[Vec<u32>],
    schema: &Schema,
    classes: &[Label],
) -> Result<Vec<FittedPart<'a>>> {
    let part = |(part, columns): (&'a Fitted, &Vec<u32>)| {
        let columns: Vec<usize> = columns.iter().map(|&j| j as usize).collect();
        Ok(part.part(chosen_schema(schema, &columns)?, classes))
    };
    parts.iter().zip(columns).map(part).collect()
}

/// What a member sees of rows.
pub(super) fn seen(x: &Frame, columns: &[u32]) -> Result<Option<Table>> {
    let columns: Vec<usize> = columns.iter().map(|&j| j as usize).collect();
    let needed = columns.iter().max().map_or(0, |last| last + 1);
    if needed > x.ncols() {
        let got = format!("{} columns", x.ncols());
        return Err(Error::shape("x", format!("at least {needed} columns"), got));
    }
    match columns.iter().copied().eq(0..x.ncols()) {
        true => Ok(None),
        false => select(x, &columns).map(Some),
    }
}

/// The mean over members of what each says about rows; where `out_of_bag` is given, over those that
/// did not draw a row, and missing where all did.
pub(super) fn mean_over(
    parts: &[Fitted],
    columns: &[Vec<u32>],
    x: &Frame,
    width: usize,
    out_of_bag: Option<&[Vec<u32>]>,
    run: &Context,
    says: impl Fn(&Fitted, &Frame, &Context) -> Result<Matrix> + Sync,
) -> Result<Matrix> {
    let single = run.with_threads(1);
    let found = run.try_par_map(parts.len(), |m| {
        let table = seen(x, &columns[m])?;
        says(&parts[m], &table.as_ref().map_or(*x, Table::frame), &single)
    })?;
    let takes = |m: usize, i: usize| out_of_bag.is_none_or(|drawn| drawn[m][i] == 0);
    let mut means = Matrix::zeros(x.nrows(), width);
    for i in 0..x.nrows() {
        let count = (0..parts.len()).filter(|&m| takes(m, i)).count();
        let row = means.row_mut(i);
        if count == 0 {
            row.fill(f64::NAN);
        }
        for said in found.iter().enumerate().filter(|(m, _)| takes(*m, i)).map(|(_, said)| said) {
            // Divided first, so that the sum of large numbers stays finite.
            row.iter_mut().zip(said.row(i)).for_each(|(mean, v)| *mean += v / count as f64);
        }
        if count > 0 && width > 1 {
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|share| *share = (*share / total).min(1.0));
        }
    }
    Ok(means)
}

/// Whether the columns of members are there.
pub(super) fn columns_fit(columns: &[Vec<u32>], members: usize, all: usize) -> bool {
    columns.len() == members
        && columns.iter().all(|list| !list.is_empty() && list.iter().all(|&j| (j as usize) < all))
}
