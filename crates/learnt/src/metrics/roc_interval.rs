//! The area under the ROC curve with its standard error and interval, and the difference of two areas.
//!
//! With placements V_i = share of negatives below positive i (ties half) and U_j = share of positives
//! above negative j, the area is their mean and its variance S_V / m + S_U / n (DeLong, DeLong and
//! Clarke-Pearson, 1988). Midranks give all placements in n log n time (Sun and Xu, 2014). The interval is
//! normal, or normal for the log odds of the area, which stays inside 0..1. Two scores of the same rows
//! are compared through the covariance of their placements.

use super::positive_class;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Normal};

/// Two classes and one or two scores of each row.
#[derive(Inputs, Clone, Copy)]
pub struct TwoScores<'a> {
    /// The actual class of each row.
    pub y_true: Classes<'a>,
    /// The score of each row: higher means more likely positive.
    pub y_score: &'a [f64],
    /// Another score of the same rows, to compare with.
    pub y_other: Option<&'a [f64]>,
}

/// Area under the ROC curve with DeLong's standard error and interval; with a second score, the test that
/// both areas are equal.
#[derive(Params, Clone, Debug)]
pub struct RocAucInterval {
    /// The positive class of two; 1 by default.
    pub pos_label: Option<Value>,
    /// How often the interval holds the area.
    #[param(default = 0.95, above = 0.0, below = 1.0)]
    pub level: f64,
    /// Whether the interval is that of the log odds, which never leaves 0..1.
    #[param(default = true)]
    pub logit: bool,
}

/// An area with its uncertainty.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct AreaInterval {
    /// The area.
    pub auc: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
    /// The area of the other score.
    pub other_auc: Option<f64>,
    /// Standard normal statistic of the difference.
    pub z: Option<f64>,
    /// Two-sided p-value of the difference.
    pub p_value: Option<f64>,
}

impl Function for RocAucInterval {
    type Inputs<'a> = TwoScores<'a>;
    type Output = AreaInterval;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.roc_auc_interval", FunctionKind::Metric)
            .alias(&["delong"])
            .reference("DeLong, DeLong and Clarke-Pearson (1988); Sun and Xu (2014)");

    fn call(&self, given: TwoScores, _run: &Context) -> Result<AreaInterval> {
        let positive = positive_class(self.pos_label.as_ref(), &given.y_true)?;
        let is_positive = |i: usize| Some(given.y_true.codes[i]) == positive;
        let placed = Placements::of(&is_positive, given.y_score)?;
        let error = placed.covariance(&placed).sqrt();
        let (lower, upper) = self.interval(placed.area, error);
        let mut found = AreaInterval {
            auc: placed.area,
            standard_error: error,
            lower,
            upper,
            other_auc: None,
            z: None,
            p_value: None,
        };
        if let Some(other) = given.y_other {
            let other = Placements::of(&is_positive, other)?;
            let variance = placed.covariance(&placed) + other.covariance(&other)
                - 2.0 * placed.covariance(&other);
            let difference = placed.area - other.area;
            let z = match variance > 0.0 {
                true => difference / variance.sqrt(),
                false if difference == 0.0 => 0.0,
                false => difference.signum() * f64::INFINITY,
            };
            found.other_auc = Some(other.area);
            found.z = Some(z);
            found.p_value = Some((2.0 * Normal::standard().sf(z.abs())).min(1.0));
        }
        Ok(found)
    }
}

impl RocAucInterval {
    fn interval(&self, area: f64, error: f64) -> (f64, f64) {
        let half = Normal::standard().quantile(0.5 + self.level / 2.0);
        if !self.logit || area <= 0.0 || area >= 1.0 {
            return ((area - half * error).max(0.0), (area + half * error).min(1.0));
        }
        let odds = (area / (1.0 - area)).ln();
        let scale = half * error / (area * (1.0 - area));
        let back = |t: f64| 1.0 / (1.0 + (-t).exp());
        (back(odds - scale), back(odds + scale))
    }
}

/// Shares of the other class that each row beats.
struct Placements {
    area: f64,
    positives: Vec<f64>,
    negatives: Vec<f64>,
}

impl Placements {
    fn of(is_positive: &dyn Fn(usize) -> bool, scores: &[f64]) -> Result<Placements> {
        let rows = |wanted: bool| -> Vec<usize> {
            (0..scores.len()).filter(|&i| is_positive(i) == wanted).collect()
        };
        let (hits, misses) = (rows(true), rows(false));
        if hits.len() < 2 || misses.len() < 2 {
            let message = "the interval of an area needs two rows of each class";
            return Err(Error::new(Code::Undefined, message));
        }
        let values = |rows: &[usize]| -> Vec<f64> { rows.iter().map(|&i| scores[i]).collect() };
        let all = midranks(scores);
        let (own_hits, own_misses) = (midranks(&values(&hits)), midranks(&values(&misses)));
        let (m, n) = (hits.len() as f64, misses.len() as f64);
        let positives: Vec<f64> =
            hits.iter().zip(&own_hits).map(|(&i, own)| (all[i] - own) / n).collect();
        let negatives: Vec<f64> =
            misses.iter().zip(&own_misses).map(|(&i, own)| 1.0 - (all[i] - own) / m).collect();
        let area = positives.iter().sum::<f64>() / m;
        Ok(Placements { area, positives, negatives })
    }

    /// Covariance of the two areas.
    fn covariance(&self, other: &Placements) -> f64 {
        let part = |a: &[f64], b: &[f64]| {
            let n = a.len() as f64;
            let (mean_a, mean_b) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
            let sum: f64 = a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum();
            sum / (n - 1.0) / n
        };
        part(&self.positives, &other.positives) + part(&self.negatives, &other.negatives)
    }
}

/// Ranks from 1; equal values share the mean of theirs.
fn midranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let mut end = start + 1;
        while end < order.len() && values[order[end]] == values[order[start]] {
            end += 1;
        }
        let rank = (start + end + 1) as f64 / 2.0;
        order[start..end].iter().for_each(|&i| ranks[i] = rank);
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    const Y: [u32; 8] = [0, 0, 1, 1, 0, 1, 0, 1];
    const S: [f64; 8] = [0.1, 0.4, 0.35, 0.8, 0.35, 0.9, 0.2, 0.7];
    const T: [f64; 8] = [0.3, 0.2, 0.6, 0.5, 0.7, 0.4, 0.1, 0.8];

    fn found(other: Option<&[f64]>, scores: &[f64]) -> AreaInterval {
        let classes = [0, 1].map(Label::Int);
        let y_true = Classes { codes: &Y, classes: &classes };
        let given = TwoScores { y_true, y_score: scores, y_other: other };
        RocAucInterval::default().compute(given).unwrap()
    }

    /// The definition: every pair of a positive and a negative.
    fn by_pairs(scores: &[f64]) -> (f64, f64) {
        let rows = |class: u32| (0..8).filter(move |&i| Y[i] == class);
        let beats = |i: usize, j: usize| match scores[i].partial_cmp(&scores[j]) {
            Some(std::cmp::Ordering::Greater) => 1.0,
            Some(std::cmp::Ordering::Equal) => 0.5,
            _ => 0.0,
        };
        let v: Vec<f64> =
            rows(1).map(|i| rows(0).map(|j| beats(i, j)).sum::<f64>() / 4.0).collect();
        let u: Vec<f64> =
            rows(0).map(|j| rows(1).map(|i| beats(i, j)).sum::<f64>() / 4.0).collect();
        let area = v.iter().sum::<f64>() / 4.0;
        let spread = |p: &[f64]| p.iter().map(|x| (x - area) * (x - area)).sum::<f64>() / 3.0 / 4.0;
        (area, (spread(&v) + spread(&u)).sqrt())
    }

    #[test]
    fn midranks_give_the_placements_of_the_definition() {
        for scores in [S, T] {
            let (area, error) = by_pairs(&scores);
            let found = found(None, &scores);
            assert!((found.auc - area).abs() < 1e-15);
            assert!((found.standard_error - error).abs() < 1e-15);
            assert!(found.lower < area && area < found.upper && found.upper < 1.0);
        }
    }

    #[test]
    fn a_score_does_not_differ_from_itself_and_differs_from_its_opposite() {
        let same = found(Some(&S), &S);
        assert_eq!((same.z, same.p_value), (Some(0.0), Some(1.0)));
        let opposite = S.map(|s| -s);
        let other = found(Some(&opposite), &S);
        assert!((other.other_auc.unwrap() - (1.0 - other.auc)).abs() < 1e-15);
        assert!(other.p_value.unwrap() < 0.01, "{other:?}");
    }
}
