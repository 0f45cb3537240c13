//! What a least-squares fit leaves for inference, and why some of it may be absent.

use super::least_squares::Solution;
use learnt_core::linalg::svd;
use learnt_core::persist::{Shaped, Side, Sizes};
use learnt_core::prelude::*;
use std::mem::take;

/// What a fit leaves for inference.
#[derive(Stored, Clone, Debug)]
pub(super) struct Evidence {
    pub(super) names: Vec<String>,
    pub(super) aliased: Vec<usize>,
    pub(super) intercept: bool,
    pub(super) positive: bool,
    pub(super) rank: usize,
    pub(super) rows: u64,
    #[positive]
    pub(super) weight: f64,
    pub(super) ln_weight: f64,
    /// Means of inputs, then outputs.
    pub(super) mean: Vec<f64>,
    /// M, (n_features × rank).
    pub(super) root: Option<Matrix>,
    /// Σ w r rᵀ.
    pub(super) residual: Matrix,
    /// Σ w (y - mean)² of each output.
    pub(super) total: Vec<f64>,
    pub(super) condition: Option<f64>,
}

/// Of so many outputs and inputs.
impl Shaped for Evidence {
    fn fits(&self, sizes: &mut Sizes, sides: &[Side]) -> bool {
        let [outputs, columns] = *sides else { return false };
        let d = self.names.len();
        self.names.fits(sizes, &[columns])
            && self.total.fits(sizes, &[outputs])
            && self.residual.fits(sizes, &[outputs, outputs])
            && self.mean.len() == d + self.total.len()
            && self.root.as_ref().is_none_or(|root| root.nrows() == d && root.ncols() <= d)
            && self.aliased.iter().all(|&j| j < d)
            && self.rank <= d
    }
}

impl Evidence {
    /// What inference needs of a solution, which keeps the rest.
    pub(super) fn taken(solution: &mut Solution, intercept: bool, positive: bool) -> Evidence {
        let Solution { rank, rows, weight, ln_weight, condition, .. } = *solution;
        Evidence {
            names: take(&mut solution.names),
            aliased: take(&mut solution.aliased),
            intercept,
            positive,
            rank,
            rows,
            weight,
            ln_weight,
            mean: take(&mut solution.mean),
            root: take(&mut solution.root),
            residual: take(&mut solution.residual),
            total: take(&mut solution.total),
            condition,
        }
    }

    /// Warns of aliased columns, if there are any.
    pub(super) fn warn_of_aliases(&self, run: &Context) {
        if let Some(message) = self.aliasing() {
            run.warn(Code::Numeric, message);
        }
    }

    /// A sentence about aliased columns, if there are any.
    pub(super) fn aliasing(&self) -> Option<String> {
        let rank = if self.positive { self.names.len() } else { self.rank };
        aliasing(&self.names, &self.aliased, rank, self.rows)
    }

    /// Residual degrees of freedom, or why there are none.
    pub(super) fn freedom(&self) -> Result<f64> {
        let used = self.rank as u64 + u64::from(self.intercept);
        if self.positive {
            return Err(absent("the bounds of `positive` make the usual tests invalid"));
        }
        match self.rows > used {
            true => Ok((self.rows - used) as f64),
            false => Err(absent(format!(
                "{} rows leave nothing to estimate the noise from after {used} coefficients",
                self.rows
            ))),
        }
    }

    /// σ² of an output, or why it cannot be told.
    pub(super) fn noise(&self, output: usize) -> Result<f64> {
        let freedom = self.freedom()?;
        let Some(&total) = self.total.get(output) else {
            let outputs = self.total.len();
            return Err(Error::shape("output", format!("a number below {outputs}"), output));
        };
        let mean = self.mean[self.names.len() + output];
        // Squares of large numbers are made small first, so that the sum does not overflow.
        let share = 16.0 * f64::EPSILON * f64::EPSILON * self.rows as f64;
        let rounding = share * total + share * self.weight * mean * mean;
        match self.residual[(output, output)] > rounding {
            true => Ok(self.residual[(output, output)] / freedom),
            false => Err(absent("the fit is exact, so there is no noise to test against")),
        }
    }

    pub(super) fn root(&self) -> Result<&Matrix> {
        self.root.as_ref().ok_or_else(|| match self.rows <= self.names.len() as u64 {
            true => absent("there are no more rows than columns"),
            false => absent("there are more than 1000 columns"),
        })
    }

    /// For each coefficient, whether it is the same in every least-squares solution: whether its
    /// unit vector lies in the span of M.
    pub(super) fn determined(&self, root: &Matrix) -> Result<Vec<bool>> {
        let d = root.nrows();
        if self.aliased.is_empty() || root.ncols() == 0 {
            return Ok(vec![self.aliased.is_empty(); d]);
        }
        let span = svd(root.view())?;
        let rank = span.rank();
        let inside = |j: usize| span.u.row(j)[..rank].iter().map(|u| u * u).sum::<f64>();
        Ok((0..d).map(|j| !self.aliased.contains(&j) && inside(j) > 1.0 - 1e-9).collect())
    }
}

/// A sentence about columns that depend on earlier ones, or about too few rows.
pub(super) fn aliasing(
    names: &[String],
    aliased: &[usize],
    rank: usize,
    rows: u64,
) -> Option<String> {
    const MOST: usize = 10;
    let d = names.len();
    if !aliased.is_empty() {
        let named: Vec<String> =
            aliased.iter().take(MOST).map(|&j| format!("'{}'", names[j])).collect();
        let more = match aliased.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        return Some(format!(
            "of {d} columns {rank} are independent; constant or given by earlier columns: {}{more}; coefficients are those of smallest norm, and without these columns the others are tested too",
            named.join(", ")
        ));
    }
    (rank < d).then(|| {
        format!(
            "{rows} rows determine {rank} of {d} coefficients; the coefficients are those of smallest norm"
        )
    })
}

pub(super) fn absent(why: impl Into<String>) -> Error {
    let why: String = why.into();
    Error::new(Code::TooFew, format!("no inference: {why}"))
}
