//! Numbers whose sums have no rounding: all are multiples of one power of two, and so few of them that
//! every sum of some has its exact value. So sums are the same in any order, on any number of threads, and
//! merged from any parts.
//!
//! The unit is 2^-51 of the power of two above the sum of all absolute values. Whole numbers stay as
//! they are.

/// A grid of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    /// A number whose neighbours are one unit away: added and taken away again, it rounds.
    shift: f64,
    unit: f64,
}

/// Bits of a number below its leading one.
const FRACTION_BITS: u32 = 52;
/// The exponent of one, as it is stored.
const BIAS: u64 = 1023;

impl Grid {
    /// For numbers whose absolute values have at most this sum.
    pub(crate) fn new(sum: f64) -> Self {
        // As it is stored, the exponent of the power of two above the sum is one more.
        let above = (sum.to_bits() >> FRACTION_BITS) + 1;
        if !(sum.is_finite() && sum > 0.0 && above + 2 < 2 * BIAS) {
            return Grid { shift: 0.0, unit: 0.0 };
        }
        let unit = above.saturating_sub(u64::from(FRACTION_BITS) - 1).max(1);
        let power = |exponent: u64| f64::from_bits(exponent << FRACTION_BITS);
        Grid { shift: 1.5 * power(unit + u64::from(FRACTION_BITS)), unit: power(unit) }
    }

    /// The nearest number of the grid.
    #[inline(always)]
    pub(crate) fn round(&self, x: f64) -> f64 {
        (x + self.shift) - self.shift
    }

    /// The nearest number of the grid above zero, for what is above zero.
    #[inline(always)]
    pub(crate) fn positive(&self, x: f64) -> f64 {
        self.round(x).max(self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_on_a_grid_do_not_depend_on_their_order() {
        let values: Vec<f64> = (0..20_000_u32)
            .map(|i| f64::from(i).sqrt() * if i % 3 == 0 { -1.7 } else { 1.1 })
            .collect();
        let grid = Grid::new(values.iter().map(|x| x.abs()).sum());
        let rounded: Vec<f64> = values.iter().map(|&x| grid.round(x)).collect();
        let forward: f64 = rounded.iter().sum();
        let backward: f64 = rounded.iter().rev().sum();
        let parts: f64 = rounded.chunks(77).map(|part| part.iter().sum::<f64>()).sum();
        assert_eq!([forward.to_bits(), parts.to_bits()], [backward.to_bits(); 2]);
        let plain = (values.iter().sum::<f64>(), values.iter().rev().sum::<f64>());
        assert_ne!(plain.0, plain.1, "without a grid the order matters");
        let farthest = values.iter().zip(&rounded).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(farthest <= grid.unit / 2.0);
    }

    #[test]
    fn whole_numbers_and_sums_without_a_size_stay_as_they_are() {
        let grid = Grid::new(1e9);
        assert!((0..1000).all(|i| grid.round(f64::from(i)) == f64::from(i)));
        assert_eq!(grid.positive(1e-300), grid.unit);
        for sum in [0.0, f64::INFINITY, f64::NAN, f64::MAX] {
            assert_eq!(Grid::new(sum).round(0.1), 0.1);
        }
        let tiny = Grid::new(1e-310);
        assert!(tiny.round(1e-310).is_finite());
    }
}
