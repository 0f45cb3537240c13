//! Tests that compare learners.
//!
//! McNemar: of the rows that exactly one of two models gets right, b by the first and c by the second,
//! b is binomial with probability ½ if they are equally good: exact two-sided p, or (|b - c| - 1)² / (b + c)
//! against χ² with 1 degree of freedom. Corrected resampled t test of Nadeau and Bengio: d̄ over
//! √((1/k + n_test/n_train) s²) against t with k - 1. 5x2cv F test of Alpaydin, from the differences p_ij of
//! five repetitions of two folds: Σ p_ij² / 2 Σ s_i² against F with 10 and 5.
//!
//! Several learners on N data sets: mean ranks R_j (1 is the best, ties share), Friedman's
//! χ² = 12N/(k(k+1)) (Σ R_j² - k(k+1)²/4), Iman and Davenport's F = (N-1)χ² / (N(k-1) - χ²), and Nemenyi's
//! critical difference q_α √(k(k+1)/6N), with q_α the quantile of the studentized range of k values and
//! infinite degrees of freedom over √2. Learners whose mean ranks differ by less are not told apart.
//!
//! References: Dietterich (1998), Approximate statistical tests; Nadeau and Bengio (2003); Alpaydin (1999);
//! Demšar (2006), Statistical comparisons of classifiers over multiple data sets.

use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{
    Binomial, ChiSquared, Continuous, Discrete, FisherF, Normal, StudentT,
};
use learnt_core::stats::summary;

/// Tests that compare learners.
pub const PAIRED_TESTS: &[FunctionEntry] = &[
    function::<McNemar>(),
    function::<CorrectedTTest>(),
    function::<FiveByTwoTest>(),
    function::<CriticalDifference>(),
];

/// A statistic and its p-value.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct PairedTest {
    /// The statistic.
    pub statistic: f64,
    /// Two-sided p-value.
    pub pvalue: f64,
}

/// Whether two models err on the same number of rows (McNemar).
#[derive(Params, Clone, Debug)]
pub struct McNemar {
    /// By the binomial distribution, and not by χ² with a correction for continuity.
    #[param(default = true)]
    pub exact: bool,
}

/// Which rows two models got right.
#[derive(Inputs, Clone, Copy)]
pub struct RightRows<'a> {
    /// 1 where the first model is right, else 0.
    pub first: &'a [f64],
    /// 1 where the second model is right, else 0.
    pub second: &'a [f64],
}

/// The rows that one of the models gets right, and the test.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct McNemarFound {
    /// The statistic: the smaller count, or χ².
    pub statistic: f64,
    /// Two-sided p-value.
    pub pvalue: f64,
    /// Rows that only the first gets right.
    pub only_first: u64,
    /// Rows that only the second gets right.
    pub only_second: u64,
}

impl Function for McNemar {
    type Inputs<'a> = RightRows<'a>;
    type Output = McNemarFound;
    const ABOUT: &'static Callable = &Callable::new("stats.mcnemar", FunctionKind::Statistic)
        .reference("McNemar (1947), Note on the sampling error of the difference between correlated proportions");

    fn call(&self, given: RightRows, _run: &Context) -> Result<McNemarFound> {
        let values = given.first.iter().chain(given.second);
        if let Some(wrong) = values.into_iter().find(|x| **x != 0.0 && **x != 1.0) {
            return Err(Error::parameter("first", "1 for right and 0 for wrong", wrong));
        }
        let pairs = || given.first.iter().zip(given.second);
        let only_first = pairs().filter(|(a, b)| **a > **b).count() as u64;
        let only_second = pairs().filter(|(a, b)| **a < **b).count() as u64;
        Ok(mcnemar(only_first, only_second, self.exact))
    }
}

/// The test from the two counts.
pub fn mcnemar(only_first: u64, only_second: u64, exact: bool) -> McNemarFound {
    let (b, c) = (only_first as f64, only_second as f64);
    let (statistic, pvalue) = match (exact, only_first + only_second) {
        (_, 0) => (0.0, 1.0),
        (true, n) => (b.min(c), (2.0 * half_tail(n, only_first.min(only_second))).min(1.0)),
        (false, _) => {
            let statistic = ((b - c).abs() - 1.0).max(0.0).powi(2) / (b + c);
            let chi = ChiSquared::new(1.0).map_or(f64::NAN, |chi| chi.sf(statistic));
            (statistic, chi)
        }
    };
    McNemarFound { statistic, pvalue, only_first, only_second }
}

/// P(B ≤ k) of a binomial count of n fair coins.
fn half_tail(n: u64, k: u64) -> f64 {
    Binomial::new(n, 0.5).map_or(f64::NAN, |coins| coins.cdf(k))
}

/// Whether two learners differ, from differences of their scores in resampled splits: the t test with
/// the correction for training parts that overlap.
#[derive(Params, Clone, Debug)]
pub struct CorrectedTTest {
    /// Test rows over training rows of a split.
    #[param(required, positional, above = 0.0)]
    pub ratio: f64,
}

/// Differences of scores.
#[derive(Inputs, Clone, Copy)]
pub struct Differences<'a> {
    /// The difference in each split.
    pub differences: &'a [f64],
}

impl Function for CorrectedTTest {
    type Inputs<'a> = Differences<'a>;
    type Output = PairedTest;
    const ABOUT: &'static Callable =
        &Callable::new("stats.corrected_t_test", FunctionKind::Statistic)
            .reference("Nadeau and Bengio (2003), Inference for the generalization error");

    fn call(&self, given: Differences, _run: &Context) -> Result<PairedTest> {
        corrected_t_test(given.differences, self.ratio)
            .map(|(statistic, pvalue)| PairedTest { statistic, pvalue })
            .ok_or_else(|| Error::new(Code::TooFew, "at least two differences are needed"))
    }
}

/// The statistic and the two-sided p-value; `ratio` is n_test / n_train. `None` for fewer than two
/// differences. Differences without spread have p = 1 if they are 0, else p = 0.
pub fn corrected_t_test(differences: &[f64], ratio: f64) -> Option<(f64, f64)> {
    let k = differences.len() as f64;
    let mean = summary::mean(differences, None)?;
    let variance = summary::variance(differences, None, 1.0)?;
    let scale = ((1.0 / k + ratio) * variance).sqrt();
    if scale == 0.0 {
        return Some(if mean == 0.0 { (0.0, 1.0) } else { (mean.signum() * f64::INFINITY, 0.0) });
    }
    let t = mean / scale;
    Some((t, (2.0 * StudentT::new(k - 1.0)?.sf(t.abs())).min(1.0)))
}

/// Whether two learners differ, from differences of their scores in five repetitions of two folds
/// (5x2cv F test).
#[derive(Params, Clone, Debug)]
pub struct FiveByTwoTest {}

impl Function for FiveByTwoTest {
    type Inputs<'a> = Differences<'a>;
    type Output = PairedTest;
    const ABOUT: &'static Callable =
        &Callable::new("stats.five_by_two_test", FunctionKind::Statistic)
            .reference("Alpaydin (1999), Combined 5x2 cv F test");

    fn call(&self, given: Differences, _run: &Context) -> Result<PairedTest> {
        five_by_two_test(given.differences)
            .map(|(statistic, pvalue)| PairedTest { statistic, pvalue })
            .ok_or_else(|| {
                let got = given.differences.len();
                Error::parameter("differences", "ten: two folds, five times in turn", got)
            })
    }
}

/// The statistic and the p-value from ten differences, the two of each repetition together.
pub fn five_by_two_test(differences: &[f64]) -> Option<(f64, f64)> {
    if differences.len() != 10 {
        return None;
    }
    let squares: f64 = differences.iter().map(|d| d * d).sum();
    let spread = |pair: &[f64]| {
        let mean = (pair[0] + pair[1]) / 2.0;
        (pair[0] - mean).powi(2) + (pair[1] - mean).powi(2)
    };
    let spread: f64 = differences.chunks(2).map(spread).sum();
    if spread == 0.0 {
        return Some(if squares == 0.0 { (0.0, 1.0) } else { (f64::INFINITY, 0.0) });
    }
    let f = squares / (2.0 * spread);
    Some((f, FisherF::new(10.0, 5.0)?.sf(f)))
}

/// Mean ranks of learners over data sets with Nemenyi's critical difference.
#[derive(Params, Clone, Debug)]
pub struct CriticalDifference {
    /// Names of the learners; numbers if none are given.
    pub names: Option<Vec<String>>,
    /// Probability of telling learners apart that are equal.
    #[param(default = 0.05, above = 0.0, below = 1.0)]
    pub alpha: f64,
    /// Whether larger scores are better.
    #[param(default = true)]
    pub higher_is_better: bool,
}

/// Scores of learners on data sets.
#[derive(Inputs, Clone, Copy)]
pub struct ScoreTable<'a> {
    /// One row a data set, one column a learner.
    pub scores: MatRef<'a>,
}

/// Mean ranks, the tests, and what cannot be told apart.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CriticalDifferenceFound {
    /// Mean rank of each learner; 1 is the best.
    pub mean_ranks: Vec<f64>,
    /// Mean ranks farther apart than this differ.
    pub critical_difference: f64,
    /// Friedman's statistic.
    pub friedman: f64,
    /// Its p-value by χ².
    pub friedman_pvalue: f64,
    /// Iman and Davenport's statistic.
    pub iman_davenport: f64,
    /// Its p-value by F.
    pub iman_davenport_pvalue: f64,
    /// First learner of each group that cannot be told apart, as a place in the order of ranks.
    pub group_first: Vec<u64>,
    /// Last learner of each group.
    pub group_last: Vec<u64>,
}

impl Function for CriticalDifference {
    type Inputs<'a> = ScoreTable<'a>;
    type Output = CriticalDifferenceFound;
    const ABOUT: &'static Callable =
        &Callable::new("stats.critical_difference", FunctionKind::Statistic).reference(
            "Demšar (2006), Statistical comparisons of classifiers over multiple data sets",
        );

    fn call(&self, given: ScoreTable, _run: &Context) -> Result<CriticalDifferenceFound> {
        let (sets, learners) = (given.scores.nrows(), given.scores.ncols());
        if sets < 2 || learners < 2 {
            let message = format!("{sets} data sets and {learners} learners, and two are needed");
            return Err(Error::new(Code::TooFew, message));
        }
        if let Some(names) = self.names.as_ref().filter(|names| names.len() != learners) {
            let expected = format!("{learners} names, one a column");
            return Err(Error::parameter("names", expected, names.len()));
        }
        let mut mean_ranks = vec![0.0; learners];
        for i in 0..sets {
            let sign = if self.higher_is_better { -1.0 } else { 1.0 };
            let row: Vec<f64> = (0..learners).map(|j| sign * given.scores.at(i, j)).collect();
            for (mean, rank) in mean_ranks.iter_mut().zip(ranks(&row)) {
                *mean += rank / sets as f64;
            }
        }
        let (n, k) = (sets as f64, learners as f64);
        let squares: f64 = mean_ranks.iter().map(|rank| rank * rank).sum();
        let friedman = 12.0 * n / (k * (k + 1.0)) * (squares - k * (k + 1.0).powi(2) / 4.0);
        let friedman = friedman.max(0.0);
        let room = n * (k - 1.0) - friedman;
        let iman_davenport = if room > 0.0 { (n - 1.0) * friedman / room } else { f64::INFINITY };
        let f = FisherF::new(k - 1.0, (k - 1.0) * (n - 1.0));
        let chi = ChiSquared::new(k - 1.0);
        let q = studentized_range_quantile(1.0 - self.alpha, learners) / std::f64::consts::SQRT_2;
        let critical_difference = q * (k * (k + 1.0) / (6.0 * n)).sqrt();
        let groups = groups(&mean_ranks, critical_difference);
        Ok(CriticalDifferenceFound {
            critical_difference,
            friedman,
            friedman_pvalue: chi.map_or(f64::NAN, |chi| chi.sf(friedman)),
            iman_davenport,
            iman_davenport_pvalue: f.map_or(f64::NAN, |f| f.sf(iman_davenport)),
            group_first: groups.iter().map(|group| group.0 as u64).collect(),
            group_last: groups.iter().map(|group| group.1 as u64).collect(),
            mean_ranks,
        })
    }

    fn chart(&self, found: &CriticalDifferenceFound) -> Option<Chart> {
        let order = order_of(&found.mean_ranks);
        let name = |&j: &usize| match &self.names {
            Some(names) => names[j].clone(),
            None => (j + 1).to_string(),
        };
        let ranks: Vec<f64> = order.iter().map(|&j| found.mean_ranks[j]).collect();
        let places: Vec<f64> = (0..order.len()).map(|place| place as f64).collect();
        let ends = found.group_first.iter().zip(&found.group_last).enumerate();
        let (mut from, mut to, mut height) = (Vec::new(), Vec::new(), Vec::new());
        for (g, (&first, &last)) in ends {
            from.push(ranks[first as usize]);
            to.push(ranks[last as usize]);
            height.push((first + last) as f64 / 2.0 + 0.15 * (g % 2) as f64);
        }
        let difference = learnt_core::answer::number(found.critical_difference);
        let panel = Panel::new("mean rank", "")
            .categories_y(order.iter().map(name).collect())
            .size(420.0, (22.0 * order.len() as f64).clamp(60.0, 900.0))
            .mark(Mark::points("learners", ranks, places).unnamed().weight(2.0))
            .mark(Mark::links("not told apart", (from, height.clone()), (to, height)).weight(2.0));
        let about = "Mean rank of each learner over data sets, the best first; lines join learners whose mean \
                     ranks differ by less than the critical difference.";
        Some(Chart::new("Critical difference", about).panel(panel).note(format!(
            "Critical difference {difference} at {} %.",
            learnt_core::answer::number(100.0 * self.alpha)
        )))
    }
}

/// Ranks from 1 for the least; equals share their mean.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |x: &f64| {
        let less = values.iter().filter(|y| *y < x).count() as f64;
        let equal = values.iter().filter(|y| *y == x).count() as f64;
        less + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

fn order_of(ranks: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]));
    order
}

/// The largest runs of neighbours in rank that lie within the difference.
fn groups(ranks: &[f64], difference: f64) -> Vec<(usize, usize)> {
    let sorted: Vec<f64> = order_of(ranks).into_iter().map(|j| ranks[j]).collect();
    let mut out: Vec<(usize, usize)> = Vec::new();
    for first in 0..sorted.len() {
        let near = |&last: &usize| sorted[last] - sorted[first] < difference;
        let last = (first..sorted.len()).rev().find(near).unwrap_or(first);
        if last > first && out.last().is_none_or(|group| group.1 < last) {
            out.push((first, last));
        }
    }
    out
}

/// The quantile of the range of k standard normal values: P(range ≤ q) = k ∫ φ(z) (Φ(z) - Φ(z - q))^(k-1) dz,
/// by Simpson's rule and bisection to 1e-10.
fn studentized_range_quantile(p: f64, k: usize) -> f64 {
    const STEPS: usize = 800;
    let normal = Normal::standard();
    let cdf = |q: f64| {
        let (low, high) = (-8.0, 8.0 + q);
        let step = (high - low) / STEPS as f64;
        let f = |z: f64| {
            let inside = normal.cdf(z) - normal.cdf(z - q);
            normal.pdf(z) * inside.max(0.0).powi(k as i32 - 1)
        };
        let weight = |i: usize| {
            if i == 0 || i == STEPS {
                1.0
            } else if i % 2 == 1 {
                4.0
            } else {
                2.0
            }
        };
        let sum: f64 = (0..=STEPS).map(|i| weight(i) * f(low + step * i as f64)).sum();
        k as f64 * sum * step / 3.0
    };
    let (mut low, mut high) = (0.0, 20.0);
    while high - low > 1e-10 {
        let middle = (low + high) / 2.0;
        if cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcnemar_by_hand() {
        // b = 2, c = 8: 2 (1 + 10 + 45) / 1024; χ² = 25/10.
        let exact = mcnemar(2, 8, true);
        assert!((exact.pvalue - 112.0 / 1024.0).abs() < 1e-12, "{exact:?}");
        let by_chi = mcnemar(2, 8, false);
        assert!((by_chi.statistic - 2.5).abs() < 1e-12);
        assert!((by_chi.pvalue - 0.113_846_298).abs() < 1e-8, "{by_chi:?}");
        assert_eq!(mcnemar(0, 0, true).pvalue, 1.0);
        assert_eq!(mcnemar(5, 5, true).pvalue, 1.0);
    }

    #[test]
    fn the_corrected_test_by_hand() {
        let (t, p) = corrected_t_test(&[0.1, 0.3, 0.2, 0.2], 1.0 / 3.0).unwrap();
        assert!((t - 0.2 / ((0.25 + 1.0 / 3.0) * 0.02_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((p - 2.0 * StudentT::new(3.0).unwrap().sf(t)).abs() < 1e-15);
        assert_eq!(corrected_t_test(&[0.1], 0.1), None);
    }

    #[test]
    fn the_five_by_two_test_by_hand() {
        let differences = [0.1, 0.2, 0.0, 0.1, 0.1, 0.1, 0.2, 0.0, 0.1, 0.2];
        // Squares sum to 0.17; half squared differences to 0.005 + 0.005 + 0 + 0.02 + 0.005 = 0.035.
        let (f, p) = five_by_two_test(&differences).unwrap();
        assert!((f - 0.17 / 0.07).abs() < 1e-12);
        assert!(p > 0.1 && p < 0.3);
        assert_eq!(five_by_two_test(&[0.0; 10]), Some((0.0, 1.0)));
        assert_eq!(five_by_two_test(&[0.1; 4]), None);
    }

    #[test]
    fn quantiles_of_the_range_are_those_of_the_tables() {
        // Studentized range with infinite degrees of freedom, at 5 % and 10 %.
        let tables = [(2, 2.772, 2.326), (3, 3.314, 2.902), (5, 3.858, 3.478), (10, 4.474, 4.129)];
        for (k, q05, q10) in tables {
            let q = |alpha: f64| studentized_range_quantile(1.0 - alpha, k);
            assert!((q(0.05) - q05).abs() < 6e-4, "{k} {}", q(0.05));
            assert!((q(0.10) - q10).abs() < 6e-4, "{k} {}", q(0.10));
        }
    }

    #[test]
    fn ranks_and_groups_of_three_learners_on_four_sets_by_hand() {
        let rows = [[0.9, 0.8, 0.7], [0.9, 0.8, 0.7], [0.9, 0.8, 0.7], [0.8, 0.9, 0.7]];
        let scores = Matrix::from_rows(&rows).unwrap();
        let found =
            CriticalDifference::default().compute(ScoreTable { scores: scores.view() }).unwrap();
        for (rank, expected) in found.mean_ranks.iter().zip([1.25, 1.75, 3.0]) {
            assert!((rank - expected).abs() < 1e-12, "{found:?}");
        }
        // 12·4 / (3·4) (1.25² + 1.75² + 3² - 3·4²/4) = 6.5, and 3·6.5 / (4·2 - 6.5) = 13.
        assert!((found.friedman - 6.5).abs() < 1e-9, "{found:?}");
        assert!((found.iman_davenport - 13.0).abs() < 1e-9, "{found:?}");
        assert!((found.critical_difference - 3.314 / 2.0).abs() < 1e-3, "{found:?}");
        assert_eq!((found.group_first, found.group_last), (vec![0, 1], vec![1, 2]));
    }
}
