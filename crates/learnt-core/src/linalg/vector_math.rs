//! Exponentials and logarithms of whole slices.
//!
//! `exp` is 2^n exp(r) with n the nearest whole number to x / ln 2 and r by its Taylor series of
//! degree 13, |r| <= ln(2)/2; `ln_1p` on [0, 1] is 2 atanh(z) by its odd series of degree 21 after
//! one halving; `ln` is n ln 2 + ln m, m in [1/sqrt(2), sqrt(2)) by the same series. All are within two
//! units in the last place of the true value. They consist of fused multiply-adds, one division and
//! selections only, so the compiler runs them in vectors of whatever width the processor has, with the same
//! bits on all of them. Outside a [`vectorized!`](crate::vectorized) loop, and on processors without fused
//! multiply-adds, each of these is a slow call.

use crate::vectorized;

/// `1.5 * 2^52`: adding it rounds to a whole number, kept in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Below, `exp` is taken as zero: the result would not be a normal number.
const SMALLEST: f64 = -708.0;
const LARGEST: f64 = 709.0;

/// 1 / k! and 1 / (k - 1)! from k = 13 down to k = 3, in steps of two.
const EXP_SERIES: [[f64; 2]; 6] = [
    [1.0 / 6_227_020_800.0, 1.0 / 479_001_600.0],
    [1.0 / 39_916_800.0, 1.0 / 3_628_800.0],
    [1.0 / 362_880.0, 1.0 / 40_320.0],
    [1.0 / 5_040.0, 1.0 / 720.0],
    [1.0 / 120.0, 1.0 / 24.0],
    [1.0 / 6.0, 0.5],
];

/// exp(x) for finite x up to 709, where larger ones are cut; 0 below -708.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let inside = x.clamp(SMALLEST, LARGEST);
    let shifted = inside.mul_add(std::f64::consts::LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let r = (-n).mul_add(LN_2_LOW, (-n).mul_add(LN_2_HIGH, inside));
    // The odd and the even terms wait for one another only at the end.
    let square = r * r;
    let [mut odd, mut even] = EXP_SERIES[0];
    for coefficients in &EXP_SERIES[1..] {
        odd = odd.mul_add(square, coefficients[0]);
        even = even.mul_add(square, coefficients[1]);
    }
    let series = 1.0 + odd.mul_add(r, even).mul_add(square, r);
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if x < SMALLEST { 0.0 } else { series * power }
}

/// ln(1 + x) for x in [0, 1].
#[inline(always)]
pub fn ln_1p_unit(x: f64) -> f64 {
    let halve = x > std::f64::consts::SQRT_2 - 1.0;
    let top = if halve { x - 1.0 } else { x };
    let bottom = if halve { x + 3.0 } else { x + 2.0 };
    let main = twice_atanh(top / bottom);
    if halve { main + std::f64::consts::LN_2 } else { main }
}

/// 2 atanh(z) for |z| up to 0.172.
#[inline(always)]
fn twice_atanh(z: f64) -> f64 {
    let square = z * z;
    let mut series = 1.0_f64 / 21.0;
    for odd in [19.0_f64, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        series = series.mul_add(square, odd.recip());
    }
    2.0 * z + 2.0 * z * square * series
}

/// The bits of 1, less those of 1 / sqrt(2).
const FROM_ROOT_OF_HALF: u64 = 0x3FF0_0000_0000_0000 - 0x3FE6_A09E_667F_3BCD;
/// `2^52`, whose low bits are a whole number.
const WHOLE: f64 = 4_503_599_627_370_496.0;
/// `2^54`, which makes the smallest numbers normal.
const LIFT: f64 = 18_014_398_509_481_984.0;

/// ln(x) for x >= 0: minus infinity of 0, infinity of infinity.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let tiny = x < f64::MIN_POSITIVE;
    let bits = (if tiny { x * LIFT } else { x }).to_bits();
    let exponent = bits.wrapping_add(FROM_ROOT_OF_HALF) >> 52;
    let m = f64::from_bits(bits.wrapping_sub(exponent << 52).wrapping_add(1023 << 52));
    let bias = if tiny { WHOLE + 1023.0 + 54.0 } else { WHOLE + 1023.0 };
    let n = f64::from_bits(exponent | WHOLE.to_bits()) - bias;
    let main = twice_atanh((m - 1.0) / (m + 1.0));
    let value = n.mul_add(LN_2_HIGH, n.mul_add(LN_2_LOW, main));
    let above = if x > 0.0 { value } else { f64::NEG_INFINITY };
    if x < f64::INFINITY { above } else { x }
}

/// Replaces each value by its exponential.
pub fn exp_in_place(values: &mut [f64]) {
    vectorized!(for value in values.iter_mut() {
        *value = exp(*value);
    });
}

/// Replaces each value by the exponential of what it exceeds `most` by, and gives their sum.
pub fn exp_beyond(values: &mut [f64], most: f64) -> f64 {
    vectorized!(for value in values.iter_mut() {
        *value = exp(*value - most);
    });
    values.iter().sum()
}

/// Pairs (1 - p, p) with p = 1 / (1 + exp(-score)), precise in both tails.
pub fn logistic_pairs(scores: &[f64], pairs: &mut [f64]) {
    vectorized!(for (&score, pair) in scores.iter().zip(pairs.as_chunks_mut::<2>().0) {
        let odds = exp(-score.abs());
        let likely = 1.0 / (1.0 + odds);
        let unlikely = odds * likely;
        *pair = if score >= 0.0 { [unlikely, likely] } else { [likely, unlikely] };
    });
}

/// Scores of classes, row by row, become shares: exponentials of the scores less the largest of their row, over the sum
/// of these. NaN has no share; scores that are all infinitely far below, or infinite, share a row among the largest.
pub fn softmax(scores: &mut [f64], classes: usize) {
    const TOGETHER: usize = 1024;
    let classes = classes.max(1);
    for rows in scores.chunks_mut((TOGETHER / classes).max(1) * classes) {
        vectorized!(softmax_rows(rows, classes));
    }
}

#[inline(always)]
fn softmax_rows(scores: &mut [f64], classes: usize) {
    for row in scores.chunks_exact_mut(classes) {
        let mut largest = f64::NEG_INFINITY;
        for &score in row.iter() {
            largest = if score > largest { score } else { largest };
        }
        for score in row.iter_mut() {
            let beyond = if *score == largest { 0.0 } else { *score - largest };
            *score = if beyond.is_nan() { f64::NEG_INFINITY } else { beyond };
        }
    }
    for score in scores.iter_mut() {
        *score = exp(*score);
    }
    for row in scores.chunks_exact_mut(classes) {
        let mut total = 0.0;
        for &share in row.iter() {
            total += share;
        }
        // One division a row: they take longer than all the rest.
        let part = 1.0 / total;
        for share in row.iter_mut() {
            *share *= part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(got: f64, expected: f64) -> f64 {
        (got - expected).abs() / (expected.abs() * f64::EPSILON)
    }

    #[test]
    fn exp_is_within_two_units_over_its_range() {
        let worst = (-70_000..=70_000)
            .map(|k| f64::from(k) * 0.010_107)
            .map(|x| units(exp(x), x.exp()))
            .fold(0.0, f64::max);
        assert!(worst <= 2.0, "{worst}");
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e300), 0.0);
        assert!(exp(1e300).is_finite());
    }

    #[test]
    fn ln_1p_is_within_two_units_on_its_interval() {
        let worst = (0..=100_000)
            .map(|k| f64::from(k) / 100_000.0)
            .chain((1..300).map(|k| 10_f64.powi(-k)))
            .filter(|&x| x > 0.0)
            .map(|x| units(ln_1p_unit(x), x.ln_1p()))
            .fold(0.0, f64::max);
        assert!(worst <= 2.0, "{worst}");
        assert_eq!(ln_1p_unit(0.0), 0.0);
    }

    #[test]
    fn ln_is_within_two_units_over_all_positive_numbers() {
        let near_one = (-50_000..=50_000).map(|k| 1.0 + f64::from(k) * 1.9e-5);
        let all = (-10_740..=10_230).map(|k| 2.0_f64.powf(f64::from(k) / 10.0));
        let ends = [5e-324, f64::MIN_POSITIVE, f64::MAX, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON];
        let worst = near_one
            .chain(all)
            .chain(ends)
            .filter(|&x| x > 0.0 && x != 1.0)
            .map(|x| units(ln(x), x.ln()))
            .fold(0.0, f64::max);
        assert!(worst <= 2.0, "{worst}");
        assert_eq!([ln(1.0), ln(0.0), ln(f64::INFINITY)], [0.0, f64::NEG_INFINITY, f64::INFINITY]);
        assert!(ln(f64::NAN).is_nan());
    }

    #[test]
    fn shares_of_classes_sum_to_one_whatever_the_scores() {
        let (far, nan) = (f64::INFINITY, f64::NAN);
        for (scores, expected) in [
            ([0.0, 0.0, 0.0], [1.0 / 3.0; 3]),
            ([-far, -far, -far], [1.0 / 3.0; 3]),
            ([far, 1.0, far], [0.5, 0.0, 0.5]),
            ([nan, 2.0, -far], [0.0, 1.0, 0.0]),
            ([1e300, -2000.0, 0.0], [1.0, 0.0, 0.0]),
            (
                [1.0, 2.0, 3.0],
                [0.090_030_573_170_380_46, 0.244_728_471_054_797_67, 0.665_240_955_774_821_8],
            ),
        ] {
            let mut rows = scores.repeat(500);
            softmax(&mut rows, 3);
            for (share, expected) in rows.chunks_exact(3).flat_map(|row| row.iter().zip(&expected))
            {
                assert!((share - expected).abs() < 1e-15, "{scores:?}");
            }
        }
    }

    #[test]
    fn a_slice_has_the_bits_of_its_elements() {
        let inputs: Vec<f64> = (0..1003).map(|k| f64::from(k) * 0.7 - 400.0).collect();
        let mut outputs = inputs.clone();
        exp_in_place(&mut outputs);
        for (x, y) in inputs.iter().zip(&outputs) {
            assert_eq!(exp(*x).to_bits(), y.to_bits());
        }
    }
}
