//! How many columns a random projection needs, and how well it keeps distances.
//!
//! For one vector, k ≥ (16/3) eps⁻² ln(1/delta) keeps its squared length within 1 ± eps with
//! probability 1 - delta; for all pairs of m points delta is divided among m (m - 1) / 2 pairs.

use super::random_projection::least_dimension;
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::linalg::squared_distance;
use learnt_core::prelude::*;

/// Johnson-Lindenstrauss dimension: columns that keep squared distances of the rows within 1 ± eps.
#[derive(Params, Clone, Debug)]
pub struct JohnsonLindenstraussMinDim {
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n_samples: Option<usize>,
    /// Largest relative change of a squared distance.
    #[param(default = 0.1, above = 0.0, below = 1.0)]
    pub eps: f64,
}

impl Function for JohnsonLindenstraussMinDim {
    type Inputs<'a> = ();
    type Output = u64;
    const ABOUT: &'static Callable =
        &Callable::new("random_projection.johnson_lindenstrauss_min_dim", FunctionKind::Theory)
            .reference("Dasgupta and Gupta (2003)");

    fn call(&self, _given: (), _run: &Context) -> Result<u64> {
        Ok(least_dimension(self.n_samples.unwrap_or(1) as f64, self.eps) as u64)
    }
}

/// Columns of a Gaussian projection that keep squared lengths within 1 ± eps with high probability.
#[derive(Params, Clone, Debug)]
pub struct ProjectionDimension {
    /// Largest relative change of a squared length.
    #[param(positional, default = 0.1, above = 0.0, below = 0.5)]
    pub eps: f64,
    /// Probability that a larger change happens.
    #[param(positional, default = 0.01, above = 0.0, below = 1.0)]
    pub delta: f64,
    /// Number of points whose pairs are all kept; without it, one vector is.
    #[param(range = 2..)]
    pub points: Option<usize>,
}

impl Function for ProjectionDimension {
    type Inputs<'a> = ();
    type Output = u64;
    const ABOUT: &'static Callable =
        &Callable::new("random_projection.projection_dimension", FunctionKind::Theory);

    fn call(&self, _given: (), _run: &Context) -> Result<u64> {
        let pairs = self.points.map_or(1.0, |m| m as f64 * (m as f64 - 1.0) / 2.0);
        let needed = 16.0 / 3.0 / (self.eps * self.eps) * (pairs / self.delta).ln();
        Ok(needed.ceil() as u64)
    }
}

/// Rows before and after a projection.
#[derive(Inputs, Clone, Copy)]
pub struct BeforeAndAfter<'a> {
    /// The rows before.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// The same rows after.
    #[input(name = "Y", apart)]
    pub y: MatRef<'a>,
}

/// Distortion of a projection: ratios of squared distances, after to before, over all pairs of rows.
#[derive(Params, Clone, Debug)]
pub struct DistanceDistortion {
    /// Number of cells of the histogram.
    #[param(default = 20, range = 1..=1000)]
    pub bins: usize,
}

/// Ratios of squared distances.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Distortion {
    /// The least.
    pub min_ratio: f64,
    /// The largest.
    pub max_ratio: f64,
    /// The mean.
    pub mean_ratio: f64,
    /// Pairs of rows that differ.
    pub pairs: u64,
    /// Middles of the cells of the histogram.
    pub centers: Vec<f64>,
    /// Pairs in each cell.
    pub counts: Vec<u64>,
}

impl Function for DistanceDistortion {
    type Inputs<'a> = BeforeAndAfter<'a>;
    type Output = Distortion;
    const ABOUT: &'static Callable =
        &Callable::new("random_projection.distance_distortion", FunctionKind::Analysis).threads();

    fn call(&self, given: BeforeAndAfter, run: &Context) -> Result<Distortion> {
        if given.y.nrows() != given.x.nrows() {
            let expected = format!("{} rows as X has", given.x.nrows());
            return Err(Error::shape("Y", expected, format!("{} rows", given.y.nrows())));
        }
        let (x, y) = (given.x.to_matrix(), given.y.to_matrix());
        let n = x.nrows();
        let each = |i: usize, mut f: Box<dyn FnMut(f64) + '_>| {
            for j in 0..i {
                let before = squared_distance(x.row(i), x.row(j));
                if before > 0.0 {
                    f(squared_distance(y.row(i), y.row(j)) / before);
                }
            }
        };
        let parts = run.try_par_map(n, |i| {
            let mut part = (f64::INFINITY, 0.0_f64, 0.0_f64, 0_u64);
            each(i, Box::new(|r| part = (part.0.min(r), part.1.max(r), part.2 + r, part.3 + 1)));
            Ok(part)
        })?;
        let all = parts.into_iter().fold((f64::INFINITY, 0.0_f64, 0.0_f64, 0_u64), |all, part| {
            (all.0.min(part.0), all.1.max(part.1), all.2 + part.2, all.3 + part.3)
        });
        if all.3 == 0 || !all.2.is_finite() {
            return Err(Error::new(Code::Undefined, "no two rows have a distance to compare"));
        }
        let width = ((all.1 - all.0) / self.bins as f64).max(f64::MIN_POSITIVE);
        let cell = |r: f64| (((r - all.0) / width) as usize).min(self.bins - 1);
        let counted = run.try_par_map(n, |i| {
            let mut counts = vec![0_u64; self.bins];
            each(i, Box::new(|r| counts[cell(r)] += 1));
            Ok(counts)
        })?;
        let mut counts = vec![0; self.bins];
        for part in counted {
            counts.iter_mut().zip(part).for_each(|(count, part)| *count += part);
        }
        let centers = (0..self.bins).map(|b| all.0 + (b as f64 + 0.5) * width).collect();
        Ok(Distortion {
            min_ratio: all.0,
            max_ratio: all.1,
            mean_ratio: all.2 / all.3 as f64,
            pairs: all.3,
            centers,
            counts,
        })
    }

    fn chart(&self, found: &Distortion) -> Option<Chart> {
        let counts = found.counts.iter().map(|&count| count as f64).collect();
        let panel = Panel::new("squared distance after over before", "pairs")
            .mark(Mark::bars("pairs", found.centers.clone(), counts).unnamed());
        Some(Chart::new("Distortion", "How a projection changes distances.").panel(panel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_those_of_the_bound() {
        let one = ProjectionDimension { eps: 0.1, delta: 0.01, points: None };
        assert_eq!(one.compute(()).unwrap(), 2457);
        for (m, eps, delta, expected) in [
            (100, 0.25, 0.01, 1119),
            (1000, 0.1, 0.01, 9455),
            (1_000_000, 0.1, 0.01, 16_823),
            (1000, 0.2, 0.05, 2149),
        ] {
            let all = ProjectionDimension { eps, delta, points: Some(m) };
            assert_eq!(all.compute(()).unwrap(), expected);
        }
        let usual = JohnsonLindenstraussMinDim { n_samples: Some(1_000_000), eps: 0.5 };
        assert_eq!(usual.compute(()).unwrap(), 663);
    }

    #[test]
    fn twice_the_rows_have_four_times_the_squared_distances() {
        let x = Matrix::from_fn(20, 3, |i, j| ((i * (j + 2)) as f64).sin());
        let y = Matrix::from_fn(20, 3, |i, j| 2.0 * x[(i, j)]);
        let given = BeforeAndAfter { x: x.view(), y: y.view() };
        let found = DistanceDistortion::default().compute(given).unwrap();
        assert!((found.mean_ratio - 4.0).abs() < 1e-12 && found.pairs == 190);
        assert_eq!(found.counts.iter().sum::<u64>(), 190);
    }
}
