//! Agreement of clusters with known classes by what each tells of the other.
//!
//! With entropies H and mutual information I of clusters K and classes C: homogeneity I / H(C), completeness I / H(K),
//! and the V measure (1 + β) h c / (β h + c). Adjusted mutual information is (I - E) / (mean of H(C) and H(K) - E), where
//! E is the mean of I over all clusterings with clusters and classes of these sizes: the sum over cells of
//! n_ij / n · ln(n n_ij / (a_i b_j)) weighted by the hypergeometric probability of n_ij. Where there is one class, it is
//! homogeneous; where there is one cluster, it is complete.
//!
//! Rosenberg and Hirschberg (2007), EMNLP-CoNLL, 410-420; Vinh, Epps and Bailey (2010), Journal of Machine Learning
//! Research 11, 2837-2854.

use super::Contingency;
use super::agreement::{Agreement, EntropyMean};
use learnt_core::function::{Scorer, Task};
use learnt_core::prelude::*;

const TASK: Task = Task::Unsupervised;

/// Homogeneity: the share of the classes' entropy that the clusters tell.
#[derive(Params, Clone, Debug)]
pub struct HomogeneityScore {}

impl Function for HomogeneityScore {
    type Inputs<'a> = Agreement<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.homogeneity_score", FunctionKind::Metric)
            .reference("Rosenberg and Hirschberg (2007)")
            .scores(&[Scorer::higher(
                "homogeneity",
                TASK,
                "Share of the classes' entropy that clusters tell.",
            )]);

    fn call(&self, given: Agreement, _run: &Context) -> Result<f64> {
        Ok(shares(&given.table()?).0)
    }
}

/// Completeness: the share of the clusters' entropy that the classes tell.
#[derive(Params, Clone, Debug)]
pub struct CompletenessScore {}

impl Function for CompletenessScore {
    type Inputs<'a> = Agreement<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.completeness_score", FunctionKind::Metric)
            .reference("Rosenberg and Hirschberg (2007)")
            .scores(&[Scorer::higher(
                "completeness",
                TASK,
                "Share of the clusters' entropy that classes tell.",
            )]);

    fn call(&self, given: Agreement, _run: &Context) -> Result<f64> {
        Ok(shares(&given.table()?).1)
    }
}

/// V measure: the harmonic mean of homogeneity and completeness.
#[derive(Params, Clone, Debug)]
pub struct VMeasureScore {
    /// Weight of completeness beside homogeneity.
    #[param(default = 1.0, range = 0.0..)]
    pub beta: f64,
}

impl Function for VMeasureScore {
    type Inputs<'a> = Agreement<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.v_measure_score", FunctionKind::Metric)
            .reference("Rosenberg and Hirschberg (2007)")
            .scores(&[Scorer::higher(
                "v-measure",
                TASK,
                "Harmonic mean of homogeneity and completeness.",
            )]);

    fn call(&self, given: Agreement, _run: &Context) -> Result<f64> {
        Ok(v_measure(shares(&given.table()?), self.beta))
    }
}

/// Homogeneity, completeness and their V measure.
#[derive(Params, Clone, Debug)]
pub struct HomogeneityCompletenessVMeasure {
    /// Weight of completeness beside homogeneity.
    #[param(default = 1.0, range = 0.0..)]
    pub beta: f64,
}

/// The three shares.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct HomogeneityCompletenessV {
    /// Share of the classes' entropy that clusters tell.
    pub homogeneity: f64,
    /// Share of the clusters' entropy that classes tell.
    pub completeness: f64,
    /// Their harmonic mean.
    pub v_measure: f64,
}

impl Function for HomogeneityCompletenessVMeasure {
    type Inputs<'a> = Agreement<'a>;
    type Output = HomogeneityCompletenessV;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.homogeneity_completeness_v_measure", FunctionKind::Metric)
            .reference("Rosenberg and Hirschberg (2007)");

    fn call(&self, given: Agreement, _run: &Context) -> Result<HomogeneityCompletenessV> {
        let (homogeneity, completeness) = shares(&given.table()?);
        let v_measure = v_measure((homogeneity, completeness), self.beta);
        Ok(HomogeneityCompletenessV { homogeneity, completeness, v_measure })
    }
}

/// Homogeneity and completeness.
fn shares(table: &Contingency) -> (f64, f64) {
    let (clusters, classes) = table.entropies();
    let shared = table.mutual_information();
    let share = |entropy: f64| if entropy > 0.0 { (shared / entropy).min(1.0) } else { 1.0 };
    (share(classes), share(clusters))
}

fn v_measure((homogeneity, completeness): (f64, f64), beta: f64) -> f64 {
    match homogeneity + completeness > 0.0 {
        true => (1.0 + beta) * homogeneity * completeness / (beta * homogeneity + completeness),
        false => 0.0,
    }
}

/// Adjusted mutual information: mutual information less what chance gives, over a mean of both entropies less the same.
#[derive(Params, Clone, Debug)]
pub struct AdjustedMutualInfoScore {
    /// Which mean of the entropies.
    #[param(default = EntropyMean::Arithmetic)]
    pub average_method: EntropyMean,
}

impl Function for AdjustedMutualInfoScore {
    type Inputs<'a> = Agreement<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.adjusted_mutual_info_score", FunctionKind::Metric)
            .reference("Vinh, Epps and Bailey (2010)")
            .scores(&[Scorer::higher(
                "adjusted-mutual-info",
                TASK,
                "Mutual information of clusters and classes, corrected for chance.",
            )
            .alias(&["ami"])]);

    fn call(&self, given: Agreement, run: &Context) -> Result<f64> {
        let table = given.table()?;
        let counts = table.counts();
        if counts.nrows() == counts.ncols() && (counts.nrows() == 1 || is_matching(counts)) {
            return Ok(1.0);
        }
        let (clusters, classes) = table.entropies();
        let expected = expected_information(counts, run)?;
        let most = self.average_method.of(clusters, classes) - expected;
        // One cluster, or one class, tells nothing of the other: numerator and denominator are both zero but for rounding.
        let smallest = f64::EPSILON;
        let most = if most < 0.0 { most.min(-smallest) } else { most.max(smallest) };
        Ok((table.mutual_information() - expected) / most)
    }
}

/// Whether every row and every column has one cell that is not empty.
fn is_matching(counts: &Matrix) -> bool {
    let occupied =
        |cells: usize, at: &dyn Fn(usize) -> f64| (0..cells).filter(|&k| at(k) > 0.0).count() == 1;
    (0..counts.nrows()).all(|i| occupied(counts.ncols(), &|j| counts[(i, j)]))
        && (0..counts.ncols()).all(|j| occupied(counts.nrows(), &|i| counts[(i, j)]))
}

/// The mean of the mutual information over all tables with these margins, in nats.
fn expected_information(counts: &Matrix, run: &Context) -> Result<f64> {
    let sums = |of: usize, over: usize, at: &dyn Fn(usize, usize) -> f64| -> Vec<usize> {
        (0..of).map(|i| (0..over).map(|j| at(i, j)).sum::<f64>() as usize).collect()
    };
    let rows = sums(counts.nrows(), counts.ncols(), &|i, j| counts[(i, j)]);
    let columns = sums(counts.ncols(), counts.nrows(), &|j, i| counts[(i, j)]);
    let n: usize = rows.iter().sum();
    run.claim(8 * (n as u64 + 1), "logarithms of factorials")?;
    let mut factorial = vec![0.0; n + 1];
    for k in 1..=n {
        factorial[k] = factorial[k - 1] + (k as f64).ln();
    }
    let parts = run.try_par_map(rows.len(), |i| {
        run.checkpoint()?;
        Ok(columns.iter().map(|&b| expected_cell(rows[i], b, n, &factorial)).sum::<f64>())
    })?;
    Ok(parts.into_iter().sum())
}

/// What a cell with these margins adds to the mean.
fn expected_cell(a: usize, b: usize, n: usize, factorial: &[f64]) -> f64 {
    let fixed = factorial[a] + factorial[b] + factorial[n - a] + factorial[n - b] - factorial[n];
    let (n_real, product) = (n as f64, a as f64 * b as f64);
    let term = |k: usize| {
        let rest = factorial[k] + factorial[a - k] + factorial[b - k] + factorial[n + k - a - b];
        let information = k as f64 / n_real * (n_real * k as f64 / product).ln();
        information * (fixed - rest).exp()
    };
    ((a + b).saturating_sub(n).max(1)..=a.min(b)).map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement<T>(a: &[u32], b: &[u32], call: impl Fn(Agreement) -> T) -> T {
        let names: Vec<Label> = (0..8).map(Label::Int).collect();
        call(Agreement {
            labels_true: Classes { codes: a, classes: &names },
            labels_pred: Classes { codes: b, classes: &names },
        })
    }

    #[test]
    fn shares_of_entropy_by_hand() {
        // Two classes of two; the clusters split the second: they tell all of the classes, and 2 ln 2 / 3 ln 2 back.
        let found = agreement(&[0, 0, 1, 1], &[0, 0, 1, 2], |given| {
            HomogeneityCompletenessVMeasure::default().compute(given).unwrap()
        });
        assert!((found.homogeneity - 1.0).abs() < 1e-15);
        assert!((found.completeness - 2.0 / 3.0).abs() < 1e-15);
        assert!((found.v_measure - 0.8).abs() < 1e-15);
        let one = agreement(&[0, 0, 0], &[0, 1, 2], |given| {
            (
                HomogeneityScore {}.compute(given).unwrap(),
                CompletenessScore {}.compute(given).unwrap(),
            )
        });
        assert_eq!(one, (1.0, 0.0));
    }

    #[test]
    fn the_expected_information_is_the_mean_over_all_orders() {
        let (classes, clusters) = ([0, 0, 1, 1, 2], [0, 0, 0, 1, 1]);
        let table = |clusters: &[u32]| {
            let clusters: Vec<Option<u32>> = clusters.iter().map(|&c| Some(c)).collect();
            Contingency::new(&clusters, &classes, None).unwrap()
        };
        let (mut sum, mut orders) = (0.0, 0.0);
        for bits in 0_u32..32 {
            if bits.count_ones() == 2 {
                let drawn: Vec<u32> = (0..5).map(|i| bits >> i & 1).collect();
                sum += table(&drawn).mutual_information();
                orders += 1.0;
            }
        }
        let expected =
            expected_information(table(&clusters).counts(), &Context::default()).unwrap();
        assert!((expected - sum / orders).abs() < 1e-14, "{expected} {}", sum / orders);
    }

    #[test]
    fn equal_clusterings_agree_wholly_and_one_cluster_not_at_all() {
        let score = |a: &[u32], b: &[u32]| {
            agreement(a, b, |given| AdjustedMutualInfoScore::default().compute(given).unwrap())
        };
        assert_eq!(score(&[0, 0, 1, 2], &[2, 2, 0, 1]), 1.0);
        assert_eq!(score(&[0, 0, 0], &[0, 0, 0]), 1.0);
        assert_eq!(score(&[0, 0, 1, 1], &[0, 0, 0, 0]), 0.0);
        assert!(score(&[0, 1, 0, 1], &[0, 0, 1, 1]) < 0.0);
    }
}
