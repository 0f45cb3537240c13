//! Scores of clusters from the inputs alone ([`Compactness`]): how tight and how far apart they are.
//!
//! References: Rousseeuw (1987) for silhouettes; Davies and Bouldin (1979); Caliński and Harabasz (1974);
//! Dunn (1974); Zaki and Meira (2014), chapter 17, for BetaCV.

use super::pairwise::DistanceKind;
use super::{Compactness, Spread, undefined_or};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::function::{Scorer, Task};
use learnt_core::prelude::*;
use learnt_core::stats::sample::shuffle;

const TASK: Task = Task::Unsupervised;

/// Rows and their clusters.
#[derive(Inputs, Clone, Copy)]
#[allow(non_snake_case, reason = "the name of the input on all surfaces")]
pub struct Clustered<'a> {
    /// The rows.
    pub X: MatRef<'a>,
    /// The cluster of each row; noise is left out.
    pub labels: &'a [Option<u32>],
}

impl Clustered<'_> {
    fn compactness(&self) -> Result<Compactness> {
        Compactness::new(self.X, self.labels)
    }

    /// The silhouette of each row that is not noise, with its place.
    fn silhouettes(&self, metric: DistanceKind, run: &Context) -> Result<Vec<(usize, f64)>> {
        let scored = self.compactness()?;
        let found = match metric {
            DistanceKind::Euclidean | DistanceKind::L2 => scored.silhouettes(run)?,
            other => scored.silhouettes_with(|a, b| other.between(a, b, 2.0), run)?,
        };
        Ok(scored.rows().iter().copied().zip(found).collect())
    }
}

/// Mean silhouette: how much nearer rows are to their own cluster than to the next.
#[derive(Params, Clone, Debug)]
pub struct SilhouetteScore {
    /// The distance between rows.
    #[param(default = DistanceKind::Euclidean)]
    pub metric: DistanceKind,
    /// Number of rows to draw and score in place of all.
    #[param(range = 1..)]
    pub sample_size: Option<usize>,
}

impl Function for SilhouetteScore {
    type Inputs<'a> = Clustered<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.silhouette_score", FunctionKind::Metric)
            .reference("Rousseeuw (1987)")
            .randomness()
            .threads()
            .scores(&[Scorer::higher("silhouette", TASK, "Mean silhouette.")]);

    fn call(&self, given: Clustered, run: &Context) -> Result<f64> {
        let found = match self.sample_size.filter(|&size| size < given.labels.len()) {
            None => given.silhouettes(self.metric, run)?,
            Some(size) => {
                let mut rows: Vec<usize> = (0..given.labels.len()).collect();
                shuffle(&mut run.rng(0), &mut rows);
                rows.truncate(size);
                let labels: Vec<Option<u32>> = rows.iter().map(|&i| given.labels[i]).collect();
                let x = given.X.gather_rows(&rows);
                Clustered { X: x.view(), labels: &labels }.silhouettes(self.metric, run)?
            }
        };
        Ok(found.iter().map(|(_, score)| score).sum::<f64>() / found.len() as f64)
    }
}

/// Silhouette of each row: how much nearer it is to its own cluster than to the next.
#[derive(Params, Clone, Debug)]
pub struct SilhouetteSamples {
    /// The distance between rows.
    #[param(default = DistanceKind::Euclidean)]
    pub metric: DistanceKind,
}

/// Silhouettes with the clusters that they belong to.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Silhouettes {
    /// The silhouette of each row; not a number for noise.
    pub value: Vec<f64>,
    /// The cluster of each row; -1 for noise.
    pub cluster: Vec<i64>,
}

impl Function for SilhouetteSamples {
    type Inputs<'a> = Clustered<'a>;
    type Output = Silhouettes;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.silhouette_samples", FunctionKind::Metric)
            .reference("Rousseeuw (1987)")
            .threads();

    fn call(&self, given: Clustered, run: &Context) -> Result<Silhouettes> {
        let mut value = vec![f64::NAN; given.labels.len()];
        for (row, score) in given.silhouettes(self.metric, run)? {
            value[row] = score;
        }
        let cluster = given.labels.iter().map(|label| label.map_or(-1, i64::from)).collect();
        Ok(Silhouettes { value, cluster })
    }

    /// Bars of each cluster, longest first, with the mean as a rule.
    fn chart(&self, found: &Silhouettes) -> Option<Chart> {
        let mut rows: Vec<(i64, f64)> =
            found.cluster.iter().copied().zip(found.value.iter().copied()).collect();
        rows.retain(|(_, score)| !score.is_nan());
        rows.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mean = rows.iter().map(|(_, score)| score).sum::<f64>() / rows.len().max(1) as f64;
        let mut panel = Panel::new("row, cluster by cluster", "silhouette");
        let mut start = 0;
        for part in rows.chunk_by(|a, b| a.0 == b.0) {
            let x = (start..start + part.len()).map(|i| i as f64).collect();
            let y = part.iter().map(|(_, score)| *score).collect();
            panel = panel.mark(Mark::area(format!("cluster {}", part[0].0), x, y));
            start += part.len();
        }
        let panel = panel.mark(Mark::horizontal("mean", vec![mean]).muted().dashed());
        let text = "Silhouettes of the rows of each cluster, and their mean.";
        Some(Chart::new("Silhouettes", text).panel(panel))
    }
}

/// Davies-Bouldin index: the mean worst ratio of spreads to the distance of centres.
#[derive(Params, Clone, Debug)]
pub struct DaviesBouldinScore {
    /// How the spread of a cluster is measured.
    #[param(default = Spread::Mean)]
    pub spread: Spread,
}

impl Function for DaviesBouldinScore {
    type Inputs<'a> = Clustered<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.davies_bouldin_score", FunctionKind::Metric)
            .reference("Davies and Bouldin (1979)")
            .scores(&[Scorer::lower(
                "davies-bouldin",
                TASK,
                "Mean worst ratio of spreads to the distance of centres.",
            )]);

    fn call(&self, given: Clustered, _run: &Context) -> Result<f64> {
        given.compactness()?.davies_bouldin(self.spread)
    }
}

/// Calinski-Harabasz index: spread of the centres over spread around them.
#[derive(Params, Clone, Debug)]
pub struct CalinskiHarabaszScore {}

impl Function for CalinskiHarabaszScore {
    type Inputs<'a> = Clustered<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.calinski_harabasz_score", FunctionKind::Metric)
            .reference("Caliński and Harabasz (1974)")
            .scores(&[Scorer::higher(
                "calinski-harabasz",
                TASK,
                "Spread of the centres over spread around them.",
            )]);

    fn call(&self, given: Clustered, run: &Context) -> Result<f64> {
        let scored = given.compactness()?;
        if scored.clusters() > 1 && scored.inertia() == 0.0 {
            return undefined_or(run, "calinski-harabasz", "clusters have no spread", 1.0);
        }
        scored.calinski_harabasz()
    }
}

/// Inertia: the sum of squared distances from the centres of the clusters.
#[derive(Params, Clone, Debug)]
pub struct Inertia {}

impl Function for Inertia {
    type Inputs<'a> = Clustered<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("metrics.inertia", FunctionKind::Metric)
        .scores(&[Scorer::lower(
            "inertia",
            TASK,
            "Sum of squared distances from the centres of the clusters.",
        )
        .alias(&["sse"])]);

    fn call(&self, given: Clustered, _run: &Context) -> Result<f64> {
        Ok(given.compactness()?.inertia())
    }
}

/// Dunn index: the smallest distance between clusters over the largest inside one.
#[derive(Params, Clone, Debug)]
pub struct DunnScore {}

impl Function for DunnScore {
    type Inputs<'a> = Clustered<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("metrics.dunn_score", FunctionKind::Metric)
        .reference("Dunn (1974)")
        .threads()
        .scores(&[Scorer::higher(
            "dunn",
            TASK,
            "Smallest distance between clusters over the largest inside one.",
        )]);

    fn call(&self, given: Clustered, run: &Context) -> Result<f64> {
        given.compactness()?.dunn(run)
    }
}

/// BetaCV: the mean distance inside clusters over that between them.
#[derive(Params, Clone, Debug)]
pub struct BetaCvScore {}

impl Function for BetaCvScore {
    type Inputs<'a> = Clustered<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("metrics.beta_cv_score", FunctionKind::Metric)
        .reference("Zaki and Meira (2014), chapter 17")
        .threads()
        .scores(&[Scorer::lower(
            "beta-cv",
            TASK,
            "Mean distance inside clusters over that between them.",
        )]);

    fn call(&self, given: Clustered, run: &Context) -> Result<f64> {
        given.compactness()?.beta_cv(run)
    }
}

/// Distances between all pairs of rows, inside clusters and between them.
#[derive(Params, Clone, Debug)]
pub struct ScatterDecomposition {}

/// Sums over pairs, and sums of squares around centres.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ScatterParts {
    /// Sum of distances inside clusters.
    pub within: f64,
    /// Sum of distances between clusters.
    pub between: f64,
    /// Pairs inside clusters.
    pub pairs_within: u64,
    /// Pairs between clusters.
    pub pairs_between: u64,
    /// Largest distance inside a cluster.
    pub widest: f64,
    /// Smallest distance between clusters; none for one cluster.
    pub nearest: Option<f64>,
    /// Sum of squared distances from the centres.
    pub inertia: f64,
}

impl Function for ScatterDecomposition {
    type Inputs<'a> = Clustered<'a>;
    type Output = ScatterParts;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.scatter_decomposition", FunctionKind::Metric).threads();

    fn call(&self, given: Clustered, run: &Context) -> Result<ScatterParts> {
        let scored = given.compactness()?;
        let found = scored.scatter(run)?;
        Ok(ScatterParts {
            within: found.within,
            between: found.between,
            pairs_within: found.pairs_within as u64,
            pairs_between: found.pairs_between as u64,
            widest: found.widest,
            nearest: found.nearest.is_finite().then_some(found.nearest),
            inertia: scored.inertia(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_places_whatever_the_order_of_clusters() {
        let x = Matrix::column_vector(vec![10.0, 0.0, 5.0, 11.0, 1.0]);
        let labels = [Some(1), Some(0), None, Some(1), Some(0)];
        let given = Clustered { X: x.view(), labels: &labels };
        let found = SilhouetteSamples::default().compute(given).unwrap();
        let scored = |a: f64, b: f64| (b - a) / b;
        assert_eq!(found.value[0], scored(1.0, 9.5));
        assert_eq!(found.value[1], scored(1.0, 10.5));
        assert!(found.value[2].is_nan());
        let manhattan = SilhouetteSamples { metric: DistanceKind::Manhattan };
        assert_eq!(manhattan.compute(given).unwrap().value[0], found.value[0]);
    }
}
