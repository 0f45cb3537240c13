//! Non-negative least squares by an active set on the normal equations.
//!
//! Minimises ½ xᵀ A x - bᵀ x over x >= 0. One variable a step becomes free, the one with the
//! largest gradient (the first of equals); variables that the free solution would make negative are
//! put back to zero. Ends when no gradient is above `TOLERANCE` of the largest |b|.
//!
//! Bro and de Jong (1997), Journal of Chemometrics 11(5), 393-401.

use learnt_core::linalg::{Cholesky, dot};
use learnt_core::prelude::*;

const TOLERANCE: f64 = 1e-12;

/// The solution and whether it was reached within the steps allowed. `a` has a unit diagonal.
pub(super) fn solve(
    a: &Matrix,
    b: &[f64],
    max_iter: usize,
    run: &Context,
) -> Result<(Vec<f64>, bool)> {
    let d = b.len();
    let largest = b.iter().fold(0.0_f64, |largest, b| largest.max(b.abs()));
    let mut x = vec![0.0; d];
    let mut free = vec![false; d];
    let mut refused = vec![false; d];
    let mut monitor = run.monitor("active set", max_iter);
    while monitor.advance()? {
        let gradient = |j: usize| b[j] - dot(a.row(j), &x);
        let candidates = (0..d).filter(|&j| !free[j] && !refused[j]).map(|j| (gradient(j), j));
        let steepest = candidates.reduce(|best, next| if next.0 > best.0 { next } else { best });
        match steepest {
            Some((slope, j)) if slope > TOLERANCE * largest => {
                free[j] = true;
                if !release(a, b, &mut x, &mut free) {
                    free[j] = false;
                    refused[j] = true;
                } else if x[j] > 0.0 {
                    refused.fill(false);
                } else {
                    refused[j] = true;
                }
            }
            _ => monitor.converge(),
        }
        let value = |j: usize| x[j] * (0.5 * dot(a.row(j), &x) - b[j]);
        monitor.record((0..d).map(value).sum());
    }
    let ended = monitor.finish();
    Ok((x, ended.converged))
}

/// Moves to the solution of the free variables, fixing at zero those that would turn negative.
/// False if the free columns depend on each other.
fn release(a: &Matrix, b: &[f64], x: &mut [f64], free: &mut [bool]) -> bool {
    loop {
        let chosen: Vec<usize> = (0..x.len()).filter(|&j| free[j]).collect();
        let Some(goal) = solve_subset(a, b, &chosen) else { return false };
        // How far each blocked variable may go; one that is 0 / 0 may not move at all.
        let limit = |(value, &j): (&f64, &usize)| match *value <= 0.0 {
            true => Some((x[j] / (x[j] - value)).max(0.0)),
            false => None,
        };
        let limits: Vec<Option<f64>> = goal.iter().zip(&chosen).map(limit).collect();
        if limits.iter().all(Option::is_none) {
            x.fill(0.0);
            chosen.iter().zip(&goal).for_each(|(&j, &value)| x[j] = value);
            return true;
        }
        let step = limits.iter().flatten().fold(1.0_f64, |step, limit| step.min(*limit));
        for (k, &j) in chosen.iter().enumerate() {
            free[j] = limits[k].is_none_or(|limit| limit > step);
            x[j] = if free[j] { (x[j] + step * (goal[k] - x[j])).max(0.0) } else { 0.0 };
        }
    }
}

/// x with A x = b on the chosen rows and columns; `None` if they are not independent.
pub(super) fn solve_subset(a: &Matrix, b: &[f64], chosen: &[usize]) -> Option<Vec<f64>> {
    if chosen.is_empty() {
        return Some(Vec::new());
    }
    let part = Matrix::from_fn(chosen.len(), chosen.len(), |i, j| a[(chosen[i], chosen[j])]);
    let factor = Cholesky::new(&part)?;
    let independent = (0..chosen.len()).all(|i| factor.lower[(i, i)] > 1e-7);
    let mut out: Vec<f64> = chosen.iter().map(|&j| b[j]).collect();
    factor.solve_in_place(&mut out);
    independent.then_some(out)
}
