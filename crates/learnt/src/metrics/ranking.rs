//! Rankings: what is called positive as the threshold falls, which every curve is read off.
//!
//! A row is called positive if its score is at least the threshold; equal scores move in one step. Scores
//! are sorted as whole numbers of the same order: positives and negatives apart where rows are counted,
//! with their places where they are weighted. n log n time, in pieces of fixed size on all threads.

use super::{Ranked, positive_class, undefined};
use learnt_core::prelude::*;

/// Weights of true and false positives at each distinct score, from the highest on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// The distinct scores, falling.
    pub thresholds: Vec<f64>,
    /// Positives with at least that score.
    pub true_positives: Vec<f64>,
    /// Negatives with at least that score.
    pub false_positives: Vec<f64>,
}

/// Scores that one task sorts.
const PIECE: usize = 65_536;

impl Steps {
    /// Of rows that are positive or not, with their scores.
    pub fn new(
        positive: impl Fn(usize) -> bool,
        scores: &[f64],
        weights: Option<&[f64]>,
        run: &Context,
    ) -> Steps {
        match weights {
            None => Steps::counted(positive, scores, run),
            Some(weights) => Steps::weighted(positive, scores, weights, run),
        }
    }

    /// Of two classes: the positive one, and a column of scores or one a class.
    pub(super) fn of_two(
        given: &Ranked,
        pos_label: Option<&Value>,
        run: &Context,
    ) -> Result<Steps> {
        let positive = positive_class(pos_label, &given.y_true)?;
        let column = match given.y_score.ncols() {
            1 => 0,
            2 => positive.map_or(1, |code| code as usize),
            columns => return Err(Error::shape("y_score", "one or two columns", columns)),
        };
        let codes = given.y_true.codes;
        let scores = column_of(given.y_score, column);
        let is_positive = |i: usize| Some(codes[i]) == positive;
        Ok(Steps::new(is_positive, &scores, given.sample_weight, run))
    }

    fn counted(positive: impl Fn(usize) -> bool, scores: &[f64], run: &Context) -> Steps {
        let (mut hits, mut misses) = (Vec::new(), Vec::with_capacity(scores.len()));
        for (i, &score) in scores.iter().enumerate() {
            if positive(i) { hits.push(key(score)) } else { misses.push(key(score)) }
        }
        sort(&mut hits, run);
        sort(&mut misses, run);
        let mut steps = Steps::with_capacity(scores.len());
        let (mut t, mut f) = (0, 0);
        while t < hits.len() || f < misses.len() {
            let next = match (hits.get(t), misses.get(f)) {
                (Some(&a), Some(&b)) => a.min(b),
                (Some(&a), None) => a,
                (None, b) => b.copied().unwrap_or(u64::MAX),
            };
            while t < hits.len() && hits[t] == next {
                t += 1;
            }
            while f < misses.len() && misses[f] == next {
                f += 1;
            }
            steps.push(score_of(next), t as f64, f as f64);
        }
        steps
    }

    fn weighted(
        positive: impl Fn(usize) -> bool,
        scores: &[f64],
        weights: &[f64],
        run: &Context,
    ) -> Steps {
        let counts = (0..scores.len()).filter(|&i| weights[i] > 0.0);
        let mut order: Vec<(u64, u32)> = counts.map(|i| (key(scores[i]), i as u32)).collect();
        sort(&mut order, run);
        let mut steps = Steps::with_capacity(order.len());
        let (mut hits, mut misses) = (0.0, 0.0);
        for (place, &(key, i)) in order.iter().enumerate() {
            match positive(i as usize) {
                true => hits += weights[i as usize],
                false => misses += weights[i as usize],
            }
            if order.get(place + 1).is_none_or(|next| next.0 != key) {
                steps.push(score_of(key), hits, misses);
            }
        }
        steps
    }

    fn with_capacity(n: usize) -> Steps {
        let room = || Vec::with_capacity(n);
        Steps { thresholds: room(), true_positives: room(), false_positives: room() }
    }

    fn push(&mut self, threshold: f64, hits: f64, misses: f64) {
        self.thresholds.push(threshold);
        self.true_positives.push(hits);
        self.false_positives.push(misses);
    }

    /// Weights of all positives and of all negatives.
    pub fn totals(&self) -> (f64, f64) {
        let last = |values: &[f64]| values.last().copied().unwrap_or(0.0);
        (last(&self.true_positives), last(&self.false_positives))
    }

    /// The totals, if neither is 0; a lenient run goes on with a warning.
    pub fn both_classes(&self, score: &str, run: &Context) -> Result<(f64, f64)> {
        let (hits, misses) = self.totals();
        if hits > 0.0 && misses > 0.0 {
            return Ok((hits, misses));
        }
        let absent = if hits > 0.0 { "negative" } else { "positive" };
        let error = undefined(score, format!("there are no {absent} rows"));
        match run.is_lenient() {
            true => {
                run.warn(Code::Undefined, error.message().to_string());
                Ok((hits, misses))
            }
            false => Err(error),
        }
    }

    /// Area under the true against the false positives, by trapezoids.
    pub fn area(&self) -> f64 {
        let (mut area, mut last_hits, mut last_misses) = (0.0, 0.0, 0.0);
        for (&t, &f) in self.true_positives.iter().zip(&self.false_positives) {
            area += (f - last_misses) * (t + last_hits) / 2.0;
            (last_hits, last_misses) = (t, f);
        }
        area
    }

    /// Σ (R_n - R_{n-1}) P_n; 0 without positives.
    pub fn average_precision(&self) -> f64 {
        let (hits, _) = self.totals();
        let mut last = 0.0;
        let steps = self.true_positives.iter().zip(&self.false_positives).map(|(&t, &f)| {
            let step = (t - last) * (t / (t + f));
            last = t;
            step
        });
        let sum: f64 = steps.sum();
        if hits > 0.0 { sum / hits } else { 0.0 }
    }
}

/// A column, borrowed where it lies together.
pub(super) fn column_of(values: MatRef<'_>, j: usize) -> std::borrow::Cow<'_, [f64]> {
    match values.column_slice(j) {
        Some(column) => column.into(),
        None => values.column(j).into(),
    }
}

/// A whole number that falls as the score rises.
fn key(score: f64) -> u64 {
    // Adding zero turns -0 into 0, which is the same score.
    let bits = (score + 0.0).to_bits();
    let rising = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    !rising
}

/// The score of a key.
fn score_of(key: u64) -> f64 {
    let rising = !key;
    f64::from_bits(if rising >> 63 == 1 { rising & !(1 << 63) } else { !rising })
}

/// Sorts pieces on all threads; the stable sort then merges the runs that it finds.
fn sort<T: Ord + Copy + Send>(keys: &mut [T], run: &Context) {
    run.par_fill(keys, PIECE, |_, piece| piece.sort_unstable());
    if keys.len() > PIECE {
        keys.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(positive: &[bool], scores: &[f64]) -> Steps {
        Steps::new(|i| positive[i], scores, None, &Context::default())
    }

    fn area(positive: &[bool], scores: &[f64]) -> f64 {
        let steps = steps(positive, scores);
        let (hits, misses) = steps.totals();
        steps.area() / hits / misses
    }

    #[test]
    fn perfect_reversed_and_tied_rankings() {
        let positive = [false, false, true, true];
        assert_eq!(area(&positive, &[1.0, 2.0, 3.0, 4.0]), 1.0);
        assert_eq!(area(&positive, &[4.0, 3.0, 2.0, 1.0]), 0.0);
        assert_eq!(area(&positive, &[5.0; 4]), 0.5);
        assert_eq!(area(&[false, true], &[0.0, -0.0]), 0.5);
        assert_eq!(steps(&positive, &[1.0, 2.0, 3.0, 4.0]).average_precision(), 1.0);
    }

    #[test]
    fn the_area_counts_pairs_and_ties_by_half() {
        let positive: Vec<bool> = (0..60).map(|i| i * 7 % 11 < 5).collect();
        let scores: Vec<f64> = (0..60).map(|i| f64::from(i * 13 % 9) - 4.0).collect();
        let (mut won, mut pairs) = (0.0, 0.0);
        for i in (0..60).filter(|&i| positive[i]) {
            for j in (0..60).filter(|&j| !positive[j]) {
                pairs += 1.0;
                won += f64::from(scores[i] > scores[j]) + 0.5 * f64::from(scores[i] == scores[j]);
            }
        }
        assert!((area(&positive, &scores) - won / pairs).abs() < 1e-14);
    }

    #[test]
    fn weights_of_one_are_counts_and_keys_keep_scores() {
        let scores: Vec<f64> = (0..500).map(|i| f64::from(i * 37 % 101) / 7.0 - 5.0).collect();
        let run = Context::default();
        let positive = |i: usize| i.is_multiple_of(3);
        let ones = vec![1.0; 500];
        let counted = Steps::new(positive, &scores, None, &run);
        assert_eq!(counted, Steps::new(positive, &scores, Some(&ones), &run));
        assert!(scores.iter().all(|&score| score_of(key(score)) == score));
    }
}
