//! Orthogonal polynomials over the rows of training: the columns of `poly(x, degree)`, as in R.
//!
//! The monic polynomials that are orthogonal over the rows obey p₀ = 1, p₁ = x - a₀ and
//! p_{k+1} = (x - a_k) p_k - (n_k / n_{k-1}) p_{k-1} with n_k = Σ p_k² and a_k = Σ x p_k² / n_k; the columns are
//! p_k / √n_k. Each degree is one pass over the rows. New rows get the polynomials of training.
//!
//! Forsythe (1957), Journal of the Society for Industrial and Applied Mathematics 5(2), 74-88.

use super::parse::{Formula, Made};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// The recurrence of a polynomial's columns.
#[derive(Clone, Debug, Default, PartialEq, Stored)]
pub(super) struct Basis {
    /// a₀, a₁, …
    centre: Vec<f64>,
    /// n₀, n₁, …
    norm: Vec<f64>,
}

/// Σ p² and Σ (x - a₀) p² of the highest polynomial that is known, p₀ being x itself in the first pass.
#[derive(Clone, Copy, Debug, Default, Stored)]
pub(super) struct Sums {
    squares: f64,
    along: f64,
}

impl Sums {
    pub(super) fn add(&mut self, later: &Sums) {
        self.squares += later.squares;
        self.along += later.along;
    }
}

impl Basis {
    /// Whether all columns of this degree are known.
    pub(super) fn is_ready(&self, degree: usize) -> bool {
        self.norm.len() > degree
    }

    /// The polynomial of this degree at x, not yet divided by its norm.
    fn monic(&self, x: f64, degree: usize) -> f64 {
        let (mut before, mut here) = (0.0, 1.0);
        for k in 0..degree {
            let back = if k == 0 { 0.0 } else { self.norm[k] / self.norm[k - 1] };
            (before, here) = (here, (x - self.centre[k]) * here - back * before);
        }
        here
    }

    /// The column of this degree at x.
    #[inline]
    pub(super) fn column(&self, x: f64, degree: usize) -> f64 {
        self.monic(x, degree) / self.norm[degree].sqrt()
    }

    /// What the rows say in the next pass.
    pub(super) fn sums(&self, values: impl Iterator<Item = f64>) -> Sums {
        let mut out = Sums::default();
        for x in values.filter(|x| !x.is_nan()) {
            match self.norm.len() {
                0 => {
                    out.squares += 1.0;
                    out.along += x;
                }
                known => {
                    let p = self.monic(x, known);
                    out.squares += p * p;
                    out.along += (x - self.centre[0]) * p * p;
                }
            }
        }
        out
    }

    /// One degree more.
    pub(super) fn advance(&mut self, sums: &Sums, made: &Made) -> Result<()> {
        let degree = self.norm.len();
        let spread = self.norm.get(1).map_or(1.0, |first| first / self.norm[0]);
        let least = 1e-20 * self.norm.first().map_or(0.0, |n| n * spread.powi(degree as i32));
        if sums.squares.is_nan() || sums.squares <= least {
            let message = format!("{} needs more than {degree} different values", made.text);
            return Err(Error::new(Code::TooFew, message).hint("take a lower degree"));
        }
        if !(sums.squares.is_finite() && sums.along.is_finite()) {
            let message = format!("{} overflows", made.text);
            return Err(Error::new(Code::NotFinite, message).hint("scale the column down"));
        }
        let centre = self.centre.first().copied().unwrap_or(0.0) + sums.along / sums.squares;
        self.norm.push(sums.squares);
        self.centre.push(centre);
        Ok(())
    }

    /// Refuses numbers that no training leaves, and columns beyond its degree.
    pub(super) fn validate(&self, degree: usize) -> Result<()> {
        let finite = self.centre.iter().all(|a| a.is_finite())
            && self.norm.iter().all(|n| n.is_finite() && *n > 0.0)
            && self.norm.len() == self.centre.len();
        match finite && self.is_ready(degree) {
            true => Ok(()),
            false => Err(invalid("polynomials that are not those of a training")),
        }
    }
}

/// The bases of a formula over all rows of a table.
pub(super) fn of_table(formula: &Formula, x: &Frame) -> Result<Vec<Basis>> {
    let mut out = Vec::new();
    for made in formula.bases() {
        let mut basis = Basis::default();
        while !basis.is_ready(made.degree) {
            basis.advance(&basis.sums(values(made, x)), made)?;
        }
        out.push(basis);
    }
    Ok(out)
}

/// The numbers of a variable.
pub(super) fn values<'a>(made: &'a Made, x: &'a Frame) -> impl Iterator<Item = f64> + 'a {
    (0..x.nrows()).map(|i| made.program.value(|j| x.values().at(i, j)))
}
