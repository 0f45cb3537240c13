//! Pictures of models, listed once in [`PLOTS`], from which `learnt plot`, `learnt report` and Python's
//! `learnt.plot` are made. Each takes a model, and rows where it needs them, and makes a [`Chart`].

mod clusters;
mod model;
mod report;
mod scene;

pub use report::{card, report};
pub use scene::Scene;

use learnt_core::chart::Chart;
use learnt_core::prelude::*;
use learnt_core::trained::Trained;

/// A picture that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct Plot {
    /// Its name.
    pub name: &'static str,
    /// What it shows, in a sentence.
    pub doc: &'static str,
    /// The data that it needs beside a model.
    pub needs: Needs,
    /// Whether the page of a model has it.
    pub in_report: bool,
    draw: fn(&Scene) -> Result<Chart>,
}

const fn plot(
    name: &'static str,
    doc: &'static str,
    needs: Needs,
    draw: fn(&Scene) -> Result<Chart>,
) -> Plot {
    Plot { name, doc, needs, in_report: true, draw }
}

impl Plot {
    const fn on_demand(self) -> Plot {
        Plot { in_report: false, ..self }
    }
}

/// Every picture of a model, in the order of a report.
pub const PLOTS: &[Plot] = &[
    plot(
        "confusion",
        "Actual against predicted classes, with counts and shares.",
        Needs::RowsAndTarget,
        model::confusion,
    ),
    plot(
        "roc",
        "True against false positive rate for every threshold, with its area.",
        Needs::RowsAndTarget,
        model::roc,
    ),
    plot(
        "precision-recall",
        "Precision against recall for every threshold, with the average precision.",
        Needs::RowsAndTarget,
        model::precision_recall,
    ),
    plot(
        "calibration",
        "How often a class came true against the probability that was given.",
        Needs::RowsAndTarget,
        model::calibration,
    ),
    plot(
        "predicted-actual",
        "Predictions against what came true.",
        Needs::RowsAndTarget,
        model::predicted_actual,
    ),
    plot(
        "residuals",
        "Residuals against fitted values, with their trend.",
        Needs::RowsAndTarget,
        model::residuals,
    ),
    plot(
        "qq",
        "Residuals against normal quantiles.",
        Needs::RowsAndTarget,
        model::normal_quantiles,
    ),
    plot(
        "scale-location",
        "Size of residuals against fitted values: equal variance is a level line.",
        Needs::RowsAndTarget,
        model::scale_location,
    )
    .on_demand(),
    plot(
        "leverage",
        "Residuals against leverage of the training rows, with Cook's distance.",
        Needs::RowsAndTarget,
        model::leverage,
    )
    .on_demand(),
    plot(
        "diagnostics",
        "The four pictures of the residuals of least squares beside each other.",
        Needs::RowsAndTarget,
        model::diagnostics,
    )
    .on_demand(),
    plot(
        "coefficients",
        "Coefficients with their confidence intervals.",
        Needs::Nothing,
        model::coefficients,
    ),
    plot(
        "path",
        "Coefficients of a penalised regression as the penalty falls; the model's own is marked.",
        Needs::RowsAndTarget,
        model::path,
    )
    .on_demand(),
    plot("tree", "The tree with its questions, rows and predictions.", Needs::Nothing, model::tree),
    plot(
        "scree",
        "Share of variance of each principal component, and its sum.",
        Needs::Nothing,
        model::scree,
    ),
    plot(
        "coordinates",
        "Rows along the first two discriminant coordinates, by class, with the means.",
        Needs::RowsAndTarget,
        model::coordinates,
    ),
    plot(
        "biplot",
        "Rows and columns along the first two principal components.",
        Needs::Rows,
        model::biplot,
    ),
    plot(
        "clusters",
        "Rows by cluster, along two columns or the first two principal components.",
        Needs::Rows,
        clusters::scatter,
    ),
    plot(
        "ellipses",
        "Rows and the normal components of a mixture, at one and two standard deviations.",
        Needs::Rows,
        clusters::ellipses,
    ),
    plot(
        "silhouette",
        "How much nearer each row is to its own cluster than to the next, cluster by cluster.",
        Needs::Rows,
        clusters::silhouette,
    )
    .on_demand(),
    plot(
        "dendrogram",
        "The tree of mergers of hierarchical clusterings, with the cut.",
        Needs::Rows,
        clusters::dendrogram,
    )
    .on_demand(),
    plot(
        "reachability",
        "Reachability of the rows in the order in which OPTICS visits them.",
        Needs::Rows,
        clusters::reachability,
    )
    .on_demand(),
    plot(
        "condensed-tree",
        "The condensed tree of HDBSCAN, with the clusters that were chosen.",
        Needs::Rows,
        clusters::condensed_tree,
    )
    .on_demand(),
    plot(
        "k-distance",
        "Distances to the neighbour that makes a core row, in order, with the model's radius.",
        Needs::Rows,
        clusters::k_distance,
    )
    .on_demand(),
];

/// The picture with this name.
pub fn find(name: &str) -> Result<&'static Plot> {
    let found = PLOTS.iter().find(|plot| plot.name == name);
    found.ok_or_else(|| Error::unknown("picture", name, PLOTS.iter().map(|plot| plot.name)))
}

impl Plot {
    /// The picture of a model, with rows where it needs them. A picture that does not fit the model is
    /// an error of code [`Code::Unsupported`].
    pub fn draw(&self, trained: &Trained, data: Option<&Dataset>, run: &Context) -> Result<Chart> {
        self.draw_in(&Scene::new(trained, data, run))
    }

    /// The same where several pictures of one model and its rows share the predictions.
    pub fn draw_in(&self, scene: &Scene) -> Result<Chart> {
        let missing = match (self.needs, scene.data) {
            (Needs::Rows | Needs::RowsAndTarget, None) => Some("rows"),
            (Needs::RowsAndTarget, Some(data)) if data.y.is_none() => {
                Some("rows with their target")
            }
            _ => None,
        };
        if let Some(missing) = missing {
            let message = format!("the picture '{}' needs {missing}", self.name);
            return Err(Error::new(Code::Usage, message));
        }
        (self.draw)(scene)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_words_of_their_own() {
        let names: BTreeSet<&str> = PLOTS.iter().map(|plot| plot.name).collect();
        assert_eq!(names.len(), PLOTS.len());
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
        assert_eq!(find("rock").unwrap_err().code(), Code::Unknown);
    }
}
