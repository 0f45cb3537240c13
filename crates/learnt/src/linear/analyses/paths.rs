//! Regularisation paths as functions: see [`path`].

use super::{RowsAndNumbers, for_each_output};
use crate::linear::penalized::{Alphas, PathKind, PathOptions, RegularizationPath, path};
use learnt_core::chart::Chart;
use learnt_core::prelude::*;

/// A table beside numeric targets; all rows count alike.
#[derive(Inputs, Clone, Copy)]
pub struct EqualRowsAndNumbers<'a> {
    /// The inputs.
    #[input(name = "X")]
    pub x: Frame<'a>,
    /// The target; several columns are several targets.
    pub y: MatRef<'a>,
}

impl<'a> EqualRowsAndNumbers<'a> {
    fn data(&self) -> Dataset<'a> {
        Dataset { y: Some(Target::Real(self.y)), ..Dataset::new(self.x) }
    }
}

/// The penalties of a path and how each is solved.
#[derive(Params, Clone, Debug)]
pub struct Penalties {
    /// Least penalty as a share of the largest.
    #[param(default = 1e-3, above = 0.0, below = 1.0)]
    pub eps: f64,
    /// Number of penalties, or the penalties themselves.
    #[param(default = Alphas::Count(100))]
    pub alphas: Alphas,
    /// Keep all coefficients at or above zero.
    #[param(default = false)]
    pub positive: bool,
    /// Maximum number of passes over the coefficients for each penalty.
    #[param(default = 1000, range = 1..)]
    pub max_iter: usize,
    /// Convergence tolerance of the duality gap, as a share of the target's sum of squares.
    #[param(default = 1e-4, range = 0.0..)]
    pub tol: f64,
}

impl Penalties {
    fn options(&self, fit_intercept: bool, least_squares: bool) -> PathOptions {
        let (n_alphas, alphas) = match &self.alphas {
            Alphas::Count(count) => (*count, None),
            Alphas::Given(alphas) => (alphas.len(), Some(alphas.clone())),
        };
        PathOptions {
            n_alphas,
            eps: self.eps,
            alphas,
            fit_intercept,
            max_iter: self.max_iter,
            tol: self.tol,
            positive: self.positive,
            least_squares,
        }
    }
}

/// What scikit-learn's paths give.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct NetPath {
    /// The penalties, largest first.
    pub alphas: Vec<f64>,
    /// Coefficients: one row a column of the data, one column a penalty; of each target if several.
    pub coefs: Datum,
    /// Duality gaps at the end of the descent.
    pub dual_gaps: Datum,
    /// Passes over the coefficients; only if asked for.
    pub n_iter: Option<Datum>,
}

impl NetPath {
    fn of(found: RegularizationPath, return_n_iter: bool) -> NetPath {
        NetPath {
            alphas: found.alphas,
            n_iter: return_n_iter.then(|| passes(&found.n_iters)),
            coefs: several(found.coefs),
            dual_gaps: for_each_output(found.dual_gaps),
        }
    }
}

/// Path of the lasso: coefficients as the penalty falls, without an intercept (centre the data first).
#[derive(Params, Clone, Debug)]
pub struct LassoPath {
    /// The penalties.
    #[param(flatten)]
    pub penalties: Penalties,
    /// Whether to give the number of passes too.
    #[param(default = false)]
    pub return_n_iter: bool,
}

impl Function for LassoPath {
    type Inputs<'a> = EqualRowsAndNumbers<'a>;
    type Output = NetPath;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.lasso_path", FunctionKind::Analysis).threads();

    fn call(&self, given: EqualRowsAndNumbers, run: &Context) -> Result<NetPath> {
        let options = self.penalties.options(false, false);
        let found = path(PathKind::Lasso, &given.data(), &options, run)?;
        Ok(NetPath::of(found, self.return_n_iter))
    }
}

/// Path of the elastic net: coefficients as the penalty falls, without an intercept (centre the data
/// first).
#[derive(Params, Clone, Debug)]
pub struct EnetPath {
    /// Share of the L1 penalty.
    #[param(default = 0.5, above = 0.0, range = ..=1.0)]
    pub l1_ratio: f64,
    /// The penalties.
    #[param(flatten)]
    pub penalties: Penalties,
    /// Whether to give the number of passes too.
    #[param(default = false)]
    pub return_n_iter: bool,
}

impl Function for EnetPath {
    type Inputs<'a> = EqualRowsAndNumbers<'a>;
    type Output = NetPath;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.enet_path", FunctionKind::Analysis).threads();

    fn call(&self, given: EqualRowsAndNumbers, run: &Context) -> Result<NetPath> {
        let options = self.penalties.options(false, false);
        let found = path(kind(self.l1_ratio), &given.data(), &options, run)?;
        Ok(NetPath::of(found, self.return_n_iter))
    }
}

/// Path of the lasso (l1_ratio 1), the elastic net, or ridge regression (l1_ratio 0): coefficients,
/// shrinkage factors, degrees of freedom and R² as the penalty falls.
#[derive(Params, Clone, Debug)]
pub struct PenaltyPath {
    /// Share of the L1 penalty; 0 is ridge regression.
    #[param(default = 1.0, range = 0.0..=1.0)]
    pub l1_ratio: f64,
    /// The penalties.
    #[param(flatten)]
    pub penalties: Penalties,
    /// Fit an intercept.
    #[param(default = true)]
    pub fit_intercept: bool,
}

/// A path with its figures, of each target if there are several.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct PathFigures {
    /// The penalties, largest first.
    pub alphas: Vec<f64>,
    /// Coefficients: one row a column of the data, one column a penalty.
    pub coefs: Datum,
    /// Intercepts; zero without one.
    pub intercepts: Datum,
    /// Sum of the sizes of the coefficients, as a share of that of least squares.
    pub shrinkage: Datum,
    /// Degrees of freedom without the intercept's.
    pub df: Datum,
    /// Share of the variance explained.
    pub r2: Datum,
    /// Duality gaps; zero for ridge, which is solved exactly.
    pub dual_gaps: Datum,
    /// Passes over the coefficients; zero for ridge.
    pub n_iter: Datum,
    /// Names of the columns.
    pub names: Vec<String>,
    /// The penalty of least BIC for the first target (the extended BIC for many columns).
    pub alpha_bic: Option<f64>,
}

impl Function for PenaltyPath {
    type Inputs<'a> = RowsAndNumbers<'a>;
    type Output = PathFigures;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.regularization_path", FunctionKind::Analysis)
            .threads()
            .exempt(&[(
                "scaled weights",
                "at the largest penalty the first coefficient is zero or nearly so, by rounding",
            )]);

    fn call(&self, given: RowsAndNumbers, run: &Context) -> Result<PathFigures> {
        let options = self.penalties.options(self.fit_intercept, true);
        let found = path(kind(self.l1_ratio), &given.data(), &options, run)?;
        let best = found.least_bic(given.x.nrows()).map(|i| found.alphas[i]);
        Ok(PathFigures {
            alpha_bic: best,
            n_iter: passes(&found.n_iters),
            alphas: found.alphas,
            coefs: several(found.coefs),
            intercepts: for_each_output(found.intercepts),
            shrinkage: for_each_output(found.shrinkage),
            df: for_each_output(found.df),
            r2: for_each_output(found.r2),
            dual_gaps: for_each_output(found.dual_gaps),
            names: found.names,
        })
    }

    fn chart(&self, found: &PathFigures) -> Option<Chart> {
        let coefs = match &found.coefs {
            Datum::Matrix(matrix) => matrix,
            Datum::List(items) => match items.first() {
                Some(Datum::Matrix(matrix)) => matrix,
                _ => return None,
            },
            _ => return None,
        };
        Some(crate::charts::path::path(&crate::charts::path::Path {
            learner: kind(self.l1_ratio).name(),
            names: &found.names,
            alphas: &found.alphas,
            coefs,
            chosen: found.alpha_bic.map(|alpha| ("least BIC", alpha)),
        }))
    }
}

fn kind(l1_ratio: f64) -> PathKind {
    match l1_ratio {
        1.0 => PathKind::Lasso,
        0.0 => PathKind::Ridge,
        l1_ratio => PathKind::ElasticNet { l1_ratio },
    }
}

/// One matrix for one target, else one for each.
fn several(mut matrices: Vec<Matrix>) -> Datum {
    match matrices.len() {
        1 => Datum::Matrix(matrices.remove(0)),
        _ => Datum::List(matrices.into_iter().map(Datum::Matrix).collect()),
    }
}

fn passes(counts: &[Vec<usize>]) -> Datum {
    let row = |counts: &Vec<usize>| counts.iter().map(|&n| n as i64).collect();
    match counts {
        [one] => Datum::Counts(row(one)),
        all => Datum::List(all.iter().map(|counts| Datum::Counts(row(counts))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(datum: &Datum) -> Vec<f64> {
        match datum {
            Datum::Reals(values) => values.clone(),
            other => panic!("one target has one row: {other:?}"),
        }
    }

    #[test]
    fn paths_by_name_are_those_of_the_library_and_the_net_of_ratio_one_is_the_lasso() {
        let x = Matrix::from_fn(30, 3, |i, j| ((i * (j + 3)) % 7) as f64 - 3.0);
        let y: Vec<f64> = (0..30).map(|i| 2.0 * x[(i, 0)] - x[(i, 2)] + (i % 2) as f64).collect();
        let table = Table::unnamed(x);
        let given = EqualRowsAndNumbers { x: table.frame(), y: MatRef::from_column(&y) };
        let lasso = LassoPath::default().compute(given).unwrap();
        let net = EnetPath { l1_ratio: 1.0, ..Default::default() }.compute(given).unwrap();
        assert_eq!((&lasso.alphas, &lasso.coefs), (&net.alphas, &net.coefs));
        assert!(lasso.n_iter.is_none() && lasso.alphas.len() == 100);
        let weighted =
            RowsAndNumbers { x: table.frame(), y: MatRef::from_column(&y), sample_weight: None };
        let found = PenaltyPath::default().compute(weighted).unwrap();
        let shrinkage = numbers(&found.shrinkage);
        assert!(shrinkage[0] == 0.0 && shrinkage[99] > 0.99);
        assert!(found.alpha_bic.is_some_and(|alpha| found.alphas.contains(&alpha)));
        let chart = PenaltyPath::default().chart(&found).unwrap();
        assert!(chart.title.contains("Lasso"));
        let ridge = PenaltyPath { l1_ratio: 0.0, ..Default::default() }.compute(weighted).unwrap();
        assert!(numbers(&ridge.df).windows(2).all(|pair| pair[1] > pair[0]));
    }
}
