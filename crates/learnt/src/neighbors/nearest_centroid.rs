//! Nearest centroid: a row belongs to the class whose centre is nearest.
//!
//! Centres are weighted means for `euclidean`, weighted medians for `manhattan`. With
//! `shrink_threshold` t, a centre's differences from the mean of all rows, in units of m_k (s_j + s₀),
//! move towards zero by t: s_j the pooled deviation within classes, s₀ the median of those, m_k² =
//! 1/n_k - 1/n. With equal priors a row gets the class of its nearest centre, the first of equals. With others, and
//! for scores and probabilities, a class k scores 2 ln π_k - Σ (x_j - c_kj)² / s_j² (`euclidean` alone), and the
//! probabilities are exp(score) as shares of their sum, as scikit-learn has them; columns with s_j = 0 count as they are.
//!
//! R. Tibshirani et al. (2002), PNAS 99, 6567-6572.

use super::class_tiles::{Sums, Tiles};
use learnt_core::estimator::Offers;
use learnt_core::linalg::Distances;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::special::softmax_in_place;
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
pub struct NearestCentroid {
    /// The distance: `euclidean` has means as centres, `manhattan` medians.
    #[param(positional, default = CentroidMetric::Euclidean)]
    pub metric: CentroidMetric,
    /// By how many deviations centres move towards the mean of all rows.
    #[param(above = 0.0)]
    pub shrink_threshold: Option<f64>,
    /// The probabilities of the classes before a row is seen.
    #[param(default = CentroidPriors::Uniform)]
    pub priors: CentroidPriors,
}

/// The probabilities of the classes before a row is seen.
#[derive(Choice, Clone, Debug, PartialEq)]
pub enum CentroidPriors {
    /// The same for all.
    Uniform,
    /// Their shares of the training rows.
    Empirical,
    /// These, in the order of the classes.
    Given(Vec<f64>),
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
    /// Probability of each class before a row is seen.
    #[model(later)]
    #[shape(classes)]
    pub class_prior: Option<Vec<f64>>,
    /// Pooled standard deviation of each column within classes.
    #[model(later)]
    #[shape(columns)]
    #[finite]
    pub within_class_std_dev: Option<Vec<f64>>,
    /// How far each centre is from the mean of all rows, in units of m_k (s_j + s₀), after shrinking
    /// (n_classes × n_features).
    #[model(later)]
    #[shape(classes, columns)]
    #[finite]
    pub deviations: Option<Matrix>,
    metric: CentroidMetric,
}

impl Estimator for NearestCentroid {
    type Model = NearestCentroidModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("neighbors.NearestCentroid")
        .decision_scores()
        .alias(&["rocchio"])
        .weights()
        .without_probabilities()
        .some_probabilities()
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
        let weights = Weights::new(data);
        let class_weights: Vec<f64> =
            members.iter().map(|rows| rows.iter().map(|&i| weights.shares[i]).sum()).collect();
        let rows = Tiles { x, codes, members: &members, shares: &weights.shares };
        let sums = rows.sums(run)?;
        let mut centroids = match self.metric {
            CentroidMetric::Euclidean => sums.centres(&class_weights),
            CentroidMetric::Manhattan => medians(data, &members, run)?,
        };
        let class_prior = self.priors.of(&members, data, run)?;
        let spread = Spread::new(&centroids, &rows, sums, weights.total, &class_weights, run)?;
        let deviations = spread.apply(&mut centroids, self.shrink_threshold)?;
        if !centroids.as_slice().iter().all(|value| value.is_finite()) {
            return Err(Error::numeric("centres overflow: the values are too large"));
        }
        Ok(NearestCentroidModel {
            centroids,
            class_prior: Some(class_prior),
            within_class_std_dev: Some(spread.within),
            deviations: Some(deviations),
            metric: self.metric,
        })
    }

    fn offers(&self) -> Offers {
        let probabilities = self.metric == CentroidMetric::Euclidean;
        Offers { probabilities, ..Self::ABOUT.offers }
    }
}

impl CentroidPriors {
    /// One for each class, that sum to 1.
    fn of(&self, members: &[Vec<usize>], data: &Dataset, run: &Context) -> Result<Vec<f64>> {
        let classes = members.len();
        let mut priors = match self {
            CentroidPriors::Uniform => return Ok(vec![1.0 / classes as f64; classes]),
            CentroidPriors::Empirical => {
                let weights = Weights::new(data);
                let own = |rows: &Vec<usize>| rows.iter().map(|&i| weights.shares[i]).sum();
                return Ok(members.iter().map(own).collect());
            }
            CentroidPriors::Given(priors) => priors.clone(),
        };
        let sum: f64 = priors.iter().sum();
        if priors.iter().any(|&prior| prior < 0.0) {
            return Err(Error::new(Code::Parameter, "priors must be non-negative"));
        }
        if priors.len() != classes || !sum.is_finite() || sum <= 0.0 {
            let expected = format!("{classes} numbers, one for each class");
            let got = format!("{} that sum to {sum}", priors.len());
            return Err(Error::parameter("priors", expected, got));
        }
        if (sum - 1.0).abs() > 1e-5 {
            let message = "The priors do not sum to 1. Normalizing such that it sums to one.";
            run.warn(Code::Parameter, message);
        }
        priors.iter_mut().for_each(|prior| *prior /= sum);
        Ok(priors)
    }
}

/// Weights as shares of their sum, however large they are, and that sum.
struct Weights {
    shares: Vec<f64>,
    total: f64,
}

impl Weights {
    fn new(data: &Dataset) -> Weights {
        let largest = (0..data.nrows()).map(|i| data.weight(i)).fold(0.0, f64::max);
        let mut shares: Vec<f64> = (0..data.nrows()).map(|i| data.weight(i) / largest).collect();
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        Weights { shares, total: sum * largest }
    }
}

/// How rows lie about the centres of their classes.
struct Spread {
    /// Pooled deviation of each column within classes.
    within: Vec<f64>,
    /// Mean of each column over all rows.
    overall: Vec<f64>,
    /// m_k of each class.
    units: Vec<f64>,
    /// Rows, by weight, and classes.
    rows: f64,
}

impl Spread {
    fn new(
        centroids: &Matrix,
        rows: &Tiles,
        sums: Sums,
        total: f64,
        class_weights: &[f64],
        run: &Context,
    ) -> Result<Spread> {
        let classes = centroids.nrows() as f64;
        if !sums.varies {
            let message = "All features have zero variance: every column is constant";
            return Err(Error::numeric(message).hint("nothing tells the classes apart"));
        }
        let (largest, squares) = rows.squares(centroids, run)?;
        let deviation = |(largest, squares): (f64, f64)| match largest > 0.0 && total > classes {
            true => largest * (squares / (1.0 - classes / total)).sqrt(),
            false => 0.0,
        };
        let within: Vec<f64> = largest.into_iter().zip(squares).map(deviation).collect();
        if !within.iter().all(|s| s.is_finite()) {
            return Err(Error::numeric("deviations overflow: the values are too large")
                .hint("scale the columns"));
        }
        let unit = |share: &f64| ((1.0 / share - 1.0) / total).max(0.0).sqrt();
        let units = class_weights.iter().map(unit).collect();
        Ok(Spread { within, overall: sums.overall(), units, rows: total })
    }

    /// The distances of the centres from the mean of all rows, in their units, and with a threshold the centres that
    /// these leave.
    fn apply(&self, centroids: &mut Matrix, threshold: Option<f64>) -> Result<Matrix> {
        let (classes, columns) = (centroids.nrows(), centroids.ncols());
        let middle = median(&self.within).unwrap_or(0.0);
        if threshold.is_some() {
            if self.rows <= classes as f64 {
                let message = format!(
                    "{} rows of {classes} classes: shrinking needs more rows than classes",
                    self.rows
                );
                return Err(Error::new(Code::TooFew, message));
            }
            if self.within.iter().all(|s| *s == 0.0) {
                return Err(Error::numeric("all columns are constant within classes")
                    .hint("leave shrink_threshold out"));
            }
        }
        let mut deviations = Matrix::zeros(classes, columns);
        for j in 0..columns {
            for k in 0..classes {
                let unit = self.units[k] * (self.within[j] + middle);
                let apart = centroids[(k, j)] - self.overall[j];
                let left = match threshold {
                    Some(threshold) => (apart.abs() - threshold * unit).max(0.0).copysign(apart),
                    None => apart,
                };
                // A class that is all rows, or columns that never vary within classes, have no unit.
                let deviation = left / unit;
                deviations[(k, j)] = if deviation.is_finite() { deviation } else { 0.0 };
                if threshold.is_some() {
                    centroids[(k, j)] = self.overall[j] + left;
                }
            }
        }
        Ok(deviations)
    }
}

/// The weighted median of each column in each class.
fn medians(data: &Dataset, members: &[Vec<usize>], run: &Context) -> Result<Matrix> {
    let x = data.x.values();
    let columns = run.par_map(x.ncols(), |j| {
        let median = |rows: &Vec<usize>| {
            let values: Vec<f64> = rows.iter().map(|&i| x.at(i, j)).collect();
            let weights: Vec<f64> = rows.iter().map(|&i| data.weight(i)).collect();
            let found = averaged_quantiles(&values, Some(&weights), &[0.5]);
            found.map_or(values[0], |found| found[0])
        };
        members.iter().map(median).collect::<Vec<f64>>()
    });
    run.checkpoint()?;
    Ok(Matrix::from_fn(members.len(), x.ncols(), |k, j| columns[j][k]))
}

impl NearestCentroidModel {
    fn validate(&self) -> Result<()> {
        if self.centroids.nrows() == 0 || self.centroids.ncols() == 0 {
            return Err(invalid("no centres"));
        }
        let good = |values: &Option<Vec<f64>>| values.iter().flatten().all(|&value| value >= 0.0);
        match good(&self.class_prior) && good(&self.within_class_std_dev) {
            true => Ok(()),
            false => Err(invalid("priors or deviations")),
        }
    }
}

impl NearestCentroidModel {
    /// Distances of each row from the centre of each class.
    fn distances(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        match self.metric {
            CentroidMetric::Euclidean => self.euclidean_distances(x, run),
            CentroidMetric::Manhattan => self.measured(x, run, |row, centre| {
                row.iter().zip(centre).map(|(x, c)| (x - c).abs()).sum()
            }),
        }
    }

    fn euclidean_distances(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let (classes, panel) = (self.centroids.nrows(), Distances::new(&self.centroids));
        self.by_blocks(x, run, |first, out| {
            panel.of(x.values().rows(first, first + out.len() / classes), out);
            out.iter_mut().for_each(|square| *square = square.sqrt());
        })
    }

    /// A number for each row and each centre.
    fn measured(
        &self,
        x: &Frame,
        run: &Context,
        measure: impl Fn(&[f64], &[f64]) -> f64 + Sync,
    ) -> Result<Matrix> {
        let (classes, width) = (self.centroids.nrows(), self.centroids.ncols());
        self.by_blocks(x, run, |first, out| {
            let mut row = vec![0.0; width];
            for (i, out) in out.chunks_exact_mut(classes).enumerate() {
                x.values().copy_row(first + i, &mut row);
                for (out, centre) in out.iter_mut().zip(self.centroids.rows()) {
                    *out = measure(&row, centre);
                }
            }
        })
    }

    /// Numbers of all rows, filled by the first row and the numbers of a block.
    fn by_blocks(
        &self,
        x: &Frame,
        run: &Context,
        fill: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<Matrix> {
        let (classes, width) = (self.centroids.nrows(), self.centroids.ncols());
        if x.ncols() != width {
            let expected = format!("{width} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        run.checkpoint()?;
        run.claim_table(x.nrows(), classes, "the distances from the centres")?;
        let mut out = Matrix::zeros(x.nrows(), classes);
        // About as many numbers read in each, so that wide tables have enough blocks too.
        let rows = (1 << 17) / width.max(classes) + 64;
        run.par_fill(out.as_mut_slice(), rows * classes, |start, piece| {
            fill(start / classes, piece);
        });
        match out.as_slice().iter().all(|number| number.is_finite()) {
            true => Ok(out),
            false => Err(Error::numeric("distances overflow: the values are too large")
                .hint("scale the columns")),
        }
    }
}

impl NearestCentroidModel {
    /// Whether scores of classes are known: earlier releases did not keep what they need.
    fn has_scores(&self) -> bool {
        self.metric == CentroidMetric::Euclidean && self.class_prior.is_some()
    }

    /// Whether all classes have the same prior: then the nearest centre decides.
    fn priors_are_equal(&self) -> bool {
        let classes = self.centroids.nrows() as f64;
        self.class_prior.iter().flatten().all(|prior| (prior * classes - 1.0).abs() < 1e-8)
    }

    /// 2 ln π_k less the squared distance from each centre in units of the deviations within classes.
    fn scores(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let known = self.within_class_std_dev.as_ref().zip(self.class_prior.as_ref());
        let Some((within, class_prior)) = known.filter(|_| self.has_scores()) else {
            let message =
                "the metric manhattan, and models of earlier releases, give no probabilities";
            return Err(Error::unsupported(message));
        };
        let unit = |s: &f64| if *s > 0.0 { *s } else { 1.0 };
        let units: Vec<f64> = within.iter().map(unit).collect();
        // A class that cannot be still has a finite score.
        let log = |prior: &f64| 2.0 * prior.max(f64::MIN_POSITIVE).ln();
        let priors: Vec<f64> = class_prior.iter().map(log).collect();
        let mut out = self.measured(x, run, |row, centre| {
            let apart = row.iter().zip(centre).zip(&units).map(|((x, c), s)| ((x - c) / s).powi(2));
            apart.sum()
        })?;
        for i in 0..out.nrows() {
            let row = out.row_mut(i);
            row.iter_mut().zip(&priors).for_each(|(score, prior)| *score = prior - *score);
        }
        Ok(out)
    }
}

impl Classifier for NearestCentroidModel {
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        let least = |row: &[f64]| {
            let better = |best: usize, k: usize| if row[k] < row[best] { k } else { best };
            (1..row.len()).fold(0, better) as u32
        };
        if self.priors_are_equal() {
            return Ok(self.distances(x, run)?.rows().map(least).collect());
        }
        let mut scores = self.scores(x, run)?;
        scores.as_mut_slice().iter_mut().for_each(|score| *score = -*score);
        Ok(scores.rows().map(least).collect())
    }

    /// The score of the second of two classes less that of the first, else the scores of all. With the metric
    /// manhattan, how much nearer each centre is.
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let mut scores = match self.has_scores() {
            true => self.scores(x, run)?,
            false => self.distances(x, run)?,
        };
        if !self.has_scores() {
            scores.as_mut_slice().iter_mut().for_each(|distance| *distance = -*distance);
        }
        Ok(match scores.ncols() {
            2 => Matrix::from_fn(scores.nrows(), 1, |i, _| scores[(i, 1)] - scores[(i, 0)]),
            _ => scores,
        })
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let mut scores = self.scores(x, run)?;
        (0..scores.nrows()).for_each(|i| softmax_in_place(scores.row_mut(i)));
        Ok(scores)
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

    /// Numbers of scikit-learn 1.9.
    #[test]
    fn scores_priors_and_deviations_are_the_references() {
        let rows = [[-2.0, -1.0], [-1.0, -1.0], [-1.0, -2.0], [1.0, 1.0], [1.0, 2.0], [2.0, 1.0]];
        let labels = ["a", "a", "a", "b", "b", "b"].map(Label::from);
        let data = OwnedDataset::classification(Matrix::from_rows(&rows).unwrap(), &labels);
        let queries = Matrix::from_rows(&[[-1.0, -1.0], [2.0, 2.0], [3.0, 2.0]]).unwrap();
        let queries = Table::unnamed(queries);
        let learner = NearestCentroid::default();
        let model = learner.fit(&data.view()).unwrap();
        let run = Context::default();
        let scores = model.decision_scores_in(&queries.frame(), &run).unwrap();
        for (score, expected) in scores.as_slice().iter().zip([-32.0, 64.0, 80.0]) {
            assert!((score - expected).abs() < 1e-9, "{score} {expected}");
        }
        let chances = model.probabilities(&queries.frame()).unwrap();
        assert!((chances[(0, 1)] / 1.266416554909e-14 - 1.0).abs() < 1e-9);
        assert!((model.within_class_std_dev.unwrap()[0] - 1.0 / 3.0_f64.sqrt()).abs() < 1e-12);
        let given = |priors: &[f64]| {
            let priors = CentroidPriors::Given(priors.to_vec());
            NearestCentroid { priors, ..learner.clone() }.fit(&data.view())
        };
        assert_eq!(given(&[2.0, 4.0]).unwrap().class_prior.unwrap(), [2.0 / 6.0, 4.0 / 6.0]);
        assert!(
            given(&[-2.0, 4.0]).is_err() && given(&[1.0]).is_err() && given(&[0.0, 0.0]).is_err()
        );
        let model = given(&[0.0, 1.0]);
        assert!(model.is_ok());
        let one = given(&[1e-30, 1.0]).unwrap();
        let near_first = Table::unnamed(Matrix::from_rows(&[[-0.2, -0.2]]).unwrap());
        assert_eq!(one.classify(&near_first.frame()).unwrap(), [1]);
        assert_eq!(learner.fit(&data.view()).unwrap().classify(&near_first.frame()).unwrap(), [0]);
    }

    #[test]
    fn the_largest_weights_are_the_same_as_none() {
        let x = Matrix::from_fn(12, 2, |i, j| ((i * (3 + j)) as f64).sin() + (i % 2) as f64);
        let labels: Vec<Label> = (0..12).map(|i| ["a", "b"][i % 2].into()).collect();
        let plain = OwnedDataset::classification(x, &labels);
        let heavy = OwnedDataset { weights: Some(vec![1e308; 12]), ..plain.clone() };
        let fit = |data: &OwnedDataset| NearestCentroid::default().fit(&data.view()).unwrap();
        let (plain, heavy) = (fit(&plain).centroids, fit(&heavy).centroids);
        for (a, b) in plain.as_slice().iter().zip(heavy.as_slice()) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}
