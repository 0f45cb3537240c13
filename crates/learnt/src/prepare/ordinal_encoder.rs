//! Ordinal encoding: each category becomes its position.
//!
//! Categories are the values seen in training, levels sorted (or in their own order if the column is
//! ordered), numbers rising. Missing stays missing unless `encoded_missing_value` is set. One pass.

use super::affine::check_width;
use super::categories::{Counts, Found, Lookup, TableCounts, unseen_error};
use learnt_core::persist::Node;
use learnt_core::prelude::*;

/// Encodes categories as integers: the position among the categories of their column.
///
/// ```
/// use learnt::{prepare::OrdinalEncoder, prelude::*};
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![30.0, 10.0, 20.0]));
/// let model = OrdinalEncoder::default().fit(&data.view())?;
/// assert_eq!(model.transform(&data.x.frame())?.values().as_slice(), [2.0, 0.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct OrdinalEncoder {
    /// What to do with a category that training did not see.
    #[param(default = OrdinalUnknown::Error)]
    pub handle_unknown: OrdinalUnknown,
    /// The code of unseen categories; none means missing.
    #[param(default = None)]
    pub unknown_value: Option<f64>,
    /// The code of missing values; none leaves them missing.
    #[param(default = None)]
    pub encoded_missing_value: Option<f64>,
}

/// What to do with a category that training did not see.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum OrdinalUnknown {
    /// Refuse, and list the values.
    Error,
    /// Use `unknown_value`.
    UseEncodedValue,
}

/// A fitted [`OrdinalEncoder`].
#[derive(Model, Clone, Debug)]
#[model(transformer, attributes = shown)]
pub struct OrdinalEncoderModel {
    /// The categories of each column.
    #[shape(columns)]
    pub categories: Vec<Counts>,
    #[shape(columns)]
    columns: Vec<Column>,
    refuse_unseen: bool,
    unseen_code: f64,
    missing_code: f64,
}

impl OrdinalEncoder {
    fn constraints(&self) -> Result<()> {
        match (self.handle_unknown, self.unknown_value) {
            (OrdinalUnknown::Error, Some(value)) => Err(Error::parameter(
                "unknown_value",
                "none, unless handle_unknown is 'use_encoded_value'",
                value,
            )),
            _ => Ok(()),
        }
    }
}

impl Estimator for OrdinalEncoder {
    type Model = OrdinalEncoderModel;
    type Fit = Pass<TableCounts>;
    const ABOUT: &'static About = &About::transformer("preprocessing.OrdinalEncoder")
        .alias(&["ordinal"])
        .missing()
        .categories()
        .inverse_transform()
        .streaming()
        .complexity(5)
        .cost("n p time, memory for the distinct values");
}

impl OnePass<TableCounts> for OrdinalEncoder {
    fn finish(&self, all: TableCounts, outline: &Outline) -> Result<OrdinalEncoderModel> {
        Ok(OrdinalEncoderModel {
            categories: seen_categories(outline.schema, &all),
            columns: outline.schema.columns().to_vec(),
            refuse_unseen: self.handle_unknown == OrdinalUnknown::Error,
            unseen_code: self.unknown_value.unwrap_or(f64::NAN),
            missing_code: self.encoded_missing_value.unwrap_or(f64::NAN),
        })
    }
}

/// The categories of each column that training saw.
pub(super) fn seen_categories(schema: &Schema, all: &TableCounts) -> Vec<Counts> {
    let ordered =
        |j: usize| matches!(schema.column(j).kind, ColumnKind::Categorical { ordered: true, .. });
    all.columns.iter().enumerate().map(|(j, counts)| counts.seen(ordered(j))).collect()
}

/// The categories as users see them: an array of names or numbers a column, missing last.
pub(super) fn shown_categories(categories: &[Counts]) -> Node {
    let column = |counts: &Counts| {
        let mut texts: Vec<String> = counts.levels.to_vec();
        let mut numbers = counts.numbers.clone();
        if counts.missing > 0.0 {
            if texts.is_empty() { numbers.push(f64::NAN) } else { texts.push("nan".to_string()) }
        }
        if texts.is_empty() { numbers.to_node() } else { texts.to_node() }
    };
    Node::List(categories.iter().map(column).collect())
}

impl OrdinalEncoderModel {
    fn shown(&self) -> Vec<(&'static str, Node)> {
        vec![("categories", shown_categories(&self.categories))]
    }
}

impl Transformer for OrdinalEncoderModel {
    fn transform_in(&self, x: &Frame, _run: &Context) -> Result<Table> {
        check_width(x, self.categories.len())?;
        let mut out = Matrix::zeros(x.nrows(), x.ncols());
        for (j, categories) in self.categories.iter().enumerate() {
            let lookup = Lookup::new(categories, x.schema().column(j));
            for i in 0..x.nrows() {
                out[(i, j)] = match lookup.find(x.values().at(i, j)) {
                    Found::Category(k) => k as f64,
                    Found::Missing => self.missing_code,
                    Found::Unseen if self.refuse_unseen => return Err(unseen_error(x, j, &lookup)),
                    Found::Unseen => self.unseen_code,
                };
            }
        }
        Table::new(out, Schema::numeric(x.schema().names())?)
    }

    fn inverse_transform_in(&self, x: &Frame, _run: &Context) -> Result<Table> {
        check_width(x, self.categories.len())?;
        let mut out = Matrix::zeros(x.nrows(), x.ncols());
        for (j, categories) in self.categories.iter().enumerate() {
            for i in 0..x.nrows() {
                out[(i, j)] = original_value(categories, &self.columns[j], x.values().at(i, j))?;
            }
        }
        Table::new(out, Schema::new(self.columns.clone())?)
    }
}

/// The value in the original column that stands for a position among the categories.
pub(super) fn original_value(categories: &Counts, column: &Column, position: f64) -> Result<f64> {
    if position.is_nan() || position < 0.0 || position as usize >= categories.len() {
        return Ok(f64::NAN);
    }
    let k = position as usize;
    match column.levels() {
        None => Ok(categories.numbers.get(k).copied().unwrap_or(f64::NAN)),
        Some(levels) => Ok(levels
            .iter()
            .position(|level| *level == categories.name(k))
            .map_or(f64::NAN, |code| code as f64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours() -> OwnedDataset {
        let column =
            Column::categorical("colour", vec!["red".into(), "blue".into(), "green".into()]);
        let values = Matrix::column_vector(vec![0.0, 1.0, 0.0, f64::NAN]);
        let x = Table::new(values, Schema::new(vec![column]).unwrap()).unwrap();
        OwnedDataset { x, ..Default::default() }
    }

    #[test]
    fn levels_are_sorted_and_the_way_back_is_the_identity() {
        let data = colours();
        let model = OrdinalEncoder::default().fit(&data.view()).unwrap();
        let coded = model.transform(&data.x.frame()).unwrap();
        assert_eq!(&coded.values().as_slice()[..3], [1.0, 0.0, 1.0]);
        assert!(coded.values()[(3, 0)].is_nan());
        let run = Context::default();
        let back = model.inverse_transform_in(&coded.frame(), &run).unwrap();
        assert_eq!(&back.values().as_slice()[..3], [0.0, 1.0, 0.0]);
    }

    #[test]
    fn an_unseen_level_is_named_or_gets_its_code() {
        let mut new = colours();
        new.x.values_mut()[(0, 0)] = 2.0;
        let strict = OrdinalEncoder::default().fit(&colours().view()).unwrap();
        let error = strict.transform(&new.x.frame()).unwrap_err();
        assert!(error.message().contains("'green' (1)"), "{error}");
        let lenient = OrdinalEncoder {
            handle_unknown: OrdinalUnknown::UseEncodedValue,
            unknown_value: Some(-1.0),
            ..Default::default()
        };
        let model = lenient.fit(&colours().view()).unwrap();
        assert_eq!(model.transform(&new.x.frame()).unwrap().values()[(0, 0)], -1.0);
    }
}
