//! One-hot encoding: a column of 0 and 1 for each category.
//!
//! Categories are the values seen in training, levels sorted (or in their own order if the column is
//! ordered), numbers rising; missing values, if training saw any, are a category of their own, the
//! last. With `drop` the first category has no column, which keeps a linear model with an intercept
//! of full rank. An unseen category is an error, or all zeros. One pass.
//!
//! Rare categories may share one column, the last of theirs: those seen in fewer rows than `min_frequency`, and
//! all but the `max_categories` - 1 commonest where there would be more columns than that, of equals the last.

use super::affine::check_width;
use super::categories::{Counts, Found, Lookup, TableCounts, unseen_error};
use super::ordinal_encoder::{original_value, seen_categories, shown_categories};
use learnt_core::error::plain;
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
    /// Categories in fewer rows than this share one column: a share below 1, a number of rows from 1.
    #[param(default = None, range = 0.0..)]
    pub min_frequency: Option<f64>,
    /// The most columns that a column may become, that of rare categories among them.
    #[param(default = None, range = 1..)]
    pub max_categories: Option<usize>,
    /// How a new column is called.
    #[param(default = Combiner::Concat)]
    pub feature_name_combiner: Combiner,
}

/// How a new column is called.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq)]
pub enum Combiner {
    /// Column and category with `_` between: `Contract_Two year`.
    #[default]
    Concat,
    /// With a colon, as people read it: `Contract: Two year`.
    Colon,
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
    /// The column of rare categories if there is one, else all zeros.
    InfrequentIfExist,
}

/// A fitted [`OneHotEncoder`].
#[derive(Model, Clone, Debug)]
#[model(transformer, attributes = shown, remarks = remarks, validate = validate)]
pub struct OneHotEncoderModel {
    /// The categories of each column.
    #[shape(columns)]
    pub categories: Vec<Counts>,
    #[shape(columns)]
    columns: Vec<Column>,
    drop: Drop,
    handle_unknown: HandleUnknown,
    /// For each column the rare categories, rising; empty without any.
    #[model(later)]
    pooled: Vec<Vec<usize>>,
    #[model(later)]
    combiner: Combiner,
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
        let categories = seen_categories(outline.schema, &all);
        let pooled: Vec<Vec<usize>> = categories.iter().map(|counts| self.rare(counts)).collect();
        let none = pooled.iter().all(Vec::is_empty);
        Ok(OneHotEncoderModel {
            categories,
            pooled: if none { Vec::new() } else { pooled },
            combiner: self.feature_name_combiner,
            columns: outline.schema.columns().to_vec(),
            drop: self.drop,
            handle_unknown: self.handle_unknown,
        })
    }
}

impl OneHotEncoder {
    /// The categories that share a column, missing as one of them, by the rules of scikit-learn.
    fn rare(&self, counts: &Counts) -> Vec<usize> {
        let mut counted = counts.counts.clone();
        counted.extend(Some(counts.missing).filter(|missing| *missing > 0.0));
        let total: f64 = counted.iter().sum();
        let least = match self.min_frequency {
            Some(share) if share < 1.0 => share * total,
            Some(rows) => rows,
            None => 0.0,
        };
        let mut rare: Vec<bool> = counted.iter().map(|&count| count < least).collect();
        let common = rare.iter().filter(|rare| !**rare).count();
        if let Some(most) = self.max_categories.filter(|&most| most < common + 1) {
            let mut order: Vec<usize> = (0..counted.len()).collect();
            order.sort_by(|&a, &b| counted[a].total_cmp(&counted[b]));
            order.truncate(counted.len().saturating_sub(most - 1));
            order.into_iter().for_each(|k| rare[k] = true);
        }
        (0..rare.len()).filter(|&k| rare[k]).collect()
    }
}

/// Where the categories of a column go among its own new columns.
struct Slots {
    /// The slot of each category; the dropped one is slot 0 if there is one.
    of: Vec<usize>,
    /// All slots, with that of rare categories, which is the last.
    count: usize,
    /// Whether rare categories have one.
    shared: bool,
    /// How many leading slots have no column.
    dropped: usize,
}

impl Slots {
    fn width(&self) -> usize {
        self.count - self.dropped
    }
}

impl OneHotEncoderModel {
    fn validate(&self) -> Result<()> {
        let rising = |list: &Vec<usize>| list.windows(2).all(|pair| pair[0] < pair[1]);
        let inside =
            |(j, list): (usize, &Vec<usize>)| list.last().is_none_or(|&k| k < self.total(j));
        let whole = self.pooled.is_empty() || self.pooled.len() == self.categories.len();
        let sound =
            whole && self.pooled.iter().all(rising) && self.pooled.iter().enumerate().all(inside);
        match sound {
            true => Ok(()),
            false => Err(learnt_core::persist::invalid("rare categories that are none")),
        }
    }

    fn slots(&self, j: usize) -> Slots {
        let pooled = self.pooled.get(j).map_or(&[][..], Vec::as_slice);
        let total = self.total(j);
        let common = total - pooled.len();
        let mut next = 0;
        let slot = |k: usize| match pooled.binary_search(&k) {
            Ok(_) => common,
            Err(_) => {
                next += 1;
                next - 1
            }
        };
        let of: Vec<usize> = (0..total).map(slot).collect();
        let shared = !pooled.is_empty();
        let count = common + usize::from(shared);
        let dropped = match self.drop {
            Drop::Nothing => 0,
            Drop::First => 1.min(count),
            Drop::IfBinary => usize::from(count == 2),
        };
        Slots { of, count, shared, dropped }
    }

    /// What the slots of a column are called.
    fn slot_names(&self, j: usize, slots: &Slots) -> Vec<String> {
        let categories = &self.categories[j];
        let mut names = vec![String::new(); slots.count];
        for (k, &slot) in slots.of.iter().enumerate() {
            names[slot] = match (k < categories.len(), self.combiner) {
                (true, _) => categories.name(k),
                (false, Combiner::Concat) => "nan".to_string(),
                (false, Combiner::Colon) => "(missing)".to_string(),
            };
        }
        if let Some(last) = names.last_mut().filter(|_| slots.shared) {
            *last = match self.combiner {
                Combiner::Concat => "infrequent_sklearn".to_string(),
                Combiner::Colon => "(other)".to_string(),
            };
        }
        names
    }

    /// The categories without a column, and how many share one.
    fn remarks(&self, schema: &Schema) -> Vec<String> {
        let (mut references, mut rare) = (Vec::new(), Vec::new());
        for j in 0..self.categories.len().min(schema.len()) {
            let (slots, name) = (self.slots(j), plain(&schema.column(j).name));
            if slots.dropped > 0 && slots.count > 0 {
                references.push(format!("{name} = {}", plain(&self.slot_names(j, &slots)[0])));
            }
            if slots.shared {
                let count = slots.of.len() + 1 - slots.count;
                rare.push(format!("{count} of {} levels of {name}", slots.of.len()));
            }
        }
        let mut out = Vec::new();
        if !references.is_empty() {
            out.push(format!("reference levels: {}", references.join(", ")));
        }
        if !rare.is_empty() {
            out.push(format!("(other) pools the rarest: {}", rare.join(", ")));
        }
        out
    }

    fn shown(&self) -> Vec<(&'static str, Node)> {
        vec![("categories", shown_categories(&self.categories))]
    }

    /// Number of categories of a column, missing included.
    fn total(&self, j: usize) -> usize {
        self.categories[j].len() + usize::from(self.categories[j].missing > 0.0)
    }

    /// The place of a value among the new columns of column j, none for those without; an error if it must
    /// not be there.
    fn position(
        &self,
        j: usize,
        slots: &Slots,
        found: Found,
    ) -> std::result::Result<Option<usize>, ()> {
        let categories = &self.categories[j];
        let slot = match (found, self.handle_unknown) {
            (Found::Category(k), _) => slots.of[k],
            (Found::Missing, _) if categories.missing > 0.0 => slots.of[categories.len()],
            (_, HandleUnknown::InfrequentIfExist) if slots.shared => slots.count - 1,
            (_, HandleUnknown::Ignore | HandleUnknown::InfrequentIfExist) => return Ok(None),
            (_, HandleUnknown::Error) => return Err(()),
        };
        Ok(slot.checked_sub(slots.dropped))
    }

    /// The slots of every column, the first new column of each, and how many there are.
    fn layout(&self) -> (Vec<Slots>, Vec<usize>, usize) {
        let slots: Vec<Slots> = (0..self.categories.len()).map(|j| self.slots(j)).collect();
        let mut total = 0;
        let start = |slots: &Slots| {
            total += slots.width();
            total - slots.width()
        };
        let starts = slots.iter().map(start).collect();
        (slots, starts, total)
    }

    fn output_schema(&self, x: &Schema, slots: &[Slots]) -> Result<Schema> {
        let between = match self.combiner {
            Combiner::Concat => "_",
            Combiner::Colon => ": ",
        };
        let names = slots.iter().enumerate().flat_map(|(j, slots)| {
            let name = &x.column(j).name;
            let own = self.slot_names(j, slots).into_iter().skip(slots.dropped);
            own.map(move |category| format!("{name}{between}{category}"))
        });
        Schema::numeric(names)
    }
}

impl Transformer for OneHotEncoderModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.categories.len())?;
        let (slots, starts, width) = self.layout();
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
                match self.position(j, &slots[j], lookup.find(x.values().at(i, j))) {
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
            None => Table::new(out, self.output_schema(x.schema(), &slots)?),
            Some((j, i)) => Err(match lookups[j].find(x.values().at(i, j)) {
                Found::Missing => missing_error(x, j),
                _ => unseen_error(x, j, &lookups[j]),
            }),
        }
    }

    /// The category of the largest column; a row of zeros is the dropped category, or missing.
    fn inverse_transform_in(&self, x: &Frame, _run: &Context) -> Result<Table> {
        let (slots, starts, width) = self.layout();
        check_width(x, width)?;
        let mut out = Matrix::zeros(x.nrows(), self.columns.len());
        for (j, categories) in self.categories.iter().enumerate() {
            let slots = &slots[j];
            // Rare categories cannot be told apart any more: they come back as missing.
            let category = |slot: usize| match slots.shared && slot + 1 == slots.count {
                true => f64::NAN,
                false => slots.of.iter().position(|&s| s == slot).map_or(f64::NAN, |k| k as f64),
            };
            for i in 0..x.nrows() {
                let mut best = (if slots.dropped > 0 { category(0) } else { f64::NAN }, 0.0);
                for slot in slots.dropped..slots.count {
                    let value = x.values().at(i, starts[j] + slot - slots.dropped);
                    if value > best.1 {
                        best = (category(slot), value);
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

    fn letters(text: &str) -> OwnedDataset {
        let levels: Vec<String> = ["a", "b", "c", "d"].map(String::from).to_vec();
        let column = Column::categorical("letter", levels);
        let code = |c: char| f64::from(c as u32 - 'a' as u32);
        let values = Matrix::column_vector(text.chars().map(code).collect());
        let x = Table::new(values, Schema::new(vec![column]).unwrap()).unwrap();
        OwnedDataset { x, ..Default::default() }
    }

    /// Columns and rows of scikit-learn 1.9.1.
    #[test]
    fn rare_categories_share_the_last_column() {
        let data = letters("aaabbbbcd");
        let rare = OneHotEncoder { min_frequency: Some(2.0), ..Default::default() };
        let table = rare.fit(&data.view()).unwrap().transform(&data.x.frame()).unwrap();
        let names: Vec<&str> = table.schema().names().collect();
        assert_eq!(names, ["letter_a", "letter_b", "letter_infrequent_sklearn"]);
        assert_eq!(table.values().row(7), [0.0, 0.0, 1.0]);
        assert_eq!(table.values().row(0), [1.0, 0.0, 0.0]);
        let bound = OneHotEncoder {
            max_categories: Some(2),
            drop: Drop::First,
            feature_name_combiner: Combiner::Colon,
            handle_unknown: HandleUnknown::InfrequentIfExist,
            ..Default::default()
        };
        let model = bound.fit(&letters("aaabbbbc").view()).unwrap();
        let table = model.transform(&data.x.frame()).unwrap();
        assert_eq!(table.schema().names().collect::<Vec<_>>(), ["letter: (other)"]);
        assert_eq!(table.values().as_slice(), [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
        let said = model.remarks(data.x.schema());
        let wanted =
            ["reference levels: letter = b", "(other) pools the rarest: 2 of 3 levels of letter"];
        assert_eq!(said, wanted);
        let back = OneHotEncoderModel::from_node(&model.to_node()).unwrap();
        assert_eq!(back.to_node(), model.to_node());
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
