//! k-means as steps of hard EM, and k-means that leaves outliers out.
//!
//! An E step assigns every row to its nearest centre (ties to the lowest), an M step moves every centre
//! to the mean of its rows; neither raises Σ ‖x - c(x)‖². A centre without rows stays where it is. The
//! filter drops rows whose distance from their centre exceeds `multiple` times the median distance of
//! their cluster, and fits again to the rest; or it fits a random share of the rows alone. Rows left
//! out of the last fit by the filter are noise; rows left out by the draw join their nearest centre.
//!
//! S. Lloyd (1982), IEEE Trans. Inf. Theory 28.

use super::choose_k::RowsToCluster;
use super::{Init, KMeans, Restarts};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::linalg::squared_distance;
use learnt_core::prelude::*;
use learnt_core::stats::sample::choose;
use learnt_core::stats::summary::median;

/// k-means one step at a time: the objective and the centres after every E and every M step.
#[derive(Params, Clone, Debug)]
pub struct KMeansSteps {
    /// Number of clusters, where no centres are given.
    #[param(positional, default = 3, range = 1..)]
    pub n_clusters: usize,
    /// The first centres; rows drawn at random by default.
    pub centers: Option<Vec<Vec<f64>>>,
    /// Most steps, E and M together; it ends earlier once nothing changes.
    #[param(default = 100, range = 1..=100_000)]
    pub max_steps: usize,
}

/// Steps with what they gave.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct HardSteps {
    /// The cluster of each row in the end.
    pub value: Vec<u64>,
    /// `E` or `M`.
    pub step: Vec<String>,
    /// The sum of squared distances after each step.
    pub objective: Vec<f64>,
    /// Rows that changed their cluster in an E step; 0 for M steps.
    pub moved: Vec<u64>,
    /// The centres in the end.
    pub centers: Matrix,
    /// The centres after each M step, one step a row, one centre after another.
    pub path: Matrix,
}

impl Function for KMeansSteps {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = HardSteps;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.k_means_steps", FunctionKind::Analysis)
            .randomness()
            .reference("Lloyd (1982)");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<HardSteps> {
        let x = given.x.to_matrix();
        let mut centers = self.first_centres(&x, run)?;
        let mut labels = vec![usize::MAX; x.nrows()];
        let (mut step, mut objective) = (Vec::new(), Vec::new());
        let (mut moved, mut path) = (Vec::new(), vec![centers.as_slice().to_vec()]);
        while step.len() < self.max_steps {
            run.checkpoint()?;
            let changed = assign(&x, &centers, &mut labels);
            step.push("E".to_string());
            objective.push(cost(&x, &centers, &labels));
            moved.push(changed);
            if changed == 0 || step.len() == self.max_steps {
                break;
            }
            centers = means(&x, &centers, &labels);
            step.push("M".to_string());
            objective.push(cost(&x, &centers, &labels));
            moved.push(0);
            path.push(centers.as_slice().to_vec());
        }
        if !objective.iter().all(|value| value.is_finite()) {
            return Err(Error::numeric("squares overflow: the values are too large"));
        }
        let value = labels.into_iter().map(|label| label as u64).collect();
        Ok(HardSteps { value, step, objective, moved, centers, path: Matrix::from_rows(&path)? })
    }

    fn chart(&self, found: &HardSteps) -> Option<Chart> {
        let place = |kind: &str| -> (Vec<f64>, Vec<f64>) {
            let own = (0..found.step.len()).filter(|&i| found.step[i] == kind);
            own.map(|i| (i as f64 + 1.0, found.objective[i])).unzip()
        };
        let all: Vec<f64> = (0..found.step.len()).map(|i| i as f64 + 1.0).collect();
        let mut panel = Panel::new("step", "sum of squares")
            .mark(Mark::line("objective", all, found.objective.clone()).muted().unnamed());
        for (kind, name) in [("E", "assignment (E)"), ("M", "means (M)")] {
            let (x, y) = place(kind);
            panel = panel.mark(Mark::points(name, x, y).weight(1.5));
        }
        let text = "The objective after every assignment and every move of the centres.";
        Some(Chart::new("Steps of k-means", text).panel(panel))
    }
}

impl KMeansSteps {
    fn first_centres(&self, x: &Matrix, run: &Context) -> Result<Matrix> {
        if let Some(given) = &self.centers {
            let centers = Matrix::from_rows(given)?;
            if centers.ncols() != x.ncols() || centers.nrows() == 0 {
                let expected = format!("points of {} values, one a column", x.ncols());
                return Err(Error::parameter("centers", expected, "others"));
            }
            return match centers.as_slice().iter().all(|value| value.is_finite()) {
                true => Ok(centers),
                false => Err(Error::parameter("centers", "finite numbers", "others")),
            };
        }
        if self.n_clusters > x.nrows() {
            let message = format!("{} rows have no {} clusters", x.nrows(), self.n_clusters);
            return Err(Error::new(Code::TooFew, message).hint("ask for fewer clusters"));
        }
        let rows = choose(&mut run.rng(0x6b73_7470), x.nrows(), self.n_clusters);
        Ok(x.view().gather_rows(&rows))
    }
}

/// Assigns rows to their nearest centres; how many changed.
fn assign(x: &Matrix, centers: &Matrix, labels: &mut [usize]) -> u64 {
    let mut changed = 0;
    for (row, label) in x.rows().zip(labels) {
        let to = |k: usize| squared_distance(row, centers.row(k));
        let near = (1..centers.nrows()).fold(0, |best, k| if to(k) < to(best) { k } else { best });
        changed += u64::from(near != *label);
        *label = near;
    }
    changed
}

fn means(x: &Matrix, before: &Matrix, labels: &[usize]) -> Matrix {
    let (k, width) = (before.nrows(), x.ncols());
    let (mut sums, mut counts) = (Matrix::zeros(k, width), vec![0.0; k]);
    for (row, &label) in x.rows().zip(labels) {
        counts[label] += 1.0;
        // About the centre before, so that nothing is lost far from zero.
        let old = before.row(label);
        sums.row_mut(label).iter_mut().zip(row).zip(old).for_each(|((s, v), o)| *s += v - o);
    }
    Matrix::from_fn(k, width, |c, j| before[(c, j)] + sums[(c, j)] / f64::max(counts[c], 1.0))
}

fn cost(x: &Matrix, centers: &Matrix, labels: &[usize]) -> f64 {
    x.rows().zip(labels).map(|(row, &label)| squared_distance(row, centers.row(label))).sum()
}

/// k-means without outliers: rows far from their centre are dropped and the rest is fitted again.
#[derive(Params, Clone, Debug)]
pub struct KMeansWithoutOutliers {
    /// Number of clusters.
    #[param(positional, default = 3, range = 1..)]
    pub n_clusters: usize,
    /// Distance from its centre beyond which a row is dropped, in median distances of its cluster.
    #[param(default = 3.0, above = 0.0)]
    pub multiple: f64,
    /// Share of the rows that are fitted instead of the filter; the others join the nearest centre.
    #[param(above = 0.0, below = 1.0)]
    pub subset: Option<f64>,
    /// Number of starts.
    #[param(default = 10, range = 1..)]
    pub n_init: usize,
}

/// Clusters of the rows that are left.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct WithoutOutliers {
    /// The cluster of each row; -1 for rows that were dropped.
    pub value: Vec<i64>,
    /// Numbers of the rows that were dropped, from 0.
    pub dropped: Vec<u64>,
    /// The centres.
    pub centers: Matrix,
    /// Sum of squared distances of the rows in clusters from their centres.
    pub inertia: f64,
}

impl Function for KMeansWithoutOutliers {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = WithoutOutliers;
    const ABOUT: &'static Callable =
        &Callable::new("cluster.k_means_without_outliers", FunctionKind::Analysis)
            .randomness()
            .threads();

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<WithoutOutliers> {
        let x = given.x.to_matrix();
        let n = x.nrows();
        let fitted: Vec<usize> = match self.subset {
            Some(share) => {
                let count = ((share * n as f64).ceil() as usize).clamp(self.n_clusters.min(n), n);
                let mut rows = choose(&mut run.rng(0x6b6f_7574), n, count);
                rows.sort_unstable();
                rows
            }
            None => (0..n).collect(),
        };
        let first = self.centres(&x, &fitted, run)?;
        let mut labels = vec![usize::MAX; n];
        assign(&x, &first, &mut labels);
        let dropped = match self.subset {
            Some(_) => Vec::new(),
            None => outliers(&x, &first, &labels, self.multiple),
        };
        let centers = match dropped.is_empty() {
            true => first,
            false => {
                let kept: Vec<usize> =
                    (0..n).filter(|i| dropped.binary_search(i).is_err()).collect();
                self.centres(&x, &kept, run)?
            }
        };
        assign(&x, &centers, &mut labels);
        let is_in = |i: &usize| dropped.binary_search(i).is_err();
        let inertia =
            (0..n).filter(is_in).map(|i| squared_distance(x.row(i), centers.row(labels[i]))).sum();
        let value = (0..n).map(|i| if is_in(&i) { labels[i] as i64 } else { -1 }).collect();
        let dropped = dropped.into_iter().map(|i| i as u64).collect();
        Ok(WithoutOutliers { value, dropped, centers, inertia })
    }
}

impl KMeansWithoutOutliers {
    fn centres(&self, x: &Matrix, rows: &[usize], run: &Context) -> Result<Matrix> {
        let learner = KMeans {
            n_clusters: self.n_clusters,
            init: Init::Greedy,
            n_init: Restarts::Count(self.n_init),
            ..KMeans::default()
        };
        let data = OwnedDataset::unsupervised(x.view().gather_rows(rows));
        Ok(learner.fit_in(&data.view(), &run.untraced())?.cluster_centers)
    }
}

/// Rows farther from their centre than so many median distances of their cluster.
fn outliers(x: &Matrix, centers: &Matrix, labels: &[usize], multiple: f64) -> Vec<usize> {
    let distances: Vec<f64> = x
        .rows()
        .zip(labels)
        .map(|(row, &label)| squared_distance(row, centers.row(label)).sqrt())
        .collect();
    let typical: Vec<f64> = (0..centers.nrows())
        .map(|k| {
            let own: Vec<f64> =
                (0..labels.len()).filter(|&i| labels[i] == k).map(|i| distances[i]).collect();
            median(&own).unwrap_or(0.0)
        })
        .collect();
    (0..labels.len()).filter(|&i| distances[i] > multiple * typical[labels[i]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_step_raises_the_objective_and_nine_values_pass_the_known_centres() {
        let values = [2.0, 3.0, 4.0, 10.0, 11.0, 12.0, 20.0, 25.0, 30.0];
        let x = Matrix::column_vector(values.to_vec());
        let learner =
            KMeansSteps { centers: Some(vec![vec![2.0], vec![4.0]]), ..Default::default() };
        let found = learner.compute(RowsToCluster { x: x.view() }).unwrap();
        assert!(found.objective.windows(2).all(|pair| pair[1] <= pair[0]));
        assert_eq!(found.centers.as_slice(), [7.0, 25.0]);
        let after_means: Vec<f64> = (0..found.step.len())
            .filter(|&i| found.step[i] == "M")
            .map(|i| found.objective[i])
            .collect();
        for (got, expected) in after_means.iter().zip([514.5, 348.0, 307.95, 150.0]) {
            assert!((got - expected).abs() < 1e-9, "{after_means:?}");
        }
        assert_eq!(found.step.last().map(String::as_str), Some("E"));
        assert_eq!(found.moved.last(), Some(&0));
        let wide = Matrix::from_fn(80, 3, |i, j| ((i * (3 + j)) as f64 * 0.61).sin() * 4.0);
        let drawn = KMeansSteps { n_clusters: 6, ..Default::default() };
        let found = drawn.compute(RowsToCluster { x: wide.view() }).unwrap();
        assert!(found.objective.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)));
    }

    #[test]
    fn one_far_point_is_dropped_and_the_centres_are_those_of_the_rest() {
        let near = (0..5).chain(20..25).map(f64::from);
        let x = Matrix::column_vector(near.chain([45.0]).collect());
        let learner = KMeansWithoutOutliers { n_clusters: 2, ..Default::default() };
        let found = learner.compute(RowsToCluster { x: x.view() }).unwrap();
        assert_eq!(found.dropped, [10]);
        assert_eq!(found.value[10], -1);
        let mut centres = found.centers.as_slice().to_vec();
        centres.sort_by(f64::total_cmp);
        assert_eq!(centres, [2.0, 22.0]);
        assert_eq!(found.inertia, 20.0);
    }

    #[test]
    fn a_subset_labels_all_rows() {
        let x = Matrix::from_fn(200, 2, |i, j| {
            (i % 2) as f64 * 20.0 + ((i * (3 + j)) as f64 * 0.7).sin()
        });
        let learner =
            KMeansWithoutOutliers { n_clusters: 2, subset: Some(0.1), ..Default::default() };
        let found = learner.compute(RowsToCluster { x: x.view() }).unwrap();
        assert!(found.dropped.is_empty());
        assert!((0..200).all(|i| (found.value[i] == found.value[0]) == (i % 2 == 0)));
    }
}
