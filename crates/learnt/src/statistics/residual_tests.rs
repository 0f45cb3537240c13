//! Looks at residuals: are they normal, do neighbours depend on each other?
//!
//! Jarque and Bera: n/6 (skewness² + excess²/4), χ² with 2 degrees of freedom if normal.
//! Durbin and Watson: Σ (r_i - r_{i-1})² / Σ r², about 2 without dependence. The normal plot sets
//! sorted values against the normal medians of their places: those of the uniform order statistics,
//! 1 - 2^(-1/n), (i - 0.3175) / (n + 0.365) and 2^(-1/n).
//!
//! Reference: Jarque and Bera (1987); Durbin and Watson (1950); Filliben (1975).

use super::summaries::{PlainNumbers, Tested};
use crate::linear::diagnostics;
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, Normal};
use learnt_core::stats::summary;

/// Looks at residuals.
pub const RESIDUAL_TESTS: &[FunctionEntry] =
    &[function::<JarqueBera>(), function::<DurbinWatson>(), function::<NormalPlot>()];

/// Test of normality by skewness and kurtosis (Jarque and Bera).
#[derive(Params, Clone, Debug)]
pub struct JarqueBera {}

impl Function for JarqueBera {
    type Inputs<'a> = PlainNumbers<'a>;
    type Output = Tested;
    const ABOUT: &'static Callable = &Callable::new("stats.jarque_bera", FunctionKind::Statistic)
        .reference("Jarque and Bera (1987), A test for normality of observations");

    fn call(&self, given: PlainNumbers, _run: &Context) -> Result<Tested> {
        let test = diagnostics::jarque_bera(given.x)?;
        Ok(Tested { statistic: test.statistic, pvalue: test.p })
    }
}

/// Whether neighbouring residuals depend on each other (Durbin and Watson): about 2 if not.
#[derive(Params, Clone, Debug)]
pub struct DurbinWatson {}

/// Residuals in their order.
#[derive(Inputs, Clone, Copy)]
pub struct Residuals<'a> {
    /// The residuals, in their order.
    pub resids: &'a [f64],
}

impl Function for DurbinWatson {
    type Inputs<'a> = Residuals<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("stats.durbin_watson", FunctionKind::Statistic)
        .reference("Durbin and Watson (1950), Testing for serial correlation");

    fn call(&self, given: Residuals, _run: &Context) -> Result<f64> {
        diagnostics::durbin_watson(given.resids)
    }
}

/// Normal plot: sorted values against the normal quantiles of their places, with a line through them.
#[derive(Params, Clone, Debug)]
pub struct NormalPlot {}

/// Points of a normal plot and the least-squares line.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct NormalPoints {
    /// Normal quantiles of the places.
    pub theoretical: Vec<f64>,
    /// The sorted values.
    pub ordered: Vec<f64>,
    /// Slope of the line.
    pub slope: f64,
    /// Value of the line at 0.
    pub intercept: f64,
    /// Correlation of the points.
    pub r: f64,
}

impl Function for NormalPlot {
    type Inputs<'a> = PlainNumbers<'a>;
    type Output = NormalPoints;
    const ABOUT: &'static Callable = &Callable::new("stats.probplot", FunctionKind::Statistic)
        .alias(&["normal-plot", "qq"])
        .reference("Filliben (1975), The probability plot correlation coefficient test");

    fn call(&self, given: PlainNumbers, _run: &Context) -> Result<NormalPoints> {
        let mut ordered = given.x.to_vec();
        ordered.sort_by(f64::total_cmp);
        let theoretical = normal_medians(ordered.len());
        let none = || Error::numeric("a normal plot needs two different values");
        let r = summary::correlation(&theoretical, &ordered, None).ok_or_else(none)?;
        let cross = summary::covariance(&theoretical, &ordered, None, 0.0).ok_or_else(none)?;
        let slope = cross / summary::variance(&theoretical, None, 0.0).ok_or_else(none)?;
        let at_zero = summary::mean(&ordered, None).zip(summary::mean(&theoretical, None));
        let intercept = at_zero.map(|(y, x)| y - slope * x).ok_or_else(none)?;
        Ok(NormalPoints { theoretical, ordered, slope, intercept, r })
    }

    fn chart(&self, found: &NormalPoints) -> Option<Chart> {
        let ends: Vec<f64> =
            [found.theoretical.first()?, found.theoretical.last()?].map(|x| *x).to_vec();
        let line = ends.iter().map(|x| found.intercept + found.slope * x).collect();
        let panel = Panel::new("normal quantile", "value")
            .mark(Mark::line("line", ends, line).muted().unnamed())
            .mark(Mark::points("", found.theoretical.clone(), found.ordered.clone()));
        let about = "Sorted values against normal quantiles; normal values lie on the line.";
        Some(Chart::new("Normal plot", about).panel(panel))
    }
}

/// Normal quantiles of the medians of uniform order statistics.
fn normal_medians(n: usize) -> Vec<f64> {
    let count = n as f64;
    let last = 0.5_f64.powf(1.0 / count);
    let place = |i: usize| match i + 1 {
        i if i == n => last,
        1 => 1.0 - last,
        i => (i as f64 - 0.3175) / (count + 0.365),
    };
    (0..n).map(|i| Normal::standard().quantile(place(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_values_lie_on_a_line_of_their_mean_and_spread() {
        let x: Vec<f64> = normal_medians(200).iter().map(|z| 3.0 + 2.0 * z).collect();
        let plot = NormalPlot {};
        let found = plot.compute(PlainNumbers { x: &x }).unwrap();
        assert!((found.intercept - 3.0).abs() < 1e-9 && (found.slope - 2.0).abs() < 1e-9);
        assert!(found.r > 0.9999);
        assert!(plot.chart(&found).is_some());
        assert!(plot.compute(PlainNumbers { x: &[1.0, 1.0] }).is_err());
    }
}
