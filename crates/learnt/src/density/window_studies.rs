//! Foundations of density estimates: counts in a region, windows that are densities, widths that shrink.
//!
//! Counting: k of n rows in a region of volume V estimate the density k/(nV); k has the binomial law
//! C(n,k) P^k (1-P)^(n-k) with mean nP, and k/n is its likeliest P. A window must not be negative and
//! must have the integral one, so that the estimate is a density; windows here are symmetric too. An
//! estimate is consistent if V_n → 0, k_n → ∞ and k_n/n → 0: V_n = V₁/√n, so h_n = h₁ n^(-1/(2d)), and
//! k_n = k₁ √n. The exact mean integrated squared error of normal windows for a standard normal column is
//! (1/(nh) + (1 - 1/n)/√(1+h²) - 2√2/√(2+h²) + 1) / (2√π).
//!
//! B. Silverman (1986), Density Estimation; R. Duda, P. Hart and D. Stork (2001), chapter 4;
//! M. Wand and M. Jones (1995), section 2.6.

use super::estimates::RowsOfDensity;
use super::windows::ln_ball_volume;
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;
use learnt_core::stats::special::ln_gamma;
use std::f64::consts::{FRAC_PI_2, PI, SQRT_2, TAU};

/// Density by counting: k rows of n in a region of volume V have the density k/(nV).
#[derive(Params, Clone, Debug)]
pub struct CountingDensity {
    /// Lowest corner of a box, a number a column.
    pub low: Option<Vec<f64>>,
    /// Highest corner of the box.
    pub high: Option<Vec<f64>>,
    /// Middle of a ball in place of a box.
    pub center: Option<Vec<f64>>,
    /// Radius of the ball.
    #[param(above = 0.0)]
    pub radius: Option<f64>,
    /// Probability of the region whose binomial law is asked for; the share of rows by default.
    #[param(range = 0.0..=1.0)]
    pub p: Option<f64>,
}

/// A count and what it estimates.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CountedDensity {
    /// k / (n V).
    pub value: f64,
    /// Rows in the region; its edge belongs to it.
    pub count: u64,
    /// Volume of the region.
    pub volume: f64,
    /// k / n, the likeliest probability of the region.
    pub share: f64,
    /// n P, the mean of the count.
    pub expected_count: f64,
    /// Probability of just this count under P.
    pub probability: f64,
}

impl Function for CountingDensity {
    type Inputs<'a> = RowsOfDensity<'a>;
    type Output = CountedDensity;
    const ABOUT: &'static Callable =
        &Callable::new("density.counting_density", FunctionKind::Statistic)
            .reference("Duda, Hart and Stork (2001), section 4.2");

    fn call(&self, given: RowsOfDensity, _run: &Context) -> Result<CountedDensity> {
        let (x, d) = (given.x.to_matrix(), given.x.ncols());
        let region = self.region(&x)?;
        let count = x.rows().filter(|row| region.holds(row)).count();
        let n = x.nrows() as f64;
        let share = count as f64 / n;
        let p = self.p.unwrap_or(share);
        let value = share / region.volume(d);
        match value.is_finite() {
            true => Ok(CountedDensity {
                value,
                count: count as u64,
                volume: region.volume(d),
                share,
                expected_count: n * p,
                probability: binomial(n, count as f64, p),
            }),
            false => Err(Error::new(Code::Undefined, "a region without volume has no density")),
        }
    }
}

/// C(n,k) P^k (1-P)^(n-k).
fn binomial(n: f64, k: f64, p: f64) -> f64 {
    let ln_choose = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    let power = |base: f64, times: f64| if times == 0.0 { 0.0 } else { times * base.ln() };
    (ln_choose + power(p, k) + power(1.0 - p, n - k)).exp()
}

enum Region {
    Box(Vec<f64>, Vec<f64>),
    Ball(Vec<f64>, f64),
}

impl Region {
    fn holds(&self, row: &[f64]) -> bool {
        match self {
            Region::Box(low, high) => {
                row.iter().zip(low).zip(high).all(|((x, low), high)| low <= x && x <= high)
            }
            Region::Ball(middle, radius) => {
                learnt_core::linalg::squared_distance(row, middle) <= radius * radius
            }
        }
    }

    fn volume(&self, d: usize) -> f64 {
        match self {
            Region::Box(low, high) => low.iter().zip(high).map(|(low, high)| high - low).product(),
            Region::Ball(_, radius) => (ln_ball_volume(d) + d as f64 * radius.ln()).exp(),
        }
    }
}

impl CountingDensity {
    /// The region that was given, or the box of all rows.
    fn region(&self, x: &Matrix) -> Result<Region> {
        let d = x.ncols();
        let check = |name: &str, values: &[f64]| match values.len() == d
            && values.iter().all(|v| v.is_finite())
        {
            true => Ok(values.to_vec()),
            false => {
                let expected = format!("{d} finite numbers, one a column");
                Err(Error::parameter(name, expected, format!("{values:?}")))
            }
        };
        match (&self.center, self.radius) {
            (Some(center), Some(radius)) => {
                return Ok(Region::Ball(check("center", center)?, radius));
            }
            (None, None) => {}
            _ => {
                return Err(Error::parameter("center", "a middle and a radius, or neither", "one"));
            }
        }
        let end = |given: &Option<Vec<f64>>, name: &str, least: bool| match given {
            Some(values) => check(name, values),
            None => Ok((0..d)
                .map(|j| {
                    let column = x.column(j);
                    match least {
                        true => column.into_iter().fold(f64::INFINITY, f64::min),
                        false => column.into_iter().fold(f64::NEG_INFINITY, f64::max),
                    }
                })
                .collect()),
        };
        let (low, high) = (end(&self.low, "low", true)?, end(&self.high, "high", false)?);
        match low.iter().zip(&high).all(|(low, high)| low <= high) {
            true => Ok(Region::Box(low, high)),
            false => Err(Error::parameter("low", "at most high in every column", "more")),
        }
    }
}

/// A window in one column.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowShape {
    /// exp(-u²/2) / √(2π).
    Gaussian,
    /// ½ for |u| ≤ 1.
    Tophat,
    /// 1 for |u| ≤ ½.
    Hypercube,
    /// ¾ (1 - u²).
    Epanechnikov,
    /// 1 - |u|.
    Triangular,
    /// 15/16 (1 - u²)².
    Biweight,
    /// (1 - |u|³)³ as smoothers use it, without a constant.
    Tricube,
    /// 70/81 (1 - |u|³)³.
    TricubeDensity,
    /// ½ exp(-|u|).
    Exponential,
    /// π/4 cos(πu/2).
    Cosine,
}

impl WindowShape {
    fn value(self, u: f64) -> f64 {
        let (a, inside) = (u.abs(), u.abs() <= 1.0);
        let within = |value: f64| if inside { value } else { 0.0 };
        match self {
            WindowShape::Gaussian => (-0.5 * u * u).exp() / TAU.sqrt(),
            WindowShape::Tophat => within(0.5),
            WindowShape::Hypercube => f64::from(u8::from(a <= 0.5)),
            WindowShape::Epanechnikov => within(0.75 * (1.0 - u * u)),
            WindowShape::Triangular => within(1.0 - a),
            WindowShape::Biweight => within(15.0 / 16.0 * (1.0 - u * u).powi(2)),
            WindowShape::Tricube => within((1.0 - a.powi(3)).powi(3)),
            WindowShape::TricubeDensity => within(70.0 / 81.0 * (1.0 - a.powi(3)).powi(3)),
            WindowShape::Exponential => 0.5 * (-a).exp(),
            WindowShape::Cosine => within(PI / 4.0 * (FRAC_PI_2 * u).cos()),
        }
    }
}

/// Values of a window of one's own.
#[derive(Inputs, Clone, Copy)]
pub struct WindowValues<'a> {
    /// Places, rising.
    pub u: Option<&'a [f64]>,
    /// The window at each place.
    #[input(name = "K")]
    pub k: Option<&'a [f64]>,
}

/// Window function check: not negative, of integral one, symmetric; by name, or from a table of values.
#[derive(Params, Clone, Debug)]
pub struct CheckWindow {
    /// The window; values `u` and `K` are checked if they are given.
    #[param(positional, default = WindowShape::Gaussian)]
    pub window: WindowShape,
    /// Largest difference of the integral from one, and of two sides from each other.
    #[param(default = 1e-3, above = 0.0)]
    pub tol: f64,
}

/// What a window is.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct WindowFacts {
    /// Whether estimates with it are densities: not negative, of integral one.
    pub value: bool,
    /// Whether it is symmetric.
    pub symmetric: bool,
    /// Its integral.
    pub integral: f64,
    /// Its least value.
    pub minimum: f64,
    /// Largest difference between both sides.
    pub asymmetry: f64,
    /// Its variance ∫ u² K over its integral.
    pub variance: f64,
}

impl Function for CheckWindow {
    type Inputs<'a> = WindowValues<'a>;
    type Output = WindowFacts;
    const ABOUT: &'static Callable =
        &Callable::new("density.check_window", FunctionKind::Statistic)
            .reference("Silverman (1986), section 2.4");

    fn call(&self, given: WindowValues, _run: &Context) -> Result<WindowFacts> {
        match (given.u, given.k) {
            (Some(u), Some(k)) => self.of_values(u, k),
            (None, None) => {
                // Cells end at the edges of all windows, so that no jump lies inside one.
                const CELLS: i32 = 1 << 18;
                let reach = 64.0;
                let step = 2.0 * reach / f64::from(CELLS);
                let place = |i: i32| -reach + (f64::from(i) + 0.5) * step;
                let values: Vec<(f64, f64)> =
                    (0..CELLS).map(|i| (place(i), self.window.value(place(i)))).collect();
                let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
                    values.iter().map(|&(u, k)| f(u, k) * step).sum()
                };
                let integral = sum(&|_, k| k);
                let back = |u: f64| self.window.value(-u);
                let asymmetry =
                    values.iter().map(|&(u, k)| (k - back(u)).abs()).fold(0.0, f64::max);
                let minimum = values.iter().map(|&(_, k)| k).fold(f64::INFINITY, f64::min);
                Ok(self.facts(integral, minimum, asymmetry, sum(&|u, k| u * u * k) / integral))
            }
            _ => Err(Error::new(Code::Usage, "a window of values needs both u and K")),
        }
    }
}

impl CheckWindow {
    fn facts(&self, integral: f64, minimum: f64, asymmetry: f64, variance: f64) -> WindowFacts {
        let value = minimum >= 0.0 && (integral - 1.0).abs() <= self.tol;
        let symmetric = asymmetry <= self.tol;
        WindowFacts { value, symmetric, integral, minimum, asymmetry, variance }
    }

    /// By trapezoids between the places; between them the window is a straight line.
    fn of_values(&self, u: &[f64], k: &[f64]) -> Result<WindowFacts> {
        if u.len() != k.len() || u.len() < 2 {
            let found = format!("{} and {} values", u.len(), k.len());
            return Err(Error::shape("u and K", "as many of both, two at least", found));
        }
        if u.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(
                Error::new(Code::Usage, "the places u must rise").hint("sort the table by u")
            );
        }
        let area = |f: &dyn Fn(usize) -> f64| -> f64 {
            (1..u.len()).map(|i| (f(i - 1) + f(i)) / 2.0 * (u[i] - u[i - 1])).sum()
        };
        let at = |place: f64| {
            let i = u.partition_point(|&u| u < place);
            match i {
                0 if place < u[0] => 0.0,
                0 => k[0],
                i if i == u.len() => 0.0,
                i => k[i - 1] + (k[i] - k[i - 1]) * (place - u[i - 1]) / (u[i] - u[i - 1]),
            }
        };
        // Both sides are straight between their places and may jump at the ends, so the largest
        // difference is at a place or shows halfway between two.
        let mut places: Vec<f64> = u.iter().flat_map(|&u| [u, -u]).collect();
        places.sort_by(f64::total_cmp);
        let halfway: Vec<f64> = places.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
        let apart = |&place: &f64| (at(place) - at(-place)).abs();
        let asymmetry = places.iter().chain(&halfway).map(apart).fold(0.0, f64::max);
        let minimum = k.iter().copied().fold(f64::INFINITY, f64::min);
        let integral = area(&|i| k[i]);
        let second = area(&|i| u[i] * u[i] * k[i]);
        let variance = if integral == 0.0 { f64::NAN } else { second / integral };
        Ok(self.facts(integral, minimum, asymmetry, variance))
    }
}

/// Width and count sequences: how windows shrink and counts grow with n, and the error that is left.
#[derive(Params, Clone, Debug)]
pub struct WidthSequences {
    /// Numbers of rows.
    #[param(default = vec![1.0, 10.0, 100.0, 1000.0, 10000.0])]
    pub n: Vec<f64>,
    /// Width of the window for one row.
    #[param(default = 1.0, above = 0.0)]
    pub h1: f64,
    /// Neighbours for one row.
    #[param(default = 1.0, above = 0.0)]
    pub k1: f64,
    /// Number of columns.
    #[param(default = 1, range = 1..=1000)]
    pub d: usize,
}

/// Sequences over n.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Sequences {
    /// Numbers of rows.
    pub n: Vec<f64>,
    /// h_n = h₁ n^(-1/(2d)).
    pub width: Vec<f64>,
    /// V_n = h_n^d.
    pub volume: Vec<f64>,
    /// k_n = k₁ √n.
    pub neighbors: Vec<f64>,
    /// k_n / n.
    pub neighbor_share: Vec<f64>,
    /// Exact mean integrated squared error of normal windows of width h_n for a standard normal column;
    /// none for more columns.
    pub mise: Vec<f64>,
}

impl Function for WidthSequences {
    type Inputs<'a> = ();
    type Output = Sequences;
    const ABOUT: &'static Callable = &Callable::new("density.width_sequences", FunctionKind::Study)
        .reference("Duda, Hart and Stork (2001), section 4.3; Wand and Jones (1995), section 2.6");

    fn call(&self, _given: (), _run: &Context) -> Result<Sequences> {
        if self.n.is_empty() || self.n.iter().any(|n| !(*n >= 1.0 && n.is_finite())) {
            return Err(Error::parameter("n", "numbers of at least 1", format!("{:?}", self.n)));
        }
        let d = self.d as f64;
        let width: Vec<f64> = self.n.iter().map(|n| self.h1 * n.powf(-0.5 / d)).collect();
        let neighbors: Vec<f64> = self.n.iter().map(|n| self.k1 * n.sqrt()).collect();
        let error = |(&n, &h): (&f64, &f64)| match self.d {
            1 => normal_error(n, h),
            _ => f64::NAN,
        };
        Ok(Sequences {
            volume: width.iter().map(|h| h.powf(d)).collect(),
            neighbor_share: neighbors.iter().zip(&self.n).map(|(k, n)| k / n).collect(),
            mise: self.n.iter().zip(&width).map(error).collect(),
            n: self.n.clone(),
            width,
            neighbors,
        })
    }

    fn chart(&self, found: &Sequences) -> Option<Chart> {
        let panel = Panel::new("rows", "value")
            .log_x()
            .log_y()
            .mark(Mark::line("width", found.n.clone(), found.width.clone()))
            .mark(Mark::line("volume", found.n.clone(), found.volume.clone()))
            .mark(Mark::line("share of rows", found.n.clone(), found.neighbor_share.clone()))
            .mark(Mark::line("mean squared error", found.n.clone(), found.mise.clone()));
        let text = "Widths, volumes and shares of rows shrink with the number of rows.";
        Some(Chart::new("Sequences of windows", text).panel(panel))
    }
}

/// The exact mean integrated squared error for a standard normal column.
fn normal_error(n: f64, h: f64) -> f64 {
    let bias = (1.0 - n.recip()) / (1.0 + h * h).sqrt() - 2.0 * SQRT_2 / (2.0 + h * h).sqrt() + 1.0;
    ((n * h).recip() + bias) / (2.0 * PI.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_over_volumes_and_their_binomial_law() {
        let x = Matrix::column_vector((0..10).map(f64::from).collect());
        let learner = CountingDensity {
            low: Some(vec![2.0]),
            high: Some(vec![4.0]),
            p: Some(0.3),
            ..Default::default()
        };
        let found = learner.compute(RowsOfDensity { x: x.view() }).unwrap();
        assert_eq!((found.count, found.volume, found.share), (3, 2.0, 0.3));
        assert!((found.value - 0.15).abs() < 1e-15);
        assert!((found.probability - 0.266_827_932).abs() < 1e-9);
        assert_eq!(found.expected_count, 3.0);
        let ball =
            CountingDensity { center: Some(vec![5.0]), radius: Some(2.0), ..Default::default() };
        let found = ball.compute(RowsOfDensity { x: x.view() }).unwrap();
        assert!(found.count == 5 && (found.volume - 4.0).abs() < 1e-12);
        let whole = CountingDensity::default().compute(RowsOfDensity { x: x.view() }).unwrap();
        assert_eq!((whole.count, whole.volume, whole.probability), (10, 9.0, 1.0));
        let half = CountingDensity { radius: Some(1.0), ..Default::default() };
        assert!(half.compute(RowsOfDensity { x: x.view() }).is_err());
    }

    #[test]
    fn every_window_is_a_density_but_the_tricube_of_smoothers() {
        let nothing = WindowValues { u: None, k: None };
        for window in [
            WindowShape::Gaussian,
            WindowShape::Tophat,
            WindowShape::Hypercube,
            WindowShape::Epanechnikov,
            WindowShape::Triangular,
            WindowShape::Biweight,
            WindowShape::TricubeDensity,
            WindowShape::Exponential,
            WindowShape::Cosine,
        ] {
            let found = CheckWindow { window, ..Default::default() }.compute(nothing).unwrap();
            assert!(found.value && found.symmetric, "{window:?}: {found:?}");
        }
        let tricube = CheckWindow { window: WindowShape::Tricube, ..Default::default() };
        let found = tricube.compute(nothing).unwrap();
        assert!(!found.value && found.symmetric);
        assert!((found.integral - 81.0 / 70.0).abs() < 1e-6);
    }

    #[test]
    fn tables_of_values_are_checked_by_trapezoids() {
        let check = |u: &[f64], k: &[f64]| {
            CheckWindow::default().compute(WindowValues { u: Some(u), k: Some(k) }).unwrap()
        };
        let hat = check(&[-1.0, 0.0, 1.0], &[0.0, 1.0, 0.0]);
        assert!(hat.value && hat.symmetric && hat.integral == 1.0);
        let lame = check(&[0.0, 1.0], &[2.0, 0.0]);
        assert!(lame.value && !lame.symmetric);
        let negative = check(&[-1.0, 0.0, 1.0], &[-0.5, 1.5, -0.5]);
        assert!(!negative.value && negative.minimum == -0.5);
    }

    #[test]
    fn widths_and_errors_are_those_of_the_formulas() {
        let learner = WidthSequences { n: vec![1.0, 10.0, 100.0, 1000.0], ..Default::default() };
        let found = learner.compute(()).unwrap();
        for (got, expected) in found.mise.iter().zip([0.10353, 0.06278, 0.02541, 0.00864]) {
            assert!((got - expected).abs() < 5e-6, "{:?}", found.mise);
        }
        assert!((found.width[2] - 0.1).abs() < 1e-15);
        let plane = WidthSequences { d: 2, n: vec![16.0], ..Default::default() };
        let found = plane.compute(()).unwrap();
        // V_n = 1/√n, so h_n = n^(-1/4) in two columns.
        assert!((found.volume[0] - 0.25).abs() < 1e-15 && (found.width[0] - 0.5).abs() < 1e-15);
        assert!(found.neighbors[0] == 4.0 && found.mise[0].is_nan());
    }
}
