//! Running means: k-means that goes on with more rows, one at a time.
//!
//! Each row joins the nearest centre, which moves to the mean of all rows that have joined it:
//! c ← c + (w / Σw) (x - c). Equal distances go to the lowest cluster. Constant memory, and the same
//! rows in another order may give other centres.
//!
//! MacQueen (1967), Proceedings of the Fifth Berkeley Symposium 1, 281–297.

use super::k_means::KMeansModel;
use learnt_core::linalg::squared_distance;
use learnt_core::prelude::*;

impl KMeansModel {
    /// The model after more rows, which are those of its labels and its inertia.
    pub(super) fn with_more(&self, data: &Dataset, run: &Context) -> Result<KMeansModel> {
        const ROWS: usize = 4096;
        self.check_width(&data.x)?;
        let mut model = self.clone();
        let mut row = vec![0.0; data.x.ncols()];
        for i in 0..data.nrows() {
            if i % ROWS == 0 {
                run.checkpoint()?;
            }
            data.x.values().copy_row(i, &mut row);
            model.take_in(&row, data.weight(i));
        }
        if !model.cluster_centers.as_slice().iter().all(|value| value.is_finite()) {
            return Err(Error::numeric("the centres overflowed").hint("scale the columns"));
        }
        model.labels = model.nearest(&data.x, run)?;
        model.inertia = 0.0;
        for (i, &label) in model.labels.iter().enumerate() {
            data.x.values().copy_row(i, &mut row);
            let centre = model.cluster_centers.row(label as usize);
            model.inertia += data.weight(i) * squared_distance(&row, centre);
        }
        model.n_iter += 1;
        Ok(model)
    }

    fn take_in(&mut self, row: &[f64], weight: f64) {
        let mut nearest = (0, f64::INFINITY);
        for (k, centre) in self.cluster_centers.rows().enumerate() {
            let distance = squared_distance(row, centre);
            if distance < nearest.1 {
                nearest = (k, distance);
            }
        }
        self.weights[nearest.0] += weight;
        let share = weight / self.weights[nearest.0];
        for (c, x) in self.cluster_centers.row_mut(nearest.0).iter_mut().zip(row) {
            *c += share * (x - *c);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cluster::KMeans;
    use learnt_core::prelude::*;

    #[test]
    fn centres_of_groups_far_apart_are_the_means_of_all_their_rows() {
        let x = Matrix::from_fn(60, 2, |i, j| (i % 2) as f64 * 50.0 + ((i * 7 + j) % 11) as f64);
        let data = OwnedDataset::unsupervised(x);
        let learner = KMeans { n_clusters: 2, ..Default::default() };
        let run = Context::default();
        let mut model = learner.update_in(None, &data.view().rows(0, 10), &run).unwrap();
        for i in 10..60 {
            model = learner.update_in(Some(&model), &data.view().rows(i, i + 1), &run).unwrap();
        }
        let mut got: Vec<f64> = model.cluster_centers.column(0);
        got.sort_by(f64::total_cmp);
        for (group, got) in got.into_iter().enumerate() {
            let rows = (0..60).filter(|i| i % 2 == group);
            let mean = rows.map(|i| data.x.values()[(i, 0)]).sum::<f64>() / 30.0;
            assert!((got - mean).abs() < 1e-12, "{got} is not {mean}");
        }
        assert_eq!(model.labels.len(), 1);
    }

    #[test]
    fn another_number_of_clusters_cannot_go_on() {
        let x = Matrix::from_fn(20, 1, |i, _| (i * i) as f64);
        let data = OwnedDataset::unsupervised(x);
        let run = Context::default();
        let three = KMeans { n_clusters: 3, ..Default::default() };
        let model = three.fit(&data.view()).unwrap();
        let four = KMeans { n_clusters: 4, ..Default::default() };
        let error = four.update_in(Some(&model), &data.view(), &run).unwrap_err();
        assert!(error.message().contains("n_clusters") && error.message().contains('3'));
    }
}
