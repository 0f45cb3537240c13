//! Whether distances survive a transform of the rows: translations, rotations, scalings, or any map of
//! one's own.
//!
//! With distances d of the rows and e of the transformed rows over all pairs: largest |d - e| / max d; the
//! factor c = Σ d e / Σ d² that brings d nearest to e, and what is left, largest |c d - e| / max e; and the
//! share of pairs of pairs with d < d' whose transformed distances have e > e'. A proximity is invariant if
//! the first is no more than rounding, invariant up to scale if the second is, and keeps the order if the
//! last is 0, which is all that single and complete linkage, neighbours and medoids of ranks need.

use super::MetricName;
use learnt_core::prelude::*;

/// Rows before and after a transform.
#[derive(Inputs, Clone, Copy)]
pub struct RowsTransformed<'a> {
    /// The rows, or a square table of their distances.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// The same rows after the transform, or their distances; made by `matrix` and `offset` by default.
    #[input(name = "Y", apart)]
    pub y: Option<MatRef<'a>>,
}

/// Invariance of a distance under a transform of the rows: given as the transformed rows, or as x ↦ A x + b.
#[derive(Params, Clone, Debug)]
pub struct CheckInvariance {
    /// The distance.
    #[param(positional, default = MetricName::Euclidean)]
    pub metric: MetricName,
    /// Power of the Minkowski distance.
    #[param(default = 2.0, above = 0.0)]
    pub p: f64,
    /// Whether both tables hold distances, of whatever proximity, and not rows.
    #[param(default = false)]
    pub precomputed: bool,
    /// A, one list a row; the identity by default.
    pub matrix: Option<Vec<Vec<f64>>>,
    /// b, one number a new column; zero by default.
    pub offset: Option<Vec<f64>>,
    /// Difference that is taken for rounding, as a share of the largest distance.
    #[param(default = 1e-9, range = 0.0..)]
    pub tolerance: f64,
}

/// What a transform leaves of distances.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Invariance {
    /// Whether all distances are the same.
    pub value: bool,
    /// Whether they are the same times one factor.
    pub scaled: bool,
    /// Whether no two pairs of rows change their order.
    pub ordered: bool,
    /// Largest difference, as a share of the largest distance.
    pub difference: f64,
    /// The factor that brings the distances nearest to the transformed ones.
    pub factor: f64,
    /// Largest difference after the factor, as a share of the largest transformed distance.
    pub scaled_difference: f64,
}

/// What is left of distances between all rows, by any proximity of one's own.
///
/// ```
/// use learnt::{neighbors::invariance, prelude::*};
/// let before = Matrix::from_rows(&[[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]])?;
/// let turned = Matrix::from_fn(3, 2, |i, j| if j == 0 { -before[(i, 1)] } else { before[(i, 0)] });
/// let largest = |a: &[f64], b: &[f64]| (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
/// assert!(invariance(&before, &turned, 1e-9, largest, &Context::default())?.value);
/// # Ok::<(), Error>(())
/// ```
pub fn invariance(
    before: &Matrix,
    after: &Matrix,
    tolerance: f64,
    distance: impl Fn(&[f64], &[f64]) -> f64 + Sync,
    run: &Context,
) -> Result<Invariance> {
    let n = before.nrows();
    if after.nrows() != n {
        let expected = format!("{n} rows as X has");
        return Err(Error::shape("Y", expected, format!("{} rows", after.nrows())));
    }
    run.claim(32 * (n as u64).pow(2) / 2, "the distances of all pairs, twice, and their order")?;
    let of = |x: &Matrix| {
        let lines = run.try_par_map(n, |i| {
            Ok((0..i).map(|j| distance(x.row(i), x.row(j))).collect::<Vec<f64>>())
        })?;
        Ok::<_, Error>(lines.concat())
    };
    compared(&of(before)?, &of(after)?, tolerance)
}

/// Two lists of the distances of the same pairs.
fn compared(before: &[f64], after: &[f64], tolerance: f64) -> Result<Invariance> {
    let most = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
    let (longest, stretched) = (most(before), most(after));
    if before.iter().chain(after).any(|d| d.is_nan()) || !(longest + stretched).is_finite() {
        return Err(Error::numeric("a distance is no finite number"));
    }
    let share = |gap: f64, of: f64| if of > 0.0 { gap / of } else { gap };
    let pairs = || before.iter().zip(after);
    let difference = share(pairs().map(|(d, e)| (d - e).abs()).fold(0.0, f64::max), longest);
    // Relative to the longest, so that squares do not overflow.
    let ratio = |d: &f64| share(*d, longest);
    let squares: f64 = before.iter().map(|d| ratio(d).powi(2)).sum();
    let products: f64 = pairs().map(|(d, e)| ratio(d) * share(*e, stretched)).sum();
    let factor = match squares > 0.0 {
        true => products / squares * share(stretched, longest),
        false => 1.0,
    };
    let left = pairs().map(|(d, e)| (factor * d - e).abs()).fold(0.0, f64::max);
    let scaled_difference = share(left, stretched);
    Ok(Invariance {
        value: difference <= tolerance,
        scaled: scaled_difference <= tolerance,
        ordered: keeps_order(before, after, tolerance * longest, tolerance * stretched),
        difference,
        factor,
        scaled_difference,
    })
}

/// Whether no pair that was shorter by more than rounding is longer by more than rounding.
fn keeps_order(before: &[f64], after: &[f64], slack: f64, stretched: f64) -> bool {
    let mut order: Vec<usize> = (0..before.len()).collect();
    order.sort_by(|&a, &b| before[a].total_cmp(&before[b]));
    let mut reached = 0;
    let mut longest = f64::NEG_INFINITY;
    order.iter().all(|&pair| {
        while before[order[reached]] + slack < before[pair] {
            longest = longest.max(after[order[reached]]);
            reached += 1;
        }
        longest <= after[pair] + stretched
    })
}

impl CheckInvariance {
    /// A x + b for all rows.
    fn transformed(&self, x: MatRef) -> Result<Matrix> {
        if self.precomputed || (self.matrix.is_none() && self.offset.is_none()) {
            return Err(Error::new(Code::Usage, "there is no transform to test")
                .hint("give the transformed rows as Y, or a matrix or an offset"));
        }
        let mut out = match &self.matrix {
            None => x.to_matrix(),
            Some(rows) => {
                let matrix = Matrix::from_rows(rows)?;
                if matrix.ncols() != x.ncols() {
                    let found = format!("{} columns", matrix.ncols());
                    let expected = format!("{} columns, one a column of X", x.ncols());
                    return Err(Error::parameter("matrix", expected, found));
                }
                learnt_core::linalg::matmul(x, matrix.view().transposed())
            }
        };
        if let Some(offset) = &self.offset {
            if offset.len() != out.ncols() {
                let expected = format!("{} numbers", out.ncols());
                return Err(Error::parameter("offset", expected, offset.len()));
            }
            for i in 0..out.nrows() {
                out.row_mut(i).iter_mut().zip(offset).for_each(|(value, b)| *value += b);
            }
        }
        Ok(out)
    }
}

impl Function for CheckInvariance {
    type Inputs<'a> = RowsTransformed<'a>;
    type Output = Invariance;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.check_invariance", FunctionKind::Statistic).threads();

    fn call(&self, given: RowsTransformed, run: &Context) -> Result<Invariance> {
        let after = match given.y {
            Some(y) => y.to_matrix(),
            None => self.transformed(given.x)?,
        };
        let before = given.x.to_matrix();
        if !self.precomputed {
            let metric = self.metric.with_power(self.p);
            let distance = |a: &[f64], b: &[f64]| metric.distance(a, b);
            return invariance(&before, &after, self.tolerance, distance, run);
        }
        let n = before.nrows();
        for (name, table) in [("X", &before), ("Y", &after)] {
            if (table.nrows(), table.ncols()) != (n, n) {
                let found = format!("{} x {}", table.nrows(), table.ncols());
                return Err(Error::shape(name, format!("{n} x {n} distances"), found));
            }
        }
        let below = |table: &Matrix| {
            let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
            pairs.map(|(i, j)| table[(i, j)]).collect::<Vec<f64>>()
        };
        compared(&below(&before), &below(&after), self.tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Matrix {
        Matrix::from_fn(25, 2, |i, j| ((i * (3 + 2 * j)) as f64 * 0.7).sin() * 4.0 + j as f64)
    }

    fn ask(learner: CheckInvariance) -> Invariance {
        let x = rows();
        learner.compute(RowsTransformed { x: x.view(), y: None }).unwrap()
    }

    #[test]
    fn translations_keep_all_metrics_and_rotations_only_euclid_and_scalings_the_order() {
        let turn = Some(vec![vec![0.6, -0.8], vec![0.8, 0.6]]);
        let shift = Some(vec![100.0, -3.0]);
        for metric in [MetricName::Euclidean, MetricName::Manhattan, MetricName::Chebyshev] {
            let moved =
                ask(CheckInvariance { metric, offset: shift.clone(), ..Default::default() });
            assert!(moved.value && moved.scaled && moved.ordered && moved.difference < 1e-12);
            let turned =
                ask(CheckInvariance { metric, matrix: turn.clone(), ..Default::default() });
            assert_eq!(turned.value, metric == MetricName::Euclidean, "{metric:?}");
            assert_eq!(turned.ordered, turned.value);
            let twice = Some(vec![vec![2.0, 0.0], vec![0.0, 2.0]]);
            let grown = ask(CheckInvariance { metric, matrix: twice, ..Default::default() });
            assert!(!grown.value && grown.scaled && grown.ordered);
            assert!((grown.factor - 2.0).abs() < 1e-12 && (grown.difference - 1.0).abs() < 1e-12);
        }
        let cosine = MetricName::Cosine;
        let grown = Some(vec![vec![5.0, 0.0], vec![0.0, 5.0]]);
        assert!(ask(CheckInvariance { metric: cosine, matrix: grown, ..Default::default() }).value);
        assert!(
            !ask(CheckInvariance { metric: cosine, offset: shift, ..Default::default() }).value
        );
    }

    #[test]
    fn a_map_of_ones_own_and_tables_of_any_proximity_are_compared() {
        let x = rows();
        let bent = Matrix::from_fn(25, 2, |i, j| x[(i, j)].powi(3));
        let given = RowsTransformed { x: x.view(), y: Some(bent.view()) };
        let found = CheckInvariance::default().compute(given).unwrap();
        assert!(!found.value && !found.scaled && !found.ordered);
        // Squared distances keep the order and nothing else.
        let table = |power: i32| {
            let length = |i: usize, j: usize| {
                (x[(i, 0)] - x[(j, 0)]).hypot(x[(i, 1)] - x[(j, 1)]).powi(power)
            };
            Matrix::from_fn(25, 25, length)
        };
        let (plain, squared) = (table(1), table(2));
        let given = RowsTransformed { x: plain.view(), y: Some(squared.view()) };
        let found = CheckInvariance { precomputed: true, ..Default::default() };
        let found = found.compute(given).unwrap();
        assert!(!found.value && !found.scaled && found.ordered, "{found:?}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let x = rows();
        let nothing = CheckInvariance::default();
        let error = nothing.compute(RowsTransformed { x: x.view(), y: None }).unwrap_err();
        assert!(error.to_string().contains("Y"), "{error}");
        let fewer = Matrix::zeros(3, 2);
        assert!(nothing.compute(RowsTransformed { x: x.view(), y: Some(fewer.view()) }).is_err());
        let offset = Some(vec![1.0]);
        let short = CheckInvariance { offset, ..Default::default() };
        assert!(short.compute(RowsTransformed { x: x.view(), y: None }).is_err());
        let tables = CheckInvariance { precomputed: true, ..Default::default() };
        assert!(tables.compute(RowsTransformed { x: x.view(), y: Some(x.view()) }).is_err());
    }
}
