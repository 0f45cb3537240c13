//! The exact Bayes rules of the two-class generators: posterior, class and error.
//!
//! See [`TwoClassDistribution`]. The error of one cloud a class is Φ(-distance / 2 sd); of mixtures it is
//! the mean of min(P, 1 - P) over fresh draws, with its standard error.

use super::{Gaussians, Mixtures, TwoClassDistribution};
use learnt_core::prelude::*;
use learnt_core::stats::summary;

/// The stream of random numbers of the draws that estimate an error.
const DRAWS: u64 = 0x6261_7965_7300;

/// Points of the generator's space.
#[derive(Inputs, Clone, Copy)]
pub struct DrawnRows<'a> {
    /// The points, one a row.
    #[input(name = "X")]
    pub x: MatRef<'a>,
}

/// What the law of the data says about points.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct BayesRule {
    /// Probability of class 1 at each point.
    pub posterior: Vec<f64>,
    /// The class of the larger density, 0 for equals.
    pub class: Vec<u32>,
    /// Error rate of that rule over the whole law.
    pub error: f64,
    /// Standard error of the error, where it is estimated.
    pub standard_error: Option<f64>,
}

/// Bayes rule of `make_gaussians` with the same shift: posterior, class and exact error rate.
#[derive(Params, Clone, Debug)]
pub struct GaussiansBayesRule {
    /// Position of the second cloud in every column.
    #[param(default = 1.5)]
    pub shift: f64,
}

impl Function for GaussiansBayesRule {
    type Inputs<'a> = DrawnRows<'a>;
    type Output = BayesRule;
    const ABOUT: &'static Callable =
        &Callable::new("datasets.gaussians_bayes_rule", FunctionKind::Statistic)
            .reference("Hastie, Tibshirani and Friedman (2009), section 2.3");

    fn call(&self, given: DrawnRows, _run: &Context) -> Result<BayesRule> {
        let law = Gaussians { n_features: given.x.ncols(), shift: self.shift, n_samples: 2 };
        let law = law.distribution();
        let error = law.bayes_error().ok_or_else(|| Error::internal("clouds without an error"))?;
        Ok(BayesRule { error, standard_error: None, ..at(&law, given.x) })
    }
}

/// Bayes rule of `make_mixtures` with the same parameters and seed: posterior, class and error rate by
/// simulation.
#[derive(Params, Clone, Debug)]
pub struct MixturesBayesRule {
    /// Number of clouds in each class.
    #[param(default = 10, range = 1..)]
    pub centers: usize,
    /// Variance of each cloud.
    #[param(default = 0.2, above = 0.0)]
    pub variance: f64,
    /// Number of draws for the error rate.
    #[param(default = 10_000, range = 2..=10_000_000)]
    pub draws: usize,
}

impl Function for MixturesBayesRule {
    type Inputs<'a> = DrawnRows<'a>;
    type Output = BayesRule;
    const ABOUT: &'static Callable =
        &Callable::new("datasets.mixtures_bayes_rule", FunctionKind::Statistic)
            .randomness()
            .reference("Hastie, Tibshirani and Friedman (2009), section 2.3");

    fn call(&self, given: DrawnRows, run: &Context) -> Result<BayesRule> {
        if given.x.ncols() != 2 {
            return Err(Error::shape("X", "2 columns", format!("{} columns", given.x.ncols())));
        }
        let (centers, variance) = (self.centers, self.variance);
        let law = Mixtures { n_samples: 2, centers, variance }.distribution(run);
        let drawn = law.draw(self.draws, &mut run.rng(DRAWS))?;
        let least = |row: &[f64]| {
            let p = law.posterior(row);
            p.min(1.0 - p)
        };
        let errors: Vec<f64> = drawn.x.values().rows().map(least).collect();
        let n = errors.len() as f64;
        Ok(BayesRule {
            error: errors.iter().sum::<f64>() / n,
            standard_error: summary::sd(&errors, None, 1.0).map(|sd| sd / n.sqrt()),
            ..at(&law, given.x)
        })
    }
}

fn at(law: &TwoClassDistribution, x: MatRef) -> BayesRule {
    let mut row = vec![0.0; x.ncols()];
    let (mut posterior, mut class) = (Vec::new(), Vec::new());
    for i in 0..x.nrows() {
        x.copy_row(i, &mut row);
        posterior.push(law.posterior(&row));
        class.push(law.bayes(&row));
    }
    BayesRule { posterior, class, error: f64::NAN, standard_error: None }
}

/// What is known about generators beside their rows.
pub const LAWS: &[FunctionEntry] =
    &[function::<GaussiansBayesRule>(), function::<MixturesBayesRule>()];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_two_clouds_is_undecided_and_the_error_is_exact() {
        let x = Matrix::from_rows(&[[0.75, 0.75], [3.0, 3.0], [0.0, 0.0]]).unwrap();
        let found = GaussiansBayesRule::default().compute(DrawnRows { x: x.view() }).unwrap();
        assert!((found.posterior[0] - 0.5).abs() < 1e-12);
        assert_eq!(found.class, [0, 1, 0]);
        assert!((found.error - 0.144_4).abs() < 1e-3);
    }

    #[test]
    fn the_rule_of_mixtures_errs_on_their_rows_as_often_as_it_says() {
        let run = Context::default().with_seed(4);
        let rows = Mixtures { n_samples: 4000, ..Default::default() }.compute_in((), &run).unwrap();
        let given = DrawnRows { x: rows.x.values().view() };
        let found = MixturesBayesRule::default().compute_in(given, &run).unwrap();
        let view = rows.view();
        let (codes, _) = view.class_target().unwrap();
        let wrong = found.class.iter().zip(codes).filter(|(a, b)| a != b).count() as f64 / 4000.0;
        assert!((wrong - found.error).abs() < 0.03, "{wrong} {}", found.error);
        assert!(found.standard_error.unwrap() < 0.003);
    }
}
