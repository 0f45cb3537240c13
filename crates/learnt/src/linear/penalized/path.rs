//! Regularisation paths: coefficients for a falling sequence of penalties.
//!
//! Lasso and elastic net start at the least penalty with no coefficient other than zero,
//! alpha_max = max |Σ w (x - x̄)(y - ȳ)| / (n l1_ratio), and go down a geometric grid to eps alpha_max,
//! each solution the start of the next and the strong rule (|v_j| >= 2 l1 - last l1) the first working
//! set. Ridge paths come from one decomposition; their grid takes the degrees of freedom from nearly
//! none to nearly all.
//! Shrinkage factor: s = Σ |b(alpha)| / Σ |b of least squares|, on 0..1.
//!
//! Tibshirani et al. (2012), Journal of the Royal Statistical Society B 74(2), 245-266.

use super::elastic_net::warn_unconverged;
use super::problem::{Problem, Settings, Solved};
use super::spectrum::Spectrum;
use crate::charts;
use learnt_core::chart::Chart;
use learnt_core::prelude::*;

/// Which penalty falls along a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathKind {
    /// (1/2n) RSS + alpha ‖b‖₁.
    Lasso,
    /// (1/2n) RSS + alpha l1_ratio ‖b‖₁ + ½ alpha (1 - l1_ratio) ‖b‖².
    ElasticNet {
        /// Share of the L1 penalty, above 0.
        l1_ratio: f64,
    },
    /// RSS + alpha ‖b‖².
    Ridge,
}

impl PathKind {
    /// What is fitted, such as "Lasso".
    pub fn name(self) -> &'static str {
        match self {
            PathKind::Lasso => "Lasso",
            PathKind::ElasticNet { .. } => "Elastic net",
            PathKind::Ridge => "Ridge",
        }
    }
}

/// How a path is made.
#[derive(Clone, Debug, PartialEq)]
pub struct PathOptions {
    /// Number of penalties on the grid.
    pub n_alphas: usize,
    /// Least penalty as a share of the largest, for lasso and elastic net.
    pub eps: f64,
    /// These penalties instead of the grid.
    pub alphas: Option<Vec<f64>>,
    /// Fit an intercept.
    pub fit_intercept: bool,
    /// Maximum number of iterations (passes over the coefficients) for each penalty.
    pub max_iter: usize,
    /// Convergence tolerance of the duality gap, as a share of the target's variance.
    pub tol: f64,
    /// Keep all coefficients at or above zero; not for ridge.
    pub positive: bool,
    /// Measure shrinkage against least squares, which costs a factorisation; else against the
    /// largest coefficients of the path.
    pub least_squares: bool,
}

impl Default for PathOptions {
    fn default() -> Self {
        PathOptions {
            n_alphas: 100,
            eps: 1e-3,
            alphas: None,
            fit_intercept: true,
            max_iter: 1000,
            tol: 1e-4,
            positive: false,
            least_squares: true,
        }
    }
}

/// Coefficients and figures for every penalty. Matrices are (n_outputs × n_alphas) unless they say
/// otherwise.
#[derive(Clone, Debug)]
pub struct RegularizationPath {
    /// Which penalty.
    pub kind: PathKind,
    /// Names of the inputs.
    pub names: Vec<String>,
    /// The penalties, largest first.
    pub alphas: Vec<f64>,
    /// Coefficients of each output, (n_features × n_alphas).
    pub coefs: Vec<Matrix>,
    /// Intercepts; zero without one.
    pub intercepts: Matrix,
    /// Σ |b| as a share of that of least squares; of the largest on the path where least squares
    /// has no unique solution.
    pub shrinkage: Matrix,
    /// Degrees of freedom without the intercept's: coefficients other than zero, or Σ d²/(d² + alpha)
    /// for ridge.
    pub df: Matrix,
    /// Share of the variance explained, R².
    pub r2: Matrix,
    /// Duality gaps; zero for ridge, which is solved exactly.
    pub dual_gaps: Matrix,
    /// Passes over the coefficients, for each output and penalty; zero for ridge.
    pub n_iters: Vec<Vec<usize>>,
    /// Whether every duality gap is as small as asked for.
    pub converged: bool,
}

/// The path of a penalty.
///
/// ```
/// use learnt::linear::penalized::{PathKind, PathOptions, path};
/// use learnt::prelude::*;
/// let x = Matrix::from_fn(20, 2, |i, j| ((i * (j + 3)) % 7) as f64);
/// let y = (0..20).map(|i| 3.0 * x[(i, 1)] + (i % 3) as f64).collect();
/// let data = OwnedDataset::regression(x, y);
/// let path = path(PathKind::Lasso, &data.view(), &PathOptions::default(), &Context::default())?;
/// assert_eq!(path.alphas.len(), 100);
/// assert!(path.shrinkage[(0, 0)] == 0.0 && path.shrinkage[(0, 99)] > 0.99);
/// # Ok::<(), Error>(())
/// ```
pub fn path(
    kind: PathKind,
    data: &Dataset,
    options: &PathOptions,
    run: &Context,
) -> Result<RegularizationPath> {
    options.check(kind)?;
    if options.alphas.is_none() {
        let each = 4 * 8 * (data.x.ncols() as u64 + 8);
        let what = format!("a path of {} penalties", options.n_alphas);
        run.claim((options.n_alphas as u64).saturating_mul(each), &what)?;
    }
    let (problem, names) = Problem::of(data, options.fit_intercept, run)?;
    match kind {
        PathKind::Lasso => net_path(&problem, names, kind, 1.0, options, run),
        PathKind::ElasticNet { l1_ratio } => {
            net_path(&problem, names, kind, l1_ratio, options, run)
        }
        PathKind::Ridge => ridge_path(&problem, names, options, run),
    }
}

/// The path of the lasso.
pub fn lasso_path(
    data: &Dataset,
    options: &PathOptions,
    run: &Context,
) -> Result<RegularizationPath> {
    path(PathKind::Lasso, data, options, run)
}

/// The path of the elastic net.
pub fn elastic_net_path(
    l1_ratio: f64,
    data: &Dataset,
    options: &PathOptions,
    run: &Context,
) -> Result<RegularizationPath> {
    path(PathKind::ElasticNet { l1_ratio }, data, options, run)
}

impl PathOptions {
    fn check(&self, kind: PathKind) -> Result<()> {
        if let PathKind::ElasticNet { l1_ratio } = kind
            && !(l1_ratio > 0.0 && l1_ratio <= 1.0)
        {
            return Err(Error::parameter("l1_ratio", "a number in (0, 1]", l1_ratio)
                .hint("the ridge path has no L1 penalty"));
        }
        if self.positive && kind == PathKind::Ridge {
            return Err(Error::parameter("positive", "false for the ridge path", "true"));
        }
        if !(self.eps > 0.0 && self.eps < 1.0) {
            return Err(Error::parameter("eps", "a number in (0, 1)", self.eps));
        }
        for (name, count) in [("n_alphas", self.n_alphas), ("max_iter", self.max_iter)] {
            if count == 0 {
                return Err(Error::parameter(name, "a whole number >= 1", count));
            }
        }
        if self.tol.is_nan() || self.tol < 0.0 {
            return Err(Error::parameter("tol", "a number >= 0", self.tol));
        }
        check_alphas(self.alphas.as_deref())
    }

    fn settings(&self) -> Settings {
        Settings { positive: self.positive, max_iter: self.max_iter, tol: self.tol, random: false }
    }
}

/// Penalties that are given must be finite and not negative.
pub(super) fn check_alphas(alphas: Option<&[f64]>) -> Result<()> {
    match alphas {
        Some([]) => Err(Error::parameter("alphas", "at least one number", "none")),
        Some(alphas) => match alphas.iter().find(|alpha| !(alpha.is_finite() && **alpha >= 0.0)) {
            Some(alpha) => Err(Error::parameter("alphas", "numbers >= 0", alpha)),
            None => Ok(()),
        },
        None => Ok(()),
    }
}

/// Falling penalties from `largest` to `eps largest`, evenly in their logarithm.
pub(super) fn grid(largest: f64, eps: f64, count: usize) -> Vec<f64> {
    // Where no penalty is too large, a scale must come from somewhere.
    let largest = if largest > 0.0 { largest } else { f64::EPSILON.sqrt() };
    let step = eps.ln() / (count.max(2) - 1) as f64;
    (0..count).map(|i| largest * (step * i as f64).exp()).collect()
}

/// The same penalties, largest first.
pub(super) fn falling(alphas: &[f64]) -> Vec<f64> {
    let mut alphas = alphas.to_vec();
    alphas.sort_by(|a, b| b.total_cmp(a));
    alphas
}

/// Solutions of one output for falling penalties.
pub(super) fn solutions(
    problem: &Problem,
    t: usize,
    l1_ratio: f64,
    alphas: &[f64],
    settings: &Settings,
    run: &Context,
) -> Result<Vec<Solved>> {
    let mut descent = problem.start(t);
    let mut out = Vec::with_capacity(alphas.len());
    for (i, &alpha) in alphas.iter().enumerate() {
        let penalties = (alpha * l1_ratio, alpha * (1.0 - l1_ratio));
        let last = if i == 0 { alpha } else { alphas[i - 1] };
        let reach = if alpha > 0.0 { (2.0 - last / alpha).max(0.0) } else { 0.0 };
        out.push(problem.solve(t, &mut descent, penalties, reach, settings, run)?);
    }
    Ok(out)
}

fn net_path(
    problem: &Problem,
    names: Vec<String>,
    kind: PathKind,
    l1_ratio: f64,
    options: &PathOptions,
    run: &Context,
) -> Result<RegularizationPath> {
    let outputs = problem.right.len();
    let largest = |t: usize| problem.largest_l1(t, options.positive) / l1_ratio;
    let alphas = match &options.alphas {
        Some(alphas) => falling(alphas),
        None => {
            let largest = (0..outputs).map(largest).fold(0.0, f64::max);
            grid(largest, options.eps, options.n_alphas)
        }
    };
    let solved = run.try_par_map(outputs, |t| {
        let run = if outputs == 1 { *run } else { run.child(t as u64) };
        solutions(problem, t, l1_ratio, &alphas, &options.settings(), &run)
    })?;
    let mut out = RegularizationPath::empty(kind, names, alphas, outputs);
    for (t, solved) in solved.iter().enumerate() {
        for (i, solved) in solved.iter().enumerate() {
            out.place(problem, t, i, &solved.coef, options.fit_intercept);
            out.df[(t, i)] = solved.coef.iter().filter(|b| **b != 0.0).count() as f64;
            out.r2[(t, i)] = share(problem.total[t] - solved.residual, problem.total[t]);
            out.dual_gaps[(t, i)] = solved.gap;
            out.n_iters[t][i] = solved.n_iter;
            out.converged &= solved.converged;
            warn_unconverged(problem, t, solved, options.tol, run);
        }
        let whole = match options.least_squares {
            true => least_squares_size(problem, t)?,
            false => None,
        };
        out.shrink(t, whole);
    }
    Ok(out)
}

fn ridge_path(
    problem: &Problem,
    names: Vec<String>,
    options: &PathOptions,
    run: &Context,
) -> Result<RegularizationPath> {
    let outputs = problem.right.len();
    let spectrum = Spectrum::of(problem, run)?;
    let alphas = match &options.alphas {
        Some(alphas) => falling(alphas),
        None => {
            let first = spectrum.values.first().copied().unwrap_or_default();
            let last = spectrum.values.last().copied().unwrap_or(1.0);
            let (high, low) = (1e2 * first, (1e-2 * last).max(1e-12 * first));
            grid(high * problem.weight, low / high.max(f64::MIN_POSITIVE), options.n_alphas)
        }
    };
    let full = spectrum.values.len() == problem.columns();
    let mut out = RegularizationPath::empty(PathKind::Ridge, names, alphas, outputs);
    for t in 0..outputs {
        for i in 0..out.alphas.len() {
            let a = out.alphas[i] / problem.weight;
            out.place(problem, t, i, &spectrum.coef(t, a), options.fit_intercept);
            out.df[(t, i)] = spectrum.freedom(a);
            out.r2[(t, i)] = share(spectrum.explained(t, a), problem.total[t]);
        }
        let size = || spectrum.coef(t, 0.0).iter().map(|b| b.abs()).sum();
        out.shrink(t, full.then(size));
    }
    Ok(out)
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole).min(1.0) } else { 0.0 }
}

/// Σ |b| of least squares, if it has one solution.
fn least_squares_size(problem: &Problem, t: usize) -> Result<Option<f64>> {
    if problem.is_wide() {
        return Ok(None);
    }
    let coef = problem.least_squares(t);
    Ok(coef.map(|coef| coef.iter().map(|b| b.abs()).sum()))
}

impl RegularizationPath {
    fn empty(kind: PathKind, names: Vec<String>, alphas: Vec<f64>, outputs: usize) -> Self {
        let (d, count) = (names.len(), alphas.len());
        let figures = Matrix::zeros(outputs, count);
        RegularizationPath {
            kind,
            names,
            alphas,
            coefs: vec![Matrix::zeros(d, count); outputs],
            intercepts: figures.clone(),
            shrinkage: figures.clone(),
            df: figures.clone(),
            r2: figures.clone(),
            dual_gaps: figures,
            n_iters: vec![vec![0; count]; outputs],
            converged: true,
        }
    }

    fn place(&mut self, problem: &Problem, t: usize, i: usize, coef: &[f64], intercept: bool) {
        for (j, b) in coef.iter().enumerate() {
            self.coefs[t][(j, i)] = *b;
        }
        self.intercepts[(t, i)] = if intercept { problem.intercept(t, coef) } else { 0.0 };
    }

    /// Shrinkage factors of an output, against this size or the largest there is.
    fn shrink(&mut self, t: usize, size: Option<f64>) {
        let count = self.alphas.len();
        let mut sizes = vec![0.0; count];
        for row in self.coefs[t].rows() {
            sizes.iter_mut().zip(row).for_each(|(size, b)| *size += b.abs());
        }
        let whole = size.unwrap_or_else(|| sizes.iter().copied().fold(0.0, f64::max));
        for (i, size) in sizes.iter().enumerate() {
            self.shrinkage[(t, i)] = if whole > 0.0 { size / whole } else { 0.0 };
        }
    }

    /// The position of the penalty of least n ln(1 - R²) + df max(ln n, 2 ln p) on the first output:
    /// up to a constant BIC for few columns, and the extended BIC for many, where BIC itself would take
    /// them all. None where every penalty explains all or nothing.
    ///
    /// Chen and Chen (2008), Biometrika 95(3), 759-771.
    pub fn least_bic(&self, rows: usize) -> Option<usize> {
        let n = rows as f64;
        let price = n.ln().max(2.0 * (self.names.len() as f64).ln());
        let bic = |i: usize| n * (1.0 - self.r2[(0, i)]).ln() + self.df[(0, i)] * price;
        let finite = (0..self.alphas.len()).filter(|&i| bic(i).is_finite());
        finite.min_by(|&a, &b| bic(a).total_cmp(&bic(b)))
    }

    /// The coefficients of the first output against the penalty, with a penalty marked by its name.
    pub fn chart(&self, chosen: Option<(&str, f64)>) -> Chart {
        charts::path::path(&charts::path::Path {
            learner: self.kind.name(),
            names: &self.names,
            alphas: &self.alphas,
            coefs: &self.coefs[0],
            chosen,
        })
    }

    /// The picture with the penalty of least BIC marked.
    pub fn chart_with_bic(&self, rows: usize) -> Chart {
        self.chart(self.least_bic(rows).map(|i| ("least BIC", self.alphas[i])))
    }

    /// A row for each penalty: its figures and, for up to 30 columns, the coefficients.
    pub fn report(&self) -> Answer {
        const SHOWN: usize = 30;
        let mut report = Answer::new(format!("{} path", self.kind.name()));
        let shown = if self.names.len() > SHOWN { 0 } else { self.names.len() };
        for t in 0..self.coefs.len() {
            report.tables.push(self.table(t, shown));
        }
        if let PathKind::ElasticNet { l1_ratio } = self.kind {
            report.push("l1_ratio", l1_ratio);
        }
        if shown < self.names.len() {
            let note = format!("The coefficients of {} columns are not shown.", self.names.len());
            report.notes.push(note);
        }
        report.notes.push("s: sum of the sizes of the coefficients, as a share of that of least squares. df: without the intercept.".into());
        report
    }

    fn table(&self, t: usize, shown: usize) -> Columns {
        let title = match self.coefs.len() {
            1 => String::new(),
            _ => format!("Output {}", t + 1),
        };
        let mut head = vec!["alpha", "s", "df", "R²", "(intercept)"];
        head.extend(self.names[..shown].iter().map(String::as_str));
        let mut table = Columns::new(&title, &head);
        for (i, &alpha) in self.alphas.iter().enumerate() {
            let figures = [&self.shrinkage, &self.df, &self.r2, &self.intercepts];
            let mut row = vec![Cell::Number(alpha)];
            row.extend(figures.iter().map(|figure| Cell::Number(figure[(t, i)])));
            row.extend((0..shown).map(|j| Cell::Number(self.coefs[t][(j, i)])));
            table.push(row);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Ridge;
    use crate::linear::penalized::{CoordinateDescent, ElasticNet, Lasso};
    use learnt_core::stats::sample::standard_normal;

    fn random(n: usize, d: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(4);
        let x = Matrix::from_fn(n, d, |_, _| standard_normal(&mut rng) + 1.0);
        let y = (0..n).map(|i| x[(i, 0)] - 2.0 * x[(i, 1)] + standard_normal(&mut rng)).collect();
        OwnedDataset::regression(x, y)
    }

    fn exact() -> PathOptions {
        PathOptions { tol: 1e-13, max_iter: 100_000, ..PathOptions::default() }
    }

    #[test]
    fn the_lasso_path_leaves_zero_at_once_and_ends_at_least_squares() {
        let data = random(60, 5);
        let options = PathOptions { eps: 1e-8, ..exact() };
        let path = lasso_path(&data.view(), &options, &Context::default()).unwrap();
        assert_eq!((path.shrinkage[(0, 0)], path.df[(0, 0)]), (0.0, 0.0));
        assert!(path.df[(0, 1)] >= 1.0);
        assert!((path.shrinkage[(0, 99)] - 1.0).abs() < 1e-6);
        assert!((1..100).all(|i| path.r2[(0, i)] >= path.r2[(0, i - 1)]));
        assert!(path.converged && path.report().tables[0].len() == 100);
    }

    #[test]
    fn every_point_of_a_path_is_the_fit_at_its_penalty() {
        for (n, d) in [(60, 8), (12, 40)] {
            let data = random(n, d);
            let run = Context::default();
            let options = PathOptions { alphas: Some(vec![0.05, 0.5, 0.1]), ..exact() };
            let lasso = lasso_path(&data.view(), &options, &run).unwrap();
            let net = elastic_net_path(0.4, &data.view(), &options, &run).unwrap();
            assert_eq!(lasso.alphas, [0.5, 0.1, 0.05]);
            for (i, &alpha) in lasso.alphas.iter().enumerate() {
                let one = Lasso {
                    alpha,
                    descent: CoordinateDescent {
                        tol: 1e-13,
                        max_iter: 100_000,
                        ..CoordinateDescent::default()
                    },
                };
                let one = one.fit(&data.view()).unwrap();
                let other = ElasticNet {
                    alpha,
                    l1_ratio: 0.4,
                    descent: CoordinateDescent { tol: 1e-13, ..CoordinateDescent::default() },
                };
                let other = other.fit(&data.view()).unwrap();
                for j in 0..d {
                    assert!((one.coef[(0, j)] - lasso.coefs[0][(j, i)]).abs() < 1e-5);
                    assert!((other.coef[(0, j)] - net.coefs[0][(j, i)]).abs() < 1e-5);
                }
                assert!((one.intercept[0] - lasso.intercepts[(0, i)]).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn the_ridge_path_is_ridge_with_its_degrees_of_freedom() {
        for (n, d) in [(60, 4), (10, 25)] {
            let data = random(n, d);
            let run = Context::default();
            let path = path(PathKind::Ridge, &data.view(), &PathOptions::default(), &run).unwrap();
            for i in [0, 50, 99] {
                let ridge = Ridge { alpha: path.alphas[i], ..Ridge::default() };
                let ridge = ridge.fit(&data.view()).unwrap();
                for j in 0..d {
                    assert!((ridge.coef[(0, j)] - path.coefs[0][(j, i)]).abs() < 1e-7);
                }
                let df = ridge.effective_df.unwrap()[0] - 1.0;
                assert!((df - path.df[(0, i)]).abs() < 1e-6, "{df} {}", path.df[(0, i)]);
            }
            assert!(path.df[(0, 0)] < 0.1 * d as f64 && path.shrinkage[(0, 0)] < 0.1);
            assert!(path.shrinkage[(0, 99)] > 0.95);
        }
    }

    #[test]
    fn bic_keeps_the_columns_that_matter_and_few_others() {
        for (n, d) in [(200, 8), (60, 400)] {
            let data = random(n, d);
            let path = lasso_path(&data.view(), &PathOptions::default(), &Context::default());
            let path = path.unwrap();
            let best = path.least_bic(n).unwrap();
            assert!((2.0..=8.0).contains(&path.df[(0, best)]), "{}", path.df[(0, best)]);
            assert!(path.coefs[0][(0, best)] > 0.0 && path.coefs[0][(1, best)] < 0.0);
        }
    }

    #[test]
    fn a_constant_target_has_an_empty_path() {
        let data = OwnedDataset::regression(random(20, 3).x.into_parts().0, vec![7.0; 20]);
        for kind in [PathKind::Lasso, PathKind::Ridge] {
            let path = path(kind, &data.view(), &PathOptions::default(), &Context::default());
            let path = path.unwrap();
            assert!(path.coefs[0].as_slice().iter().all(|b| *b == 0.0));
            assert!(path.r2.as_slice().iter().all(|r2| *r2 == 0.0));
        }
    }

    #[test]
    fn hopeless_options_are_refused() {
        let data = random(20, 3);
        let run = Context::default();
        let bad = [
            PathOptions { eps: 0.0, ..PathOptions::default() },
            PathOptions { n_alphas: 0, ..PathOptions::default() },
            PathOptions { alphas: Some(vec![f64::NAN]), ..PathOptions::default() },
            PathOptions { alphas: Some(vec![]), ..PathOptions::default() },
        ];
        for options in bad {
            let error = lasso_path(&data.view(), &options, &run).unwrap_err();
            assert_eq!(error.code(), Code::Parameter);
        }
        let error = elastic_net_path(0.0, &data.view(), &PathOptions::default(), &run);
        assert_eq!(error.unwrap_err().code(), Code::Parameter);
    }
}
