//! Splits of a number by the values of an attribute, and information gains with the cost of a test.
//!
//! - weighted variance Σ (n_v/n) Var(y | v), with divisor n_v;
//! - standard deviation reduction sd(y) - Σ (n_v/n) sd(y | v), of whole populations;
//! - gains with costs: Gain²/Cost, Gain/Cost, (2^Gain - 1)/(Cost + 1)^w;
//! - the number of ways in which q levels are parted in two: 2^(q - 1) - 1.
//!
//! References: Quinlan (1992), Learning with continuous classes; Tan (1993); Núñez (1991).

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Weighted variance of a number within the values of an attribute, and what a split by it takes away.
#[derive(Params, Clone, Debug)]
pub struct SplitDeviation {}

/// An attribute beside a number.
#[derive(Inputs, Clone, Copy)]
pub struct AttributeAndNumber<'a> {
    /// The value of the attribute in each row.
    pub x: Classes<'a>,
    /// The number of each row.
    pub y: &'a [f64],
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// How a split lowers the spread of a number.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Spread {
    /// Standard deviation less its mean within the values.
    pub standard_deviation_reduction: f64,
    /// Mean variance within the values.
    pub weighted_variance: f64,
}

impl Function for SplitDeviation {
    type Inputs<'a> = AttributeAndNumber<'a>;
    type Output = Spread;
    const ABOUT: &'static Callable =
        &Callable::new("tree.split_deviation", FunctionKind::Metric).reference("Quinlan (1992)");

    fn call(&self, given: AttributeAndNumber, _run: &Context) -> Result<Spread> {
        let weight = |i: usize| given.sample_weight.map_or(1.0, |weights| weights[i]);
        let variance = |rows: &[usize]| {
            let total: f64 = rows.iter().map(|&i| weight(i)).sum();
            let mean = rows.iter().map(|&i| weight(i) * given.y[i]).sum::<f64>() / total;
            let squares = rows.iter().map(|&i| weight(i) * (given.y[i] - mean).powi(2));
            (total, squares.sum::<f64>() / total)
        };
        let all: Vec<usize> = (0..given.y.len()).filter(|&i| weight(i) > 0.0).collect();
        let (total, whole) = variance(&all);
        let (mut within, mut deviations) = (0.0, 0.0);
        for value in 0..given.x.classes.len() as u32 {
            let rows: Vec<usize> =
                all.iter().copied().filter(|&i| given.x.codes[i] == value).collect();
            if !rows.is_empty() {
                let (part, variance) = variance(&rows);
                within += part / total * variance;
                deviations += part / total * variance.sqrt();
            }
        }
        Ok(Spread {
            standard_deviation_reduction: whole.sqrt() - deviations,
            weighted_variance: within,
        })
    }
}

/// Number of two-way partitions of the levels of a category, which an exhaustive split looks at.
#[derive(Params, Clone, Debug)]
pub struct CategoricalPartitions {
    /// Number of levels.
    #[param(positional, default = 3, range = 1..=63)]
    pub levels: usize,
}

impl Function for CategoricalPartitions {
    type Inputs<'a> = ();
    type Output = u64;
    const ABOUT: &'static Callable =
        &Callable::new("tree.categorical_partitions", FunctionKind::Theory)
            .reference("Breiman, Friedman, Olshen and Stone (1984)");

    fn call(&self, (): (), _run: &Context) -> Result<u64> {
        Ok((1 << (self.levels - 1)) - 1)
    }
}

/// Information gain with the cost of measuring an attribute.
#[derive(Params, Clone, Debug)]
pub struct CostSensitiveGain {
    /// Information gain in bits.
    #[param(positional, default = 0.0, range = 0.0..)]
    pub gain: f64,
    /// Cost of the test.
    #[param(positional, default = 1.0, above = 0.0)]
    pub cost: f64,
    /// How much costs count in the third form, from 0 to 1.
    #[param(default = 1.0, range = 0.0..=1.0)]
    pub w: f64,
}

/// Gains with costs.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CostGains {
    /// Gain / Cost.
    pub gain_over_cost: f64,
    /// Gain² / Cost.
    pub squared_gain_over_cost: f64,
    /// (2^Gain - 1) / (Cost + 1)^w.
    pub information_over_cost: f64,
}

impl Function for CostSensitiveGain {
    type Inputs<'a> = ();
    type Output = CostGains;
    const ABOUT: &'static Callable =
        &Callable::new("tree.cost_sensitive_gain", FunctionKind::Theory)
            .reference("Tan (1993); Núñez (1991)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<CostGains> {
        let CostSensitiveGain { gain, cost, w } = *self;
        Ok(CostGains {
            gain_over_cost: gain / cost,
            squared_gain_over_cost: gain * gain / cost,
            information_over_cost: (gain.exp2() - 1.0) / (cost + 1.0).powf(w),
        })
    }
}

/// Impurities of a node of two classes against the share of one of them.
#[derive(Params, Clone, Debug)]
pub struct ImpurityCurve {
    /// Number of points from 0 to 1.
    #[param(default = 101, range = 2..=100_000)]
    pub points: usize,
}

/// Impurities against a share.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Impurities {
    /// Share of one class.
    pub p: Vec<f64>,
    /// 1 - max p.
    pub error: Vec<f64>,
    /// 2 p (1 - p).
    pub gini: Vec<f64>,
    /// Entropy in nats.
    pub entropy: Vec<f64>,
    /// Entropy in bits, halved: ½ where both classes are equal.
    pub scaled_entropy: Vec<f64>,
}

impl Function for ImpurityCurve {
    type Inputs<'a> = ();
    type Output = Impurities;
    const ABOUT: &'static Callable = &Callable::new("tree.impurity_curve", FunctionKind::Theory)
        .reference("Hastie, Tibshirani and Friedman (2009), figure 9.3");

    fn call(&self, _inputs: (), _run: &Context) -> Result<Impurities> {
        let last = (self.points - 1) as f64;
        let p: Vec<f64> = (0..self.points).map(|i| i as f64 / last).collect();
        let part = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let entropy: Vec<f64> = p.iter().map(|&p| part(p) + part(1.0 - p)).collect();
        Ok(Impurities {
            error: p.iter().map(|&p| p.min(1.0 - p)).collect(),
            gini: p.iter().map(|p| 2.0 * p * (1.0 - p)).collect(),
            scaled_entropy: entropy.iter().map(|h| 0.5 * h / std::f64::consts::LN_2).collect(),
            entropy,
            p,
        })
    }

    fn chart(&self, found: &Impurities) -> Option<Chart> {
        let curves = [
            ("error", &found.error),
            ("Gini", &found.gini),
            ("entropy, scaled", &found.scaled_entropy),
        ];
        let mut panel = Panel::new("share of one class", "impurity");
        for (name, values) in curves {
            panel = panel.mark(Mark::line(name, found.p.clone(), values.clone()));
        }
        Some(Chart::new("Impurities", "Impurities of a node of two classes.").panel(panel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_has_the_impurities_of_the_notes() {
        let found = ImpurityCurve { points: 5 }.compute(()).unwrap();
        assert_eq!((found.error[1], found.gini[1]), (0.25, 0.375));
        assert!((found.entropy[1] - 0.562_335_144_6).abs() < 1e-9);
        assert!((found.scaled_entropy[1] - 0.405_639_062).abs() < 1e-8);
        assert_eq!((found.entropy[0], found.entropy[4]), (0.0, 0.0));
    }

    #[test]
    fn outlook_has_the_gains_of_the_notes() {
        let gain = 0.246_749_819_774_438;
        let found = CostSensitiveGain { gain, cost: 1.0, w: 1.0 }.compute(()).unwrap();
        assert!((found.gain_over_cost - 0.246_75).abs() < 1e-5);
        assert!((found.squared_gain_over_cost - 0.060_89).abs() < 1e-5);
        assert!((found.information_over_cost - 0.093_27).abs() < 1e-5);
    }

    #[test]
    fn prices_have_the_spreads_of_the_notes() {
        let prices = [1051.0, 1770.0, 1900.0, 4513.0, 77.0, 870.0, 99.0, 270.0, 625.0];
        let model = ["A100", "A100", "A100", "B3", "E112", "M102", "T202", "T202", "T202"];
        let condition =
            ["good", "excellent", "good", "excellent", "fair", "good", "fair", "good", "fair"];
        let leslie = ["no", "no", "yes", "no", "no", "yes", "no", "no", "yes"];
        let expected = [
            (model, 62_466.814_814_8, 1_118.032_052_1),
            (condition, 590_538.138_889, 667.117_055_002),
            (leslie, 1_724_527.777_78, 91.243_562_275_6),
        ];
        for (attribute, variance, reduction) in expected {
            let (codes, classes) = Label::encode(&attribute.map(Label::from));
            let x = Classes { codes: &codes, classes: &classes };
            let given = AttributeAndNumber { x, y: &prices, sample_weight: None };
            let found = SplitDeviation {}.compute(given).unwrap();
            assert!((found.weighted_variance - variance).abs() < 1e-5);
            assert!((found.standard_deviation_reduction - reduction).abs() < 1e-6);
        }
    }

    #[test]
    fn levels_are_parted_in_half_as_many_ways_as_they_have_sets() {
        for (levels, count) in [(1, 0), (3, 3), (4, 7), (5, 15), (10, 511), (20, 524_287)] {
            assert_eq!(CategoricalPartitions { levels }.compute(()).unwrap(), count);
        }
    }
}
