//! The mistake bound of the perceptron: at most (R/γ)² mistakes, where R = max ‖x‖ and γ is the margin
//! min y·(w·x)/‖w‖ of any separator w through the origin.
//!
//! The perceptron itself runs beside it: from zero weights, row after row, adding y·x at each mistake
//! (a product of zero is one), until a pass makes none.
//!
//! Reference: Novikoff (1962).

use learnt_core::linalg::{add_scaled, dot, norm};
use learnt_core::prelude::*;

/// Mistake bound of the perceptron for a given separator, and the mistakes it makes.
#[derive(Params, Clone, Debug)]
pub struct PerceptronBound {
    /// Normal of a hyperplane through the origin that separates the classes.
    #[param(required)]
    pub weights: Vec<f64>,
    /// Most passes over the rows.
    #[param(default = 1000, range = 1..)]
    pub max_iter: usize,
}

/// Rows and their two classes.
#[derive(Inputs, Clone, Copy)]
pub struct SeparatedRows<'a> {
    /// The rows; a column of ones stands for an intercept.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// Two classes; the second lies on the side of the weights.
    pub y: Classes<'a>,
}

/// The bound and the mistakes.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct MistakeBound {
    /// (R/γ)².
    pub bound: f64,
    /// R, the length of the longest row.
    pub radius: f64,
    /// γ, the distance of the nearest row from the hyperplane.
    pub margin: f64,
    /// Mistakes that the perceptron made.
    pub mistakes: u64,
    /// Passes over the rows, the last without a mistake.
    pub passes: u64,
}

impl Function for PerceptronBound {
    type Inputs<'a> = SeparatedRows<'a>;
    type Output = MistakeBound;
    const ABOUT: &'static Callable =
        &Callable::new("theory.perceptron_bound", FunctionKind::Theory)
            .reference("Novikoff (1962)");

    fn call(&self, given: SeparatedRows, run: &Context) -> Result<MistakeBound> {
        let (n, p) = (given.x.nrows(), given.x.ncols());
        if self.weights.len() != p {
            let expected = format!("{p} weights, one a column");
            return Err(Error::shape("weights", expected, self.weights.len()));
        }
        if given.y.classes.len() != 2 {
            return Err(Error::new(Code::Target, format!("{} classes", given.y.classes.len()))
                .hint("the perceptron separates two classes"));
        }
        let sign = |i: usize| if given.y.codes[i] == 1 { 1.0 } else { -1.0 };
        let rows = Matrix::from_fn(n, p, |i, j| sign(i) * given.x.at(i, j));
        let radius = rows.rows().map(norm).fold(0.0, f64::max);
        let length = norm(&self.weights);
        let nearest = rows.rows().map(|row| dot(row, &self.weights)).fold(f64::INFINITY, f64::min);
        let margin = nearest / length;
        if margin.is_nan() || margin <= 0.0 {
            return Err(Error::new(Code::Undefined, "the weights do not separate the classes")
                .hint("learnt analyze linear-separability finds weights that do"));
        }
        let (mistakes, passes) = self.run_perceptron(&rows, run)?;
        Ok(MistakeBound { bound: (radius / margin).powi(2), radius, margin, mistakes, passes })
    }
}

impl PerceptronBound {
    /// Mistakes and passes until a pass makes none.
    fn run_perceptron(&self, rows: &Matrix, run: &Context) -> Result<(u64, u64)> {
        let mut weights = vec![0.0; rows.ncols()];
        let mut mistakes = 0;
        for pass in 1..=self.max_iter as u64 {
            run.checkpoint()?;
            let before = mistakes;
            for row in rows.rows() {
                if dot(row, &weights) <= 0.0 {
                    add_scaled(&mut weights, 1.0, row);
                    mistakes += 1;
                }
            }
            if mistakes == before {
                return Ok((mistakes, pass));
            }
        }
        Err(Error::new(
            Code::NotConverged,
            format!("still mistakes after {} passes", self.max_iter),
        )
        .hint("raise max_iter"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(weights: [f64; 2]) -> Result<MistakeBound> {
        let x = Matrix::from_rows(&[[1.0, 0.0], [1.0, 0.5], [-1.0, 0.0]]).unwrap();
        let classes = [Label::Int(-1), Label::Int(1)];
        let y = Classes { codes: &[1, 1, 0], classes: &classes };
        let function = PerceptronBound { weights: weights.to_vec(), max_iter: 100 };
        function.compute(SeparatedRows { x: x.view(), y })
    }

    #[test]
    fn the_bound_by_hand_and_fewer_mistakes() {
        let found = bound([2.0, 0.0]).unwrap();
        assert!((found.bound - 1.25).abs() < 1e-12 && found.margin == 1.0);
        assert_eq!((found.mistakes, found.passes), (1, 2));
    }

    #[test]
    fn weights_that_do_not_separate_are_refused() {
        assert_eq!(bound([-1.0, 0.0]).unwrap_err().code(), Code::Undefined);
        assert_eq!(bound([0.0, 0.0]).unwrap_err().code(), Code::Undefined);
    }
}
