//! Dichotomies and shattering: the labellings that a class of hypotheses gives on given points.
//!
//! Points are shattered if all 2^N labellings occur. A class of real functions g becomes one of
//! labellings through I(g(x) - b > 0), over all b or for b = 0.
//!
//! Reference: Vapnik and Chervonenkis (1971); Hastie, Tibshirani and Friedman (2009), section 7.9.

use super::HypothesisClass;
use learnt_core::prelude::*;

/// Labellings of given points by a class of hypotheses, and whether it shatters them.
#[derive(Params, Clone, Debug)]
pub struct Dichotomies {
    /// The class of hypotheses.
    pub hypotheses: HypothesisClass,
    /// Most dichotomies that are searched for.
    #[param(default = 256, range = 1..)]
    pub limit: usize,
}

/// Points in space, one a row.
#[derive(Inputs, Clone, Copy)]
pub struct Points<'a> {
    /// The points, one a row.
    #[input(name = "X")]
    pub x: MatRef<'a>,
}

/// The labellings that occur.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct DichotomyList {
    /// Number of dichotomies.
    pub count: u64,
    /// Number of labellings, 2^N.
    pub labelings: f64,
    /// Whether every labelling occurs.
    pub shattered: bool,
    /// The dichotomies, one a row; 1 where the hypothesis says so.
    pub dichotomies: Matrix,
}

impl DichotomyList {
    fn new(found: &[Vec<bool>], points: usize) -> DichotomyList {
        let labelings = 2.0_f64.powi(points.min(2000) as i32);
        DichotomyList {
            count: found.len() as u64,
            labelings,
            shattered: found.len() as f64 == labelings,
            dichotomies: Matrix::from_fn(found.len(), points, |i, j| f64::from(found[i][j])),
        }
    }
}

impl Function for Dichotomies {
    type Inputs<'a> = Points<'a>;
    type Output = DichotomyList;
    const ABOUT: &'static Callable = &Callable::new("theory.dichotomies", FunctionKind::Theory)
        .reference("Vapnik and Chervonenkis (1971)");

    fn call(&self, given: Points, run: &Context) -> Result<DichotomyList> {
        self.hypotheses.check_columns(given.x.ncols())?;
        let found = self.hypotheses.dichotomies(given.x, self.limit, run)?;
        Ok(DichotomyList::new(&found, given.x.nrows()))
    }
}

/// Labellings that given hypotheses produce: those of a class of one's own, by its values.
#[derive(Params, Clone, Debug)]
pub struct DichotomiesOfValues {
    /// Thresholds at which values become labels.
    pub thresholds: Thresholds,
}

/// Thresholds at which the values of a hypothesis become labels.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thresholds {
    /// Zero: 1 where the value is above 0.
    #[default]
    Zero,
    /// Every number: the class of all I(g(x) - b > 0).
    All,
}

/// Values of hypotheses at points.
#[derive(Inputs, Clone, Copy)]
pub struct HypothesisValues<'a> {
    /// The values, one hypothesis a row, one point a column.
    pub values: MatRef<'a>,
}

impl Function for DichotomiesOfValues {
    type Inputs<'a> = HypothesisValues<'a>;
    type Output = DichotomyList;
    const ABOUT: &'static Callable =
        &Callable::new("theory.dichotomies_of_values", FunctionKind::Theory)
            .reference("Vapnik and Chervonenkis (1971)");

    fn call(&self, given: HypothesisValues, _run: &Context) -> Result<DichotomyList> {
        let mut found = Vec::new();
        for i in 0..given.values.nrows() {
            let values: Vec<f64> =
                (0..given.values.ncols()).map(|j| given.values.at(i, j)).collect();
            let above = |b: f64| values.iter().map(|&value| value > b).collect::<Vec<bool>>();
            match self.thresholds {
                Thresholds::Zero => found.push(above(0.0)),
                Thresholds::All => {
                    found.push(vec![true; values.len()]);
                    found.extend(values.iter().map(|&b| above(b)));
                }
            }
        }
        found.sort();
        found.dedup();
        Ok(DichotomyList::new(&found, given.values.ncols()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(class: HypothesisClass, points: &[[f64; 2]]) -> u64 {
        let x = Matrix::from_rows(points).unwrap();
        let function = Dichotomies { hypotheses: class, ..Default::default() };
        function.compute(Points { x: x.view() }).unwrap().count
    }

    const TRIANGLE: [[f64; 2]; 3] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];

    #[test]
    fn half_planes_label_triangle_line_square_and_pentagon_as_counted() {
        let half_planes = |points: &[[f64; 2]]| count(HypothesisClass::HalfSpaces, points);
        assert_eq!(half_planes(&TRIANGLE), 8);
        assert_eq!(half_planes(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), 6);
        assert_eq!(half_planes(&SQUARE), 14);
        assert_eq!(half_planes(&[[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [1.0, 1.0]]), 14);
        let pentagon =
            [[1.0, 0.0], [0.309, 0.951], [-0.809, 0.588], [-0.809, -0.588], [0.309, -0.951]];
        assert_eq!(half_planes(&pentagon), 22);
        assert_eq!(count(HypothesisClass::ConvexSets, &pentagon), 32);
    }

    #[test]
    fn rectangles_shatter_a_diamond_and_not_its_centre_too() {
        let diamond = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
        assert_eq!(count(HypothesisClass::Rectangles, &diamond), 16);
        let [a, b, c, d] = diamond;
        assert!(count(HypothesisClass::Rectangles, &[a, b, c, d, [0.0, 0.0]]) < 32);
        assert_eq!(count(HypothesisClass::Rectangles, &SQUARE), 10);
    }

    #[test]
    fn conjunctions_of_two_values_cannot_say_or() {
        // All labellings of the four corners but "or", its kin (three ones) and both diagonals.
        assert_eq!(count(HypothesisClass::Conjunctions, &SQUARE), 10);
    }

    #[test]
    fn values_of_real_functions_are_cut_at_every_threshold() {
        let values = Matrix::from_rows(&[[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]).unwrap();
        let given = HypothesisValues { values: values.view() };
        let cut = DichotomiesOfValues { thresholds: Thresholds::All }.compute(given).unwrap();
        assert_eq!((cut.count, cut.shattered), (6, false));
        assert_eq!(DichotomiesOfValues::default().compute(given).unwrap().count, 1);
    }

    #[test]
    fn too_many_dichotomies_are_refused() {
        let x = Matrix::from_fn(20, 1, |i, _| i as f64);
        let function = Dichotomies { limit: 10, ..Default::default() };
        assert_eq!(function.compute(Points { x: x.view() }).unwrap_err().code(), Code::Usage);
    }
}
