//! Targets with noise: y = f(x) + σ ε, or classes drawn from P(class | x).

use super::{Drawn, ROWS, claim};
use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::f64::consts::TAU;

/// Rows with a noisy target, and the target without noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Noisy {
    /// The rows.
    pub data: OwnedDataset,
    /// f(x), or P(class 1 | x).
    pub noiseless: Vec<f64>,
}

/// y = f(x) + sd · standard normal.
pub fn noisy_target(x: Matrix, f: impl Fn(&[f64]) -> f64, sd: f64, rng: &mut Rng) -> Noisy {
    let noiseless: Vec<f64> = x.rows().map(f).collect();
    let y = noiseless.iter().map(|f| f + sd * sample::standard_normal(rng)).collect();
    Noisy { data: OwnedDataset::regression(x, y), noiseless }
}

/// Class 1 with probability p(x), else class 0.
pub fn noisy_classes(x: Matrix, p: impl Fn(&[f64]) -> f64, rng: &mut Rng) -> Noisy {
    let noiseless: Vec<f64> = x.rows().map(p).collect();
    let codes: Vec<u32> = noiseless.iter().map(|p| u32::from(sample::uniform(rng) < *p)).collect();
    let y = OwnedTarget::Class { codes, classes: vec![Label::Int(0), Label::Int(1)] };
    let data = OwnedDataset { x: Table::unnamed(x), y: Some(y), ..OwnedDataset::default() };
    Noisy { data, noiseless }
}

/// A sine wave of one input with noise.
#[derive(Params, Clone, Debug)]
pub struct Sine {
    /// Number of rows.
    #[param(positional, default = 100, range = 1..)]
    pub n_samples: usize,
    /// Standard deviation of the noise.
    #[param(default = 0.3, range = 0.0..)]
    pub noise: f64,
    /// Number of periods between 0 and 1.
    #[param(default = 1.0, above = 0.0)]
    pub periods: f64,
    /// Whether to give the wave itself too.
    #[param(default = false)]
    pub return_noiseless: bool,
}

impl Sine {
    /// The rows with the wave itself.
    pub fn noisy(&self, run: &Context) -> Noisy {
        let mut rng = run.rng(ROWS);
        let x = (0..self.n_samples).map(|_| sample::uniform(&mut rng)).collect();
        let wave = |row: &[f64]| (TAU * self.periods * row[0]).sin();
        noisy_target(Matrix::column_vector(x), wave, self.noise, &mut rng)
    }
}

impl Function for Sine {
    type Inputs<'a> = ();
    type Output = Drawn;
    const ABOUT: &'static Callable =
        &Callable::new("datasets.make_sine", FunctionKind::Generator).randomness();

    fn call(&self, _inputs: (), run: &Context) -> Result<Drawn> {
        claim(self.n_samples, 2, run)?;
        Ok(Drawn::of(self.noisy(run), self.return_noiseless))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sine_without_noise_is_its_own_noiseless_target() {
        let sine = Sine { noise: 0.0, return_noiseless: true, ..Default::default() };
        let drawn = sine.compute(()).unwrap();
        let y = drawn.value.view().real_target().unwrap().column(0);
        assert_eq!(drawn.noiseless.unwrap(), y);
        assert!(Sine::default().compute(()).unwrap().noiseless.is_none());
    }

    #[test]
    fn the_mean_target_at_one_place_is_the_noiseless_one() {
        let mut rng = Context::default().rng(0);
        let noisy = noisy_target(Matrix::zeros(20_000, 1), |_| 3.0, 2.0, &mut rng);
        let mean = noisy.data.view().real_target().unwrap().column(0).iter().sum::<f64>() / 2e4;
        assert!((mean - 3.0).abs() < 0.06, "{mean}");
        let drawn = noisy_classes(Matrix::zeros(20_000, 1), |_| 0.3, &mut rng);
        let view = drawn.data.view();
        let ones: u32 = view.class_target().unwrap().0.iter().sum();
        assert!((f64::from(ones) / 2e4 - 0.3).abs() < 0.015);
    }
}
