//! Rows with their targets and scores: losses, derivatives and probabilities, whoever holds the rows.

use super::blocks::{Cell, Scale};
use crate::ensemble::loss::{Loss, Targets};
use learnt_core::stats::special::softmax_in_place;
use std::ops::Range;

/// Rows with their scores: those of the first score of all rows, then the second.
#[derive(Clone, Copy)]
pub(super) struct Scored<'a> {
    pub(super) loss: Loss,
    pub(super) targets: Targets<'a>,
    pub(super) scores: &'a [f64],
}

impl Scored<'_> {
    fn rows(&self) -> usize {
        self.targets.y.len()
    }

    /// The scores of a row.
    fn of_row(&self, i: usize, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(k, f)| *f = self.scores[k * self.rows() + i]);
    }

    /// Adds the weight and the loss of a row; `room` has a place for each score.
    pub(super) fn add_loss(&self, i: usize, room: &mut [f64], sums: &mut [f64]) {
        self.of_row(i, room);
        let weight = self.targets.weight(i);
        sums[0] += weight;
        sums[1] += weight * self.loss.value(self.targets.y[i], room);
    }

    /// Adds the sizes of both derivatives of a row with one score.
    pub(super) fn add_derivatives(&self, i: usize, sums: &mut [f64]) {
        let (g, h) = self.loss.derivatives(self.targets.y[i], self.scores[i]);
        let weight = self.targets.weight(i);
        sums[0] += weight * g.abs();
        sums[1] += weight * h;
    }

    /// Probabilities of several classes for some rows, class after class; nothing for one score.
    pub(super) fn shares(&self, rows: Range<usize>) -> Vec<f64> {
        let classes = self.loss.scores();
        if classes == 1 {
            return Vec::new();
        }
        let mut shares = vec![0.0; rows.len() * classes];
        let mut room = vec![0.0; classes];
        for (place, i) in rows.clone().enumerate() {
            self.of_row(i, &mut room);
            softmax_in_place(&mut room);
            room.iter().enumerate().for_each(|(k, p)| shares[k * rows.len() + place] = *p);
        }
        shares
    }

    /// The derivatives in the k-th score of rows from the first on; `shares` has the probabilities of several
    /// classes of all rows.
    pub(super) fn fill(
        &self,
        k: usize,
        shares: &[f64],
        scale: Scale,
        first: usize,
        cells: &mut [Cell],
    ) {
        let rows = first..first + cells.len();
        let y = &self.targets.y[rows.clone()];
        if let Loss::Multinomial(_) = self.loss {
            let shares = &shares[k * self.rows()..(k + 1) * self.rows()][rows];
            for (i, ((cell, &p), &y)) in cells.iter_mut().zip(shares).zip(y).enumerate() {
                let weight = self.targets.weight(first + i);
                let g = p - f64::from(u8::from(y == k as f64));
                *cell = scale.cell(weight * g, weight * p * (1.0 - p));
            }
            return;
        }
        for (i, ((cell, &f), &y)) in cells.iter_mut().zip(&self.scores[rows]).zip(y).enumerate() {
            let (g, h) = self.loss.derivatives(y, f);
            let weight = self.targets.weight(first + i);
            *cell = scale.cell(weight * g, weight * h);
        }
    }
}
