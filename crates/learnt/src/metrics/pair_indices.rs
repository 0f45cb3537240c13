//! Scores of clusters from all distances between rows: C-index, normalised cut, modularity.
//!
//! With W(A, B) the sum of the distances between rows of A and of B, n pairs of rows within clusters and
//! W_in their sum: C-index (W_in - W_min) / (W_max - W_min), where W_min and W_max are the sums of the n
//! smallest and largest distances of all; less is better. Normalised cut Σ_k W(C_k, rest) / W(C_k, all):
//! more is better, because W are distances. Modularity Σ_k [W(C_k, C_k) / W - (W(C_k, all) / W)²] with W
//! over all ordered pairs: less is better. n² time; the C-index holds all distances.
//!
//! Reference: Zaki and Meira (2014), chapter 17.

use super::cluster_scores::Clustered;
use super::pairwise::DistanceKind;
use super::undefined;
use learnt_core::prelude::*;

/// Three scores of clusters from all distances between rows: C-index, normalised cut and modularity.
#[derive(Params, Clone, Debug)]
pub struct PairIndices {
    /// The distance between rows.
    #[param(default = DistanceKind::Euclidean)]
    pub metric: DistanceKind,
}

/// The scores.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Indices {
    /// 0 if all pairs within clusters are the nearest, 1 if they are the farthest.
    pub c_index: f64,
    /// Share of distances that leave each cluster, summed over clusters; more is better.
    pub normalized_cut: f64,
    /// Distances within clusters above what chance would give; less is better.
    pub modularity: f64,
}

impl Function for PairIndices {
    type Inputs<'a> = Clustered<'a>;
    type Output = Indices;
    const ABOUT: &'static Callable = &Callable::new("metrics.pair_indices", FunctionKind::Metric)
        .alias(&["c-index", "normalized-cut", "modularity"])
        .reference("Zaki and Meira (2014), chapter 17")
        .threads();

    fn call(&self, given: Clustered, run: &Context) -> Result<Indices> {
        let rows: Vec<usize> =
            (0..given.labels.len()).filter(|&i| given.labels[i].is_some()).collect();
        let labels: Vec<usize> =
            rows.iter().map(|&i| given.labels[i].unwrap_or_default() as usize).collect();
        let clusters = labels.iter().max().map_or(0, |&k| k + 1);
        let n = rows.len();
        run.claim((n as u64).saturating_mul(n as u64).saturating_mul(4), "distances of all pairs")?;
        let x = given.X.gather_rows(&rows);
        let one = |i: usize| -> Vec<f64> {
            (i + 1..n).map(|j| self.metric.between(x.row(i), x.row(j), 2.0)).collect()
        };
        let distances: Vec<Vec<f64>> = run.try_par_map(n, |i| Ok(one(i)))?;
        let mut within = vec![0.0; clusters];
        let mut touching = vec![0.0; clusters];
        let (mut inner, mut pairs) = (0.0, 0);
        for (i, row) in distances.iter().enumerate() {
            for (step, &distance) in row.iter().enumerate() {
                let (a, b) = (labels[i], labels[i + 1 + step]);
                touching[a] += distance;
                touching[b] += distance;
                if a == b {
                    within[a] += 2.0 * distance;
                    inner += distance;
                    pairs += 1;
                }
            }
        }
        let total: f64 = touching.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(undefined("the pair indices", "rows do not differ, or too much"));
        }
        let filled = || (0..clusters).filter(|&k| touching[k] > 0.0);
        Ok(Indices {
            c_index: c_index(distances, inner, pairs)?,
            normalized_cut: filled().map(|k| 1.0 - within[k] / touching[k]).sum(),
            modularity: filled().map(|k| within[k] / total - (touching[k] / total).powi(2)).sum(),
        })
    }
}

fn c_index(distances: Vec<Vec<f64>>, inner: f64, pairs: usize) -> Result<f64> {
    let mut all: Vec<f64> = distances.into_iter().flatten().collect();
    if pairs == 0 || pairs == all.len() {
        return Err(undefined(
            "the C-index",
            "there are no pairs within, or none between clusters",
        ));
    }
    all.sort_by(f64::total_cmp);
    let least: f64 = all[..pairs].iter().sum();
    let most: f64 = all[all.len() - pairs..].iter().sum();
    match most > least {
        true => Ok(((inner - least) / (most - least)).clamp(0.0, 1.0)),
        false => Err(undefined("the C-index", "all distances are equal")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(x: &[f64], labels: &[u32]) -> Indices {
        let matrix = Matrix::column_vector(x.to_vec());
        let labels: Vec<Option<u32>> = labels.iter().map(|&k| Some(k)).collect();
        let given = Clustered { X: matrix.view(), labels: &labels };
        PairIndices::default().compute(given).unwrap()
    }

    #[test]
    fn four_points_on_a_line_by_hand() {
        // Distances: 1, 10, 11, 9, 10, 1. Within: 1 and 1.
        let good = indices(&[0.0, 1.0, 10.0, 11.0], &[0, 0, 1, 1]);
        assert_eq!(good.c_index, 0.0);
        // W(C, all) = 2 + 40 for both, of which 2 lie within.
        assert!((good.normalized_cut - 2.0 * (40.0 / 42.0)).abs() < 1e-12);
        assert!((good.modularity - 2.0 * (2.0 / 84.0 - 0.25)).abs() < 1e-12);
        let bad = indices(&[0.0, 1.0, 10.0, 11.0], &[0, 1, 1, 0]);
        // Within: 11 and 9; the two largest are 11 and 10.
        assert!((bad.c_index - (20.0 - 2.0) / (21.0 - 2.0)).abs() < 1e-12);
        assert!(bad.normalized_cut < good.normalized_cut && bad.modularity > good.modularity);
    }

    #[test]
    fn one_cluster_and_equal_rows_have_no_index() {
        let matrix = Matrix::column_vector(vec![1.0, 2.0]);
        let labels = [Some(0), Some(0)];
        let given = Clustered { X: matrix.view(), labels: &labels };
        assert_eq!(PairIndices::default().compute(given).unwrap_err().code(), Code::Undefined);
    }
}
