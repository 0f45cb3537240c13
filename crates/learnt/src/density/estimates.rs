//! Densities as functions: shares below a value, balls that hold k rows, widths of windows, slopes.
//!
//! Neighbour density: k / (n V), V the volume of the ball to the k-th nearest row. Widths: `scott` and
//! `silverman` times the mean deviation of the columns, `likelihood` and `least_squares` by leaving
//! rows out: the width of largest Σ ln p₋ᵢ(xᵢ), or of least ∫ p² - 2 Σ p₋ᵢ(xᵢ) / n, for the normal
//! window, among sixty widths around that of `silverman`, refined by golden sections.
//!
//! B. Silverman (1986), Density Estimation; D. Loftsgaarden and C. Quesenberry (1965).

use super::windows::ln_ball_volume;
use crate::neighbors::{Index, Metric, Structure};
use learnt_core::linalg::squared_distance;
use learnt_core::prelude::*;
use learnt_core::stats::summary::sd;
use std::f64::consts::{PI, TAU};

/// Values, and places.
#[derive(Inputs, Clone, Copy)]
pub struct ValuesAndPlaces<'a> {
    /// The values.
    pub x: &'a [f64],
    /// The places; the values themselves by default.
    #[input(apart)]
    pub at: Option<&'a [f64]>,
}

/// Empirical distribution function: the share of values at or below each place.
#[derive(Params, Clone, Debug)]
pub struct EmpiricalDistribution {}

impl Function for EmpiricalDistribution {
    type Inputs<'a> = ValuesAndPlaces<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable =
        &Callable::new("density.empirical_distribution", FunctionKind::Statistic).alias(&["ecdf"]);

    fn call(&self, given: ValuesAndPlaces, _run: &Context) -> Result<Vec<f64>> {
        let mut sorted = given.x.to_vec();
        sorted.sort_by(f64::total_cmp);
        let share = |&at: &f64| sorted.partition_point(|&x| x <= at) as f64 / sorted.len() as f64;
        Ok(given.at.unwrap_or(given.x).iter().map(share).collect())
    }
}

/// Rows, and places.
#[derive(Inputs, Clone, Copy)]
pub struct RowsAndPlaces<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// The places; the rows themselves by default.
    #[input(apart)]
    pub at: Option<MatRef<'a>>,
}

impl<'a> RowsAndPlaces<'a> {
    fn places(&self) -> Result<MatRef<'a>> {
        let at = self.at.unwrap_or(self.x);
        match at.ncols() == self.x.ncols() {
            true => Ok(at),
            false => {
                let expected = format!("{} columns as X has", self.x.ncols());
                Err(Error::shape("at", expected, format!("{} columns", at.ncols())))
            }
        }
    }
}

/// Nearest-neighbour density: k / (n V), V the volume of the ball to the k-th nearest row.
#[derive(Params, Clone, Debug)]
pub struct KnnDensity {
    /// How many rows a ball holds; a row that lies at the place is one of them.
    #[param(positional, default = 5, range = 1..)]
    pub k: usize,
}

impl Function for KnnDensity {
    type Inputs<'a> = RowsAndPlaces<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable = &Callable::new("density.knn_density", FunctionKind::Statistic)
        .threads()
        .reference("Loftsgaarden and Quesenberry (1965)");

    fn call(&self, given: RowsAndPlaces, run: &Context) -> Result<Vec<f64>> {
        let (n, d) = (given.x.nrows(), given.x.ncols());
        let at = given.places()?;
        if self.k > n {
            let message = format!("{n} rows have no {}-th neighbour", self.k);
            return Err(Error::new(Code::TooFew, message).hint("lower k"));
        }
        let structure = Structure::suited(Metric::Euclidean, n, d);
        let index = Index::build(given.x, Metric::Euclidean, structure, 30, run)?;
        let found = index.nearest(at, self.k, run)?;
        let unit = ln_ball_volume(d);
        let mut endless = 0;
        let density = |i: usize| {
            let radius = found.distances(i)[self.k - 1];
            endless += usize::from(radius == 0.0);
            let ln_volume = unit + d as f64 * radius.ln();
            ((self.k as f64 / n as f64).ln() - ln_volume).exp()
        };
        let out: Vec<f64> = (0..at.nrows()).map(density).collect();
        if endless > 0 {
            let message =
                format!("{endless} places have {} rows at distance 0: infinite density", self.k);
            run.warn(Code::Numeric, message);
        }
        Ok(out)
    }
}

/// Slope of a kernel density with normal windows at each place.
#[derive(Params, Clone, Debug)]
pub struct KdeGradient {
    /// Width of the window.
    #[param(positional, default = 1.0, above = 0.0)]
    pub bandwidth: f64,
}

impl Function for KdeGradient {
    type Inputs<'a> = RowsAndPlaces<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("density.kde_gradient", FunctionKind::Statistic).threads();

    /// (1 / (n h^(d+2) (2π)^(d/2))) Σ exp(-u²/2) (x_i - x).
    fn call(&self, given: RowsAndPlaces, run: &Context) -> Result<Matrix> {
        let (at, x, h) = (given.places()?, given.x.to_matrix(), self.bandwidth);
        let (n, d) = (x.nrows(), x.ncols());
        let ln_scale = -(n as f64).ln() - (d as f64 + 2.0) * h.ln() - d as f64 / 2.0 * TAU.ln();
        let lines = run.try_par_map(at.nrows(), |i| {
            let mut place = vec![0.0; d];
            at.copy_row(i, &mut place);
            let mut slope = vec![0.0; d];
            for row in x.rows() {
                let square = squared_distance(row, &place) / (h * h);
                let weight = (ln_scale - 0.5 * square).exp();
                if weight > 0.0 {
                    for ((slope, value), at) in slope.iter_mut().zip(row).zip(&place) {
                        *slope += weight * (value - at);
                    }
                }
            }
            Ok(slope)
        })?;
        match lines.iter().flatten().all(|value| value.is_finite()) {
            true => Matrix::from_vec(at.nrows(), d, lines.concat()),
            false => Err(Error::numeric("the density overflows").hint("take a wider window")),
        }
    }
}

/// How a width is chosen.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandwidthRule {
    /// The width that is best for normal rows: sd (4 / ((d + 2) n))^(1 / (d + 4)).
    NormalReference,
    /// sd n^(-1 / (d + 4)).
    Scott,
    /// Another name for `normal_reference`.
    Silverman,
    /// The width of largest likelihood of rows left out.
    Likelihood,
    /// The width of least squared error, estimated with rows left out.
    LeastSquares,
}

/// Rows whose density is estimated.
#[derive(Inputs, Clone, Copy)]
pub struct RowsOfDensity<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
}

/// Width of the normal window that suits the rows.
#[derive(Params, Clone, Debug)]
pub struct SelectBandwidth {
    /// How it is chosen.
    #[param(positional, default = BandwidthRule::NormalReference)]
    pub rule: BandwidthRule,
}

impl Function for SelectBandwidth {
    type Inputs<'a> = RowsOfDensity<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("density.select_bandwidth", FunctionKind::Statistic)
            .threads()
            .reference("Silverman (1986)");

    fn call(&self, given: RowsOfDensity, run: &Context) -> Result<f64> {
        let x = given.x.to_matrix();
        let (n, d) = (x.nrows() as f64, x.ncols() as f64);
        let deviations: Vec<f64> =
            (0..x.ncols()).map(|j| sd(&x.column(j), None, 1.0).unwrap_or(f64::NAN)).collect();
        let spread = deviations.iter().sum::<f64>() / d;
        if !(spread > 0.0 && spread.is_finite()) {
            let message = "a width needs two rows that differ, and values that can be squared";
            return Err(Error::new(Code::Undefined, message));
        }
        let normal = spread * (4.0 / ((d + 2.0) * n)).powf(1.0 / (d + 4.0));
        Ok(match self.rule {
            BandwidthRule::NormalReference | BandwidthRule::Silverman => normal,
            BandwidthRule::Scott => spread * n.powf(-1.0 / (d + 4.0)),
            BandwidthRule::Likelihood => best_width(normal, |h| loss_of_likelihood(&x, h, run))?,
            BandwidthRule::LeastSquares => best_width(normal, |h| loss_of_squares(&x, h, run))?,
        })
    }
}

/// The width of least loss: the best of sixty around a first one, then golden sections.
fn best_width(around: f64, loss: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    const STEPS: i32 = 30;
    let width = |k: f64| around * (k * 0.12).exp();
    let mut best = (f64::INFINITY, 0.0);
    for k in -STEPS..STEPS {
        let value = loss(width(f64::from(k)))?;
        if value < best.0 {
            best = (value, f64::from(k));
        }
    }
    if best.0 == f64::INFINITY {
        return Err(Error::new(Code::Undefined, "no width gives rows left out a density")
            .hint("give a width, or drop rows that lie alone"));
    }
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (best.1 - 1.0, best.1 + 1.0);
    while high - low > 1e-6 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if loss(width(a))? <= loss(width(b))? { high = b } else { low = a }
    }
    Ok(width((low + high) / 2.0))
}

/// For each row, Σ over the other rows of exp(-u² / (2 s)).
fn left_out(x: &Matrix, h: f64, s: f64, run: &Context) -> Result<Vec<f64>> {
    run.try_par_map(x.nrows(), |i| {
        let others = (0..x.nrows()).filter(|&j| j != i);
        let term = |j: usize| (-0.5 * squared_distance(x.row(i), x.row(j)) / (s * h * h)).exp();
        Ok(others.map(term).sum::<f64>())
    })
}

fn loss_of_likelihood(x: &Matrix, h: f64, run: &Context) -> Result<f64> {
    let (n, d) = (x.nrows() as f64, x.ncols() as f64);
    let constant = (n - 1.0).ln() + d * h.ln() + d / 2.0 * TAU.ln();
    let sums = left_out(x, h, 1.0, run)?;
    Ok(-sums.iter().map(|sum| sum.ln() - constant).sum::<f64>())
}

fn loss_of_squares(x: &Matrix, h: f64, run: &Context) -> Result<f64> {
    let (n, d) = (x.nrows() as f64, x.ncols() as f64);
    // ∫ p² is a sum of normal windows of variance 2 h².
    let wide: f64 = left_out(x, h, 2.0, run)?.iter().sum::<f64>() + n;
    let square = wide / (n * n) * (4.0 * PI * h * h).powf(-d / 2.0);
    let narrow: f64 = left_out(x, h, 1.0, run)?.iter().sum();
    let cross = narrow / (n * (n - 1.0)) * (TAU * h * h).powf(-d / 2.0);
    Ok(square - 2.0 * cross)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_step_by_one_over_n() {
        let found = EmpiricalDistribution {}
            .compute(ValuesAndPlaces { x: &[3.0, 1.0, 2.0, 2.0], at: Some(&[0.0, 1.0, 2.0, 9.0]) })
            .unwrap();
        assert_eq!(found, [0.0, 0.25, 0.75, 1.0]);
    }

    #[test]
    fn neighbour_densities_are_those_by_hand() {
        let close = |got: &[f64], expected: &[f64]| {
            got.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-12)
        };
        let line = Matrix::column_vector(vec![1.0, 2.0, 4.0, 4.5, 7.0]);
        let at = Matrix::column_vector(vec![3.0]);
        let plane = Matrix::from_rows(&[[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0]]).unwrap();
        let there = Matrix::from_rows(&[[0.0, 1.0]]).unwrap();
        for (k, on_line, in_plane) in [
            (1, 0.1, 0.079_577_471_545_9),
            (2, 0.2, 0.159_154_943_092),
            (3, 0.2, 0.119_366_207_319),
        ] {
            let of = |x: &Matrix, at: &Matrix| {
                let given = RowsAndPlaces { x: x.view(), at: Some(at.view()) };
                KnnDensity { k }.compute(given).unwrap()
            };
            assert!(close(&of(&line, &at), &[on_line]));
            assert!(close(&of(&plane, &there), &[in_plane]));
        }
        let seven = Matrix::column_vector(vec![2.0, 3.0, 4.0, 8.0, 10.0, 11.0, 12.0]);
        let at = Matrix::column_vector(vec![3.0, 6.0]);
        let given = RowsAndPlaces { x: seven.view(), at: Some(at.view()) };
        let found = KnnDensity { k: 3 }.compute(given).unwrap();
        assert!(close(&found, &[0.214_285_714_286, 0.071_428_571_428_6]));
    }

    #[test]
    fn slopes_are_those_of_differences() {
        let x = Matrix::from_fn(40, 2, |i, j| ((i * (3 + j)) as f64).sin() * 2.0);
        let h = 0.7;
        let density = |at: &[f64]| {
            let sum: f64 =
                x.rows().map(|row| (-0.5 * squared_distance(row, at) / (h * h)).exp()).sum();
            sum / (40.0 * h * h * TAU)
        };
        let at = Matrix::from_rows(&[[0.3, -0.4], [1.5, 1.0]]).unwrap();
        let given = RowsAndPlaces { x: x.view(), at: Some(at.view()) };
        let found = KdeGradient { bandwidth: h }.compute(given).unwrap();
        for i in 0..2 {
            for j in 0..2 {
                let shifted = |by: f64| {
                    let mut place = at.row(i).to_vec();
                    place[j] += by;
                    density(&place)
                };
                let expected = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
                assert!((found[(i, j)] - expected).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn widths_for_normal_rows_are_near_the_normal_reference() {
        let rows = 400;
        let mut rng = Context::default().rng(1);
        let x =
            Matrix::from_fn(rows, 1, |_, _| learnt_core::stats::sample::standard_normal(&mut rng));
        let of = |rule| SelectBandwidth { rule }.compute(RowsOfDensity { x: x.view() }).unwrap();
        let deviation = sd(&x.column(0), None, 1.0).unwrap();
        let normal = of(BandwidthRule::NormalReference);
        let by_hand = 1.0592 * deviation * (rows as f64).powf(-0.2);
        assert!((normal / by_hand - 1.0).abs() < 1e-4);
        for rule in [BandwidthRule::Likelihood, BandwidthRule::LeastSquares] {
            let found = of(rule);
            assert!(found > 0.4 * normal && found < 1.8 * normal, "{rule:?}: {found} {normal}");
        }
    }
}
