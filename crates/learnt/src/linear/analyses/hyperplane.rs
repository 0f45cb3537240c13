//! Geometry of linear discriminants, as functions: see [`Hyperplane`] and [`LinearMachine`].

use crate::linear::{Hyperplane, LinearMachine, OnBoundary};
use learnt_core::estimator::first_maximum;
use learnt_core::prelude::*;

/// Points of space.
#[derive(Inputs, Clone, Copy)]
pub struct PointsOfSpace<'a> {
    /// The points, one a row.
    #[input(name = "X")]
    pub x: MatRef<'a>,
}

impl PointsOfSpace<'_> {
    /// What `f` finds at each point.
    fn each<T>(&self, mut f: impl FnMut(&[f64]) -> Result<T>) -> Result<Vec<T>> {
        let mut row = vec![0.0; self.x.ncols()];
        (0..self.x.nrows())
            .map(|i| {
                self.x.copy_row(i, &mut row);
                f(&row)
            })
            .collect()
    }
}

/// Hyperplane w·x + b = 0: score, signed distance, side and foot of each point.
#[derive(Params, Clone, Debug)]
pub struct HyperplaneScores {
    /// The normal w.
    #[param(required, positional)]
    pub normal: Vec<f64>,
    /// The intercept b.
    #[param(positional, default = 0.0)]
    pub intercept: f64,
    /// The class of points on the hyperplane.
    pub on_boundary: BoundaryClass,
}

/// The class of points on the hyperplane.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundaryClass {
    /// The side away from the normal.
    First,
    /// The side of the normal.
    #[default]
    Second,
}

/// Where points lie.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Sides {
    /// w·x + b.
    pub score: Vec<f64>,
    /// Signed distance, positive on the side of the normal.
    pub distance: Vec<f64>,
    /// 1 on the side of the normal, else 0.
    pub side: Vec<u32>,
    /// The point of the hyperplane nearest to each.
    pub foot: Matrix,
}

impl Function for HyperplaneScores {
    type Inputs<'a> = PointsOfSpace<'a>;
    type Output = Sides;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.hyperplane", FunctionKind::Algebra);

    fn call(&self, given: PointsOfSpace, _run: &Context) -> Result<Sides> {
        let plane = Hyperplane::new(self.normal.clone(), self.intercept)?;
        let boundary = match self.on_boundary {
            BoundaryClass::First => OnBoundary::First,
            BoundaryClass::Second => OnBoundary::Second,
        };
        Ok(Sides {
            score: given.each(|x| plane.score(x))?,
            distance: given.each(|x| plane.distance(x))?,
            side: given.each(|x| plane.class(x, boundary))?,
            foot: Matrix::from_rows(&given.each(|x| plane.foot(x))?)?,
        })
    }
}

/// Linear machine: a linear score for each class, the largest wins.
#[derive(Params, Clone, Debug)]
pub struct LinearMachineScores {
    /// Weights, one list for each class.
    #[param(required, positional)]
    pub weights: Vec<Vec<f64>>,
    /// Intercepts, one for each class.
    #[param(required, positional)]
    pub intercepts: Vec<f64>,
}

/// Scores and the class they choose.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct MachineScores {
    /// One column for each class.
    pub scores: Matrix,
    /// The class of the largest score, the first of equals.
    pub class: Vec<u32>,
}

impl Function for LinearMachineScores {
    type Inputs<'a> = PointsOfSpace<'a>;
    type Output = MachineScores;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.linear_machine", FunctionKind::Algebra);

    fn call(&self, given: PointsOfSpace, _run: &Context) -> Result<MachineScores> {
        let weights = Matrix::from_rows(&self.weights)?;
        let machine = LinearMachine::new(weights, self.intercepts.clone())?;
        let scores = Matrix::from_rows(&given.each(|x| machine.scores(x))?)?;
        let class = scores.rows().map(first_maximum).collect();
        Ok(MachineScores { scores, class })
    }
}
