//! Generators: data drawn from known laws, the same for the same seed.
//!
//! Each generator is a struct of parameters that can be read and set by name, so that the command
//! line and Python know it from [`GENERATORS`] alone. Where the law is worth having, its type gives
//! more than the rows: the exact Bayes rule, the noiseless target.

mod gaussian;
mod legendre;
mod noisy;
mod shapes;
mod tables;

pub use gaussian::{Gaussians, Mixtures, TwoClassLaw};
pub use legendre::{Legendre, LegendreTarget, legendre_values};
pub use noisy::{Noisy, Sine, noisy_classes, noisy_target};
pub use shapes::{Blobs, Clouds, Moons, MoonsAndBlobs, Rings, Stretched, TwoDensities, Xor};
pub use tables::{Classification, Friedman1, NestedSpheres, Regression};

use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// A law with its parameters set.
pub trait Generate: Params {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// Draws the rows; the parameters are already checked.
    fn draw(&self, run: &Context) -> Result<OwnedDataset>;

    /// Checks the parameters, then draws the rows.
    fn generate(&self, run: &Context) -> Result<OwnedDataset> {
        self.check().map_err(|error| error.within(self.name()))?;
        self.draw(run)
    }
}

/// A generator in the list.
#[derive(Clone, Copy)]
pub struct Generator {
    /// The name.
    pub name: &'static str,
    /// A generator with default parameters.
    pub build: fn() -> Box<dyn Generate>,
}

/// Names a generator and its type.
macro_rules! generators {
    ($($name:literal: $type:ty, $draw:ident;)*) => {
        $(impl Generate for $type {
            fn name(&self) -> &'static str {
                $name
            }
            fn draw(&self, run: &Context) -> Result<OwnedDataset> {
                self.$draw(run)
            }
        })*

        /// Every generator.
        pub const GENERATORS: &[Generator] = &[
            $(Generator { name: $name, build: || Box::new(<$type>::default()) },)*
        ];
    };
}
generators! {
    "moons": Moons, rows;
    "blobs": Blobs, rows;
    "moons-and-blobs": MoonsAndBlobs, rows;
    "rings": Rings, rows;
    "two-densities": TwoDensities, rows;
    "stretched": Stretched, rows;
    "clouds": Clouds, rows;
    "xor": Xor, rows;
    "gaussians": Gaussians, rows;
    "mixtures": Mixtures, rows;
    "nested-spheres": NestedSpheres, rows;
    "classification": Classification, rows;
    "regression": Regression, rows;
    "friedman1": Friedman1, rows;
    "legendre": Legendre, rows;
    "sine": Sine, rows;
}

/// The generator with this name; `_` and `-` are the same, and a leading `make_` is ignored.
pub fn find_generator(name: &str) -> Result<&'static Generator> {
    let plain = name.to_lowercase().replace('_', "-");
    let wanted = plain.strip_prefix("make-").unwrap_or(&plain);
    GENERATORS
        .iter()
        .find(|generator| generator.name == wanted)
        .ok_or_else(|| Error::unknown("generator", name, GENERATORS.iter().map(|g| g.name)))
}

/// The stream of random numbers of the rows.
const ROWS: u64 = 0x0072_6f77_73;
/// The stream of random numbers of the law itself.
const LAW: u64 = 0x006c_6177;

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
    run.claim((rows as u64).saturating_mul(columns as u64).saturating_mul(24), "the drawn table")
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
        for entry in GENERATORS {
            let mut law = (entry.build)();
            assert_eq!(law.name(), entry.name);
            assert!(!law.documentation().is_empty());
            law.set("rows", &Value::Int(61)).unwrap();
            let run = Context::default().with_seed(5);
            let data = law.generate(&run).unwrap();
            assert_eq!(data.x.values().nrows(), 61, "{}", entry.name);
            assert_eq!(data, law.generate(&run).unwrap());
            assert_ne!(data, law.generate(&run.with_seed(6)).unwrap(), "{}", entry.name);
            assert!(data.x.values().as_slice().iter().all(|value| value.is_finite()));
        }
    }

    #[test]
    fn parameters_are_checked_and_unknown_names_refused() {
        let mut moons = (find_generator("make_moons").unwrap().build)();
        moons.set("noise", &Value::Real(-1.0)).unwrap();
        assert_eq!(moons.generate(&Context::default()).unwrap_err().code(), Code::Parameter);
        assert_eq!(find_generator("mons").err().unwrap().code(), Code::Unknown);
    }
}
