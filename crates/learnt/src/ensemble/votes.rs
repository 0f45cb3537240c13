//! Arithmetic of ensembles: the error of a majority vote, the variance of an average, the steps of AdaBoost.
//!
//! - k independent learners that each err with probability p are outvoted with probability
//!   Σ_{j > k/2} C(k, j) p^j (1-p)^(k-j); with an even k a tie is right, wrong or a coin.
//! - B variables of variance σ² and pairwise correlation ρ have a mean of variance ρσ² + (1 - ρ)σ²/B.
//! - A member with weighted error e has the step ½ ln((1-e)/e) and the normaliser Z = 2 √(e (1-e)); the
//!   product of all Z bounds the training error of two classes.
//!
//! References: Breiman (2001); Freund and Schapire (1997).

use learnt_core::prelude::*;
use learnt_core::stats::special::ln_gamma;

/// Error of a majority vote of independent learners that err with the same probability.
#[derive(Params, Clone, Debug)]
pub struct MajorityVoteError {
    /// Number of learners.
    #[param(positional, default = 11, range = 1..=1_000_000)]
    pub k: u64,
    /// Probability that one of them errs.
    #[param(positional, default = 0.3, range = 0.0..=1.0)]
    pub p: f64,
    /// What a tie of an even number is.
    #[param(default = Ties::Right)]
    pub ties: Ties,
}

/// What a tie is.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// No error.
    Right,
    /// An error.
    Wrong,
    /// An error half of the time.
    Random,
}

impl Function for MajorityVoteError {
    type Inputs<'a> = ();
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("ensemble.majority_vote_error", FunctionKind::Theory)
            .reference("Breiman (2001)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<f64> {
        let (k, p) = (self.k as f64, self.p);
        if p == 0.0 || p == 1.0 {
            return Ok(p);
        }
        let term = |j: u64| {
            let j = j as f64;
            let ways = ln_gamma(k + 1.0) - ln_gamma(j + 1.0) - ln_gamma(k - j + 1.0);
            (ways + j * p.ln() + (k - j) * (-p).ln_1p()).exp()
        };
        let more: f64 = (self.k / 2 + 1..=self.k).rev().map(term).sum();
        let tie = match (self.k % 2, self.ties) {
            (0, Ties::Wrong) => term(self.k / 2),
            (0, Ties::Random) => 0.5 * term(self.k / 2),
            _ => 0.0,
        };
        Ok((more + tie).min(1.0))
    }
}

/// Variance of the mean of equally correlated variables, as of the trees of a forest.
#[derive(Params, Clone, Debug)]
pub struct VarianceOfAverage {
    /// Correlation of each pair.
    #[param(positional, default = 0.5, range = 0.0..=1.0)]
    pub correlation: f64,
    /// Variance of each.
    #[param(positional, default = 1.0, range = 0.0..)]
    pub variance: f64,
    /// Number of variables.
    #[param(positional, default = 10, range = 1..)]
    pub count: u64,
}

impl Function for VarianceOfAverage {
    type Inputs<'a> = ();
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("ensemble.variance_of_average", FunctionKind::Theory)
            .reference("Breiman (2001)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<f64> {
        let VarianceOfAverage { correlation, variance, count } = *self;
        Ok(correlation * variance + (1.0 - correlation) * variance / count as f64)
    }
}

/// Steps and normalisers of AdaBoost from the weighted errors of its members, with their bound.
#[derive(Params, Clone, Debug)]
pub struct BoostingSteps {}

/// Weighted errors.
#[derive(Inputs, Clone, Copy)]
pub struct WeightedErrors<'a> {
    /// The weighted error of each member, above 0 and below 1.
    pub errors: &'a [f64],
}

/// What AdaBoost makes of its members.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Steps {
    /// ½ ln((1-e)/e): negative above one half.
    pub half_weights: Vec<f64>,
    /// Z = 2 √(e (1-e)).
    pub normalisers: Vec<f64>,
    /// The product of all Z so far, which bounds the training error.
    pub bounds: Vec<f64>,
}

impl Function for BoostingSteps {
    type Inputs<'a> = WeightedErrors<'a>;
    type Output = Steps;
    const ABOUT: &'static Callable =
        &Callable::new("ensemble.boosting_steps", FunctionKind::Theory)
            .reference("Freund and Schapire (1997)");

    fn call(&self, given: WeightedErrors, _run: &Context) -> Result<Steps> {
        if let Some(i) = given.errors.iter().position(|&e| !(e > 0.0 && e < 1.0)) {
            let message = format!(
                "error {} of member {}: it must be above 0 and below 1",
                given.errors[i],
                i + 1
            );
            return Err(Error::new(Code::Undefined, message));
        }
        let half_weights = given.errors.iter().map(|e| 0.5 * ((1.0 - e) / e).ln()).collect();
        let normalisers: Vec<f64> =
            given.errors.iter().map(|e| 2.0 * (e * (1.0 - e)).sqrt()).collect();
        let product = |bound: &mut f64, z: &f64| {
            *bound *= z;
            Some(*bound)
        };
        let bounds = normalisers.iter().scan(1.0, product).collect();
        Ok(Steps { half_weights, normalisers, bounds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::golden::{case, near, numbers};

    #[test]
    fn votes_agree_with_the_reference_for_every_rule_of_ties() {
        let case = case("majority-vote-error");
        let pairs = numbers(&case["input"]["k_p"]);
        for (pair, expected) in pairs.chunks(2).zip(numbers(&case["expect"]["error"])) {
            let vote = MajorityVoteError { k: pair[0] as u64, p: pair[1], ..Default::default() };
            near(vote.compute(()).unwrap(), expected, 1e-9, "odd");
        }
        for (ties, key) in [
            (Ties::Right, "ties_right"),
            (Ties::Wrong, "ties_wrong"),
            (Ties::Random, "ties_random"),
        ] {
            let found = MajorityVoteError { k: 10, p: 0.1, ties }.compute(()).unwrap();
            near(found, case["expect"]["even"][key].as_f64().unwrap(), 1e-9, key);
        }
        let many = MajorityVoteError { k: 100_001, p: 0.4, ..Default::default() };
        assert!(many.compute(()).unwrap() < 1e-300);
    }

    #[test]
    fn the_variance_of_a_mean_has_a_floor() {
        let case = case("variance-of-average");
        let triples = numbers(&case["input"]["rho_sigma2_B"]);
        for (t, expected) in triples.chunks(3).zip(numbers(&case["expect"]["variance"])) {
            let function =
                VarianceOfAverage { correlation: t[0], variance: t[1], count: t[2] as u64 };
            near(function.compute(()).unwrap(), expected, 1e-9, "variance");
        }
    }

    #[test]
    fn steps_agree_with_the_reference() {
        let case = case("adaboost-stage-weights");
        let errors = numbers(&case["input"]["err"]);
        let found = BoostingSteps {}.compute(WeightedErrors { errors: &errors }).unwrap();
        for (key, got) in [("alpha", &found.half_weights), ("Z", &found.normalisers)] {
            got.iter().zip(numbers(&case["expect"][key])).for_each(|(a, b)| near(*a, b, 1e-9, key));
        }
        assert!((found.bounds[1] - 0.48).abs() < 1e-12);
        assert!(BoostingSteps {}.compute(WeightedErrors { errors: &[0.0] }).is_err());
    }
}
