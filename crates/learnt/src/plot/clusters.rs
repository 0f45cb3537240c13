//! Pictures of clusterings, from a model and rows.
//!
//! A method that gives no clusters to new rows is fitted again to the rows of the picture, with the
//! parameters and the seed of the model. More than two columns are drawn along the first two principal
//! components of the rows as the method sees them.

use super::Scene;
use super::model::{as_pipeline, last_model, learner_of, real};
use crate::charts::clusters::{self, Ellipse, Limb};
use crate::cluster::{
    AgglomerativeClusteringModel, Condensed, HDBSCANModel, KDistance, OPTICSModel, RowsToCluster,
    Tree,
};
use crate::density::GaussianMixtureModel;
use crate::metrics::{Clustered, SilhouetteSamples};
use crate::reduce::{Components, PCA};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::params::LearnerSpec;
use learnt_core::prelude::*;
use learnt_core::trained::{Missing, Trained};
use std::any::Any;

/// Points at which a density is drawn.
const STEPS: usize = 400;

/// Rows and their clusters.
pub(super) fn scatter(scene: &Scene) -> Result<Chart> {
    let labels = labels(scene)?;
    let data = scene.rows()?;
    let rows = scene.trained.admit(&data.x, data.sequences, Missing::Error, scene.run)?;
    let own = rows.frame();
    let plain = (0..own.ncols()).all(|j| own.schema().column(j).levels().is_none());
    if plain && own.ncols() <= 2 {
        let names: Vec<&str> = own.schema().names().collect();
        let axes = [names[0], names.get(1).copied().unwrap_or("cluster")];
        return Ok(clusters::scatter(axes, own.values(), &labels));
    }
    let plane = Plane::new(&seen(scene)?, scene.run)?;
    Ok(clusters::scatter(plane.axes(), plane.points.view(), &labels))
}

/// How much nearer rows are to their own cluster than to the next.
pub(super) fn silhouette(scene: &Scene) -> Result<Chart> {
    let labels = labels(scene)?;
    let points = seen(scene)?;
    let function = SilhouetteSamples::default();
    let given = Clustered { X: points.values().view(), labels: &labels };
    let found = function.call(given, scene.run)?;
    function.chart(&found).ok_or_else(|| Error::internal("silhouettes without a picture"))
}

/// The tree of mergers, with the height of the cut.
pub(super) fn dendrogram(scene: &Scene) -> Result<Chart> {
    let again = fitted_again(scene)?;
    let model: &dyn Any = last_model(&again);
    if let Some(model) = model.downcast_ref::<AgglomerativeClusteringModel>() {
        let z = Matrix::from_fn(model.distances.len(), 4, |i, j| match j {
            0 | 1 => model.children[(i, j)],
            2 => model.distances[i],
            _ => 0.0,
        });
        let mut chart = Tree::from_matrix(z.view())?.chart(None);
        let merged = model.n_leaves.saturating_sub(model.n_clusters);
        let mut heights = model.distances.clone();
        heights.sort_by(f64::total_cmp);
        if let (Some(below), Some(above)) =
            (merged.checked_sub(1).map(|i| heights[i]), heights.get(merged))
            && let Some(panel) = chart.panels.first_mut()
        {
            let name = format!("cut into {} clusters", model.n_clusters);
            panel.marks.push(Mark::horizontal(name, vec![(below + above) / 2.0]).dashed());
        }
        return Ok(chart);
    }
    match model.downcast_ref::<HDBSCANModel>() {
        Some(model) => Ok(Tree::from_matrix(model.single_linkage_tree.view())?.chart(None)),
        None => Err(without(scene, "tree of mergers")
            .hint("agglomerative-clustering and hdbscan have; `learnt analyze linkage --plot`")),
    }
}

/// Reachabilities in the order of visits.
pub(super) fn reachability(scene: &Scene) -> Result<Chart> {
    let again = fitted_again(scene)?;
    let model: &dyn Any = last_model(&again);
    let Some(model) = model.downcast_ref::<OPTICSModel>() else {
        return Err(without(scene, "order of reachability").hint("optics has"));
    };
    Ok(clusters::reachability(&model.ordering, &model.reachability, &model.labels()))
}

/// Branches of the condensed tree.
pub(super) fn condensed_tree(scene: &Scene) -> Result<Chart> {
    let again = fitted_again(scene)?;
    let model: &dyn Any = last_model(&again);
    let Some(model) = model.downcast_ref::<HDBSCANModel>() else {
        return Err(without(scene, "condensed tree").hint("hdbscan has"));
    };
    let size = parameter(&again, "min_cluster_size")?.unwrap_or(5.0) as usize;
    let condensed = Condensed::new(&Tree::from_matrix(model.single_linkage_tree.view())?, size);
    let labels = model.labels();
    let mut limbs: Vec<Limb> = condensed
        .branches
        .iter()
        .map(|branch| Limb {
            parent: branch.parent as usize,
            birth: branch.birth,
            death: branch.death,
            size: f64::from(branch.size),
            losses: Vec::new(),
            cluster: None,
        })
        .collect();
    for (row, &branch) in condensed.last.iter().enumerate() {
        let limb = &mut limbs[branch as usize];
        limb.losses.push(condensed.lambda[row]);
    }
    // The cluster of a chosen branch is that of any of its rows that has one, its own or below it.
    for (row, label) in labels.iter().enumerate() {
        let mut at = condensed.last[row] as usize;
        while model.condensed_tree[(at, 5)] == 0.0 && at > 0 {
            at = condensed.branches[at].parent as usize;
        }
        if model.condensed_tree[(at, 5)] > 0.0 && label.is_some() {
            limbs[at].cluster = *label;
        }
    }
    Ok(clusters::condensed_tree(&limbs))
}

/// Distances to the neighbour that makes a core row, with the model's radius.
pub(super) fn k_distance(scene: &Scene) -> Result<Chart> {
    let needed = parameter(scene.trained, "min_samples")?;
    let Some(needed) = needed.filter(|_| scene.trained.model.as_clusterer().is_some()) else {
        return Err(without(scene, "core rows").hint("dbscan, optics and hdbscan have"));
    };
    let function = KDistance { k: (needed as usize).saturating_sub(1).max(1) };
    let points = seen(scene)?;
    let found = function.call(RowsToCluster { x: points.values().view() }, scene.run)?;
    let mut chart =
        function.chart(&found).ok_or_else(|| Error::internal("distances without a picture"))?;
    if let (Some(eps), Some(panel)) = (parameter(scene.trained, "eps")?, chart.panels.first_mut()) {
        panel.marks.push(Mark::horizontal("radius of the model", vec![eps]));
    }
    Ok(chart)
}

/// Components of a normal mixture: ellipses over the rows, or curves over one column.
pub(super) fn ellipses(scene: &Scene) -> Result<Chart> {
    let model: &dyn Any = last_model(scene.trained);
    let Some(model) = model.downcast_ref::<GaussianMixtureModel>() else {
        return Err(without(scene, "normal components").hint("gaussian-mixture has"));
    };
    let parts = model.components()?;
    let points = seen(scene)?;
    if points.schema().len() == 1 {
        let name = points.schema().names().next().unwrap_or("x").to_string();
        return curves(&name, &points.values().column(0), model);
    }
    let labels: Vec<Option<u32>> = model.assign_in(&points.frame(), scene.run)?;
    let plane = Plane::new(&points, scene.run)?;
    let all = (0..parts.count()).map(|k| {
        let covariance = plane.covariance(&parts.covariance(k));
        Ellipse { weight: parts.weights[k], mean: plane.place(parts.means.row(k)), covariance }
    });
    let all: Vec<Ellipse> = all.collect();
    clusters::ellipses(plane.axes(), plane.points.view(), &labels, &all)
}

/// The density of a mixture of one column, and of its components.
fn curves(name: &str, values: &[f64], model: &GaussianMixtureModel) -> Result<Chart> {
    let parts = model.components()?;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let margin = 0.1 * (high - low).max(f64::MIN_POSITIVE);
    let x: Vec<f64> = (0..=STEPS)
        .map(|i| low - margin + (high - low + 2.0 * margin) * i as f64 / STEPS as f64)
        .collect();
    let density = |k: usize, at: f64| {
        let variance = parts.covariance(k)[(0, 0)];
        let square = (at - parts.means[(k, 0)]).powi(2) / variance;
        parts.weights[k] * (-0.5 * square).exp() / (std::f64::consts::TAU * variance).sqrt()
    };
    let mut panel = Panel::new(name, "density");
    let total = |at: &f64| (0..parts.count()).map(|k| density(k, *at)).sum();
    panel = panel.mark(Mark::line("mixture", x.clone(), x.iter().map(total).collect()).muted());
    for k in 0..parts.count() {
        let y = x.iter().map(|&at| density(k, at)).collect();
        panel = panel.mark(Mark::line(clusters::name(k), x.clone(), y));
    }
    let floor = vec![0.0; values.len()];
    panel = panel.mark(Mark::points("rows", values.to_vec(), floor).muted());
    let text = "The density of the mixture and of its components, with the rows.";
    Ok(Chart::new("Components of the mixture", text).panel(panel))
}

/// Two columns, or the first two principal components of more.
struct Plane {
    points: Matrix,
    names: [String; 2],
    mean: Vec<f64>,
    /// Directions in rows (2 × columns).
    axes: Matrix,
}

impl Plane {
    fn new(rows: &Table, run: &Context) -> Result<Plane> {
        let width = rows.schema().len();
        if width <= 2 {
            let mut names = rows.schema().names().map(ToString::to_string);
            let names = [names.next().unwrap_or_default(), names.next().unwrap_or_default()];
            let axes = Matrix::from_fn(2, width, |i, j| f64::from(u8::from(i == j)));
            let (points, mean) = (rows.values().clone(), vec![0.0; width]);
            return Ok(Plane { points, names, mean, axes });
        }
        let data = OwnedDataset { x: rows.clone(), ..OwnedDataset::default() };
        let learner = PCA { n_components: Components::Count(2), ..PCA::default() };
        if rows.values().nrows() < 2 {
            return Err(Error::new(Code::TooFew, "one row has no principal components"));
        }
        let model = learner.fit_in(&data.view(), run)?;
        let share = |k: usize| 100.0 * model.explained_variance_ratio[k];
        let names = [0, 1].map(|k| format!("component {} ({:.0}%)", k + 1, share(k)));
        let (mean, axes) = (model.mean.clone(), model.components.clone());
        let points = model.transform_in(&rows.frame(), run)?.into_parts().0;
        Ok(Plane { points, names, mean, axes })
    }

    fn axes(&self) -> [&str; 2] {
        [&self.names[0], &self.names[1]]
    }

    fn place(&self, row: &[f64]) -> [f64; 2] {
        [0, 1].map(|k| {
            let axis = self.axes.row(k);
            row.iter().zip(&self.mean).zip(axis).map(|((x, mean), a)| (x - mean) * a).sum()
        })
    }

    /// A Σ Aᵀ.
    fn covariance(&self, full: &Matrix) -> [[f64; 2]; 2] {
        [0, 1].map(|i| {
            [0, 1].map(|j| {
                let (a, b) = (self.axes.row(i), self.axes.row(j));
                let along = |r: usize| -> f64 {
                    full.row(r).iter().zip(b).map(|(value, b)| value * b).sum()
                };
                a.iter().enumerate().map(|(r, a)| a * along(r)).sum()
            })
        })
    }
}

/// The clusters of the rows.
fn labels(scene: &Scene) -> Result<Vec<Option<u32>>> {
    let Some(clusterer) = scene.trained.model.as_clusterer() else {
        return Err(without(scene, "clusters"));
    };
    let data = scene.rows()?;
    let known = &scene.trained.outcome.labels;
    if scene.of_training && known.len() == data.nrows() {
        return Ok(known.clone());
    }
    let rows = scene.trained.admit(&data.x, data.sequences, Missing::Error, scene.run)?;
    match clusterer.assign_in(&rows.frame(), scene.run) {
        Err(error) if error.code() == Code::Unsupported => Ok(fitted_again(scene)?.outcome.labels),
        other => other,
    }
}

/// The rows as the last step of the model sees them.
fn seen(scene: &Scene) -> Result<Table> {
    let data = scene.rows()?;
    let rows = scene.trained.admit(&data.x, data.sequences, Missing::Error, scene.run)?;
    match as_pipeline(scene.trained) {
        Some(pipeline) => pipeline.prepared(&rows.frame(), scene.run, |x| Ok(x.to_table())),
        None => Ok(rows.frame().to_table()),
    }
}

/// The learner of the model, fitted to the rows of the picture.
fn fitted_again(scene: &Scene) -> Result<Trained> {
    let trained = scene.trained;
    if trained.model.as_clusterer().is_none() {
        return Err(without(scene, "clusters"));
    }
    let (learner, params) = (trained.about.path.to_string(), trained.history.params.clone());
    let learner = crate::build(&LearnerSpec { learner, params })?;
    let data = scene.rows()?;
    let rows = trained.admit(&data.x, data.sequences, Missing::Error, scene.run)?;
    let run = scene.run.with_seed(trained.history.seed);
    Trained::fit(learner.as_ref(), &Dataset { x: rows.frame(), y: None, ..*data }, &[], &run)
}

/// A number among the parameters of the learner, or of the last step of a pipeline.
fn parameter(trained: &Trained, name: &str) -> Result<Option<f64>> {
    let (_, params) = learner_of(trained)?;
    Ok(params.iter().find(|(known, _)| known == name).and_then(|(_, value)| real(value)))
}

fn without(scene: &Scene, noun: &str) -> Error {
    let name = last_name(scene).unwrap_or_else(|| scene.trained.about.name().to_string());
    Error::unsupported(format!("{name} has no {noun}"))
}

fn last_name(scene: &Scene) -> Option<String> {
    let (path, _) = learner_of(scene.trained).ok()?;
    path.rsplit('.').next().map(ToString::to_string)
}
