//! Losses of margins and of residuals: their values, and what outliers do to the number that has the least.
//!
//! - Margins z = y f: exponential e^-z, deviance ln(1 + e^-2z)/ln 2, squares (1 - z)², hinge max(0, 1 - z), error
//!   [z < 0]. All but the last are at least it, and 1 at z = 0.
//! - Location: the mean (squares), the median (absolute values) and Huber's number (squares up to δ) of n
//!   normal values, and of values of which a share has a large spread: root mean squared errors.
//!
//! References: Hastie, Tibshirani and Friedman (2009), section 10.6; Huber (1964).

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use learnt_core::stats::special::softplus;

/// Losses of two classes against the margin y f.
#[derive(Params, Clone, Debug)]
pub struct MarginLosses {
    /// Margins.
    #[param(positional, default = (-40..=40).map(|k| f64::from(k) / 20.0).collect(), range = -100.0..=100.0)]
    pub margins: Vec<f64>,
}

/// The losses of each margin.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct LossesOfMargins {
    /// Margins.
    pub margin: Vec<f64>,
    /// e^-z.
    pub exponential: Vec<f64>,
    /// ln(1 + e^-2z)/ln 2.
    pub deviance: Vec<f64>,
    /// (1 - z)².
    pub squared: Vec<f64>,
    /// max(0, 1 - z).
    pub hinge: Vec<f64>,
    /// 1 for margins below 0.
    pub error: Vec<f64>,
}

impl Function for MarginLosses {
    type Inputs<'a> = ();
    type Output = LossesOfMargins;
    const ABOUT: &'static Callable = &Callable::new("ensemble.margin_losses", FunctionKind::Study)
        .reference("Hastie, Tibshirani and Friedman (2009), section 10.6");

    fn call(&self, (): (), _run: &Context) -> Result<LossesOfMargins> {
        let each = |loss: &dyn Fn(f64) -> f64| self.margins.iter().map(|&z| loss(z)).collect();
        Ok(LossesOfMargins {
            margin: self.margins.clone(),
            exponential: each(&|z| (-z).exp()),
            deviance: each(&|z| softplus(-2.0 * z) / std::f64::consts::LN_2),
            squared: each(&|z| (1.0 - z).powi(2)),
            hinge: each(&|z| (1.0 - z).max(0.0)),
            error: each(&|z| f64::from(u8::from(z < 0.0))),
        })
    }

    fn chart(&self, found: &LossesOfMargins) -> Option<Chart> {
        let line = |name: &str, y: &[f64]| Mark::line(name, found.margin.clone(), y.to_vec());
        let panel = Panel::new("margin", "loss")
            .mark(line("exponential", &found.exponential))
            .mark(line("deviance", &found.deviance))
            .mark(line("squared", &found.squared))
            .mark(line("hinge", &found.hinge))
            .mark(line("error", &found.error))
            .range_y(0.0, 4.0);
        let about = "The exponential loss grows fastest with wrong margins; squares also punish large right ones.";
        Some(Chart::new("Losses of margins", about).panel(panel))
    }
}

/// Errors of mean, median and Huber's location with and without outliers.
#[derive(Params, Clone, Debug)]
pub struct RobustLocation {
    /// Values of a sample.
    #[param(default = 50, range = 2..=100_000)]
    pub values: usize,
    /// Number of samples.
    #[param(default = 1000, range = 2..=1_000_000)]
    pub repeats: usize,
    /// Share of values with the large spread.
    #[param(default = 0.1, range = 0.0..=1.0)]
    pub outliers: f64,
    /// Standard deviation of those.
    #[param(default = 10.0, above = 0.0)]
    pub spread: f64,
    /// Where Huber's loss turns into a line.
    #[param(default = 1.345, above = 0.0)]
    pub delta: f64,
}

/// Root mean squared errors: mean, median, Huber.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct LocationErrors {
    /// The location.
    pub location: Vec<String>,
    /// Of normal values.
    pub gaussian: Vec<f64>,
    /// With outliers.
    pub contaminated: Vec<f64>,
}

impl Function for RobustLocation {
    type Inputs<'a> = ();
    type Output = LocationErrors;
    const ABOUT: &'static Callable =
        &Callable::new("ensemble.robust_location", FunctionKind::Study)
            .reference("Huber (1964)")
            .randomness()
            .threads();

    fn call(&self, (): (), run: &Context) -> Result<LocationErrors> {
        run.claim(48 * self.repeats as u64, "samples")?;
        let found = run.try_par_map(self.repeats, |repeat| {
            run.checkpoint()?;
            let rng = &mut run.child(repeat as u64).rng(1);
            let clean: Vec<f64> = (0..self.values).map(|_| sample::standard_normal(rng)).collect();
            let replaced = |&value: &f64| match sample::uniform(rng) < self.outliers {
                true => self.spread * sample::standard_normal(rng),
                false => value,
            };
            let dirty: Vec<f64> = clean.iter().map(replaced).collect();
            Ok([self.locations(clean), self.locations(dirty)])
        })?;
        let root = |sample: usize, which: usize| {
            let squares = found.iter().map(|pair| pair[sample][which].powi(2)).sum::<f64>();
            (squares / self.repeats as f64).sqrt()
        };
        Ok(LocationErrors {
            location: ["mean", "median", "huber"].map(String::from).to_vec(),
            gaussian: (0..3).map(|which| root(0, which)).collect(),
            contaminated: (0..3).map(|which| root(1, which)).collect(),
        })
    }

    fn chart(&self, found: &LocationErrors) -> Option<Chart> {
        let places: Vec<f64> = (0..3).map(f64::from).collect();
        let panel = |name: &str, y: &[f64]| {
            Panel::new(name, "root mean squared error")
                .categories_x(found.location.clone())
                .mark(Mark::bars("error", places.clone(), y.to_vec()).unnamed())
        };
        let about = "Squares break down under outliers; Huber's loss costs little without them.";
        Some(
            Chart::new("Robust location", about)
                .panel(panel("normal values", &found.gaussian))
                .panel(panel("with outliers", &found.contaminated)),
        )
    }
}

impl RobustLocation {
    /// Mean, median, and the root of Σ clamp(x - m, ±δ), by reweighting until it moves by 1e-10.
    fn locations(&self, mut values: Vec<f64>) -> [f64; 3] {
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let median = 0.5 * (values[(n - 1) / 2] + values[n / 2]);
        let mut centre = median;
        for _ in 0..200 {
            let weight = |x: f64| (self.delta / (x - centre).abs().max(1e-300)).min(1.0);
            let total: f64 = values.iter().map(|&x| weight(x)).sum();
            let next = values.iter().map(|&x| weight(x) * x).sum::<f64>() / total;
            let moved = (next - centre).abs();
            centre = next;
            if moved <= 1e-10 {
                break;
            }
        }
        [mean, median, centre]
    }
}

#[cfg(test)]
mod tests {
    use super::super::golden::{case, near, numbers};
    use super::*;

    #[test]
    fn margins_have_the_losses_of_the_notes() {
        let case = case("loss-values");
        let margins = numbers(&case["input"]["margin"]);
        let found = MarginLosses { margins }.compute(()).unwrap();
        for (name, ours) in [
            ("exponential", &found.exponential),
            ("deviance", &found.deviance),
            ("squared", &found.squared),
            ("hinge", &found.hinge),
        ] {
            for (a, b) in ours.iter().zip(numbers(&case["expect"][name])) {
                near(*a, b, 1e-9, name);
            }
        }
    }

    #[test]
    fn outliers_break_the_mean_and_not_huber() {
        let expected = case("robust-location")["expect"].clone();
        let found = RobustLocation { repeats: 4000, ..Default::default() }.compute(()).unwrap();
        for (sample, errors) in
            [("gaussian", &found.gaussian), ("contaminated", &found.contaminated)]
        {
            for (name, error) in found.location.iter().zip(errors) {
                let bound = |side: &str| expected[sample][name.as_str()][side].as_f64().unwrap();
                let range = bound("min")..=bound("max");
                assert!(range.contains(error), "{sample} {name}: {error}");
            }
        }
    }
}
