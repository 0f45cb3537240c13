//! Quantiles of columns, where a weight counts repetitions.

use learnt_core::stats::summary;

/// The linear quantile (type 7): the value at position p (total - 1) of the sorted values, each
/// repeated by its weight. `None` without values.
pub(super) fn linear(values: &[f64], weights: Option<&[f64]>, p: f64) -> Option<f64> {
    let Some(weights) = weights else { return summary::quantile(values, p) };
    let mut order: Vec<usize> = (0..values.len()).filter(|&i| weights[i] > 0.0).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let total: f64 = order.iter().map(|&i| weights[i]).sum();
    let position = p * (total - 1.0).max(0.0);
    let at = |place: f64| {
        let mut reached = 0.0;
        let found = order.iter().find(|&&i| {
            reached += weights[i];
            reached > place
        });
        found.or(order.last()).map(|&i| values[i])
    };
    let (low, high) = (at(position.floor())?, at(position.floor() + 1.0)?);
    Some(low + (position - position.floor()) * (high - low))
}

/// The averaged inverse of the distribution function (type 2).
pub(super) fn averaged(values: &[f64], weights: Option<&[f64]>, p: f64) -> Option<f64> {
    match weights {
        Some(weights) => summary::weighted_quantile(values, weights, p),
        None => summary::weighted_quantile(values, &vec![1.0; values.len()], p),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_weights_equal_repetition() {
        let (values, weights) = ([3.0, 1.0, 7.0, 2.0], [2.0, 1.0, 3.0, 0.0]);
        let repeated = [3.0, 3.0, 1.0, 7.0, 7.0, 7.0];
        for k in 0..=20 {
            let p = f64::from(k) / 20.0;
            let (a, b) = (linear(&values, Some(&weights), p), linear(&repeated, None, p));
            assert!((a.unwrap() - b.unwrap()).abs() < 1e-12, "{p}: {a:?} {b:?}");
            assert_eq!(averaged(&values, Some(&weights), p), averaged(&repeated, None, p));
        }
    }
}
