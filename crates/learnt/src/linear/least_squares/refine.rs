//! One step of refinement: the normal equations solved again for what the residuals leave.

use super::gradient::{Anchor, Gradient};
use super::moments::Moments;
use super::normal::System;
use super::{DIRECT, LeastSquares, Solution, nonnegative};
use learnt_core::linalg::dot;
use learnt_core::prelude::*;

impl LeastSquares {
    /// One step of refinement from the residuals of the anchor.
    pub(super) fn refine(
        &self,
        moments: &Moments,
        anchor: &Anchor,
        gradient: &Gradient,
        converged: bool,
    ) -> Result<Solution> {
        let outputs = anchor.coef.nrows();
        let d = anchor.coef.ncols();
        let system = System::new(moments, self, outputs);
        let factors = match self.positive {
            true => Vec::new(),
            false => self.factors(&system, outputs).ok_or_else(changed)?,
        };
        let mut better = anchor.clone();
        let mut residual = gradient.squares.clone();
        let mut steps = Vec::new();
        for t in 0..outputs {
            let factor = factors.get(t % factors.len().max(1));
            let direct = factor.is_some_and(|factor| factor.condition <= DIRECT);
            if !self.alpha.is_empty() && direct && !moments.single {
                // As without the others: this penalty needs no refinement.
                continue;
            }
            let slope = self.slope(moments, &system, anchor, gradient, t);
            let step = match factor {
                Some(factor) => factor.solve(&slope),
                None => free_step(&system, self.alpha_of(t), &slope, anchor.coef.row(t)),
            };
            for (k, &j) in system.columns.iter().enumerate() {
                match j == d {
                    true => better.offset[t] += step[k],
                    false => better.coef[(t, j)] += step[k],
                }
            }
            if self.penalizes_intercept() {
                let shift = dot(better.coef.row(t), &moments.mean[..d])
                    - dot(anchor.coef.row(t), &moments.mean[..d]);
                better.offset[t] += shift;
            } else if self.intercept {
                better.offset[t] += gradient.sum[t] / moments.weight;
            }
            if self.positive {
                better.coef.row_mut(t).iter_mut().for_each(|b| *b = b.max(0.0));
            }
            steps.push((step, slope));
        }
        if self.alpha.is_empty() {
            for t in 0..outputs {
                for s in 0..outputs {
                    residual[(t, s)] -= dot(&steps[t].0, &steps[s].1);
                }
                residual[(t, t)] = residual[(t, t)].max(0.0);
            }
        }
        let solution = self.solution(moments, &system, &factors, better, residual);
        Ok(Solution { converged, ..solution })
    }

    /// Half the negative gradient of the objective at the anchor, on the system's columns.
    fn slope(
        &self,
        moments: &Moments,
        system: &System,
        anchor: &Anchor,
        gradient: &Gradient,
        t: usize,
    ) -> Vec<f64> {
        let d = anchor.coef.ncols();
        let alpha = self.alpha_of(t);
        let ones = self.penalizes_intercept();
        let constant =
            moments.mean[d + t] + anchor.offset[t] - dot(anchor.coef.row(t), &moments.mean[..d]);
        let at = |&j: &usize| match j == d {
            true => gradient.sum[t] - alpha * constant,
            false => {
                let about_origin = if ones { moments.mean[j] * gradient.sum[t] } else { 0.0 };
                gradient.product[(t, j)] + about_origin - alpha * anchor.coef[(t, j)]
            }
        };
        system.columns.iter().map(at).collect()
    }
}

fn changed() -> Error {
    Error::internal("the normal equations changed between passes")
}

/// The refining step of the coefficients above zero; zero for the others.
fn free_step(system: &System, alpha: f64, slope: &[f64], coef: &[f64]) -> Vec<f64> {
    let free: Vec<usize> = (0..slope.len())
        .filter(|&k| coef.get(system.columns[k]).is_some_and(|b| *b > 0.0))
        .collect();
    let (matrix, scale) = system.scaled(alpha);
    let right: Vec<f64> = slope.iter().zip(&scale).map(|(g, s)| g / s).collect();
    let mut out = vec![0.0; slope.len()];
    if let Some(step) = nonnegative::solve_subset(&matrix, &right, &free) {
        free.iter().zip(step).for_each(|(&k, step)| out[k] = step / scale[k]);
    }
    out
}
