//! Truth and residuals r = y - f of one output, which the scores of predicted numbers are read off.
//!
//! Sums run over blocks of rows on all threads, in eight interleaved sums each, and are added in the order of
//! the blocks. Variances are Σ w (v - v̄)² about the mean of each block, merged by the rule of Chan, Golub and
//! LeVeque (1983). A value that is not finite shows in Σ 0 r, which is then not 0, and is an error.
//! The mean absolute percentage error does not exist where the truth is 0.

use super::{same_length, undefined, weight_of};
use learnt_core::linalg::lane_sum;
use learnt_core::prelude::*;
use learnt_core::stats::summary;
use learnt_core::vectorized;
use std::borrow::Cow;
use std::ops::Range;

/// Rows in a block: two columns and weights stay in the cache of a core.
pub(super) const BLOCK: usize = 8192;

/// Truth and prediction of one output.
#[derive(Clone)]
pub struct Residuals<'a> {
    truth: Cow<'a, [f64]>,
    prediction: Cow<'a, [f64]>,
    weights: Option<&'a [f64]>,
    run: Context<'a>,
}

impl<'a> Residuals<'a> {
    /// Of one output; there must be rows of positive weight.
    pub fn new(
        truth: impl Into<Cow<'a, [f64]>>,
        prediction: impl Into<Cow<'a, [f64]>>,
        weights: Option<&'a [f64]>,
        run: &Context<'a>,
    ) -> Result<Self> {
        let (truth, prediction) = (truth.into(), prediction.into());
        same_length("prediction", truth.len(), prediction.len())?;
        if let Some(weights) = weights {
            same_length("weights", truth.len(), weights.len())?;
        }
        if truth.is_empty() || weights.is_some_and(|all| all.iter().all(|w| *w <= 0.0)) {
            return Err(undefined("the score", "there are no rows"));
        }
        Ok(Residuals { truth, prediction, weights, run: *run })
    }

    fn blocks<T: Send>(&self, f: impl Fn(Rows) -> T + Sync) -> Vec<T> {
        self.run.par_ranges(self.truth.len(), BLOCK, |range| {
            f(Rows::of(&self.truth, &self.prediction, self.weights, range))
        })
    }

    /// A sum over rows, taken of each block, over Σ w.
    fn mean(&self, sum: impl Fn(Rows) -> Sum + Sync) -> Result<f64> {
        let parts = self.blocks(|rows| (sum(rows), rows.weight()));
        let (mut sum, mut weight, mut fault) = (0.0, 0.0, 0.0);
        for (part, own) in parts {
            sum += part.value;
            fault += part.fault;
            weight += own;
        }
        finite(sum / weight + fault)
    }

    fn variance(&self, spread: impl Fn(Rows) -> (Option<Spread>, f64) + Sync) -> Result<f64> {
        let (parts, faults): (Vec<_>, Vec<f64>) = self.blocks(spread).into_iter().unzip();
        let fault: f64 = faults.into_iter().sum();
        let all = parts.into_iter().flatten().reduce(Spread::merge);
        finite(all.map_or(0.0, |all| all.variance()) + fault)
    }

    /// Mean of (y - f)².
    pub fn mse(&self) -> Result<f64> {
        self.mean(squared)
    }

    /// Square root of [`Residuals::mse`].
    pub fn rmse(&self) -> Result<f64> {
        self.mse().map(f64::sqrt)
    }

    /// Mean of |y - f|.
    pub fn mae(&self) -> Result<f64> {
        self.mean(|rows| vectorized!(rows.sum(|y, f| (y - f).abs())))
    }

    /// Median of |y - f|.
    pub fn median_absolute_error(&self) -> Result<f64> {
        let sizes: Vec<f64> =
            self.truth.iter().zip(&*self.prediction).map(|(y, f)| (y - f).abs()).collect();
        finite(sizes.iter().map(|size| size * 0.0).sum())?;
        let median = match self.weights {
            None => summary::median(&sizes),
            Some(weights) => summary::weighted_quantile(&sizes, weights, 0.5),
        };
        median.ok_or_else(|| undefined("median-ae", "there are no rows"))
    }

    /// Largest |y - f|.
    pub fn max_error(&self) -> Result<f64> {
        let parts = self.blocks(|rows| vectorized!(rows.largest()));
        let fault: f64 = parts.iter().map(|part| part.fault).sum();
        finite(parts.iter().fold(0.0, |all, part| part.value.max(all)) + fault)
    }

    /// Mean of |y - f| / |y|; an error where y is 0.
    pub fn mape(&self) -> Result<f64> {
        let mean = self.mean(|rows| vectorized!(rows.sum(|y, f| ((y - f) / y).abs())));
        mean.map_err(|error| {
            let zero = |i: usize| self.truth[i] == 0.0 && weight_of(self.weights, i) > 0.0;
            match (0..self.truth.len()).any(zero) {
                true => undefined("mape", "the truth holds 0").hint("use mae"),
                false => error.hint("the truth may be too near to 0: use mae"),
            }
        })
    }

    /// Mean of |y - f| / |y|, with |y| at least the machine precision.
    pub fn floored_mape(&self) -> Result<f64> {
        self.mean(|rows| {
            vectorized!(rows.sum(|y, f| {
                let size = y.abs();
                (y - f).abs() / if size > f64::EPSILON { size } else { f64::EPSILON }
            }))
        })
    }

    /// Variance of the truth, divisor n.
    pub fn truth_variance(&self) -> Result<f64> {
        self.variance(|rows| vectorized!(rows.spread(|y, _| y)))
    }

    /// Variance of the residuals, divisor n.
    pub fn residual_variance(&self) -> Result<f64> {
        self.variance(|rows| vectorized!(rows.spread(|y, f| y - f)))
    }
}

fn squared(rows: Rows) -> Sum {
    vectorized!(rows.sum(|y, f| (y - f) * (y - f)))
}

fn finite(value: f64) -> Result<f64> {
    match value.is_finite() {
        true => Ok(value),
        false => Err(Error::numeric("the residuals are not finite, or overflow")),
    }
}

/// A sum over rows, and 0 if all residuals were finite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    pub(super) value: f64,
    pub(super) fault: f64,
}

/// Some rows of one output.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    truth: &'a [f64],
    prediction: &'a [f64],
    weights: Option<&'a [f64]>,
}

impl<'a> Rows<'a> {
    /// These rows of whole columns.
    pub(super) fn of(
        truth: &'a [f64],
        prediction: &'a [f64],
        weights: Option<&'a [f64]>,
        range: Range<usize>,
    ) -> Rows<'a> {
        Rows {
            truth: &truth[range.clone()],
            prediction: &prediction[range.clone()],
            weights: weights.map(|weights| &weights[range]),
        }
    }

    /// Σ w.
    pub(super) fn weight(&self) -> f64 {
        match self.weights {
            None => self.truth.len() as f64,
            Some(_) => vectorized!(self.sum(|_, _| 1.0)).value,
        }
    }

    /// Σ w g(y, f) over rows of positive weight.
    #[inline(always)]
    pub(super) fn sum(&self, mut g: impl FnMut(f64, f64) -> f64) -> Sum {
        let (y8, _) = self.truth.as_chunks::<8>();
        let (f8, _) = self.prediction.as_chunks::<8>();
        let (mut sums, mut faults) = ([0.0; 8], [0.0; 8]);
        let counted = |w: f64, value: f64| if w > 0.0 { w * value } else { 0.0 };
        match self.weights {
            None => {
                for (y, f) in y8.iter().zip(f8) {
                    for k in 0..8 {
                        sums[k] += g(y[k], f[k]);
                        faults[k] += 0.0 * (y[k] - f[k]);
                    }
                }
            }
            Some(weights) => {
                for ((y, f), w) in y8.iter().zip(f8).zip(weights.as_chunks::<8>().0) {
                    for k in 0..8 {
                        sums[k] += counted(w[k], g(y[k], f[k]));
                        faults[k] += 0.0 * (y[k] - f[k]);
                    }
                }
            }
        }
        let (mut rest, mut fault) = (0.0, 0.0);
        for i in 8 * y8.len()..self.truth.len() {
            let (y, f) = (self.truth[i], self.prediction[i]);
            rest += counted(weight_of(self.weights, i), g(y, f));
            fault += 0.0 * (y - f);
        }
        Sum { value: lane_sum(sums) + rest, fault: lane_sum(faults) + fault }
    }

    /// The largest |r|, of rows of any weight.
    #[inline(always)]
    fn largest(&self) -> Sum {
        let (y8, y_rest) = self.truth.as_chunks::<8>();
        let (f8, f_rest) = self.prediction.as_chunks::<8>();
        let (mut most, mut faults) = ([0.0; 8], [0.0; 8]);
        for (y, f) in y8.iter().zip(f8) {
            for k in 0..8 {
                let size = (y[k] - f[k]).abs();
                most[k] = if size > most[k] { size } else { most[k] };
                faults[k] += 0.0 * size;
            }
        }
        let rest = y_rest.iter().zip(f_rest).map(|(y, f)| (y - f).abs());
        let fault: f64 = rest.clone().map(|size| 0.0 * size).sum();
        let value = rest.chain(std::hint::black_box(most)).fold(0.0, f64::max);
        Sum { value, fault: lane_sum(faults) + fault }
    }

    /// Mean and squares of g(y, f) over rows of positive weight, if there are any; and the fault.
    #[inline(always)]
    fn spread(&self, g: impl Fn(f64, f64) -> f64) -> (Option<Spread>, f64) {
        let all = self.sum(&g);
        let at = (0..self.truth.len()).find(|&i| weight_of(self.weights, i) > 0.0);
        let Some(at) = at else { return (None, all.fault) };
        let first = g(self.truth[at], self.prediction[at]);
        let weight = match self.weights {
            None => self.truth.len() as f64,
            Some(_) => self.sum(|_, _| 1.0).value,
        };
        let mean = all.value / weight;
        let squares = self.sum(|y, f| (g(y, f) - mean) * (g(y, f) - mean)).value;
        let others = self.sum(|y, f| if g(y, f) == first { 0.0 } else { 1.0 }).value;
        let constant = (others == 0.0).then_some(first);
        (Some(Spread { weight, mean, squares, constant }), all.fault)
    }
}

/// Weight, mean and squares about it.
#[derive(Clone, Copy, Debug)]
struct Spread {
    weight: f64,
    mean: f64,
    squares: f64,
    /// The value of all rows, if they have one: rounding leaves squares above 0 then.
    constant: Option<f64>,
}

impl Spread {
    fn merge(self, later: Spread) -> Spread {
        let weight = self.weight + later.weight;
        let (share, shift) = (later.weight / weight, later.mean - self.mean);
        Spread {
            weight,
            mean: self.mean + share * shift,
            squares: self.squares + later.squares + self.weight * share * shift * shift,
            constant: self.constant.filter(|_| self.constant == later.constant),
        }
    }

    fn variance(&self) -> f64 {
        if self.constant.is_some() { 0.0 } else { self.squares / self.weight }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::standard_normal;

    fn of<'a>(y: &'a [f64], f: &'a [f64], weights: Option<&'a [f64]>) -> Residuals<'a> {
        Residuals::new(y, f, weights, &Context::default()).unwrap()
    }

    const SCORES: [fn(&Residuals) -> Result<f64>; 8] = [
        |of| of.mse(),
        |of| of.mae(),
        |of| of.truth_variance(),
        |of| of.mape(),
        |of| of.floored_mape(),
        |of| of.max_error(),
        |of| of.median_absolute_error(),
        |of| of.residual_variance(),
    ];

    #[test]
    fn weight_two_equals_a_repeated_row() {
        let (y, f) = ([1.0, 5.0, 2.0], [1.5, 4.0, 2.5]);
        let weighted = of(&y, &f, Some(&[2.0, 1.0, 0.0]));
        let repeated = of(&[1.0, 1.0, 5.0], &[1.5, 1.5, 4.0], None);
        for score in SCORES {
            assert!((score(&weighted).unwrap() - score(&repeated).unwrap()).abs() < 1e-14);
        }
    }

    #[test]
    fn blocks_and_lanes_leave_out_no_row_and_threads_change_no_bit() {
        let mut rng = Context::default().rng(3);
        for n in [1, 7, 9, BLOCK - 1, BLOCK, 2 * BLOCK + 5] {
            let y: Vec<f64> = (0..n).map(|_| 1e4 + standard_normal(&mut rng)).collect();
            let f: Vec<f64> = y.iter().map(|y| y + standard_normal(&mut rng)).collect();
            let weights: Vec<f64> = (0..n).map(|i| ((i + 1) % 4) as f64).collect();
            for w in [None, Some(&weights[..])] {
                let rows = y.iter().zip(&f).enumerate();
                let kept = rows.map(|(i, (y, f))| (weight_of(w, i), *y, y - f));
                let kept: Vec<_> = kept.filter(|row| row.0 > 0.0).collect();
                let total: f64 = kept.iter().map(|row| row.0).sum();
                let mean = |f: &dyn Fn(f64, f64) -> f64| {
                    kept.iter().map(|(w, y, r)| w * f(*y, *r)).sum::<f64>() / total
                };
                let (centre, bias) = (mean(&|y, _| y), mean(&|_, r| r));
                let expected = [
                    mean(&|_, r| r * r),
                    mean(&|_, r| r.abs()),
                    mean(&|y, _| (y - centre).powi(2)),
                    mean(&|y, r| (r / y).abs()),
                    mean(&|y, r| (r / y).abs()),
                ];
                let all = of(&y, &f, w);
                for (score, expected) in SCORES.iter().zip(expected) {
                    let found = score(&all).unwrap();
                    assert!((found - expected).abs() <= 1e-9 * expected, "{n}: {found} {expected}");
                }
                let left = mean(&|_, r| (r - bias).powi(2));
                assert!((all.residual_variance().unwrap() - left).abs() <= 1e-9 * left);
                let largest = y.iter().zip(&f).map(|(y, f)| (y - f).abs()).fold(0.0, f64::max);
                assert_eq!(all.max_error().unwrap(), largest);
                let alone = Context::default().with_threads(1);
                let alone = Residuals::new(&y[..], &f[..], w, &alone).unwrap();
                for score in SCORES {
                    assert_eq!(score(&all).unwrap().to_bits(), score(&alone).unwrap().to_bits());
                }
            }
        }
    }

    #[test]
    fn constants_have_no_variance_and_values_that_are_not_finite_no_score() {
        let mut y = vec![0.1; 3 * BLOCK + 1];
        let f = vec![0.3; y.len()];
        assert_eq!(of(&y, &f, None).truth_variance().unwrap(), 0.0);
        assert_eq!(of(&y, &f, None).residual_variance().unwrap(), 0.0);
        for place in [0, BLOCK + 3, 3 * BLOCK] {
            for bad in [f64::NAN, f64::INFINITY] {
                y[place] = bad;
                assert!(SCORES.iter().all(|score| score(&of(&y, &f, None)).is_err()), "{place}");
                let mut weights = vec![1.0; y.len()];
                weights[place] = 0.0;
                let of = of(&y, &f, Some(&weights));
                assert!(SCORES.iter().all(|score| score(&of).is_err()), "{place}");
                y[place] = 0.1;
            }
        }
    }

    #[test]
    fn a_zero_truth_has_no_percentage_error() {
        let residuals = of(&[0.0, 2.0], &[2.0, 1.0], None);
        assert!(residuals.mape().unwrap_err().hint_text().unwrap().contains("mae"));
        assert!(of(&[0.0, 2.0], &[2.0, 1.0], Some(&[0.0, 1.0])).mape().unwrap() == 0.5);
    }
}
