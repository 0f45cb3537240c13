//! Cross-validated error by size, with the selection repeated inside every fold.

use super::reduced::{Reduced, Sums};
use super::table::{Fitted, first_minimum};
use crate::select::{Split, usual_splitter};
use learnt_core::prelude::*;
use learnt_core::stats::summary;

/// The sums of each fold: training sums are merged from them, and they give the errors too, so the
/// rows are read once.
pub(super) struct Folds {
    names: Vec<String>,
    intercept: bool,
    parts: Vec<Sums>,
}

impl Folds {
    pub(super) fn new(
        data: &Dataset,
        n_splits: usize,
        intercept: bool,
        run: &Context,
    ) -> Result<Folds> {
        let bytes = 24 * (data.nrows() as u64).saturating_mul(data.x.ncols() as u64 + 1);
        run.claim(bytes, "the rows of the folds")?;
        let splits: Vec<Split> = usual_splitter(data, n_splits).splits(data, run)?.collect();
        let part = |k: usize| Sums::of(&data.gather(&splits[k].test).view());
        let names = data.x.schema().names().map(str::to_string).collect();
        Ok(Folds { names, intercept, parts: run.try_par_map(splits.len(), part)? })
    }

    /// All rows, without those of one fold.
    pub(super) fn reduced(&self, without: Option<usize>) -> Result<Reduced> {
        let mut kept = (0..self.parts.len()).filter(|&k| Some(k) != without);
        let first = kept.next().map(|k| self.parts[k].clone());
        let merged = kept.try_fold(first, |sum, k| match sum {
            Some(sum) => sum.merge(self.parts[k].clone()).map(Some),
            None => Ok(None),
        })?;
        let sums = merged.ok_or_else(|| Error::new(Code::TooFew, "no rows to train on"))?;
        Reduced::new(&self.names, sums, self.intercept)
    }

    /// The errors of the sets, by size from none, that `select` makes of the training rows.
    pub(super) fn errors(
        &self,
        run: &Context,
        select: impl Fn(&Reduced, &Context) -> Result<Vec<Vec<usize>>> + Sync,
    ) -> Result<FoldErrors> {
        let errors = run.try_par_map(self.parts.len(), |k| {
            let reduced = self.reduced(Some(k))?;
            let sets = select(&reduced, &run.child(k as u64))?;
            let error = |set: &Vec<usize>| {
                let fitted = Fitted::new(&reduced, set);
                self.parts[k].error(&fitted.coef, fitted.intercept)
            };
            Ok(sets.iter().map(error).collect::<Vec<f64>>())
        })?;
        let sizes = errors.iter().map(Vec::len).min().unwrap_or(0);
        let of = |size: usize| errors.iter().map(|fold| fold[size]).collect::<Vec<f64>>();
        let count = (errors.len() as f64).sqrt();
        let spread = |size: usize| summary::sd(&of(size), None, 1.0).map_or(0.0, |sd| sd / count);
        Ok(FoldErrors {
            mean: (0..sizes).map(|size| summary::mean(&of(size), None).unwrap_or(0.0)).collect(),
            standard_error: (0..sizes).map(spread).collect(),
        })
    }
}

/// Mean squared error of prediction by size, with its standard error over the folds.
#[derive(Clone, Debug)]
pub(super) struct FoldErrors {
    pub(super) mean: Vec<f64>,
    pub(super) standard_error: Vec<f64>,
}

impl FoldErrors {
    /// The size of the smallest error, or the smallest size within one standard error of it.
    pub(super) fn size(&self, one_standard_error: bool) -> usize {
        let best = first_minimum(&self.mean);
        let Some(least) = self.mean.get(best) else { return 0 };
        let bound = least + if one_standard_error { self.standard_error[best] } else { 0.0 };
        self.mean.iter().position(|&error| error <= bound).unwrap_or(best)
    }
}
