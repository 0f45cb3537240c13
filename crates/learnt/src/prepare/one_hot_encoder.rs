//! One-hot encoding: a column of 0 and 1 for each category.
//!
//! Categories are the values seen in training, levels sorted (or in their own order if the column is
//! ordered), numbers rising; missing values, if training saw any, are a category of their own, the
//! last. With `drop` the first category has no column, which keeps a linear model with an intercept
//! of full rank. An unseen category is an error, or all zeros. One pass.

use super::affine::check_width;
use super::categories::{Counts, Found, Lookup, TableCounts, unseen_error};
use super::ordinal_encoder::{original_value, seen_categories, shown_categories};
use learnt_core::persist::Node;
use learnt_core::prelude::*;
use std::sync::Mutex;

/// One-hot (dummy) encoding: turns each category into a column of 0 and 1.
///
/// Always gives a dense table, so there is no `sparse_output`.
///
/// ```
/// use learnt::{prepare::OneHotEncoder, prelude::*};
/// let classes = vec![1.0, 1.0, 2.0, 3.0, 3.0, 3.0];
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(classes));
/// let model = OneHotEncoder::default().fit(&data.view())?;
/// let table = model.transform(&data.x.frame())?;
/// assert_eq!(table.values().row(2), [0.0, 1.0, 0.0]);
/// assert_eq!(table.schema().column(1).name, "x0_2");
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct OneHotEncoder {
    /// Which category of each column is dropped (the reference level).
    #[param(default = Drop::Nothing)]
    pub drop: Drop,
    /// What to do with a category that training did not see.
    #[param(default = HandleUnknown::Error)]
    pub handle_unknown: HandleUnknown,
}

/// Which category of each column is dropped (the reference level).
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Drop {
    /// Every category gets one.
    #[choice(none)]
    Nothing,
    /// The first of every column.
    First,
    /// The first of columns with two categories.
    IfBinary,
}

/// What to do with a category that training did not see.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum HandleUnknown {
    /// Refuse, and list the values.
    Error,
    /// All zeros.
    Ignore,
}

/// A fitted [`OneHotEncoder`].
#[derive(Model, Clone, Debug)]
#[model(transformer, attributes = shown)]
pub struct OneHotEncoderModel {
    /// The categories of each column.
    #[shape(columns)]
    pub categories: Vec<Counts>,
    #[shape(columns)]
    columns: Vec<Column>,
    drop: Drop,
    handle_unknown: HandleUnknown,
}

impl Estimator for OneHotEncoder {
    type Model = OneHotEncoderModel;
    type Fit = Pass<TableCounts>;
    const ABOUT: &'static About = &About::transformer("preprocessing.OneHotEncoder")
        .alias(&["one-hot"])
        .missing()
        .categories()
        .inverse_transform()
        .streaming()
        .complexity(5)
        .cost("n (number of categories) time and memory")
        .exempt(&[("gate", "a missing value that training did not have is an unknown category")]);
}

impl OnePass<TableCounts> for OneHotEncoder {
    fn finish(&self, all: TableCounts, outline: &Outline) -> Result<OneHotEncoderModel> {
        Ok(OneHotEncoderModel {
            categories: seen_categories(outline.schema, &all),
            columns: outline.schema.columns().to_vec(),
            drop: self.drop,
            handle_unknown: self.handle_unknown,
        })
    }
}

impl OneHotEncoderModel {
    fn shown(&self) -> Vec<(&'static str, Node)> {
        vec![("categories", shown_categories(&self.categories))]
    }

    /// Number of categories of a column, missing included.
    fn total(&self, j: usize) -> usize {
        self.categories[j].len() + usize::from(self.categories[j].missing > 0.0)
    }

    /// How many leading categories of a column have no output column.
    fn dropped(&self, j: usize) -> usize {
        match self.drop {
            Drop::Nothing => 0,
            Drop::First => 1.min(self.total(j)),
            Drop::IfBinary => usize::from(self.total(j) == 2),
        }
    }

    /// The place of a value among the output columns of column j, none for those without; an error if
    /// it must not be there.
    fn position(&self, j: usize, found: Found) -> std::result::Result<Option<usize>, ()> {
        let categories = &self.categories[j];
        let place = match found {
            Found::Category(k) => k,
            Found::Missing if categories.missing > 0.0 => categories.len(),
            _ if self.handle_unknown == HandleUnknown::Ignore => return Ok(None),
            Found::Missing | Found::Unseen => return Err(()),
        };
        Ok(place.checked_sub(self.dropped(j)))
    }

    /// First output column of each input column, and the total.
    fn starts(&self) -> (Vec<usize>, usize) {
        let mut total = 0;
        let starts = (0..self.categories.len())
            .map(|j| {
                let start = total;
                total += self.total(j) - self.dropped(j);
                start
            })
            .collect();
        (starts, total)
    }

    fn output_schema(&self, x: &Schema) -> Result<Schema> {
        let names = self.categories.iter().enumerate().flat_map(|(j, categories)| {
            let name = &x.column(j).name;
            (self.dropped(j)..self.total(j)).map(move |k| match k < categories.len() {
                true => format!("{name}_{}", categories.name(k)),
                false => format!("{name}_nan"),
            })
        });
        Schema::numeric(names)
    }
}

impl Transformer for OneHotEncoderModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.categories.len())?;
        let (starts, width) = self.starts();
        let bytes = (width as u64).saturating_mul(8 * x.nrows() as u64);
        let what = format!("a one-hot table of {} rows and {width} columns", x.nrows());
        run.claim(bytes, &what)?;
        let lookups: Vec<Lookup> = self
            .categories
            .iter()
            .enumerate()
            .map(|(j, categories)| Lookup::new(categories, x.schema().column(j)))
            .collect();
        let mut out = Matrix::zeros(x.nrows(), width);
        let refused = Mutex::new(None);
        let encode = |i: usize, out: &mut [f64]| {
            for (j, lookup) in lookups.iter().enumerate() {
                match self.position(j, lookup.find(x.values().at(i, j))) {
                    Ok(Some(k)) => out[starts[j] + k] = 1.0,
                    Ok(None) => {}
                    Err(()) => note_first(&refused, (j, i)),
                }
            }
        };
        match width {
            0 => (0..x.nrows()).for_each(|i| encode(i, &mut [])),
            _ => run.par_fill(out.as_mut_slice(), ROWS * width, |start, piece| {
                for (out, i) in piece.chunks_exact_mut(width).zip(start / width..) {
                    encode(i, out);
                }
            }),
        }
        run.checkpoint()?;
        match refused.into_inner().unwrap_or_default() {
            None => Table::new(out, self.output_schema(x.schema())?),
            Some((j, i)) => Err(match lookups[j].find(x.values().at(i, j)) {
                Found::Missing => missing_error(x, j),
                _ => unseen_error(x, j, &lookups[j]),
            }),
        }
    }

    /// The category of the largest column; a row of zeros is the dropped category, or missing.
    fn inverse_transform_in(&self, x: &Frame, _run: &Context) -> Result<Table> {
        let (starts, width) = self.starts();
        check_width(x, width)?;
        let mut out = Matrix::zeros(x.nrows(), self.columns.len());
        for (j, categories) in self.categories.iter().enumerate() {
            let dropped = self.dropped(j);
            for i in 0..x.nrows() {
                let mut best = (if dropped > 0 { 0.0 } else { f64::NAN }, 0.0);
                for k in dropped..self.total(j) {
                    let value = x.values().at(i, starts[j] + k - dropped);
                    if value > best.1 {
                        best = (k as f64, value);
                    }
                }
                out[(i, j)] = original_value(categories, &self.columns[j], best.0)?;
            }
        }
        Table::new(out, Schema::new(self.columns.clone())?)
    }
}

/// Rows that a thread encodes at a time.
const ROWS: usize = 4096;

/// Keeps the lowest column, and the lowest row in it.
fn note_first(kept: &Mutex<Option<(usize, usize)>>, new: (usize, usize)) {
    if let Ok(mut kept) = kept.lock() {
        *kept = Some(kept.map_or(new, |old| old.min(new)));
    }
}

fn missing_error(x: &Frame, j: usize) -> Error {
    let name = learnt_core::error::plain(&x.schema().column(j).name);
    let message = format!("column '{name}' has missing values (NaN), and training saw none in it");
    Error::new(Code::Missing, message)
        .column(name)
        .hint("impute first, or set handle_unknown to 'ignore'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weather() -> OwnedDataset {
        let column =
            Column::categorical("sky", vec!["sunny".into(), "rainy".into(), "unused".into()]);
        let values = Matrix::column_vector(vec![0.0, 1.0, 0.0]);
        let x = Table::new(values, Schema::new(vec![column]).unwrap()).unwrap();
        OwnedDataset { x, ..Default::default() }
    }

    #[test]
    fn columns_are_named_in_sorted_order_and_unused_levels_have_none() {
        let model = OneHotEncoder::default().fit(&weather().view()).unwrap();
        let table = model.transform(&weather().x.frame()).unwrap();
        assert_eq!(table.schema().names().collect::<Vec<_>>(), ["sky_rainy", "sky_sunny"]);
        assert_eq!(table.values().as_slice(), [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn an_unseen_level_is_an_error_or_all_zeros() {
        let mut new = weather();
        new.x.values_mut()[(0, 0)] = 2.0;
        let strict = OneHotEncoder::default().fit(&weather().view()).unwrap();
        assert_eq!(strict.transform(&new.x.frame()).unwrap_err().code(), Code::Category);
        let lenient = OneHotEncoder { handle_unknown: HandleUnknown::Ignore, ..Default::default() };
        let model = lenient.fit(&weather().view()).unwrap();
        assert_eq!(model.transform(&new.x.frame()).unwrap().values().row(0), [0.0, 0.0]);
    }

    #[test]
    fn dropping_the_first_keeps_the_way_back() {
        let learner = OneHotEncoder { drop: Drop::First, ..Default::default() };
        let model = learner.fit(&weather().view()).unwrap();
        let table = model.transform(&weather().x.frame()).unwrap();
        assert_eq!(table.values().ncols(), 1);
        let back = model.inverse_transform_in(&table.frame(), &Context::default()).unwrap();
        assert_eq!(back.values(), weather().x.values());
    }

    #[test]
    fn missing_values_seen_in_training_are_a_category() {
        let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![1.0, f64::NAN]));
        let model = OneHotEncoder::default().fit(&data.view()).unwrap();
        let table = model.transform(&data.x.frame()).unwrap();
        assert_eq!(table.values().as_slice(), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(table.schema().column(1).name, "x0_nan");
    }
}
