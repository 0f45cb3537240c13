//! Shapes in the plane that clustering and non-linear classifiers are tried on.

use super::{DISTRIBUTION, ROWS, claim, classes, even, normal};
use learnt_core::linalg::Cholesky;
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::f64::consts::{PI, TAU};

/// Two half moons that reach into each other.
#[derive(Params, Clone, Debug)]
pub struct Moons {
    /// Number of rows.
    #[param(positional, default = 100, range = 2..)]
    pub n_samples: usize,
    /// Standard deviation of the noise.
    #[param(default = 0.1, range = 0.0..)]
    pub noise: f64,
}

impl Moons {
    fn points(&self, rng: &mut learnt_core::context::Rng) -> (Vec<Vec<f64>>, Vec<i64>) {
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for (moon, count) in even(self.n_samples, 2).into_iter().enumerate() {
            for i in 0..count {
                let angle = PI * i as f64 / (count.max(2) - 1) as f64;
                let (x, y) = match moon {
                    0 => (angle.cos(), angle.sin()),
                    _ => (1.0 - angle.cos(), 0.5 - angle.sin()),
                };
                points.push(vec![normal(rng, x, self.noise), normal(rng, y, self.noise)]);
                codes.push(moon as i64);
            }
        }
        (points, codes)
    }

    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, 2, run)?;
        let mut rng = run.rng(ROWS);
        let (points, codes) = self.points(&mut rng);
        classes(points, codes, &mut rng)
    }
}

/// Normal clouds around centres that are drawn evenly from a box.
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct Blobs {
    /// Number of rows.
    #[param(positional, default = 100, range = 1..)]
    pub n_samples: usize,
    /// Number of columns.
    #[param(positional, default = 2, range = 1..)]
    pub n_features: usize,
    /// Number of clouds.
    #[param(default = 3, range = 1..)]
    pub centers: usize,
    /// Standard deviation of each cloud.
    #[param(default = 1.0, range = 0.0..)]
    pub cluster_std: f64,
    /// Ends of the box in every column.
    #[param(default = vec![-10.0, 10.0])]
    pub center_box: Vec<f64>,
}

impl Blobs {
    fn constraints(&self) -> Result<()> {
        match self.center_box.as_slice() {
            [low, high] if low <= high => Ok(()),
            ends => Err(Error::parameter("center_box", "two rising numbers", format!("{ends:?}"))),
        }
    }

    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples.saturating_add(self.centers), self.n_features, run)?;
        let (low, high) = (self.center_box[0], self.center_box[1]);
        let mut distribution = run.rng(DISTRIBUTION);
        let mut rng = run.rng(ROWS);
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for (k, count) in even(self.n_samples, self.centers).into_iter().enumerate() {
            let centre: Vec<f64> = (0..self.n_features)
                .map(|_| low + (high - low) * sample::uniform(&mut distribution))
                .collect();
            for _ in 0..count {
                points
                    .push(centre.iter().map(|&c| normal(&mut rng, c, self.cluster_std)).collect());
                codes.push(k as i64);
            }
        }
        classes(points, codes, &mut rng)
    }
}

/// Two moons below two normal clouds: four groups of which the clouds touch.
#[derive(Params, Clone, Debug)]
pub struct MoonsAndBlobs {
    /// Number of rows, half of them in the moons.
    #[param(positional, default = 100, range = 4..)]
    pub n_samples: usize,
    /// Standard deviation of the noise of the moons.
    #[param(default = 0.05, range = 0.0..)]
    pub noise: f64,
    /// Standard deviation of the clouds.
    #[param(default = 0.25, range = 0.0..)]
    pub cluster_std: f64,
}

impl MoonsAndBlobs {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, 2, run)?;
        let mut rng = run.rng(ROWS);
        let moons = Moons { n_samples: self.n_samples - self.n_samples / 2, noise: self.noise };
        let (mut points, mut codes) = moons.points(&mut rng);
        let centres = [(-0.75, 2.25), (1.0, 2.0)];
        for ((k, count), (x, y)) in even(self.n_samples / 2, 2).into_iter().enumerate().zip(centres)
        {
            for _ in 0..count {
                let point = [x, y].map(|centre| normal(&mut rng, centre, self.cluster_std));
                points.push(point.to_vec());
                codes.push(2 + k as i64);
            }
        }
        classes(points, codes, &mut rng)
    }
}

/// A ring inside a ring.
#[derive(Params, Clone, Debug)]
pub struct Circles {
    /// Number of rows.
    #[param(positional, default = 100, range = 2..)]
    pub n_samples: usize,
    /// Standard deviation of the noise.
    #[param(default = 0.05, range = 0.0..)]
    pub noise: f64,
    /// Radius of the inner ring; the outer has radius 1.
    #[param(default = 0.5, range = 0.0..1.0)]
    pub factor: f64,
}

impl Circles {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, 2, run)?;
        let mut rng = run.rng(ROWS);
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for (ring, count) in even(self.n_samples, 2).into_iter().enumerate() {
            let radius = if ring == 0 { 1.0 } else { self.factor };
            for i in 0..count {
                let angle = TAU * i as f64 / count as f64;
                let point = [radius * angle.cos(), radius * angle.sin()];
                points.push(point.map(|value| normal(&mut rng, value, self.noise)).to_vec());
                codes.push(ring as i64);
            }
        }
        classes(points, codes, &mut rng)
    }
}

/// Two normal clouds of different density.
#[derive(Params, Clone, Debug)]
pub struct TwoDensities {
    /// Number of rows.
    #[param(positional, default = 100, range = 2..)]
    pub n_samples: usize,
    /// Standard deviation of the dense cloud.
    #[param(default = 0.2, above = 0.0)]
    pub cluster_std: f64,
    /// How much wider the other cloud is.
    #[param(default = 5.0, range = 1.0..)]
    pub ratio: f64,
    /// Distance of the centres.
    #[param(default = 5.0, range = 0.0..)]
    pub distance: f64,
}

impl TwoDensities {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, 2, run)?;
        let mut rng = run.rng(ROWS);
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for (k, count) in even(self.n_samples, 2).into_iter().enumerate() {
            let sd = if k == 0 { self.cluster_std } else { self.cluster_std * self.ratio };
            for _ in 0..count {
                let x = normal(&mut rng, self.distance * k as f64, sd);
                points.push(vec![x, normal(&mut rng, 0.0, sd)]);
                codes.push(k as i64);
            }
        }
        classes(points, codes, &mut rng)
    }
}

/// Clusters side by side on one axis, drawn out along the other.
#[derive(Params, Clone, Debug)]
pub struct Stretched {
    /// Number of rows.
    #[param(positional, default = 150, range = 1..)]
    pub n_samples: usize,
    /// Number of clusters.
    #[param(default = 3, range = 1..)]
    pub clusters: usize,
    /// Standard deviation along the long axis; across it is 1/2 and centres are 5 apart.
    #[param(default = 10.0, above = 0.0)]
    pub stretch: f64,
}

impl Stretched {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, 2, run)?;
        let mut rng = run.rng(ROWS);
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for (k, count) in even(self.n_samples, self.clusters).into_iter().enumerate() {
            for _ in 0..count {
                let x = normal(&mut rng, 5.0 * k as f64, 0.5);
                points.push(vec![x, normal(&mut rng, 0.0, self.stretch)]);
                codes.push(k as i64);
            }
        }
        classes(points, codes, &mut rng)
    }
}

/// Exclusive or: normal clouds at the corners of a square, opposite ones of one class.
#[derive(Params, Clone, Debug)]
pub struct Xor {
    /// Number of rows.
    #[param(positional, default = 200, range = 4..)]
    pub n_samples: usize,
    /// Standard deviation of each cloud; corners are at -1 and 1.
    #[param(default = 0.4, range = 0.0..)]
    pub noise: f64,
}

impl Xor {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, 2, run)?;
        let mut rng = run.rng(ROWS);
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for (corner, count) in even(self.n_samples, 4).into_iter().enumerate() {
            let (right, top) = (corner & 1, corner >> 1);
            for _ in 0..count {
                let x = normal(&mut rng, 2.0 * right as f64 - 1.0, self.noise);
                points.push(vec![x, normal(&mut rng, 2.0 * top as f64 - 1.0, self.noise)]);
                codes.push((right ^ top) as i64);
            }
        }
        classes(points, codes, &mut rng)
    }
}

/// Four clouds of other shapes with the same mean and covariance: a normal cloud, a cross, a ring
/// and two blobs, numbered in this order.
///
/// Each is whitened by the inverse of its own Cholesky factor, then coloured by that of the common
/// covariance [[1, ρ], [ρ, 1]] (divisor n - 1).
#[derive(Params, Clone, Debug)]
pub struct Clouds {
    /// Number of rows.
    #[param(positional, default = 400, range = 16..)]
    pub n_samples: usize,
    /// Correlation ρ of the two columns.
    #[param(default = 0.5, above = -1.0, below = 1.0)]
    pub correlation: f64,
}

impl Clouds {
    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, 2, run)?;
        let mut rng = run.rng(ROWS);
        let target = Matrix::from_fn(2, 2, |i, j| if i == j { 1.0 } else { self.correlation });
        let (mut points, mut codes) = (Vec::new(), Vec::new());
        for (shape, count) in even(self.n_samples, 4).into_iter().enumerate() {
            let mut draw = |_| -> [f64; 2] {
                let (place, width) = (2.0 * sample::uniform(&mut rng) - 1.0, 0.1);
                match shape {
                    0 => [normal(&mut rng, 0.0, 1.0), normal(&mut rng, 0.0, 1.0)],
                    1 if sample::uniform(&mut rng) < 0.5 => [place, normal(&mut rng, 0.0, width)],
                    1 => [normal(&mut rng, 0.0, width), place],
                    2 => {
                        let radius = normal(&mut rng, 1.0, width);
                        [radius * (PI * place).cos(), radius * (PI * place).sin()]
                    }
                    _ => [
                        normal(&mut rng, place.signum(), 2.0 * width),
                        normal(&mut rng, 0.0, 2.0 * width),
                    ],
                }
            };
            let cloud: Vec<[f64; 2]> = (0..count).map(&mut draw).collect();
            points.extend(recoloured(&cloud, &target)?);
            codes.extend(std::iter::repeat_n(shape as i64, count));
        }
        classes(points, codes, &mut rng)
    }
}

/// The cloud with mean 0 and the given covariance: x ↦ L_target L_own⁻¹ (x - mean).
fn recoloured(cloud: &[[f64; 2]], target: &Matrix) -> Result<Vec<Vec<f64>>> {
    let table = Matrix::from_rows(cloud)?;
    let own = crate::prepare::covariance_matrix(table.view(), None, 1.0)?;
    let singular = || Error::numeric("a cloud lies on a line; draw more rows");
    let from = Cholesky::new(&own).ok_or_else(singular)?;
    let (a, c) = (target[(0, 0)].sqrt(), target[(1, 0)] / target[(0, 0)].sqrt());
    let d = (target[(1, 1)] - c * c).sqrt();
    let mean = [0, 1].map(|j| table.column(j).iter().sum::<f64>() / cloud.len() as f64);
    let colour = |point: &[f64; 2]| {
        let mut white = [point[0] - mean[0], point[1] - mean[1]];
        from.solve_lower_in_place(&mut white);
        vec![a * white[0], c * white[0] + d * white[1]]
    };
    Ok(cloud.iter().map(colour).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::covariance_matrix;

    #[test]
    fn clouds_have_one_mean_and_one_covariance_to_twelve_digits() {
        let data = Clouds::default().rows(&Context::default().with_seed(1)).unwrap();
        let view = data.view();
        let (codes, _) = view.class_target().unwrap();
        for shape in 0..4 {
            let rows: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] == shape).collect();
            let cloud = data.x.values().view().gather_rows(&rows);
            let covariance = covariance_matrix(cloud.view(), None, 1.0).unwrap();
            for (got, wanted) in covariance.as_slice().iter().zip([1.0, 0.5, 0.5, 1.0]) {
                assert!((got - wanted).abs() < 1e-12, "{shape}: {got}");
            }
            assert!(cloud.column(0).iter().sum::<f64>().abs() < 1e-11);
        }
    }

    #[test]
    fn moons_without_noise_lie_on_their_arcs() {
        let moons = Moons { n_samples: 41, noise: 0.0 };
        let data = moons.rows(&Context::default()).unwrap();
        let view = data.view();
        let codes = view.class_target().unwrap().0;
        for (row, &code) in data.x.values().rows().zip(codes) {
            let (cx, cy) = if code == 0 { (0.0, 0.0) } else { (1.0, 0.5) };
            assert!(((row[0] - cx).hypot(row[1] - cy) - 1.0).abs() < 1e-12);
        }
    }
}
