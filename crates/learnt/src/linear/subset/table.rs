//! The sets of columns that a search met, with what each costs and gives.
//!
//! With n the sum of weights, k columns and an intercept: AIC = n ln(RSS/n) + 2(k + 1) and
//! BIC = n ln(RSS/n) + (k + 1) ln n, up to a constant those of normal errors; Cp = RSS/s² - n +
//! 2(k + 1) with s² the noise of the model with all columns; adjusted R² = 1 - (RSS/(n - k - 1)) /
//! (TSS/(n - 1)). A residual sum of nothing but rounding counts as rounding, so an exact fit is
//! chosen at its smallest size.

use super::grow::Grow;
use super::reduced::Reduced;
use super::shrink::Shrink;
use learnt_core::prelude::*;

/// What a model is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Aic,
    Bic,
    Cp,
    AdjustedR2,
}

/// Turns residual sums, as shares of the total, into criteria; lower is better.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    weight: f64,
    extra: f64,
    /// ln of the target's squares over n.
    ln_total: f64,
    rounding: f64,
    /// The noise of the model with all columns, as a share of the total.
    noise: Option<f64>,
}

impl Judge {
    pub(super) fn new(reduced: &Reduced) -> Judge {
        let all: Vec<usize> = (0..reduced.width()).collect();
        let full = Grow::with(reduced, &all);
        let freedom = reduced.freedom(full.chosen.len());
        let left = full.rss();
        let noise = (freedom > 0.0 && left > reduced.rounding).then(|| left / freedom);
        let length = reduced.length[reduced.width()];
        let total = if length > 0.0 { 2.0 * length.ln() } else { 0.0 };
        Judge {
            weight: reduced.weight,
            extra: f64::from(reduced.intercept),
            ln_total: total - reduced.weight.ln(),
            rounding: reduced.rounding,
            noise,
        }
    }

    /// The criterion, lower is better; none where it does not exist.
    pub(super) fn value(&self, measure: Measure, size: usize, rss: f64) -> Option<f64> {
        let used = size as f64 + self.extra;
        let n = self.weight;
        let fit = n * (rss.max(self.rounding).ln() + self.ln_total);
        match measure {
            Measure::Aic => Some(fit + 2.0 * used),
            Measure::Bic => Some(fit + n.ln() * used),
            Measure::Cp => self.noise.map(|noise| rss / noise - n + 2.0 * used),
            Measure::AdjustedR2 => {
                let ratio = (rss.max(self.rounding) / (n - used)) * (n - self.extra);
                (n > used).then_some(ratio)
            }
        }
    }

    /// The F statistic of one column: a change of the residual sum over the noise that is left.
    pub(super) fn f(&self, change: f64, size: usize, rss: f64) -> f64 {
        let noise = rss.max(self.rounding) / (self.weight - size as f64 - self.extra);
        change / noise
    }
}

/// The sets in the order in which the search met them.
#[derive(Clone, Debug)]
pub(super) struct SizeTable {
    pub(super) subsets: Vec<Vec<usize>>,
    pub(super) rss: Vec<f64>,
    pub(super) aic: Vec<f64>,
    pub(super) bic: Vec<f64>,
    pub(super) cp: Option<Vec<f64>>,
    pub(super) adjusted_r2: Option<Vec<f64>>,
}

impl SizeTable {
    pub(super) fn new(reduced: &Reduced, subsets: Vec<Vec<usize>>) -> SizeTable {
        let rss = subsets.iter().map(|set| Grow::only(reduced, set).rss()).collect();
        Self::with(reduced, subsets, rss)
    }

    /// With residual sums that are known, as shares of the total.
    pub(super) fn with(
        reduced: &Reduced,
        subsets: Vec<Vec<usize>>,
        mut shares: Vec<f64>,
    ) -> SizeTable {
        let judge = Judge::new(reduced);
        let length = reduced.length[reduced.width()];
        // No columns leave all of it, whatever rounding says.
        for (share, _) in shares.iter_mut().zip(&subsets).filter(|(_, set)| set.is_empty()) {
            *share = if length > 0.0 { 1.0 } else { 0.0 };
        }
        let column = |measure: Measure| -> Option<Vec<f64>> {
            let pairs = subsets.iter().zip(&shares);
            pairs.map(|(set, rss)| judge.value(measure, set.len(), *rss)).collect()
        };
        let adjusted = column(Measure::AdjustedR2).filter(|_| length > 0.0);
        SizeTable {
            rss: shares.iter().map(|share| share * length * length).collect(),
            aic: column(Measure::Aic).unwrap_or_default(),
            bic: column(Measure::Bic).unwrap_or_default(),
            cp: column(Measure::Cp),
            adjusted_r2: adjusted.map(|all| all.iter().map(|ratio| 1.0 - ratio).collect()),
            subsets,
        }
    }

    /// The row that the criterion prefers, the first of equals.
    pub(super) fn preferred(&self, measure: Measure) -> Result<usize> {
        let values = match measure {
            Measure::Aic => self.aic.clone(),
            Measure::Bic => self.bic.clone(),
            Measure::Cp => self.cp.clone().ok_or_else(no_noise)?,
            Measure::AdjustedR2 => {
                let all = self.adjusted_r2.as_deref().unwrap_or_default();
                all.iter().map(|r2| -r2).collect()
            }
        };
        Ok(first_minimum(&values))
    }
}

/// Position of the smallest value, the first of equals.
pub(super) fn first_minimum(values: &[f64]) -> usize {
    (0..values.len()).fold(0, |best, row| if values[row] < values[best] { row } else { best })
}

/// The error where Cp has no noise to compare with.
pub(super) fn no_noise() -> Error {
    let message = "Cp needs noise that all columns leave: more rows than columns and no exact fit";
    Error::new(Code::TooFew, message).hint("use the criterion 'bic' or 'aic'")
}

/// Coefficients of a set of columns in the units of the data.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    /// Of all columns; zero for those left out.
    pub(super) coef: Vec<f64>,
    pub(super) intercept: f64,
    /// Of the intercept, if there is one, then of the columns of the set.
    pub(super) standard_error: Option<Vec<f64>>,
}

impl Fitted {
    pub(super) fn new(reduced: &Reduced, set: &[usize]) -> Fitted {
        let grown = Grow::only(reduced, set);
        let target = reduced.length[reduced.width()];
        let mut coef = vec![0.0; reduced.width()];
        for (&j, b) in grown.chosen.iter().zip(grown.coefficients()) {
            coef[j] = b * (target / reduced.length[j]);
        }
        let shift: f64 = grown.chosen.iter().map(|&j| coef[j] * reduced.mean[j]).sum();
        let intercept = if reduced.intercept { reduced.mean[reduced.width()] - shift } else { 0.0 };
        let freedom = reduced.freedom(grown.chosen.len());
        let left = grown.rss();
        let exact = left <= reduced.rounding || grown.chosen.len() < set.len();
        let noise = (freedom > 0.0 && !exact).then(|| (left / freedom).sqrt() * target);
        let standard_error = noise.map(|noise| standard_errors(reduced, &grown, noise));
        Fitted { coef, intercept, standard_error }
    }
}

/// Standard errors at this noise: of the intercept, if there is one, then of the chosen columns.
fn standard_errors(reduced: &Reduced, grown: &Grow, noise: f64) -> Vec<f64> {
    let shrunk = Shrink::new(grown);
    let length = |k: usize| reduced.length[shrunk.columns[k]];
    let mut out = Vec::new();
    if reduced.intercept {
        let mut along = vec![0.0; shrunk.columns.len()];
        for (k, row) in shrunk.rows().enumerate() {
            let mean = reduced.mean[shrunk.columns[k]] / length(k);
            learnt_core::linalg::add_scaled(&mut along, mean, row);
        }
        let unit = 1.0 / reduced.weight + learnt_core::linalg::dot(&along, &along);
        out.push(noise * unit.sqrt());
    }
    out.extend((0..shrunk.columns.len()).map(|k| noise * shrunk.variances[k].sqrt() / length(k)));
    out
}
