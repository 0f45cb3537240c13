//! Nearest centroid: a row belongs to the class whose centre is nearest.
//!
//! Centres are weighted means for `euclidean`, weighted medians for `manhattan`. With
//! `shrink_threshold` t, a centre's differences from the mean of all rows, in units of m_k (s_j + s₀),
//! move towards zero by t: s_j the pooled deviation within classes, s₀ the median of those, m_k² =
//! 1/n_k - 1/n. Equal distances go to the first class.
//!
//! R. Tibshirani et al. (2002), PNAS 99, 6567-6572.

use learnt_core::linalg::squared_distance;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::summary::{averaged_quantiles, median};

/// Nearest-centroid classification (Rocchio): each class is its centre.
///
/// ```
/// use learnt::{neighbors::NearestCentroid, prelude::*};
/// let x = Matrix::from_rows(&[[0.0], [2.0], [8.0], [12.0]])?;
/// let data = OwnedDataset::classification(x, &["a", "a", "b", "b"].map(Label::from));
/// let model = NearestCentroid::default().fit(&data.view())?;
/// assert_eq!(model.centroids.as_slice(), [1.0, 10.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct NearestCentroid {
    /// The distance: `euclidean` has means as centres, `manhattan` medians.
    #[param(positional, default = CentroidMetric::Euclidean)]
    pub metric: CentroidMetric,
    /// By how many deviations centres move towards the mean of all rows.
    #[param(above = 0.0)]
    pub shrink_threshold: Option<f64>,
}

/// The distance to a centre.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum CentroidMetric {
    /// The root of the sum of squared differences.
    Euclidean,
    /// The sum of absolute differences.
    Manhattan,
}

/// A fitted [`NearestCentroid`].
#[derive(Model, Clone, Debug)]
#[model(classifier, validate = validate)]
pub struct NearestCentroidModel {
    /// Centre of each class (n_classes × n_features).
    #[shape(classes, columns)]
    #[finite]
    pub centroids: Matrix,
    metric: CentroidMetric,
}

impl NearestCentroid {
    fn constraints(&self) -> Result<()> {
        match (self.metric, self.shrink_threshold) {
            (CentroidMetric::Manhattan, Some(_)) => Err(Error::parameter(
                "shrink_threshold",
                "none with the metric manhattan",
                "a number",
            )),
            _ => Ok(()),
        }
    }
}

impl Estimator for NearestCentroid {
    type Model = NearestCentroidModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("neighbors.NearestCentroid")
        .decision_scores()
        .alias(&["rocchio"])
        .weights()
        .without_probabilities()
        .scaling()
        .threads()
        .complexity(10)
        .cost("n p time, p memory a class")
        .reference("Tibshirani, Hastie, Narasimhan and Chu (2002), PNAS 99, 6567-6572")
        .exempt(&[(
            "weights_scale",
            "deviations within classes divide by the weight less the classes",
        )]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<NearestCentroidModel> {
        let (codes, classes) = data.class_target()?;
        let x = data.x.values();
        run.checkpoint()?;
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); classes.len()];
        codes.iter().enumerate().for_each(|(i, &code)| members[code as usize].push(i));
        if let Some(empty) = members.iter().position(Vec::is_empty) {
            let message = format!("the class '{}' has no rows", classes[empty]);
            return Err(Error::new(Code::TooFew, message));
        }
        let mut centroids = Matrix::zeros(classes.len(), x.ncols());
        for (k, rows) in members.iter().enumerate() {
            let weights: Vec<f64> = rows.iter().map(|&i| data.weight(i)).collect();
            for j in 0..x.ncols() {
                let values: Vec<f64> = rows.iter().map(|&i| x.at(i, j)).collect();
                centroids[(k, j)] = match self.metric {
                    CentroidMetric::Euclidean => mean(&values, &weights),
                    CentroidMetric::Manhattan => {
                        let found = averaged_quantiles(&values, Some(&weights), &[0.5]);
                        found.map_or(values[0], |found| found[0])
                    }
                };
            }
        }
        if let Some(threshold) = self.shrink_threshold {
            shrink(&mut centroids, data, codes, &members, threshold)?;
        }
        if !centroids.as_slice().iter().all(|value| value.is_finite()) {
            return Err(Error::numeric("centres overflow: the values are too large"));
        }
        Ok(NearestCentroidModel { centroids, metric: self.metric })
    }
}

/// The weighted mean, about the first value.
fn mean(values: &[f64], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let parts = values.iter().zip(weights).map(|(x, w)| w / total * (x - values[0]));
    values[0] + parts.sum::<f64>()
}

fn shrink(
    centroids: &mut Matrix,
    data: &Dataset,
    codes: &[u32],
    members: &[Vec<usize>],
    threshold: f64,
) -> Result<()> {
    let (x, classes) = (data.x.values(), centroids.nrows());
    let weights: Vec<f64> = (0..data.nrows()).map(|i| data.weight(i)).collect();
    let n: f64 = weights.iter().sum();
    if n <= classes as f64 {
        let message =
            format!("{n} rows of {classes} classes: shrinking needs more rows than classes");
        return Err(Error::new(Code::TooFew, message));
    }
    let deviation = |j: usize| {
        let squares = (0..x.nrows()).map(|i| {
            let d = x.at(i, j) - centroids[(codes[i] as usize, j)];
            weights[i] * d * d
        });
        (squares.sum::<f64>() / (n - classes as f64)).sqrt()
    };
    let deviations: Vec<f64> = (0..x.ncols()).map(deviation).collect();
    let middle = median(&deviations).unwrap_or(0.0);
    if deviations.iter().all(|s| *s == 0.0) {
        return Err(Error::numeric("all columns are constant within classes")
            .hint("leave shrink_threshold out"));
    }
    for j in 0..x.ncols() {
        let values: Vec<f64> = (0..x.nrows()).map(|i| x.at(i, j)).collect();
        let overall = mean(&values, &weights);
        for (k, rows) in members.iter().enumerate() {
            let own: f64 = rows.iter().map(|&i| weights[i]).sum();
            let unit = (1.0 / own - 1.0 / n).max(0.0).sqrt() * (deviations[j] + middle);
            let apart = centroids[(k, j)] - overall;
            let left = (apart.abs() - threshold * unit).max(0.0);
            centroids[(k, j)] = overall + left.copysign(apart);
        }
    }
    Ok(())
}

impl NearestCentroidModel {
    fn validate(&self) -> Result<()> {
        match self.centroids.nrows() > 0 && self.centroids.ncols() > 0 {
            true => Ok(()),
            false => Err(invalid("no centres")),
        }
    }
}

impl NearestCentroidModel {
    /// Distances of each row from the centre of each class.
    fn distances(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let (classes, width) = (self.centroids.nrows(), self.centroids.ncols());
        if x.ncols() != width {
            let expected = format!("{width} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        run.checkpoint()?;
        let mut out = Matrix::zeros(x.nrows(), classes);
        run.par_fill(out.as_mut_slice(), 4096 * classes, |start, piece| {
            let mut row = vec![0.0; width];
            for (i, out) in piece.chunks_exact_mut(classes).enumerate() {
                x.values().copy_row(start / classes + i, &mut row);
                for (out, centre) in out.iter_mut().zip(self.centroids.rows()) {
                    *out = match self.metric {
                        CentroidMetric::Euclidean => squared_distance(&row, centre).sqrt(),
                        CentroidMetric::Manhattan => {
                            row.iter().zip(centre).map(|(x, c)| (x - c).abs()).sum()
                        }
                    };
                }
            }
        });
        match out.as_slice().iter().all(|distance| distance.is_finite()) {
            true => Ok(out),
            false => Err(Error::numeric("distances overflow: the values are too large")
                .hint("scale the columns")),
        }
    }
}

impl Classifier for NearestCentroidModel {
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        let nearest = |row: &[f64]| {
            let better = |best: usize, k: usize| if row[k] < row[best] { k } else { best };
            (1..row.len()).fold(0, better) as u32
        };
        Ok(self.distances(x, run)?.rows().map(nearest).collect())
    }

    /// How much nearer: for two classes to the second than to the first, else the distances less than zero.
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let distances = self.distances(x, run)?;
        Ok(match distances.ncols() {
            2 => {
                Matrix::from_fn(distances.nrows(), 1, |i, _| distances[(i, 0)] - distances[(i, 1)])
            }
            classes => Matrix::from_fn(distances.nrows(), classes, |i, k| -distances[(i, k)]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_are_divided_by_the_perpendicular_bisector() {
        let x = Matrix::from_rows(&[[0.0, 0.0], [2.0, 0.0], [6.0, 2.0], [8.0, 2.0]]).unwrap();
        let data = OwnedDataset::classification(x, &["a", "a", "b", "b"].map(Label::from));
        let model = NearestCentroid::default().fit(&data.view()).unwrap();
        // Centres (1, 0) and (7, 2): the bisector is 3 x + y = 13.
        let x =
            Matrix::from_fn(
                200,
                2,
                |i, j| if j == 0 { i as f64 / 20.0 } else { (i % 13) as f64 - 6.0 },
            );
        let codes = model.classify(&Table::unnamed(x.clone()).frame()).unwrap();
        for (row, code) in x.rows().zip(codes) {
            let side = 3.0 * row[0] + row[1] - 13.0;
            assert!(side.abs() < 1e-9 || (side > 0.0) == (code == 1), "{row:?} {code}");
        }
    }

    #[test]
    fn a_tie_goes_to_the_first_class_and_medians_resist_outliers() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 100.0, 4.0, 5.0, 6.0]);
        let classes = ["a", "a", "a", "b", "b", "b"].map(Label::from);
        let data = OwnedDataset::classification(x, &classes);
        let manhattan = NearestCentroid { metric: CentroidMetric::Manhattan, ..Default::default() };
        let model = manhattan.fit(&data.view()).unwrap();
        assert_eq!(model.centroids.as_slice(), [1.0, 5.0]);
        let query = Table::unnamed(Matrix::column_vector(vec![3.0]));
        assert_eq!(model.classify(&query.frame()).unwrap(), [0]);
    }

    #[test]
    fn a_large_threshold_moves_all_centres_to_the_mean() {
        let x = Matrix::from_fn(30, 2, |i, j| (i % 3) as f64 + ((i * (3 + j)) as f64).sin());
        let classes: Vec<Label> = (0..30).map(|i| ["a", "b", "c"][i % 3].into()).collect();
        let data = OwnedDataset::classification(x, &classes);
        let learner = NearestCentroid { shrink_threshold: Some(1e6), ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        for j in 0..2 {
            let mean = data.x.values().column(j).iter().sum::<f64>() / 30.0;
            assert!((0..3).all(|k| (model.centroids[(k, j)] - mean).abs() < 1e-12));
        }
    }
}
