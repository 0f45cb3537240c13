//! Multi-centroid classification: some prototypes a class, and the class of the nearest decides.
//!
//! The prototypes of a class are the centres of k-means over its rows, at most one a distinct row.
//! Equal distances go to the prototype of the first class. With one prototype it is the nearest
//! centroid.
//!
//! T. Hastie, R. Tibshirani and J. Friedman (2009), section 13.2.1.

use super::{KMeans, Restarts};
use learnt_core::linalg::{Nearest, squared_distance};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Nearest of several centroids: every class is the centres that k-means finds in it.
///
/// ```
/// use learnt::{cluster::MultiCentroidClassifier, prelude::*};
/// let x = Matrix::column_vector(vec![0.0, 1.0, 9.0, 10.0, 5.0, 5.5]);
/// let data = OwnedDataset::classification(x, &["a", "a", "a", "a", "b", "b"].map(Label::from));
/// let learner = MultiCentroidClassifier { n_prototypes: 2, ..Default::default() };
/// let model = learner.fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 0, 0, 1, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct MultiCentroidClassifier {
    /// Number of prototypes of each class.
    #[param(positional, default = 3, range = 1.., search = set(1, 2, 3, 5, 8))]
    pub n_prototypes: usize,
    /// Number of starts of k-means.
    #[param(default = 10, range = 1..)]
    pub n_init: usize,
}

/// A fitted [`MultiCentroidClassifier`].
#[derive(Model, Clone, Debug)]
#[model(classifier, validate = validate)]
pub struct MultiCentroidClassifierModel {
    /// The prototypes, class by class (prototypes × n_features).
    #[shape(prototypes, columns)]
    #[finite]
    pub prototypes: Matrix,
    /// Class of each prototype, as a code.
    #[shape(prototypes)]
    #[below(classes)]
    pub prototype_classes: Vec<u32>,
    #[shape(classes)]
    class_weights: Vec<f64>,
}

impl Estimator for MultiCentroidClassifier {
    type Model = MultiCentroidClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("neighbors.MultiCentroidClassifier")
        .alias(&["multi-centroid"])
        .weights()
        .decision_scores()
        .without_probabilities()
        .randomness()
        .scaling()
        .threads()
        .complexity(20)
        .cost("n p k time an iteration of k-means; p memory a prototype")
        .reference("Hastie, Tibshirani and Friedman (2009), section 13.2.1")
        .exempt(&[
            (
                "weights_repeat",
                "first centres are drawn by row, so a row twice draws others than a row of weight two",
            ),
            ("seeds_differ", "ten starts find the same centres where there are few rows"),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<MultiCentroidClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let (mut prototypes, mut owners) = (Vec::new(), Vec::new());
        let mut class_weights = vec![0.0; classes.len()];
        for code in 0..classes.len() {
            let rows: Vec<usize> =
                (0..codes.len()).filter(|&i| codes[i] as usize == code).collect();
            if rows.is_empty() {
                let message = format!("the class '{}' has no rows", classes[code]);
                return Err(Error::new(Code::TooFew, message));
            }
            class_weights[code] = rows.iter().map(|&i| data.weight(i)).sum();
            let own = Dataset { y: None, ..*data }.gather(&rows);
            let learner = KMeans {
                n_clusters: self.n_prototypes.min(distinct_rows(own.x.values())),
                n_init: Restarts::Count(self.n_init),
                ..KMeans::default()
            };
            let inner = run.child(code as u64);
            let model = learner.fit_in(&own.view(), &inner.untraced())?;
            for centre in model.cluster_centers.rows() {
                prototypes.push(centre.to_vec());
                owners.push(code as u32);
            }
        }
        Ok(MultiCentroidClassifierModel {
            prototypes: Matrix::from_rows(&prototypes)?,
            prototype_classes: owners,
            class_weights,
        })
    }
}

/// Number of distinct rows.
pub fn distinct_rows(x: &Matrix) -> usize {
    let mut rows: Vec<&[f64]> = x.rows().collect();
    rows.sort_by(|a, b| {
        let pairs = a.iter().zip(*b).map(|(a, b)| a.total_cmp(b));
        pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    rows.dedup();
    rows.len()
}

impl MultiCentroidClassifierModel {
    fn validate(&self) -> Result<()> {
        let ordered = self.prototype_classes.windows(2).all(|pair| pair[0] <= pair[1]);
        match ordered && self.prototypes.nrows() > 0 && self.prototypes.ncols() > 0 {
            true => Ok(()),
            false => Err(invalid("prototypes that are none")),
        }
    }

    fn check_width(&self, x: &Frame) -> Result<()> {
        let width = self.prototypes.ncols();
        match x.ncols() == width {
            true => Ok(()),
            false => {
                let expected = format!("{width} columns as in training");
                Err(Error::shape("x", expected, format!("{} columns", x.ncols())))
            }
        }
    }
}

/// Scores from the distance to each class: of two classes the difference, else the distances less than
/// zero.
fn nearer(distances: &Matrix) -> Matrix {
    match distances.ncols() {
        2 => Matrix::from_fn(distances.nrows(), 1, |i, _| distances[(i, 0)] - distances[(i, 1)]),
        classes => Matrix::from_fn(distances.nrows(), classes, |i, k| -distances[(i, k)]),
    }
}

impl Classifier for MultiCentroidClassifierModel {
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        self.check_width(x)?;
        run.checkpoint()?;
        let nearest = Nearest::new(&self.prototypes);
        let mut out = vec![0; x.nrows()];
        run.par_fill(&mut out, 4096, |first, piece| {
            nearest.of(x.values().rows(first, first + piece.len()), piece);
        });
        Ok(out.into_iter().map(|prototype| self.prototype_classes[prototype as usize]).collect())
    }

    /// How much nearer: for two classes to the second than to the first, else the distances less than zero.
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let (classes, width) = (self.class_weights.len(), self.prototypes.ncols());
        self.check_width(x)?;
        run.checkpoint()?;
        let mut distances = Matrix::from_fn(x.nrows(), classes, |_, _| f64::INFINITY);
        run.par_fill(distances.as_mut_slice(), 4096 * classes, |start, piece| {
            let mut row = vec![0.0; width];
            for (i, out) in piece.chunks_exact_mut(classes).enumerate() {
                x.values().copy_row(start / classes + i, &mut row);
                for (prototype, &code) in self.prototypes.rows().zip(&self.prototype_classes) {
                    let distance = squared_distance(&row, prototype).sqrt();
                    out[code as usize] = out[code as usize].min(distance);
                }
            }
        });
        if !distances.as_slice().iter().all(|distance| distance.is_finite()) {
            return Err(Error::numeric("distances overflow: the values are too large")
                .hint("scale the columns"));
        }
        Ok(nearer(&distances))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::NearestCentroid;

    fn two_modes() -> OwnedDataset {
        let x = Matrix::from_fn(90, 2, |i, j| {
            let middle = [[-6.0, 0.0], [0.0, 0.0], [6.0, 0.0]][i % 3][j];
            middle + ((i * (7 + 3 * j)) as f64 * 0.7).sin()
        });
        let classes: Vec<Label> =
            (0..90).map(|i| if i % 3 == 1 { "middle" } else { "outside" }.into()).collect();
        OwnedDataset::classification(x, &classes)
    }

    #[test]
    fn a_class_of_two_modes_is_told_where_one_centroid_fails() {
        let data = two_modes();
        let view = data.view();
        let (codes, _) = view.class_target().unwrap();
        let errors = |said: Vec<u32>| said.iter().zip(codes).filter(|(a, b)| a != b).count();
        let learner = MultiCentroidClassifier { n_prototypes: 2, ..Default::default() };
        let model = learner.fit(&view).unwrap();
        let several = model.classify(&view.x).unwrap();
        let scores = model.decision_scores_in(&view.x, &Context::default()).unwrap();
        assert!(scores.rows().zip(&several).all(|(score, &code)| (score[0] >= 0.0) == (code == 1)));
        let one = NearestCentroid::default().fit(&view).unwrap().classify(&view.x).unwrap();
        assert_eq!(errors(several), 0);
        assert!(errors(one) > 20);
    }

    #[test]
    fn one_prototype_is_the_nearest_centroid_and_few_rows_have_fewer() {
        let data = two_modes();
        let one = MultiCentroidClassifier { n_prototypes: 1, ..Default::default() };
        let model = one.fit(&data.view()).unwrap();
        let centroid = NearestCentroid::default().fit(&data.view()).unwrap();
        for (a, b) in model.prototypes.as_slice().iter().zip(centroid.centroids.as_slice()) {
            assert!((a - b).abs() < 1e-12);
        }
        let x = Matrix::column_vector(vec![1.0, 1.0, 5.0, 6.0]);
        let data = OwnedDataset::classification(x, &["a", "a", "b", "b"].map(Label::from));
        let model = MultiCentroidClassifier::default().fit(&data.view()).unwrap();
        assert_eq!(model.prototype_classes, [0, 1, 1]);
    }
}
