//! Agreement of clusters with classes that are known, read off their contingency table ([`Contingency`]).
//!
//! References: Hubert and Arabie (1985) for the adjusted Rand index; Fowlkes and Mallows (1983); Meilă
//! (2007) for the variation of information; Zaki and Meira (2014), chapter 17.

use super::Contingency;
use super::confusion_matrix::Cells;
use learnt_core::function::{Scorer, Task};
use learnt_core::prelude::*;

/// Known classes beside clusters.
#[derive(Inputs, Clone, Copy)]
pub struct Agreement<'a> {
    /// The class of each row.
    pub labels_true: Classes<'a>,
    /// The cluster of each row.
    pub labels_pred: Classes<'a>,
}

impl Agreement<'_> {
    /// Clusters by classes.
    pub(super) fn table(&self) -> Result<Contingency> {
        let clusters: Vec<Option<u32>> = self.labels_pred.codes.iter().map(|&c| Some(c)).collect();
        Contingency::new(&clusters, self.labels_true.codes, None)
    }
}

/// Contingency table: how many rows of each class are in each cluster.
#[derive(Params, Clone, Debug)]
pub struct ContingencyMatrix {}

/// Rows are classes, columns clusters.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ContingencyTable {
    /// Number of rows of each class in each cluster.
    pub value: Cells,
}

impl Function for ContingencyMatrix {
    type Inputs<'a> = Agreement<'a>;
    type Output = ContingencyTable;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.contingency_matrix", FunctionKind::Metric);

    fn call(&self, given: Agreement, _run: &Context) -> Result<ContingencyTable> {
        Ok(ContingencyTable { value: Cells::Counts(given.table()?.counts().transposed()) })
    }
}

/// One function for a number of the table.
macro_rules! scores {
    ($($(#[$doc:meta])* $name:ident, $path:literal, $reference:literal, $score:expr, $scorers:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Params, Clone, Debug)]
        pub struct $name {}

        impl Function for $name {
            type Inputs<'a> = Agreement<'a>;
            type Output = f64;
            const ABOUT: &'static Callable = &Callable::new($path, FunctionKind::Metric)
                .reference($reference)
                .scores(&$scorers);

            fn call(&self, given: Agreement, _run: &Context) -> Result<f64> {
                let score: fn(&Contingency) -> f64 = $score;
                Ok(score(&given.table()?))
            }
        }
    )*};
}

const TASK: Task = Task::Unsupervised;

scores! {
    /// Adjusted Rand index: agreement on pairs of rows, corrected for chance.
    AdjustedRandScore, "metrics.adjusted_rand_score", "Hubert and Arabie (1985)",
        Contingency::adjusted_rand, [Scorer::higher(
            "adjusted-rand",
            TASK,
            "Agreement of clusters and classes on pairs of rows, corrected for chance.",
        ).alias(&["ari"])];
    /// Rand index: the share of pairs of rows on which clusters and classes agree.
    RandScore, "metrics.rand_score", "Rand (1971)", Contingency::rand,
        [Scorer::higher("rand", TASK, "Share of pairs on which clusters and classes agree.")];
    /// Mutual information of clusters and classes, in nats.
    MutualInfoScore, "metrics.mutual_info_score", "", Contingency::mutual_information,
        [Scorer::higher("mutual-info", TASK, "Mutual information of clusters and classes.")];
    /// Fowlkes-Mallows index: the geometric mean of pair precision and pair recall.
    FowlkesMallowsScore, "metrics.fowlkes_mallows_score", "Fowlkes and Mallows (1983)",
        Contingency::fowlkes_mallows, [Scorer::higher(
            "fowlkes-mallows",
            TASK,
            "Geometric mean of pair precision and pair recall.",
        )];
    /// Purity: the share of rows in the most frequent class of their cluster.
    PurityScore, "metrics.purity_score", "Zaki and Meira (2014), chapter 17", Contingency::purity,
        [Scorer::higher("purity", TASK, "Share of rows in the most frequent class of their cluster.")];
    /// Maximum matching: the share of rows in the best one-to-one match of clusters and classes.
    MaximumMatchingScore, "metrics.maximum_matching_score", "Zaki and Meira (2014), chapter 17",
        Contingency::max_matching, [Scorer::higher(
            "maximum-matching",
            TASK,
            "Share of rows in the best one-to-one match of clusters and classes.",
        )];
    /// Pair Jaccard index: pairs together in both over pairs together in either.
    PairJaccardScore, "metrics.pair_jaccard_score", "Zaki and Meira (2014), chapter 17",
        Contingency::jaccard,
        [Scorer::higher("pair-jaccard", TASK, "Pairs together in both over pairs together in either.")];
    /// Variation of information: what clusters and classes do not tell of each other, in bits.
    VariationOfInformation, "metrics.variation_of_information", "Meilă (2007)",
        Contingency::variation_of_information, [Scorer::lower(
            "variation-of-information",
            TASK,
            "What clusters and classes do not tell of each other, in bits.",
        )];
    /// Conditional entropy of the classes given the clusters: what clusters leave unknown, in bits.
    ConditionalEntropy, "metrics.conditional_entropy", "Zaki and Meira (2014), chapter 17",
        Contingency::conditional_entropy, [Scorer::lower(
            "conditional-entropy",
            TASK,
            "What clusters leave unknown of the classes, in bits.",
        )];
}

/// Normalized mutual information: mutual information over a mean of both entropies.
#[derive(Params, Clone, Debug)]
pub struct NormalizedMutualInfoScore {
    /// Which mean of the entropies.
    #[param(default = EntropyMean::Arithmetic)]
    pub average_method: EntropyMean,
}

/// A mean of two entropies.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntropyMean {
    /// The smaller.
    Min,
    /// The root of their product.
    Geometric,
    /// Half their sum.
    Arithmetic,
    /// The larger.
    Max,
}

impl EntropyMean {
    pub(super) fn of(self, a: f64, b: f64) -> f64 {
        match self {
            EntropyMean::Min => a.min(b),
            EntropyMean::Geometric => (a * b).sqrt(),
            EntropyMean::Arithmetic => (a + b) / 2.0,
            EntropyMean::Max => a.max(b),
        }
    }
}

impl Function for NormalizedMutualInfoScore {
    type Inputs<'a> = Agreement<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.normalized_mutual_info_score", FunctionKind::Metric).scores(&[
            Scorer::higher(
                "normalized-mutual-info",
                TASK,
                "Mutual information of clusters and classes over the mean of their entropies.",
            )
            .alias(&["nmi"]),
        ]);

    fn call(&self, given: Agreement, _run: &Context) -> Result<f64> {
        let table = given.table()?;
        let (a, b) = table.entropies();
        if a == 0.0 && b == 0.0 {
            return Ok(1.0);
        }
        let shared = table.mutual_information();
        let mean = self.average_method.of(a, b);
        // One cluster, or one class, tells nothing of the other.
        Ok(if a == 0.0 || b == 0.0 { 0.0 } else { shared / mean })
    }
}

/// F of clusters: each cluster as the class that is most frequent in it.
#[derive(Params, Clone, Debug)]
pub struct ClusterFScore {}

/// The mean, and each cluster by itself.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ClusterF {
    /// Plain mean of F over the clusters.
    pub score: f64,
    /// Share of the cluster that is of its class.
    pub precision: Vec<f64>,
    /// Share of the class that is in the cluster.
    pub recall: Vec<f64>,
    /// Their harmonic mean.
    pub f: Vec<f64>,
}

impl Function for ClusterFScore {
    type Inputs<'a> = Agreement<'a>;
    type Output = ClusterF;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.cluster_f_score", FunctionKind::Metric)
            .reference("Zaki and Meira (2014), chapter 17")
            .scores(&[Scorer::higher(
                "cluster-f",
                TASK,
                "Mean F of clusters as their main class.",
            )]);

    fn call(&self, given: Agreement, _run: &Context) -> Result<ClusterF> {
        let table = given.table()?;
        let matched = table.matched();
        Ok(ClusterF {
            score: table.f_measure(),
            precision: matched.iter().map(|found| found.0).collect(),
            recall: matched.iter().map(|found| found.1).collect(),
            f: matched.iter().map(|found| found.2).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_classes_and_columns_clusters() {
        let names = [0, 1, 2].map(Label::Int);
        let labels_true = Classes { codes: &[0, 0, 1], classes: &names };
        let labels_pred = Classes { codes: &[2, 1, 1], classes: &names };
        let given = Agreement { labels_true, labels_pred };
        let found = ContingencyMatrix {}.compute(given).unwrap();
        let wanted = Matrix::from_rows(&[[1.0, 1.0], [1.0, 0.0]]).unwrap();
        assert_eq!(found.value, Cells::Counts(wanted));
    }
}
