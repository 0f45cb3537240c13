//! Structural risk minimisation: of nested classes of hypotheses, take the one with the least bound
//! E_in + Ω(d), Ω being the penalty of the VC bound. Errors fall with d, the penalty rises. Ties go to the
//! smaller class.
//!
//! Reference: Vapnik (1998), Statistical learning theory.

use crate::theory::{Growth, VcBound};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Choice among nested classes by the bound on their error out of sample.
#[derive(Params, Clone, Debug)]
pub struct StructuralRisk {
    /// Number of rows.
    #[param(required, positional, range = 1..)]
    pub n: u64,
    /// Probability with which the bounds may fail.
    #[param(default = 0.05, above = 0.0, below = 1.0)]
    pub delta: f64,
    /// Bound on the growth function.
    pub growth: Growth,
}

/// Nested classes.
#[derive(Inputs, Clone, Copy)]
pub struct NestedClasses<'a> {
    /// VC dimension of each class.
    pub d_vc: &'a [f64],
    /// Error in sample of the best hypothesis of each class.
    pub error: &'a [f64],
}

/// The bounds and the class with the least.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct StructuralRiskFound {
    /// Position of the chosen class, from 0.
    pub chosen: u64,
    /// VC dimension of each class.
    pub d_vc: Vec<f64>,
    /// Error in sample.
    pub error: Vec<f64>,
    /// Penalty Ω.
    pub penalty: Vec<f64>,
    /// Their sum, which bounds the error out of sample.
    pub bound: Vec<f64>,
}

impl Function for StructuralRisk {
    type Inputs<'a> = NestedClasses<'a>;
    type Output = StructuralRiskFound;
    const ABOUT: &'static Callable =
        &Callable::new("model_selection.structural_risk", FunctionKind::Theory)
            .reference("Vapnik (1998)");

    fn call(&self, given: NestedClasses, run: &Context) -> Result<StructuralRiskFound> {
        let mut penalty = Vec::new();
        for &d in given.d_vc {
            if d < 1.0 || d.fract() != 0.0 || d > 1e15 {
                return Err(Error::parameter("d_vc", "whole numbers from 1", d));
            }
            let VcBound { in_sample_error, .. } = VcBound::default();
            let (delta, growth) = (self.delta, self.growth);
            let bound = VcBound { n: self.n, d_vc: d as u64, delta, growth, in_sample_error };
            penalty.push(bound.compute_in((), run)?.penalty);
        }
        let bound: Vec<f64> = given.error.iter().zip(&penalty).map(|(e, p)| e + p).collect();
        let better = |a: usize, b: usize| {
            bound[a] < bound[b] || (bound[a] == bound[b] && given.d_vc[a] < given.d_vc[b])
        };
        let chosen = (1..bound.len()).fold(0, |best, i| if better(i, best) { i } else { best });
        Ok(StructuralRiskFound {
            chosen: chosen as u64,
            d_vc: given.d_vc.to_vec(),
            error: given.error.to_vec(),
            penalty,
            bound,
        })
    }

    fn chart(&self, found: &StructuralRiskFound) -> Option<Chart> {
        let line = |name: &str, y: &[f64]| Mark::line(name, found.d_vc.clone(), y.to_vec());
        let panel = Panel::new("VC dimension", "error")
            .mark(line("in sample", &found.error))
            .mark(line("penalty", &found.penalty))
            .mark(line("bound", &found.bound));
        let about = "Error in sample, penalty and their sum against the VC dimension.";
        Some(Chart::new("Structural risk minimisation", about).panel(panel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_has_its_least_between_the_ends() {
        let d_vc: Vec<f64> = (1..=20).map(f64::from).collect();
        let error: Vec<f64> = d_vc.iter().map(|d| 0.6 * (-0.8 * d).exp()).collect();
        let function = StructuralRisk { n: 100_000, ..Default::default() };
        let found = function.compute(NestedClasses { d_vc: &d_vc, error: &error }).unwrap();
        let chosen = found.chosen as usize;
        assert!(chosen > 0 && chosen < 19, "{chosen}");
        assert!(found.bound[..=chosen].windows(2).all(|w| w[1] < w[0]));
        assert!(found.bound[chosen..].windows(2).all(|w| w[1] > w[0]));
    }
}
