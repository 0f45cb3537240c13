//! How many clusters: curves over k of k-means, and whether there are clusters at all.
//!
//! Elbow: the k whose sum of squares lies farthest below the straight line from the first to the last;
//! a heuristic. Gap: Gap(k) = mean ln W*_k - ln W_k over uniform tables W*; the smallest k with Gap(k)
//! ≥ Gap(k+1) - s_{k+1}, s the deviation of ln W* times √(1 + 1/B); k clusters are those of k-means, or of
//! the level of a tree of mergers that has k. Stability: the mean adjusted Rand
//! index of all rows under k-means of two bootstrap samples. Hopkins: Σ u^d / (Σ u^d + Σ w^d) of the
//! distances u from uniform points and w from rows to the nearest (other) row: about 0.5 without
//! clusters, towards 1 with them.
//!
//! R. Tibshirani, G. Walther and T. Hastie (2001), JRSS B 63, 411-423; B. Hopkins and J. Skellam (1954).

use super::{KMeans, KMeansModel, Linkage, Restarts, link_rows};
use crate::metrics::{Compactness, Contingency};
use crate::neighbors::{Index, Metric, Structure};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::linalg::svd;
use learnt_core::prelude::*;
use learnt_core::stats::sample::{below, choose, uniform};

/// Rows to be clustered.
#[derive(Inputs, Clone, Copy)]
pub struct RowsToCluster<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
}

/// k-means of some rows, with ten starts.
fn centres(x: MatRef, k: usize, run: &Context) -> Result<KMeansModel> {
    let learner = KMeans { n_clusters: k, n_init: Restarts::Count(10), ..KMeans::default() };
    let data = OwnedDataset::unsupervised(x.to_matrix());
    learner.fit_in(&data.view(), run)
}

/// The numbers of clusters to try: at most one a row.
fn tried(k_max: usize, rows: usize) -> Vec<usize> {
    (1..=k_max.min(rows)).collect()
}

/// Elbow curve: the sum of squares of k-means against the number of clusters, and where it bends.
#[derive(Params, Clone, Debug)]
pub struct Elbow {
    /// Largest number of clusters.
    #[param(default = 10, range = 2..=1000)]
    pub k_max: usize,
}

/// A curve over the number of clusters.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ElbowCurve {
    /// The suggested number of clusters.
    pub value: u64,
    /// Numbers of clusters.
    pub k: Vec<u64>,
    /// Sum of squared distances from the centres.
    pub inertia: Vec<f64>,
}

impl Function for Elbow {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = ElbowCurve;
    const ABOUT: &'static Callable = &Callable::new("cluster.elbow", FunctionKind::Analysis)
        .randomness()
        .threads()
        .reference("Thorndike (1953)");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<ElbowCurve> {
        let k = tried(self.k_max, given.x.nrows());
        let inertia: Vec<f64> =
            k.iter().map(|&k| Ok(centres(given.x, k, run)?.inertia)).collect::<Result<_>>()?;
        let place = farthest_below_chord(&inertia);
        let k: Vec<u64> = k.into_iter().map(|k| k as u64).collect();
        Ok(ElbowCurve { value: k[place], k, inertia })
    }

    fn chart(&self, found: &ElbowCurve) -> Option<Chart> {
        let k = found.k.iter().map(|&k| k as f64).collect();
        let panel = Panel::new("clusters", "sum of squares")
            .mark(Mark::line("inertia", k, found.inertia.clone()).unnamed())
            .mark(Mark::vertical("suggested", vec![found.value as f64]).dashed());
        Some(Chart::new("Elbow", "The sum of squares against the number of clusters.").panel(panel))
    }
}

/// The place where a falling curve lies farthest below the line between its ends, the first of
/// equals.
pub(super) fn farthest_below_chord(values: &[f64]) -> usize {
    let last = values.len().saturating_sub(1);
    let (Some(&first), Some(&end)) = (values.first(), values.last()) else { return 0 };
    let mut best = (0, 0.0);
    for (i, &value) in values.iter().enumerate() {
        let line = first + (end - first) * i as f64 / last.max(1) as f64;
        if line - value > best.1 {
            best = (i, line - value);
        }
    }
    best.0
}

/// Where the tables of the gap statistic are drawn.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceBox {
    /// In the ranges of the columns.
    Columns,
    /// In the ranges along the principal axes.
    Principal,
}

/// How the gap statistic chooses.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapRule {
    /// The smallest number with a gap not below the next less its error.
    First,
    /// The number with the largest gap.
    Largest,
}

/// What makes the clusters of the gap statistic.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapClusters {
    /// k-means of ten starts.
    #[choice(name = "kmeans")]
    KMeans,
    /// The levels of the dendrogram of Ward's linkage.
    Ward,
    /// The levels of the dendrogram of complete linkage.
    Complete,
    /// The levels of the dendrogram of average linkage.
    Average,
    /// The levels of the dendrogram of single linkage.
    Single,
}

impl GapClusters {
    fn linkage(self) -> Option<Linkage> {
        match self {
            GapClusters::KMeans => None,
            GapClusters::Ward => Some(Linkage::Ward),
            GapClusters::Complete => Some(Linkage::Complete),
            GapClusters::Average => Some(Linkage::Average),
            GapClusters::Single => Some(Linkage::Single),
        }
    }
}

/// Gap statistic: the number of clusters at which rows are tighter than uniform ones.
#[derive(Params, Clone, Debug)]
pub struct GapStatistic {
    /// Largest number of clusters.
    #[param(default = 8, range = 2..=1000)]
    pub k_max: usize,
    /// Number of uniform tables.
    #[param(default = 20, range = 2..=100_000)]
    pub n_refs: usize,
    /// Where they are drawn.
    #[param(default = ReferenceBox::Columns)]
    pub reference: ReferenceBox,
    /// How the number is chosen.
    #[param(default = GapRule::First)]
    pub rule: GapRule,
    /// Power of the distances that are summed: 2 for squares, 1 for all pairs of distances.
    #[param(default = 2, range = 1..=2)]
    pub power: usize,
    /// Whether the deviation is taken times √(1 + 1/n_refs).
    #[param(default = true)]
    pub inflate: bool,
    /// What makes the clusters.
    #[param(default = GapClusters::KMeans)]
    pub clusters: GapClusters,
}

/// Gaps against the number of clusters.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Gaps {
    /// The chosen number of clusters.
    pub value: u64,
    /// Numbers of clusters.
    pub k: Vec<u64>,
    /// ln W of the rows.
    pub log_w: Vec<f64>,
    /// Mean ln W of uniform rows.
    pub expected_log_w: Vec<f64>,
    /// Their difference.
    pub gap: Vec<f64>,
    /// Its error.
    pub error: Vec<f64>,
}

impl GapStatistic {
    /// ln W of each number of clusters.
    fn logs_w(&self, x: &Matrix, k: &[usize], run: &Context) -> Result<Vec<f64>> {
        let Some(linkage) = self.clusters.linkage() else {
            let one = |&k: &usize| {
                let model = centres(x.view(), k, run)?;
                let w = match self.power {
                    2 => model.inertia / 2.0,
                    _ => half_mean_distances(x, &model.labels, k),
                };
                Self::log_w(w, x, k)
            };
            return k.iter().map(one).collect();
        };
        let tree = link_rows(x.view(), linkage, Metric::Euclidean, run)?;
        let level = |&k: &usize| {
            let labels = tree.cut_count(k);
            let w = match self.power {
                2 => half_sum_of_squares(x, &labels, k),
                _ => half_mean_distances(x, &labels, k),
            };
            Self::log_w(w, x, k)
        };
        k.iter().map(level).collect()
    }

    fn log_w(w: f64, x: &Matrix, k: usize) -> Result<f64> {
        match w > 0.0 {
            true => Ok(w.ln()),
            false => Err(Error::new(
                Code::Undefined,
                format!("{k} clusters hold {} rows without spread: ln 0", x.nrows()),
            )
            .hint("lower k_max below the number of distinct rows")),
        }
    }

    /// A uniform table in the box of the rows.
    fn drawn(&self, x: &Matrix, run: &Context) -> Result<Matrix> {
        let mut rng = run.rng(0x6761_7031);
        let (n, d) = (x.nrows(), x.ncols());
        let range = |m: &Matrix, j: usize| {
            let column = m.column(j);
            let low = column.iter().copied().fold(f64::INFINITY, f64::min);
            (low, column.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        };
        let fill = |m: &Matrix, rng: &mut _| {
            let ranges: Vec<(f64, f64)> = (0..m.ncols()).map(|j| range(m, j)).collect();
            Matrix::from_fn(n, m.ncols(), |_, j| {
                ranges[j].0 + uniform(rng) * (ranges[j].1 - ranges[j].0)
            })
        };
        if self.reference == ReferenceBox::Columns {
            return Ok(fill(x, &mut rng));
        }
        let mean: Vec<f64> = (0..d).map(|j| x.column(j).iter().sum::<f64>() / n as f64).collect();
        let centred = Matrix::from_fn(n, d, |i, j| x[(i, j)] - mean[j]);
        let axes = svd(centred.view())?.v;
        let turned = learnt_core::linalg::matmul(centred.view(), axes.view());
        let drawn = fill(&turned, &mut rng);
        Ok(learnt_core::linalg::matmul(drawn.view(), axes.view().transposed()))
    }
}

/// Half the squared distances of rows from the means of their clusters.
fn half_sum_of_squares(x: &Matrix, labels: &[u32], k: usize) -> f64 {
    let mut means = Matrix::zeros(k, x.ncols());
    let mut sizes = vec![0.0_f64; k];
    for (row, &label) in x.rows().zip(labels) {
        sizes[label as usize] += 1.0;
        learnt_core::linalg::add_scaled(means.row_mut(label as usize), 1.0, row);
    }
    for (c, size) in sizes.iter().enumerate() {
        means.row_mut(c).iter_mut().for_each(|sum| *sum /= size.max(1.0));
    }
    let square = |(row, &label): (&[f64], &u32)| {
        learnt_core::linalg::squared_distance(row, means.row(label as usize))
    };
    x.rows().zip(labels).map(square).sum::<f64>() / 2.0
}

/// Σ over clusters of half the distances between pairs, each pair once, over the cluster's rows.
fn half_mean_distances(x: &Matrix, labels: &[u32], k: usize) -> f64 {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); k];
    labels.iter().enumerate().for_each(|(i, &label)| members[label as usize].push(i));
    let pairs = |rows: &Vec<usize>| {
        let mut sum = 0.0;
        for (a, &i) in rows.iter().enumerate() {
            sum += rows[..a]
                .iter()
                .map(|&j| Metric::Euclidean.distance(x.row(i), x.row(j)))
                .sum::<f64>();
        }
        sum / (2.0 * rows.len() as f64)
    };
    members.iter().filter(|rows| !rows.is_empty()).map(pairs).sum()
}

impl Function for GapStatistic {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = Gaps;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.gap_statistic", FunctionKind::Analysis)
            .alias(&["gap"])
            .randomness()
            .threads()
            .reference("Tibshirani, Walther and Hastie (2001), JRSS B 63, 411-423");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<Gaps> {
        let k = tried(self.k_max, given.x.nrows());
        let x = given.x.to_matrix();
        let log_w = self.logs_w(&x, &k, run)?;
        let drawn = run.try_par_map(self.n_refs, |b| {
            let inner = run.child(b as u64);
            let table = self.drawn(&x, &inner)?;
            self.logs_w(&table, &k, &inner)
        })?;
        let count = self.n_refs as f64;
        let mean = |i: usize| drawn.iter().map(|logs| logs[i]).sum::<f64>() / count;
        let expected_log_w: Vec<f64> = (0..k.len()).map(mean).collect();
        let inflation = if self.inflate { (1.0 + 1.0 / count).sqrt() } else { 1.0 };
        let deviation = |i: usize| {
            let squares = drawn.iter().map(|logs| (logs[i] - expected_log_w[i]).powi(2));
            (squares.sum::<f64>() / count).sqrt() * inflation
        };
        let error: Vec<f64> = (0..k.len()).map(deviation).collect();
        let gap: Vec<f64> = expected_log_w.iter().zip(&log_w).map(|(e, w)| e - w).collect();
        let first = (0..gap.len().saturating_sub(1)).find(|&i| gap[i] >= gap[i + 1] - error[i + 1]);
        let place = match self.rule {
            GapRule::First => first.unwrap_or(gap.len() - 1),
            GapRule::Largest => learnt_core::estimator::first_maximum(&gap) as usize,
        };
        let k: Vec<u64> = k.into_iter().map(|k| k as u64).collect();
        Ok(Gaps { value: k[place], k, log_w, expected_log_w, gap, error })
    }

    fn chart(&self, found: &Gaps) -> Option<Chart> {
        let k: Vec<f64> = found.k.iter().map(|&k| k as f64).collect();
        let side = |sign: f64| {
            found.gap.iter().zip(&found.error).map(|(gap, error)| gap + sign * error).collect()
        };
        let panel = Panel::new("clusters", "gap")
            .mark(Mark::band("one error", k.clone(), side(-1.0), side(1.0)))
            .mark(Mark::line("gap", k, found.gap.clone()))
            .mark(Mark::vertical("chosen", vec![found.value as f64]).dashed());
        Some(Chart::new("Gap statistic", "How much tighter than uniform rows.").panel(panel))
    }
}

/// Mean silhouette of k-means against the number of clusters.
#[derive(Params, Clone, Debug)]
pub struct SilhouetteCurve {
    /// Largest number of clusters.
    #[param(default = 10, range = 2..=1000)]
    pub k_max: usize,
}

/// Scores against the number of clusters.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ScoresByK {
    /// The number of clusters with the highest score.
    pub value: u64,
    /// Numbers of clusters.
    pub k: Vec<u64>,
    /// Their scores.
    pub score: Vec<f64>,
}

impl ScoresByK {
    fn new(k: Vec<u64>, score: Vec<f64>) -> Result<ScoresByK> {
        match k.is_empty() {
            true => {
                Err(Error::new(Code::Undefined, "there are too few distinct rows for clusters"))
            }
            false => {
                let value = k[learnt_core::estimator::first_maximum(&score) as usize];
                Ok(ScoresByK { value, k, score })
            }
        }
    }

    fn chart(&self, name: &str) -> Chart {
        let k = self.k.iter().map(|&k| k as f64).collect();
        let panel = Panel::new("clusters", name)
            .mark(Mark::line(name, k, self.score.clone()).unnamed())
            .mark(Mark::vertical("best", vec![self.value as f64]).dashed());
        Chart::new("Number of clusters", format!("The {name} of each number of clusters."))
            .panel(panel)
    }
}

impl Function for SilhouetteCurve {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = ScoresByK;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.silhouette_curve", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Rousseeuw (1987)");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<ScoresByK> {
        let (mut k, mut score) = (Vec::new(), Vec::new());
        for count in tried(self.k_max, given.x.nrows().saturating_sub(1)).into_iter().skip(1) {
            let labels: Vec<Option<u32>> =
                centres(given.x, count, run)?.labels.into_iter().map(Some).collect();
            let found = Compactness::new(given.x, &labels)?;
            if found.clusters() == count {
                k.push(count as u64);
                score.push(found.silhouette(run)?);
            }
        }
        ScoresByK::new(k, score)
    }

    fn chart(&self, found: &ScoresByK) -> Option<Chart> {
        Some(found.chart("mean silhouette"))
    }
}

/// Stability: agreement of k-means of two bootstrap samples, against the number of clusters.
#[derive(Params, Clone, Debug)]
pub struct ClusterStability {
    /// Largest number of clusters.
    #[param(default = 8, range = 2..=1000)]
    pub k_max: usize,
    /// Number of pairs of samples.
    #[param(default = 20, range = 1..=100_000)]
    pub n_pairs: usize,
}

impl Function for ClusterStability {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = ScoresByK;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.cluster_stability", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Ben-Hur, Elisseeff and Guyon (2002)");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<ScoresByK> {
        let n = given.x.nrows();
        let table = Table::unnamed(given.x.to_matrix());
        let k: Vec<u64> = (2..=self.k_max.min(n) as u64).collect();
        let found = run.try_par_map(self.n_pairs, |b| {
            let inner = run.child(b as u64);
            let mut rng = inner.rng(0x7374_6162);
            let mut labels = |k: usize| -> Result<Vec<Option<u32>>> {
                let rows: Vec<usize> = (0..n).map(|_| below(&mut rng, n as u64) as usize).collect();
                let sample = given.x.gather_rows(&rows);
                centres(sample.view(), k, &inner)?.assign_in(&table.frame(), &inner)
            };
            k.iter()
                .map(|&k| {
                    let (a, b) = (labels(k as usize)?, labels(k as usize)?);
                    let b: Vec<u32> = b.into_iter().flatten().collect();
                    Ok(Contingency::new(&a, &b, None)?.adjusted_rand())
                })
                .collect::<Result<Vec<f64>>>()
        })?;
        let mean = |i: usize| found.iter().map(|f| f[i]).sum::<f64>() / self.n_pairs as f64;
        let score = (0..k.len()).map(mean).collect();
        ScoresByK::new(k, score)
    }

    fn chart(&self, found: &ScoresByK) -> Option<Chart> {
        Some(found.chart("adjusted Rand index"))
    }
}

/// Hopkins statistic: whether rows cluster at all; about 0.5 if they are uniform.
#[derive(Params, Clone, Debug)]
pub struct Hopkins {
    /// Number of rows and points to compare; a tenth of the rows by default.
    #[param(range = 1..)]
    pub sample_size: Option<usize>,
}

impl Function for Hopkins {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("cluster.hopkins", FunctionKind::Analysis)
        .randomness()
        .threads()
        .reference("Hopkins and Skellam (1954)");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<f64> {
        let x = given.x.to_matrix();
        let (n, d) = (x.nrows(), x.ncols());
        let size = self.sample_size.unwrap_or(n.div_ceil(10)).min(n);
        if n < 2 {
            return Err(Error::new(Code::Undefined, "one row has no nearest neighbour"));
        }
        let mut rng = run.rng(0x686f_706b);
        let rows = choose(&mut rng, n, size);
        let low = |j: usize| x.column(j).iter().copied().fold(f64::INFINITY, f64::min);
        let high = |j: usize| x.column(j).iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ranges: Vec<(f64, f64)> = (0..d).map(|j| (low(j), high(j))).collect();
        let points = Matrix::from_fn(size, d, |_, j| {
            ranges[j].0 + uniform(&mut rng) * (ranges[j].1 - ranges[j].0)
        });
        let structure = Structure::suited(Metric::Euclidean, n, d);
        let index = Index::build(x.view(), Metric::Euclidean, structure, 30, run)?;
        let from_points = index.nearest(points.view(), 1, run)?;
        let from_rows = index.nearest(x.view().gather_rows(&rows).view(), 2, run)?;
        let u: Vec<f64> = (0..size).map(|i| from_points.distances(i)[0]).collect();
        let w: Vec<f64> = (0..size).map(|i| from_rows.distances(i)[1]).collect();
        // Relative to the largest, so that powers do not overflow.
        let most = u.iter().chain(&w).copied().fold(0.0, f64::max);
        let sum = |v: &[f64]| v.iter().map(|d_| (d_ / most).powi(d as i32)).sum::<f64>();
        match most > 0.0 && most.is_finite() {
            true => Ok(sum(&u) / (sum(&u) + sum(&w))),
            false => Err(Error::new(Code::Undefined, "all rows are equal, or too far apart")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(i: usize, j: usize) -> f64 {
        let z = ((i * 7919 + j * 104_729 + 13) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as f64 / u64::MAX as f64
    }

    fn three() -> Matrix {
        Matrix::from_fn(90, 2, |i, j| {
            let middle = [[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]][i % 3][j];
            middle + (0..4).map(|r| noise(i, j + 2 * r) - 0.5).sum::<f64>()
        })
    }

    #[test]
    fn three_groups_have_the_largest_gap_and_the_best_scores() {
        let x = three();
        let given = RowsToCluster { x: x.view() };
        let gaps = GapStatistic { rule: GapRule::Largest, ..Default::default() };
        assert_eq!(gaps.compute(given).unwrap().value, 3);
        let principal = GapStatistic {
            reference: ReferenceBox::Principal,
            rule: GapRule::Largest,
            ..Default::default()
        };
        assert_eq!(principal.compute(given).unwrap().value, 3);
        assert_eq!(Elbow::default().compute(given).unwrap().value, 3);
        assert_eq!(SilhouetteCurve::default().compute(given).unwrap().value, 3);
        let stable = ClusterStability { k_max: 6, n_pairs: 10 }.compute(given).unwrap();
        assert_eq!(stable.value, 3);
        assert!(stable.score[1] > 0.99);
    }

    #[test]
    fn levels_of_dendrograms_have_gaps_too() {
        let x = three();
        let given = RowsToCluster { x: x.view() };
        let all = [GapClusters::Ward, GapClusters::Complete, GapClusters::Average];
        for clusters in all.into_iter().chain([GapClusters::Single]) {
            for power in [1, 2] {
                let rule = GapRule::Largest;
                let gaps = GapStatistic { clusters, power, rule, k_max: 6, ..Default::default() };
                let found = gaps.compute(given).unwrap();
                assert_eq!(found.value, 3, "{clusters:?} {power}");
            }
        }
        // Three groups far apart are the same clusters by Ward and by k-means.
        let of = |clusters| {
            let gaps = GapStatistic { clusters, k_max: 3, n_refs: 2, ..Default::default() };
            gaps.compute(given).unwrap().log_w[2]
        };
        assert!((of(GapClusters::Ward) - of(GapClusters::KMeans)).abs() < 1e-9);
    }

    #[test]
    fn the_sum_of_squares_never_rises_with_more_clusters() {
        let x = three();
        let curve = Elbow::default().compute(RowsToCluster { x: x.view() }).unwrap();
        assert!(curve.inertia.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-9)));
    }

    #[test]
    fn hopkins_is_near_a_half_for_uniform_rows_and_near_one_for_groups() {
        let uniform = Matrix::from_fn(2000, 2, noise);
        let all = Hopkins { sample_size: Some(500) };
        let plain = all.compute(RowsToCluster { x: uniform.view() }).unwrap();
        assert!((plain - 0.5).abs() < 0.06, "{plain}");
        let tight = Matrix::from_fn(600, 2, |i, j| (i % 3) as f64 * 9.0 + 0.2 * noise(i, j));
        let found = all.compute(RowsToCluster { x: tight.view() }).unwrap();
        assert!(found > 0.95, "{found}");
    }
}
