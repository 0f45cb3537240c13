//! Generators: data drawn from known distributions, the same for the same seed.
//!
//! Each generator is a struct of parameters that can be read and set by name, so that the command
//! line and Python know it from [`FUNCTIONS`] alone. Where the distribution is worth having, its type gives
//! more than the rows: the exact Bayes rule, the noiseless target.

mod bayes_rules;
mod everyday;
mod gaussian;
mod legendre;
mod noisy;
mod shapes;
mod tables;

pub use bayes_rules::{BayesRule, DrawnRows, GaussiansBayesRule, LAWS, MixturesBayesRule};
pub use everyday::{Churn, Genes, Housing, target_name};
pub use gaussian::{Gaussians, Mixtures, TwoClassDistribution};
pub use legendre::{Legendre, LegendreTarget, legendre_values};
pub use noisy::{Noisy, Sine, noisy_classes, noisy_target};
pub use shapes::{Blobs, Circles, Clouds, Moons, MoonsAndBlobs, Stretched, TwoDensities, Xor};
pub use tables::{Classification, Friedman1, NestedSpheres, Regression};

use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Makes functions of structs whose method `rows` draws.
macro_rules! generators {
    ($($path:literal: $type:ty, $aliases:expr;)*) => {
        $(impl Function for $type {
            type Inputs<'a> = ();
            type Output = OwnedDataset;
            const ABOUT: &'static Callable =
                &Callable::new($path, FunctionKind::Generator).alias($aliases).randomness();

            fn call(&self, _inputs: (), run: &Context) -> Result<OwnedDataset> {
                self.rows(run)
            }
        })*

        /// Every generator.
        pub const FUNCTIONS: &[FunctionEntry] =
            &[$(function::<$type>(),)* function::<Legendre>(), function::<Sine>()];
    };
}
generators! {
    "datasets.make_moons": Moons, &[];
    "datasets.make_blobs": Blobs, &[];
    "datasets.make_moons_and_blobs": MoonsAndBlobs, &[];
    "datasets.make_circles": Circles, &["rings"];
    "datasets.make_two_densities": TwoDensities, &[];
    "datasets.make_stretched": Stretched, &[];
    "datasets.make_clouds": Clouds, &[];
    "datasets.make_xor": Xor, &[];
    "datasets.make_gaussians": Gaussians, &[];
    "datasets.make_mixtures": Mixtures, &[];
    "datasets.make_nested_spheres": NestedSpheres, &[];
    "datasets.make_classification": Classification, &[];
    "datasets.make_regression": Regression, &[];
    "datasets.make_friedman1": Friedman1, &[];
    "datasets.make_churn": Churn, &[];
    "datasets.make_housing": Housing, &[];
    "datasets.make_genes": Genes, &[];
}

/// Rows, and if asked for the target without its noise.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The rows with their target.
    pub value: OwnedDataset,
    /// The target without noise.
    pub noiseless: Option<Vec<f64>>,
}

impl Drawn {
    fn of(noisy: Noisy, with_noiseless: bool) -> Drawn {
        Drawn { value: noisy.data, noiseless: with_noiseless.then_some(noisy.noiseless) }
    }
}

/// The stream of random numbers of the rows.
const ROWS: u64 = 0x72_6f77_7300;
/// The stream of random numbers of the distribution itself.
const DISTRIBUTION: u64 = 0x006c_6177;

/// Rows with class codes, in random order; refused if too large for the run.
fn classes(rows: Vec<Vec<f64>>, codes: Vec<i64>, rng: &mut Rng) -> Result<OwnedDataset> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    sample::shuffle(rng, &mut order);
    let shuffled: Vec<&[f64]> = order.iter().map(|&i| rows[i].as_slice()).collect();
    let labels: Vec<Label> = order.iter().map(|&i| Label::Int(codes[i])).collect();
    Ok(OwnedDataset::classification(Matrix::from_rows(&shuffled)?, &labels))
}

/// Refuses more values than the run may hold.
fn claim(rows: usize, columns: usize, run: &Context) -> Result<()> {
    let bytes = (rows as u64).saturating_mul(columns as u64).saturating_mul(24);
    run.claim(bytes, &format!("a table of {rows} rows and {columns} columns"))
}

/// A normal draw.
fn normal(rng: &mut Rng, mean: f64, sd: f64) -> f64 {
    mean + sd * sample::standard_normal(rng)
}

/// Sizes of `parts` nearly equal parts of `rows`.
fn even(rows: usize, parts: usize) -> Vec<usize> {
    (0..parts).map(|k| rows / parts + usize::from(k < rows % parts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generator_keeps_its_number_of_rows_and_repeats_with_its_seed() {
        for entry in FUNCTIONS {
            let mut generator = (entry.build)();
            generator.set("n_samples", &Value::Int(61)).unwrap();
            let run = Context::default().with_seed(5);
            let drawn = |run: &Context| generator.call_any(&[], run).unwrap().values.remove(0).1;
            let Datum::Data(data) = drawn(&run) else { panic!("{}", entry.about.path) };
            assert_eq!(data.x.values().nrows(), 61, "{}", entry.about.path);
            // Missing values are equal in words only.
            let words = |datum: Datum| format!("{datum:?}");
            assert_eq!(words(drawn(&run)), words(Datum::Data(data.clone())));
            assert_ne!(words(drawn(&run.with_seed(6))), words(Datum::Data(data.clone())));
            // The tables of analysts have holes; nothing else is missing, and nothing is infinite.
            let holes = ["datasets.make_churn", "datasets.make_housing"];
            let holes = holes.contains(&entry.about.path);
            let sound = |value: &f64| value.is_finite() || (holes && value.is_nan());
            assert!(data.x.values().as_slice().iter().all(sound), "{}", entry.about.path);
        }
    }

    #[test]
    fn parameters_are_checked() {
        let moons = Moons { noise: -1.0, ..Default::default() };
        assert_eq!(moons.compute(()).unwrap_err().code(), Code::Parameter);
    }
}
