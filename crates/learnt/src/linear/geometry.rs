//! Hyperplanes and linear machines: what the weights of a linear classifier mean in space.
//!
//! A hyperplane is wᵀx + b = 0, the signed distance of x from it (wᵀx + b)/‖w‖. A linear machine has
//! a score w_kᵀx + b_k for each class and chooses the largest, the first of equals; the boundary
//! between classes i and j has normal w_i - w_j.

use learnt_core::estimator::first_maximum;
use learnt_core::linalg::{dot, norm};
use learnt_core::prelude::*;

/// The class of a score that lies exactly on the boundary.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBoundary {
    /// The first class.
    First,
    /// The second class.
    Second,
}

impl OnBoundary {
    /// The class of a score: 1 above the threshold, 0 below, as chosen on it.
    ///
    /// ```
    /// use learnt::linear::OnBoundary;
    /// assert_eq!([0.49, 0.5, 0.51].map(|fit| OnBoundary::First.class(fit, 0.5)), [0, 0, 1]);
    /// assert_eq!(OnBoundary::Second.class(0.5, 0.5), 1);
    /// ```
    pub fn class(self, score: f64, threshold: f64) -> u32 {
        u32::from(score > threshold || (score == threshold && self == OnBoundary::Second))
    }
}

/// wᵀx + b = 0.
///
/// ```
/// use learnt::{linear::{Hyperplane, OnBoundary}, prelude::*};
/// let plane = Hyperplane::new(vec![3.0, 4.0], -5.0)?;
/// assert_eq!(plane.distance(&[3.0, 4.0])?, 4.0);
/// assert_eq!(plane.class(&[1.0, 0.5], OnBoundary::Second)?, 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperplane {
    normal: Vec<f64>,
    offset: f64,
}

impl Hyperplane {
    /// From the normal w and the intercept b; a normal of zeros is an error.
    pub fn new(normal: Vec<f64>, intercept: f64) -> Result<Hyperplane> {
        let length = norm(&normal);
        match length > 0.0 && length.is_finite() && intercept.is_finite() {
            true => Ok(Hyperplane { normal, offset: intercept }),
            false => Err(Error::numeric(format!(
                "a hyperplane needs a finite normal other than zero, and this one has length {length}"
            ))),
        }
    }

    /// The rule "score against threshold" wᵀx = t as a hyperplane.
    pub fn with_threshold(normal: Vec<f64>, threshold: f64) -> Result<Hyperplane> {
        Hyperplane::new(normal, -threshold)
    }

    /// The normal w.
    pub fn normal(&self) -> &[f64] {
        &self.normal
    }

    /// The intercept b.
    pub fn intercept(&self) -> f64 {
        self.offset
    }

    /// wᵀx + b.
    pub fn score(&self, x: &[f64]) -> Result<f64> {
        check_width(x, self.normal.len())?;
        Ok(dot(&self.normal, x) + self.offset)
    }

    /// The distance of a point, positive on the side of the normal.
    pub fn distance(&self, x: &[f64]) -> Result<f64> {
        Ok(self.score(x)? / norm(&self.normal))
    }

    /// The class of a point: 1 on the side of the normal, 0 on the other.
    pub fn class(&self, x: &[f64], on_boundary: OnBoundary) -> Result<u32> {
        Ok(on_boundary.class(self.score(x)?, 0.0))
    }

    /// The point of the hyperplane nearest to x.
    pub fn foot(&self, x: &[f64]) -> Result<Vec<f64>> {
        let (distance, length) = (self.distance(x)?, norm(&self.normal));
        Ok(x.iter().zip(&self.normal).map(|(x, w)| x - distance * (w / length)).collect())
    }
}

/// A score for each class.
///
/// ```
/// use learnt::{linear::LinearMachine, prelude::*};
/// let weights = Matrix::from_rows(&[[1.0, 2.0], [4.0, -2.0]])?;
/// let machine = LinearMachine::new(weights, vec![0.0, -5.0])?;
/// assert_eq!(machine.scores(&[1.0, 1.0])?, [3.0, -3.0]);
/// assert!((machine.distance(&[1.0, 1.0], 0, 1)? - 1.2).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinearMachine {
    weights: Matrix,
    intercepts: Vec<f64>,
}

impl LinearMachine {
    /// From one row of weights and one intercept for each class.
    pub fn new(weights: Matrix, intercepts: Vec<f64>) -> Result<LinearMachine> {
        if weights.nrows() != intercepts.len() || intercepts.len() < 2 {
            let expected = format!("{} intercepts, at least 2", weights.nrows());
            return Err(Error::shape("linear machine", expected, intercepts.len()));
        }
        Ok(LinearMachine { weights, intercepts })
    }

    /// From `coef` and `intercept` of a fitted linear classifier. One row is the score of the
    /// second of two classes; the first has the opposite one.
    pub fn of_classifier(coef: &Matrix, intercept: &[f64]) -> Result<LinearMachine> {
        match (coef.nrows(), intercept) {
            (1, [intercept]) => {
                let half = |k: usize, value: f64| if k == 0 { -0.5 * value } else { 0.5 * value };
                let weights = Matrix::from_fn(2, coef.ncols(), |k, j| half(k, coef[(0, j)]));
                LinearMachine::new(weights, vec![half(0, *intercept), half(1, *intercept)])
            }
            _ => LinearMachine::new(coef.clone(), intercept.to_vec()),
        }
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.intercepts.len()
    }

    /// The scores of a point.
    pub fn scores(&self, x: &[f64]) -> Result<Vec<f64>> {
        check_width(x, self.weights.ncols())?;
        Ok(self.weights.rows().zip(&self.intercepts).map(|(w, b)| dot(w, x) + b).collect())
    }

    /// The class of the largest score, the first of equals.
    pub fn class(&self, x: &[f64]) -> Result<u32> {
        Ok(first_maximum(&self.scores(x)?))
    }

    /// The boundary between two classes, with class `i` on the side of its normal; an error where
    /// both have the same weights.
    pub fn boundary(&self, i: usize, j: usize) -> Result<Hyperplane> {
        if i >= self.n_classes() || j >= self.n_classes() {
            let expected = format!("classes below {}", self.n_classes());
            return Err(Error::parameter("boundary", expected, format!("{i} and {j}")));
        }
        let normal = self.weights.row(i).iter().zip(self.weights.row(j)).map(|(a, b)| a - b);
        Hyperplane::new(normal.collect(), self.intercepts[i] - self.intercepts[j])
    }

    /// The distance of a point from the boundary between two classes, positive on the side of `i`.
    pub fn distance(&self, x: &[f64], i: usize, j: usize) -> Result<f64> {
        self.boundary(i, j)?.distance(x)
    }
}

fn check_width(x: &[f64], width: usize) -> Result<()> {
    match x.len() == width {
        true => Ok(()),
        false => Err(Error::shape("point", format!("{width} numbers"), x.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normal_of_zeros_is_refused() {
        assert!(Hyperplane::new(vec![0.0, 0.0], 1.0).is_err());
        let twins = Matrix::from_rows(&[[1.0, 2.0], [1.0, 2.0]]).unwrap();
        let machine = LinearMachine::new(twins, vec![0.0, 1.0]).unwrap();
        let error = machine.distance(&[0.0, 0.0], 0, 1).unwrap_err();
        assert!(error.message().contains("normal"), "{error}");
        assert!(machine.boundary(0, 2).is_err());
    }

    #[test]
    fn a_score_equal_to_the_threshold_follows_the_option() {
        let credit = Hyperplane::with_threshold(vec![2.0, 1.0], 8.0).unwrap();
        assert_eq!(credit.class(&[3.0, 2.0], OnBoundary::Second).unwrap(), 1);
        assert_eq!(credit.class(&[3.0, 2.0], OnBoundary::First).unwrap(), 0);
        assert_eq!(credit.class(&[3.0, 2.5], OnBoundary::First).unwrap(), 1);
    }

    #[test]
    fn equal_scores_go_to_the_lowest_class() {
        let weights = Matrix::from_rows(&[[0.0], [1.0], [1.0]]).unwrap();
        let machine = LinearMachine::new(weights, vec![0.0; 3]).unwrap();
        assert_eq!(machine.class(&[2.0]).unwrap(), 1);
        assert_eq!(machine.class(&[0.0]).unwrap(), 0);
    }

    #[test]
    fn the_foot_lies_on_the_plane() {
        let plane = Hyperplane::new(vec![1.0, -2.0, 2.0], 3.0).unwrap();
        let foot = plane.foot(&[4.0, 1.0, -1.0]).unwrap();
        assert!(plane.score(&foot).unwrap().abs() < 1e-12);
        assert!(plane.score(&[1.0]).is_err());
    }

    #[test]
    fn a_fitted_classifier_is_a_linear_machine() {
        let x = Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 3.0]]).unwrap();
        let data = OwnedDataset::classification(x, &[0, 0, 1, 1].map(Label::Int));
        let model = crate::linear::LogisticRegression::default().fit(&data.view()).unwrap();
        let machine = LinearMachine::of_classifier(&model.coef, &model.intercept).unwrap();
        for (i, &expected) in model.classify(&data.x.frame()).unwrap().iter().enumerate() {
            assert_eq!(machine.class(data.x.values().row(i)).unwrap(), expected);
        }
        let plane = Hyperplane::new(model.coef.row(0).to_vec(), model.intercept[0]).unwrap();
        let (a, b) = (plane.distance(&[1.0, 1.0]), machine.distance(&[1.0, 1.0], 1, 0));
        assert!((a.unwrap() - b.unwrap()).abs() < 1e-12);
    }
}
