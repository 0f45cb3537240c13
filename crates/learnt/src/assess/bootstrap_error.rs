//! Bootstrap estimates of the error of a learner, with the share of wrong classes or the mean squared
//! error as loss.
//!
//! From B resamples of the n rows, drawn with replacement or given:
//! - naive: the mean loss of each fit over all rows, those it was trained on among them: far too low;
//! - leave-one-out: for each row the mean over the fits that did not see it, averaged over rows; rows that
//!   every resample drew are left out;
//! - .632: 0.368 · training error + 0.632 · leave-one-out;
//! - .632+: with the no-information error γ, the mean loss over all pairs of predictions and targets, and
//!   the relative rate of overfitting R = (loo' - training) / (γ - training), loo' = min(loo, γ), R = 0
//!   where that is negative: weight w = 0.632 / (1 - 0.368 R) in place of 0.632.
//!
//! Weights of rows count in every mean.
//!
//! Reference: Efron and Tibshirani (1997), Improvements on cross-validation: the .632+ bootstrap method.

use super::Examples;
use super::examples::{loss, said_after};
use crate::Learner;
use crate::select::{Bootstrap, bootstrap};
use learnt_core::prelude::*;

/// Error of a learner by the bootstrap: naive, leave-one-out, .632 and .632+ estimates.
#[derive(Params, Clone, Debug)]
pub struct BootstrapError {
    /// The learner.
    #[param(positional, required, learner = any)]
    pub estimator: Learner,
    /// Number of resamples.
    #[param(default = 50, range = 1..)]
    pub n_resamples: usize,
}

/// Rows, their targets, and the resamples where they are not to be drawn.
#[derive(Inputs, Clone, Copy)]
pub struct ResampledExamples<'a> {
    /// The inputs.
    #[input(name = "X", missing)]
    pub x: Frame<'a>,
    /// The target: classes for a classifier, numbers for a regressor.
    pub y: Classes<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
    /// Numbers of the rows of each resample from 0, one resample a row; drawn by default.
    #[input(apart)]
    pub resamples: Option<MatRef<'a>>,
}

/// The estimates.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct BootstrapErrors {
    /// Error on the rows that the learner was trained on.
    pub training: f64,
    /// Mean error of the resampled fits over all rows.
    pub naive: f64,
    /// Mean error over fits that did not see the row.
    pub leave_one_out: f64,
    /// 0.368 · training + 0.632 · leave-one-out.
    pub err_632: f64,
    /// The same with a weight that follows the overfitting.
    pub err_632_plus: f64,
    /// Error if inputs said nothing about the target.
    pub no_information: f64,
    /// Relative rate of overfitting, from 0 to 1.
    pub overfitting: f64,
    /// Rows that every resample drew, which the leave-one-out estimate leaves out.
    pub rows_without: u64,
}

impl Function for BootstrapError {
    type Inputs<'a> = ResampledExamples<'a>;
    type Output = BootstrapErrors;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.bootstrap_error", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Efron and Tibshirani (1997)");

    fn call(&self, given: ResampledExamples, run: &Context) -> Result<BootstrapErrors> {
        let ResampledExamples { x, y, sample_weight, resamples } = given;
        let given = Examples { x, y, sample_weight };
        let target = given.target(&self.estimator)?;
        let data = given.data(&target);
        let n = data.nrows();
        let listed = resamples.map(|table| listed(table, n)).transpose()?;
        let count = listed.as_ref().map_or(self.n_resamples, Vec::len);
        let y = data.y.ok_or_else(|| Error::internal("rows without a target"))?;
        run.claim(16 * (n as u64).saturating_mul(count as u64), "the losses of the resamples")?;

        let every: Vec<usize> = (0..n).collect();
        let whole = said_after(&self.estimator, &data, &every, run)?;
        let weight = |i: usize| data.weight(i);
        let total: f64 = every.iter().map(|&i| weight(i)).sum();
        let mean =
            |f: &dyn Fn(usize) -> f64| every.iter().map(|&i| weight(i) * f(i)).sum::<f64>() / total;
        let training = mean(&|i| loss(y, i, whole[i]));

        let resamples = run.try_par_map(count, |b| {
            let run = run.child(b as u64).with_threads(1);
            let drawn = match &listed {
                Some(listed) => listed[b].clone(),
                None => bootstrap(n, n, &mut run.rng(0)),
            };
            let said = said_after(&self.estimator, &data, &drawn.rows, &run)?;
            let losses: Vec<f64> = (0..n).map(|i| loss(y, i, said[i])).collect();
            Ok((losses, drawn.out_of_bag))
        })?;
        let mut unseen = vec![(0.0, 0.0); n];
        let mut naive = 0.0;
        for (losses, left_out) in &resamples {
            naive += mean(&|i| losses[i]) / count as f64;
            for &i in left_out {
                unseen[i] = (unseen[i].0 + losses[i], unseen[i].1 + 1.0);
            }
        }
        let seen = |i: &&usize| unseen[**i].1 > 0.0;
        let counted: f64 = every.iter().filter(seen).map(|&i| weight(i)).sum();
        let sum: f64 =
            every.iter().filter(seen).map(|&i| weight(i) * unseen[i].0 / unseen[i].1).sum();
        if counted == 0.0 {
            return Err(Error::new(Code::TooFew, "every resample drew every row")
                .hint("give more rows, or more resamples with n_resamples"));
        }
        let no_information = no_information(y, &whole, &data);
        let rows_without = unseen.iter().filter(|(_, count)| *count == 0.0).count() as u64;
        Ok(BootstrapErrors::new(training, naive, sum / counted, no_information, rows_without))
    }
}

impl BootstrapErrors {
    fn new(training: f64, naive: f64, leave_one_out: f64, gamma: f64, rows_without: u64) -> Self {
        let capped = leave_one_out.min(gamma);
        let overfitting = match capped > training && gamma > training {
            true => (capped - training) / (gamma - training),
            false => 0.0,
        };
        let weight = 0.632 / (1.0 - 0.368 * overfitting);
        BootstrapErrors {
            training,
            naive,
            leave_one_out,
            err_632: 0.368 * training + 0.632 * leave_one_out,
            err_632_plus: (1.0 - weight) * training + weight * capped,
            no_information: gamma,
            overfitting,
            rows_without,
        }
    }
}

/// Resamples from their row numbers.
fn listed(table: MatRef, n: usize) -> Result<Vec<Bootstrap>> {
    let number = |row: f64| match row >= 0.0 && row < n as f64 && row.fract() == 0.0 {
        true => Ok(row as usize),
        false => {
            let expected = format!("whole row numbers from 0 to {}", n - 1);
            Err(Error::parameter("resamples", expected, row))
        }
    };
    let resample = |b: usize| {
        let rows: Result<Vec<usize>> = (0..table.ncols()).map(|j| number(table.at(b, j))).collect();
        Ok(Bootstrap::of(rows?, n))
    };
    match table.nrows() {
        0 => Err(Error::parameter("resamples", "at least one resample", "none")),
        count => (0..count).map(resample).collect(),
    }
}

/// The mean loss over all pairs of a prediction and a target.
fn no_information(y: Target, said: &[f64], data: &Dataset) -> f64 {
    let total: f64 = (0..said.len()).map(|i| data.weight(i)).sum();
    match y {
        Target::Class { codes, classes } => {
            let mut shares = vec![(0.0, 0.0); classes.len()];
            for (i, &said) in said.iter().enumerate() {
                shares[codes[i] as usize].0 += data.weight(i) / total;
                shares[said as usize].1 += data.weight(i) / total;
            }
            shares.iter().map(|(truth, said)| said * (1.0 - truth)).sum()
        }
        Target::Real(values) => {
            // mean (y - f)² over all pairs = var y + var f + (mean y - mean f)².
            let moments = |value: &dyn Fn(usize) -> f64| {
                let mean = (0..said.len()).map(|i| data.weight(i) * value(i)).sum::<f64>() / total;
                let square = |i: usize| data.weight(i) * (value(i) - mean).powi(2);
                (mean, (0..said.len()).map(square).sum::<f64>() / total)
            };
            let (truth, of_truth) = moments(&|i| values.at(i, 0));
            let (mean, of_said) = moments(&|i| said[i]);
            of_truth + of_said + (truth - mean).powi(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::KNeighborsClassifier;
    use learnt_core::stats::sample;

    /// One neighbour where labels have nothing to do with inputs: the truth is 0.5.
    fn noise(seed: u64) -> BootstrapErrors {
        let mut rng = Context::default().with_seed(seed).rng(0);
        let x = Matrix::from_fn(50, 1, |_, _| sample::standard_normal(&mut rng));
        let codes: Vec<u32> = (0..50).map(|i| i % 2).collect();
        let classes = [Label::Int(0), Label::Int(1)];
        let table = Table::unnamed(x);
        let function = BootstrapError {
            estimator: KNeighborsClassifier { n_neighbors: 1, ..Default::default() }.into(),
            n_resamples: 50,
        };
        let y = Classes { codes: &codes, classes: &classes };
        let given = ResampledExamples { x: table.frame(), y, sample_weight: None, resamples: None };
        function.compute_in(given, &Context::default().with_seed(seed)).unwrap()
    }

    #[test]
    fn only_fits_that_did_not_see_the_row_tell_the_truth() {
        let runs: Vec<BootstrapErrors> = (0..10).map(noise).collect();
        let mean = |f: fn(&BootstrapErrors) -> f64| runs.iter().map(f).sum::<f64>() / 10.0;
        assert_eq!(mean(|e| e.training), 0.0);
        assert!((mean(|e| e.naive) - 0.19).abs() < 0.03, "{}", mean(|e| e.naive));
        assert!((mean(|e| e.leave_one_out) - 0.52).abs() < 0.05, "{}", mean(|e| e.leave_one_out));
        assert!((mean(|e| e.err_632) - 0.331).abs() < 0.04);
        assert!((mean(|e| e.err_632_plus) - 0.5).abs() < 0.05, "{}", mean(|e| e.err_632_plus));
    }
}
