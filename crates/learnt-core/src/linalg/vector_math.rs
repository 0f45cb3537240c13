//! Exponentials and logarithms of whole slices.
//!
//! `exp` is 2^n exp(r) with n the nearest whole number to x / ln 2 and r by its Taylor series of
//! degree 13, |r| <= ln(2)/2; `ln_1p` on [0, 1] is 2 atanh(z) by its odd series of degree 21 after
//! one halving. Both are within two units in the last place of the true value. They consist of fused
//! multiply-adds, one division and selections only, so the compiler runs them in vectors of whatever width
//! the processor has, with the same bits on all of them. Outside a [`vectorized!`](crate::vectorized) loop, and
//! on processors without fused multiply-adds, each of these is a slow call.

use crate::vectorized;

/// `1.5 * 2^52`: adding it rounds to a whole number, kept in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Below, `exp` is taken as zero: the result would not be a normal number.
const SMALLEST: f64 = -708.0;
const LARGEST: f64 = 709.0;

/// 1 / k! from k = 13 down to k = 0.
const EXP_SERIES: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// exp(x) for finite x up to 709, where larger ones are cut; 0 below -708.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let inside = x.clamp(SMALLEST, LARGEST);
    let shifted = inside.mul_add(std::f64::consts::LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let r = (-n).mul_add(LN_2_LOW, (-n).mul_add(LN_2_HIGH, inside));
    let mut series = EXP_SERIES[0];
    for coefficient in &EXP_SERIES[1..] {
        series = series.mul_add(r, *coefficient);
    }
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if x < SMALLEST { 0.0 } else { series * power }
}

/// ln(1 + x) for x in [0, 1].
#[inline(always)]
pub fn ln_1p_unit(x: f64) -> f64 {
    let halve = x > std::f64::consts::SQRT_2 - 1.0;
    let top = if halve { x - 1.0 } else { x };
    let bottom = if halve { x + 3.0 } else { x + 2.0 };
    let z = top / bottom;
    let square = z * z;
    let mut series = 1.0_f64 / 21.0;
    for odd in [19.0_f64, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        series = series.mul_add(square, odd.recip());
    }
    let main = 2.0 * z + 2.0 * z * square * series;
    if halve { main + std::f64::consts::LN_2 } else { main }
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
    fn a_slice_has_the_bits_of_its_elements() {
        let inputs: Vec<f64> = (0..1003).map(|k| f64::from(k) * 0.7 - 400.0).collect();
        let mut outputs = inputs.clone();
        exp_in_place(&mut outputs);
        for (x, y) in inputs.iter().zip(&outputs) {
            assert_eq!(exp(*x).to_bits(), y.to_bits());
        }
    }
}
