//! Calibration in numbers: the decomposition of the Brier score and the expected calibration error.
//!
//! Rows are put into bins by their probability p. With n_b rows in bin b, mean probability p_b, share o_b
//! that came true, and share o of all rows: reliability Σ n_b (p_b - o_b)² / n, resolution
//! Σ n_b (o_b - o)² / n, uncertainty o (1 - o). The Brier score is reliability - resolution + uncertainty
//! plus what bins hide, the variance of p within bins less twice its covariance with the outcome
//! (Murphy, 1973; Stephenson, Coelho and Jolliffe, 2008). The expected calibration error is
//! Σ n_b |p_b - o_b| / n, the largest gap its maximum.

use super::{positive_class, weight_of};
use learnt_core::prelude::*;

/// Classes and the probability of the positive one.
#[derive(Inputs, Clone, Copy)]
pub struct ClassesAndProbability<'a> {
    /// The actual class of each row.
    pub y_true: Classes<'a>,
    /// The probability of the positive class.
    pub y_prob: &'a [f64],
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Brier score in parts: reliability, resolution, uncertainty; with the expected calibration error.
#[derive(Params, Clone, Debug)]
pub struct BrierDecomposition {
    /// Number of bins of equal width between 0 and 1.
    #[param(default = 10, range = 1..=100_000)]
    pub n_bins: usize,
    /// The positive class of two; 1 by default.
    pub pos_label: Option<Value>,
}

/// The parts: brier = reliability - resolution + uncertainty + within_bins.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct BrierParts {
    /// The Brier score.
    pub brier: f64,
    /// Mean squared gap between probabilities and shares; less is better.
    pub reliability: f64,
    /// How far the shares of bins lie from the share of all; more is better.
    pub resolution: f64,
    /// What the outcome varies by itself.
    pub uncertainty: f64,
    /// What rows of one bin differ by.
    pub within_bins: f64,
    /// Expected calibration error: the mean gap.
    pub expected_error: f64,
    /// The largest gap of a bin.
    pub maximum_error: f64,
}

/// Sums over the rows of a bin.
#[derive(Clone, Copy, Default)]
struct Bin {
    weight: f64,
    given: f64,
    came: f64,
}

impl Function for BrierDecomposition {
    type Inputs<'a> = ClassesAndProbability<'a>;
    type Output = BrierParts;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.brier_decomposition", FunctionKind::Metric)
            .alias(&["expected-calibration-error"])
            .reference("Murphy (1973); Stephenson, Coelho and Jolliffe (2008)");

    fn call(&self, given: ClassesAndProbability, _run: &Context) -> Result<BrierParts> {
        if let Some(row) = given.y_prob.iter().position(|p| !(0.0..=1.0).contains(p)) {
            let message = format!("the probability of row {} is not in [0, 1]", row + 1);
            return Err(Error::new(Code::Usage, message).row(row as u64 + 1));
        }
        let positive = positive_class(self.pos_label.as_ref(), &given.y_true)?;
        let mut bins = vec![Bin::default(); self.n_bins];
        // As in the calibration curve, an edge belongs to the bin below it.
        let edges: Vec<f64> = (1..self.n_bins).map(|k| k as f64 / self.n_bins as f64).collect();
        let (mut total, mut came, mut squares) = (0.0, 0.0, 0.0);
        for (i, &p) in given.y_prob.iter().enumerate() {
            let weight = weight_of(given.sample_weight, i);
            let outcome = f64::from(Some(given.y_true.codes[i]) == positive);
            let place = edges.partition_point(|&edge| edge < p);
            bins[place].weight += weight;
            bins[place].given += weight * p;
            bins[place].came += weight * outcome;
            total += weight;
            came += weight * outcome;
            squares += weight * (p - outcome) * (p - outcome);
        }
        Ok(parts(&bins, total, came / total, squares / total))
    }
}

fn parts(bins: &[Bin], total: f64, share: f64, brier: f64) -> BrierParts {
    let filled = || bins.iter().filter(|bin| bin.weight > 0.0);
    let gap = |bin: &Bin| (bin.given - bin.came) / bin.weight;
    let mean = |f: &dyn Fn(&Bin) -> f64| filled().map(|b| b.weight * f(b)).sum::<f64>() / total;
    let reliability = mean(&|bin| gap(bin) * gap(bin));
    let resolution = mean(&|bin| (bin.came / bin.weight - share).powi(2));
    let uncertainty = share * (1.0 - share);
    BrierParts {
        brier,
        reliability,
        resolution,
        uncertainty,
        within_bins: brier - (reliability - resolution + uncertainty),
        expected_error: mean(&|bin| gap(bin).abs()),
        maximum_error: filled().map(|bin| gap(bin).abs()).fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(y: &[u32], p: &[f64]) -> BrierParts {
        let classes = [0, 1].map(Label::Int);
        let y_true = Classes { codes: y, classes: &classes };
        let given = ClassesAndProbability { y_true, y_prob: p, sample_weight: None };
        BrierDecomposition::default().compute(given).unwrap()
    }

    #[test]
    fn probabilities_that_are_the_shares_of_their_bins_are_calibrated() {
        let y: Vec<u32> = (0..40).map(|i| u32::from(i % 4 == 0 || i >= 20)).collect();
        let p: Vec<f64> = (0..40).map(|i| if i < 20 { 0.25 } else { 1.0 }).collect();
        let parts = found(&y, &p);
        assert!(parts.reliability < 1e-15 && parts.expected_error < 1e-15);
        assert!(parts.within_bins.abs() < 1e-15, "one probability a bin hides nothing");
        let sum = parts.reliability - parts.resolution + parts.uncertainty;
        assert!((parts.brier - sum).abs() < 1e-15);
    }

    #[test]
    fn too_much_confidence_is_a_gap() {
        let parts = found(&[0, 1, 0, 1], &[1.0; 4]);
        assert_eq!((parts.expected_error, parts.maximum_error), (0.5, 0.5));
        assert_eq!((parts.brier, parts.reliability, parts.resolution), (0.5, 0.25, 0.0));
    }
}
