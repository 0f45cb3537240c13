//! Scores of rankings: ROC, precision and recall over thresholds, cumulative gains.
//!
//! A row is called positive if its score is at least the threshold; equal scores move in one step.
//! The area under the ROC curve by trapezoids is P(s⁺ > s⁻) + P(s⁺ = s⁻) / 2. Average precision is
//! Σ (R_n - R_{n-1}) P_n. One sort, so n log n.

use super::{same_length, undefined, weight_of};
use learnt_core::prelude::*;

/// False against true positive rate.
#[derive(Clone, Debug, PartialEq)]
pub struct RocCurve {
    /// Falling; infinite first, for nothing called positive.
    pub thresholds: Vec<f64>,
    /// FP / (FP + TN).
    pub false_positive_rate: Vec<f64>,
    /// TP / (TP + FN).
    pub true_positive_rate: Vec<f64>,
}

/// Precision against recall.
#[derive(Clone, Debug, PartialEq)]
pub struct PrecisionRecallCurve {
    /// Falling; infinite first, for nothing called positive.
    pub thresholds: Vec<f64>,
    /// TP / (TP + FP); 1 at the first.
    pub precision: Vec<f64>,
    /// TP / (TP + FN); 0 at the first.
    pub recall: Vec<f64>,
}

/// What is found when the rows with the highest scores are taken first.
#[derive(Clone, Debug, PartialEq)]
pub struct GainCurve {
    /// Share of rows taken.
    pub targeted: Vec<f64>,
    /// Share of positives among them.
    pub gain: Vec<f64>,
    /// Gain over share taken.
    pub lift: Vec<f64>,
}

/// Weights of true and false positives at each distinct score, from the highest on.
struct Steps {
    thresholds: Vec<f64>,
    true_positives: Vec<f64>,
    false_positives: Vec<f64>,
}

impl Steps {
    fn new(positive: &[bool], scores: &[f64], weights: Option<&[f64]>) -> Result<Steps> {
        same_length("scores", positive.len(), scores.len())?;
        if let Some(i) = scores.iter().position(|score| score.is_nan()) {
            let message = format!("the score of row {} is NaN", i + 1);
            return Err(Error::numeric(message).row(i as u64 + 1));
        }
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let mut steps = Steps {
            thresholds: Vec::new(),
            true_positives: Vec::new(),
            false_positives: Vec::new(),
        };
        let (mut hits, mut misses) = (0.0, 0.0);
        for (place, &i) in order.iter().enumerate() {
            let weight = weight_of(weights, i);
            if positive[i] {
                hits += weight
            } else {
                misses += weight
            }
            let last_of_equals = order.get(place + 1).is_none_or(|&next| scores[next] != scores[i]);
            if last_of_equals {
                steps.thresholds.push(scores[i]);
                steps.true_positives.push(hits);
                steps.false_positives.push(misses);
            }
        }
        Ok(steps)
    }

    fn totals(&self) -> (f64, f64) {
        let last = |values: &[f64]| values.last().copied().unwrap_or(0.0);
        (last(&self.true_positives), last(&self.false_positives))
    }

    fn both_classes(&self, score: &str) -> Result<(f64, f64)> {
        match self.totals() {
            (hits, misses) if hits > 0.0 && misses > 0.0 => Ok((hits, misses)),
            (hits, _) => {
                let absent = if hits > 0.0 { "negative" } else { "positive" };
                let message = format!("{score} is undefined: there are no {absent} rows");
                Err(Error::new(Code::OneClass, message))
            }
        }
    }

    fn positives(&self, score: &str) -> Result<f64> {
        match self.totals() {
            (hits, _) if hits > 0.0 => Ok(hits),
            _ => Err(undefined(score, "there are no positive rows")),
        }
    }
}

/// The ROC curve, with every distinct score as a threshold.
pub fn roc_curve(positive: &[bool], scores: &[f64], weights: Option<&[f64]>) -> Result<RocCurve> {
    let steps = Steps::new(positive, scores, weights)?;
    let (hits, misses) = steps.both_classes("the ROC curve")?;
    Ok(RocCurve {
        thresholds: after(f64::INFINITY, steps.thresholds.iter().copied()),
        false_positive_rate: after(0.0, steps.false_positives.iter().map(|f| f / misses)),
        true_positive_rate: after(0.0, steps.true_positives.iter().map(|t| t / hits)),
    })
}

fn after(first: f64, rest: impl Iterator<Item = f64>) -> Vec<f64> {
    std::iter::once(first).chain(rest).collect()
}

/// Area under the ROC curve.
pub fn roc_auc(positive: &[bool], scores: &[f64], weights: Option<&[f64]>) -> Result<f64> {
    let steps = Steps::new(positive, scores, weights)?;
    let (hits, misses) = steps.both_classes("auc")?;
    let (mut area, mut last_hits, mut last_misses) = (0.0, 0.0, 0.0);
    for (&t, &f) in steps.true_positives.iter().zip(&steps.false_positives) {
        area += (f - last_misses) * (t + last_hits) / 2.0;
        (last_hits, last_misses) = (t, f);
    }
    Ok(area / hits / misses)
}

/// Mean over the classes of the area of each against the rest.
pub fn roc_auc_one_vs_rest(codes: &[u32], scores: MatRef, weights: Option<&[f64]>) -> Result<f64> {
    same_length("scores", codes.len(), scores.nrows())?;
    let classes = scores.ncols();
    let mut sum = 0.0;
    for k in 0..classes {
        let positive: Vec<bool> = codes.iter().map(|&code| code as usize == k).collect();
        sum += roc_auc(&positive, &scores.column(k), weights)?;
    }
    match classes {
        0 => Err(undefined("auc", "there are no classes")),
        _ => Ok(sum / classes as f64),
    }
}

/// Precision and recall, with every distinct score as a threshold.
pub fn precision_recall_curve(
    positive: &[bool],
    scores: &[f64],
    weights: Option<&[f64]>,
) -> Result<PrecisionRecallCurve> {
    let steps = Steps::new(positive, scores, weights)?;
    let hits = steps.positives("recall")?;
    let pairs = steps.true_positives.iter().zip(&steps.false_positives);
    Ok(PrecisionRecallCurve {
        thresholds: after(f64::INFINITY, steps.thresholds.iter().copied()),
        precision: after(1.0, pairs.map(|(t, f)| t / (t + f))),
        recall: after(0.0, steps.true_positives.iter().map(|t| t / hits)),
    })
}

/// Σ (R_n - R_{n-1}) P_n.
pub fn average_precision(
    positive: &[bool],
    scores: &[f64],
    weights: Option<&[f64]>,
) -> Result<f64> {
    let curve = precision_recall_curve(positive, scores, weights)?;
    let steps = curve.recall.windows(2).zip(&curve.precision[1..]);
    Ok(steps.map(|(pair, precision)| (pair[1] - pair[0]) * precision).sum())
}

/// Cumulative gains; one point for each distinct score.
pub fn gain_curve(positive: &[bool], scores: &[f64], weights: Option<&[f64]>) -> Result<GainCurve> {
    let steps = Steps::new(positive, scores, weights)?;
    let hits = steps.positives("the gain")?;
    let (_, misses) = steps.totals();
    let pairs = steps.true_positives.iter().zip(&steps.false_positives);
    let targeted: Vec<f64> = pairs.map(|(t, f)| (t + f) / (hits + misses)).collect();
    let gain: Vec<f64> = steps.true_positives.iter().map(|t| t / hits).collect();
    let lift = gain.iter().zip(&targeted).map(|(gain, share)| gain / share).collect();
    Ok(GainCurve { targeted, gain, lift })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perfect_reversed_and_tied_rankings() {
        let positive = [false, false, true, true];
        assert_eq!(roc_auc(&positive, &[1.0, 2.0, 3.0, 4.0], None).unwrap(), 1.0);
        assert_eq!(roc_auc(&positive, &[4.0, 3.0, 2.0, 1.0], None).unwrap(), 0.0);
        assert_eq!(roc_auc(&positive, &[5.0; 4], None).unwrap(), 0.5);
        assert_eq!(average_precision(&positive, &[1.0, 2.0, 3.0, 4.0], None).unwrap(), 1.0);
    }

    #[test]
    fn the_area_counts_pairs_and_ties_by_half() {
        let positive: Vec<bool> = (0..60).map(|i| i * 7 % 11 < 5).collect();
        let scores: Vec<f64> = (0..60).map(|i| f64::from(i * 13 % 9)).collect();
        let (mut won, mut pairs) = (0.0, 0.0);
        for i in (0..60).filter(|&i| positive[i]) {
            for j in (0..60).filter(|&j| !positive[j]) {
                pairs += 1.0;
                won += f64::from(scores[i] > scores[j]) + 0.5 * f64::from(scores[i] == scores[j]);
            }
        }
        assert!((roc_auc(&positive, &scores, None).unwrap() - won / pairs).abs() < 1e-14);
    }

    #[test]
    fn one_class_has_no_area() {
        let error = roc_auc(&[true, true], &[1.0, 2.0], None).unwrap_err();
        assert_eq!(error.code(), Code::OneClass);
    }

    #[test]
    fn the_gain_curve_ends_at_all_rows_and_all_positives() {
        let curve = gain_curve(&[true, false, true], &[1.0, 2.0, 3.0], None).unwrap();
        assert_eq!((curve.targeted[2], curve.gain[2], curve.lift[2]), (1.0, 1.0, 1.0));
    }
}
