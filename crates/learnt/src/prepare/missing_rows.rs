//! Rows with missing values: dropping them, and filling them by class.
//!
//! The mode of a class is its most frequent value, the first of equals. It can be used in training
//! only, because new rows have no class: those get the mode over all rows.

use super::categories::TableCounts;
use learnt_core::prelude::*;

/// What is left after rows with missing values are dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct CompleteRows {
    /// The rows without missing values.
    pub data: OwnedDataset,
    /// Which rows those are.
    pub kept: Vec<usize>,
    /// Which rows were dropped.
    pub dropped: Vec<usize>,
}

/// Drops rows with a missing value in any of the columns, or in any column at all.
pub fn drop_missing_rows(data: &Dataset, columns: Option<&[usize]>) -> Result<CompleteRows> {
    let all: Vec<usize> = (0..data.x.ncols()).collect();
    let columns = columns.unwrap_or(&all);
    if let Some(&j) = columns.iter().find(|&&j| j >= data.x.ncols()) {
        return Err(Error::shape("columns", format!("numbers below {}", data.x.ncols()), j));
    }
    let complete = |i: &usize| columns.iter().all(|&j| !data.x.values().at(*i, j).is_nan());
    let (kept, dropped): (Vec<usize>, Vec<usize>) = (0..data.nrows()).partition(complete);
    Ok(CompleteRows { data: data.gather(&kept), kept, dropped })
}

/// The most frequent value of each column, for each class and over all.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassModes {
    /// One row a class; NaN where a class has no value.
    pub by_class: Matrix,
    /// Over all rows; NaN for an empty column.
    pub overall: Vec<f64>,
}

impl ClassModes {
    /// Counts the values of each class.
    pub fn of(data: &Dataset) -> Result<ClassModes> {
        let (codes, classes) = data.class_target()?;
        let mut by_class = Matrix::zeros(classes.len(), data.x.ncols());
        for k in 0..classes.len() {
            let rows: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] as usize == k).collect();
            by_class.row_mut(k).copy_from_slice(&modes(&data.gather(&rows).view()));
        }
        Ok(ClassModes { by_class, overall: modes(data) })
    }

    /// Fills missing values with the mode of the row's class, or with the mode over all rows where
    /// the class is unknown or has none.
    pub fn fill(&self, x: &Frame, codes: Option<&[u32]>) -> Result<Table> {
        super::affine::check_width(x, self.overall.len())?;
        if let Some(codes) = codes
            && codes.len() != x.nrows()
        {
            return Err(Error::shape("codes", format!("{} rows", x.nrows()), codes.len()));
        }
        let mut table = x.to_table();
        for i in 0..x.nrows() {
            let class = codes.map(|codes| codes[i] as usize).filter(|&k| k < self.by_class.nrows());
            for (j, value) in table.values_mut().row_mut(i).iter_mut().enumerate() {
                if value.is_nan() {
                    let own = class.map_or(f64::NAN, |k| self.by_class[(k, j)]);
                    *value = if own.is_nan() { self.overall[j] } else { own };
                }
            }
        }
        Ok(table)
    }
}

/// The most frequent value of each column.
fn modes(data: &Dataset) -> Vec<f64> {
    let mode = |counts: &super::categories::Counts| match counts.mode() {
        None => f64::NAN,
        Some(k) => counts.numbers.get(k).copied().unwrap_or(k as f64),
    };
    TableCounts::of(data).columns.iter().map(mode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_rows_are_reported() {
        let x = Matrix::from_rows(&[[1.0, f64::NAN], [2.0, 3.0], [f64::NAN, 4.0]]).unwrap();
        let data = OwnedDataset::unsupervised(x);
        let rest = drop_missing_rows(&data.view(), None).unwrap();
        assert_eq!((rest.kept, rest.dropped), (vec![1], vec![0, 2]));
        let first = drop_missing_rows(&data.view(), Some(&[0])).unwrap();
        assert_eq!(first.kept, [0, 1]);
        assert!(drop_missing_rows(&data.view(), Some(&[2])).is_err());
    }

    #[test]
    fn new_rows_fall_back_to_the_overall_mode() {
        let x = Matrix::column_vector(vec![7.0, 7.0, 8.0, f64::NAN, 7.0]);
        let labels = ["a", "a", "b", "b", "a"].map(Label::from);
        let data = OwnedDataset::classification(x, &labels);
        let modes = ClassModes::of(&data.view()).unwrap();
        let frame = data.x.frame();
        let trained = modes.fill(&frame, Some(&[0, 0, 1, 1, 0])).unwrap();
        assert_eq!(trained.values()[(3, 0)], 8.0);
        assert_eq!(modes.fill(&frame, None).unwrap().values()[(3, 0)], 7.0);
    }
}
