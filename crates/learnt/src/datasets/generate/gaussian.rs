//! Two classes with known densities: one normal cloud a class, or a mixture of narrow ones.
//!
//! p(x | class) = (1/m) Σ_j N(x; c_j, v I), classes equally likely; the Bayes rule takes the class of
//! the larger density, the first of equals. Densities are compared in log space.
//! T. Hastie, R. Tibshirani, J. Friedman, The elements of statistical learning, section 2.3.

use super::{DISTRIBUTION, ROWS, claim, classes, even, normal};
use learnt_core::context::Rng;
use learnt_core::linalg::squared_distance;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Normal};
use learnt_core::stats::sample;

/// Two normal clouds with unit variances, one at 0 and one at `shift` in every column.
#[derive(Params, Clone, Debug)]
pub struct Gaussians {
    /// Number of rows.
    #[param(positional, default = 200, range = 2..)]
    pub n_samples: usize,
    /// Number of columns.
    #[param(positional, default = 2, range = 1..)]
    pub n_features: usize,
    /// Position of the second cloud in every column.
    #[param(default = 1.5)]
    pub shift: f64,
}

/// Two classes, each a mixture of narrow normal clouds whose centres are drawn once around (1, 0)
/// and (0, 1).
#[derive(Params, Clone, Debug)]
pub struct Mixtures {
    /// Number of rows.
    #[param(positional, default = 200, range = 2..)]
    pub n_samples: usize,
    /// Number of clouds in each class.
    #[param(default = 10, range = 1..)]
    pub centers: usize,
    /// Variance of each cloud.
    #[param(default = 0.2, above = 0.0)]
    pub variance: f64,
}

/// The densities of two equally likely classes.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoClassDistribution {
    /// Centres of the clouds of each class.
    pub centres: [Vec<Vec<f64>>; 2],
    /// Variance of every cloud.
    pub variance: f64,
}

impl Gaussians {
    /// The distribution.
    pub fn distribution(&self) -> TwoClassDistribution {
        let centre = |value: f64| vec![vec![value; self.n_features]];
        TwoClassDistribution { centres: [centre(0.0), centre(self.shift)], variance: 1.0 }
    }

    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples, self.n_features, run)?;
        self.distribution().draw(self.n_samples, &mut run.rng(ROWS))
    }
}

impl Mixtures {
    /// The distribution, with the centres that belong to this seed.
    pub fn distribution(&self, run: &Context) -> TwoClassDistribution {
        let mut rng = run.rng(DISTRIBUTION);
        let mut around = |x: f64, y: f64| -> Vec<Vec<f64>> {
            let centre = |_| vec![normal(&mut rng, x, 1.0), normal(&mut rng, y, 1.0)];
            (0..self.centers).map(centre).collect()
        };
        TwoClassDistribution {
            centres: [around(1.0, 0.0), around(0.0, 1.0)],
            variance: self.variance,
        }
    }

    pub(super) fn rows(&self, run: &Context) -> Result<OwnedDataset> {
        claim(self.n_samples.saturating_add(self.centers), 2, run)?;
        self.distribution(run).draw(self.n_samples, &mut run.rng(ROWS))
    }
}

impl TwoClassDistribution {
    /// Rows of both classes in equal numbers, in random order.
    pub fn draw(&self, rows: usize, rng: &mut Rng) -> Result<OwnedDataset> {
        let sd = self.variance.sqrt();
        let (mut points, mut codes) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for (class, count) in even(rows, 2).into_iter().enumerate() {
            let centres = &self.centres[class];
            for _ in 0..count {
                let centre = &centres[sample::below(rng, centres.len() as u64) as usize];
                points.push(centre.iter().map(|&c| normal(rng, c, sd)).collect());
                codes.push(class as i64);
            }
        }
        classes(points, codes, rng)
    }

    /// ln p(x | class), less a constant that both classes share.
    fn ln_density(&self, x: &[f64], class: usize) -> f64 {
        let terms: Vec<f64> = self.centres[class]
            .iter()
            .map(|centre| -squared_distance(x, centre) / (2.0 * self.variance))
            .collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
        largest + sum.ln() - (terms.len() as f64).ln()
    }

    /// P(class 1 | x).
    pub fn posterior(&self, x: &[f64]) -> f64 {
        1.0 / (1.0 + (self.ln_density(x, 0) - self.ln_density(x, 1)).exp())
    }

    /// The Bayes rule: the class of the larger density, the first of equals.
    pub fn bayes(&self, x: &[f64]) -> u32 {
        u32::from(self.ln_density(x, 1) > self.ln_density(x, 0))
    }

    /// The error rate of the Bayes rule if each class is one cloud: Φ(-distance / 2 sd).
    pub fn bayes_error(&self) -> Option<f64> {
        match (self.centres[0].as_slice(), self.centres[1].as_slice()) {
            ([a], [b]) => {
                let distance = (squared_distance(a, b) / self.variance).sqrt();
                Some(Normal::new(0.0, 1.0)?.cdf(-distance / 2.0))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::linalg::PivotedQr;

    /// Errors of least squares on 0/1, 1-NN, 15-NN and the Bayes rule.
    fn errors(distribution: &TwoClassDistribution, run: &Context) -> [f64; 4] {
        let train = distribution.draw(200, &mut run.rng(1)).unwrap();
        let test = distribution.draw(1000, &mut run.rng(2)).unwrap();
        let view = train.view();
        let y: Vec<f64> = view.class_target().unwrap().0.iter().map(|&c| f64::from(c)).collect();
        let design = |x: &Matrix| {
            Matrix::from_fn(x.nrows(), 3, |i, j| if j == 0 { 1.0 } else { x[(i, j - 1)] })
        };
        let weights = PivotedQr::new(design(train.x.values()).view()).solve(&y);
        let test_view = test.view();
        let truth = test_view.class_target().unwrap().0;
        let mut wrong = [0.0; 4];
        for (row, &class) in test.x.values().rows().zip(truth) {
            let mut near: Vec<(f64, f64)> =
                train.x.values().rows().map(|r| squared_distance(r, row)).zip(y.clone()).collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0));
            let vote = |k: usize| near[..k].iter().map(|(_, y)| y).sum::<f64>() > k as f64 / 2.0;
            let linear = weights[0] + weights[1] * row[0] + weights[2] * row[1] > 0.5;
            let said = [linear, vote(1), vote(15), distribution.bayes(row) == 1];
            for (count, said) in wrong.iter_mut().zip(said) {
                *count += f64::from(said != (class == 1)) / 1000.0;
            }
        }
        wrong
    }

    fn mean_errors(
        distribution: impl Fn(&Context) -> TwoClassDistribution,
        draws: u64,
    ) -> [f64; 4] {
        let mut mean = [0.0; 4];
        for seed in 0..draws {
            let run = Context::default().with_seed(seed);
            let errors = errors(&distribution(&run), &run);
            mean.iter_mut().zip(errors).for_each(|(m, e)| *m += e / draws as f64);
        }
        mean
    }

    #[test]
    fn one_cloud_a_class_suits_the_linear_rule() {
        let distribution = Gaussians::default().distribution();
        assert!((distribution.bayes_error().unwrap() - 0.144_4).abs() < 1e-3);
        let mean = mean_errors(|_| distribution.clone(), 12);
        for (got, wanted) in mean.iter().zip([0.146, 0.208, 0.153, 0.145]) {
            assert!((got - wanted).abs() < 0.02, "{mean:?}");
        }
    }

    #[test]
    fn mixtures_suit_the_neighbours() {
        let mean = mean_errors(|run| Mixtures::default().distribution(run), 25);
        for (got, wanted) in mean.iter().zip([0.266, 0.266, 0.211, 0.202]) {
            assert!((got - wanted).abs() < 0.06, "{mean:?}");
        }
        assert!(mean[3] < mean[2] && mean[2] < mean[1].min(mean[0]));
    }
}
