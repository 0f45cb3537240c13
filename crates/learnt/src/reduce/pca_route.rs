//! Which algorithm finds principal components: the cheapest that is accurate enough.

use super::{Components, PCA, PcaSolver};
use learnt_core::prelude::*;

/// How components are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Route {
    /// Eigenvectors of the summed covariance.
    Covariance,
    /// Singular vectors of merged QR triangles.
    Triangle,
    /// A Krylov space, to a tolerance, in at most so many passes.
    Krylov { wanted: usize, tol: f64, passes: usize },
}

/// Passes of `randomized`, and of `auto` where few of many components are wanted.
const FEW_PASSES: usize = 6;
/// Passes of `arpack` before it gives up.
const MANY_PASSES: usize = 200;
/// Residual, relative to the largest variance, at which passes end.
const TOLERANCE: f64 = 1e-9;
/// Columns up to which a covariance is formed unasked.
const COVARIANCE: u64 = 4000;

impl PCA {
    /// The algorithm for a table of this shape.
    pub(super) fn route(&self, rows: u64, columns: u64) -> Result<Route> {
        let some = match self.n_components {
            Components::Count(count) if (count as u64) < rows.min(columns) => Some(count),
            _ => None,
        };
        let krylov = |wanted, passes| Route::Krylov { wanted, tol: TOLERANCE, passes };
        Ok(match (self.svd_solver, some) {
            (PcaSolver::CovarianceEigh, _) => Route::Covariance,
            (PcaSolver::Full, _) => Route::Triangle,
            (PcaSolver::Arpack, Some(count)) => krylov(count, MANY_PASSES),
            (PcaSolver::Arpack, None) => {
                let expected =
                    format!("a number below {} with svd_solver='arpack'", rows.min(columns));
                return Err(Error::parameter("n_components", expected, "another")
                    .hint("use svd_solver='full'"));
            }
            (PcaSolver::Randomized, Some(count)) => krylov(count, FEW_PASSES),
            (PcaSolver::Auto, Some(count)) if few_pay(rows, columns, count) => {
                krylov(count, FEW_PASSES)
            }
            (PcaSolver::Auto | PcaSolver::Randomized, _) => exact(rows, columns),
        })
    }
}

/// All components. The covariance costs n p² + 9 p³, triangles twice the first and more of the
/// second; small variances keep half their digits, so it must have ten rows for each column.
fn exact(rows: u64, columns: u64) -> Route {
    match columns <= COVARIANCE && rows >= 10 * columns {
        true => Route::Covariance,
        false => Route::Triangle,
    }
}

/// Whether passes over the table cost less than all components: 4 n p (k + 10) steps each, which thin
/// matrices make twice as slow, beside those of [`exact`].
fn few_pay(rows: u64, columns: u64, count: usize) -> bool {
    const SMALL: f64 = 2e8;
    let (n, p, k) = (rows as f64, columns as f64, count as f64);
    let passes = FEW_PASSES as f64 * 2.0 * 4.0 * n * p * (k + 10.0);
    let all = match exact(rows, columns) {
        Route::Covariance => n * p * p + 9.0 * p * p * p,
        _ => 4.0 * n * p * n.min(p) + 20.0 * n.min(p).powi(3),
    };
    all > SMALL && passes < all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(svd_solver: PcaSolver, n_components: Components, rows: u64, columns: u64) -> Route {
        PCA { svd_solver, n_components, ..Default::default() }.route(rows, columns).unwrap()
    }

    #[test]
    fn the_cheapest_route_is_taken_on_both_sides_of_each_crossover() {
        let ten = |rows, columns| route(PcaSolver::Auto, Components::Count(10), rows, columns);
        let few = |route| matches!(route, Route::Krylov { wanted: 10, passes: FEW_PASSES, .. });
        assert!(few(ten(20_000, 2000)) && few(ten(2000, 5000)));
        assert_eq!(ten(1_000_000, 50), Route::Covariance);
        assert_eq!(ten(200, 20), Route::Covariance);
        assert_eq!(ten(199, 20), Route::Triangle);
        let all = |rows, columns| route(PcaSolver::Auto, Components::All, rows, columns);
        assert_eq!(all(20_000, 2000), Route::Covariance);
        assert_eq!(all(19_999, 2000), Route::Triangle);
        assert_eq!(route(PcaSolver::Full, Components::Count(10), 20_000, 2000), Route::Triangle);
        let forced = route(PcaSolver::Randomized, Components::Count(2), 100, 10);
        assert!(matches!(forced, Route::Krylov { passes: FEW_PASSES, .. }));
        let learner = PCA { svd_solver: PcaSolver::Arpack, ..Default::default() };
        assert!(learner.route(100, 10).is_err());
    }
}
