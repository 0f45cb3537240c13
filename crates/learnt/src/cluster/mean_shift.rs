//! Mean shift: every row climbs the density of the rows, and rows that end at one top are a cluster.
//!
//! Climbs begin at every row, at `seeds`, or at the centres of cells of the bandwidth's width that hold enough rows.
//! x ← Σ K x_i / Σ K over the rows, K the window around x: `flat` 1 within the bandwidth, `gaussian`
//! exp(-d²/2h²), which is a step h²/p along the gradient of the density p. A climb ends when it moves
//! less than 1e-3 bandwidths (1e-9 for `gaussian`), or after `max_iter` steps. Tops are taken in
//! order of the rows (or density) around them, the earliest of equals; others within the bandwidth
//! (a hundredth of it for `gaussian`) of one taken are left out. Rows belong to the nearest top, the
//! first of equals, or are noise beyond the bandwidth if `cluster_all` is false.
//!
//! K. Fukunaga and L. Hostetler (1975); D. Comaniciu and P. Meer (2002), PAMI 24, 603-619.

use super::agglomerative::size_table;
use super::copies::Different;
use crate::neighbors::{Index, Metric, Structure};
use learnt_core::linalg::{Nearest, squared_distance};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use std::collections::BTreeMap;

/// Mean shift: clusters are the tops of the density, found by climbing it.
///
/// ```
/// use learnt::{cluster::MeanShift, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 1.5, 2.0, 9.0, 9.5, 10.0]);
/// let data = OwnedDataset::unsupervised(x);
/// let model = MeanShift { bandwidth: Some(2.0), ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.cluster_centers.as_slice(), [1.5, 9.5]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct MeanShift {
    /// Radius of the window; by default the mean distance to the nearest 30% of the rows.
    #[param(above = 0.0, search = log(1e-2, 1e2))]
    pub bandwidth: Option<f64>,
    /// The window.
    #[param(default = ShiftWindow::Flat)]
    pub kernel: ShiftWindow,
    /// Places where climbs begin; every row by default.
    pub seeds: Option<Vec<Vec<f64>>>,
    /// Whether climbs begin at the centres of cells of the bandwidth's width instead of every row.
    #[param(default = false)]
    pub bin_seeding: bool,
    /// Rows of a cell whose centre is a beginning.
    #[param(default = 1, range = 1..)]
    pub min_bin_freq: usize,
    /// Whether rows beyond the bandwidth of every top belong to the nearest.
    #[param(default = true)]
    pub cluster_all: bool,
    /// Maximum number of steps of a climb.
    #[param(default = 300, range = 1..)]
    pub max_iter: usize,
}

/// The window of a climb.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum ShiftWindow {
    /// Rows within the bandwidth count alike.
    Flat,
    /// Rows count by the normal density of their distance.
    Gaussian,
}

/// A fitted [`MeanShift`].
#[derive(Model, Clone, Debug)]
#[model(clusterer, validate = validate, report = table, converged = converged)]
pub struct MeanShiftModel {
    /// The tops (n_clusters × n_features).
    #[shape(clusters, columns)]
    #[finite]
    pub cluster_centers: Matrix,
    /// The bandwidth.
    #[positive]
    #[finite]
    pub bandwidth: f64,
    /// Steps of the longest climb.
    pub n_iter: usize,
    /// Number of rows of each cluster.
    #[shape(clusters)]
    pub cluster_sizes: Vec<u64>,
    #[model(transient)]
    labels: Vec<Option<u32>>,
    cluster_all: bool,
    converged: bool,
}

/// The mean distance of a row to the nearest share of the rows. Every row is measured against every other, since
/// the share is large; copies of a row are measured once.
pub(super) fn estimate_bandwidth(x: MatRef, quantile: f64, run: &Context) -> Result<f64> {
    const ROWS: usize = 16;
    let n = x.nrows();
    let k = ((n as f64 * quantile) as usize).clamp(1, n);
    let different = Different::of(x, run)?;
    let (places, counts) = (x.gather_rows(&different.firsts), different.counts());
    let (m, columns) = (places.nrows(), places.transposed());
    let sums = run.try_par_map(m.div_ceil(ROWS), |block| {
        let (mut line, mut near) = (vec![0.0; m], Vec::with_capacity(m));
        let mut sum = 0.0;
        for i in block * ROWS..((block + 1) * ROWS).min(m) {
            run.checkpoint()?;
            Metric::Euclidean.distances(places.row(i), &columns, &mut line);
            near.clear();
            near.extend(line.iter().copied().zip(counts.iter().copied()));
            sum += counts[i] as f64 * kth(&mut near, k, m == n);
        }
        Ok(sum)
    })?;
    Ok(sums.iter().sum::<f64>() / n as f64)
}

/// The k-th smallest of distances that each count so many times.
fn kth(near: &mut [(f64, usize)], k: usize, once: bool) -> f64 {
    if once {
        return near.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0)).1.0;
    }
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut seen = 0;
    let reached = |&&(_, count): &&(f64, usize)| {
        seen += count;
        seen >= k
    };
    near.iter().find(reached).map_or(f64::INFINITY, |&(distance, _)| distance)
}

/// Where climbs end: the place, how much lies around it, and the steps.
struct Ended {
    place: Vec<f64>,
    mass: f64,
    steps: usize,
}

impl MeanShift {
    /// Where climbs begin.
    fn starts(&self, x: &Matrix, h: f64, run: &Context) -> Result<Matrix> {
        let rows = || Ok(x.view().gather_rows(&Different::of(x.view(), run)?.firsts));
        if let Some(seeds) = &self.seeds {
            return match seeds.iter().all(|seed| seed.len() == x.ncols()) && !seeds.is_empty() {
                true => Matrix::from_rows(seeds),
                false => {
                    let expected = format!("places of {} values, one a column", x.ncols());
                    Err(Error::parameter("seeds", expected, "others"))
                }
            };
        }
        if !self.bin_seeding {
            // Equal rows climb alike.
            return rows();
        }
        let mut cells: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
        for row in x.rows() {
            // Zero and minus zero are one cell.
            let cell = row.iter().map(|v| ((v / h).round_ties_even() + 0.0).to_bits()).collect();
            *cells.entry(cell).or_default() += 1;
        }
        let all = cells.len() == x.nrows();
        cells.retain(|_, count| *count >= self.min_bin_freq);
        if all && cells.len() == x.nrows() {
            return rows();
        }
        let centre = |cell: Vec<u64>| cell.into_iter().map(|v| f64::from_bits(v) * h).collect();
        let centres: Vec<Vec<f64>> = cells.into_keys().map(centre).collect();
        match centres.is_empty() {
            false => Matrix::from_rows(&centres),
            true => Err(Error::new(Code::TooFew, "no cell holds min_bin_freq rows")
                .hint("lower min_bin_freq, or give a larger bandwidth")),
        }
    }

    /// Climbs from some places with a flat window.
    fn climb_flat(&self, x: &Matrix, starts: &Matrix, h: f64, run: &Context) -> Result<Vec<Ended>> {
        let structure = Structure::suited(Metric::Euclidean, x.nrows(), x.ncols());
        let index = Index::build(x.view(), Metric::Euclidean, structure, 30, run)?;
        let ended = |place: &[f64]| Ended { place: place.to_vec(), mass: 0.0, steps: 0 };
        let mut all: Vec<Ended> = starts.rows().map(ended).collect();
        let mut moving: Vec<usize> = (0..all.len()).collect();
        for _ in 0..self.max_iter {
            if moving.is_empty() {
                break;
            }
            let places: Vec<&[f64]> = moving.iter().map(|&i| all[i].place.as_slice()).collect();
            let places = Matrix::from_rows(&places)?;
            let each: Vec<usize> = (0..moving.len()).collect();
            let mut still = Vec::new();
            index.each_within(places.view(), &each, h, run, |k, rows, _| {
                if rows.is_empty() {
                    return Ok(());
                }
                let ended = &mut all[moving[k]];
                let mean = mean_of(x, rows);
                let moved = squared_distance(&mean, &ended.place).sqrt();
                *ended = Ended { place: mean, mass: rows.len() as f64, steps: ended.steps + 1 };
                if moved > 1e-3 * h {
                    still.push(moving[k]);
                }
                Ok(())
            })?;
            moving = still;
        }
        Ok(all)
    }

    /// Climbs from some places with a normal window over all rows.
    fn climb_gaussian(
        &self,
        x: &Matrix,
        starts: &Matrix,
        h: f64,
        run: &Context,
    ) -> Result<Vec<Ended>> {
        run.try_par_map(starts.nrows(), |i| {
            let mut ended = Ended { place: starts.row(i).to_vec(), mass: 0.0, steps: 0 };
            while ended.steps < self.max_iter {
                let (mean, mass) = normal_mean(x, &ended.place, h);
                let moved = squared_distance(&mean, &ended.place).sqrt();
                (ended.place, ended.mass) = (mean, mass);
                ended.steps += 1;
                if moved <= 1e-9 * h {
                    break;
                }
            }
            Ok(ended)
        })
    }
}

fn mean_of(x: &Matrix, rows: &[u32]) -> Vec<f64> {
    let mut mean = vec![0.0; x.ncols()];
    for &row in rows {
        mean.iter_mut().zip(x.row(row as usize)).for_each(|(mean, value)| *mean += value);
    }
    mean.iter_mut().for_each(|mean| *mean /= rows.len() as f64);
    mean
}

/// The mean of the rows under a normal window around a place, and the window's mass.
pub(super) fn normal_mean(x: &Matrix, place: &[f64], h: f64) -> (Vec<f64>, f64) {
    let mut mean = vec![0.0; place.len()];
    let mut mass = 0.0;
    for row in x.rows() {
        let weight = (-0.5 * squared_distance(row, place) / (h * h)).exp();
        mass += weight;
        // About the place, so that nothing is lost far from zero.
        for ((mean, value), at) in mean.iter_mut().zip(row).zip(place) {
            *mean += weight * (value - at);
        }
    }
    for (mean, at) in mean.iter_mut().zip(place) {
        *mean = at + if mass > 0.0 { *mean / mass } else { 0.0 };
    }
    (mean, mass)
}

/// The tops, the largest first; those near one taken are left out.
fn tops(ended: &[Ended], near: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ended.len()).collect();
    order.sort_by(|&a, &b| ended[b].mass.total_cmp(&ended[a].mass).then(a.cmp(&b)));
    let mut taken: Vec<usize> = Vec::new();
    for i in order {
        let far = |&top: &usize| squared_distance(&ended[top].place, &ended[i].place).sqrt() > near;
        if taken.iter().all(far) {
            taken.push(i);
        }
    }
    taken
}

impl Estimator for MeanShift {
    type Model = MeanShiftModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::clusterer("cluster.MeanShift")
        .assign()
        .threads()
        .iterations()
        .scaling()
        .complexity(50)
        .cost("n steps times the rows in the window (n p for gaussian) time; n p memory")
        .reference("Comaniciu and Meer (2002), PAMI 24, 603-619")
        .exempt(&[
            (
                "same_bytes_large",
                "time grows with the square of the rows; fewer rows have the same bytes",
            ),
            ("trace", "every seed climbs by itself: there is no one objective"),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<MeanShiftModel> {
        let x = data.x.values().to_matrix();
        let bandwidth = match self.bandwidth {
            Some(given) => given,
            None => estimate_bandwidth(x.view(), 0.3, run)?,
        };
        if bandwidth <= 0.0 || !bandwidth.is_finite() {
            let message = format!("the bandwidth from the rows is {bandwidth}");
            return Err(Error::numeric(message).hint("give a bandwidth above 0"));
        }
        let starts = self.starts(&x, bandwidth, run)?;
        let (mut ended, near) = match self.kernel {
            ShiftWindow::Flat => (self.climb_flat(&x, &starts, bandwidth, run)?, bandwidth),
            ShiftWindow::Gaussian => {
                (self.climb_gaussian(&x, &starts, bandwidth, run)?, 1e-2 * bandwidth)
            }
        };
        ended.retain(|ended| ended.mass > 0.0);
        if ended.is_empty() {
            let message = format!("No point was within bandwidth={bandwidth} of any seed");
            return Err(Error::new(Code::TooFew, message)
                .hint("give seeds among the rows, or a larger bandwidth"));
        }
        let tops = tops(&ended, near);
        let centres: Vec<&[f64]> = tops.iter().map(|&i| ended[i].place.as_slice()).collect();
        let n_iter = ended.iter().map(|ended| ended.steps).max().unwrap_or(0);
        let mut model = MeanShiftModel {
            cluster_centers: Matrix::from_rows(&centres)?,
            bandwidth,
            n_iter,
            cluster_sizes: vec![0; tops.len()],
            labels: Vec::new(),
            cluster_all: self.cluster_all,
            converged: n_iter < self.max_iter,
        };
        if !model.cluster_centers.as_slice().iter().all(|value| value.is_finite()) {
            return Err(Error::numeric("means overflow: the values are too large"));
        }
        if !model.converged {
            let message = format!("a climb did not end in {n_iter} steps; raise max_iter");
            run.warn(Code::NotConverged, message);
        }
        model.labels = model.assign_in(&data.x, run)?;
        for label in model.labels.iter().flatten() {
            model.cluster_sizes[*label as usize] += 1;
        }
        Ok(model)
    }
}

impl MeanShiftModel {
    fn validate(&self) -> Result<()> {
        match self.cluster_centers.nrows() > 0 {
            true => Ok(()),
            false => Err(invalid("mean shift without tops")),
        }
    }

    fn table(&self, _names: &Names) -> Answer {
        let mut answer = size_table("Mean shift", &self.cluster_sizes);
        answer.push("bandwidth", self.bandwidth);
        answer
    }
}

impl Clusterer for MeanShiftModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.labels.clone()
    }

    fn assign_in(&self, x: &Frame, run: &Context) -> Result<Vec<Option<u32>>> {
        let width = self.cluster_centers.ncols();
        if x.ncols() != width {
            let expected = format!("{width} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        run.checkpoint()?;
        let nearest = Nearest::new(&self.cluster_centers);
        let mut labels = vec![0; x.nrows()];
        run.par_fill(&mut labels, 4096, |first, piece| {
            nearest.of(x.values().rows(first, first + piece.len()), piece);
        });
        let mut row = vec![0.0; width];
        let keep = |(i, label): (usize, u32)| {
            if self.cluster_all {
                return Some(label);
            }
            x.values().copy_row(i, &mut row);
            let centre = self.cluster_centers.row(label as usize);
            (squared_distance(&row, centre).sqrt() <= self.bandwidth).then_some(label)
        };
        Ok(labels.into_iter().enumerate().map(keep).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_climb_to_the_known_tops() {
        let x = Matrix::column_vector(vec![1.0, 2.0, 4.0, 4.5, 7.0]);
        let learner = MeanShift {
            bandwidth: Some(1.0),
            kernel: ShiftWindow::Gaussian,
            max_iter: 5000,
            ..Default::default()
        };
        let model = learner.fit(&OwnedDataset::unsupervised(x).view()).unwrap();
        let mut tops = model.cluster_centers.as_slice().to_vec();
        tops.sort_by(f64::total_cmp);
        for (got, expected) in
            tops.iter().zip([1.650_719_128_85, 4.145_805_778_8, 6.751_271_961_07])
        {
            assert!((got - expected).abs() < 1e-6, "{got} {expected}");
        }
        let l = model.labels();
        assert!(l[0] == l[1] && l[2] == l[3] && l[1] != l[2] && l[3] != l[4]);
    }

    #[test]
    fn rows_beyond_every_window_are_noise_if_asked() {
        let x = Matrix::column_vector(vec![0.0, 0.5, 1.0, 1.4, 30.0, 30.2, 30.4]);
        let data = OwnedDataset::unsupervised(x);
        let learner = MeanShift { bandwidth: Some(1.0), cluster_all: false, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let far = Table::unnamed(Matrix::column_vector(vec![100.0, 0.6]));
        let labels = model.assign_in(&far.frame(), &Context::default()).unwrap();
        assert!(labels[0].is_none() && labels[1].is_some());
    }

    /// The bandwidth of the rows and their copies, by the definition.
    #[test]
    fn copies_count_in_the_bandwidth_and_cost_nothing() {
        let few = Matrix::from_fn(15, 2, |i, j| ((i * (3 + j)) as f64 * 0.7).sin());
        let run = Context::default();
        for copies in [1, 2, 400] {
            let x = Matrix::from_fn(15 * copies, 2, |i, j| few[(i % 15, j)]);
            let k = (x.nrows() as f64 * 0.3) as usize;
            let row = |i: usize| {
                let mut all: Vec<f64> =
                    (0..x.nrows()).map(|j| squared_distance(few.row(i), x.row(j)).sqrt()).collect();
                all.sort_by(f64::total_cmp);
                all[k - 1]
            };
            let expected = (0..15).map(row).sum::<f64>() / 15.0;
            let found = estimate_bandwidth(x.view(), 0.3, &run).unwrap();
            assert!((found - expected).abs() < 1e-12, "{copies}: {found} {expected}");
        }
    }

    #[test]
    fn equal_rows_need_a_bandwidth() {
        let data = OwnedDataset::unsupervised(Matrix::from_fn(20, 2, |_, _| 3.0));
        let error = MeanShift::default().fit(&data.view()).unwrap_err();
        assert!(error.to_string().contains("bandwidth"), "{error}");
        let given = MeanShift { bandwidth: Some(1.0), ..Default::default() };
        assert_eq!(given.fit(&data.view()).unwrap().cluster_sizes, [20]);
        // Equal rows climb once: a hundred thousand of them do not take their square.
        let many = Matrix::from_fn(100_000, 2, |i, _| (i % 2) as f64 * 50.0);
        let model = given.fit(&OwnedDataset::unsupervised(many).view()).unwrap();
        assert_eq!(model.cluster_sizes, [50_000, 50_000]);
    }

    #[test]
    fn climbs_begin_where_they_are_told_and_find_the_same_tops() {
        let x = Matrix::from_fn(90, 2, |i, j| {
            (i % 3) as f64 * 9.0 + ((i * (7 + 4 * j)) as f64 * 0.618).sin()
        });
        let data = OwnedDataset::unsupervised(x);
        let every = MeanShift { bandwidth: Some(3.0), ..Default::default() };
        let all = every.fit(&data.view()).unwrap();
        let bins = MeanShift { bin_seeding: true, ..every.clone() };
        assert_eq!(bins.fit(&data.view()).unwrap().labels(), all.labels());
        let seeds = Some(vec![vec![0.5, 0.5], vec![9.0, 9.0]]);
        let two = MeanShift { seeds, ..every.clone() }.fit(&data.view()).unwrap();
        assert_eq!(two.cluster_sizes.len(), 2);
        let rare = MeanShift { min_bin_freq: 91, ..bins };
        assert_eq!(rare.fit(&data.view()).unwrap_err().code(), Code::TooFew);
        let away = MeanShift { seeds: Some(vec![vec![-90.0, 0.0]]), ..every.clone() };
        let error = away.fit(&data.view()).unwrap_err();
        assert!(error.message().contains("of any seed"), "{error}");
        let narrow = MeanShift { seeds: Some(vec![vec![1.0]]), ..every };
        assert!(narrow.fit(&data.view()).is_err());
    }
}
