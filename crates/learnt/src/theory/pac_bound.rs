//! PAC learning with a consistent learner over a finite class of hypotheses H.
//!
//! A hypothesis with error above ε survives m rows with probability at most (1 - ε)^m ≤ exp(-εm), so that
//! m ≥ (ln|H| + ln(1/δ)) / ε rows leave none with probability 1 - δ. Any one of m, ε and δ follows from
//! the others. The study draws rows from an oracle: Boolean vectors, labelled by a random conjunction of
//! literals. Its learner keeps the literals that all positive rows have (Find-S), and its error is exact.
//!
//! Reference: Valiant (1984); Mitchell (1997), sections 7.3 and 7.2.

use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// PAC bound for consistent learners over a finite class, solved for what is left out.
///
/// Two of `n`, `eps` and `delta` are given, the third is found.
#[derive(Params, Clone, Debug)]
#[params(constraints = two_are_given)]
pub struct PacBound {
    /// Number of rows.
    #[param(range = 1..)]
    pub n: Option<u64>,
    /// Error that a hypothesis may have.
    #[param(above = 0.0, below = 0.5)]
    pub eps: Option<f64>,
    /// Probability with which the learner may fail.
    #[param(above = 0.0, below = 0.5)]
    pub delta: Option<f64>,
    /// Number of hypotheses in the class.
    #[param(default = 1.0, range = 1.0..)]
    pub hypotheses: f64,
}

/// All quantities of the bound.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct PacResult {
    /// Number of rows, rounded up.
    pub n: u64,
    /// The number before rounding.
    pub rows: f64,
    /// Error that a hypothesis may have.
    pub eps: f64,
    /// Probability with which the learner may fail; above 1 the bound says nothing.
    pub delta: f64,
    /// (1 - ε)^m, the probability that one bad hypothesis survives.
    pub survival: f64,
}

impl PacBound {
    fn two_are_given(&self) -> Result<()> {
        let given = [self.n.is_some(), self.eps.is_some(), self.delta.is_some()];
        match given.iter().filter(|given| **given).count() {
            2 => Ok(()),
            count => Err(Error::new(Code::Usage, format!("{count} of n, eps and delta are given"))
                .hint("give two of them; the third is found")),
        }
    }
}

impl Function for PacBound {
    type Inputs<'a> = ();
    type Output = PacResult;
    const ABOUT: &'static Callable =
        &Callable::new("theory.pac_bound", FunctionKind::Theory).reference("Valiant (1984)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<PacResult> {
        let size = self.hypotheses.ln();
        let (rows, eps, delta) = match (self.n, self.eps, self.delta) {
            (Some(n), Some(eps), _) => (n as f64, eps, (size - eps * n as f64).exp()),
            (Some(n), _, Some(delta)) => (n as f64, (size - delta.ln()) / n as f64, delta),
            (_, eps, delta) => {
                let (eps, delta) = (eps.unwrap_or(f64::NAN), delta.unwrap_or(f64::NAN));
                ((size - delta.ln()) / eps, eps, delta)
            }
        };
        let survival = (rows.ceil() * (-eps.min(1.0)).ln_1p()).exp();
        Ok(PacResult { n: rows.ceil() as u64, rows, eps, delta, survival })
    }

    fn notes(&self, found: &PacResult) -> Vec<String> {
        match found.delta > 1.0 || found.eps > 1.0 {
            true => vec!["above 1 the bound says nothing: take more rows".to_string()],
            false => Vec::new(),
        }
    }
}

/// PAC learning of conjunctions, by simulation: how often the learner's error is above the bound's.
#[derive(Params, Clone, Debug)]
pub struct PacStudy {
    /// Number of Boolean variables.
    #[param(default = 6, range = 1..=16)]
    pub variables: u64,
    /// Error that a hypothesis may have.
    #[param(default = 0.1, above = 0.0, below = 0.5)]
    pub eps: f64,
    /// Probability with which the learner may fail.
    #[param(default = 0.05, above = 0.0, below = 0.5)]
    pub delta: f64,
    /// Numbers of rows that are tried beside the one of the bound.
    #[param(default = vec![5, 10, 20, 40], range = 1..)]
    pub rows: Vec<u64>,
    /// Number of runs for each.
    #[param(default = 1000, range = 1..)]
    pub runs: usize,
}

/// Failures of the learner beside the bound.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct PacStudyResult {
    /// Number of rows; the last is the one of the bound.
    pub rows: Vec<u64>,
    /// Share of runs with an error above ε.
    pub failures: Vec<f64>,
    /// The bound on it: |H| exp(-εm), at most 1.
    pub bound: Vec<f64>,
    /// Mean error.
    pub mean_error: Vec<f64>,
}

impl Function for PacStudy {
    type Inputs<'a> = ();
    type Output = PacStudyResult;
    const ABOUT: &'static Callable = &Callable::new("theory.pac_study", FunctionKind::Study)
        .randomness()
        .threads()
        .reference("Valiant (1984)");

    fn call(&self, _inputs: (), run: &Context) -> Result<PacStudyResult> {
        // Each variable stands plain, negated or not at all; and there is the one that is never true.
        let hypotheses = 3.0_f64.powi(self.variables as i32) + 1.0;
        let bound = PacBound {
            eps: Some(self.eps),
            delta: Some(self.delta),
            hypotheses,
            ..Default::default()
        };
        let mut rows = self.rows.clone();
        rows.push(bound.compute_in((), run)?.n);
        let mut found = PacStudyResult {
            bound: rows
                .iter()
                .map(|&m| (hypotheses * (-self.eps * m as f64).exp()).min(1.0))
                .collect(),
            rows,
            failures: Vec::new(),
            mean_error: Vec::new(),
        };
        for &m in &found.rows {
            let errors =
                run.try_par_map(self.runs, |k| Ok(self.error_of_a_run(m, k as u64, run)))?;
            let failures = errors.iter().filter(|&&error| error > self.eps).count();
            found.failures.push(failures as f64 / self.runs as f64);
            found.mean_error.push(errors.iter().sum::<f64>() / self.runs as f64);
        }
        Ok(found)
    }
}

/// A conjunction of literals: variables that must be 1, and those that must be 0.
#[derive(Clone, Copy)]
struct Conjunction {
    ones: u32,
    zeros: u32,
}

impl Conjunction {
    fn holds(self, x: u32) -> bool {
        x & self.ones == self.ones && x & self.zeros == 0
    }
}

impl PacStudy {
    /// The exact error of what the learner makes of m rows.
    fn error_of_a_run(&self, m: u64, k: u64, run: &Context) -> f64 {
        let mut rng = run.row_rng(m, k);
        let mask = (1_u32 << self.variables) - 1;
        let mut draw = || (sample::uniform(&mut rng) * f64::from(mask + 1)) as u32 & mask;
        let used = draw();
        let ones = draw() & used;
        let target = Conjunction { ones, zeros: used & !ones };
        let mut learnt: Option<Conjunction> = None;
        for _ in 0..m {
            let x = draw();
            if target.holds(x) {
                let so_far = learnt.unwrap_or(Conjunction { ones: mask, zeros: mask });
                learnt = Some(Conjunction { ones: so_far.ones & x, zeros: so_far.zeros & !x });
            }
        }
        let says = |x: u32| learnt.is_some_and(|conjunction| conjunction.holds(x));
        let wrong = (0..=mask).filter(|&x| says(x) != target.holds(x)).count();
        wrong as f64 / f64::from(mask + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(n: Option<u64>, eps: Option<f64>, delta: Option<f64>, hypotheses: f64) -> PacResult {
        PacBound { n, eps, delta, hypotheses }.compute(()).unwrap()
    }

    #[test]
    fn enjoy_sport_asks_for_99_rows_and_one_hypothesis_for_30() {
        let union = bound(None, Some(0.1), Some(0.05), 973.0);
        assert!(union.n == 99 && (union.rows - 98.761_163_557_4).abs() < 1e-8);
        assert_eq!(bound(None, Some(0.1), Some(0.05), 1.0).n, 30);
        assert_eq!(bound(None, Some(0.01), Some(0.01), 1.0).n, 461);
    }

    #[test]
    fn each_quantity_follows_from_the_other_two() {
        let delta = bound(Some(99), Some(0.1), None, 973.0).delta;
        assert!(delta <= 0.05 && bound(Some(98), Some(0.1), None, 973.0).delta > 0.05);
        let eps = bound(Some(99), None, Some(0.05), 973.0).eps;
        assert!((bound(Some(99), Some(eps), None, 973.0).delta - 0.05).abs() < 1e-12);
    }

    #[test]
    fn the_oracle_never_fails_more_often_than_the_bound() {
        let found = PacStudy::default().compute(()).unwrap();
        assert!(found.failures.iter().zip(&found.bound).all(|(share, bound)| share <= bound));
        assert!(found.failures[0] > found.failures[4], "{found:?}");
        assert!(found.failures[4] <= 0.05);
    }
}
