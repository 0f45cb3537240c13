//! Distances of rows with classes, with correlated columns and of mixed kinds; what is wrong with a
//! table of distances, and how similarities become distances.
//!
//! Mahalanobis: √((u - v)ᵀ S⁻¹ (u - v)), S the covariance of the rows (divisor n - 1). Attributes: Σ w_j
//! d_j, d_j the squared difference of numbers and 0 or 1 for classes; `gower` divides numbers by their
//! range, takes absolute differences and the mean over columns. Of an ordered column d_j is the difference
//! of ranks, |r - r'| / (m - 1), where r counts the m distinct values from the lowest: it does not change
//! with any increasing transform of the column.
//!
//! P. Mahalanobis (1936); J. Gower (1971), Biometrics 27, 857-871; J. Podani (1999), Taxon 48, 331-340.

use learnt_core::linalg::{Cholesky, squared_distance};
use learnt_core::prelude::*;

/// Rows of numbers, and those to compare with.
#[derive(Inputs, Clone, Copy)]
pub struct RowsToCompare<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// The rows to compare with; the same by default.
    #[input(name = "Y", apart)]
    pub y: Option<MatRef<'a>>,
}

/// Mahalanobis distances between all rows, by the covariance of X.
#[derive(Params, Clone, Debug)]
pub struct MahalanobisDistances {
    /// The covariance, if it is known.
    pub covariance: Option<Vec<Vec<f64>>>,
}

impl Function for MahalanobisDistances {
    type Inputs<'a> = RowsToCompare<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.mahalanobis_distances", FunctionKind::Statistic)
            .threads()
            .reference("Mahalanobis (1936)");

    fn call(&self, given: RowsToCompare, run: &Context) -> Result<Matrix> {
        let others = given.y.unwrap_or(given.x);
        let width = given.x.ncols();
        if others.ncols() != width {
            let expected = format!("{width} columns as X has");
            return Err(Error::shape("Y", expected, format!("{} columns", others.ncols())));
        }
        let covariance = match &self.covariance {
            Some(rows) => Matrix::from_rows(rows)?,
            None => sample_covariance(given.x)?,
        };
        if (covariance.nrows(), covariance.ncols()) != (width, width) {
            let found = format!("{} x {}", covariance.nrows(), covariance.ncols());
            return Err(Error::parameter("covariance", format!("{width} x {width}"), found));
        }
        let factor = Cholesky::new(&covariance).ok_or_else(|| {
            Error::numeric("the covariance is singular: columns are constant or dependent")
                .hint("drop such columns")
        })?;
        // Distances of L⁻¹ x are plain.
        let whiten = |x: MatRef| {
            let mut out = x.to_matrix();
            (0..out.nrows()).for_each(|i| factor.solve_lower_in_place(out.row_mut(i)));
            out
        };
        let distance = |a: &[f64], b: &[f64]| squared_distance(a, b).sqrt();
        distances_by(&whiten(given.x), &whiten(others), distance, run)
    }
}

/// The covariance of the columns with divisor n - 1.
fn sample_covariance(x: MatRef) -> Result<Matrix> {
    if x.nrows() < 2 {
        return Err(Error::new(Code::TooFew, "one row has no covariance").hint("give it"));
    }
    let table = Table::unnamed(x.to_matrix());
    let found = learnt_core::linalg::Scatter::of(&Dataset::new(table.frame()));
    let divisor = x.nrows() as f64 - 1.0;
    Ok(Matrix::from_fn(x.ncols(), x.ncols(), |i, j| found.scatter[(i, j)] / divisor))
}

/// All distances between rows by any function of one's own, for learners that take given distances.
///
/// ```
/// use learnt::{neighbors::distances_by, prelude::*};
/// let x = Matrix::from_rows(&[[0.0, 1.0], [3.0, 1.0]])?;
/// let shared = |a: &[f64], b: &[f64]| a.iter().zip(b).filter(|(a, b)| a != b).count() as f64;
/// assert_eq!(distances_by(&x, &x, shared, &Context::default())?.row(0), [0.0, 1.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn distances_by(
    x: &Matrix,
    y: &Matrix,
    distance: impl Fn(&[f64], &[f64]) -> f64 + Sync,
    run: &Context,
) -> Result<Matrix> {
    run.claim_table(x.nrows(), y.nrows(), "a matrix of all pairs")?;
    let lines = run.try_par_map(x.nrows(), |i| {
        Ok(y.rows().map(|other| distance(x.row(i), other)).collect::<Vec<f64>>())
    })?;
    Matrix::from_vec(x.nrows(), y.nrows(), lines.concat())
}

/// Rows of a table with numbers and classes.
#[derive(Inputs, Clone, Copy)]
pub struct MixedRows<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: Frame<'a>,
}

/// How columns of numbers and classes make a distance.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeScale {
    /// Squared differences of numbers, 0 or 1 for classes, summed.
    Squared,
    /// Absolute differences of numbers over their range, 0 or 1 for classes, averaged.
    Gower,
    /// 0 or 1 for every column, summed: the number of columns that differ.
    Overlap,
}

/// Dissimilarities of rows with numbers and classes, column by column.
#[derive(Params, Clone, Debug)]
pub struct AttributeDistances {
    /// How columns count.
    #[param(positional, default = AttributeScale::Squared)]
    pub scale: AttributeScale,
    /// Weight of each column; equal by default.
    pub weights: Option<Vec<f64>>,
    /// Columns, numbered from 0, that are compared by their ranks; categories that are ordered always are.
    pub ordered: Option<Vec<usize>>,
}

/// How the values of one column are compared.
#[derive(Clone, Copy, PartialEq)]
enum Attribute {
    Nominal,
    Numeric,
    Ranks,
}

impl AttributeDistances {
    fn kinds(&self, schema: &Schema) -> Result<Vec<Attribute>> {
        let kind = |column: &Column| match &column.kind {
            ColumnKind::Categorical { ordered: true, .. } => Attribute::Ranks,
            ColumnKind::Categorical { .. } => Attribute::Nominal,
            ColumnKind::Numeric => Attribute::Numeric,
        };
        let mut kinds: Vec<Attribute> = schema.columns().iter().map(kind).collect();
        for &j in self.ordered.iter().flatten() {
            let count = kinds.len();
            let Some(kind) = kinds.get_mut(j) else {
                return Err(Error::parameter("ordered", format!("columns below {count}"), j));
            };
            *kind = Attribute::Ranks;
        }
        Ok(kinds)
    }
}

/// Values as their place among the distinct ones, from 0 for the lowest to 1 for the highest.
fn to_ranks(column: &mut [f64]) {
    let mut distinct = column.to_vec();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let steps = distinct.len().saturating_sub(1).max(1) as f64;
    for value in column {
        *value = distinct.partition_point(|other| other < value) as f64 / steps;
    }
}

impl Function for AttributeDistances {
    type Inputs<'a> = MixedRows<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.attribute_distances", FunctionKind::Statistic)
            .threads()
            .reference("Gower (1971), Biometrics 27, 857-871");

    fn call(&self, given: MixedRows, run: &Context) -> Result<Matrix> {
        let (mut x, width) = (given.x.values().to_matrix(), given.x.ncols());
        let weights = self.weights.clone().unwrap_or_else(|| vec![1.0; width]);
        let total: f64 = weights.iter().sum();
        if weights.len() != width || !weights.iter().all(|w| *w >= 0.0) || total <= 0.0 {
            let expected = format!("{width} weights, none negative and not all 0");
            return Err(Error::parameter("weights", expected, format!("{} given", weights.len())));
        }
        let kinds = self.kinds(given.x.schema())?;
        for j in (0..width).filter(|&j| kinds[j] == Attribute::Ranks) {
            let mut column = x.column(j);
            to_ranks(&mut column);
            column.into_iter().enumerate().for_each(|(i, rank)| x[(i, j)] = rank);
        }
        let range = |j: usize| {
            let column = x.column(j);
            let low = column.iter().copied().fold(f64::INFINITY, f64::min);
            let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if high > low { high - low } else { 1.0 }
        };
        let ranges: Vec<f64> = (0..width).map(range).collect();
        let one = |j: usize, a: f64, b: f64| {
            let differ = f64::from(u8::from(a != b));
            match (self.scale, kinds[j]) {
                (AttributeScale::Overlap, _) | (_, Attribute::Nominal) => differ,
                (_, Attribute::Ranks) => (a - b).abs(),
                (AttributeScale::Squared, Attribute::Numeric) => (a - b) * (a - b),
                (AttributeScale::Gower, Attribute::Numeric) => (a - b).abs() / ranges[j],
            }
        };
        let divisor = if self.scale == AttributeScale::Gower { total } else { 1.0 };
        let distance = |a: &[f64], b: &[f64]| {
            let parts = (0..width).map(|j| weights[j] * one(j, a[j], b[j]));
            parts.sum::<f64>() / divisor
        };
        distances_by(&x, &x, distance, run)
    }
}

/// A square table of similarities or distances.
#[derive(Inputs, Clone, Copy)]
pub struct Proximities<'a> {
    /// The table.
    #[input(name = "D")]
    pub d: MatRef<'a>,
}

impl Proximities<'_> {
    fn side(&self) -> Result<usize> {
        match self.d.nrows() == self.d.ncols() {
            true => Ok(self.d.nrows()),
            false => {
                let found = format!("{} x {}", self.d.nrows(), self.d.ncols());
                Err(Error::shape("D", "a square table", found))
            }
        }
    }
}

/// What a table of distances violates: signs, diagonal, symmetry, triangles.
#[derive(Params, Clone, Debug)]
pub struct CheckDistances {
    /// Difference that is taken for rounding, as a share of the largest value.
    #[param(default = 1e-9, range = 0.0..)]
    pub tolerance: f64,
}

/// How many places violate each property.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct DistanceFaults {
    /// Whether all properties of a metric hold.
    pub value: bool,
    /// Values below zero.
    pub negative: u64,
    /// Values on the diagonal that are not zero.
    pub diagonal: u64,
    /// Pairs with two different values.
    pub asymmetric: u64,
    /// Triples with one side longer than the two others together.
    pub triangles: u64,
}

impl Function for CheckDistances {
    type Inputs<'a> = Proximities<'a>;
    type Output = DistanceFaults;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.check_distances", FunctionKind::Statistic).threads();

    fn call(&self, given: Proximities, run: &Context) -> Result<DistanceFaults> {
        let n = given.side()?;
        let d = given.d.to_matrix();
        let most = d.as_slice().iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let slack = self.tolerance * most;
        let pairs = || (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let triangles = run.try_par_map(n, |i| {
            let mut count = 0_u64;
            for j in 0..i {
                count +=
                    (0..n).filter(|&k| d[(i, j)] > d[(i, k)] + d[(k, j)] + slack).count() as u64;
            }
            Ok(count)
        })?;
        let mut faults = DistanceFaults {
            value: false,
            negative: d.as_slice().iter().filter(|value| **value < -slack).count() as u64,
            diagonal: (0..n).filter(|&i| d[(i, i)].abs() > slack).count() as u64,
            asymmetric: pairs().filter(|&(i, j)| (d[(i, j)] - d[(j, i)]).abs() > slack).count()
                as u64,
            triangles: triangles.iter().sum(),
        };
        faults.value =
            [faults.negative, faults.diagonal, faults.asymmetric, faults.triangles] == [0; 4];
        Ok(faults)
    }
}

/// How similarities become distances.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// 1 - s.
    OneMinus,
    /// The largest similarity less s.
    FromMost,
    /// -ln s.
    MinusLog,
    /// As it is: the table holds distances.
    Keep,
}

/// Distances from similarities, symmetric if asked: (D + Dᵀ) / 2.
#[derive(Params, Clone, Debug)]
pub struct ToDistances {
    /// The decreasing function.
    #[param(positional, default = Conversion::OneMinus)]
    pub conversion: Conversion,
    /// Whether the result is made symmetric.
    #[param(default = true)]
    pub symmetric: bool,
}

impl Function for ToDistances {
    type Inputs<'a> = Proximities<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.to_distances", FunctionKind::Statistic);

    fn call(&self, given: Proximities, _run: &Context) -> Result<Matrix> {
        let n = given.side()?;
        let s = given.d.to_matrix();
        let most = s.as_slice().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if self.conversion == Conversion::MinusLog && s.as_slice().iter().any(|s| *s <= 0.0) {
            return Err(Error::new(Code::Undefined, "-ln s needs similarities above 0"));
        }
        let convert = |s: f64| match self.conversion {
            Conversion::OneMinus => 1.0 - s,
            Conversion::FromMost => most - s,
            Conversion::MinusLog => -s.ln(),
            Conversion::Keep => s,
        };
        Ok(Matrix::from_fn(n, n, |i, j| match self.symmetric {
            true => convert(s[(i, j)]) / 2.0 + convert(s[(j, i)]) / 2.0,
            false => convert(s[(i, j)]),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_squared_mahalanobis_distance_by_hand() {
        let x = Matrix::from_rows(&[[170.0, 70.0], [180.0, 85.0]]).unwrap();
        let covariance = Some(vec![vec![100.0, 50.0], vec![50.0, 225.0]]);
        let given = RowsToCompare { x: x.view(), y: None };
        let found = MahalanobisDistances { covariance }.compute(given).unwrap();
        assert!((found[(0, 1)].powi(2) - 1.5).abs() < 1e-12 && found[(1, 1)] == 0.0);
        let dependent = Matrix::from_fn(5, 2, |i, j| (i * (j + 1)) as f64);
        let given = RowsToCompare { x: dependent.view(), y: None };
        assert!(MahalanobisDistances::default().compute(given).is_err());
    }

    #[test]
    fn classes_count_as_one_and_unit_weights_are_squared_distances() {
        let levels = || vec!["a".to_string(), "b".to_string(), "x".to_string()];
        let columns = ["u", "v", "w"].map(|name| Column::categorical(name, levels()));
        let words = Matrix::from_rows(&[[0.0, 1.0, 2.0], [0.0, 2.0, 2.0]]).unwrap();
        let table = Table::new(words, Schema::new(columns.to_vec()).unwrap()).unwrap();
        let of = |scale, table: &Table| {
            let learner = AttributeDistances { scale, ..Default::default() };
            learner.compute(MixedRows { x: table.frame() }).unwrap()[(0, 1)]
        };
        assert_eq!(of(AttributeScale::Squared, &table), 1.0);
        assert_eq!(of(AttributeScale::Overlap, &table), 1.0);
        assert!((of(AttributeScale::Gower, &table) - 1.0 / 3.0).abs() < 1e-15);
        let numbers = Table::unnamed(Matrix::from_rows(&[[0.0, 1.0], [3.0, 5.0]]).unwrap());
        assert_eq!(of(AttributeScale::Squared, &numbers), 25.0);
        assert_eq!(of(AttributeScale::Gower, &numbers), 1.0);
    }

    #[test]
    fn ordered_columns_differ_by_ranks_whatever_increasing_transform_they_had() {
        let levels = ["low", "middle", "high"].map(str::to_string).to_vec();
        let kind = ColumnKind::Categorical { levels: levels.into(), ordered: true };
        let columns = vec![Column { name: "grade".to_string(), kind }, Column::numeric("size")];
        let rows: [[f64; 2]; 4] = [[0.0, 1.0], [1.0, 1.0], [2.0, 50.0], [2.0, 7.0]];
        let of = |scale, ordered: Option<Vec<usize>>, power: i32| {
            let x = Matrix::from_fn(4, 2, |i, j| rows[i][j].powi(if j == 1 { power } else { 1 }));
            let table = Table::new(x, Schema::new(columns.clone()).unwrap()).unwrap();
            let learner = AttributeDistances { scale, ordered, weights: None };
            learner.compute(MixedRows { x: table.frame() })
        };
        let plain = of(AttributeScale::Squared, None, 1).unwrap();
        // One of two steps between grades, and squares of sizes.
        assert_eq!((plain[(0, 1)], plain[(0, 2)]), (0.5, 1.0 + 49.0 * 49.0));
        let ranks = of(AttributeScale::Squared, Some(vec![1]), 1).unwrap();
        assert_eq!((ranks[(0, 1)], ranks[(0, 2)], ranks[(2, 3)]), (0.5, 2.0, 0.5));
        assert_eq!(of(AttributeScale::Squared, Some(vec![1]), 3).unwrap(), ranks);
        let gower = of(AttributeScale::Gower, Some(vec![1]), 1).unwrap();
        assert_eq!((gower[(0, 1)], gower[(0, 2)]), (0.25, 1.0));
        let error = of(AttributeScale::Gower, Some(vec![2]), 1).unwrap_err();
        assert!(error.to_string().contains("ordered"), "{error}");
    }

    #[test]
    fn faults_are_counted_and_symmetric_tables_are_symmetric() {
        let d = Matrix::from_rows(&[[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [8.0, 1.0, 0.5]]).unwrap();
        let found = CheckDistances::default().compute(Proximities { d: d.view() }).unwrap();
        assert!(!found.value && found.negative == 0);
        assert_eq!((found.diagonal, found.asymmetric, found.triangles), (1, 1, 1));
        let same = ToDistances { conversion: Conversion::Keep, symmetric: true }
            .compute(Proximities { d: d.view() })
            .unwrap();
        assert!((0..3).all(|i| (0..3).all(|j| same[(i, j)] == same[(j, i)])));
        let s = Matrix::from_rows(&[[1.0, 0.25], [0.25, 1.0]]).unwrap();
        let found = ToDistances::default().compute(Proximities { d: s.view() }).unwrap();
        assert_eq!(found.as_slice(), [0.0, 0.75, 0.75, 0.0]);
    }
}
