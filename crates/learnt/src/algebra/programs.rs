//! Quadratic programmes and the rate of descent on a quadratic, as functions. The work is done by
//! `learnt_core::optimize`.

use learnt_core::linalg::{matvec, norm};
use learnt_core::optimize::{
    self, Bounds, Programme, QuadraticProgram, QuadraticSolution, mean_squares_hessian,
};
use learnt_core::prelude::*;

/// A quadratic with linear constraints and bounds.
#[derive(Inputs, Clone, Copy)]
pub struct QuadraticParts<'a> {
    /// Symmetric and positive semidefinite.
    #[input(name = "Q")]
    pub q: MatRef<'a>,
    /// The linear part.
    pub c: &'a [f64],
    /// Rows of the equalities A_eq x = b_eq.
    #[input(name = "A_eq", apart)]
    pub a_eq: Option<MatRef<'a>>,
    /// Right sides of the equalities.
    #[input(apart)]
    pub b_eq: Option<&'a [f64]>,
    /// Lower bounds: one for all, or one each; -inf is none.
    #[input(apart, missing)]
    pub lower: Option<&'a [f64]>,
    /// Upper bounds: one for all, or one each; inf is none.
    #[input(apart, missing)]
    pub upper: Option<&'a [f64]>,
    /// Rows of the inequalities A_ub x <= b_ub.
    #[input(name = "A_ub", apart)]
    pub a_ub: Option<MatRef<'a>>,
    /// Right sides of the inequalities.
    #[input(apart)]
    pub b_ub: Option<&'a [f64]>,
}

/// Quadratic programme: the minimum of x'Qx/2 + c'x for a convex Q of up to a few hundred columns.
///
/// A row of ones in `A_eq` with `b_eq` 1 and `lower` 0 is the simplex.
#[derive(Params, Clone, Debug)]
pub struct SolveQuadratic {}

/// What came of a programme. Multipliers are those of the Lagrangian f + a'(A_ub x - b_ub)
/// + b'(A_eq x - b_eq), with bounds alike.
#[derive(Output, Clone, Debug, Default, PartialEq)]
pub struct QuadraticOutcome {
    /// Whether there is a minimum.
    pub success: bool,
    /// `solved`, `infeasible` or `unbounded`.
    pub status: String,
    /// The same in words.
    pub message: String,
    /// The minimum.
    pub x: Option<Vec<f64>>,
    /// The objective there.
    pub fun: Option<f64>,
    /// Multipliers of the equalities.
    pub equalities: Option<Vec<f64>>,
    /// Multipliers of the inequalities.
    pub inequalities: Option<Vec<f64>>,
    /// Multipliers of the lower bounds.
    pub lower: Option<Vec<f64>>,
    /// Multipliers of the upper bounds.
    pub upper: Option<Vec<f64>>,
    /// If unbounded, a direction along which the objective falls for ever.
    pub direction: Option<Vec<f64>>,
}

impl Function for SolveQuadratic {
    type Inputs<'a> = QuadraticParts<'a>;
    type Output = QuadraticOutcome;
    const ABOUT: &'static Callable =
        &Callable::new("optimize.quadratic_program", FunctionKind::Algebra)
            .alias(&["qp"])
            .reference("Goldfarb and Idnani (1983), Mathematical Programming 27, 1-33.");

    fn call(&self, given: QuadraticParts, run: &Context) -> Result<QuadraticOutcome> {
        let problem = QuadraticProgram {
            quadratic: given.q.to_matrix(),
            linear: given.c.to_vec(),
            equalities: pair(["A_eq", "b_eq"], given.a_eq, given.b_eq)?,
            inequalities: pair(["A_ub", "b_ub"], given.a_ub, given.b_ub)?,
            bounds: bounds(given.lower, given.upper, given.c.len())?,
        };
        Ok(match problem.solve(run)? {
            Programme::Solved(found) => solved(found),
            Programme::Infeasible => failed("infeasible", "no point meets all constraints", None),
            Programme::Unbounded(direction) => failed(
                "unbounded",
                "the objective falls for ever along `direction`",
                Some(direction),
            ),
        })
    }
}

fn solved(found: QuadraticSolution) -> QuadraticOutcome {
    QuadraticOutcome {
        success: true,
        status: "solved".to_string(),
        message: "the minimum was found".to_string(),
        x: Some(found.x),
        fun: Some(found.value),
        equalities: Some(found.equalities),
        inequalities: Some(found.inequalities),
        lower: Some(found.lower),
        upper: Some(found.upper),
        direction: None,
    }
}

fn failed(status: &str, message: &str, direction: Option<Vec<f64>>) -> QuadraticOutcome {
    let (status, message) = (status.to_string(), message.to_string());
    QuadraticOutcome { status, message, direction, ..QuadraticOutcome::default() }
}

/// Rows of constraints with their right sides, which come together.
fn pair(
    names: [&str; 2],
    rows: Option<MatRef>,
    values: Option<&[f64]>,
) -> Result<Option<(Matrix, Vec<f64>)>> {
    let [rows_name, values_name] = names;
    match (rows, values) {
        (None, None) => Ok(None),
        (Some(rows), Some(values)) if rows.nrows() == values.len() => {
            Ok(Some((rows.to_matrix(), values.to_vec())))
        }
        (Some(rows), Some(values)) => {
            let expected = format!("{} numbers, one for each row of {rows_name}", rows.nrows());
            Err(Error::shape(values_name, expected, format!("{}", values.len())))
        }
        _ => {
            let message = format!("`{rows_name}` and `{values_name}` come together");
            Err(Error::new(Code::Usage, message))
        }
    }
}

fn bounds(lower: Option<&[f64]>, upper: Option<&[f64]>, n: usize) -> Result<Option<Bounds>> {
    let each = |name: &str, given: Option<&[f64]>, none: f64| match given {
        None => Ok(vec![none; n]),
        Some(given) if given.iter().any(|bound| bound.is_nan()) => {
            Err(Error::new(Code::Missing, format!("'{name}' is missing somewhere")))
        }
        Some([one]) => Ok(vec![*one; n]),
        Some(given) if given.len() == n => Ok(given.to_vec()),
        Some(given) => {
            Err(Error::shape(name, format!("1 or {n} numbers"), format!("{}", given.len())))
        }
    };
    if lower.is_none() && upper.is_none() {
        return Ok(None);
    }
    let lower = each("lower", lower, f64::NEG_INFINITY)?;
    let upper = each("upper", upper, f64::INFINITY)?;
    Ok(Some(Bounds { lower, upper }))
}

/// Rows with a target.
#[derive(Inputs, Clone, Copy)]
pub struct DesignAndTarget<'a> {
    /// The inputs.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// The target.
    pub y: &'a [f64],
}

/// Least squares with coefficients of zero or more.
#[derive(Params, Clone, Debug)]
pub struct NonnegativeLeastSquares {}

/// Coefficients and what they leave.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct NonnegativeFit {
    /// The coefficients.
    pub coef: Vec<f64>,
    /// Length of the residual.
    pub residual_norm: f64,
}

impl Function for NonnegativeLeastSquares {
    type Inputs<'a> = DesignAndTarget<'a>;
    type Output = NonnegativeFit;
    const ABOUT: &'static Callable = &Callable::new("optimize.nnls", FunctionKind::Algebra);

    fn call(&self, given: DesignAndTarget, run: &Context) -> Result<NonnegativeFit> {
        let problem = QuadraticProgram::nonnegative_least_squares(given.x, given.y);
        let coef = problem.solve(run)?.solution()?.x;
        let fitted = matvec(given.x, &coef);
        let left: Vec<f64> = given.y.iter().zip(&fitted).map(|(y, f)| y - f).collect();
        Ok(NonnegativeFit { coef, residual_norm: norm(&left) })
    }
}

/// A quadratic with equalities alone.
#[derive(Inputs, Clone, Copy)]
pub struct EqualityParts<'a> {
    /// Symmetric.
    #[input(name = "Q")]
    pub q: MatRef<'a>,
    /// The linear part.
    pub c: &'a [f64],
    /// Rows of the equalities A x = b.
    #[input(name = "A", apart)]
    pub a: MatRef<'a>,
    /// Right sides of the equalities.
    #[input(apart)]
    pub b: &'a [f64],
}

/// Quadratic with equalities: the minimum of x'Qx/2 + c'x where A x = b, and its multipliers.
///
/// Dependent constraints, and objectives without a single minimum where they hold, are errors.
#[derive(Params, Clone, Debug)]
pub struct EqualityQuadratic {}

/// A stationary point of the Lagrangian.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct EqualityMinimum {
    /// The minimum.
    pub x: Vec<f64>,
    /// One for each equality.
    pub multipliers: Vec<f64>,
}

impl Function for EqualityQuadratic {
    type Inputs<'a> = EqualityParts<'a>;
    type Output = EqualityMinimum;
    const ABOUT: &'static Callable =
        &Callable::new("optimize.equality_quadratic", FunctionKind::Algebra);

    fn call(&self, given: EqualityParts, _run: &Context) -> Result<EqualityMinimum> {
        let (q, a) = (given.q.to_matrix(), given.a.to_matrix());
        let (x, multipliers) = optimize::equality_quadratic(&q, given.c, &a, given.b)?;
        Ok(EqualityMinimum { x, multipliers })
    }
}

/// A quadratic, or the rows of a linear model.
#[derive(Inputs, Clone, Copy)]
pub struct Curvature<'a> {
    /// The second derivatives of a quadratic.
    #[input(apart)]
    pub hessian: Option<MatRef<'a>>,
    /// The inputs of a linear model whose half mean squared error is minimised.
    #[input(name = "X")]
    pub x: Option<MatRef<'a>>,
}

/// Limit of stability: the rate 2 / λ_max above which gradient descent on a quadratic diverges.
///
/// Give the Hessian, or the inputs of a linear model.
#[derive(Params, Clone, Debug)]
pub struct StabilityLimit {
    /// Whether the linear model has an intercept.
    #[param(default = true)]
    pub fit_intercept: bool,
}

impl Function for StabilityLimit {
    type Inputs<'a> = Curvature<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("optimize.stability_limit", FunctionKind::Algebra);

    fn call(&self, given: Curvature, _run: &Context) -> Result<f64> {
        match (given.hessian, given.x) {
            (Some(hessian), None) => optimize::stability_limit(&hessian.to_matrix()),
            (None, Some(x)) => {
                optimize::stability_limit(&mean_squares_hessian(x, self.fit_intercept)?)
            }
            _ => Err(Error::new(Code::Usage, "give either hessian or X")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_of_the_simplex_with_its_multipliers_and_programmes_without_a_minimum() {
        let identity = Matrix::from_fn(2, 2, |i, j| f64::from(i == j));
        let ones = Matrix::from_rows(&[[1.0, 1.0]]).unwrap();
        let free = QuadraticParts {
            q: identity.view(),
            c: &[0.0, -0.5],
            a_eq: Some(ones.view()),
            b_eq: Some(&[1.0]),
            lower: Some(&[0.0]),
            upper: None,
            a_ub: None,
            b_ub: None,
        };
        let found = SolveQuadratic {}.compute(free).unwrap();
        let x = found.x.unwrap();
        assert!((x[0] - 0.25).abs() < 1e-12 && (x[1] - 0.75).abs() < 1e-12);
        let nothing = QuadraticParts { b_eq: Some(&[-1.0]), ..free };
        assert_eq!(SolveQuadratic {}.compute(nothing).unwrap().status, "infeasible");
        let alone = QuadraticParts { b_eq: None, ..free };
        let error = SolveQuadratic {}.compute(alone).unwrap_err();
        assert!(error.message().contains("come together"), "{error}");
        let zero = Matrix::zeros(2, 2);
        let falling =
            QuadraticParts { q: zero.view(), c: &[-1.0, 0.0], a_eq: None, b_eq: None, ..free };
        let found = SolveQuadratic {}.compute(falling).unwrap();
        assert!(!found.success && found.direction.unwrap()[0] > 0.0);
    }

    #[test]
    fn nonnegative_least_squares_drops_a_column_that_pulls_down() {
        let x = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).unwrap();
        let given = DesignAndTarget { x: x.view(), y: &[2.0, -1.0, 1.0] };
        let found = NonnegativeLeastSquares {}.compute(given).unwrap();
        assert!((found.coef[0] - 1.5).abs() < 1e-9 && found.coef[1].abs() < 1e-9);
        let left = [0.5_f64, -1.0, -0.5].map(|r| r * r).iter().sum::<f64>().sqrt();
        assert!((found.residual_norm - left).abs() < 1e-9);
    }

    #[test]
    fn descent_is_stable_below_two_over_the_largest_curvature() {
        let hessian = Matrix::from_rows(&[[4.0, 0.0], [0.0, 1.0]]).unwrap();
        let given = Curvature { hessian: Some(hessian.view()), x: None };
        assert_eq!(StabilityLimit::default().compute(given).unwrap(), 0.5);
        let x = Matrix::column_vector(vec![-1.0, 1.0]);
        let given = Curvature { hessian: None, x: Some(x.view()) };
        assert!((StabilityLimit::default().compute(given).unwrap() - 2.0).abs() < 1e-12);
        assert!(StabilityLimit::default().compute(Curvature { hessian: None, x: None }).is_err());
    }
}
