//! Newton steps or quasi-Newton steps: whichever takes less arithmetic.
//!
//! With c columns, m classes beside the first and n rows, a pass for value and gradient takes about
//! n m (4 c + 60) operations, 60 for the exponential and logarithm; second derivatives take n c² for
//! each of m (m + 1) / 2 blocks. Newton needs few passes, each with second derivatives and a
//! factorisation; L-BFGS needs more, and second derivatives once, for its coordinates.

/// Passes that Newton's method usually takes.
const NEWTON: f64 = 6.0;
/// Passes that L-BFGS usually takes in the coordinates of the Hessian at zero.
const QUASI: f64 = 14.0;
/// Operations below which the method does not matter, and Newton's digits do.
const LITTLE: f64 = 5e8;
/// Parameters above which second derivatives are never formed: of two classes, of more.
const MOST: (usize, usize) = (501, 100);

/// Whether Newton's method can be used at all unasked.
pub(super) fn newton_fits(others: usize, columns: usize) -> bool {
    others * columns <= if others == 1 { MOST.0 } else { MOST.1 }
}

/// Whether Newton's method takes less than L-BFGS, or so little that it does not matter.
pub(super) fn newton_pays(rows: u64, others: usize, columns: usize) -> bool {
    let (n, m, c) = (rows as f64, others as f64, columns as f64);
    let pass = n * m * (4.0 * c + 60.0);
    let blocks = n * c * c * m * (m + 1.0) / 2.0;
    let newton = NEWTON * (pass + blocks + (m * c).powi(3) / 3.0);
    let quasi = QUASI * pass + n * c * c;
    newton_fits(others, columns) && (newton <= LITTLE || newton <= quasi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheaper_method_is_chosen_on_both_sides_of_each_crossover() {
        assert!(newton_pays(569, 1, 31) && newton_pays(150, 2, 5));
        assert!(newton_pays(1_000_000, 1, 11) && !newton_pays(1_000_000, 1, 21));
        assert!(newton_pays(5_000, 1, 101) && !newton_pays(50_000, 1, 501));
        assert!(!newton_pays(200, 1, 5001) && !newton_pays(200, 9, 51));
        assert!(newton_fits(1, 501) && !newton_fits(1, 502));
    }
}
