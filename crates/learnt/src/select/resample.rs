//! Resamples: bootstrap, weighted and class-balanced draws, and class weights.
//!
//! A bootstrap draws n' of n rows with replacement; the expected share of distinct rows is
//! 1 - (1 - 1/n)^n', about 0.632 for n' = n. Class weights are n / (K n_c), or the median frequency
//! over the class's own.

use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::{sample, summary};

/// A resample with replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// The drawn rows, in the order of the draws.
    pub rows: Vec<usize>,
    /// How often each row was drawn.
    pub counts: Vec<u32>,
    /// Rows that were not drawn, in rising order.
    pub out_of_bag: Vec<usize>,
}

/// Draws `draws` of `n` rows evenly with replacement.
pub fn bootstrap(n: usize, draws: usize, rng: &mut Rng) -> Bootstrap {
    let rows: Vec<usize> = (0..if n == 0 { 0 } else { draws })
        .map(|_| sample::below(rng, n as u64) as usize)
        .collect();
    Bootstrap::of(rows, n)
}

impl Bootstrap {
    /// The resample with these of `n` rows.
    pub fn of(rows: Vec<usize>, n: usize) -> Bootstrap {
        let mut counts = vec![0; n];
        rows.iter().for_each(|&i| counts[i] += 1);
        let out_of_bag = (0..n).filter(|&i| counts[i] == 0).collect();
        Bootstrap { rows, counts, out_of_bag }
    }
}

/// 1 - (1 - 1/n)^draws: the expected share of rows that a bootstrap draws.
pub fn expected_distinct_share(n: usize, draws: usize) -> f64 {
    if n == 0 { 0.0 } else { -(draws as f64 * (-1.0 / n as f64).ln_1p()).exp_m1() }
}

/// Draws rows with replacement, each with probability proportional to its weight.
pub fn weighted_resample(weights: &[f64], draws: usize, rng: &mut Rng) -> Result<Vec<usize>> {
    let mut reached = 0.0;
    let mut cumulative = Vec::with_capacity(weights.len());
    for &weight in weights {
        if !(weight >= 0.0 && weight.is_finite()) {
            let message = format!("weight {weight}: weights must be finite and >= 0");
            return Err(Error::new(Code::Weights, message));
        }
        reached += weight;
        cumulative.push(reached);
    }
    let Some(last) =
        weights.iter().rposition(|&weight| weight > 0.0).filter(|_| reached.is_finite())
    else {
        return Err(Error::new(Code::Weights, "the weights must have a positive, finite sum"));
    };
    let draw = |_| {
        let place = sample::uniform(rng) * reached;
        cumulative.partition_point(|&sum| sum <= place).min(last)
    };
    Ok((0..draws).map(draw).collect())
}

/// How classes are brought to equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balance {
    /// Every class gets as many rows as the largest has.
    Over,
    /// Every class gets as many rows as the smallest has.
    Under,
    /// This many rows in all; classes differ by at most one row.
    Total(usize),
}

/// Rows with equal numbers of each class, in random order: each row of a class is used before one
/// is used again.
pub fn balanced_sample(codes: &[u32], balance: Balance, rng: &mut Rng) -> Vec<usize> {
    let classes = codes.iter().max().map_or(0, |&code| code as usize + 1);
    let mut members = vec![Vec::new(); classes];
    codes.iter().enumerate().for_each(|(i, &code)| members[code as usize].push(i));
    members.retain(|rows| !rows.is_empty());
    let k = members.len().max(1);
    let largest = members.iter().map(Vec::len).max().unwrap_or_default();
    let smallest = members.iter().map(Vec::len).min().unwrap_or_default();
    let mut drawn = Vec::new();
    for (place, rows) in members.iter().enumerate() {
        let mut wanted = match balance {
            Balance::Over => largest,
            Balance::Under => smallest,
            Balance::Total(total) => total / k + usize::from(place < total % k),
        };
        while wanted > 0 {
            let count = wanted.min(rows.len());
            drawn.extend(sample::choose(rng, rows.len(), count).into_iter().map(|i| rows[i]));
            wanted -= count;
        }
    }
    sample::shuffle(rng, &mut drawn);
    drawn
}

/// n / (K n_c) for each class; 0 for a class without rows.
pub fn balanced_class_weights(counts: &[f64]) -> Vec<f64> {
    let present = counts.iter().filter(|&&count| count > 0.0).count() as f64;
    let total: f64 = counts.iter().sum();
    counts.iter().map(|&n| if n > 0.0 { total / (present * n) } else { 0.0 }).collect()
}

/// Median frequency over the class's own; 0 for a class without rows.
pub fn median_frequency_weights(counts: &[f64]) -> Vec<f64> {
    let present: Vec<f64> = counts.iter().copied().filter(|&count| count > 0.0).collect();
    let median = summary::median(&present).unwrap_or_default();
    counts.iter().map(|&n| if n > 0.0 { median / n } else { 0.0 }).collect()
}

/// The weight of each row from that of its class.
pub fn row_weights(codes: &[u32], class_weights: &[f64]) -> Result<Vec<f64>> {
    let weight = |&code: &u32| {
        let expected = format!("a weight for class code {code}");
        class_weights
            .get(code as usize)
            .copied()
            .ok_or_else(|| Error::shape("class weights", expected, class_weights.len()))
    };
    codes.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_share_of_distinct_rows() {
        assert!((expected_distinct_share(10, 10) - 0.651_321_56).abs() < 1e-8);
        assert!((expected_distinct_share(100, 100) - 0.633_967_66).abs() < 1e-8);
        let mut rng = Context::default().rng(0);
        let left: usize = (0..200).map(|_| bootstrap(100, 100, &mut rng).out_of_bag.len()).sum();
        assert!((1.0 - left as f64 / 20_000.0 - 0.634).abs() < 0.01);
    }

    #[test]
    fn counts_and_out_of_bag_rows_agree() {
        let drawn = bootstrap(20, 30, &mut Context::default().rng(1));
        assert_eq!(drawn.counts.iter().sum::<u32>(), 30);
        assert!(drawn.out_of_bag.iter().all(|&i| drawn.counts[i] == 0));
    }

    #[test]
    fn resampled_frequencies_converge_to_the_weights() {
        let weights = [0.0, 1.0, 2.0, 0.0, 5.0, 0.0];
        let rows = weighted_resample(&weights, 40_000, &mut Context::default().rng(2)).unwrap();
        for (i, weight) in weights.iter().enumerate() {
            let share = rows.iter().filter(|&&row| row == i).count() as f64 / 40_000.0;
            assert!((share - weight / 8.0).abs() < 0.01);
            assert_eq!(share == 0.0, *weight == 0.0);
        }
        assert!(weighted_resample(&[0.0, 0.0], 3, &mut Context::default().rng(2)).is_err());
    }

    #[test]
    fn balanced_samples_differ_by_at_most_one_row() {
        let codes: Vec<u32> = (0..50).map(|i| u32::from(i > 40) + u32::from(i > 46)).collect();
        for balance in [Balance::Over, Balance::Under, Balance::Total(20)] {
            let rows = balanced_sample(&codes, balance, &mut Context::default().rng(3));
            let count = |k: u32| rows.iter().filter(|&&i| codes[i] == k).count();
            let counts = [count(0), count(1), count(2)];
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn class_weights_by_inverse_and_by_median_frequency() {
        let median = median_frequency_weights(&[0.7, 0.2, 0.1]);
        assert!((median[0] - 0.285_714_285_7).abs() < 1e-9 && median[1] == 1.0);
        assert!((median[2] - 2.0).abs() < 1e-12);
        assert_eq!(balanced_class_weights(&[6.0, 2.0]), [8.0 / 12.0, 2.0]);
        assert_eq!(row_weights(&[1, 0], &[0.5, 2.0]).unwrap(), [2.0, 0.5]);
    }
}
