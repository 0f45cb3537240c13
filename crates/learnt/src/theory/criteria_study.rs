//! How often criteria find the true size of a model.
//!
//! Each run draws N rows of independent standard normal inputs; the first few have a coefficient of 0.8,
//! the noise has unit variance. The candidates are the nested models of the first 0, 1, ... inputs. With
//! the inputs orthogonalised one after the other (Gram-Schmidt, twice), residual sums and leverages of
//! all sizes come from one pass. AIC and BIC (with the noise variance of the largest model) and
//! leave-one-out cross-validation each choose a size.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), section 7.7; Shao (1997).

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::linalg::{add_scaled, dot};
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Share of data sets for which AIC, BIC and cross-validation choose the true inputs.
#[derive(Params, Clone, Debug)]
#[params(constraints = sizes_fit)]
pub struct CriteriaStudy {
    /// Numbers of rows.
    #[param(default = vec![100, 400], range = 3..)]
    pub rows: Vec<u64>,
    /// Inputs that matter.
    #[param(default = 3, range = 0..)]
    pub true_inputs: usize,
    /// Inputs in all.
    #[param(default = 10, range = 1..=500)]
    pub inputs: usize,
    /// Number of data sets for each number of rows.
    #[param(default = 200, range = 1..)]
    pub data_sets: usize,
}

/// Shares of right choices.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CriteriaTable {
    /// Number of rows.
    pub rows: Vec<u64>,
    /// Share for which AIC chooses the true size.
    pub aic: Vec<f64>,
    /// Share for which BIC does.
    pub bic: Vec<f64>,
    /// Share for which leave-one-out cross-validation does.
    pub leave_one_out: Vec<f64>,
}

impl CriteriaStudy {
    fn sizes_fit(&self) -> Result<()> {
        let enough = self.rows.iter().all(|&n| n > self.inputs as u64 + 1);
        match self.true_inputs <= self.inputs && enough {
            true => Ok(()),
            false => Err(Error::new(
                Code::Usage,
                format!("{} inputs, {} of them true", self.inputs, self.true_inputs),
            )
            .hint("give no more true inputs than inputs, and more rows than inputs")),
        }
    }
}

impl Function for CriteriaStudy {
    type Inputs<'a> = ();
    type Output = CriteriaTable;
    const ABOUT: &'static Callable = &Callable::new("theory.criteria_study", FunctionKind::Study)
        .randomness()
        .threads()
        .reference("Hastie, Tibshirani and Friedman (2009)");

    fn call(&self, _inputs: (), run: &Context) -> Result<CriteriaTable> {
        let mut table = CriteriaTable {
            rows: self.rows.clone(),
            aic: Vec::new(),
            bic: Vec::new(),
            leave_one_out: Vec::new(),
        };
        for &n in &self.rows {
            run.claim_table(n as usize, self.inputs, "the inputs of a data set")?;
            let right = run.try_par_map(self.data_sets, |set| {
                let sizes = Sizes::new(n as usize, self, &run.child(set as u64));
                let chosen = [sizes.by_penalty(2.0), sizes.by_penalty((n as f64).ln())];
                let right = |size: usize| f64::from(size == self.true_inputs);
                Ok([right(chosen[0]), right(chosen[1]), right(sizes.by_leave_one_out())])
            })?;
            let share = |k: usize| right.iter().map(|r| r[k]).sum::<f64>() / right.len() as f64;
            table.aic.push(share(0));
            table.bic.push(share(1));
            table.leave_one_out.push(share(2));
        }
        Ok(table)
    }

    fn chart(&self, found: &CriteriaTable) -> Option<Chart> {
        let x: Vec<f64> = found.rows.iter().map(|&n| n as f64).collect();
        let line = |name: &str, y: &[f64]| Mark::line(name, x.clone(), y.to_vec());
        let panel = Panel::new("rows", "share of right choices")
            .mark(line("AIC", &found.aic))
            .mark(line("BIC", &found.bic))
            .mark(line("leave-one-out", &found.leave_one_out));
        let about = "Share of data sets for which each criterion chooses the true size.";
        Some(Chart::new("Criteria", about).panel(panel))
    }
}

/// Residual sums of squares and leave-one-out errors of nested models.
struct Sizes {
    residual: Vec<f64>,
    leave_one_out: Vec<f64>,
    rows: f64,
}

impl Sizes {
    fn new(n: usize, study: &CriteriaStudy, run: &Context) -> Sizes {
        let mut rng = run.rng(0);
        let mut draw = || (0..n).map(|_| sample::standard_normal(&mut rng)).collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> = (0..study.inputs).map(|_| draw()).collect();
        let mut rest = draw();
        columns[..study.true_inputs].iter().for_each(|column| add_scaled(&mut rest, 0.8, column));
        let mut leverage = vec![0.0; n];
        let mut sizes = Sizes { residual: Vec::new(), leave_one_out: Vec::new(), rows: n as f64 };
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for size in 0..=study.inputs {
            sizes.residual.push(dot(&rest, &rest));
            let out = rest.iter().zip(&leverage).map(|(r, h)| (r / (1.0 - h)).powi(2));
            sizes.leave_one_out.push(out.sum());
            let Some(column) = columns.get(size) else { break };
            let mut direction = column.clone();
            for _ in 0..2 {
                for earlier in &basis {
                    let share = dot(earlier, &direction);
                    add_scaled(&mut direction, -share, earlier);
                }
            }
            let length = dot(&direction, &direction).sqrt();
            direction.iter_mut().for_each(|value| *value /= length);
            let share = dot(&direction, &rest);
            add_scaled(&mut rest, -share, &direction);
            leverage.iter_mut().zip(&direction).for_each(|(h, q)| *h += q * q);
            basis.push(direction);
        }
        sizes
    }

    /// The size with the least residual/σ² + penalty · size; the smallest of equals.
    fn by_penalty(&self, penalty: f64) -> usize {
        let largest = self.residual.len() - 1;
        let noise = self.residual[largest] / (self.rows - largest as f64);
        smallest(self.residual.iter().enumerate().map(|(d, r)| r / noise + penalty * d as f64))
    }

    fn by_leave_one_out(&self) -> usize {
        smallest(self.leave_one_out.iter().copied())
    }
}

fn smallest(values: impl Iterator<Item = f64>) -> usize {
    let better = |best: (usize, f64), next: (usize, f64)| if next.1 < best.1 { next } else { best };
    values.enumerate().fold((0, f64::INFINITY), better).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bic_finds_the_true_inputs_in_the_end_and_aic_does_not() {
        let study =
            CriteriaStudy { rows: vec![100, 400, 1600], data_sets: 600, ..Default::default() };
        let found = study.compute(()).unwrap();
        assert!(
            (found.aic[1] - 0.7).abs() < 0.08 && (found.aic[2] - 0.7).abs() < 0.08,
            "{found:?}"
        );
        assert!((found.bic[1] - 0.97).abs() < 0.035 && found.bic[2] > 0.96, "{found:?}");
        assert!((found.leave_one_out[2] - found.aic[2]).abs() < 0.1, "{found:?}");
    }
}
