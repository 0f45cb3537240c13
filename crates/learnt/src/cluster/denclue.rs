//! DENCLUE: clusters are the rows below dense tops of a kernel density, joined where dense paths lead.
//!
//! Every row climbs the density of normal windows to its top (its attractor); tops within a hundredth
//! of the bandwidth are one. A top of density below `xi` is noise with its rows. Tops are joined if a
//! path leads between them on which the density is at least `xi` everywhere: the straight segment, or a
//! polyline through rows. Rows that are dense themselves lie on such a path to their own top; of
//! segments between rows of different tops those to the eight nearest rows within four bandwidths are
//! tried, the shortest first. Every segment is sampled at a twentieth of the bandwidth. `join` false
//! leaves every dense top a cluster of its own (centre-defined). Clusters are numbered by their first
//! row. A new row climbs in the same way and belongs to the cluster of the nearest known top.
//!
//! A. Hinneburg and D. Keim (1998), KDD, 58-65; A. Hinneburg and H.-H. Gabriel (2007), IDA, 70-80.

use super::agglomerative::size_table;
use super::climb::{Ascent, Climber, Top, merged};
use super::copies::Different;
use super::dbscan::Forest;
use super::mean_shift::estimate_bandwidth;
use crate::neighbors::{Index, Metric, Structure};
use learnt_core::linalg::squared_distance;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// DENCLUE: density clusters of any shape, by climbing to density attractors.
///
/// ```
/// use learnt::{cluster::DENCLUE, prelude::*};
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(vec![1.0, 2.0, 4.0, 4.5, 7.0]));
/// let learner = DENCLUE { bandwidth: Some(1.0), xi: Some(0.14), ..Default::default() };
/// let labels = learner.fit(&data.view())?.labels();
/// assert_eq!(labels, [Some(0), Some(0), Some(1), Some(1), None]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct DENCLUE {
    /// Width of the normal window; by default a third of the mean distance to the nearest 30% of the rows.
    #[param(positional, above = 0.0, search = log(1e-2, 1e2))]
    pub bandwidth: Option<f64>,
    /// Least density of a top and of a path; by default a twentieth of the largest top.
    #[param(range = 0.0.., below = f64::INFINITY)]
    pub xi: Option<f64>,
    /// How rows climb.
    #[param(default = Ascent::MeanShift)]
    pub ascent: Ascent,
    /// The multiple of the gradient that `fixed` adds; small enough for any rows by default.
    #[param(above = 0.0)]
    pub step: Option<f64>,
    /// Whether tops are joined along dense paths.
    #[param(default = true)]
    pub join: bool,
    /// Maximum number of steps of a climb.
    #[param(default = 10_000, range = 1..)]
    pub max_iter: usize,
    /// Mean shift at which a climb ends, in bandwidths.
    #[param(default = 1e-6, range = 0.0..)]
    pub tol: f64,
}

/// A fitted [`DENCLUE`].
#[derive(Model, Clone, Debug)]
#[model(clusterer, validate = validate, report = table, converged = converged)]
pub struct DENCLUEModel {
    /// The tops, the densest first (tops × n_features).
    #[shape(tops, columns)]
    #[finite]
    pub attractors: Matrix,
    /// Density of each top.
    #[shape(tops)]
    #[finite]
    pub densities: Vec<f64>,
    /// Cluster of each top; -1 for noise.
    #[shape(tops)]
    pub attractor_clusters: Vec<i64>,
    /// The bandwidth.
    #[positive]
    #[finite]
    pub bandwidth: f64,
    /// The least density.
    #[finite]
    pub xi: f64,
    /// Number of rows in each cluster.
    pub cluster_sizes: Vec<u64>,
    /// Number of rows in no cluster.
    pub n_noise: u64,
    /// Steps of the longest climb.
    pub n_iter: usize,
    /// The top of each training row.
    #[model(transient)]
    pub attractor_of: Vec<u32>,
    #[model(transient)]
    labels: Vec<Option<u32>>,
    #[shape(rows, columns)]
    #[finite]
    rows: Matrix,
    ascent: Ascent,
    step: Option<f64>,
    max_iter: usize,
    tol: f64,
    converged: bool,
}

impl Estimator for DENCLUE {
    type Model = DENCLUEModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::clusterer("cluster.DENCLUE")
        .assign()
        .threads()
        .iterations()
        .scaling()
        .rows_stored()
        .only_by_name()
        .complexity(55)
        .cost("n² p time a step of the climbs; n p memory")
        .reference("Hinneburg and Keim (1998), KDD, 58-65")
        .exempt(&[
            (
                "same_bytes_large",
                "time grows with the square of the rows; fewer rows have the same bytes",
            ),
            ("trace", "every row climbs by itself: there is no one objective"),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<DENCLUEModel> {
        let x = data.x.values().to_matrix();
        run.claim(8 * (3 * x.nrows() * x.ncols()) as u64, "the climbs")?;
        let h = match self.bandwidth {
            Some(given) => given,
            None => estimate_bandwidth(x.view(), 0.3, run)? / 3.0,
        };
        if h <= 0.0 || !h.is_finite() {
            let message = format!("the bandwidth from the rows is {h}");
            return Err(Error::numeric(message).hint("give a bandwidth above 0"));
        }
        let climber = self.climber(&x, h);
        // Copies of a row climb alike.
        let different = Different::of(x.view(), run)?;
        let all = climbs(&climber, &x.view().gather_rows(&different.firsts), run)?;
        let (taken, homes) = merged(&all, 1e-2 * h);
        let home: Vec<usize> = different.of_row.iter().map(|&k| homes[k as usize]).collect();
        let tops: Vec<&Top> = taken.iter().map(|&i| &all[i]).collect();
        let most = tops.first().map_or(0.0, |top| top.density);
        let xi = self.xi.unwrap_or(most / 20.0);
        let mut forest = Forest::new(tops.len());
        if self.join {
            join(&climber, &tops, (&different.firsts, &home), xi, &mut forest, run)?;
        }
        let roots: Vec<Option<usize>> =
            (0..tops.len()).map(|k| (tops[k].density >= xi).then(|| forest.root(k))).collect();
        let mut number: Vec<Option<u32>> = vec![None; tops.len()];
        let mut cluster_sizes = Vec::new();
        let mut labels = Vec::with_capacity(x.nrows());
        for &top in &home {
            labels.push(roots[top].map(|root| {
                let label = *number[root].get_or_insert_with(|| {
                    cluster_sizes.push(0_u64);
                    cluster_sizes.len() as u32 - 1
                });
                cluster_sizes[label as usize] += 1;
                label
            }));
        }
        let places: Vec<&[f64]> = tops.iter().map(|top| top.place.as_slice()).collect();
        let n_iter = all.iter().map(|top| top.steps).max().unwrap_or(0);
        let converged = all.iter().all(|top| top.converged);
        if !converged {
            let message = format!("a climb did not end in {} steps; raise max_iter", self.max_iter);
            run.warn(Code::NotConverged, message);
        }
        let cluster =
            |root: &Option<usize>| root.and_then(|root| number[root]).map_or(-1, i64::from);
        let model = DENCLUEModel {
            attractors: Matrix::from_rows(&places)?,
            densities: tops.iter().map(|top| top.density).collect(),
            attractor_clusters: roots.iter().map(cluster).collect(),
            bandwidth: h,
            xi,
            cluster_sizes,
            n_noise: labels.iter().filter(|label| label.is_none()).count() as u64,
            n_iter,
            attractor_of: home.iter().map(|&top| top as u32).collect(),
            labels,
            ascent: self.ascent,
            step: self.step,
            max_iter: self.max_iter,
            tol: self.tol,
            converged,
            rows: Matrix::zeros(0, 0),
        };
        let finite =
            model.attractors.as_slice().iter().chain(&model.densities).all(|v| v.is_finite());
        match finite {
            true => Ok(DENCLUEModel { rows: x, ..model }),
            false => Err(Error::numeric("climbs left the numbers: the values are too large")
                .hint("scale the columns, or take a smaller step")),
        }
    }
}

impl DENCLUE {
    fn climber<'a>(&self, x: &'a Matrix, h: f64) -> Climber<'a> {
        let (ascent, step) = (self.ascent, self.step);
        Climber { x, h, ascent, step, max_iter: self.max_iter, tol: self.tol }
    }
}

fn climbs(climber: &Climber, from: &Matrix, run: &Context) -> Result<Vec<Top>> {
    run.try_par_map(from.nrows(), |i| {
        run.checkpoint()?;
        Ok(climber.climb(from.row(i)))
    })
}

/// Joins tops between which dense paths lead.
fn join(
    climber: &Climber,
    tops: &[&Top],
    (rows, home): (&[usize], &[usize]),
    xi: f64,
    forest: &mut Forest,
    run: &Context,
) -> Result<()> {
    let strong: Vec<usize> = (0..tops.len()).filter(|&k| tops[k].density >= xi).collect();
    for (place, &a) in strong.iter().enumerate() {
        run.checkpoint()?;
        for &b in &strong[..place] {
            if forest.root(a) != forest.root(b)
                && is_dense(climber, &tops[a].place, &tops[b].place, xi)
            {
                forest.join(a, b);
            }
        }
    }
    let dense: Vec<usize> = rows
        .iter()
        .copied()
        .filter(|&i| tops[home[i]].density >= xi && climber.density(climber.x.row(i)) >= xi)
        .collect();
    for (_, a, b) in near_pairs(climber, &dense, home, run)? {
        run.checkpoint()?;
        if forest.root(home[a]) != forest.root(home[b])
            && is_dense(climber, climber.x.row(a), climber.x.row(b), xi)
        {
            forest.join(home[a], home[b]);
        }
    }
    Ok(())
}

/// Pairs of rows of different tops that are near, the shortest first.
fn near_pairs(
    climber: &Climber,
    dense: &[usize],
    home: &[usize],
    run: &Context,
) -> Result<Vec<(f64, usize, usize)>> {
    const MOST: usize = 8;
    if dense.is_empty() {
        return Ok(Vec::new());
    }
    let rows = climber.x.view().gather_rows(dense);
    let structure = Structure::suited(Metric::Euclidean, rows.nrows(), rows.ncols());
    let index = Index::build(rows.view(), Metric::Euclidean, structure, 30, run)?;
    let mut pairs = Vec::new();
    let all: Vec<usize> = (0..dense.len()).collect();
    index.each_within(rows.view(), &all, 4.0 * climber.h, run, |i, found, distances| {
        let own = home[dense[i]];
        let mut near: Vec<(f64, usize, usize)> = found
            .iter()
            .zip(distances)
            .map(|(&other, &distance)| (distance, dense[i], dense[other as usize]))
            .filter(|&(_, _, other)| home[other] != own)
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        pairs.extend(near.into_iter().take(MOST));
        Ok(())
    })?;
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    Ok(pairs)
}

/// Whether the density is at least `xi` along a segment, at steps of a twentieth of the bandwidth.
fn is_dense(climber: &Climber, a: &[f64], b: &[f64], xi: f64) -> bool {
    let length = squared_distance(a, b).sqrt();
    let steps = (20.0 * length / climber.h).ceil().clamp(1.0, 1e6) as usize;
    // The middle is where a path fails first, as a rule.
    let from_middle = |k: usize| match k % 2 {
        0 => steps / 2 + k / 2,
        _ => steps / 2 - k.div_ceil(2).min(steps / 2),
    };
    (0..=steps + 1).map(from_middle).filter(|&k| k <= steps).all(|k| {
        let share = k as f64 / steps as f64;
        let place: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect();
        climber.density(&place) >= xi
    })
}

impl DENCLUEModel {
    fn validate(&self) -> Result<()> {
        let count = self.cluster_sizes.len() as i64;
        let known = self.attractor_clusters.iter().all(|&k| (-1..count).contains(&k));
        let good = known && self.attractors.nrows() > 0 && self.rows.nrows() > 0;
        if good { Ok(()) } else { Err(invalid("density attractors that are none")) }
    }

    fn table(&self, _names: &Names) -> Answer {
        let mut answer = size_table("DENCLUE", &self.cluster_sizes);
        answer.push("noise", self.n_noise);
        answer.push("attractors", self.attractors.nrows() as u64);
        answer.push("bandwidth", self.bandwidth);
        answer.push("least density", self.xi);
        answer
    }
}

impl Clusterer for DENCLUEModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.clone()
    }

    fn assign_in(&self, x: &Frame, run: &Context) -> Result<Vec<Option<u32>>> {
        let width = self.attractors.ncols();
        if x.ncols() != width {
            let expected = format!("{width} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        let climber = Climber {
            x: &self.rows,
            h: self.bandwidth,
            ascent: self.ascent,
            step: self.step,
            max_iter: self.max_iter,
            tol: self.tol,
        };
        let all = climbs(&climber, &x.values().to_matrix(), run)?;
        let cluster = |top: &Top| {
            let to = |k: usize| squared_distance(&top.place, self.attractors.row(k));
            let best =
                (1..self.attractors.nrows()).fold(0, |b, k| if to(k) < to(b) { k } else { b });
            // A row beyond every window climbs nowhere.
            let near = to(best).sqrt() <= self.bandwidth;
            u32::try_from(self.attractor_clusters[best]).ok().filter(|_| near)
        };
        Ok(all.iter().map(cluster).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn five(xi: f64, ascent: Ascent, join: bool) -> DENCLUEModel {
        let x = Matrix::column_vector(vec![1.0, 2.0, 4.0, 4.5, 7.0]);
        let learner =
            DENCLUE { bandwidth: Some(1.0), xi: Some(xi), ascent, join, ..Default::default() };
        learner.fit(&OwnedDataset::unsupervised(x).view()).unwrap()
    }

    #[test]
    fn five_values_have_the_known_clusters_at_four_thresholds_by_every_ascent() {
        let (a, b, no) = (Some(0), Some(1), None);
        for ascent in [Ascent::MeanShift, Ascent::Fixed, Ascent::Backtracking] {
            for (xi, expected) in [
                (0.14, [a, a, b, b, no]),
                (0.1, [a, a, a, a, no]),
                (0.0839, [a, a, a, a, b]),
                (0.08, [a, a, a, a, a]),
            ] {
                assert_eq!(five(xi, ascent, true).labels(), expected, "{xi} {ascent:?}");
            }
            let apart = five(0.08, ascent, false);
            assert_eq!(apart.labels(), [a, a, b, b, Some(2)]);
        }
    }

    #[test]
    fn tops_and_their_densities_are_the_known_ones() {
        let model = five(0.08, Ascent::MeanShift, true);
        let expected = [
            (4.145_805_778_8, 0.163_788_222_981),
            (1.650_719_128_85, 0.146_060_805_473),
            (6.751_271_961_07, 0.085_501_305_597_2),
        ];
        assert_eq!(model.attractors.nrows(), 3);
        for (k, (place, density)) in expected.into_iter().enumerate() {
            assert!((model.attractors[(k, 0)] - place).abs() < 1e-4);
            assert!((model.densities[k] - density).abs() < 1e-7);
        }
        assert_eq!(model.attractor_of, [1, 1, 0, 0, 2]);
    }

    #[test]
    fn a_bent_band_is_one_cluster_through_its_rows_and_two_bands_are_two() {
        let bend = |i: usize, side: f64| {
            let angle = i as f64 / 60.0 * std::f64::consts::PI;
            [5.0 * angle.cos() + 5.0 * side, side * 8.0 + 5.0 * angle.sin()]
        };
        let rows: Vec<[f64; 2]> =
            (0..60).map(|i| bend(i, 0.0)).chain((0..60).map(|i| bend(i, 3.0))).collect();
        let data = OwnedDataset::unsupervised(Matrix::from_rows(&rows).unwrap());
        let learner = DENCLUE { bandwidth: Some(0.5), ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        assert!(model.attractors.nrows() >= 2);
        assert_eq!(model.cluster_sizes, [60, 60]);
        let back = model.assign_in(&data.x.frame(), &Context::default()).unwrap();
        assert_eq!(back, model.labels());
    }

    #[test]
    fn copies_of_rows_have_the_clusters_of_the_rows() {
        let few = [0.0, 0.4, 0.9, 6.0, 6.3, 6.5];
        let fit = |x: Vec<f64>| {
            let learner = DENCLUE { bandwidth: Some(0.5), ..DENCLUE::default() };
            let data = OwnedDataset::unsupervised(Matrix::column_vector(x));
            learner.fit(&data.view()).unwrap().labels
        };
        let one = fit(few.to_vec());
        let many = fit((0..6 * 300).map(|i| few[i % 6]).collect());
        assert_eq!(one.iter().flatten().max(), Some(&1));
        assert!(many.iter().enumerate().all(|(i, label)| *label == one[i % 6]));
    }
}
