//! Supervised cuts of a numeric column, by entropy and description length.
//!
//! The best cut of N rows minimises the entropy of the classes on both sides; it is kept if
//! gain > (log₂(N - 1) + log₂(3^k - 2) - (k E - k₁ E₁ - k₂ E₂)) / N, where k counts the classes present
//! and E is the entropy in bits, and both sides are then cut in the same way. Cuts are midpoints of
//! neighbouring values, the lowest of equals.
//! U. Fayyad, K. Irani, Multi-interval discretization of continuous-valued attributes (1993).

/// The cuts in rising order.
pub fn entropy_cuts(
    values: &[f64],
    codes: &[u32],
    classes: usize,
    weights: Option<&[f64]>,
) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let row = |&i: &usize| Sorted {
        value: values[i],
        code: codes[i] as usize,
        weight: weights.map_or(1.0, |weights| weights[i]),
    };
    let rows: Vec<Sorted> = order.iter().map(row).collect();
    let mut cuts = Vec::new();
    let mut pending = vec![(0, rows.len())];
    while let Some((start, end)) = pending.pop() {
        if let Some(place) = best_cut(&rows[start..end], classes) {
            let middle = start + place;
            cuts.push(rows[middle - 1].value / 2.0 + rows[middle].value / 2.0);
            pending.extend([(start, middle), (middle, end)]);
        }
    }
    cuts.sort_by(f64::total_cmp);
    cuts
}

/// A row in the order of the column.
struct Sorted {
    value: f64,
    code: usize,
    weight: f64,
}

/// Weight, entropy in bits and number of classes present.
struct Mix {
    weight: f64,
    entropy: f64,
    present: f64,
}

impl Mix {
    fn of(counts: &[f64]) -> Mix {
        let weight: f64 = counts.iter().sum();
        let seen = counts.iter().filter(|&&count| count > 0.0);
        let entropy = seen.clone().map(|n| -n / weight * (n / weight).log2()).sum();
        Mix { weight, entropy, present: seen.count() as f64 }
    }
}

/// Where the upper part of the best cut begins, if the cut is worth its description.
fn best_cut(rows: &[Sorted], classes: usize) -> Option<usize> {
    let mut above = vec![0.0; classes];
    rows.iter().for_each(|row| above[row.code] += row.weight);
    let whole = Mix::of(&above);
    if whole.present < 2.0 {
        return None;
    }
    let mut below = vec![0.0; classes];
    let mut best: Option<(f64, usize, Mix, Mix)> = None;
    for place in 1..rows.len() {
        let row = &rows[place - 1];
        below[row.code] += row.weight;
        above[row.code] -= row.weight;
        if row.value == rows[place].value {
            continue;
        }
        let (low, high) = (Mix::of(&below), Mix::of(&above));
        let left = (low.weight * low.entropy + high.weight * high.entropy) / whole.weight;
        if best.as_ref().is_none_or(|(least, ..)| left < *least) {
            best = Some((left, place, low, high));
        }
    }
    let (left, place, low, high) = best?;
    let side = |mix: &Mix| mix.present * mix.entropy;
    let delta =
        (3.0_f64.powf(whole.present) - 2.0).log2() - (side(&whole) - side(&low) - side(&high));
    let price = ((whole.weight - 1.0).max(1.0).log2() + delta) / whole.weight;
    (whole.entropy - left > price).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_not_cut() {
        let values: Vec<f64> = (0..60).map(f64::from).collect();
        let codes: Vec<u32> = (0..60).map(|i| i * 7 % 5 % 2).collect();
        assert!(entropy_cuts(&values, &codes, 2, None).is_empty());
    }

    #[test]
    fn weights_count_repetitions() {
        let values: Vec<f64> = (0..12).map(f64::from).collect();
        let codes: Vec<u32> = (0..12).map(|i| u32::from(i > 4)).collect();
        let weights = vec![2.0; 12];
        let twice: Vec<f64> = values.iter().flat_map(|&v| [v, v]).collect();
        let twice_codes: Vec<u32> = codes.iter().flat_map(|&c| [c, c]).collect();
        let weighted = entropy_cuts(&values, &codes, 2, Some(&weights));
        assert_eq!(weighted, entropy_cuts(&twice, &twice_codes, 2, None));
        assert_eq!(weighted, [4.5]);
    }
}
